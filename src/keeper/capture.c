/* capture.c - tokens that are born in the box's traffic (DOOR_CAPTURE): an answer brought one, the
 * box shall have a placeholder instead. Such a token is a secret like the others, with a line that
 * is made of the one with which it was got: the same places and where it came from. Keys that AWS
 * lends come in three pieces, which are parts of one secret. The oldest make room when there are
 * many. Lines are made in capture_line.c. */
#include "keeper/keeper_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { NAME_MAX_LEN = 64 };

/* Pieces of one key that AWS lends, as its answers call them. */
static const char *const aws_pieces[][2] = {
        {"AccessKeyId", "id"}, {"SecretAccessKey", "key"}, {"SessionToken", "token"}};
enum { AWS_PIECES = sizeof aws_pieces / sizeof *aws_pieces };

/* part_of(name): under which name the store has it. */
static const char *part_of(const char *name, size_t n)
{
        for (size_t i = 0; i < AWS_PIECES; i++)
                if (strlen(aws_pieces[i][0]) == n && memcmp(aws_pieces[i][0], name, n) == 0)
                        return aws_pieces[i][1];
        return "";
}

/* half_key(k, parent, part): the key of AWS to which a piece belongs: the last one that was begun
 * with the same secret and lacks it. */
static struct store_secret *half_key(struct keeper *k, uint32_t parent, const char *part)
{
        struct store_secret *last = NULL;
        for (struct store_secret *x = NULL; (x = store_each(k->store, x));)
                if (x->is_captured && x->parent == parent && x->state == STORE_LIVE)
                        last = x;
        bool is_key = last && value_has_form(last, RULE_AS_SIGV4);
        return is_key && !store_part(last, part) ? last : NULL;
}

/* is_at(url, host): "https://host/..." */
static bool is_at(const char *url, const struct host_name *host)
{
        size_t n = strlen(host->text);
        return str_starts(url, "https://") && strncasecmp(url + 8, host->text, n) == 0 &&
               (url[8 + n] == '/' || url[8 + n] == ':' || !url[8 + n]);
}

/* belongs(x, host): is ${host} one of its places? A token that came with an answer has that host
 * among them. */
static bool belongs(const struct store_secret *x, const struct host_name *host)
{
        const struct rule_secret *s = x->line.secret;
        for (size_t i = 0; i < s->places_n; i++) {
                const struct rule_place *p = &s->places[i];
                if (p->host_kind == RULE_HOST_EXACT ? host_name_equal(&p->host, host)
                                                    : host_name_is_below(host, &p->host))
                        return true;
        }
        return false;
}

/* A token that was got without showing anything belongs to the secret whose place this is. */
static struct store_secret *of_host(struct keeper *k, const struct host_name *host)
{
        for (struct store_secret *x = NULL; (x = store_each(k->store, x));) {
                const struct rule_secret *s = x->line.secret;
                if (!x->is_captured && s->token && is_at(s->token, host))
                        return x;
                if (!x->is_captured && belongs(x, host))
                        return x;
        }
        return NULL;
}

static struct store_secret *oldest(struct keeper *k)
{
        struct store_secret *found = NULL;
        for (struct store_secret *x = NULL; (x = store_each(k->store, x));)
                if (x->is_captured && (!found || x->used_ms < found->used_ms))
                        found = x;
        return found;
}

static void make_room(struct keeper *k)
{
        while (store_count(k->store, true) >= KEEPER_CAPTURED_MAX) {
                struct store_secret *x = oldest(k);
                if (!x)
                        return;
                store_wipe(x, STORE_EXPIRED);
                keeper_gone(k, x);
                store_remove(k->store, x);
        }
}

static int answer(struct keeper *k, uint32_t id, const struct store_secret *x, const uint8_t *value,
                  size_t n)
{
        for (size_t i = 0; i < x->parts_n; i++) {
                const struct store_part *p = &x->parts[i];
                if (!p->value || !p->placeholder || p->len != n || memcmp(p->value, value, n) != 0)
                        continue;
                struct buf *b = keeper_message(k, DOOR_CAPTURED);
                buf_put_u32(b, id);
                buf_put_lstr(b, p->placeholder);
                return keeper_to_egress(k);
        }
        return -1;
}

/* begin(k, a, name): a secret without a value yet. */
static struct store_secret *begin(struct keeper *k, struct keeper_ask *a, const char *name,
                                  size_t name_n, bool is_aws, struct err *err)
{
        struct rule_line line = {0};
        if (capture_line(a->secret, &a->host, name, name_n, is_aws, &line, err) < 0)
                return NULL;
        make_room(k);
        struct store_secret *x =
                store_add(k->store, KEEPER_CAPTURED_FIRST + k->captured_n, &line, err);
        if (!x) {
                rule_line_free(&line);
                return NULL;
        }
        k->captured_n++;
        x->is_captured = true;
        x->parent = a->number;
        x->expires_ms = a->secret ? a->secret->expires_ms : 0;
        return x;
}

static struct store_secret *keep(struct keeper *k, struct keeper_ask *a, const char *name,
                                 size_t name_n, const uint8_t *value, size_t n, struct err *err)
{
        const char *part = part_of(name, name_n);
        struct store_secret *half = *part ? half_key(k, a->number, part) : NULL;
        if (value_check("the token", value, n, err) < 0)
                return NULL;
        struct store_secret *x = half ? half : begin(k, a, name, name_n, *part, err);
        if (!x)
                return NULL;
        x->used_ms = keeper_now_ms();
        if (store_set(k->store, x, part, value, n, STORE_SHAPED, err) < 0) {
                if (!half)
                        store_remove(k->store, x);
                return NULL;
        }
        return x;
}

static bool is_name(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (!((s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') ||
                      (s[i] >= '0' && s[i] <= '9') || s[i] == '_' || s[i] == '-' || s[i] == '.'))
                        return false;
        return n > 0;
}

/* known(k, a, value, n): who has it already. A token of another lender is not meant: this host may
 * lend the same text, and its placeholder must work here. */
static struct store_secret *known(struct keeper *k, const struct keeper_ask *a,
                                  const uint8_t *value, size_t n)
{
        struct store_secret *x = NULL;
        while ((x = store_holds_next(k->store, x, value, n)))
                if (!x->is_captured || belongs(x, &a->host))
                        return x;
        return NULL;
}

/* again(k, a, x, value, n, is_sure): it is known. What was guessed may be certain by now. */
static int again(struct keeper *k, struct keeper_ask *a, struct store_secret *x,
                 const uint8_t *value, size_t n, bool is_sure)
{
        x->used_ms = keeper_now_ms();
        a->secret = x;
        keeper_ask_yes(k, a, "a token that is known already");
        if (is_sure && store_local(x, value, n, false) && keeper_fingers(k, x) < 0)
                return -1;
        return answer(k, a->id, x, value, n);
}

int capture_serve(struct keeper *k, struct frame *f)
{
        _cleanup_keeper_ask_ struct keeper_ask a = {.what = "capture"};
        _cleanup_free_ char *host = NULL;
        const char *name;
        const uint8_t *value;
        size_t name_n, n;
        uint32_t is_sure;
        struct err err = {0};
        if (cur_u32(&f->body, &a.id) < 0 || cur_u32(&f->body, &a.number) < 0 ||
            cur_lstr(&f->body, HOST_TEXT_MAX + 2, &host) < 0 ||
            keeper_get_text(&f->body, NAME_MAX_LEN, &name, &name_n) < 0 ||
            keeper_get_bytes(&f->body, DOOR_SECRET_MAX, &value, &n) < 0 ||
            cur_u32(&f->body, &is_sure) < 0 || f->body.left)
                return -1;
        a.to = (struct door_toward){.method = "", .host = host, .path = ""};
        if (host_name_parse(host, strlen(host), &a.host, &err) < 0)
                return keeper_ask_no(k, &a, DOOR_NO_GRANT, "%s", err.text);
        a.secret = a.number ? store_find(k->store, a.number) : of_host(k, &a.host);
        if (a.secret)
                a.number = a.secret->is_captured ? a.secret->parent : a.secret->number;
        if (k->is_all_revoked || (a.secret && a.secret->state != STORE_LIVE))
                return keeper_ask_no(k, &a, DOOR_NO_REVOKED,
                                     "the secret with which it was got was revoked");
        if ((a.number && !a.secret) || !is_name(name, name_n))
                return keeper_ask_no(k, &a, DOOR_NO_GRANT, "such a token is not kept");
        struct store_secret *x = known(k, &a, value, n);
        if (x)
                return again(k, &a, x, value, n, is_sure);
        x = keep(k, &a, name, name_n, value, n, &err);
        if (!x)
                return keeper_ask_no(k, &a, DOOR_NO_SLOT, "%s", err.text);
        store_local(x, value, n, !is_sure);
        a.secret = x;
        char *note = str_fmt("captured %.*s", (int)name_n, name);
        keeper_ask_yes(k, &a, note);
        free(note);
        if (keeper_grant(k, x) < 0)
                return -1;
        return answer(k, a.id, x, value, n);
}
