/* capture.c - tokens that are born in the box's traffic (DOOR_CAPTURE): an answer brought one, the
 * box shall have a placeholder instead. Such a token is a secret like the others, with a line that
 * is made of the one with which it was got: the same places and where it came from. The oldest make
 * room when there are many. */
#include "keeper/keeper_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_LEN = 64 };

/* put_name(b, parent, name): GITHUB_TOKEN and "access_token" make GITHUB_TOKEN_ACCESS_TOKEN. */
static void put_name(struct buf *b, const struct rule_secret *parent, const char *name, size_t n)
{
        buf_put_fmt(b, "%.80s_", parent ? parent->name : "CAPTURED");
        for (size_t i = 0; i < n; i++) {
                char c = name[i];
                bool is_small = c >= 'a' && c <= 'z';
                bool is_kept = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
                buf_put_u8(b, (uint8_t)(is_small ? c - 32 : is_kept ? c : '_'));
        }
}

static void put_places(struct buf *b, const struct rule_secret *parent,
                       const struct host_name *host)
{
        bool has_host = false;
        size_t n = 0;
        for (size_t i = 0; parent && i < parent->places_n && n < RULE_PLACES_MAX - 1; i++, n++) {
                const struct rule_place *p = &parent->places[i];
                buf_put_str(b, n ? "," : "");
                rule_place_print(p, b);
                has_host |= p->host_kind == RULE_HOST_EXACT && host_name_equal(&p->host, host) &&
                            !p->has_path && p->port == RULE_PORT_USUAL;
        }
        if (!has_host)
                buf_put_fmt(b, "%s%s", n ? "," : "", host->text);
}

/* put_forms(b, parent, name): as the parent is shown, as a bearer, and under its own name in a
 * body: that is how a refresh token goes back. */
static void put_forms(struct buf *b, const struct rule_secret *parent, const char *name, size_t n)
{
        static const struct {
                enum rule_form form;
                const char *word;
        } kept[] = {{RULE_AS_HEADER, "header"},
                    {RULE_AS_QUERY, "query"},
                    {RULE_AS_COOKIE, "cookie"},
                    {RULE_AS_WS, "ws"}};
        size_t used = 4;
        buf_put_str(b, "bearer,basic");
        buf_put_fmt(b, ",json /%.*s,form %.*s", (int)n, name, (int)n, name);
        for (size_t i = 0; parent && i < parent->forms_n && used < RULE_FORMS_MAX; i++)
                for (size_t j = 0; j < sizeof kept / sizeof *kept; j++)
                        if (parent->forms[i].form == kept[j].form) {
                                buf_put_fmt(b, ",%s %s", kept[j].word, parent->forms[i].name);
                                used++;
                        }
}

/* make_line(parent, host, name, line, err): text that egress can parse like any other line. */
static int make_line(const struct rule_secret *parent, const struct host_name *host,
                     const char *name, size_t n, struct rule_line *line, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        size_t column;
        buf_put_str(&b, "secret ");
        put_name(&b, parent, name, n);
        buf_put_str(&b, " from env at ");
        put_places(&b, parent, host);
        buf_put_str(&b, " as ");
        put_forms(&b, parent, name, n);
        if (parent && parent->is_plain)
                buf_put_str(&b, " plain");
        const char *text = buf_cstr(&b);
        return rule_line_parse(text, strlen(text), line, &column, err) == 1 ? 0 : -1;
}

static void make_room(struct keeper *k)
{
        while (store_count(k->store, true) >= KEEPER_CAPTURED_MAX) {
                struct store_secret *oldest = NULL;
                for (struct store_secret *x = NULL; (x = store_each(k->store, x));)
                        if (x->is_captured && (!oldest || x->used_ms < oldest->used_ms))
                                oldest = x;
                oldest->state = STORE_EXPIRED;
                keeper_gone(k, oldest);
                store_remove(k->store, oldest);
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

static struct store_secret *keep(struct keeper *k, struct keeper_ask *a, const char *name,
                                 size_t name_n, const uint8_t *value, size_t n, struct err *err)
{
        const struct rule_secret *parent = a->secret ? a->secret->line.secret : NULL;
        struct rule_line line = {0};
        if (value_check("the token", value, n, err) < 0 ||
            host_name_parse(a->to.host, strlen(a->to.host), &a->host, err) < 0 ||
            make_line(parent, &a->host, name, name_n, &line, err) < 0)
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
        x->used_ms = keeper_now_ms();
        if (store_set(k->store, x, "", value, n, STORE_SHAPED, err) < 0) {
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

int capture_serve(struct keeper *k, struct frame *f)
{
        _cleanup_keeper_ask_ struct keeper_ask a = {.what = "capture"};
        _cleanup_free_ char *host = NULL;
        const char *name;
        const uint8_t *value;
        size_t name_n, n;
        struct err err = {0};
        if (cur_u32(&f->body, &a.id) < 0 || cur_u32(&f->body, &a.number) < 0 ||
            cur_lstr(&f->body, HOST_TEXT_MAX + 2, &host) < 0 ||
            keeper_get_text(&f->body, NAME_MAX_LEN, &name, &name_n) < 0 ||
            keeper_get_bytes(&f->body, DOOR_SECRET_MAX, &value, &n) < 0 || f->body.left)
                return -1;
        a.to = (struct door_toward){.method = "", .host = host, .path = ""};
        a.secret = a.number ? store_find(k->store, a.number) : NULL;
        if (k->is_all_revoked || (a.secret && a.secret->state != STORE_LIVE))
                return keeper_ask_no(k, &a, DOOR_NO_REVOKED,
                                     "the secret with which it was got was revoked");
        if ((a.number && !a.secret) || !is_name(name, name_n))
                return keeper_ask_no(k, &a, DOOR_NO_GRANT, "such a token is not kept");
        struct store_secret *known = store_holds(k->store, value, n);
        if (known) {
                known->used_ms = keeper_now_ms();
                return answer(k, a.id, known, value, n);
        }
        struct store_secret *x = keep(k, &a, name, name_n, value, n, &err);
        if (!x)
                return keeper_ask_no(k, &a, DOOR_NO_SLOT, "%s", err.text);
        a.secret = x;
        char *note = str_fmt("captured %.*s", (int)name_n, name);
        keeper_ask_yes(k, &a, note);
        free(note);
        if (keeper_grant(k, x) < 0)
                return -1;
        return answer(k, a.id, x, value, n);
}
