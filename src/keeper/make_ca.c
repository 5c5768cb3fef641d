/* make_ca.c - `ostiary-door make-ca DIR KEY COUNT BUNDLE FOR CERTUTIL [only]`: see to it that DIR
 * holds COUNT authorities for KEY (session/ca.h describes the pool), made from the roots in BUNDLE,
 * FOR "java", "browsers" or both, with a database made by CERTUTIL; "-" stands for none of it.
 * Only: not while somebody else fills that pool. Run by session with the user's rights; never by a
 * role. */
#include "keeper/keeper.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "keeper/ca_cert.h"
#include "keeper/ca_roots.h"
#include "keeper/ca_tree.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/rand.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

struct job {
        int dir;
        const char *key, *bundle, *certutil;
        bool wants_java, wants_browsers;
        struct ca_roots roots;
};

static int put_file(int dir, const char *name, mode_t mode, const void *p, size_t n,
                    struct err *err)
{
        /* Cut afterwards: ext4 hurries to write out what was cut to nothing and filled again. */
        _cleanup_close_ int fd =
                openat(dir, name, O_CREAT | O_NOFOLLOW | O_WRONLY | O_CLOEXEC, mode);
        if (fd < 0 || fdio_write_all(fd, p, n) < 0 || ftruncate(fd, (off_t)n) < 0)
                return err_sys(err, "write %s", name);
        return 0;
}

static int fill(const struct job *j, int at, struct err *err)
{
        struct ca_cert c;
        if (ca_cert_make(&c, err) < 0)
                return -1;
        int r = put_file(at, "key", 0600, c.key_der, c.key_len, err) < 0 ||
                                put_file(at, "cert", 0600, c.cert_der, c.cert_len, err) < 0 ||
                                ca_tree_etc(at, &c, &j->roots, err) < 0 ||
                                (j->wants_browsers && ca_tree_browsers(at, &c, err) < 0) ||
                                (j->certutil && ca_tree_nss(at, j->certutil, &c, err) < 0)
                        ? -1
                        : 0;
        ca_cert_free(&c);
        return r;
}

/* take_over(j, tmp): the directory of a box that is over, made from the same roots, under the name
 * ${tmp}: to write two tails anew costs a tenth of making and deleting a tree. -1 when there is
 * none.
 */
static int take_over(const struct job *j, const char *tmp)
{
        char prefix[64];
        snprintf(prefix, sizeof prefix, "used.%s.", j->key);
        _cleanup_closedir_ DIR *d = fdio_opendir(j->dir);
        struct dirent *e;
        while (d && (e = readdir(d))) {
                if (!str_starts(e->d_name, prefix))
                        continue;
                _cleanup_close_ int at =
                        openat(j->dir, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (at >= 0 && flock(at, LOCK_EX | LOCK_NB) == 0 &&
                    renameat(j->dir, e->d_name, j->dir, tmp) == 0)
                        return take_fd(&at);
        }
        return -1;
}

/* make_one(j, err): fill a directory under another name and rename it: an authority is whole or not
 * there. */
static int make_one(const struct job *j, struct err *err)
{
        uint64_t id;
        char tmp[32], name[80];
        if (RAND_bytes((uint8_t *)&id, sizeof id) != 1)
                return err_set(err, E_SYSTEM, "there are no random numbers");
        snprintf(tmp, sizeof tmp, "new.%016llx", (unsigned long long)id);
        snprintf(name, sizeof name, "%s.%llx.%016llx", j->key, (unsigned long long)time(NULL),
                 (unsigned long long)id);
        _cleanup_close_ int at = take_over(j, tmp);
        if (at < 0) {
                if (mkdirat(j->dir, tmp, 0700) < 0)
                        return err_sys(err, "make an authority");
                at = openat(j->dir, tmp, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        /* Held while it is filled, or somebody's sweep would take it; shared, so that it can be
         * taken the moment it is in the pool. */
        int r = at < 0 || flock(at, LOCK_SH) < 0 ? err_sys(err, "open the new authority")
                                                 : fill(j, at, err);
        if (r == 0 && renameat(j->dir, tmp, j->dir, name) < 0)
                r = err_sys(err, "put the authority into the pool");
        if (r < 0)
                beneath_remove_tree(j->dir, tmp, NULL);
        return r;
}

static unsigned long count(const struct job *j)
{
        unsigned long n = 0;
        size_t len = strlen(j->key);
        _cleanup_closedir_ DIR *d = fdio_opendir(j->dir);
        struct dirent *e;
        while (d && (e = readdir(d)))
                n += strncmp(e->d_name, j->key, len) == 0 && e->d_name[len] == '.' &&
                     e->d_type == DT_DIR;
        return n;
}

/* be_only(dir): the lock of the pool, or -1 when somebody is filling it already. */
static int be_only(int dir)
{
        int lock = openat(dir, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        if (lock >= 0 && flock(lock, LOCK_EX | LOCK_NB) == 0)
                return lock;
        close_fd(&lock);
        return -1;
}

static int make_all(struct job *j, unsigned long want, struct err *err)
{
        unsigned long have = count(j);
        if (have >= want)
                return 0;
        int r = ca_roots_read(&j->roots, j->bundle, j->wants_java, err);
        for (; r == 0 && have < want; have++)
                r = make_one(j, err);
        ca_roots_free(&j->roots);
        return r;
}

int keeper_make_ca_main(int argc, char **argv)
{
        struct err err = {0};
        uint64_t want;
        if (argc < 7 || argc > 8 || str_u64(argv[3], &want) < 0 || want > 64 ||
            strchr(argv[2], '/') || !argv[2][0]) {
                fprintf(stderr, "usage: ostiary-door make-ca DIR KEY COUNT BUNDLE FOR CERTUTIL "
                                "[only]\n");
                return 64;
        }
        umask(022); /* the box reads etc/ as somebody else when root started it */
        _cleanup_close_ int dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_close_ int lock = -1;
        struct job j = {.dir = dir,
                        .key = argv[2],
                        .bundle = strcmp(argv[4], "-") == 0 ? NULL : argv[4],
                        .wants_java = strstr(argv[5], "java") != NULL,
                        .wants_browsers = strstr(argv[5], "browsers") != NULL,
                        .certutil = strcmp(argv[6], "-") == 0 ? NULL : argv[6]};
        if (dir < 0) {
                perror(argv[1]);
                return 1;
        }
        if (argc == 8 && (lock = be_only(dir)) < 0)
                return 0;
        if (make_all(&j, want, &err) < 0) {
                fprintf(stderr, "make-ca: %s\n", err.text);
                return 1;
        }
        return 0;
}
