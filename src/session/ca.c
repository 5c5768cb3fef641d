/* ca.c - see ca.h: taking an authority from the pool. On the way of every start, so the usual case
 * is a dozen system calls; the key goes from file to sealed memory inside the kernel, because pid 1
 * of the box will have a copy of our memory. */
#include "session/ca.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/ca_int.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { KEY_MAX = 4096, CERT_MAX = 8192 };

/* take(store, pool, name, ca): make ${name} ours. 0, or -1 when somebody else has it or it is
 * damaged. */
static int take(const struct store *store, int pool, const char *name, struct ca *ca)
{
        char used[64];
        _cleanup_close_ int dir =
                openat(pool, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        /* The lock first: what is called used and is not locked may be swept away. */
        if (dir < 0 || flock(dir, LOCK_SH | LOCK_NB) < 0)
                return -1;
        snprintf(used, sizeof used, "used.%s.%.20s", ca->host.key, strrchr(name, '.') + 1);
        if (renameat(pool, name, pool, used) < 0)
                return -1; /* exactly one can rename it */
        _cleanup_close_ int key = openat(dir, "key", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (key < 0 || unlinkat(dir, "key", 0) < 0)
                return -1;
        ca->key_fd = ca_sealed(key, KEY_MAX, "ostiary-key", NULL);
        if (ca->key_fd < 0)
                return -1;
        ca->has_nss = ca->host.certutil != NULL;
        ca->etc = str_fmt("%s/ca/%s/etc", store->state, used);
        ca->dir_fd = take_fd(&dir);
        return 0;
}

/* take_any(store, pool, host, ca): the first that fits; also sees what is left. */
static int take_any(const struct store *store, int pool, const struct ca_host *host, struct ca *ca)
{
        bool has_roots = !host->bundle;
        unsigned left = 0;
        _cleanup_closedir_ DIR *d = fdio_opendir(pool);
        struct dirent *e;
        while (d && (e = readdir(d))) {
                if (strncmp(e->d_name, host->roots, 16) == 0 &&
                    strcmp(e->d_name + 16, ".roots") == 0)
                        has_roots = true;
                else if (!ca_pool_fits(host, e->d_name))
                        continue;
                else if (ca->dir_fd < 0 && take(store, pool, e->d_name, ca) == 0)
                        continue;
                else
                        left++;
        }
        ca->is_low = left < CA_LOW || !has_roots;
        return ca->dir_fd < 0 ? -1 : 0;
}

int ca_take(const struct store *store, struct ca *ca, struct err *err)
{
        *ca = CA_NONE;
        _cleanup_close_ int pool = ca_pool_open(store, err);
        if (pool < 0)
                return -1;
        ca_host_look(&ca->host);
        /* Many starts at once may take what we had made for ourselves. */
        for (int tries = 0; tries < 100; tries++) {
                if (take_any(store, pool, &ca->host, ca) == 0)
                        return 0;
                int r = ca_pool_make(store, &ca->host, err);
                if (r != 0) {
                        ca->is_none = r > 0;
                        return r > 0 ? 0 : -1;
                }
        }
        return err_set(err, E_SYSTEM, "no certificate authority for the box could be had");
}

void ca_close(struct ca *ca)
{
        close_fd(&ca->dir_fd);
        close_fd(&ca->key_fd);
        free(take_ptr(&ca->etc));
}

int ca_seed_home(const struct ca *ca, int home_fd, unsigned uid, unsigned gid, struct err *err)
{
        static const char *const parts[] = {"", "cert9.db", "key4.db", "pkcs11.txt"};
        struct stat st;
        if (ca->dir_fd < 0 || fstatat(ca->dir_fd, "nssdb", &st, AT_SYMLINK_NOFOLLOW) < 0)
                return 0;
        /* Ours still, so that nobody in the box can have a hand in it. */
        _cleanup_close_ int db =
                openat(ca->dir_fd, "nssdb", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        for (size_t i = 0; db >= 0 && st.st_uid != uid && i < sizeof parts / sizeof *parts; i++)
                if (fchownat(db, parts[i], uid, gid, AT_SYMLINK_NOFOLLOW | AT_EMPTY_PATH) < 0)
                        return err_sys(err, "give the browsers' database to the box");
        _cleanup_close_ int pki = beneath_mkdirs(home_fd, ".pki", 0700, err);
        if (db < 0 || pki < 0)
                return err_add(err, "prepare ~/.pki");
        if (st.st_uid != uid && fchownat(pki, "", uid, gid, AT_EMPTY_PATH) < 0)
                return err_sys(err, "give ~/.pki to the box");
        if (beneath_remove_tree(pki, "nssdb", err) < 0)
                return -1;
        return renameat(ca->dir_fd, "nssdb", pki, "nssdb") < 0 ? err_sys(err, "fill ~/.pki") : 0;
}

/* put_file(b, fd, max): u32 length and the bytes, as the keeper reads them. */
static int put_file(struct buf *b, int fd, size_t max)
{
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || st.st_size <= 0 || (size_t)st.st_size > max)
                return -1;
        buf_put_u32(b, (uint32_t)st.st_size);
        uint8_t *p = buf_room(b, (size_t)st.st_size);
        return p && pread(fd, p, (size_t)st.st_size, 0) == st.st_size ? 0 : -1;
}

int ca_begin(const struct ca *ca, struct buf *body, struct err *err)
{
        if (ca->is_none || ca->dir_fd < 0)
                return err_set(err, E_ABSENT, "this box has no certificate authority");
        _cleanup_close_ int cert = openat(ca->dir_fd, "cert", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        /* Room for both at once: growing would leave a copy of the key behind. */
        size_t room = KEY_MAX + CERT_MAX + 8;
        if (buf_room(body, room))
                body->len -= room;
        if (put_file(body, ca->key_fd, KEY_MAX) < 0 || put_file(body, cert, CERT_MAX) < 0)
                return err_set(err, E_SYSTEM, "the box's certificate authority cannot be read");
        return 0;
}
