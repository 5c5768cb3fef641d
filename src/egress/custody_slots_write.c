/* custody_slots_write.c - see custody_slots.h: a head made anew with what the keeper gave. Called
 * when all its answers are there. What it makes holds values: every field that got one is marked,
 * and head_free wipes the whole of it. */
#include "egress/custody_slots.h"

#include "base/err.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* A text that is made of another by uses, from the last to the first. */
struct work {
        char *p;
        size_t n;
};

static void work_free(struct work *w)
{
        if (w->p)
                explicit_bzero(w->p, w->n);
        free(w->p);
}
#define _cleanup_work_ __attribute__((cleanup(work_free)))

static void splice_in(struct work *w, size_t from, size_t len, const char *by, size_t by_n)
{
        char *fresh = malloc(w->n - len + by_n + 1);
        if (!fresh)
                str_no_memory();
        memcpy(fresh, w->p, from);
        memcpy(fresh + from, by, by_n);
        memcpy(fresh + from + by_n, w->p + from + len, w->n - from - len);
        size_t n = w->n - len + by_n;
        fresh[n] = '\0';
        work_free(w);
        *w = (struct work){fresh, n};
}

static struct work work_of(const char *p, size_t n)
{
        struct work w = {malloc(n + 1), n};
        if (!w.p)
                str_no_memory();
        memcpy(w.p, p, n);
        w.p[n] = '\0';
        return w;
}

/* last_before(uses, at, field, before): the use that begins last, in front of ${before}. */
static const struct custody_use *last_before(const struct custody_uses *u, enum custody_at at,
                                             size_t field, size_t before)
{
        const struct custody_use *found = NULL;
        for (size_t i = 0; i < u->n; i++) {
                const struct custody_use *e = &u->list[i];
                bool is_here = e->at == at && e->kind != CUSTODY_SIGN && e->field == field;
                if (is_here && e->from < before && (!found || e->from > found->from))
                        found = e;
        }
        return found;
}

/* rewrite(w, uses, at, field, is_coded): all uses of one text. True when a value is in it now. */
static bool rewrite(struct work *w, const struct custody_uses *u, enum custody_at at, size_t field,
                    bool is_coded)
{
        bool is_secret = false;
        size_t before = SIZE_MAX;
        const struct custody_use *e;
        while ((e = last_before(u, at, field, before))) {
                before = e->from;
                if (e->kind == CUSTODY_DROP) {
                        splice_in(w, e->from, e->len, "", 0);
                        continue;
                }
                is_secret = true;
                size_t n = strlen(e->placed);
                if (!is_coded) {
                        splice_in(w, e->from, e->len, e->placed, n);
                        continue;
                }
                struct buf coded = {0};
                buf_room(&coded, 3 * n); /* so that it never moves */
                coded.len = 0;
                custody_redo(e->placed, n, &coded);
                splice_in(w, e->from, e->len, (const char *)coded.data, coded.len);
                explicit_bzero(coded.data, coded.len);
                buf_free(&coded);
        }
        return is_secret;
}

static int write_fields(const struct head *from, const struct custody_uses *u, struct head *to,
                        struct err *err)
{
        for (size_t i = 0; i < from->fields_n; i++) {
                const struct field *f = &from->fields[i];
                const char *name = head_str(from, f->name);
                enum custody_at at = strcmp(name, "cookie") == 0 ? CUSTODY_COOKIE : CUSTODY_FIELD;
                const struct custody_use *e = last_before(u, at, i, SIZE_MAX);
                if (e && at == CUSTODY_FIELD && e->kind == CUSTODY_DROP)
                        continue;
                _cleanup_work_ struct work w = work_of(head_str(from, f->value), f->value_len);
                bool is_secret = rewrite(&w, u, at, i, false);
                if (is_secret && !head_is_value(w.p, w.n))
                        return err_set(err, E_PROTO, "a secret cannot stand in header %s", name);
                if (head_add(to, name, f->name_len, w.p, w.n, err) < 0)
                        return -1;
                to->fields[to->fields_n - 1].is_secret = is_secret;
        }
        return 0;
}

/* write_added(uses, to): what was injected, behind everything that came. */
static int write_added(const struct custody_uses *u, struct head *to, struct work *query,
                       bool *has_query, struct err *err)
{
        for (size_t i = 0; i < u->n; i++) {
                const struct custody_use *e = &u->list[i];
                if (e->field != SIZE_MAX || e->kind != CUSTODY_PLACE)
                        continue;
                const struct rule_secret_form *f = &e->secret->line.secret->forms[e->form];
                size_t n = strlen(e->placed);
                if (e->at == CUSTODY_QUERY) {
                        _cleanup_buf_ struct buf name = {0};
                        custody_redo(f->name, strlen(f->name), &name);
                        struct buf pair = {0};
                        buf_room(&pair, 3 * n + name.len + 2);
                        pair.len = 0;
                        if (query->n)
                                buf_put_str(&pair, "&");
                        buf_put(&pair, name.data, name.len);
                        buf_put_str(&pair, "=");
                        custody_redo(e->placed, n, &pair);
                        splice_in(query, query->n, 0, (const char *)pair.data, pair.len);
                        explicit_bzero(pair.data, pair.len);
                        buf_free(&pair);
                        *has_query = true;
                        continue;
                }
                const char *name = e->at == CUSTODY_COOKIE     ? "cookie"
                                   : f->form == RULE_AS_HEADER ? f->name
                                                               : "authorization";
                _cleanup_work_ struct work w = work_of(e->placed, n);
                if (e->at == CUSTODY_COOKIE) {
                        splice_in(&w, 0, 0, "=", 1);
                        splice_in(&w, 0, 0, f->name, strlen(f->name));
                }
                if (!head_is_value(w.p, w.n))
                        return err_set(err, E_PROTO, "a secret cannot stand in header %s", name);
                if (head_add(to, name, strlen(name), w.p, w.n, err) < 0)
                        return -1;
                to->fields[to->fields_n - 1].is_secret = true;
        }
        return 0;
}

static int write_target(const struct head *from, struct head *to, const struct work *path,
                        const struct work *query, bool has_query, struct err *err)
{
        if (from->is_options_star) {
                to->is_options_star = true;
                return path_canon_parse("/", 1, &to->path, err);
        }
        if (path_canon_parse(path->p, path->n, &to->path, err) < 0)
                return -1;
        to->target = head_put(to, path->p, path->n);
        to->target_len = (uint32_t)path->n;
        if (has_query) {
                to->query = head_put(to, query->p, query->n);
                to->query_len = (uint32_t)query->n;
        }
        return to->target && (!has_query || to->query)
                       ? 0
                       : err_set(err, E_PROTO, "the head of a message is too large");
}

/* placed_size(uses): how much longer it all gets, at the most. */
static size_t placed_size(const struct custody_uses *u)
{
        size_t n = 0;
        for (size_t i = 0; i < u->n; i++)
                n += u->list[i].placed ? 3 * strlen(u->list[i].placed) + 256 : 0;
        return n;
}

int custody_slots_write(const struct head *from, const struct custody_uses *u, struct head *to,
                        struct err *err)
{
        head_init(to);
        /* One piece of memory, which never moves: so no copy of a value stays behind. */
        to->has_secrets = true;
        if (!buf_room(&to->store, from->store.len + placed_size(u) + 64))
                return err_set(err, E_PROTO, "the head of a message is too large");
        to->store.len = 0;

        to->host = from->host;
        to->port = from->port;
        to->wants_continue = from->wants_continue;
        to->is_websocket = from->is_websocket;
        to->is_grpc = from->is_grpc;
        to->takes_trailers = from->takes_trailers;
        to->has_length = from->has_length;
        to->minor = from->minor;
        to->is_persistent = from->is_persistent;
        to->body = from->body;
        to->length = from->length;
        to->method = head_put(to, head_str(from, from->method), from->method_len);
        to->method_len = from->method_len;
        if (write_fields(from, u, to, err) < 0)
                return -1;

        bool has_query = from->query != 0;
        _cleanup_work_ struct work query = work_of(head_str(from, from->query), from->query_len);
        _cleanup_work_ struct work path = work_of(from->path.text ? from->path.text : "/",
                                                  from->path.text ? from->path.len : 1);
        to->is_target_secret = rewrite(&query, u, CUSTODY_QUERY, 0, true);
        if (rewrite(&path, u, CUSTODY_PATH, 0, true))
                to->is_target_secret = true;
        size_t query_n = query.n;
        if (write_added(u, to, &query, &has_query, err) < 0)
                return -1;
        if (query.n != query_n)
                to->is_target_secret = true;
        return write_target(from, to, &path, &query, has_query, err);
}
