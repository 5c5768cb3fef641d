/* rule_int.h - what the files of the rule parser share; nobody else includes it. */
#ifndef POLICY_RULE_INT_H
#define POLICY_RULE_INT_H

#include "policy/rule.h"

/* Each reads from word ${at} on; on failure -1 and ${bad} is the index of the wrong word. */
int rule_opts_parse(const struct words *, size_t at, struct rule *, size_t *bad, struct err *);
int rule_secret_parse(const struct words *, struct rule_secret *, size_t *bad, struct err *);

/* rule_secret_opts(w, at, s, &bad, err): the options of a secret line whose forms are read. */
int rule_secret_opts(const struct words *, size_t at, struct rule_secret *, size_t *bad,
                     struct err *);
/* rule_secret_forms_fault(s), rule_secret_fault(s): what is wrong with its forms; what is missing
 * in the whole line. NULL: nothing. */
const char *rule_secret_forms_fault(const struct rule_secret *);
const char *rule_secret_fault(const struct rule_secret *);
/* rule_secret_fill(s): what is known of an agent's login when its line does not say it. */
void rule_secret_fill(struct rule_secret *);
/* rule_header_take(s, n, &name, err): a header that may carry a secret, in small letters. */
int rule_header_take(const char *, size_t n, char **name, struct err *);

enum { RULE_LEAKS_N = RULE_LEAK_KILL + 1 };
extern const char *const rule_leaks[RULE_LEAKS_N];

void rule_secret_free(struct rule_secret *);
void rule_secret_print(const struct rule_secret *, struct buf *);

/* rule_put_word(b, s): as one word of a line, quoted where it must be. Of control characters only
 * \n and \t can be written. */
void rule_put_word(struct buf *, const char *);

/* rule_text_ok(s): not empty, at most 1024 bytes, no control characters. */
bool rule_text_ok(const char *);

extern const char *const rule_methods[]; /* NULL-terminated; the place is the bit */

#endif
