/* fingers.c - telling egress of a secret: its line, its placeholders, and how to know its value
 * again in what comes back, in every writing, without having it. */
#include "keeper/keeper_int.h"

#include "base/cleanup.h"
#include "keeper/ssh_sign.h"
#include "keeper/token.h"
#include "policy/cred_look.h"
#include "policy/secret_forms.h"

#include <stdlib.h>
#include <string.h>

/* writing(k, coding, value, n): that writing in k->scratch; false when it has none. */
static bool writing(struct keeper *k, int coding, const uint8_t *value, size_t n)
{
        keeper_scratch_wipe(k);
        k->scratch_n = 6 * n + 16; /* a quotation mark of HTML is six letters */
        return secret_form_put((enum secret_coding)coding, (const char *)value, n, &k->scratch) &&
               !k->scratch.is_broken && k->scratch.len >= DOOR_SECRET_MIN;
}

static void put_finger(struct keeper *k, struct buf *b, int coding, int inner)
{
        const uint8_t *p = k->scratch.data;
        size_t n = k->scratch.len;
        struct door_finger f = {
                .coding = (uint8_t)coding, .inner = (uint8_t)inner, .len = (uint32_t)n};
        const uint8_t *last = p + n - SECRET_HINT_BYTES;
        f.hint = secret_finger_hint(last);
        f.tail = secret_siphash(k->finger_key, last, SECRET_HINT_BYTES, true);
        f.whole = secret_siphash(k->finger_key, p, n,
                                 secret_form_ignores_case((enum secret_coding)coding));
        door_finger_put(b, &f);
}

/* put_nested(k, b, value, n): one kind inside another: Basic shows the value in base64, a tool's
 * result carries a file in base64, and whoever sends that back in a coding of its own sends base64
 * in that. */
static void put_nested(struct keeper *k, struct buf *b, const uint8_t *value, size_t n)
{
        for (int inner = SECRET_BASE64_0; inner <= SECRET_HEX; inner++) {
                struct buf text = {0};
                if (!secret_form_is_nested((enum secret_coding)inner, SECRET_HEX))
                        continue;
                buf_room(&text, 2 * n + 16); /* so that it never moves */
                text.len = 0;
                bool is_there =
                        secret_form_put((enum secret_coding)inner, (const char *)value, n, &text);
                for (int coding = SECRET_BASE64_0; is_there && coding <= SECRET_HEX; coding++)
                        if (writing(k, coding, text.data, text.len))
                                put_finger(k, b, coding, inner);
                explicit_bzero(text.data, text.cap);
                buf_free(&text);
        }
}

/* may_look(x, coding): which writings are looked for. Of what an answer called a token, none that is
 * cut: every JWT of a maker begins alike. */
static bool may_look(const struct store_secret *x, int coding)
{
        return !x->is_captured || (coding != SECRET_HEAD && coding != SECRET_TAIL);
}

int keeper_fingers(struct keeper *k, const struct store_secret *x)
{
        uint32_t at = 0;
        if (!k->is_egress_here)
                return 0;
        if (ssh_is_secret(x)) /* which is known by its public half */
                return x->state == STORE_LIVE ? ssh_grant(k, x) : 0;
        for (size_t i = 0; i < x->parts_n; i++) {
                const struct store_part *p = &x->parts[i];
                if (!p->placeholder)
                        continue; /* DOOR_GRANTED does not name it either */
                uint32_t part = at++;
                if (!p->value || p->is_open)
                        continue;
                /* Who lends words must not have them replaced in what other hosts send. */
                if (x->is_captured && !cred_look_is_made((const char *)p->value, p->len))
                        continue;
                struct buf *b = keeper_message(k, DOOR_FINGERS);
                buf_put_u32(b, x->number);
                buf_put_u32(b, part);
                buf_put_u32(b, p->is_local);
                for (int coding = 0; coding < SECRET_CODINGS; coding++)
                        if (may_look(x, coding) && writing(k, coding, p->value, p->len))
                                put_finger(k, b, coding, SECRET_RAW);
                put_nested(k, b, p->value, p->len);
                keeper_scratch_wipe(k);
                if (keeper_to_egress(k) < 0)
                        return -1;
        }
        return 0;
}

static void put_parts(struct buf *b, const struct store_secret *x)
{
        uint32_t n = 0;
        for (size_t i = 0; i < x->parts_n; i++)
                n += x->parts[i].placeholder != NULL;
        buf_put_u32(b, n);
        for (size_t i = 0; i < x->parts_n; i++)
                if (x->parts[i].placeholder) {
                        buf_put_lstr(b, x->parts[i].name);
                        buf_put_lstr(b, x->parts[i].placeholder);
                }
}

int keeper_grant(struct keeper *k, const struct store_secret *x)
{
        if (!k->is_egress_here)
                return 0;
        _cleanup_free_ char *line = token_line(k, x);
        struct buf *b = keeper_message(k, DOOR_GRANTED);
        buf_put_u32(b, x->number);
        buf_put_lstr(b, line ? line : x->line_text);
        put_parts(b, x);
        if (keeper_to_egress(k) < 0)
                return -1;
        return keeper_fingers(k, x);
}

int keeper_tell_ok(struct keeper *k, const struct store_secret *x, const char *provider,
                   const char *warning)
{
        struct buf *b = keeper_message(k, DOOR_SECRET_OK);
        buf_put_u32(b, x->number);
        buf_put_lstr(b, provider);
        buf_put_lstr(b, warning);
        put_parts(b, x);
        return keeper_to_supervisor(k);
}
