/* box_path.c - see box_path.h. Component by component, because the kernel would follow an absolute
 * link to our own root. */
#include "audit/box_path.h"

#include "audit/procs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MAX = 40, KNOWN_N = 16, KNOWN_MAX = 127, KNOWN_NS = 200000000 };

void box_path_link(pid_t pid, const char *what, char out[BOX_PATH_MAX + 1])
{
        char name[PROCS_NAME_MAX + 1];
        procs_name(name, pid, what);
        ssize_t n = readlink(name, out, BOX_PATH_MAX);
        out[n > 0 ? n : 0] = 0;
}

/* put(out, n, s): ${s} behind the ${n} bytes of ${out}, as much of it as there is room for. */
static void put(char out[BOX_PATH_MAX + 1], size_t n, const char *s)
{
        size_t m = strlen(s);
        m = m < BOX_PATH_MAX - n ? m : BOX_PATH_MAX - n;
        memcpy(out + n, s, m);
        out[n + m] = 0;
}

void box_path_join(pid_t pid, int dir, const char *path, char out[BOX_PATH_MAX + 1])
{
        char what[24] = "cwd";
        if (path[0] == '/') {
                put(out, 0, path);
                return;
        }
        if (dir != AT_FDCWD)
                snprintf(what, sizeof what, "fd/%d", dir);
        box_path_link(pid, what, out);
        size_t n = strlen(out);
        if (n && n < BOX_PATH_MAX && out[n - 1] != '/' && *path)
                out[n++] = '/';
        put(out, n, path);
}

struct walk {
        int root_fd;
        pid_t pid;
        char *out; /* where we are; "" is the root */
        int links;
        char link[KNOWN_MAX + 1], to[KNOWN_MAX + 1]; /* the first of them; "" when they are long */
        bool has_proc;                   /* it led through /proc, where a name means many things */
        char rest[2 * BOX_PATH_MAX + 2]; /* what is still to be walked */
};

/* prepend(w, link, tail): go on with ${link}, then with ${tail}, which lies in w->rest. */
static int prepend(struct walk *w, const char *link, const char *tail)
{
        size_t n = strlen(link), m = strlen(tail);
        if (n + 1 + m >= sizeof w->rest)
                return -1;
        memmove(w->rest + n + 1, tail, m + 1);
        memcpy(w->rest, link, n);
        w->rest[n] = '/';
        return 0;
}

static void climb(char *out)
{
        char *slash = strrchr(out, '/');
        if (slash)
                *slash = 0;
}

static void note_link(struct walk *w, const char *to)
{
        size_t n = strlen(w->out), m = strlen(to);
        bool is_short = n <= KNOWN_MAX && m < KNOWN_MAX;
        memcpy(w->link, is_short ? w->out : "", is_short ? n + 1 : 1);
        memcpy(w->to, is_short ? to : "", is_short ? m + 1 : 1);
}

enum step {
        STEP_NONE,  /* there is nothing of that name */
        STEP_IN,    /* entered */
        STEP_LINK,  /* a link: what is still to be walked has changed */
        STEP_FINAL, /* ${out} is the end of the way */
};

static enum step step(struct walk *w, const char *name, char *tail)
{
        /* The compiler would clear it each time. */
        char link[BOX_PATH_MAX + 1] __attribute__((uninitialized));
        size_t len = strlen(w->out), name_len = strlen(name);
        w->has_proc = w->has_proc || !strncmp(w->out, "/proc", 5);
        if (!strcmp(w->out, "/proc") && (!strcmp(name, "self") || !strcmp(name, "thread-self"))) {
                /* Whoever reads this link is not the one it speaks of. */
                char what[48];
                snprintf(what, sizeof what, "%.40s", tail);
                box_path_link(w->pid, what, w->out);
                return w->out[0] ? STEP_FINAL : STEP_NONE;
        }
        if (len + 1 + name_len > BOX_PATH_MAX)
                return STEP_NONE;
        w->out[len] = '/';
        memcpy(w->out + len + 1, name, name_len + 1);
        ssize_t n = readlinkat(w->root_fd, w->out + 1, link, BOX_PATH_MAX);
        if (n < 0)
                return errno == EINVAL ? STEP_IN : STEP_NONE;
        link[n] = 0;
        if (++w->links > LINKS_MAX)
                return STEP_NONE;
        if (w->links == 1)
                note_link(w, link);
        if (!strncmp(w->out, "/proc/", 6) && !*tail) { /* leads to a file, not to its name */
                memcpy(w->out, link, (size_t)n + 1);
                return STEP_FINAL;
        }
        w->out[link[0] == '/' ? 0 : len] = 0;
        return prepend(w, link, tail) < 0 ? STEP_NONE : STEP_LINK;
}

/* walk(w): all of w->rest. What it returns is STEP_IN, STEP_NONE or STEP_FINAL. */
static enum step walk(struct walk *w)
{
        for (;;) {
                char name[256] __attribute__((uninitialized)), *at = w->rest + strspn(w->rest, "/");
                size_t n = strcspn(at, "/");
                if (n == 0)
                        return STEP_IN;
                if (n >= sizeof name)
                        return STEP_NONE;
                memcpy(name, at, n);
                name[n] = 0;
                char *tail = at + n + strspn(at + n, "/");
                if (!strcmp(name, "..")) {
                        climb(w->out);
                } else if (strcmp(name, ".") != 0) {
                        enum step s = step(w, name, tail);
                        if (s == STEP_LINK)
                                continue;
                        if (s != STEP_IN)
                                return s;
                }
                memmove(w->rest, tail, strlen(tail) + 1);
        }
}

/* Directories that were walked a moment ago, and where they led: the same few are searched for
 * every program. A link on the way is read each time, and may lead elsewhere by now. */
static struct known {
        size_t len; /* of the name as it was given */
        int64_t at;
        char given[KNOWN_MAX + 1], dir[KNOWN_MAX + 1];
        char link[KNOWN_MAX + 1], to[KNOWN_MAX + 1]; /* "": none */
} known[KNOWN_N];
static size_t known_at;

static int64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool is_fresh(const struct known *k, int root_fd)
{
        char to[KNOWN_MAX + 1];
        if (now_ns() - k->at >= KNOWN_NS)
                return false;
        if (!k->link[0])
                return true;
        ssize_t n = readlinkat(root_fd, k->link + 1, to, KNOWN_MAX);
        return n > 0 && !memcmp(to, k->to, (size_t)n) && !k->to[n];
}

static const struct known *find_known(const char *path, size_t n, int root_fd)
{
        for (size_t i = 0; i < KNOWN_N; i++)
                if (known[i].len == n && !memcmp(known[i].given, path, n))
                        return is_fresh(&known[i], root_fd) ? &known[i] : NULL;
        return NULL;
}

static void know(const char *path, size_t n, const struct walk *w)
{
        size_t i = 0, m = strlen(w->out);
        if (m > KNOWN_MAX || !strncmp(w->out, "/proc", 5) || w->links > 1 ||
            (w->links == 1 && !w->link[0]))
                return;
        while (i < KNOWN_N && (known[i].len != n || memcmp(known[i].given, path, n) != 0))
                i++;
        if (i == KNOWN_N) {
                i = known_at;
                known_at = (known_at + 1) % KNOWN_N;
        }
        known[i].len = n;
        known[i].at = now_ns();
        memcpy(known[i].given, path, n);
        memcpy(known[i].dir, w->out, m + 1);
        known[i].link[0] = 0;
        if (w->links) {
                memcpy(known[i].link, w->link, sizeof w->link);
                memcpy(known[i].to, w->to, sizeof w->to);
        }
}

/* enter(w, path, &rest): into the directory of ${path}. STEP_IN: ${rest} is what is left of it;
 * STEP_NONE: there is none; STEP_LINK: nothing was done, ${path} is to be walked as a whole. */
static enum step enter(struct walk *w, const char *path, const char **rest)
{
        const char *slash = strrchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) : 0;
        *rest = path;
        if (n == 0 || n > KNOWN_MAX)
                return STEP_LINK;
        const struct known *k = find_known(path, n, w->root_fd);
        enum step s = STEP_IN;
        if (k) {
                memcpy(w->out, k->dir, strlen(k->dir) + 1);
                w->links = k->link[0] != 0;
        } else {
                memcpy(w->rest, path, n);
                w->rest[n] = 0;
                s = walk(w);
                if (w->has_proc) { /* what a name means there hangs on what follows it */
                        w->out[0] = 0;
                        w->links = 0;
                        return STEP_LINK;
                }
                if (s == STEP_IN)
                        know(path, n, w);
        }
        *rest = slash + 1;
        return s;
}

int box_path_resolve(int root_fd, pid_t pid, const char *path, char out[BOX_PATH_MAX + 1])
{
        static struct walk w;
        const char *rest;
        w.root_fd = root_fd;
        w.pid = pid;
        w.out = out;
        w.links = 0;
        w.has_proc = false;
        out[0] = 0;
        if (enter(&w, path, &rest) == STEP_NONE)
                return -1;
        size_t n = strlen(rest);
        n = n < sizeof w.rest ? n : sizeof w.rest - 1;
        memcpy(w.rest, rest, n);
        w.rest[n] = 0;
        if (walk(&w) == STEP_NONE)
                return -1;
        if (!out[0])
                memcpy(out, "/", 2);
        return 0;
}
