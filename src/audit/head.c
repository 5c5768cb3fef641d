/* head.c - see head.h. */
#include "audit/head.h"

#include "base/err.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* "seq 00000000000000000042 size 00000000000000012345 hash HEX\n" */
enum { NUMBER = 20, LINE = 4 + NUMBER + 6 + NUMBER + 6 + SHA256_HEX_LEN + 1 };

int head_write(int fd, const struct chain *c, uint64_t size)
{
        char line[LINE + 1];
        int n = snprintf(line, sizeof line, "seq %020" PRIu64 " size %020" PRIu64 " hash %s\n",
                         c->seq, size, c->prev);
        ssize_t put;
        do
                put = pwrite(fd, line, (size_t)n, 0);
        while (put < 0 && errno == EINTR);
        return put == n ? 0 : -1;
}

static bool number(const char *s, uint64_t *v)
{
        *v = 0;
        for (int i = 0; i < NUMBER; i++)
                if (s[i] < '0' || s[i] > '9' || __builtin_mul_overflow(*v, 10u, v) ||
                    __builtin_add_overflow(*v, (uint64_t)(s[i] - '0'), v))
                        return false;
        return true;
}

int head_read(int fd, struct head *h, struct err *err)
{
        char line[LINE + 2];
        *h = (struct head){.is_there = false};
        ssize_t n = pread(fd, line, sizeof line - 1, 0);
        if (n < 0)
                return err_sys(err, "read the log's head");
        if (n == 0)
                return 0;
        line[n] = 0;
        const char *hash = line + 4 + NUMBER + 6 + NUMBER + 6;
        if (n != LINE || memcmp(line, "seq ", 4) != 0 || !number(line + 4, &h->seq) ||
            memcmp(line + 4 + NUMBER, " size ", 6) != 0 ||
            !number(line + 4 + NUMBER + 6, &h->size) || memcmp(hash - 6, " hash ", 6) != 0 ||
            strspn(hash, "0123456789abcdef") != SHA256_HEX_LEN || line[LINE - 1] != '\n')
                return err_set(err, E_INPUT, "the log's head is not what its writer wrote");
        memcpy(h->hash, hash, SHA256_HEX_LEN);
        h->hash[SHA256_HEX_LEN] = 0;
        h->is_there = true;
        return 0;
}

const char *head_compare(int fd, const struct chain *c, uint64_t size)
{
        struct head h;
        struct err err = {0};
        if (head_read(fd, &h, &err) < 0)
                return "the log's head was damaged while the box was away";
        if (!h.is_there)
                return size ? "the log's head was missing when the box was started" : NULL;
        if (h.seq == c->seq && strcmp(h.hash, c->prev) == 0)
                return NULL;
        return h.seq > c->seq ? "the log had lost its last lines when the box was started"
                              : "the log did not end where its head says when the box was started";
}
