/* door_h1.c - any bytes as a request, an answer or a chunked body. What is accepted is written anew
 * and parses to an equal head, in one form only; a beginning of it asks for more; a chunked body
 * gives the same data wherever its pieces are cut (case E3). */
#include "base/err.h"
#include "egress/h1.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
        if (!holds)
                abort();
}

static void same_fields(const struct head *a, const struct head *b)
{
        must(a->fields_n == b->fields_n);
        for (size_t i = 0; i < a->fields_n; i++) {
                const struct field *f = &a->fields[i], *g = &b->fields[i];
                must(f->name_len == g->name_len && f->value_len == g->value_len);
                must(!memcmp(head_str(a, f->name), head_str(b, g->name), f->name_len));
                must(!memcmp(head_str(a, f->value), head_str(b, g->value), f->value_len));
                must(head_is_token(head_str(a, f->name), f->name_len));
                must(head_is_value(head_str(a, f->value), f->value_len));
                must(!head_is_hop(head_str(a, f->name), f->name_len));
        }
        enum head_body body = a->body == HEAD_BODY_CLOSE ? HEAD_BODY_STREAM : a->body;
        must(body == b->body && a->length == b->length && a->is_grpc == b->is_grpc &&
             a->is_websocket == b->is_websocket && a->status == b->status);
}

static void fuzz_request(const char *p, size_t n, size_t cut)
{
        struct head h, again;
        struct err err = {0};
        int status = 0;
        _cleanup_buf_ struct buf b = {0}, c = {0};
        head_init(&h);
        head_init(&again);
        ssize_t used = h1_request(p, n, &h, &status, &err);
        must(used >= 0 || (status >= 400 && status < 600 && err.text[0]));
        if (used > 0) {
                must((size_t)used <= n && h.path.len && h.method_len);
                must(h1_request(p, cut % (size_t)used, &again, &status, &err) == 0);
                must(h1_request(p, (size_t)used, &again, &status, &err) == used);
                head_free(&again);
                if (h.host.len == 0)
                        must(h.minor == 0 && host_name_parse("a", 1, &h.host, NULL) == 0);
                h1_put_request(&b, &h, cut & 1);
                must(!b.is_broken);
                must(h1_request((char *)b.data, b.len, &again, &status, &err) == (ssize_t)b.len);
                same_fields(&h, &again);
                must(host_name_equal(&h.host, &again.host) && h.method_len == again.method_len &&
                     !memcmp(head_str(&h, h.method), head_str(&again, again.method), h.method_len));
                must(!strcmp(h.path.text, again.path.text) && h.query_len == again.query_len &&
                     !memcmp(head_str(&h, h.query), head_str(&again, again.query), h.query_len) &&
                     h.is_options_star == again.is_options_star && again.is_persistent);
                h1_put_request(&c, &again, cut & 1);
                must(b.len == c.len && !memcmp(b.data, c.data, b.len));
        }
        head_free(&h);
        head_free(&again);
}

static void fuzz_answer(const char *p, size_t n, size_t cut, bool is_to_head)
{
        struct head h, again;
        struct err err = {0};
        _cleanup_buf_ struct buf b = {0};
        head_init(&h);
        head_init(&again);
        ssize_t used = h1_answer(p, n, is_to_head, &h, &err);
        must(used >= 0 || err.text[0]);
        if (used > 0) {
                must(h1_answer(p, cut % (size_t)used, is_to_head, &again, &err) == 0);
                h1_put_answer(&b, &h, 1, cut & 1);
                must(!b.is_broken);
                must(h1_answer((char *)b.data, b.len, is_to_head, &again, &err) == (ssize_t)b.len);
                same_fields(&h, &again);
        }
        head_free(&h);
        head_free(&again);
}

/* Feed everything in pieces of ${step}; -1 or the bytes used. */
static ssize_t feed(struct h1_chunks *c, const char *p, size_t n, size_t step, struct buf *out)
{
        size_t used = 0;
        while (used < n && !c->is_done) {
                const char *data;
                size_t len, piece = n - used < step ? n - used : step;
                ssize_t got = h1_chunks_feed(c, p + used, piece, &data, &len, NULL);
                if (got < 0)
                        return -1;
                must(got > 0 && (size_t)got <= piece && len <= (size_t)got);
                buf_put(out, data, len);
                used += (size_t)got;
        }
        return (ssize_t)used;
}

static void fuzz_chunks(const char *p, size_t n, size_t cut)
{
        struct h1_chunks whole = {0}, cut_up = {0};
        struct head a, b;
        struct err err = {0};
        _cleanup_buf_ struct buf one = {0}, two = {0}, text = {0};
        head_init(&a);
        head_init(&b);
        ssize_t used = feed(&whole, p, n, n, &one);
        must(feed(&cut_up, p, n, cut % 7 + 1, &two) == used);
        must(one.len == two.len && (!one.len || !memcmp(one.data, two.data, one.len)));
        must(whole.is_done == cut_up.is_done);
        if (used >= 0 && whole.is_done && h1_chunks_trailers(&whole, &a, &err) == 0) {
                must(h1_chunks_trailers(&cut_up, &b, &err) == 0);
                same_fields(&a, &b);
                if (one.len) {
                        h1_put_chunk_head(&text, one.len);
                        buf_put(&text, one.data, one.len);
                        buf_put_str(&text, "\r\n");
                }
                h1_put_last(&text, &a);
                h1_chunks_free(&cut_up);
                two.len = 0;
                must(feed(&cut_up, (char *)text.data, text.len, text.len, &two) ==
                     (ssize_t)text.len);
                must(cut_up.is_done && two.len == one.len);
                head_clear(&b);
                must(h1_chunks_trailers(&cut_up, &b, &err) == 0);
                same_fields(&a, &b);
        }
        h1_chunks_free(&whole);
        h1_chunks_free(&cut_up);
        head_free(&a);
        head_free(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 3)
                return 0;
        size_t cut = (size_t)data[1] << 8 | data[2];
        const char *p = (const char *)data + 3;
        switch (data[0] % 4) {
        case 0:
                fuzz_request(p, size - 3, cut);
                break;
        case 1:
                fuzz_chunks(p, size - 3, cut);
                break;
        default:
                fuzz_answer(p, size - 3, cut, data[0] % 4 == 2);
                break;
        }
        return 0;
}
