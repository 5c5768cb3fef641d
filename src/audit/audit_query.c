/* audit_query.c - see audit_query.h. */
#include "audit/audit_query.h"

#include "audit/audit.h"
#include "audit/refused.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PIECE = 1 << 18 };

int audit_log_open(struct audit_log *l, int dir_fd, struct err *err)
{
        struct stat st;
        *l = (struct audit_log){.fd = -1};
        chain_begin(&l->chain);
        _cleanup_close_ int fd =
                openat(dir_fd, AUDIT_FILE, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
                return 0;
        if (fd < 0 || fstat(fd, &st) < 0)
                return err_sys(err, "open the box's log");
        if (!S_ISREG(st.st_mode))
                return err_set(err, E_INPUT, "the box's log is no file");
        l->fd = take_fd(&fd);
        return 0;
}

void audit_log_close(struct audit_log *l)
{
        if (l->fd > 0)
                close_fd(&l->fd);
        buf_free(&l->in);
        buf_free(&l->strings);
}

/* find_line(l): the next whole line, reading on as needed. 1, 0 at the end, -1. */
static int find_line(struct audit_log *l, struct err *err)
{
        size_t from = l->at;
        for (;;) {
                const char *text = (const char *)l->in.data;
                const char *nl =
                        l->in.len > from ? memchr(text + from, '\n', l->in.len - from) : NULL;
                if (nl) {
                        l->line = text + l->at;
                        l->line_len = (size_t)(nl - l->line);
                        l->line_at = l->in_at + l->at;
                        l->at += l->line_len + 1;
                        return 1;
                }
                buf_drop(&l->in, l->at);
                l->in_at += l->at;
                l->at = 0;
                from = l->in.len;
                uint8_t *p = buf_room(&l->in, PIECE);
                if (!p)
                        return err_set(err, E_INPUT, "the log has a line without end");
                ssize_t n = read(l->fd, p, PIECE);
                l->in.len -= PIECE - (n > 0 ? (size_t)n : 0);
                if (n < 0)
                        return err_sys(err, "read the log");
                if (n == 0)
                        return 0;
        }
}

/* follow(l, r, is_record): does this line hold the one before? */
static void follow(struct audit_log *l, const struct audit_record *r, bool is_record)
{
        uint64_t number = l->chain.seq + 1;
        if (!is_record)
                l->torn_n++; /* whether it was only cut off is told by the line after it */
        else if (!l->broken_at && (r->seq != number || strcmp(r->prev, l->chain.prev) != 0)) {
                l->broken_at = number;
                if (r->seq != number)
                        snprintf(l->broken, sizeof l->broken,
                                 "line %llu says it is number %llu: lines were removed, added or "
                                 "moved",
                                 (unsigned long long)number, (unsigned long long)r->seq);
                else
                        snprintf(l->broken, sizeof l->broken,
                                 "line %llu does not continue the one before it, which was changed "
                                 "after it was written",
                                 (unsigned long long)number);
        }
        l->chain.seq = number;
        sha256_hex(l->line, l->line_len, l->chain.prev);
}

int audit_log_next(struct audit_log *l, struct audit_record *r, struct err *err)
{
        if (l->fd < 0)
                return 0;
        for (;;) {
                int got = find_line(l, err);
                if (got <= 0)
                        return got;
                bool is_record = audit_record_parse(l->line, l->line_len, r, &l->strings) == 0;
                if (!l->is_unchained)
                        follow(l, r, is_record);
                if (is_record)
                        return 1;
        }
}

bool audit_record_is_refused(const struct audit_record *r)
{
        /* A call that the box lacks as an older kernel would: every C library has another way, and
         * takes it at each start of a program. Nobody was kept from anything. */
        if (strcmp(r->kind, "call") == 0 && str_ends(r->note, "ENOSYS"))
                return false;
        return strcmp(r->verdict, "deny") == 0 || strcmp(r->verdict, "ask-no") == 0;
}

/* --- what was used ---------------------------------------------------------------------------- */

static bool is_same(const struct audit_use *u, const struct audit_record *r)
{
        return u->port == r->port && !strcmp(u->method, r->method) && !strcmp(u->host, r->host) &&
               !strcmp(u->path, r->path) && !strcmp(u->kind, r->kind);
}

static uint32_t hash_of(const struct audit_record *r)
{
        const char *const parts[] = {r->method, r->host, r->path, r->kind};
        uint32_t h = 2166136261u ^ (uint32_t)r->port;
        for (size_t i = 0; i < 4; i++)
                for (const char *p = parts[i]; *p; p++)
                        h = (h ^ (uint8_t)*p) * 16777619u;
        return h;
}

enum { SLOTS = 65536 }; /* more than three times AUDIT_USES_MAX */

/* count_one(u, r): once more. */
static void count_one(struct audit_use *u, const struct audit_record *r)
{
        u->n++;
        if (strcmp(r->verdict, "error") != 0)
                return;
        u->failed_n++;
        free(u->why);
        u->why = str_dup(r->note);
}

static void count(struct audit_uses *u, uint32_t *slots, const struct audit_record *r)
{
        uint32_t at = hash_of(r) % SLOTS;
        for (; slots[at]; at = (at + 1) % SLOTS) {
                if (is_same(&u->v[slots[at] - 1], r)) {
                        count_one(&u->v[slots[at] - 1], r);
                        return;
                }
        }
        if (u->n == AUDIT_USES_MAX)
                return;
        if (u->n % 64 == 0) {
                struct audit_use *v = realloc(u->v, (u->n + 64) * sizeof *v);
                if (!v)
                        str_no_memory();
                u->v = v;
        }
        u->v[u->n++] = (struct audit_use){.method = str_dup(r->method),
                                          .host = str_dup(r->host),
                                          .path = str_dup(r->path),
                                          .kind = str_dup(r->kind),
                                          .port = (uint32_t)r->port,
                                          .why = str_dup("")};
        count_one(&u->v[u->n - 1], r);
        slots[at] = (uint32_t)u->n;
}

int audit_log_uses(int dir_fd, bool with_refused, struct audit_uses *u, struct err *err)
{
        struct audit_log l;
        struct audit_record r;
        int got;
        *u = (struct audit_uses){.n = 0};
        _cleanup_free_ uint32_t *slots = calloc(SLOTS, sizeof *slots);
        if (!slots)
                str_no_memory();
        if (audit_log_open(&l, dir_fd, err) < 0)
                return -1;
        while ((got = audit_log_next(&l, &r, err)) > 0) {
                bool is_allowed = !strcmp(r.verdict, "allow") || !strcmp(r.verdict, "ask-yes") ||
                                  !strcmp(r.verdict, "error");
                bool is_wanted = is_allowed || (with_refused && audit_record_is_refused(&r));
                if (is_wanted && r.host[0] && strcmp(r.kind, "dns") != 0)
                        count(u, slots, &r);
        }
        audit_log_close(&l);
        if (got < 0)
                audit_uses_free(u);
        return got;
}

void audit_uses_free(struct audit_uses *u)
{
        for (size_t i = 0; i < u->n; i++) {
                free(u->v[i].method);
                free(u->v[i].host);
                free(u->v[i].path);
                free(u->v[i].kind);
                free(u->v[i].why);
        }
        free(u->v);
        *u = (struct audit_uses){.n = 0};
}
