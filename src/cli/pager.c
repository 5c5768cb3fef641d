/* pager.c - see pager.h. The pager is the user's own program, started by the user's own shell, as
 * git does; bytes that came out of a box are made safe before they get here. */
#include "cli/pager.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* is_there(program): is there such a program on the PATH? */
static bool is_there(const char *program)
{
        const char *path = getenv("PATH");
        _cleanup_free_ char *dirs = str_dup(path ? path : "/usr/bin:/bin");
        char *at = dirs;
        for (char *dir; (dir = strsep(&at, ":"));) {
                _cleanup_free_ char *file = str_fmt("%s/%s", *dir ? dir : ".", program);
                if (access(file, X_OK) == 0)
                        return true;
        }
        return false;
}

static const char *chosen(void)
{
        const char *names[] = {getenv("OSTIARY_PAGER"), getenv("PAGER")};
        for (size_t i = 0; i < 2; i++)
                if (names[i])
                        return names[i];
        return is_there("less") ? "less -FRX" : "";
}

static void run_pager(const char *command, int from)
{
        if (dup2(from, STDIN_FILENO) < 0)
                _exit(127);
        close(from);
        signal(SIGPIPE, SIG_DFL);
        signal(SIGALRM, SIG_DFL);
        /* A bare "less" in PAGER shows colours too, and does not stay for a short text. */
        setenv("LESS", "FRX", 0);
        setenv("LV", "-c", 0);
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
}

static void begin(struct pager *p)
{
        int ends[2];
        const char *command = chosen();
        out_wait(NULL);
        p->is_begun = true;
        p->fd = STDOUT_FILENO;
        if (!p->is_wanted || !*command || strcmp(command, "cat") == 0 || pipe2(ends, O_CLOEXEC) < 0)
                return;
        p->pid = fork();
        if (p->pid == 0)
                run_pager(command, ends[0]);
        close(ends[0]);
        if (p->pid < 0) {
                p->pid = 0;
                close(ends[1]);
                return;
        }
        /* Leaving the pager early is no reason to die of; Ctrl-C is the pager's while it runs. */
        signal(SIGPIPE, SIG_IGN);
        signal(SIGINT, SIG_IGN);
        signal(SIGQUIT, SIG_IGN);
        p->fd = ends[1];
}

/* flush(p): write what is held. */
static int flush(struct pager *p)
{
        size_t n = p->held.len;
        p->held.len = 0;
        if (n == 0)
                return 0;
        if (!p->is_begun)
                begin(p);
        if (!p->is_over && fdio_write_all(p->fd, p->held.data, n) == 0)
                return 0;
        if (p->is_over)
                errno = EPIPE;
        p->is_over = errno == EPIPE;
        return -1;
}

int pager_put(struct pager *p, const void *bytes, size_t n)
{
        enum { FLUSH_AT = 1 << 16 };
        p->held.max = (size_t)1 << 30;
        buf_put(&p->held, bytes, n);
        if (p->held.is_broken) {
                errno = ENOMEM;
                return -1;
        }
        return p->held.len < FLUSH_AT ? 0 : flush(p);
}

int pager_end(struct pager *p)
{
        int rc = flush(p);
        int why = errno;
        out_wait(NULL);
        buf_free(&p->held);
        if (p->is_begun && p->pid) {
                close(p->fd);
                while (waitpid(p->pid, NULL, 0) < 0 && errno == EINTR)
                        ;
                p->pid = 0;
                signal(SIGINT, SIG_DFL);
                signal(SIGQUIT, SIG_DFL);
        }
        errno = why;
        return rc;
}

bool pager_left(const struct pager *p)
{
        return p->is_over;
}
