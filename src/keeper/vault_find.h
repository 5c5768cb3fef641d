/* vault_find.h - keys that lie about on this machine, for `ostiary secret import`: in variables and
 * in the files of well-known programs. */
#ifndef KEEPER_VAULT_FIND_H
#define KEEPER_VAULT_FIND_H

#include "keeper/vault.h"

enum { VAULT_FOUND_MAX = 128 };

struct vault_found {
        char name[VAULT_NAME_MAX + 1]; /* what it would be called */
        char from[128];                /* "~/.netrc, machine git.example.org" */
        char grant[256];               /* "at ... as ...", the rest of a line of policy */
        char *value;                   /* in locked memory */
        size_t value_len;
};

struct vault_finds {
        struct vault_found v[VAULT_FOUND_MAX];
        size_t n;
};

/* vault_find_add(f, name, from, grant, value, n): one more, unless a value of the same name is
 * there, or it cannot be a secret's value. A character that a name cannot have becomes "_". */
void vault_find_add(struct vault_finds *, const char *name, const char *from, const char *grant,
                    const char *value, size_t n);
void vault_finds_free(struct vault_finds *);

/* vault_find_env(f, env): variables with well-known names. */
void vault_find_env(struct vault_finds *, char *const *env);
/* vault_find_files(f, home_fd): ~/.aws/credentials, ~/.netrc, gh's hosts.yml, ~/.npmrc and
 * ~/.docker/config.json; what is absent or makes no sense is passed over. */
void vault_find_files(struct vault_finds *, int home_fd);

#endif
