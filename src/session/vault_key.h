/* vault_key.h - asking the vault for one value, on behalf of a box that is about to start or to get
 * a new value. The value goes from `ostiary-door vault get` into a pipe and is never read here: the
 * keeper gets the other end. docs/vault.md describes the vault. */
#ifndef SESSION_VAULT_KEY_H
#define SESSION_VAULT_KEY_H

#include <stddef.h>

struct err;

/* vault_key_get(data_dir, name, err): a descriptor from which the value of ${name} can be read to
 * its end, the caller's; -1 with a sentence when there is no such value or the vault does not open.
 * ${data_dir} is store.data. Waits until the value is in the pipe. To be called with the caller's
 * environment and terminal still there (before the supervisor is forked): a vault with a passphrase
 * asks for it at the terminal, unless the kernel's keyring still knows the key. */
int vault_key_get(const char *data_dir, const char *name, struct err *);

/* vault_key_put(data_dir, name, bytes, n, err): another value for a name that is there: a token
 * that was exchanged for a new one. Asks nobody: a vault whose key is not at hand is an error. */
int vault_key_put(const char *data_dir, const char *name, const void *, size_t n, struct err *);

/* vault_key_program(data_dir, argv, out_fd, err): start `ostiary-door vault --dir DATA_DIR ARGV...`
 * with our environment, terminal, standard input and standard error; ${out_fd} becomes its standard
 * output (-1: ours). Returns its exit status, 128+n when a signal ended it, or -1. */
int vault_key_program(const char *data_dir, char *const argv[], int out_fd, struct err *);

#endif
