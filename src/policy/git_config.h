/* git_config.h - git's configuration grammar, read the way git reads it: sections, subsections,
 * quoting, escapes, continued lines, comments, keys without a value, keys beside a header.
 *
 * Pure and bounded by the text's length. A text that git would refuse is an error here, never a
 * guess; nothing is included or followed. */
#ifndef POLICY_GIT_CONFIG_H
#define POLICY_GIT_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

enum { GIT_CONFIG_MAX = 1 << 20 };

struct git_config_entry {
        char *key;   /* section and name in lower case, subsection as it is: "remote.Origin.url" */
        char *value; /* NULL: no value was given, which git takes for true */
};
struct git_config {
        struct git_config_entry *v; /* in the order of the text */
        size_t n;
};

/* git_config_parse(text, len, c): 0, or -1 when git would not read it (or the text is longer than
 * GIT_CONFIG_MAX, or holds a NUL); ${c} has then what came before. */
int git_config_parse(const char *text, size_t len, struct git_config *);
void git_config_free(struct git_config *);
#define _cleanup_git_config_ __attribute__((cleanup(git_config_free)))

/* git_config_is_plain(entry): can it neither make git run, include, fetch or believe something, nor
 * is it a key that we do not know? (git_config_keys.c) */
bool git_config_is_plain(const struct git_config_entry *);
/* git_config_known(entry): what is known of a key that is not plain, for words: a pattern such as
 * "filter.*.clean", or NULL. */
const char *git_config_known(const struct git_config_entry *);

/* git_config_key_is(pattern, key): "section.name" or "section.*.name". */
bool git_config_key_is(const char *pattern, const char *key);

/* git_config_last(c, key): the value that counts, "" for one without value, NULL when absent. */
const char *git_config_last(const struct git_config *, const char *key);

/* The tables, for printing: NULL after the last. */
const char *git_config_plain_at(size_t i);
const char *git_config_known_at(size_t i);

#endif
