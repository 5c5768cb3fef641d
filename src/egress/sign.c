/* sign.c - see sign.h: a head on its way to the keeper and back with a new signature. It never
 * holds a key; what comes back is in the head only. */
#include "egress/sign_int.h"

#include "base/cur.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"
#include "egress/awschunk.h"
#include "wire/frame.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What fits one frame beside the rest of the request. */
enum { ASK_MAX = FRAME_INLINE_MAX - 64, ANSWER_FIELDS_MAX = 8, VALUE_MAX = 24 << 10 };

void sign_enter(struct sign *s)
{
        s->busy_n++;
}

static void destroy(struct sign *s)
{
        if (s->busy_n || s->is_later)
                return;
        free(s->why);
        free(s);
}

bool sign_leave(struct sign *s)
{
        s->busy_n--;
        if (!s->is_freed)
                return true;
        destroy(s);
        return false;
}

void sign_free(struct sign *s)
{
        if (!s || s->is_freed)
                return;
        s->is_freed = true;
        keeper_cancel(s->door, s->call);
        s->call = NULL;
        sign_units_drop(s);
        if (s->chain) {
                _cleanup_buf_ struct buf b = {0};
                buf_put_u32(&b, s->chain);
                keeper_tell(s->door, DOOR_SIGN_END, &b);
        }
        awschunk_free(s->chunks);
        s->chunks = NULL;
        destroy(s);
}

bool sign_has_chunks(const struct sign *s)
{
        return s->chain != 0;
}

char *sign_no_words(struct cur *body)
{
        uint32_t no;
        char *words = NULL;
        if (cur_u32(body, &no) < 0 || cur_lstr(body, 2000, &words) < 0)
                return str_dup("the keeper refused to sign it");
        return words;
}

/* --- the question --- */

static void put_field(struct buf *b, const char *name, const char *value, uint32_t *n)
{
        buf_put_lstr(b, name);
        buf_put_lstr(b, value);
        ++*n;
}

/* put_fields(b, h, is_tls): as they will be sent, with what the writers add. */
static void put_fields(struct buf *b, const struct head *h, bool is_tls)
{
        _cleanup_buf_ struct buf fields = {0};
        const char *method = head_str(h, h->method);
        char text[HOST_TEXT_MAX + 8];
        uint32_t n = 0;
        if (h->port && h->port != (is_tls ? 443 : 80))
                snprintf(text, sizeof text, "%s:%u", h->host.text, h->port);
        else
                snprintf(text, sizeof text, "%s", h->host.text);
        put_field(&fields, "host", text, &n);
        for (size_t i = 0; i < h->fields_n; i++)
                put_field(&fields, head_str(h, h->fields[i].name), head_str(h, h->fields[i].value),
                          &n);
        bool wants_length = strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ||
                            strcmp(method, "PATCH") == 0;
        if (h->body == HEAD_BODY_LENGTH || (h->body == HEAD_BODY_NONE && wants_length)) {
                snprintf(text, sizeof text, "%" PRIu64,
                         h->body == HEAD_BODY_LENGTH ? h->length : 0);
                put_field(&fields, "content-length", text, &n);
        }
        buf_put_u32(b, n);
        buf_put(b, fields.data, fields.len);
}

static void put_bytes(struct buf *b, const void *p, size_t n)
{
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, p, n);
}

/* put_payload(b, secret, form, h, body, n): the last field of DOOR_SIGN. */
static void put_payload(struct buf *b, const struct custody_secret *s, size_t form,
                        const struct head *h, const void *body, size_t n)
{
        const struct rule_secret *line = s->line.secret;
        char hash[SHA256_HEX_LEN + 1];
        bool is_hmac = line->forms[form].form == RULE_AS_HMAC;
        const char *message = line->message ? line->message : "";
        if (is_hmac && strstr(message, "{body}"))
                return put_bytes(b, body, n);
        if (is_hmac && !strstr(message, "{body_sha256}"))
                return put_bytes(b, "", 0);
        _cleanup_free_ char *payload = is_hmac ? NULL : sign_payload(s, h);
        if (!payload)
                sha256_hex(n ? body : "", n, hash);
        put_bytes(b, payload ? payload : hash, strlen(payload ? payload : hash));
}

/* --- the answer --- */

/* apply(s, body): the new fields and target into the head. NULL, or what is wrong. */
static const char *apply(struct sign *s, struct cur *body)
{
        static const char nonsense[] = "the keeper's answer cannot be read";
        _cleanup_free_ char *target = NULL;
        struct head *h = s->head;
        uint32_t n;
        const char *why = NULL;
        if (cur_u32(body, &s->chain) < 0 || cur_lstr(body, VALUE_MAX, &target) < 0 ||
            cur_u32(body, &n) < 0 || n > ANSWER_FIELDS_MAX)
                return nonsense;
        for (uint32_t i = 0; i < n && !why; i++) {
                _cleanup_free_ char *name = NULL, *value = NULL;
                if (cur_lstr(body, 128, &name) < 0 || cur_lstr(body, VALUE_MAX, &value) < 0)
                        return nonsense;
                _cleanup_free_ char *small = sign_small(name);
                head_drop(h, small);
                if (*value && head_add(h, small, strlen(small), value, strlen(value), NULL) < 0)
                        why = "the request's head is too large once it is signed";
                else if (*value)
                        h->fields[h->fields_n - 1].is_secret = true;
                explicit_bzero(value, strlen(value));
        }
        if (!why && *target) {
                if (head_target(h, target, strlen(target), NULL) < 0)
                        why = "the signed URL is too long";
                h->is_target_secret = true;
        }
        h->has_secrets = true;
        explicit_bzero(target, strlen(target));
        return why;
}

static void on_signed(void *ctx, uint32_t type, struct cur *body)
{
        struct sign *s = ctx;
        s->call = NULL;
        sign_enter(s);
        if (type == DOOR_SIGNED) {
                s->fn(s->ctx, apply(s, body));
        } else {
                _cleanup_free_ char *words = sign_no_words(body);
                s->fn(s->ctx, words);
        }
        sign_leave(s);
}

static void on_later(void *ctx)
{
        struct sign *s = ctx;
        s->is_later = false;
        if (s->is_freed)
                return destroy(s);
        sign_enter(s);
        s->fn(s->ctx, s->why);
        sign_leave(s);
}

static void put_target(struct buf *b, const struct head *h)
{
        _cleanup_buf_ struct buf target = {0};
        buf_put(&target, h->path.text, h->path.len);
        if (h->query) {
                buf_put_u8(&target, '?');
                buf_put(&target, head_str(h, h->query), h->query_len);
        }
        buf_put_lstr(b, buf_cstr(&target));
}

struct sign *sign_begin(struct door *d, const struct custody_secret *secret, size_t form,
                        struct head *h, bool is_tls, const void *body, size_t n,
                        void (*fn)(void *ctx, const char *why), void *ctx)
{
        struct sign *s = calloc(1, sizeof *s);
        _cleanup_buf_ struct buf b = {0};
        if (!s)
                str_no_memory();
        *s = (struct sign){.door = d, .head = h, .fn = fn, .ctx = ctx};
        s->units_end = &s->units;
        const struct field *f = head_find(h, "x-amz-content-sha256");
        s->has_trailer = f && str_ends(head_str(h, f->value), "-TRAILER");
        f = head_find(h, "x-amz-decoded-content-length");
        if (!f || str_u64(head_str(h, f->value), &s->length) < 0)
                s->length = UINT64_MAX;
        buf_put_u32(&b, secret->number);
        buf_put_u32(&b, (uint32_t)form);
        door_toward_put(&b, &(struct door_toward){.method = head_str(h, h->method),
                                                  .host = h->host.text,
                                                  .path = h->path.text,
                                                  .port = h->port,
                                                  .is_tls = is_tls});
        put_target(&b, h);
        put_fields(&b, h, is_tls);
        put_payload(&b, secret, form, h, body, n);
        if (b.len > ASK_MAX)
                s->why = str_dup("the request is too large to be signed: its head, and for a "
                                 "message with {body} the body too, have at most 64 KiB");
        if (s->why) {
                s->is_later = true;
                door_later(d, on_later, s);
        } else {
                s->call = keeper_ask(d, DOOR_SIGN, &b, on_signed, s);
        }
        return s;
}
