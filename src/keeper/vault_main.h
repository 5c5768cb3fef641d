/* vault_main.h - `ostiary-door vault VERB`: the errands on the vault. Started by `ostiary secret`
 * and by whoever collects the secrets of a box (session/vault_key.h). */
#ifndef KEEPER_VAULT_MAIN_H
#define KEEPER_VAULT_MAIN_H

#include "keeper/vault_unlock.h"

struct vault_args {
        struct vault_ask ask;
        const char *name, *note;
        bool is_dry, is_yes, is_none;
};

/* vault_main: 0, or what base/exitcode.h has for the mistake. */
int vault_main(int argc, char **argv);

/* vault_change(args, change, with, err): open the vault, let ${change} have it, write it back; one
 * writer at a time. ${change} returns 0 to write, 1 to leave it, -1 on failure; so does this. */
int vault_change(const struct vault_args *, int (*change)(struct vault *, void *with, struct err *),
                 void *with, struct err *);

/* vault_warn(name, value, n): a sentence on stderr when the value looks like another provider's key
 * than the name says. */
void vault_warn(const char *name, const char *value, size_t n);

/* vault_import(args, err): find keys on this machine, list them, take them in on yes. */
int vault_import(const struct vault_args *, struct err *);

#endif
