/* scrub_tokens.c - see scrub_int.h: an answer in which tokens are born is held whole; the keeper
 * gets each token, and its placeholder goes on to the box. Called by scrub.c. Not a byte of such an
 * answer passes before every token in it is exchanged; when one cannot be, none does. */
#include "egress/scrub_int.h"

#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/capture.h"
#include "policy/cred_look.h"
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
        return lenders_place(s->what.host->text, s->what.path, s->what.query, s->what.query_len,
                             &s->lends) ||
               s->what.is_moved;
}

/* has_cookie(value): does it set one that is more than a flag? Which cookies are a session's cannot
 * be told from those of a load balancer, and no client of such a place needs either. */
static bool has_cookie(const char *value)
{
        const char *eq = strchr(value, '=');
        return eq && strcspn(eq + 1, ";") >= DOOR_SECRET_MIN;
}

/* drop_cookies(h): of all that the answer sets. */
static void drop_cookies(struct head *h)
{
        bool is_any = false;
        for (size_t i = 0; i < h->fields_n; i++)
                is_any |= strcmp(head_str(h, h->fields[i].name), "set-cookie") == 0 &&
                          has_cookie(head_str(h, h->fields[i].value));
        if (is_any)
                head_drop(h, "set-cookie");
}

/* field_lends(name, value, n): a token may come without a body: in a field of its own (OpenStack's
 * X-Subject-Token), in any other, or in the address of a redirection. */
static bool field_lends(const char *name, const char *value, size_t n)
{
        bool is_address = strcmp(name, "location") == 0 || strcmp(name, "link") == 0 ||
                          strcmp(name, "refresh") == 0 || strcmp(name, "content-location") == 0;
        if (n < DOOR_SECRET_MIN)
                return false;
        if (is_address)
                return capture_address(value, n);
        return lenders_field(name, strlen(name)) ? cred_look_is_made(value, n)
                                                 : cred_look(value, n) == CRED_SURE;
}

const char *scrub_tokens_head(struct head *h)
{
        drop_cookies(h);
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                const char *name = head_str(h, f->name);
                if (!field_lends(name, head_str(h, f->value), f->value_len))
                        continue;
                return strcmp(name, "location") == 0
                               ? "a place that gives out tokens sends one in a redirection"
                               : "a place that gives out tokens sends one in a field";
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
        buf_put_u32(&b, k->is_sure);
        s->call = keeper_ask(s->door, DOOR_CAPTURE, &b, on_captured, s);
        explicit_bzero(b.data, b.cap);
}

/* is_page(s): what says that nothing was lent is mostly a page for people, and passes when there is
 * nothing in it that looks like a credential. */
static bool is_page(const struct scrub *s)
{
        const uint8_t *p = s->whole.data;
        for (size_t i = 0; i < s->whole.len; i++) /* a text, and nothing that is packed */
                if ((p[i] < 0x20 && !strchr("\t\r\n", p[i])) || p[i] == 0)
                        return false;
        return s->head->status >= 300 && capture_is_clean((const char *)p, s->whole.len);
}

/* find(s): the tokens in it. False: it cannot pass. */
static bool find(struct scrub *s)
{
        struct capture *c = &s->tokens->found;
        struct err err = {0};
        unsigned how = (s->lends == LENDERS_ALL ? CAPTURE_ALL : 0u) |
                       (s->lends == LENDERS_ID ? CAPTURE_ID : 0u) |
                       (s->head->status >= 400 ? CAPTURE_ERROR : 0u);
        if (s->whole.len == 0 || capture_find(type_of(s->head), (const char *)s->whole.data,
                                              s->whole.len, how, c, &err) == 0)
                return true;
        capture_free(c);
        if (is_page(s))
                return true;
        /* Where a redirection leads is in its head, and so is that a place is out of order or says no:
         * that passes, without the page. */
        if (s->head->status >= 300) {
                wipe(&s->whole);
                return true;
        }
        char *words =
                str_fmt("the answer of a place that gives out tokens cannot be read: %s", err.text);
        scrub_fail(s, words);
        free(words);
        return false;
}

bool scrub_tokens_end(struct scrub *s)
{
        if (!s->tokens) {
                s->tokens = calloc(1, sizeof *s->tokens);
                if (!s->tokens)
                        str_no_memory();
                work_step(door_work(s->door), s->whole.len);
                if (!find(s))
                        return false;
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
