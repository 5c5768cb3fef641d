/* usage.c - see usage.h: the parts put together, and the two that are a line or two each. */
#include "session/usage.h"

#include "base/cleanup.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statfs.h>
#include <unistd.h>

void usage_close(struct usage_eyes *e)
{
        for (int i = 0; i < MSG_WATCHED_N; i++)
                close_fd(&e->fd[i]);
}

/* sysv_column(fd, column): the sum of one column of a table whose first line names the columns. */
static uint64_t sysv_column(int fd, const char *column)
{
        int own = fd < 0 ? -1 : dup(fd);
        _cleanup_fclose_ FILE *f = own < 0 ? NULL : fdopen(own, "r");
        char line[512];
        int at = -1, n = 0;
        uint64_t sum = 0;
        if (!f || lseek(own, 0, SEEK_SET) < 0 || !fgets(line, sizeof line, f))
                return 0;
        for (char *rest = line, *word; (word = strtok_r(rest, " \n", &rest)); n++)
                if (strcmp(word, column) == 0)
                        at = n;
        while (at >= 0 && fgets(line, sizeof line, f)) {
                int i = 0;
                for (char *rest = line, *word; (word = strtok_r(rest, " \n", &rest)); i++)
                        if (i == at)
                                sum += strtoull(word, NULL, 10);
        }
        return sum;
}

uint64_t usage_sysv(const struct usage_eyes *e)
{
        enum { SEM_BYTES = 64, MSG_BYTES = 64 }; /* what one costs the kernel, however small */
        return sysv_column(e->fd[MSG_WATCHED_SHM], "rss") +
               sysv_column(e->fd[MSG_WATCHED_SHM], "swap") +
               sysv_column(e->fd[MSG_WATCHED_MSG], "cbytes") +
               sysv_column(e->fd[MSG_WATCHED_MSG], "qnum") * MSG_BYTES +
               sysv_column(e->fd[MSG_WATCHED_SEM], "nsems") * SEM_BYTES;
}

uint64_t usage_tmpfs(const struct usage_eyes *e)
{
        struct statfs fs;
        int fd = e->fd[MSG_WATCHED_TMP];
        if (fd < 0 || fstatfs(fd, &fs) < 0 || fs.f_blocks <= fs.f_bfree)
                return 0;
        return (uint64_t)(fs.f_blocks - fs.f_bfree) * (uint64_t)fs.f_bsize;
}

void usage_look(const struct usage_eyes *e, unsigned wants, struct usage *u)
{
        *u = (struct usage){.is_whole = true, .is_fair = wants & USAGE_FAIR};
        usage_procs(e, wants, u);
        u->sysv = usage_sysv(e);
        u->tmpfs = usage_tmpfs(e);
        u->sockets = usage_sockets(e->fd[MSG_WATCHED_SOCKETS], &u->loose, &u->pinned);
}

uint64_t usage_memory_least(const struct usage *u)
{
        return u->largest + u->memfds + u->sysv + u->tmpfs + u->sockets;
}

uint64_t usage_memory(const struct usage *u)
{
        return u->private + u->shared + u->memfds + u->sysv + u->tmpfs + u->sockets;
}
