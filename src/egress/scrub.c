/* scrub.c - see scrub.h: the flow of one answer. Called by exchange_answer.c. It must never hand on
 * a byte of a body that was not searched, and nothing after an error. */
#include "egress/scrub_int.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/undo.h"
#include "policy/token_places.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
        PIECE = 32 << 10,
        RELEASE_MS = 20,
        LAG = 64 << 10,    /* so far what is packed follows behind the search of what is in it */
        LAG_MAX = 1 << 20, /* and so far while that may be the beginning of a value */
};

/* Streams of the Connect protocol have the frames of gRPC. */
#define CONNECT_TYPE "application/connect+"

const struct scan_set *scrub_values(struct door *d)
{
        const struct scan_set *set = custody_of(d)->values;
        return scan_set_is_empty(set) ? NULL : set;
}

bool scrub_is_needed(struct door *d, const struct host_name *host, uint16_t port)
{
        return scrub_values(d) || custody_managed(custody_of(d), host, port, NULL, NULL) ||
               token_places(host);
}

static void on_turn(void *ctx)
{
        scrub_answered(ctx);
}

/* charge(s): what it holds, for the account. */
static void charge(struct scrub *s)
{
        size_t heads = s->head ? sizeof *s->head + s->head->store.cap : 0;
        heads += s->trailers ? sizeof *s->trailers + s->trailers->store.cap : 0;
        account_set(&s->door->account, &s->charged,
                    sizeof *s + heads + s->pend.cap + s->whole.cap + s->lag.cap +
                            scan_held(&s->scan) + scrub_tokens_held(s));
}

struct scrub *scrub_new(struct door *d, const struct scrub_for *what, const struct scrub_ops *ops,
                        void *ctx)
{
        struct scrub *s = calloc(1, sizeof *s);
        if (!s)
                str_no_memory();
        s->door = d;
        s->values = custody_values_at(custody_of(d), &s->at, what->host);
        s->what = *what;
        s->ops = ops;
        s->ctx = ctx;
        s->job = (struct work_job){.fn = on_turn, .ctx = s};
        charge(s);
        return s;
}

void scrub_stop(struct scrub *s)
{
        if (!s)
                return;
        s->is_over = true;
        loop_timer_stop(&s->timer);
        work_drop(door_work(s->door), &s->job);
        if (s->call)
                keeper_cancel(s->door, s->call);
        s->call = NULL;
}

static void wipe(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_free(b);
}

void scrub_free(struct scrub *s)
{
        if (!s)
                return;
        scrub_stop(s);
        scan_free(&s->scan);
        scan_set_free(s->values);
        undo_free(s->undo);
        pack_free(s->pack);
        wipe(&s->lag);
        wipe(&s->pend);
        scrub_tokens_free(s);
        account_set(&s->door->account, &s->charged, 0);
        if (s->trailers)
                head_free(s->trailers);
        free(s->trailers);
        free(s);
}

size_t scrub_held(const struct scrub *s)
{
        return s->charged;
}

void scrub_fail(struct scrub *s, const char *sentence)
{
        if (s->is_over)
                return;
        scrub_stop(s);
        s->ops->fail(s->ctx, 502, sentence);
}

void scrub_short(struct scrub *s)
{
        if (s->is_over)
                return;
        scrub_stop(s);
        /* What it has is of no use any more, and may be what others wait for. */
        wipe(&s->pend);
        wipe(&s->whole);
        charge(s);
        s->ops->fail(s->ctx, 503, ACCOUNT_FULL);
}

bool scrub_hold(struct scrub *s, struct buf *to, const void *p, size_t n)
{
        if (account_put(&s->door->account, &s->charged, to, p, n))
                return true;
        scrub_short(s);
        return false;
}

/* frames(s, p, n, is_end, out): message by message, because both ends may wait for the other after
 * each. None of gRPC may be compressed: that coding is not the body's. False when one is. */
static bool frames(struct scrub *s, const uint8_t *p, size_t n, bool is_end, struct buf *out)
{
        size_t from = 0;
        for (size_t i = 0; i < n;) {
                if (s->grpc_left > 0) {
                        size_t part = n - i < s->grpc_left ? n - i : s->grpc_left;
                        s->grpc_left -= (uint32_t)part;
                        i += part;
                } else {
                        s->grpc_head[s->grpc_head_n++] = p[i++];
                        if (s->is_grpc &&
                            s->grpc_head[0] & 0x7f) /* nor any letter of a text across messages */
                                return false;
                        if (s->grpc_head_n < sizeof s->grpc_head)
                                continue;
                        s->grpc_head_n = 0;
                        for (size_t k = 1; k < sizeof s->grpc_head; k++)
                                s->grpc_left = s->grpc_left << 8 | s->grpc_head[k];
                }
                if (s->grpc_left == 0) {
                        work_step(door_work(s->door), 0);
                        scan_feed(&s->scan, s->values, p + from, i - from, true, out, NULL);
                        from = i;
                }
        }
        scan_feed(&s->scan, s->values, n ? p + from : p, n - from, is_end, out, NULL);
        return true;
}

/* is_lagging(s): nothing passes before what is packed in it was looked at. */
static bool is_lagging(const struct scrub *s)
{
        return s->pack && (s->is_packing || s->lag.len > 0 || pack_is_open(s->pack));
}

static void pass(struct scrub *s, struct buf *out)
{
        if (out->is_broken)
                scrub_fail(s, "there is no memory for the answer");
        else if (is_lagging(s))
                scrub_hold(s, &s->lag, out->data, out->len);
        else if (out->len > 0) /* its last word counts: only after a no does it tell of room */
                s->is_full = !s->ops->data(s->ctx, out->data, out->len);
}

static void on_timer(void *ctx)
{
        struct scrub *s = ctx;
        _cleanup_buf_ struct buf out = {0};
        if (s->is_over)
                return;
        scan_release(&s->scan, s->values, !s->is_shown, &out);
        pass(s, &out);
        scrub_answered(s);
}

void scrub_emit(struct scrub *s, const void *p, size_t n, bool is_end)
{
        _cleanup_buf_ struct buf out = {0};
        if (s->is_over)
                return;
        work_step(door_work(s->door), n);
        if (!s->is_framed) {
                scan_feed(&s->scan, s->values, p, n, is_end, &out, NULL);
        } else if (!frames(s, p, n, is_end, &out)) {
                scrub_fail(s, "a gRPC message is compressed, and what cannot be read may hold a "
                              "secret");
                return;
        }
        if (s->door->loop && scan_may_release(&s->scan, !s->is_shown)) {
                s->timer.fn = on_timer;
                s->timer.ctx = s;
                loop_timer_set(s->door->loop, &s->timer, RELEASE_MS);
        }
        pass(s, &out);
}

/* keep_head(s, h): it goes to the client later. */
static void keep_head(struct scrub *s, struct head *h)
{
        s->head = malloc(sizeof *s->head);
        if (!s->head)
                str_no_memory();
        head_init(s->head);
        head_move(s->head, h);
        charge(s);
}

/* send_head(s): now, when it was held only until the decoder has its memory. */
static void send_head(struct scrub *s)
{
        struct head *h = s->head;
        if (!h || s->mode != SCRUB_PLAIN)
                return;
        s->head = NULL;
        s->ops->head(s->ctx, h, false);
        head_free(h);
        free(h);
}

/* may_be_short(s): would a decoder's largest window not fit now? Then the head waits for its first
 * bytes, so that a 503 can still be said. */
static bool may_be_short(const struct scrub *s)
{
        enum { LARGEST = 17 << 20 };
        const struct account *a = &s->door->account;
        return s->undo && a->limit && a->now + LARGEST > a->limit;
}

/* unpack(s, is_end): what is packed in the bytes that came. */
static void unpack(struct scrub *s, bool is_end)
{
        if (!s->pack || s->is_over || s->is_unpacked)
                return;
        enum pack_said said = pack_run(s->pack, s->values, is_end, NULL);
        s->is_packing = said == PACK_LATER;
        s->is_unpacked = is_end && !s->is_packing;
        switch (said) {
        case PACK_READY:
                break;
        case PACK_LATER:
                work_again(door_work(s->door), &s->job);
                break;
        case PACK_SHORT:
                scrub_short(s);
                break;
        case PACK_FOUND:
                scrub_fail(s, "the origin sends a secret inside of a packed or compressed file, "
                              "where nothing can take its place");
                break;
        case PACK_BOMB:
                scrub_fail(s, "the origin's answer cannot be searched for secrets: a packed or "
                              "compressed file in it grows beyond all measure");
                break;
        }
}

/* pass_lag(s, is_end): what is packed goes on, a constant way behind. */
static void pass_lag(struct scrub *s, bool is_end)
{
        if (s->is_over || s->is_packing || s->lag.len == 0)
                return;
        size_t n = is_end || !pack_is_open(s->pack)
                           ? s->lag.len
                           : pack_lag_free(&s->lagging, s->pack, s->lag.len, LAG);
        if (s->lag.len - n > LAG_MAX) {
                scrub_fail(s, "the origin's answer cannot be searched for secrets: a compressed "
                              "file in it comes to no end");
                return;
        }
        if (n == 0)
                return;
        send_head(s);
        s->is_full = !s->ops->data(s->ctx, s->lag.data, n);
        buf_drop(&s->lag, n);
        if (s->lag.len == 0)
                wipe(&s->lag);
        charge(s);
}

static void body(struct scrub *s, const void *p, size_t n)
{
        switch (s->mode) {
        case SCRUB_PLAIN:
                if (s->pack)
                        pack_put(s->pack, p, n);
                unpack(s, false);
                if (!s->is_over && !is_lagging(s))
                        send_head(s);
                scrub_emit(s, p, n, false);
                pass_lag(s, false);
                break;
        case SCRUB_WHOLE:
                scrub_tokens_data(s, p, n);
                break;
        }
}

/* finish(s): the origin's end is here and nothing waits: the rest, the trailers, the end. */
static void finish(struct scrub *s)
{
        const char *why = NULL;
        if (s->mode == SCRUB_WHOLE && !scrub_tokens_end(s))
                return;
        unpack(s, true);
        if (s->is_over || s->is_packing)
                return;
        if (!is_lagging(s))
                send_head(s);
        scrub_emit(s, NULL, 0, true);
        pass_lag(s, true);
        send_head(s);
        if (s->is_over)
                return;
        if (s->is_grpc && (s->grpc_head_n || s->grpc_left)) {
                scrub_fail(s, "a gRPC message is cut off");
                return;
        }
        if (s->trailers && (scrub_head(s->values, s->trailers, &why) < 0 ||
                            (s->is_lent && (why = scrub_tokens_head(s->trailers))))) {
                scrub_fail(s, why);
                return;
        }
        s->is_final = true;
        scrub_stop(s);
        s->ops->end(s->ctx, s->trailers);
}

static bool is_busy(const struct scrub *s)
{
        return s->is_over || s->is_full || s->call || s->job.prev;
}

/* next_piece(s, to, n): of the body, as the box would see it: its length; 0 when there is none now;
 * -1 when the turn or the answer is over. */
static ssize_t next_piece(struct scrub *s, uint8_t *to, size_t n)
{
        struct err err = {0};
        ssize_t got = UNDO_LATER;
        if (s->undo) {
                got = undo_take(s->undo, s->is_ended, to, n, &err);
        } else if (!work_is_spent(door_work(s->door))) {
                got = (ssize_t)(n < s->pend.len ? n : s->pend.len);
                if (got > 0)
                        memcpy(to, s->pend.data, (size_t)got);
                buf_drop(&s->pend, (size_t)got);
                if (s->pend.len == 0)
                        wipe(&s->pend);
                charge(s);
        }
        if (got == UNDO_LATER)
                work_again(door_work(s->door), &s->job);
        else if (got < 0 && undo_is_short(s->undo))
                scrub_short(s);
        else if (got < 0)
                scrub_fail(s, err.text);
        return got;
}

void scrub_pump(struct scrub *s)
{
        static uint8_t piece[PIECE]; /* one loop: nobody else is here at the same time */
        while (!is_busy(s)) {
                if (s->is_packing) {
                        unpack(s, false);
                        pass_lag(s, false);
                        continue;
                }
                ssize_t n = next_piece(s, piece, sizeof piece);
                if (n <= 0)
                        break;
                uint8_t *copy = malloc((size_t)n); /* what follows may come back here */
                if (!copy)
                        str_no_memory();
                memcpy(copy, piece, (size_t)n);
                explicit_bzero(piece, (size_t)n);
                body(s, copy, (size_t)n);
                explicit_bzero(copy, (size_t)n);
                free(copy);
        }
        if (!is_busy(s) && s->is_ended && !s->is_final)
                finish(s);
}

bool scrub_data(struct scrub *s, const void *p, size_t n)
{
        if (s->is_over)
                return true;
        if (s->undo) {
                undo_put(s->undo, p, n);
                scrub_pump(s);
        } else if (is_busy(s) || s->pend.len > 0 || n > PIECE) {
                if (scrub_hold(s, &s->pend, p, n))
                        scrub_pump(s);
        } else {
                body(s, p, n);
        }
        s->is_told = s->is_full || s->call || s->job.prev;
        if (!s->is_over)
                charge(s);
        return !s->is_told || s->is_over;
}

void scrub_end(struct scrub *s, struct head *trailers)
{
        if (s->is_over || s->is_ended)
                return;
        s->is_ended = true;
        if (trailers && trailers->fields_n > 0) {
                s->trailers = malloc(sizeof *s->trailers);
                if (!s->trailers)
                        str_no_memory();
                head_move(s->trailers, trailers);
        }
        scrub_pump(s);
}

bool scrub_drained(struct scrub *s)
{
        s->is_full = false;
        scrub_pump(s);
        bool is_room = !is_busy(s) && !s->is_ended;
        if (is_room)
                s->is_told = false;
        return is_room;
}

void scrub_answered(struct scrub *s)
{
        scrub_pump(s);
        if (!is_busy(s) && s->is_told && !s->is_ended) {
                s->is_told = false;
                s->ops->resume(s->ctx);
        }
}

/* undo_coding(s, h, err): the body goes on as identity. */
static int undo_coding(struct scrub *s, struct head *h, struct err *err)
{
        const struct field *f = head_find(h, "content-encoding");
        if (!f)
                return 0;
        if (head_count(h, "content-encoding") > 1)
                return err_set(err, E_PROTO, "it has two codings");
        if (undo_new(head_str(h, f->value), door_work(s->door), &s->door->account, &s->undo, err) <
            0)
                return -1;
        if (!s->undo)
                return 0;
        static const char *const drop[] = {"content-encoding", "content-md5", "digest",
                                           "content-digest",   "repr-digest", "accept-ranges"};
        for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
                head_drop(h, drop[i]);
        h->body = HEAD_BODY_STREAM;
        h->has_length = false;
        h->length = 0;
        f = head_find(h, "etag");
        if (f &&
            head_str(h, f->value)[0] == '"') { /* other bytes, so it is no strong one any more */
                char *weak = str_fmt("W/%s", head_str(h, f->value));
                head_drop(h, "etag");
                int r = head_add(h, "etag", 4, weak, strlen(weak), err);
                free(weak);
                return r;
        }
        return 0;
}

/* may_be_packed(h): its head waits for the first bytes of its body, so that a 502 can still be said:
 * where the body has a length, which follows at once, or says that it is a file. */
static bool may_be_packed(const struct head *h)
{
        static const char *const words[] = {"zip", "tar", "zst", "compress", "octet-stream"};
        const struct field *f = head_find(h, "content-type");
        bool is_file = false;
        for (size_t i = 0; f && i < sizeof words / sizeof *words; i++)
                is_file |= strcasestr(head_str(h, f->value), words[i]) != NULL;
        return is_file || (h->has_length && h->length > 0);
}

void scrub_answer(struct scrub *s, struct head *h, bool is_end)
{
        struct err err = {0};
        const char *why = NULL;
        if (scrub_head(s->values, h, &why) < 0) {
                scrub_fail(s, why);
                return;
        }
        bool is_shown = scrub_is_shown(s->door, s->what.host, s->what.port);
        s->is_shown = is_shown;
        s->is_lent = scrub_tokens_lent(s);
        if (s->is_lent && (why = scrub_tokens_head(h))) {
                scrub_fail(s, why);
                return;
        }
        if (is_shown)
                head_drop(h, "accept-ranges"); /* nobody need try */
        if (is_end || s->what.is_to_head || h->body == HEAD_BODY_NONE) {
                s->ops->head(s->ctx, h, is_end);
                return;
        }
        const struct field *type = head_find(h, "content-type");
        s->is_grpc = type && head_is_grpc_type(head_str(h, type->value), type->value_len);
        s->is_framed = s->is_grpc || (type && strncasecmp(head_str(h, type->value), CONNECT_TYPE,
                                                          strlen(CONNECT_TYPE)) == 0);
        if (h->status == 206) {
                if (is_shown || s->is_lent)
                        why = "it is a part, which was not asked for and may cut a secret in two";
                else if (head_find(h, "content-encoding"))
                        why = "it is a part of something compressed, which cannot be read";
        } else if ((is_shown || s->is_lent) && !scrub_is_ascii(h)) {
                why = "it is in an alphabet that cannot be read here";
        } else if (undo_coding(s, h, &err) < 0) {
                why = err.text;
        } else if (s->is_lent) {
                s->mode = SCRUB_WHOLE;
                if (s->is_grpc || head_count(h, "content-type") > 1)
                        why = "a place that gives out tokens answers in a form that cannot be read";
        }
        if (why) {
                char *words =
                        str_fmt("the origin's answer cannot be searched for secrets: %s", why);
                scrub_fail(s, words);
                free(words);
                return;
        }
        if (s->mode == SCRUB_PLAIN && !s->is_grpc)
                s->pack = pack_new(door_work(s->door), &s->door->account);
        if (s->mode == SCRUB_WHOLE || may_be_short(s) || (s->pack && may_be_packed(h)))
                keep_head(s, h);
        else
                s->ops->head(s->ctx, h, false);
}
