/* scrub_tokens.c - see scrub_int.h: an answer in which tokens are born is held whole; the keeper
 * gets each token, and its placeholder goes on to the box. Called by scrub.c. Not a byte of such an
 * answer passes before every token in it is exchanged; when one cannot be, none does. */
#include "egress/scrub_int.h"

#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/capture.h"
#include "policy/lenders.h"
#include "policy/token_places.h"

#include <stdlib.h>
#include <string.h>

struct tokens {
        struct capture found;
        size_t at;   /* the next to be asked about */
        size_t done; /* of the body, written to ${out} */
        struct buf out;
};

static void wipe(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_free(b);
}

void scrub_tokens_free(struct scrub *s)
{
        if (s->tokens) {
                capture_free(&s->tokens->found);
                wipe(&s->tokens->out);
                free(s->tokens);
                s->tokens = NULL;
        }
        wipe(&s->whole);
        if (s->head)
                head_free(s->head);
        free(s->head);
        s->head = NULL;
}

static const char *type_of(const struct head *h)
{
        const struct field *f = head_find(h, "content-type");
        return f ? head_str(h, f->value) : "";
}

bool scrub_tokens_lent(struct scrub *s)
{
        const struct custody *c = custody_of(s->door);
        if (!custody_managed(c, s->what.host, s->what.port, NULL, NULL) &&
            !token_places(s->what.host))
                return false;
        return s->what.is_moved ||
               lenders_place(s->what.host->text, s->what.path, s->what.query, s->what.query_len);
}

/* Fields by which a token comes without a body: the fragment or query of a redirection, and
 * OpenStack's. */
const char *scrub_tokens_head(const struct head *h)
{
        for (size_t i = 0; i < h->fields_n; i++) {
                const char *name = head_str(h, h->fields[i].name);
                const char *value = head_str(h, h->fields[i].value);
                if (strcmp(name, "location") == 0 &&
                    (strcasestr(value, "access_token=") || strcasestr(value, "id_token=") ||
                     strcasestr(value, "refresh_token=")))
                        return "a place that gives out tokens sends one in a redirection";
                if (strcmp(name, "x-subject-token") == 0 || strcmp(name, "x-auth-token") == 0)
                        return "a place that gives out tokens sends one in a field";
        }
        return NULL;
}

void scrub_tokens_data(struct scrub *s, const void *p, size_t n)
{
        if (s->whole.len + n > CAPTURE_BODY_MAX)
                scrub_fail(s, "the answer of a place that gives out tokens is too long to be read");
        else
                scrub_hold(s, &s->whole, p, n);
}

size_t scrub_tokens_held(const struct scrub *s)
{
        return s->tokens ? sizeof *s->tokens + s->tokens->out.cap : 0;
}

static void ask(struct scrub *s);

static void on_captured(void *ctx, uint32_t type, struct cur *answer)
{
        struct scrub *s = ctx;
        struct tokens *t = s->tokens;
        char *placeholder = NULL;
        s->call = NULL;
        if (type != DOOR_CAPTURED || cur_lstr(answer, DOOR_SECRET_MAX, &placeholder) < 0 ||
            placeholder[0] == '\0') {
                free(placeholder);
                scrub_fail(s, "a token came with the answer, and the keeper did not take it");
                return;
        }
        const struct capture_token *k = &t->found.tokens[t->at++];
        if (!scrub_hold(s, &t->out, s->whole.data + t->done, k->start - t->done)) {
                free(placeholder);
                return;
        }
        capture_put(t->found.kind, placeholder, &t->out);
        t->done = k->start + k->len;
        free(placeholder);
        if (t->at < t->found.n)
                ask(s);
        else
                scrub_answered(s);
}

static void ask(struct scrub *s)
{
        const struct capture_token *k = &s->tokens->found.tokens[s->tokens->at];
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, s->what.number);
        buf_put_lstr(&b, s->what.host->text);
        buf_put_lstr(&b, k->name);
        buf_put_lstr(&b, k->value);
        s->call = keeper_ask(s->door, DOOR_CAPTURE, &b, on_captured, s);
        explicit_bzero(b.data, b.cap);
}

bool scrub_tokens_end(struct scrub *s)
{
        struct err err = {0};
        if (!s->tokens) {
                s->tokens = calloc(1, sizeof *s->tokens);
                if (!s->tokens)
                        str_no_memory();
                if (s->whole.len > 0 && capture_find(type_of(s->head), (const char *)s->whole.data,
                                                     s->whole.len, &s->tokens->found, &err) < 0) {
                        char *words = str_fmt("the answer of a place that gives out tokens cannot "
                                              "be read: %s",
                                              err.text);
                        scrub_fail(s, words);
                        free(words);
                        return false;
                }
                if (s->tokens->found.n > 0) {
                        ask(s);
                        return false;
                }
        }
        struct tokens *t = s->tokens;
        if (s->whole.len > t->done &&
            !scrub_hold(s, &t->out, s->whole.data + t->done, s->whole.len - t->done))
                return false;
        if (t->out.is_broken) {
                scrub_fail(s, "there is no memory for the answer");
                return false;
        }
        s->head->body = t->out.len ? HEAD_BODY_LENGTH : HEAD_BODY_STREAM;
        s->head->length = t->out.len;
        s->head->has_length = t->out.len > 0;
        s->ops->head(s->ctx, s->head, false);
        scrub_emit(s, t->out.data, t->out.len, false);
        wipe(&t->out);
        return !s->is_over;
}
