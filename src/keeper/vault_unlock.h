/* vault_unlock.h - finding the key of a vault, from most to least explicit: a systemd credential,
 * the kernel's keyring, the key file, a passphrase that is asked for. */
#ifndef KEEPER_VAULT_UNLOCK_H
#define KEEPER_VAULT_UNLOCK_H

#include "keeper/vault.h"

struct vault_ask {
        int dir_fd;        /* $XDG_DATA_HOME/ostiary */
        int passphrase_fd; /* --passphrase-fd, or -1 */
};

/* vault_open(ask, v, key, err): read the vault with whatever key opens it, and store that key. When
 * there is no vault yet, an empty one with is_new set and no key. -1 with E_REFUSED when no key
 * fits. */
int vault_open(const struct vault_ask *, struct vault *, uint8_t key[VAULT_KEY_LEN], struct err *);

/* vault_first_key(ask, head, key, err): the key of a vault that is to be made: of a passphrase when
 * one was given without asking, else the key file's, which is made when it is missing. */
int vault_first_key(const struct vault_ask *, struct vault_head *, uint8_t key[VAULT_KEY_LEN],
                    struct err *);

/* vault_passphrase_key(ask, head, key, err): ask for a new passphrase (twice at a terminal) and
 * make
 * ${head} and ${key} of it. */
int vault_passphrase_key(const struct vault_ask *, struct vault_head *, uint8_t key[VAULT_KEY_LEN],
                         struct err *);

/* vault_file_key(dir_fd, head, key, err): the key file's key; made when it is missing. */
int vault_file_key(int dir_fd, struct vault_head *, uint8_t key[VAULT_KEY_LEN], struct err *);
/* vault_file_key_drop(dir_fd): the vault has a passphrase now. */
void vault_file_key_drop(int dir_fd);

/* --- vault_ring.c: the kernel's keyring of this user --- */

/* vault_ring_get(head, key): does the keyring know the key of this vault? */
bool vault_ring_get(const struct vault_head *, uint8_t key[VAULT_KEY_LEN]);
/* vault_ring_put(head, key): keep it for OSTIARY_VAULT_TIMEOUT (15m when not set, 0 for not at
 * all). Where there is no keyring nothing happens. */
void vault_ring_put(const struct vault_head *, const uint8_t key[VAULT_KEY_LEN]);
/* vault_ring_drop(head): forget it now. */
void vault_ring_drop(const struct vault_head *);

/* --- vault_tty.c: questions at the terminal --- */

/* vault_tty_is_there(): can anybody be asked? */
bool vault_tty_is_there(void);
/* vault_tty_secret(prompt, out, cap, err): one line, not shown while it is typed; its length, or
 * -1.
 * ${out} is the caller's locked memory. */
long vault_tty_secret(const char *prompt, char *out, size_t cap, struct err *);
/* vault_tty_yes(prompt): was the answer yes? */
bool vault_tty_yes(const char *prompt);

#endif
