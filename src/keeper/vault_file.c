/* vault_file.c - the sealed file: read whole, written whole beside the old one and renamed.
 *
 *   "ostiary vault\n\0\0"  16 bytes
 *   version  u32      this is 1
 *   lock     u32      1 key, 2 passphrase
 *   ops      u64      Argon2id's passes
 *   mem      u64      Argon2id's bytes
 *   salt     16 bytes
 *   nonce    24 bytes
 *   sealed   XChaCha20-Poly1305 of the entries; everything above is authenticated with it
 *
 * Called by vault_main.c. It must never write over a file that it could not read: such a file may
 * be somebody's only copy. */
#include "keeper/vault.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum {
        VERSION = 1,
        MAGIC_LEN = 16,
        NONCE_LEN = crypto_aead_xchacha20poly1305_ietf_NPUBBYTES,
        SEAL_LEN = crypto_aead_xchacha20poly1305_ietf_ABYTES,
        HEAD_LEN = MAGIC_LEN + 4 + 4 + 8 + 8 + VAULT_SALT_LEN + NONCE_LEN,
        FILE_LEN_MAX = 96 << 20,
        LOCK_TRIES = 100, /* of a tenth of a second */
};

/* What a header may ask of this machine before anybody has proved anything. */
#define OPS_MAX ((uint64_t)64)
#define MEM_MAX ((uint64_t)2 << 30)

static const char magic[MAGIC_LEN] = "ostiary vault\n";

static int damaged(struct err *err)
{
        return err_set(err, E_INPUT,
                       "the vault is damaged and was left as it is; put a copy of it back, or move "
                       "it away to begin anew");
}

/* load(dir_fd, b, err): 1 read, 0 absent, -1. */
static int load(int dir_fd, struct buf *b, struct err *err)
{
        _cleanup_close_ int fd =
                openat(dir_fd, "vault", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        struct stat st;
        if (fd < 0) {
                if (errno == ENOENT)
                        return 0;
                if (errno == ELOOP)
                        return err_set(err, E_INPUT, "the vault is a symlink, which is not opened");
                return err_sys(err, "open the vault");
        }
        if (fstat(fd, &st) < 0)
                return err_sys(err, "look at the vault");
        if (!S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "the vault is not a file");
        if (st.st_uid != geteuid())
                return err_set(err, E_INPUT, "the vault belongs to another user");
        if (st.st_mode & 077)
                return err_set(err, E_INPUT, "the vault can be opened by others (chmod 600 it)");
        if (fdio_read_all(fd, b, FILE_LEN_MAX) < 0)
                return err_sys(err, "read the vault");
        return 1;
}

static int parse_head(const struct buf *b, struct vault_head *h, struct err *err)
{
        struct cur c = cur_of(b->data, b->len);
        const uint8_t *p;
        uint32_t version, lock;
        if (cur_bytes(&c, MAGIC_LEN, &p) < 0 || memcmp(p, magic, MAGIC_LEN) != 0)
                return b->len < MAGIC_LEN
                               ? damaged(err)
                               : err_set(err, E_INPUT,
                                         "what is called vault is not one; it was left as it is");
        if (cur_u32(&c, &version) < 0)
                return damaged(err);
        if (version > VERSION)
                return err_set(
                        err, E_INPUT,
                        "the vault was written by a newer ostiary (format %u, this one knows "
                        "%d) and was left as it is; use that version",
                        version, VERSION);
        if (version != VERSION || b->len < HEAD_LEN + SEAL_LEN || cur_u32(&c, &lock) < 0 ||
            (lock != VAULT_BY_KEY && lock != VAULT_BY_PASSPHRASE) || cur_u64(&c, &h->ops) < 0 ||
            cur_u64(&c, &h->mem) < 0 || cur_bytes(&c, VAULT_SALT_LEN, &p) < 0)
                return damaged(err);
        h->lock = (enum vault_lock)lock;
        memcpy(h->salt, p, VAULT_SALT_LEN);
        if (h->lock == VAULT_BY_PASSPHRASE &&
            (h->ops < crypto_pwhash_OPSLIMIT_MIN || h->ops > OPS_MAX ||
             h->mem < crypto_pwhash_MEMLIMIT_MIN || h->mem > MEM_MAX))
                return damaged(err);
        return 0;
}

int vault_file_head(int dir_fd, struct vault_head *h, struct err *err)
{
        _cleanup_buf_ struct buf b = {.max = FILE_LEN_MAX + 4096};
        int got = load(dir_fd, &b, err);
        if (got <= 0)
                return got;
        return parse_head(&b, h, err) < 0 ? -1 : 1;
}

int vault_file_read(int dir_fd, const uint8_t key[VAULT_KEY_LEN], struct vault *v, struct err *err)
{
        _cleanup_buf_ struct buf b = {.max = FILE_LEN_MAX + 4096};
        int got = load(dir_fd, &b, err);
        if (got < 0 || (got > 0 && parse_head(&b, &v->head, err) < 0))
                return -1;
        if (got == 0 || !b.data)
                return err_set(err, E_ABSENT, "the vault went away while it was read");
        size_t sealed = b.len - HEAD_LEN;
        uint8_t *plain = sodium_malloc(sealed); /* its last bytes are the seal's */
        if (!plain)
                return err_sys(err, "get locked memory");
        unsigned long long n = 0;
        int r = 0;
        if (crypto_aead_xchacha20poly1305_ietf_decrypt(plain, &n, NULL, b.data + HEAD_LEN, sealed,
                                                       b.data, HEAD_LEN,
                                                       b.data + HEAD_LEN - NONCE_LEN, key) != 0)
                r = err_set(err, E_REFUSED, "the key does not open the vault");
        else if (vault_unpack(v, plain, (size_t)n) < 0)
                r = damaged(err);
        sodium_free(plain);
        return r;
}

static void put_head(struct buf *b, const struct vault_head *h)
{
        uint8_t nonce[NONCE_LEN];
        randombytes_buf(nonce, sizeof nonce);
        buf_put(b, magic, MAGIC_LEN);
        buf_put_u32(b, VERSION);
        buf_put_u32(b, h->lock);
        buf_put_u64(b, h->ops);
        buf_put_u64(b, h->mem);
        buf_put(b, h->salt, VAULT_SALT_LEN);
        buf_put(b, nonce, NONCE_LEN);
}

static int seal(struct buf *b, const uint8_t *key, const struct vault *v, struct err *err)
{
        size_t n;
        uint8_t *plain = vault_pack(v, &n);
        if (!plain)
                return err_sys(err, "get locked memory");
        put_head(b, &v->head);
        uint8_t *at = buf_room(b, n + SEAL_LEN);
        if (!at) {
                sodium_free(plain);
                return err_set(err, E_SYSTEM, "there is no memory left");
        }
        crypto_aead_xchacha20poly1305_ietf_encrypt(at, NULL, plain, n, b->data, HEAD_LEN, NULL,
                                                   b->data + HEAD_LEN - NONCE_LEN, key);
        b->len = HEAD_LEN + n + SEAL_LEN;
        sodium_free(plain);
        return 0;
}

int vault_file_write(int dir_fd, const uint8_t key[VAULT_KEY_LEN], const struct vault *v,
                     struct err *err)
{
        _cleanup_buf_ struct buf b = {.max = FILE_LEN_MAX + 4096};
        if (seal(&b, key, v, err) < 0)
                return -1;
        /* One writer at a time, so a file of that name was left by one that was killed. */
        if (unlinkat(dir_fd, "vault.new", 0) < 0 && errno != ENOENT)
                return err_sys(err, "write the vault");
        _cleanup_close_ int fd = openat(dir_fd, "vault.new",
                                        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return err_sys(err, "write the vault");
        if (fdio_write_all(fd, b.data, b.len) < 0 || fsync(fd) < 0 ||
            renameat(dir_fd, "vault.new", dir_fd, "vault") < 0) {
                err_sys(err, "write the vault (the old one is as it was)");
                unlinkat(dir_fd, "vault.new", 0);
                return -1;
        }
        fsync(dir_fd);
        return 0;
}

int vault_file_lock(int dir_fd, struct err *err)
{
        _cleanup_close_ int fd =
                openat(dir_fd, "vault.lock", O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return err_sys(err, "open the vault's lock");
        for (int i = 0; flock(fd, LOCK_EX | LOCK_NB) < 0; i++) {
                if (errno != EWOULDBLOCK && errno != EINTR)
                        return err_sys(err, "lock the vault");
                if (i == LOCK_TRIES)
                        return err_set(err, E_REFUSED,
                                       "another ostiary is writing to the vault; try again when it "
                                       "is done");
                poll(NULL, 0, 100);
        }
        return take_fd(&fd);
}
