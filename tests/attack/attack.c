/* attack.c - the helpers every case uses: outcomes, what the host planted, small file work.
 *
 * Called by the case files only. Never decides a verdict by itself. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

int verdict_fd = -1;

const char *errno_name(int e)
{
        const char *n = e ? strerrorname_np(e) : NULL;
        return n ? n : "-";
}

static void out_fill(struct outcome *o, enum outcome_kind kind, int err, const char *why,
                     const char *fmt, va_list ap)
{
        if (o->kind == OUT_ESCAPED)
                return;
        o->kind = kind;
        o->err = err;
        snprintf(o->why, sizeof o->why, "%s", why ? why : "");
        vsnprintf(o->text, sizeof o->text, fmt, ap);
}

void out_blocked(struct outcome *o, int err, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        out_fill(o, OUT_BLOCKED, err, NULL, fmt, ap);
        va_end(ap);
}

void out_blocked_why(struct outcome *o, const char *why, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        out_fill(o, OUT_BLOCKED, 0, why, fmt, ap);
        va_end(ap);
}

void out_escaped(struct outcome *o, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        out_fill(o, OUT_ESCAPED, 0, NULL, fmt, ap);
        va_end(ap);
}

void out_na(struct outcome *o, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        out_fill(o, OUT_NA, 0, NULL, fmt, ap);
        va_end(ap);
}

/* The file is read once; lines after the ceiling are not seen, the harness writes about thirty. */
static char env_text[16384];

static const char *env_load(void)
{
        static bool loaded;

        if (!loaded) {
                /* Beside the program and not in the working directory, which may be anywhere. */
                char path[4096];
                ssize_t n = readlink("/proc/self/exe", path, sizeof path - 16);
                path[n > 0 ? n : 0] = 0;
                char *slash = strrchr(path, '/');
                strcpy(slash ? slash + 1 : path, ".attack-env");
                if (slurp(path, env_text, sizeof env_text) < 0)
                        env_text[0] = 0;
                for (char *p = env_text; *p; p++)
                        if (*p == '\n')
                                *p = 1;
                loaded = true;
        }
        return env_text;
}

const char *planted(const char *key)
{
        static char values[24][512];
        static int used;
        size_t key_len = strlen(key);
        const char *found = NULL;

        /* The last line wins: the terminal runner adds its own for each run. */
        for (const char *line = env_load(); line && *line;) {
                const char *end = strchr(line, 1);
                size_t len = end ? (size_t)(end - line) : strlen(line);
                if (len > key_len && line[key_len] == '=' && memcmp(line, key, key_len) == 0) {
                        char *slot = values[used++ % 24];
                        snprintf(slot, sizeof values[0], "%.*s", (int)(len - key_len - 1),
                                 line + key_len + 1);
                        found = slot[0] ? slot : NULL;
                }
                line = end ? end + 1 : NULL;
        }
        return found;
}

long planted_num(const char *key)
{
        const char *v = planted(key);
        return v ? strtol(v, NULL, 0) : -1;
}

const char *planted_or_na(struct outcome *o, const char *key)
{
        const char *v = planted(key);
        if (!v)
                out_na(o, "the harness planted no %s", key);
        return v;
}

int in_child(int (*fn)(void *), void *arg)
{
        int status = 0;
        pid_t pid = fork();

        if (pid < 0)
                return -SIGKILL;
        if (pid == 0)
                _exit(fn(arg));
        for (int ms = 0; ms < 2000; ms += 2) {
                if (waitpid(pid, &status, WNOHANG) == pid)
                        return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
                nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL);
        }
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return -SIGKILL;
}

long slurp(const char *path, char *buf, size_t size)
{
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        size_t have = 0;

        if (fd < 0)
                return -1;
        while (have < size - 1) {
                ssize_t n = read(fd, buf + have, size - 1 - have);
                if (n < 0 && have == 0) {
                        int e = errno;
                        close(fd);
                        errno = e;
                        return -1;
                }
                if (n <= 0)
                        break;
                have += (size_t)n;
        }
        close(fd);
        buf[have] = 0;
        return (long)have;
}

bool has_canary(const char *buf, long len)
{
        const char *canary = planted("CANARY");
        return canary && len > 0 && memmem(buf, (size_t)len, canary, strlen(canary)) != NULL;
}

int write_back(const char *path)
{
        char line[256];
        long n = slurp(path, line, sizeof line);
        int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);

        if (fd < 0)
                return -1;
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)) {
                close(fd);
                errno = ENXIO; /* masked: the null device takes everything and does nothing */
                return -1;
        }
        /* A file that cannot be read is not written: nobody knows what would be harmless. */
        ssize_t wrote = n > 0 ? write(fd, line, (size_t)n) : 0;
        int e = errno;
        close(fd);
        errno = e;
        return wrote < 0 ? -1 : 0;
}
