/* refuse.c - see refuse.h. Called by exchange.c. */
#include "egress/refuse.h"

#include "base/str.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* command(r): what a person types to allow it, or NULL. */
static char *command(const struct refusal *r)
{
        if (!r->cure)
                return NULL;
        const char *line = str_starts(r->cure, "allow ") ? r->cure + 6 : r->cure;
        return str_fmt("ostiary allow %s '%s'", r->box, line);
}

char *refuse_sentence(const struct refusal *r)
{
        char *cmd = command(r);
        char *s = str_fmt("%s %s%s%s%s%s%s%s", r->what,
                          r->status >= 500 || r->status == 400 ? "failed" : "was refused",
                          r->words ? ": " : "", r->words ? r->words : "", r->why ? ": " : "",
                          r->why ? r->why : "", cmd ? ". To allow it, a person can run: " : ".",
                          cmd ? cmd : "");
        free(cmd);
        return s;
}

static void add(struct head *h, const char *name, const char *value)
{
        head_add(h, name, strlen(name), value, strlen(value), NULL);
}

static bool accepts_json(const struct head *request)
{
        const struct field *f = request ? head_find(request, "accept") : NULL;
        return f && strcasestr(head_str(request, f->value), "json") != NULL;
}

/* put_grpc_message(b, s): percent-encoded, as grpc-message wants it. */
static void put_grpc_message(struct buf *b, const char *s)
{
        for (; *s; s++) {
                if (*s >= 0x20 && *s < 0x7f && *s != '%')
                        buf_put(b, s, 1);
                else
                        buf_put_fmt(b, "%%%02X", (unsigned char)*s);
        }
}

static void put_json(struct buf *b, const struct refusal *r, const char *sentence)
{
        char *cmd = command(r);
        json_t *o = json_pack("{s:{s:s,s:s,s:s?,s:s?}}", "error", "type",
                              r->status >= 500 ? "ostiary_upstream" : "ostiary_refused", "message",
                              sentence, "rule", r->words, "allow", cmd);
        char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
        buf_put_str(b, text ? text : "{}");
        buf_put_str(b, "\n");
        free(text);
        json_decref(o);
        free(cmd);
}

void refuse_answer(const struct refusal *r, const struct head *request, struct head *h,
                   struct buf *body)
{
        char *sentence = refuse_sentence(r);
        h->minor = 1;
        h->is_persistent = true;
        add(h, "x-ostiary", r->status >= 500 ? "upstream" : "refused");
        add(h, "cache-control", "no-store");
        if (request && request->is_grpc) {
                _cleanup_buf_ struct buf message = {0};
                put_grpc_message(&message, sentence);
                h->status = 200;
                add(h, "content-type", "application/grpc");
                add(h, "grpc-status", r->status >= 500 ? "14" : "7");
                add(h, "grpc-message", buf_cstr(&message));
                h->body = HEAD_BODY_LENGTH;
                h->length = 0;
        } else {
                h->status = (uint16_t)r->status;
                bool is_json = accepts_json(request);
                add(h, "content-type", is_json ? "application/json" : "text/plain; charset=utf-8");
                if (is_json)
                        put_json(body, r, sentence);
                else
                        buf_put_fmt(body, "ostiary: %s\n", sentence);
                h->body = HEAD_BODY_LENGTH;
                h->length = body->len;
        }
        free(sentence);
}
