/* vault.h - the user's secrets in one sealed file: names, values and when they changed.
 *
 *   $XDG_DATA_HOME/ostiary/vault       sealed, 0600 (vault_file.c has the layout)
 *   $XDG_DATA_HOME/ostiary/vault.key   its key, 0600, when no passphrase was set
 *   $XDG_DATA_HOME/ostiary/vault.lock  held by whoever writes
 *
 * Used by `ostiary-door vault` alone, a program that the user starts and that ends after its
 * errand; no role that serves a box ever opens a vault. Values lie in locked memory that no core
 * dump shows and are wiped with vault_free. */
#ifndef KEEPER_VAULT_H
#define KEEPER_VAULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum {
        VAULT_NAME_MAX = 64,
        VAULT_VALUE_MAX = 60 << 10, /* a pipe must hold one whole */
        VAULT_NOTE_MAX = 256,
        VAULT_ENTRIES_MAX = 1024,
        VAULT_KEY_LEN = 32,
        VAULT_SALT_LEN = 16,
};

/* What opens a vault: this is in its header and holds for the whole file. */
enum vault_lock {
        VAULT_BY_KEY = 1,        /* a random key: key file, keyring or systemd credential */
        VAULT_BY_PASSPHRASE = 2, /* the key is made of a passphrase by Argon2id */
};

struct vault_head {
        enum vault_lock lock;
        uint64_t ops, mem;            /* of Argon2id; 0 for VAULT_BY_KEY */
        uint8_t salt[VAULT_SALT_LEN]; /* also the vault's own number: a new key, a new salt */
};

struct vault_entry {
        char name[VAULT_NAME_MAX + 1];
        char note[VAULT_NOTE_MAX + 1];
        uint64_t created, changed; /* seconds since 1970 */
        char *value;               /* in locked memory; not terminated */
        size_t value_len;
};

struct vault {
        struct vault_head head;
        struct vault_entry *entries; /* in the order of their names */
        size_t entries_n;
        bool is_new; /* there is no file yet */
};

/* --- vault_file.c: the file --- */

/* vault_file_head(dir_fd, head, err): what the header says, so that the key can be looked for. 1
 * when there is a vault, 0 when there is none, -1 when what is there cannot be read by us: not a
 * vault, damaged, or made by a newer version. */
int vault_file_head(int dir_fd, struct vault_head *, struct err *);

/* vault_file_read(dir_fd, key, v, err): open it. -1 with E_REFUSED when the key does not fit (or
 * the file was changed: nobody can tell which), with E_INPUT when it cannot be a vault of ours. */
int vault_file_read(int dir_fd, const uint8_t key[VAULT_KEY_LEN], struct vault *, struct err *);

/* vault_file_write(dir_fd, key, v, err): seal it and put it in the place of the old one by rename;
 * on failure the old one is as it was. The caller holds the lock. */
int vault_file_write(int dir_fd, const uint8_t key[VAULT_KEY_LEN], const struct vault *,
                     struct err *);

/* vault_file_lock(dir_fd, err): be the only writer until the descriptor is closed. Waits for a
 * moment; -1 when somebody else goes on writing. */
int vault_file_lock(int dir_fd, struct err *);

/* --- vault_entries.c: what is in it --- */

void vault_free(struct vault *);
#define _cleanup_vault_ __attribute__((cleanup(vault_free)))

/* vault_find(v, name): the entry, or NULL. */
struct vault_entry *vault_find(const struct vault *, const char *name);
/* vault_put(v, name, value, n, note, now, err): make or change an entry; ${note} NULL keeps the old
 * one. The value is copied into locked memory. */
int vault_put(struct vault *, const char *name, const char *value, size_t, const char *note,
              uint64_t now, struct err *);
bool vault_remove(struct vault *, const char *name);

/* vault_name_check(name, err): letters, digits, "_", "-" and ".", at most 64, no sign first. */
int vault_name_check(const char *name, struct err *);
/* vault_value_check(value, n, err): 8 bytes to 60 KiB without NUL. */
int vault_value_check(const char *value, size_t, struct err *);

/* vault_pack(v, &n): everything as bytes, in locked memory (release with sodium_free); NULL when
 * there is none left. vault_unpack reads it back; -1 when the bytes make no sense. */
uint8_t *vault_pack(const struct vault *, size_t *n);
int vault_unpack(struct vault *, const uint8_t *, size_t);

#endif
