/* libtree.h - what the tests of the tree stream share: a scratch directory, small files, and copies
 * whose box end runs in a child. */
#ifndef TESTS_UNIT_LIBTREE_H
#define TESTS_UNIT_LIBTREE_H

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "unit/check.h"
#include "wire/tree_int.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

/* What a fixture fails to make, the check that needs it will miss. */
#pragma GCC diagnostic ignored "-Wunused-result"

__attribute__((unused)) static char scratch[] = "/tmp/ostiary-tree.XXXXXX";
static unsigned notes_n;
static char last_note[2048];

__attribute__((unused)) static void scratch_make(void)
{
        if (!mkdtemp(scratch) || chdir(scratch) < 0)
                _exit(1);
        umask(022);
}

__attribute__((unused)) static void scratch_end(void)
{
        CHECK("everything is cleaned up",
              chdir("/") == 0 && beneath_remove_tree(AT_FDCWD, scratch, NULL) == 0);
}

__attribute__((unused)) static void put(const char *path, const char *text)
{
        _cleanup_close_ int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                perror(path);
}

__attribute__((unused)) static bool holds(const char *path, const char *text)
{
        _cleanup_free_ char *got = fdio_read_file(AT_FDCWD, path, 1 << 20, NULL);
        return got && strcmp(got, text) == 0;
}

__attribute__((unused)) static bool links_to(const char *path, const char *target)
{
        char got[4096];
        ssize_t n = readlink(path, got, sizeof got - 1);
        if (n < 0)
                return false;
        got[n] = 0;
        return strcmp(got, target) == 0;
}

__attribute__((unused)) static bool is_there(const char *path)
{
        struct stat st;
        return lstat(path, &st) == 0;
}

__attribute__((unused)) static int entries_in(const char *path)
{
        _cleanup_closedir_ DIR *d = opendir(path);
        int n = 0;
        while (d && readdir(d))
                n++;
        return n - 2;
}

static void on_note(void *arg, const char *sentence)
{
        (void)arg;
        notes_n++;
        snprintf(last_note, sizeof last_note, "%s", sentence);
}

__attribute__((unused)) static struct tree_opts opts_of(void)
{
        notes_n = 0;
        last_note[0] = 0;
        return (struct tree_opts){
                .owner_uid = (uid_t)-1, .owner_gid = (gid_t)-1, .on_note = on_note};
}

__attribute__((unused)) static int open_dir(void *arg, const char *path, struct err *err)
{
        (void)arg;
        int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        int saved = errno;
        if (fd < 0)
                err_sys(err, "open %s", path);
        errno = saved;
        return fd;
}

/* copy_out(path, dest, opts, err): `ostiary cp BOX:path dest`, the box's end in a child. */
__attribute__((unused)) static int copy_out(const char *path, const char *dest,
                                            const struct tree_opts *opts, struct err *err)
{
        int s[2];
        struct tree_count count = {0};
        _cleanup_tree_place_ struct tree_place place = {.dir_fd = -1, .parent_fd = -1};
        _cleanup_free_ char *base = tree_base(path);
        if (tree_place_open(&place, dest, base, open_dir, NULL, err) < 0)
                return -1;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
                return -1;
        pid_t pid = fork();
        if (pid == 0) {
                close(s[0]);
                _exit(tree_box_out(s[1], path, opts->is_follow, opts->leaves));
        }
        close(s[1]);
        int r = tree_host_out(s[0], &place, opts, &count, err);
        close(s[0]);
        int status = -1;
        waitpid(pid, &status, 0);
        return r == 0 && status != 0 ? err_set(err, E_PROTO, "the sender failed") : r;
}

/* copy_in(path, dest, opts, err): `ostiary cp path BOX:dest`. */
__attribute__((unused)) static int copy_in(const char *path, const char *dest,
                                           const struct tree_opts *opts, struct err *err)
{
        int s[2];
        struct tree_count count = {0};
        _cleanup_free_ char *base = tree_base(path);
        _cleanup_close_ int root = open(path, O_RDONLY | O_CLOEXEC);
        if (root < 0)
                return err_sys(err, "open %s", path);
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
                return -1;
        pid_t pid = fork();
        if (pid == 0) {
                close(s[0]);
                _exit(tree_box_in(s[1], dest, base));
        }
        close(s[1]);
        int r = tree_host_in(s[0], root, opts, &count, err);
        close(s[0]);
        int status = -1;
        waitpid(pid, &status, 0);
        return r == 0 && status != 0 ? err_set(err, E_PROTO, "the receiver failed") : r;
}

#endif
