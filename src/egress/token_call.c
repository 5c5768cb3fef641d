/* token_call.c - see token_call.h. Called by exchange_request.c. */
#include "egress/token_call.h"

#include "base/cur.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct token_call {
        struct door *door;
        struct keeper_call *call;
        void (*fn)(void *ctx, int status, const char *text);
        void *ctx;
};

/* is_at(url, host, port, path): "https://host[:port]/path", as rule_secret_opts.c has checked it.
 */
static bool is_at(const char *url, const struct host_name *host, uint16_t port, const char *path)
{
        if (!str_starts(url, "https://"))
                return false;
        const char *at = url + 8, *slash = at + strcspn(at, "/"),
                   *colon = memchr(at, ':', (size_t)(slash - at));
        size_t host_n = (size_t)((colon ? colon : slash) - at);
        unsigned long want = colon ? strtoul(colon + 1, NULL, 10) : 443;
        return want == port && host_n == strlen(host->text) &&
               strncasecmp(at, host->text, host_n) == 0 && strcmp(*slash ? slash : "/", path) == 0;
}

const struct custody_secret *token_call_whose(struct door *d, const struct host_name *host,
                                              uint16_t port, const struct head *h)
{
        if (strcmp(head_str(h, h->method), "POST") != 0 || !h->path.text)
                return NULL;
        for (const struct custody_secret *s = custody_of(d)->secrets; s; s = s->next)
                if (!s->gone && s->line.secret->token &&
                    is_at(s->line.secret->token, host, port, h->path.text))
                        return s;
        return NULL;
}

static void on_answer(void *ctx, uint32_t type, struct cur *body)
{
        struct token_call *t = ctx;
        uint32_t no = 0;
        char *text = NULL;
        bool is_no = type == DOOR_PLACE_NO;
        if ((is_no && cur_u32(body, &no) < 0) || cur_lstr(body, 64 << 10, &text) < 0)
                door_fault(t->door, "the keeper gave an answer that makes no sense");
        t->call = NULL;
        t->fn(t->ctx, !is_no ? 200 : no == DOOR_NO_SLOT ? 0 : 403, text);
        free(text);
        free(t);
}

struct token_call *token_call_begin(struct door *d, const struct custody_secret *s,
                                    const struct door_toward *to, const void *body, size_t n,
                                    void (*fn)(void *ctx, int status, const char *text), void *ctx)
{
        struct token_call *t = calloc(1, sizeof *t);
        if (!t)
                str_no_memory();
        *t = (struct token_call){.door = d, .fn = fn, .ctx = ctx};
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, s->number);
        buf_put_u32(&b, 0);
        door_toward_put(&b, to);
        buf_put_u32(&b, (uint32_t)n);
        buf_put(&b, body, n);
        t->call = keeper_ask(d, DOOR_TOKEN, &b, on_answer, t);
        return t;
}

void token_call_cancel(struct token_call *t)
{
        if (!t)
                return;
        keeper_cancel(t->door, t->call);
        free(t);
}
