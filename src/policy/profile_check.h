/* profile_check.h - the form of single words in a profile: paths, variables, rules. Used by the
 * parser only; kept apart so that each form has one place. */
#ifndef POLICY_PROFILE_CHECK_H
#define POLICY_PROFILE_CHECK_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct words;

/* profile_check_home_path("~/a/b"): NULL when it is a path strictly below the home without "." or
 * "..", else what is wrong with it. */
const char *profile_check_home_path(const char *);

bool profile_check_env_name(const char *);

/* profile_check_rule(words, &bad, err): is this a rule or secret line as rule.h reads it? ${bad}
 * becomes the index of the word that is wrong. Nothing is kept: the profile holds the text. */
int profile_check_rule(const struct words *, size_t *bad, struct err *);

#endif
