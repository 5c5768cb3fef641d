/* vault_unlock.c - see vault_unlock.h. Called by vault_main.c. Keys are wiped by whoever asked for
 * them; passphrases are wiped here. */
#include "keeper/vault_unlock.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum {
        PASSPHRASE_MAX = 1024,
        PASSPHRASE_MIN = 8,
        ASK_TRIES = 3,
        HEX_LEN = 2 * VAULT_KEY_LEN,
        OPS = 4,
};
#define MEM ((uint64_t)128 << 20)

static void wipe_free(char **p)
{
        sodium_free(*p);
}
#define _cleanup_locked_ __attribute__((cleanup(wipe_free)))

/* read_line(fd, out, cap): the first line of a file or pipe; its length or -1. */
static long read_line(int fd, char *out, size_t cap)
{
        size_t len = 0;
        ssize_t got;
        while (len < cap && (got = read(fd, out + len, cap - len)) != 0) {
                if (got < 0 && errno != EINTR)
                        return -1;
                if (got > 0)
                        len += (size_t)got;
        }
        const char *end = memchr(out, '\n', len);
        if (end)
                len = (size_t)(end - out);
        if (len && out[len - 1] == '\r')
                len--;
        return len == cap ? -1 : (long)len;
}

/* credential(out, cap): what systemd passed as ostiary.vault; its length or -1. */
static long credential(char *out, size_t cap)
{
        const char *dir = getenv("CREDENTIALS_DIRECTORY");
        if (!dir || dir[0] != '/')
                return -1;
        _cleanup_free_ char *path = str_fmt("%s/ostiary.vault", dir);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        return fd < 0 ? -1 : read_line(fd, out, cap);
}

/* told(ask, out, cap, err): a passphrase that was given without asking: its length, 0 when there is
 * none, -1 when there should be one. */
static long told(const struct vault_ask *ask, char *out, size_t cap, struct err *err)
{
        const char *path = getenv("OSTIARY_VAULT_PASSPHRASE_FILE");
        long n = 0;
        if (ask->passphrase_fd >= 0) {
                n = read_line(ask->passphrase_fd, out, cap);
                if (n <= 0)
                        return err_set(err, E_INPUT, "--passphrase-fd %d gave no passphrase",
                                       ask->passphrase_fd);
        } else if (path && *path) {
                _cleanup_close_ int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
                if (fd < 0)
                        return err_sys(err,
                                       "open the file that OSTIARY_VAULT_PASSPHRASE_FILE names");
                n = read_line(fd, out, cap);
                if (n <= 0)
                        return err_set(err, E_INPUT,
                                       "the file that OSTIARY_VAULT_PASSPHRASE_FILE names holds no "
                                       "passphrase in its first line");
        } else if ((n = credential(out, cap)) < 0) {
                n = 0;
        }
        return n;
}

static int derive(const char *passphrase, size_t n, const struct vault_head *h, uint8_t *key,
                  struct err *err)
{
        if (crypto_pwhash(key, VAULT_KEY_LEN, passphrase, n, h->salt, h->ops, (size_t)h->mem,
                          crypto_pwhash_ALG_ARGON2ID13) == 0)
                return 0;
        return err_set(err, E_SYSTEM, "there are not the %llu MiB of memory that Argon2id wants",
                       (unsigned long long)(h->mem >> 20));
}

static bool is_hex_key(const char *text, size_t n, uint8_t key[VAULT_KEY_LEN])
{
        size_t len = 0;
        return n == HEX_LEN && sodium_hex2bin(key, VAULT_KEY_LEN, text, n, NULL, &len, NULL) == 0 &&
               len == VAULT_KEY_LEN;
}

/* key_file(dir_fd, key, err): 1 read, 0 absent, -1. */
static int key_file(int dir_fd, uint8_t key[VAULT_KEY_LEN], struct err *err)
{
        _cleanup_close_ int fd =
                openat(dir_fd, "vault.key", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        char text[HEX_LEN + 8];
        struct stat st;
        if (fd < 0)
                return errno == ENOENT ? 0 : err_sys(err, "open vault.key");
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != geteuid() ||
            (st.st_mode & 077))
                return err_set(err, E_INPUT,
                               "vault.key is not a file that only you can read (chmod 600 it)");
        long n = read_line(fd, text, sizeof text);
        bool is_ok = n > 0 && is_hex_key(text, (size_t)n, key);
        sodium_memzero(text, sizeof text);
        return is_ok ? 1
                     : err_set(err, E_INPUT,
                               "vault.key is damaged: it should be %d hexadecimal digits", HEX_LEN);
}

int vault_file_key(int dir_fd, struct vault_head *h, uint8_t key[VAULT_KEY_LEN], struct err *err)
{
        *h = (struct vault_head){.lock = VAULT_BY_KEY};
        randombytes_buf(h->salt, sizeof h->salt);
        int got = key_file(dir_fd, key, err);
        if (got != 0)
                return got < 0 ? -1 : 0;
        char text[HEX_LEN + 2];
        randombytes_buf(key, VAULT_KEY_LEN);
        sodium_bin2hex(text, HEX_LEN + 1, key, VAULT_KEY_LEN);
        text[HEX_LEN] = '\n';
        _cleanup_close_ int fd = openat(dir_fd, "vault.key",
                                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        int r = fd < 0 || fdio_write_all(fd, text, HEX_LEN + 1) < 0 || fsync(fd) < 0 ? -1 : 0;
        sodium_memzero(text, sizeof text);
        if (r < 0) {
                err_sys(err, "write vault.key");
                if (fd >= 0)
                        unlinkat(dir_fd, "vault.key", 0);
        }
        return r;
}

void vault_file_key_drop(int dir_fd)
{
        unlinkat(dir_fd, "vault.key", 0);
}

static int from_passphrase(const char *text, size_t n, struct vault_head *h,
                           uint8_t key[VAULT_KEY_LEN], struct err *err)
{
        if (n < PASSPHRASE_MIN)
                return err_set(err, E_INPUT, "a passphrase has at least %d characters",
                               PASSPHRASE_MIN);
        *h = (struct vault_head){.lock = VAULT_BY_PASSPHRASE, .ops = OPS, .mem = MEM};
        randombytes_buf(h->salt, sizeof h->salt);
        return derive(text, n, h, key, err);
}

int vault_first_key(const struct vault_ask *ask, struct vault_head *h, uint8_t key[VAULT_KEY_LEN],
                    struct err *err)
{
        _cleanup_locked_ char *text = sodium_malloc(PASSPHRASE_MAX);
        if (!text)
                return err_sys(err, "get locked memory");
        long n = told(ask, text, PASSPHRASE_MAX, err);
        if (n < 0)
                return -1;
        if (n == 0)
                return vault_file_key(ask->dir_fd, h, key, err);
        return from_passphrase(text, (size_t)n, h, key, err);
}

int vault_passphrase_key(const struct vault_ask *ask, struct vault_head *h,
                         uint8_t key[VAULT_KEY_LEN], struct err *err)
{
        _cleanup_locked_ char *text = sodium_malloc(PASSPHRASE_MAX);
        _cleanup_locked_ char *again = sodium_malloc(PASSPHRASE_MAX);
        if (!text || !again)
                return err_sys(err, "get locked memory");
        const char *path = getenv("OSTIARY_VAULT_NEW_PASSPHRASE_FILE");
        long n;
        if (path && *path) {
                _cleanup_close_ int fd = open(path, O_RDONLY | O_NOCTTY | O_CLOEXEC);
                n = fd < 0 ? -1 : read_line(fd, text, PASSPHRASE_MAX);
                if (n <= 0)
                        return err_set(
                                err, E_INPUT,
                                "the file that OSTIARY_VAULT_NEW_PASSPHRASE_FILE names holds "
                                "no passphrase in its first line");
        } else {
                n = vault_tty_secret("New passphrase: ", text, PASSPHRASE_MAX, err);
                long m = n < 0 ? -1 : vault_tty_secret("Once more: ", again, PASSPHRASE_MAX, err);
                if (m < 0)
                        return err_add(err, "a new passphrase is wanted");
                if (n != m || sodium_memcmp(text, again, (size_t)n) != 0)
                        return err_set(err, E_INPUT,
                                       "the two are not the same; nothing was changed");
        }
        (void)ask;
        return from_passphrase(text, (size_t)n, h, key, err);
}

/* try(ask, v, key, err): 0 open, 1 the key does not fit, -1. */
static int try(const struct vault_ask *ask, struct vault *v, const uint8_t *key, struct err *err)
{
        if (vault_file_read(ask->dir_fd, key, v, err) == 0)
                return 0;
        return err->code == E_REFUSED ? 1 : -1;
}

static int open_by_key(const struct vault_ask *ask, struct vault *v, uint8_t *key, struct err *err)
{
        char text[PASSPHRASE_MAX];
        long n = credential(text, sizeof text);
        int r = n > 0 && is_hex_key(text, (size_t)n, key) ? try(ask, v, key, err) : 1;
        sodium_memzero(text, sizeof text);
        if (r == 1 && vault_ring_get(&v->head, key))
                r = try(ask, v, key, err);
        if (r != 1)
                return r;
        int got = key_file(ask->dir_fd, key, err);
        if (got < 0)
                return -1;
        if (got == 0)
                return err_set(err, E_REFUSED,
                               "the vault's key is gone: vault.key is missing, and neither the "
                               "keyring nor a systemd credential has it");
        r = try(ask, v, key, err);
        return r == 1 ? err_set(err, E_REFUSED,
                                "vault.key does not open this vault: it belongs to another one, or "
                                "the vault is damaged; it was left as it is")
                      : r;
}

static int open_by_passphrase(const struct vault_ask *ask, struct vault *v, uint8_t *key,
                              struct err *err)
{
        int r = 1;
        if (ask->passphrase_fd < 0 && vault_ring_get(&v->head, key))
                r = try(ask, v, key, err);
        if (r != 1)
                return r;
        _cleanup_locked_ char *text = sodium_malloc(PASSPHRASE_MAX);
        if (!text)
                return err_sys(err, "get locked memory");
        long n = told(ask, text, PASSPHRASE_MAX, err);
        if (n < 0)
                return -1;
        if (n == 0 && !vault_tty_is_there())
                return err_set(err, E_REFUSED,
                               "the vault wants its passphrase and there is no terminal to ask at "
                               "(OSTIARY_VAULT_PASSPHRASE_FILE can name a file that holds it)");
        bool is_asked = n == 0;
        for (int i = 0; r == 1 && i < (is_asked ? ASK_TRIES : 1); i++) {
                if (is_asked)
                        n = vault_tty_secret(i ? "That was not it. Passphrase of the vault: "
                                               : "Passphrase of the vault: ",
                                             text, PASSPHRASE_MAX, err);
                if (n < 0 || derive(text, (size_t)n, &v->head, key, err) < 0)
                        return -1;
                r = try(ask, v, key, err);
        }
        if (r == 0)
                vault_ring_put(&v->head, key);
        return r == 1 ? err_set(err, E_REFUSED,
                                "the passphrase is wrong (or the vault was changed by somebody "
                                "else; "
                                "it was left as it is)")
                      : r;
}

int vault_open(const struct vault_ask *ask, struct vault *v, uint8_t key[VAULT_KEY_LEN],
               struct err *err)
{
        int got = vault_file_head(ask->dir_fd, &v->head, err);
        if (got < 0)
                return -1;
        v->is_new = got == 0;
        if (v->is_new)
                return 0;
        switch (v->head.lock) {
        case VAULT_BY_KEY:
                return open_by_key(ask, v, key, err);
        case VAULT_BY_PASSPHRASE:
                return open_by_passphrase(ask, v, key, err);
        }
        return -1;
}
