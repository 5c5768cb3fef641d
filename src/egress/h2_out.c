/* h2_out.c - see h2_head.h: heads that go out, as nghttp2 wants them. Pure. Secrets are marked so
 * that no compression table on the way keeps them. */
#include "egress/h2_head.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void add(struct h2_out *o, const char *name, size_t n, const char *value, size_t len,
                uint8_t flags)
{
        if (o->n < sizeof o->nv / sizeof *o->nv)
                o->nv[o->n++] = (nghttp2_nv){.name = (uint8_t *)(uintptr_t)name,
                                             .value = (uint8_t *)(uintptr_t)value,
                                             .namelen = n,
                                             .valuelen = len,
                                             .flags = flags};
}

static void add_word(struct h2_out *o, const char *name, const char *value)
{
        add(o, name, strlen(name), value, strlen(value), 0);
}

/* Text that is made here lives in o->text. */
static __attribute__((format(printf, 3, 4))) void add_made(struct h2_out *o, const char *name,
                                                           const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *at = o->text + o->text_n;
        int n = vsnprintf(at, sizeof o->text - o->text_n, fmt, ap);
        va_end(ap);
        if (n < 0 || (size_t)n >= sizeof o->text - o->text_n)
                return;
        o->text_n += (size_t)n + 1;
        add(o, name, strlen(name), at, (size_t)n, 0);
}

static bool is_secret(const char *name)
{
        static const char *const names[] = {"authorization", "cookie",  "set-cookie",
                                            "x-api-key",     "api-key", "x-amz-security-token"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (strcmp(name, names[i]) == 0)
                        return true;
        return false;
}

static void add_fields(struct h2_out *o, const struct head *h, const char *skip)
{
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                const char *name = head_str(h, f->name), *value = head_str(h, f->value);
                if (skip && strcmp(name, skip) == 0)
                        continue;
                add(o, name, f->name_len, value, f->value_len,
                    f->is_secret || is_secret(name) ? NGHTTP2_NV_FLAG_NO_INDEX : 0);
        }
}

static void begin(struct h2_out *o)
{
        o->n = o->text_n = 0;
        o->target = (struct buf){0};
}

void h2_out_free(struct h2_out *o)
{
        if (o->target.data)
                explicit_bzero(o->target.data, o->target.len); /* a secret may be in a query */
        buf_free(&o->target);
}

void h2_out_request(struct h2_out *o, const struct head *h, bool is_tls)
{
        begin(o);
        add(o, ":method", 7, head_str(h, h->method), h->method_len, 0);
        add_word(o, ":scheme", is_tls ? "https" : "http");
        if (h->port && h->port != (is_tls ? 443 : 80))
                add_made(o, ":authority", "%s:%u", h->host.text, h->port);
        else
                add_made(o, ":authority", "%s", h->host.text);
        if (h->is_options_star) {
                add_word(o, ":path", "*");
        } else if (!h->query) {
                add(o, ":path", 5, h->path.text, h->path.len,
                    h->is_target_secret ? NGHTTP2_NV_FLAG_NO_INDEX : 0);
        } else {
                buf_put(&o->target, h->path.text, h->path.len);
                buf_put_u8(&o->target, '?');
                buf_put(&o->target, head_str(h, h->query), h->query_len);
                add(o, ":path", 5, buf_cstr(&o->target), o->target.len,
                    h->is_target_secret ? NGHTTP2_NV_FLAG_NO_INDEX : 0);
        }
        add_fields(o, h, NULL);
        if (h->body == HEAD_BODY_LENGTH)
                add_made(o, "content-length", "%llu", (unsigned long long)h->length);
        else if (h->body == HEAD_BODY_NONE && h->has_length)
                add_word(o, "content-length", "0");
        if (h->takes_trailers || h->is_grpc)
                add_word(o, "te", "trailers");
}

void h2_out_answer(struct h2_out *o, const struct head *h)
{
        begin(o);
        add_made(o, ":status", "%03u", h->status == 101 ? 200u : h->status);
        add_fields(o, h, h->status == 101 ? "sec-websocket-accept" : NULL);
        bool has_length =
                h->body == HEAD_BODY_LENGTH || (h->body == HEAD_BODY_NONE && h->has_length);
        if (has_length && h->status >= 200 && h->status != 204)
                add_made(o, "content-length", "%llu", (unsigned long long)h->length);
}

void h2_out_trailers(struct h2_out *o, const struct head *h)
{
        begin(o);
        add_fields(o, h, NULL);
}
