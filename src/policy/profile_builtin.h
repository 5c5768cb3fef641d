/* profile_builtin.h - the profiles that the program carries inside, made from profiles/ *.profile
 * by tools/gen_profiles.sh while building. */
#ifndef POLICY_PROFILE_BUILTIN_H
#define POLICY_PROFILE_BUILTIN_H

struct profile_builtin {
        const char *name;
        const char *text;
};

extern const struct profile_builtin profile_builtins[]; /* sorted by name, ends with NULLs */

/* profile_builtin_text(name): the text, or NULL. */
const char *profile_builtin_text(const char *name);

#endif
