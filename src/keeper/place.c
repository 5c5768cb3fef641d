/* place.c - a placeholder in its slot becomes the value (DOOR_PLACE): judged by serve_ask.c, put
 * together here. What stands in the slot must be the placeholder and nothing else, but for the word
 * of a scheme before it; so nobody can ask for a value in the middle of a text of his choice. */
#include "keeper/place_int.h"

#include "base/err.h"
#include "keeper/token.h"
#include "wire/frame.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* With the longest value behind it the longest slot still fits one message. */
enum { SLOT_MAX = 40 << 10, SCHEME_MAX = 24 };

/* How each form's slot is read. A secret that is exchanged for tokens shows those as bearers, and
 * to git as the password of basic. */
enum how { NEVER, BEARER, BASIC, SCHEME, WHOLE, SEGMENT, TOKEN };
static const struct {
        const char *word;
        enum how how;
        const char *injected; /* what comes before the value; NULL: it cannot be injected */
} forms[] = {
        [RULE_AS_BEARER] = {"bearer", BEARER, "Bearer "},
        [RULE_AS_BASIC] = {"basic", BASIC, ""},
        [RULE_AS_HEADER] = {"header", SCHEME, ""},
        [RULE_AS_QUERY] = {"query", WHOLE, ""},
        [RULE_AS_PATH] = {"path", SEGMENT, NULL},
        [RULE_AS_COOKIE] = {"cookie", WHOLE, ""},
        [RULE_AS_JSON] = {"json", SCHEME, NULL},
        [RULE_AS_FORM] = {"form", WHOLE, NULL},
        [RULE_AS_WS] = {"ws", SCHEME, NULL},
        [RULE_AS_SIGV4] = {"sigv4", NEVER, NULL},
        [RULE_AS_HMAC] = {"hmac", NEVER, NULL},
        [RULE_AS_GCP] = {"gcp", TOKEN, "Bearer "},
        [RULE_AS_GITHUB_APP] = {"github-app", TOKEN, "Bearer "},
        [RULE_AS_OAUTH] = {"oauth", TOKEN, "Bearer "},
        [RULE_AS_SSH] = {"ssh", NEVER, NULL},
};

static unsigned placed_forms(void)
{
        unsigned set = 0;
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++)
                set |= forms[i].how != NEVER ? 1u << i : 0;
        return set;
}

static bool is_letter(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '-' || c == '_';
}

/* scheme_len(s, n): of "Bearer " before what follows it, or 0. */
static size_t scheme_len(const char *s, size_t n)
{
        size_t i = 0;
        while (i < n && i <= SCHEME_MAX && is_letter(s[i]))
                i++;
        return i > 0 && i <= SCHEME_MAX && i < n && s[i] == ' ' ? i + 1 : 0;
}

static bool is_bearer_scheme(const char *s, size_t n)
{
        return (n == 7 && strncasecmp(s, "bearer ", 7) == 0) ||
               (n == 6 && strncasecmp(s, "token ", 6) == 0);
}

static int no_slot(struct keeper *k, struct keeper_ask *a)
{
        return keeper_ask_no(k, a, DOOR_NO_SLOT,
                             "what stands there is not the placeholder of %s alone",
                             a->secret->line.secret->name);
}

const struct store_part *place_injected_part(const struct store_secret *x)
{
        const struct store_part *p = store_part(x, "");
        return p ? p : store_part(x, "access");
}

/* can_stand(form, part): are all its characters possible there? */
static bool can_stand(enum rule_form form, const struct store_part *p)
{
        return form != RULE_AS_COOKIE || strcspn((const char *)p->value, "\" ,;\\") == p->len;
}

/* place(k, a, before, n, part): the answer: what stood before the placeholder, then the value. */
static int place(struct keeper *k, struct keeper_ask *a, const char *before, size_t n,
                 const struct store_part *p)
{
        if (!p || !p->value)
                return keeper_ask_no(k, a, DOOR_NO_VALUE, "there is no value for %s",
                                     a->secret->line.secret->name);
        if (token_is(a->secret) && strcmp(p->name, "access") != 0)
                return keeper_ask_no(k, a, DOOR_NO_GRANT,
                                     "of %s only the access token is ever shown",
                                     a->secret->line.secret->name);
        if (!can_stand(a->form->form, p))
                return keeper_ask_no(k, a, DOOR_NO_SLOT,
                                     "%s has characters that no cookie can have",
                                     a->secret->line.secret->name);
        struct buf *b = keeper_message(k, DOOR_PLACED);
        buf_put_u32(b, a->id);
        buf_put_u32(b, (uint32_t)(n + p->len));
        buf_put(b, before, n);
        buf_put(b, p->value, p->len);
        if (keeper_to_egress(k) < 0)
                return -1;
        return place_told(k, a, p);
}

int place_told(struct keeper *k, struct keeper_ask *a, const struct store_part *p)
{
        char note[256];
        snprintf(note, sizeof note, "%s%s%s as %s%s%s", a->is_injected ? "injected" : "placed",
                 *p->name ? " " : "", p->name, forms[a->form->form].word, a->form->name ? " " : "",
                 a->form->name ? a->form->name : "");
        keeper_ask_yes(k, a, note);
        return 0;
}

static int inject(struct keeper *k, struct keeper_ask *a)
{
        const struct store_part *p = place_injected_part(a->secret);
        if (!a->secret->line.secret->is_injected)
                return keeper_ask_no(k, a, DOOR_NO_GRANT,
                                     "the line of %s does not say \"inject\", so it is shown only "
                                     "where its placeholder stands",
                                     a->secret->line.secret->name);
        a->is_injected = true;
        const char *before = forms[a->form->form].injected;
        if (!before)
                return keeper_ask_no(k, a, DOOR_NO_SLOT, "nothing can be injected there");
        if (forms[a->form->form].how == BASIC)
                return place_basic_inject(k, a, p);
        return place(k, a, before, strlen(before), p);
}

/* with_scheme(k, a, s, n, is_bearer): "word PLACEHOLDER" or, unless the form wants the word, the
 * placeholder alone. */
static int with_scheme(struct keeper *k, struct keeper_ask *a, const char *s, size_t n,
                       bool is_bearer)
{
        size_t skip = scheme_len(s, n);
        const struct store_part *p = store_part_shown(a->secret, s + skip, n - skip);
        if (!p || (is_bearer && !is_bearer_scheme(s, skip)))
                return no_slot(k, a);
        return place(k, a, s, skip, p);
}

/* in_segment(k, a, s, n): the placeholder ends the segment ("bot123:abc"), and is not in what
 * stands before it. */
static int in_segment(struct keeper *k, struct keeper_ask *a, const char *s, size_t n)
{
        for (size_t i = 0; i < a->secret->parts_n; i++) {
                const struct store_part *p = &a->secret->parts[i];
                size_t len = p->placeholder ? strlen(p->placeholder) : 0;
                if (!len || len > n || memcmp(s + n - len, p->placeholder, len) != 0)
                        continue;
                if (memmem(s, n - 1, p->placeholder, len))
                        break;
                return place(k, a, s, n - len, p);
        }
        return no_slot(k, a);
}

/* has_token(k, a, f, body): a secret that is exchanged for tokens has a fresh one. False: it is
 * being fetched and the question will come again, or it was refused. */
static bool has_token(struct keeper *k, struct keeper_ask *a, const struct frame *f,
                      struct cur body)
{
        struct err err = {0};
        if (!token_is(a->secret))
                return true;
        enum token_state_now now = token_want(k, a->secret, f->type, body, place_serve, &err);
        if (now == TOKEN_FAILED)
                keeper_ask_no(k, a, DOOR_NO_VALUE, "%s", err.text);
        return now == TOKEN_FRESH;
}

int place_serve(struct keeper *k, struct frame *f)
{
        struct cur body = f->body;
        _cleanup_keeper_ask_ struct keeper_ask a = {.what = "place"};
        const char *slot;
        size_t n;
        if (keeper_ask_get(&f->body, &a) < 0 ||
            keeper_get_text(&f->body, FRAME_INLINE_MAX, &slot, &n) < 0 || f->body.left)
                return -1;
        if (!keeper_ask_judge(k, &a, placed_forms()))
                return 0;
        if (n > SLOT_MAX)
                return no_slot(k, &a);
        if (!has_token(k, &a, f, body))
                return 0;
        if (n == 0)
                return inject(k, &a);
        const struct store_part *p;
        switch (forms[a.form->form].how) {
        case BASIC:
                return place_basic(k, &a, slot, n);
        case BEARER:
                return with_scheme(k, &a, slot, n, true);
        case SCHEME:
                return with_scheme(k, &a, slot, n, false);
        case TOKEN:
                return strncasecmp(slot, "basic ", n < 6 ? n : 6) == 0
                               ? place_basic(k, &a, slot, n)
                               : with_scheme(k, &a, slot, n, true);
        case SEGMENT:
                return in_segment(k, &a, slot, n);
        case WHOLE:
                p = store_part_shown(a.secret, slot, n);
                return p ? place(k, &a, "", 0, p) : no_slot(k, &a);
        case NEVER:
                break;
        }
        return no_slot(k, &a);
}
