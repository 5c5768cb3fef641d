/* toolchain_follow.c - from a path to what it really names, one symlink at a time, because the box
 * needs every link on the way and not only the end.
 *
 * Called while a command is resolved and while PATH is gone through. Shows nothing by itself. */
#include "base/str.h"
#include "session/toolchain_int.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

/* The first symlink on the way to ${path}: its place in ${at} (PATH_MAX), its content in ${to}.
 * False when there is none, or when something is missing (errno ENOENT). */
static bool first_link(const char *path, char *at, char *to)
{
        size_t n = 0;
        for (const char *p = path; *p;) {
                size_t part = strspn(p, "/");
                part += strcspn(p + part, "/");
                if (n + part >= PATH_MAX)
                        return false;
                memcpy(at + n, p, part);
                n += part;
                at[n] = 0;
                p += part;
                ssize_t len = readlink(at, to, PATH_MAX - 1);
                if (len > 0) {
                        to[len] = 0;
                        return true;
                }
                if (errno != EINVAL)
                        return false;
        }
        errno = 0;
        return false;
}

/* Remove //, /./ and /../ from an absolute path whose directories are real. */
static void straighten(char *path)
{
        char *out = path;
        for (const char *p = path; *p;) {
                p += strspn(p, "/");
                size_t n = strcspn(p, "/");
                if (n == 2 && p[0] == '.' && p[1] == '.') {
                        while (out > path && *--out != '/')
                                ;
                } else if (n > 0 && !(n == 1 && p[0] == '.')) {
                        *out++ = '/';
                        memmove(out, p, n);
                        out += n;
                }
                p += n;
        }
        if (out == path)
                *out++ = '/';
        *out = 0;
}

/* Follow every symlink of ${path}, letting the table look at each name on the way (a toolchain may
 * be known by the link that leads to it) and noting links that the box will not have. */
char *toolchain_follow(struct toolchain_finder *f, const char *path)
{
        char now[PATH_MAX], at[PATH_MAX], to[PATH_MAX], next[2 * PATH_MAX];
        if ((size_t)snprintf(now, sizeof now, "%s", path) >= sizeof now)
                return NULL;
        for (int i = 0; i < LINKS_MAX; i++) {
                if (!toolchain_is_shown(f, now))
                        toolchain_by_row(f, now);
                if (!first_link(now, at, to)) {
                        straighten(now);
                        return errno ? NULL : str_dup(now);
                }
                /* A link inside a toolchain comes with it; tidy drops it from the list. Those of
                 * /etc/alternatives are in the box's own /etc. */
                bool is_there = toolchain_is_visible(at) || str_is_beneath(at, "/etc") ||
                                (f->q->workspace && str_is_beneath(at, f->q->workspace));
                const char *rest = now + strlen(at);
                if (to[0] == '/')
                        snprintf(next, sizeof next, "%s%s", to, rest);
                else
                        snprintf(next, sizeof next, "%.*s/%s%s", (int)(strrchr(at, '/') - at), at,
                                 to, rest);
                straighten(at);
                if (!is_there)
                        toolchain_add(f->set, TOOLCHAIN_LINK, at, to, "a link to the command");
                if (strlen(next) >= sizeof now)
                        return NULL;
                memcpy(now, next, strlen(next) + 1);
                /* ".." of the link is relative to a directory that was resolved before it. */
                if (!strstr(rest, ".."))
                        straighten(now);
        }
        return NULL;
}
