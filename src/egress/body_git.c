/* body_git.c - what a git push wants to change: the commands in front of its pack, so that a rule
 * can name refs. See body_int.h. Pure.
 *
 * The form is that of gitprotocol-pack(5), "Reference Update Request". A push certificate repeats
 * the commands in another form and is refused. */
#include "base/cur.h"
#include "base/err.h"
#include "egress/body_int.h"

#include <string.h>

struct command {
        const char *old, *new, *ref;
        size_t id_len, ref_len;
};

static int hex4(const uint8_t *p)
{
        int v = 0;
        for (int i = 0; i < 4; i++) {
                int c = p[i], d = c >= '0' && c <= '9' ? c - '0' : (c | 32) - 'a' + 10;
                if (d < 0 || d > 15 || (d > 9 && !((c | 32) >= 'a' && (c | 32) <= 'f')))
                        return -1;
                v = v * 16 + d;
        }
        return v;
}

/* The next pkt-line: 1 with its bytes, 0 for a flush, -1. */
static int line(struct cur *c, const char **p, size_t *n)
{
        const uint8_t *at;
        if (cur_bytes(c, 4, &at) < 0)
                return -1;
        int len = hex4(at);
        if (len == 0)
                return 0;
        if (len < 5 || cur_bytes(c, (size_t)len - 4, &at) < 0)
                return -1;
        *p = (const char *)at;
        *n = (size_t)len - 4;
        return 1;
}

static size_t hex_run(const char *p, size_t n)
{
        size_t i = 0;
        while (i < n && ((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
                i++;
        return i;
}

static bool has_capability(const char *caps, size_t n, const char *name)
{
        size_t len = strlen(name);
        for (size_t i = 0; i + len <= n; i++)
                if (memcmp(caps + i, name, len) == 0 && (i == 0 || caps[i - 1] == ' ') &&
                    (i + len == n || strchr(" \n", caps[i + len])))
                        return true;
        return false;
}

/* OLD SP NEW SP REF, and on the first line NUL and capabilities. */
static int parse(const char *p, size_t n, bool is_first, struct command *c, bool *has_options)
{
        const char *nul = memchr(p, '\0', n);
        size_t len = nul ? (size_t)(nul - p) : n;
        if (nul && !is_first)
                return -1;
        if (nul)
                *has_options = has_capability(nul + 1, n - len - 1, "push-options");
        if (!nul && len && p[len - 1] == '\n')
                len--;
        size_t id = hex_run(p, len);
        if ((id != 40 && id != 64) || len < 2 * id + 3 || p[id] != ' ' || p[2 * id + 1] != ' ' ||
            hex_run(p + id + 1, id) != id)
                return -1;
        *c = (struct command){.old = p,
                              .new = p + id + 1,
                              .ref = p + 2 * id + 2,
                              .id_len = id,
                              .ref_len = len - 2 * id - 2};
        for (size_t i = 0; i < c->ref_len;) {
                const uint8_t *at = (const uint8_t *)c->ref + i;
                size_t u = body_utf8_len(at, c->ref_len - i);
                if (u == 0 || *at <= ' ' || *at == 0x7f)
                        return -1;
                i += u;
        }
        return 0;
}

typedef void command_fn(void *, const struct command *);

static int walk(const char *p, size_t n, command_fn *fn, void *ctx)
{
        struct cur c = cur_of(p, n);
        bool has_options = false, is_first = true;
        const char *at = NULL;
        size_t len = 0;
        int r;
        while ((r = line(&c, &at, &len)) == 1) {
                struct command command;
                if (len > 8 && memcmp(at, "shallow ", 8) == 0)
                        continue;
                if (parse(at, len, is_first, &command, &has_options) < 0)
                        return -1;
                is_first = false;
                fn(ctx, &command);
        }
        if (r < 0)
                return -1;
        if (has_options)
                while ((r = line(&c, &at, &len)) == 1)
                        ;
        if (r < 0)
                return -1;
        return c.left == 0 || (c.left >= 4 && memcmp(c.p, "PACK", 4) == 0) ? 0 : -1;
}

static void ignore(void *ctx, const struct command *c)
{
        (void)ctx, (void)c;
}

int body_git_check(const char *p, size_t n, struct err *err)
{
        if (walk(p, n, ignore, NULL) < 0)
                return err_set(err, E_PROTO, "the git push does not begin with plain commands");
        return 0;
}

struct wanted {
        const char *name;
        request_visit *visit;
        void *ctx;
};

static void show(void *ctx, const struct command *c)
{
        struct wanted *w = ctx;
        if (strcmp(w->name, "ref") == 0)
                w->visit(w->ctx, c->ref, c->ref_len);
        else if (strcmp(w->name, "old") == 0)
                w->visit(w->ctx, c->old, c->id_len);
        else if (strcmp(w->name, "new") == 0)
                w->visit(w->ctx, c->new, c->id_len);
}

void body_git_each(const char *p, size_t n, const char *name, request_visit *visit, void *ctx)
{
        struct wanted w = {.name = name, .visit = visit, .ctx = ctx};
        walk(p, n, show, &w);
}
