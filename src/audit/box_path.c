/* box_path.c - see box_path.h. Component by component, because the kernel would follow an absolute
 * link to our own root. */
#include "audit/box_path.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { LINKS_MAX = 40 };

void box_path_link(pid_t pid, const char *what, char out[BOX_PATH_MAX + 1])
{
        char name[64];
        snprintf(name, sizeof name, "/proc/%d/%s", pid, what);
        ssize_t n = readlink(name, out, BOX_PATH_MAX);
        out[n > 0 ? n : 0] = 0;
}

void box_path_join(pid_t pid, int dir, const char *path, char out[BOX_PATH_MAX + 1])
{
        char base[BOX_PATH_MAX + 1], what[24] = "cwd";
        if (path[0] == '/') {
                snprintf(out, BOX_PATH_MAX + 1, "%s", path);
                return;
        }
        if (dir != AT_FDCWD)
                snprintf(what, sizeof what, "fd/%d", dir);
        box_path_link(pid, what, base);
        size_t n = strlen(base), m = strlen(path);
        bool has_slash = n == 0 || base[n - 1] == '/' || m == 0;
        if (n + !has_slash + m > BOX_PATH_MAX)
                m = BOX_PATH_MAX - n - !has_slash;
        memcpy(out, base, n);
        if (!has_slash)
                out[n++] = '/';
        memcpy(out + n, path, m);
        out[n + m] = 0;
}

struct walk {
        char rest[2 * BOX_PATH_MAX + 2]; /* what is still to be walked */
        char *out;                       /* where we are; "" is the root */
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

enum step {
        STEP_NONE,  /* there is nothing of that name */
        STEP_IN,    /* entered */
        STEP_LINK,  /* a link: what is still to be walked has changed */
        STEP_FINAL, /* ${out} is the end of the way */
};

static enum step step(struct walk *w, int root_fd, pid_t pid, const char *name, char *tail,
                      int *links)
{
        char link[BOX_PATH_MAX + 1];
        size_t len = strlen(w->out);
        if (!strcmp(w->out, "/proc") && (!strcmp(name, "self") || !strcmp(name, "thread-self"))) {
                /* Whoever reads this link is not the one it speaks of. */
                char what[48];
                snprintf(what, sizeof what, "%.40s", tail);
                box_path_link(pid, what, w->out);
                return w->out[0] ? STEP_FINAL : STEP_NONE;
        }
        if (len + 1 + strlen(name) > BOX_PATH_MAX)
                return STEP_NONE;
        w->out[len] = '/';
        memcpy(w->out + len + 1, name, strlen(name) + 1);
        ssize_t n = readlinkat(root_fd, w->out + 1, link, BOX_PATH_MAX);
        if (n < 0)
                return errno == EINVAL ? STEP_IN : STEP_NONE;
        link[n] = 0;
        if (++*links > LINKS_MAX)
                return STEP_NONE;
        if (!strncmp(w->out, "/proc/", 6) && !*tail) { /* leads to a file, not to its name */
                memcpy(w->out, link, (size_t)n + 1);
                return STEP_FINAL;
        }
        w->out[link[0] == '/' ? 0 : len] = 0;
        return prepend(w, link, tail) < 0 ? STEP_NONE : STEP_LINK;
}

/* Directories that were walked a moment ago and held no link: the same few are searched for every
 * program. */
enum { KNOWN_N = 16, KNOWN_MAX = 127, KNOWN_NS = 200000000 };
static struct {
        char dir[KNOWN_MAX + 1];
        int64_t at;
} known[KNOWN_N];
static size_t known_at;

static int64_t now_ns(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* skip_known(path, out): how much of ${path} needs no walking; ${out} is there then. */
static size_t skip_known(const char *path, char *out)
{
        const char *slash = strrchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) : 0;
        if (n == 0 || n > KNOWN_MAX)
                return 0;
        for (size_t i = 0; i < KNOWN_N; i++) {
                if (strncmp(known[i].dir, path, n) == 0 && !known[i].dir[n] &&
                    now_ns() - known[i].at < KNOWN_NS) {
                        memcpy(out, path, n);
                        out[n] = 0;
                        return n;
                }
        }
        return 0;
}

static void know(const char *path)
{
        const char *slash = strrchr(path, '/');
        size_t n = slash ? (size_t)(slash - path) : 0;
        if (n == 0 || n > KNOWN_MAX || strstr(path, "/.") || strncmp(path, "/proc", 5) == 0)
                return;
        memcpy(known[known_at].dir, path, n);
        known[known_at].dir[n] = 0;
        known[known_at].at = now_ns();
        known_at = (known_at + 1) % KNOWN_N;
}

int box_path_resolve(int root_fd, pid_t pid, const char *path, char out[BOX_PATH_MAX + 1])
{
        struct walk w = {.out = out};
        int links = 0;
        out[0] = 0;
        size_t skipped = skip_known(path, out);
        snprintf(w.rest, sizeof w.rest, "%s", path + skipped);
        for (;;) {
                char name[256], *at = w.rest + strspn(w.rest, "/");
                size_t n = strcspn(at, "/");
                if (n == 0)
                        break;
                if (n >= sizeof name)
                        return -1;
                memcpy(name, at, n);
                name[n] = 0;
                char *tail = at + n + strspn(at + n, "/");
                if (!strcmp(name, "..")) {
                        climb(out);
                } else if (strcmp(name, ".") != 0) {
                        enum step s = step(&w, root_fd, pid, name, tail, &links);
                        /* Its last part is missing, and nothing on the way was a link. */
                        if (s == STEP_NONE && !skipped && !links && !*tail)
                                know(path);
                        if (s == STEP_NONE || s == STEP_FINAL)
                                return s == STEP_FINAL ? 0 : -1;
                        if (s == STEP_LINK)
                                continue;
                }
                memmove(w.rest, tail, strlen(tail) + 1);
        }
        if (!skipped && !links)
                know(path);
        if (!out[0])
                memcpy(out, "/", 2);
        return 0;
}
