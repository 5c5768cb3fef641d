/* readings.c - see readings.h. Pure; bounded in readings and bytes, because the text comes from the
 * box. It must never leave out the text itself, folded. */
#include "policy/readings.h"

#include "base/str.h"
#include "policy/fold.h"
#include "policy/path_canon.h"
#include "policy/path_steps.h"

#include <stdlib.h>
#include <string.h>

enum {
        READ_PERCENT = 1, /* decode once more */
        READ_PARAMS = 2,  /* drop ;x before slashes are decoded */
        READ_SLASHES = 4, /* %2F and backslashes divide */
        READ_LATE = 8,    /* drop ;x after that */
        READ_TRIM = 16,   /* Windows: no dots, blanks, streams at the end of a segment */
        READ_MERGE = 32,  /* // is / */
        READ_CUT = 64,    /* what stands behind an encoded ? or # is no path */
        READ_HOST = 128,  /* //HOST/path is a URL */
        READ_SETS = 256,
};
_Static_assert(READ_SETS * 2 <= READINGS_MAX, "each may also lose the slash at its end");

struct readings {
        readings_visit *visit;
        void *ctx;
        size_t bytes_n, bytes_max;
        bool is_over; /* the visitor has seen enough, or the bounds were met */
        bool is_cut;
};

static void readings_show(struct readings *r, const char *s, size_t n)
{
        r->bytes_n += n;
        if (r->bytes_n > r->bytes_max)
                r->is_cut = r->is_over = true;
        else if (!r->visit(r->ctx, s, n))
                r->is_over = true;
}

static char *readings_room(size_t n)
{
        char *s = malloc(n + 1);
        if (!s)
                str_no_memory();
        return s;
}

/* readings_decoded(s, n, out): folded, and decoded once more, and folded again: a full-width % is a
 * % to whoever folds first. ${out} has room for FOLD_GROWTH * n; ${s} is used up. */
static size_t readings_decoded(char *s, size_t n, char *out)
{
        n = path_step_decode(s, n);
        n = fold_text(s, n, out);
        size_t less = path_step_decode(out, n);
        if (less == n)
                return n;
        char *again = readings_room(less);
        memcpy(again, out, less);
        n = fold_text(again, less, out);
        free(again);
        return n;
}

/* What of these can matter to a text: looked for where everything is decoded. */
static unsigned readings_apply(const char *s, size_t n, bool is_escaped)
{
        unsigned apply = is_escaped ? READ_PERCENT : 0;
        for (size_t i = 0; i < n; i++) {
                bool is_last = i + 1 == n || strchr("/\\;\001", s[i + 1]);
                if (s[i] == ';')
                        apply |= READ_PARAMS | READ_LATE | READ_MERGE;
                if (s[i] == PATH_ENC_SLASH || s[i] == '\\')
                        apply |= READ_SLASHES | READ_MERGE;
                if ((is_last && (s[i] == '.' || s[i] == ' ')) ||
                    (s[i] == ':' && i + 1 < n && s[i + 1] == '$'))
                        apply |= READ_TRIM | READ_MERGE;
                if (s[i] == '/' && i + 1 < n && s[i + 1] == '/')
                        apply |= READ_MERGE;
                if (s[i] == '?' || s[i] == '#')
                        apply |= READ_CUT;
        }
        if (n > 1 && strchr("/\\\001", s[1]))
                apply |= READ_HOST;
        return apply;
}

static size_t readings_cut(const char *s, size_t n)
{
        for (size_t i = 1; i < n; i++)
                if (s[i] == '?' || s[i] == '#')
                        return i;
        return n;
}

/* readings_host(s, n): without the host of //HOST/path. */
static size_t readings_host(char *s, size_t n)
{
        const char *path = n > 2 && s[1] == '/' ? memchr(s + 2, '/', n - 2) : NULL;
        size_t from = path ? (size_t)(path - s) : 0;
        memmove(s, s + from, n - from);
        return n - from;
}

/* readings_make(set, s, n): one reading, in place, of the folded or the decoded text. */
static size_t readings_make(unsigned set, char *s, size_t n)
{
        if (set & READ_CUT)
                n = readings_cut(s, n);
        if (set & READ_PARAMS)
                n = path_step_params(s, n);
        if (set & READ_SLASHES)
                path_step_slashes(s, n);
        if (set & READ_HOST)
                n = readings_host(s, n);
        if (set & READ_LATE)
                n = path_step_params(s, n);
        if (set & READ_TRIM)
                n = path_step_trim(s, n);
        if (set & READ_MERGE)
                n = path_step_merge(s, n);
        return n;
}

/* readings_show_path(r, s, n): also without the slash at its end. */
static void readings_show_path(struct readings *r, const char *s, size_t n)
{
        readings_show(r, s, n);
        if (n > 1 && s[n - 1] == '/' && !r->is_over)
                readings_show(r, s, n - 1);
}

bool readings_path(const char *plain, size_t len, readings_visit *visit, void *ctx)
{
        struct readings r = {.visit = visit, .ctx = ctx, .bytes_max = READINGS_BYTES_MAX};
        bool is_escaped = memchr(plain, '%', len) || !fold_is_plain(plain, len);
        if (!is_escaped && readings_apply(plain, len, false) == 0) { /* as most are */
                readings_show_path(&r, plain, len);
                return !r.is_cut;
        }
        size_t room = len * (is_escaped ? FOLD_GROWTH : 1);
        char *folded = readings_room(room), *decoded = readings_room(room);
        char *out = readings_room(room);
        size_t folded_n = fold_text(plain, len, folded);
        memcpy(out, plain, len);
        size_t decoded_n = readings_decoded(out, len, decoded);
        decoded[decoded_n] = 0;
        is_escaped = decoded_n != folded_n || memcmp(decoded, folded, folded_n) != 0;
        unsigned apply = readings_apply(decoded, decoded_n, is_escaped);
        for (unsigned set = 0; set < READ_SETS && !r.is_over; set++) {
                if (set & ~apply)
                        continue;
                const char *from = set & READ_PERCENT ? decoded : folded;
                size_t n = set & READ_PERCENT ? decoded_n : folded_n;
                memcpy(out, from, n);
                readings_show_path(&r, out, readings_make(set, out, n));
        }
        free(folded);
        free(decoded);
        free(out);
        return !r.is_cut;
}

static bool readings_keep(void *ctx, const char *text, size_t len)
{
        struct readings_kept *k = ctx;
        if (k->n == READINGS_MAX)
                return false;
        if (k->texts_cap - k->texts_len < len) {
                k->texts_cap = 2 * k->texts_cap + len;
                k->texts = realloc(k->texts, k->texts_cap);
                if (!k->texts)
                        str_no_memory();
        }
        if (len)
                memcpy(k->texts + k->texts_len, text, len);
        k->texts_len += len;
        k->ends[k->n++] = (uint32_t)k->texts_len;
        return true;
}

bool readings_path_kept(struct readings_kept *k, const char *plain, size_t len,
                        readings_visit *visit, void *ctx)
{
        if (!k)
                return readings_path(plain, len, visit, ctx);
        if (!k->is_made)
                k->is_whole = readings_path(plain, len, readings_keep, k);
        k->is_made = true;
        for (size_t i = 0, from = 0; i < k->n; from = k->ends[i++])
                if (!visit(ctx, k->texts ? k->texts + from : "", k->ends[i] - from))
                        return true;
        return k->is_whole;
}

void readings_kept_free(struct readings_kept *k)
{
        free(k->texts);
        *k = (struct readings_kept){0};
}

static void readings_show_trimmed(struct readings *r, const char *s, size_t n)
{
        readings_show(r, s, n);
        size_t from = 0, to = n;
        while (from < to && strchr(" \t\r\n", s[from]))
                from++;
        while (to > from && strchr(" \t\r\n", s[to - 1]))
                to--;
        if (to - from < n && !r->is_over)
                readings_show(r, s + from, to - from);
}

static bool readings_is_ascii(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if ((unsigned char)s[i] >= 0x80)
                        return false;
        return true;
}

bool readings_value(const char *value, size_t len, readings_visit *visit, void *ctx)
{
        struct readings r = {.visit = visit, .ctx = ctx, .bytes_max = SIZE_MAX};
        bool is_ascii = readings_is_ascii(value, len), has_escapes = memchr(value, '%', len);
        if (!has_escapes && fold_is_plain(value, len)) {
                readings_show_trimmed(&r, value, len);
                return true;
        }
        if (!is_ascii && len > READINGS_LONG)
                return false;
        /* Three bytes of an escape become one, and that at most six. */
        char *out = readings_room(len * (is_ascii ? 2 : FOLD_GROWTH)), *copy = readings_room(len);
        readings_show_trimmed(&r, out, fold_text(value, len, out));
        if (has_escapes && !r.is_over) {
                memcpy(copy, value, len);
                size_t n = readings_decoded(copy, len, out);
                for (size_t i = 0; i < n; i++)
                        if (out[i] == PATH_ENC_SLASH)
                                out[i] = '/';
                readings_show_trimmed(&r, out, n);
        }
        free(out);
        free(copy);
        return true;
}

/* name_fold(s, n, is_whole, is_flat, room, r): the name in one spelling: its words with one [ between
 * them, however many brackets stand there and around them (Rack, qs), and with the marks that PHP
 * makes one of. ${is_flat}: with _ for [, as PHP reads one that is never closed. True: it has that
 * reading too. */
static bool name_fold(const char *s, size_t n, bool is_whole, bool is_flat,
                      char room[READINGS_NAME], struct readings_name *r)
{
        char folded[READINGS_NAME_LOOK * FOLD_GROWTH];
        size_t at = 0, len = 0;
        bool is_between = false, is_closed = false, has_flat = false;
        n = fold_text(s, n, folded);
        while (at < n && folded[at] == ' ')
                at++;
        *r = (struct readings_name){.text = room, .is_open = !is_whole};
        for (; at < n; at++) {
                char c = folded[at];
                if (c == 0) { /* nothing behind it counts */
                        r->is_open = false;
                        break;
                }
                if ((c == '[' && !is_flat) || c == ']') {
                        has_flat |= c == '[' && len > 0;
                        is_closed |= c == ']' && has_flat;
                        is_between = len > 0;
                        continue;
                }
                if (len + is_between >= READINGS_NAME) {
                        r->is_open = true;
                        break;
                }
                if (is_between)
                        room[len++] = '[';
                is_between = false;
                room[len++] = (char)(c == ' ' || c == '.' || c == '[' ? '_' : c);
        }
        r->len = len;
        return has_flat && !is_closed;
}

/* name_known(s, n): how much of a decoded beginning cannot change, whatever follows: up to the first
 * % that may still become the beginning of an escape. */
static size_t name_known(const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (s[i] != '%')
                        continue;
                char one = i + 1 < n ? s[i + 1] : '%', two = i + 2 < n ? s[i + 2] : '%';
                bool is_begun = one == '%' || (one | 32) == 'u' || path_step_hex(one) >= 0;
                bool goes_on = one == '%' || two == '%' || path_step_hex(two) >= 0;
                if (is_begun && goes_on)
                        return i;
        }
        return n;
}

static void name_add(const char *s, size_t n, bool is_whole, struct readings_names *out)
{
        if (name_fold(s, n, is_whole, false, out->room[out->n], &out->at[out->n])) {
                out->n++;
                name_fold(s, n, is_whole, true, out->room[out->n], &out->at[out->n]);
        }
        out->n++;
}

void readings_names(const char *name, size_t len, bool is_whole, struct readings_names *out)
{
        char copy[READINGS_NAME_LOOK];
        out->n = 0;
        if (len > sizeof copy) {
                len = sizeof copy;
                is_whole = false;
        }
        name_add(name, len, is_whole, out);
        if (len == 0 || !memchr(name, '%', len))
                return;
        memcpy(copy, name, len);
        size_t n = path_step_decode(copy, len);
        name_add(copy, is_whole ? n : name_known(copy, n), is_whole, out);
}

void readings_want(const char *want, struct readings_names *out)
{
        size_t n = strlen(want);
        bool is_whole = n <= READINGS_NAME_LOOK;
        name_fold(want, is_whole ? n : READINGS_NAME_LOOK, is_whole, false, out->room[0],
                  &out->at[0]);
        out->n = 1;
}

/* What follows in further brackets is a part of it: Action[], user[role][0]. */
bool readings_is(const struct readings_name *name, const struct readings_name *want)
{
        bool is_part = want->len && name->len > want->len && name->text[want->len] == '[';
        bool may_be = name->len == want->len || is_part || (name->is_open && name->len < want->len);
        size_t n = name->len < want->len ? name->len : want->len;
        return may_be && (n == 0 || memcmp(name->text, want->text, n) == 0);
}

/* A name of plain letters begins with the same one. */
bool readings_may_begin(const char *name, size_t len, const struct readings_name *want)
{
        unsigned char c = len ? (unsigned char)name[0] : 0;
        if (want->len == 0 || c <= ' ' || c >= 0x80 || strchr("%+[]", c))
                return true;
        return (c >= 'A' && c <= 'Z' ? c | 32 : c == '.' ? '_' : c) == (unsigned char)want->text[0];
}

bool readings_name_is(const char *name, size_t len, const char *want)
{
        struct readings_names one = {0}, names = {0};
        readings_want(want, &one);
        readings_names(name, len, true, &names);
        for (size_t i = 0; i < names.n; i++)
                if (readings_is(&names.at[i], &one.at[0]))
                        return true;
        return false;
}

/* PHP makes one character of - _ . and blanks, other CGI programs of everything but letters and
 * digits. */
static char readings_header_char(char c)
{
        bool is_plain = (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
        return is_plain || c == 0 ? c : '-';
}

bool readings_header_is(const char *name, const char *want)
{
        for (;; name++, want++) {
                char a = readings_header_char(*name), b = readings_header_char(*want);
                if (a != b)
                        return false;
                if (!a)
                        return true;
        }
}
