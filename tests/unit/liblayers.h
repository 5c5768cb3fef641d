/* liblayers.h - what the tests of views and walks share: hand-made layers of an overlay in a
 * scratch directory, and a list of changes as text. */
#ifndef TESTS_UNIT_LIBLAYERS_H
#define TESTS_UNIT_LIBLAYERS_H

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "unit/check.h"
#include "workspace/change.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

/* What a fixture fails to make, the check that needs it will miss. */
#pragma GCC diagnostic ignored "-Wunused-result"

__attribute__((unused)) static char scratch[] = "/tmp/ostiary-layers.XXXXXX";

/* scratch_make(): false when the filesystem there cannot hold what an overlay writes. */
__attribute__((unused)) static bool scratch_make(void)
{
        if (!mkdtemp(scratch) || chdir(scratch) < 0)
                _exit(1);
        umask(022);
        return setxattr(".", "user.overlay.test", "1", 1, 0) == 0 &&
               removexattr(".", "user.overlay.test") == 0;
}

__attribute__((unused)) static void scratch_end(void)
{
        CHECK("everything is cleaned up",
              chdir("/") == 0 && beneath_remove_tree(AT_FDCWD, scratch, NULL) == 0);
}

/* dirs(path): every directory on the way. */
__attribute__((unused)) static void dirs(const char *path)
{
        _cleanup_free_ char *p = str_dup(path);
        for (char *s = strchr(p, '/'); s; s = strchr(s + 1, '/')) {
                *s = 0;
                mkdir(p, 0755);
                *s = '/';
        }
        mkdir(p, 0755);
}

/* put(path, text): a file, with the directories on the way. */
__attribute__((unused)) static void put(const char *path, const char *text)
{
        _cleanup_free_ char *p = str_dup(path);
        char *slash = strrchr(p, '/');
        if (slash) {
                *slash = 0;
                dirs(p);
        }
        _cleanup_close_ int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
        if (fd < 0 || write(fd, text, strlen(text)) < 0)
                perror(path);
}

__attribute__((unused)) static void whiteout(const char *path)
{
        if (mknod(path, S_IFCHR | 0000, makedev(0, 0)) < 0)
                perror(path);
}

__attribute__((unused)) static void mark(const char *path, const char *name, const char *value)
{
        _cleanup_free_ char *full = str_fmt("user.overlay.%s", name);
        if (setxattr(path, full, value, strlen(value), 0) < 0)
                perror(path);
}

__attribute__((unused)) static int dir_fd(const char *path)
{
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* A root made of layers by hand: names of directories, topmost first; the last one is the host's.
 * ${top_n} of them are what the box changed. */
static struct ws_root root_of(const char *const *layers, size_t top_n) __attribute__((unused));
static struct ws_root root_of(const char *const *layers, size_t top_n)
{
        struct ws_root r = {.name = str_dup("ws"), .host = str_dup("/host"), .host_fd = -1};
        r.top_n = top_n;
        for (size_t i = 0; layers[i]; i++) {
                int fd = dir_fd(layers[i]);
                bool is_overlay = layers[i + 1] != NULL;
                ws_view_add(&r.after, fd, is_overlay);
                if (i >= top_n)
                        ws_view_add(&r.before, fd, is_overlay);
        }
        return r;
}

__attribute__((unused)) static void root_end(struct ws_root *r)
{
        for (size_t i = 0; i < r->after.n; i++)
                close(r->after.layers[i].fd);
        ws_view_free(&r->before);
        ws_view_free(&r->after);
        free(r->name);
        free(r->host);
}

__attribute__((unused)) static int tell_line(void *ctx, const struct ws_change *c)
{
        static const char kinds[] = "-fdls";
        struct buf *b = ctx;
        _cleanup_free_ char *path = str_quote(c->path);
        buf_put_fmt(b, "%s %c%c %s%s%s\n", ws_what_name(c->what), kinds[c->before.kind],
                    kinds[c->after.kind], path, c->refused ? " refused" : "",
                    c->is_ignored ? " ignored" : "");
        return 0;
}

/* changes(root, query): one line each: WHAT BEFORE+AFTER PATH; or the error; then what is
 * counted or noted. The caller frees. */
static char *changes(const struct ws_root *, const struct ws_query *) __attribute__((unused));
static char *changes(const struct ws_root *r, const struct ws_query *q)
{
        static const struct ws_query all;
        struct buf b = {0};
        struct err err = {0};
        struct ws_tally t = {0};
        if (ws_walk(r, q ? q : &all, tell_line, &b, &t, &err) < 0)
                buf_put_fmt(&b, "error: %s\n", err.text);
        for (size_t i = 0; i < t.ignored_n; i++)
                buf_put_fmt(&b, "hidden %s %lu\n", t.ignored[i].path,
                            (unsigned long)t.ignored[i].files_n);
        for (size_t i = 0; i < t.git_trees.n; i++)
                buf_put_fmt(&b, "git [%s]\n", t.git_trees.v[i]);
        ws_tally_free(&t);
        char *text = str_dup(buf_cstr(&b));
        buf_free(&b);
        return text;
}

#endif
