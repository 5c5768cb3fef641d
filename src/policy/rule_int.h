/* rule_int.h - what the files of the rule parser share; nobody else includes it. */
#ifndef POLICY_RULE_INT_H
#define POLICY_RULE_INT_H

#include "policy/rule.h"

/* Each reads from word ${at} on; on failure -1 and ${bad} is the index of the wrong word. */
int rule_opts_parse(const struct words *, size_t at, struct rule *, size_t *bad, struct err *);
int rule_secret_parse(const struct words *, struct rule_secret *, size_t *bad, struct err *);

void rule_secret_free(struct rule_secret *);
void rule_secret_print(const struct rule_secret *, struct buf *);

/* rule_put_word(b, s): as one word of a line, quoted where it must be. */
void rule_put_word(struct buf *, const char *);

/* rule_text_ok(s): not empty, at most 1024 bytes, no control characters. */
bool rule_text_ok(const char *);

extern const char *const rule_methods[]; /* NULL-terminated; the place is the bit */

#endif
