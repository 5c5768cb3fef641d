/* place_basic.c - "Basic" and base64 of user:password, in which the placeholder is the user or the
 * password: decoded, exchanged, encoded again. A colon in a value that stands as the user would
 * move the border between the two, so it is refused (case S7). */
#include "keeper/place_int.h"

#include "keeper/token.h"
#include "wire/frame.h"

#include <openssl/evp.h>
#include <string.h>
#include <strings.h>

enum { BASIC_MAX = 40 << 10 };

static int b64_value(char c)
{
        return c >= 'A' && c <= 'Z'   ? c - 'A'
               : c >= 'a' && c <= 'z' ? c - 'a' + 26
               : c >= '0' && c <= '9' ? c - '0' + 52
               : c == '+' || c == '-' ? 62
               : c == '/' || c == '_' ? 63
                                      : -1;
}

/* decode(s, n, out): whole groups, padding or not; returns the length or -1. */
static long decode(const char *s, size_t n, char *out)
{
        while (n > 0 && s[n - 1] == '=')
                n--;
        size_t len = 0;
        uint32_t acc = 0;
        unsigned have = 0;
        for (size_t i = 0; i < n; i++) {
                int v = b64_value(s[i]);
                if (v < 0)
                        return -1;
                acc = (acc << 6 | (uint32_t)v) & 0xffff;
                have += 6;
                if (have >= 8) {
                        have -= 8;
                        out[len++] = (char)(acc >> have & 0xff);
                }
        }
        return have >= 6 ? -1 : (long)len;
}

/* answer(k, a, part): k->scratch is user:password; it leaves encoded. */
static int answer(struct keeper *k, struct keeper_ask *a, const struct store_part *p)
{
        size_t n = k->scratch.len, len = 4 * ((n + 2) / 3);
        struct buf *b = keeper_message(k, DOOR_PLACED);
        buf_put_u32(b, a->id);
        buf_put_u32(b, (uint32_t)(6 + len));
        buf_put_str(b, "Basic ");
        uint8_t *at = k->scratch.is_broken ? NULL : buf_room(b, len + 1);
        if (!at) {
                keeper_scratch_wipe(k);
                return keeper_ask_no(k, a, DOOR_NO_SLOT, "that is too long for basic");
        }
        EVP_EncodeBlock(at, k->scratch.data, (int)n);
        b->len--; /* its NUL */
        keeper_scratch_wipe(k);
        if (keeper_to_egress(k) < 0)
                return -1;
        return place_told(k, a, p);
}

static int no_user(struct keeper *k, struct keeper_ask *a)
{
        keeper_scratch_wipe(k);
        return keeper_ask_no(k, a, DOOR_NO_SLOT,
                             "%s has a colon in it, so it cannot be the user of basic",
                             a->secret->line.secret->name);
}

/* put_half(k, a, s, n, &part): the user or the password, exchanged if it is a
 * placeholder. */
static void put_half(struct keeper *k, struct keeper_ask *a, const char *s, size_t n,
                     const struct store_part **part)
{
        const struct store_part *p = store_part_shown(a->secret, s, n);
        bool may_show = p && p->value && (!token_is(a->secret) || strcmp(p->name, "access") == 0);
        if (may_show) {
                buf_put(&k->scratch, p->value, p->len);
                *part = p;
        } else {
                buf_put(&k->scratch, s, n);
        }
}

int place_basic(struct keeper *k, struct keeper_ask *a, const char *slot, size_t n)
{
        char text[BASIC_MAX];
        const struct store_part *user = NULL, *pass = NULL;
        long len = n > 6 && n < BASIC_MAX && strncasecmp(slot, "basic ", 6) == 0
                           ? decode(slot + 6, n - 6, text)
                           : -1;
        if (len < 0)
                return keeper_ask_no(k, a, DOOR_NO_SLOT, "what stands there is not basic");
        const char *colon = memchr(text, ':', (size_t)len);
        size_t user_n = colon ? (size_t)(colon - text) : (size_t)len;
        keeper_scratch_wipe(k);
        put_half(k, a, text, user_n, &user);
        if (user && memchr(user->value, ':', user->len))
                return no_user(k, a);
        if (colon) {
                buf_put_u8(&k->scratch, ':');
                put_half(k, a, colon + 1, (size_t)len - user_n - 1, &pass);
        }
        if (!user && !pass) {
                keeper_scratch_wipe(k);
                return keeper_ask_no(k, a, DOOR_NO_SLOT,
                                     "neither user nor password is the placeholder of %s",
                                     a->secret->line.secret->name);
        }
        return answer(k, a, user ? user : pass);
}

int place_basic_inject(struct keeper *k, struct keeper_ask *a, const struct store_part *p)
{
        const char *user = a->secret->line.secret->user;
        if (!p)
                return keeper_ask_no(k, a, DOOR_NO_VALUE, "there is no value for %s",
                                     a->secret->line.secret->name);
        keeper_scratch_wipe(k);
        /* What GitHub, GitLab and most others take for a token's user. */
        buf_put_str(&k->scratch, user ? user : "x-access-token");
        buf_put_u8(&k->scratch, ':');
        buf_put(&k->scratch, p->value, p->len);
        return answer(k, a, p);
}
