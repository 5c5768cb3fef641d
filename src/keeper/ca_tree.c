/* ca_tree.c - see ca_tree.h. The tree is laid over the host's /etc inside the box, so a file goes
 * to where the host's own links end: then every name for the bundle leads to ours. */
#include "keeper/ca_tree.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "keeper/ca_cert.h"
#include "keeper/ca_roots.h"
#include "policy/trust_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* place_of(path): where ${path} (below /etc) has to lie in the layer, relative to it: at the end of
 * the host's links as long as they stay in /etc, else under its own name in place of the link. The
 * caller frees. */
static char *place_of(const char *path)
{
        _cleanup_free_ char *real = realpath(path, NULL);
        if (real && str_starts(real, "/etc/"))
                return str_dup(real + 5);
        _cleanup_free_ char *dir = str_fmt("%.*s", (int)(strrchr(path, '/') - path), path);
        _cleanup_free_ char *real_dir = realpath(dir, NULL);
        const char *name = strrchr(path, '/') + 1;
        if (real_dir && str_starts(real_dir, "/etc/"))
                return str_fmt("%s/%s", real_dir + 5, name);
        return str_dup(path + 5);
}

/* open_place(etc, path, &name, err): the directory that ${path} lies in within the layer, made now,
 * and its last part (the caller frees). */
static int open_place(int etc, const char *path, char **name, struct err *err)
{
        _cleanup_free_ char *place = place_of(path);
        char *slash = strrchr(place, '/');
        if (!slash) {
                err_set(err, E_INPUT, "%s leads to a place that is not expected", path);
                return -1;
        }
        *slash = 0;
        *name = str_dup(slash + 1);
        return beneath_mkdirs(etc, place, 0755, err);
}

/* put(dir, name, head, tail, tail_len, err): a file of two pieces. Of one that is there the first
 * is right already: it was made for the same roots, and no box can write to it. */
static int put(int dir, const char *name, const struct buf *head, const void *tail, size_t tail_len,
               struct err *err)
{
        size_t head_len = head ? head->len : 0;
        struct stat st;
        _cleanup_close_ int fd =
                openat(dir, name, O_CREAT | O_WRONLY | O_NOFOLLOW | O_CLOEXEC, 0644);
        if (fd < 0 || fstat(fd, &st) < 0)
                return err_sys(err, "write %s", name);
        if ((size_t)st.st_size < head_len && fdio_write_all(fd, head->data, head_len) < 0)
                return err_sys(err, "write %s", name);
        if (lseek(fd, (off_t)head_len, SEEK_SET) < 0 || fdio_write_all(fd, tail, tail_len) < 0 ||
            ftruncate(fd, (off_t)(head_len + tail_len)) < 0)
                return err_sys(err, "write %s", name);
        return 0;
}

/* drop_links(dir): the hashed name of the authority before. */
static void drop_links(int dir)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(dir);
        struct dirent *e;
        while (d && (e = readdir(d)))
                if (e->d_type == DT_LNK)
                        unlinkat(dir, e->d_name, 0);
}

static int put_bundles(int etc, const struct ca_cert *c, const struct ca_roots *r, struct err *err)
{
        _cleanup_close_ int first = -1;
        _cleanup_free_ char *first_name = NULL;
        for (size_t i = 0; trust_list_bundles[i]; i++) {
                _cleanup_free_ char *name = NULL;
                _cleanup_close_ int dir = -1;
                if (i > 0 && access(trust_list_bundles[i], F_OK) < 0)
                        continue;
                if ((dir = open_place(etc, trust_list_bundles[i], &name, err)) < 0)
                        return -1;
                if (i == 0) {
                        if (put(dir, name, &r->pem, c->pem, strlen(c->pem), err) < 0)
                                return -1;
                        first = take_fd(&dir);
                        first_name = take_ptr(&name);
                } else if (linkat(first, first_name, dir, name, 0) < 0 && errno != EEXIST) {
                        return err_sys(err, "link %s", name);
                }
        }
        return 0;
}

/* put_alone(etc, c): our certificate by itself, for programs that add one to their own roots, and
 * under the name by which OpenSSL finds it in the directory. */
static int put_alone(int etc, const struct ca_cert *c, struct err *err)
{
        _cleanup_free_ char *name = NULL;
        _cleanup_close_ int dir = open_place(etc, TRUST_LIST_OURS, &name, err);
        if (dir < 0 || put(dir, name, NULL, c->pem, strlen(c->pem), err) < 0)
                return -1;
        drop_links(dir);
        return symlinkat(name, dir, c->hash) < 0 ? err_sys(err, "link %s", c->hash) : 0;
}

static int put_java(int etc, const struct ca_cert *c, const struct ca_roots *r, struct err *err)
{
        _cleanup_buf_ struct buf tail = {0};
        if (r->jks.len == 0)
                return 0;
        if (ca_roots_java(r, c, &tail, err) < 0)
                return -1;
        for (size_t i = 0; trust_list_java[i]; i++) {
                _cleanup_free_ char *name = NULL;
                if (i > 0 && access(trust_list_java[i], F_OK) < 0)
                        continue;
                _cleanup_close_ int dir = open_place(etc, trust_list_java[i], &name, err);
                if (dir < 0 || put(dir, name, &r->jks, tail.data, tail.len, err) < 0)
                        return -1;
        }
        return 0;
}

/* put_policy(etc, path, text, err): in its own place: the host's policies are not the box's. */
static int put_policy(int etc, const char *path, const char *text, struct err *err)
{
        _cleanup_free_ char *dir_path =
                str_fmt("%.*s", (int)(strrchr(path, '/') - path - 5), path + 5);
        _cleanup_close_ int dir = beneath_mkdirs(etc, dir_path, 0755, err);
        return dir < 0 ? -1 : put(dir, strrchr(path, '/') + 1, NULL, text, strlen(text), err);
}

int ca_tree_browsers(int dir_fd, const struct ca_cert *c, struct err *err)
{
        /* The certificate without its first and last line and without line ends is its base64. */
        _cleanup_buf_ struct buf b = {0};
        const char *p = strstr(c->pem, "-----BEGIN"), *end = strstr(c->pem, "-----END");
        _cleanup_close_ int etc = beneath_mkdirs(dir_fd, "etc", 0755, err);
        if (etc < 0 || !p || !(p = strchr(p, '\n')) || !end)
                return -1;
        buf_put_str(&b, "{\"CACertificates\": [\"");
        for (; p < end; p++)
                if (*p != '\n')
                        buf_put_u8(&b, (uint8_t)*p);
        buf_put_str(&b, "\"]}\n");
        for (size_t i = 0; trust_list_policies[i]; i++)
                if (put_policy(etc, trust_list_policies[i], buf_cstr(&b), err) < 0)
                        return -1;
        return put_policy(etc, TRUST_LIST_FIREFOX,
                          "{\"policies\": {\"Certificates\": {\"Install\": [\"" TRUST_LIST_OURS
                          "\"]}}}\n",
                          err);
}

int ca_tree_etc(int dir_fd, const struct ca_cert *c, const struct ca_roots *r, struct err *err)
{
        _cleanup_close_ int etc = beneath_mkdirs(dir_fd, "etc", 0755, err);
        if (etc < 0 || put_bundles(etc, c, r, err) < 0 || put_alone(etc, c, err) < 0)
                return -1;
        return put_java(etc, c, r, err);
}

static int run(char *const argv[], struct err *err)
{
        static char *const env[] = {"PATH=/usr/bin:/bin", NULL};
        posix_spawn_file_actions_t quiet;
        pid_t pid;
        int status;
        posix_spawn_file_actions_init(&quiet);
        for (int fd = 0; fd < 3; fd++)
                posix_spawn_file_actions_addopen(&quiet, fd, "/dev/null", O_RDWR, 0);
        errno = posix_spawn(&pid, argv[0], &quiet, NULL, argv, env);
        posix_spawn_file_actions_destroy(&quiet);
        if (errno)
                return err_sys(err, "start %s", argv[0]);
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        return status == 0 ? 0 : err_set(err, E_SYSTEM, "%s %s failed", argv[0], argv[1]);
}

int ca_tree_nss(int dir_fd, const char *certutil, const struct ca_cert *c, struct err *err)
{
        char where[64], from[64];
        if (beneath_remove_tree(dir_fd, "nssdb", err) < 0)
                return -1;
        _cleanup_close_ int db = beneath_mkdirs(dir_fd, "nssdb", 0700, err);
        if (db < 0 || put(dir_fd, "pem", NULL, c->pem, strlen(c->pem), err) < 0)
                return -1;
        /* By descriptor number of ours: it must not care what the state directory is called. */
        snprintf(where, sizeof where, "sql:/proc/%d/fd/%d", (int)getpid(), db);
        snprintf(from, sizeof from, "/proc/%d/fd/%d/pem", (int)getpid(), dir_fd);
        char *make[] = {(char *)(uintptr_t)certutil, "-N", "--empty-password", "-d", where, NULL};
        char *add[] = {(char *)(uintptr_t)certutil,
                       "-A",
                       "-n",
                       "Ostiary box CA",
                       "-t",
                       "C,,",
                       "-i",
                       from,
                       "-d",
                       where,
                       NULL};
        int r = run(make, err) < 0 ? -1 : run(add, err);
        unlinkat(dir_fd, "pem", 0);
        return r;
}
