/* view.c - see view.h: the list of layers, and looking by a whole path. Called by everybody who
 * wants one entry; who wants many keeps a struct ws_dir open instead. */
#include "workspace/view_int.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

void ws_view_add(struct ws_view *v, int fd, bool is_overlay)
{
        struct ws_layer *more = reallocarray(v->layers, v->n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        v->layers = more;
        v->layers[v->n++] = (struct ws_layer){.fd = fd, .is_overlay = is_overlay};
}

void ws_view_free(struct ws_view *v)
{
        view_trail_free(v->trail);
        free(v->layers);
        *v = (struct ws_view){0};
}

/* is_clean(path): components and nothing else, so that one string stands for one place. */
static bool is_clean(const char *path)
{
        for (const char *p = path; *p;) {
                size_t n = strcspn(p, "/");
                if (n == 0 || n > NAME_MAX || (*p == '.' && (n == 1 || (n == 2 && p[1] == '.'))))
                        return false;
                p += n;
                if (*p && !*++p)
                        return false;
        }
        return *path;
}

/* by_trail(v, path, dir, name, err): last_of, along the way that is kept open. */
static int by_trail(const struct ws_view *v, const char *path, struct ws_dir **dir,
                    char name[NAME_MAX + 1], struct err *err)
{
        struct err why = {0};
        const char *slash = strrchr(path, '/');
        snprintf(name, NAME_MAX + 1, "%s", slash ? slash + 1 : path);
        *dir = view_trail_dir(v, path, slash ? (size_t)(slash - path) : 0, &why);
        if (*dir)
                return 1;
        if (why.sys == ENOENT || why.sys == ENOTDIR)
                return 0;
        if (err)
                *err = why;
        return -1;
}

/* done(v, dir): a directory of the trail stays open. */
static void done(const struct ws_view *v, const char *path, struct ws_dir *d)
{
        if (!v->trail || !is_clean(path))
                ws_dir_close(d);
}

/* last_of(v, path, dir, name, err): the directory that holds the last component, and that name. 1
 * found, 0 when the way there leads through something that is no directory, -1 on errors. An empty
 * path is E_INPUT: the root has no name. */
static int last_of(const struct ws_view *v, const char *path, struct ws_dir **dir,
                   char name[NAME_MAX + 1], struct err *err)
{
        if (v->trail && is_clean(path))
                return by_trail(v, path, dir, name, err);
        struct ws_dir *d = ws_dir_root(v, err);
        name[0] = 0;
        for (const char *p = path; d && *p;) {
                size_t n = strcspn(p, "/");
                const char *part = p;
                p += n + (p[n] == '/');
                if (n == 0 || (n == 1 && part[0] == '.'))
                        continue;
                if (n > NAME_MAX || (n == 2 && memcmp(part, "..", 2) == 0)) {
                        err_set(err, E_INPUT, "the path has a component that names no entry");
                        ws_dir_close(d);
                        return -1;
                }
                if (name[0]) {
                        struct err why = {0};
                        struct ws_dir *next = ws_dir_open(d, name, &why);
                        ws_dir_close(d);
                        d = next;
                        if (!d && (why.sys == ENOENT || why.sys == ENOTDIR))
                                return 0;
                        if (!d && err)
                                *err = why;
                }
                memcpy(name, part, n);
                name[n] = 0;
        }
        if (!d)
                return -1;
        if (!name[0]) {
                ws_dir_close(d);
                return err_set(err, E_INPUT, "the path names the root itself");
        }
        *dir = d;
        return 1;
}

int ws_view_look(const struct ws_view *v, const char *path, struct ws_node *node, struct err *err)
{
        struct ws_dir *d;
        char name[NAME_MAX + 1];
        *node = (struct ws_node){.kind = WS_NONE};
        int is_there = last_of(v, path, &d, name, err);
        if (is_there <= 0)
                return is_there;
        int got = ws_dir_look(d, name, node, err);
        done(v, path, d);
        return got;
}

int ws_view_file(const struct ws_view *v, const char *path, struct ws_node *node, struct err *err)
{
        struct ws_dir *d;
        char name[NAME_MAX + 1];
        *node = (struct ws_node){.kind = WS_NONE};
        int is_there = last_of(v, path, &d, name, err);
        if (is_there < 0)
                return -1;
        if (is_there == 0) {
                errno = ENOENT;
                return err_sys(err, "open a file of a layer");
        }
        int fd = ws_dir_look(d, name, node, err) < 0 ? -1 : ws_dir_file(d, name, node, err);
        done(v, path, d);
        return fd;
}

int ws_view_link(const struct ws_view *v, const char *path, struct buf *target, struct err *err)
{
        struct ws_dir *d = NULL;
        char name[NAME_MAX + 1] = "";
        struct ws_node node;
        int is_there = last_of(v, path, &d, name, err);
        if (is_there < 0)
                return -1;
        if (is_there == 0) {
                errno = ENOENT;
                return err_sys(err, "read a link of a layer");
        }
        int got = ws_dir_look(d, name, &node, err) < 0 ? -1
                                                       : ws_dir_link(d, name, &node, target, err);
        done(v, path, d);
        return got;
}
