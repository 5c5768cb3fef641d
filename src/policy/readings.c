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
        READ_SETS = 64,
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
                if ((is_last && (s[i] == '.' || s[i] == ' ')) || (s[i] == ':' && s[i + 1] == '$'))
                        apply |= READ_TRIM | READ_MERGE;
                if (s[i] == '/' && i + 1 < n && s[i + 1] == '/')
                        apply |= READ_MERGE;
        }
        return apply;
}

/* readings_make(set, s, n): one reading, in place, of the folded or the decoded text. */
static size_t readings_make(unsigned set, char *s, size_t n)
{
        if (set & READ_PARAMS)
                n = path_step_params(s, n);
        if (set & READ_SLASHES)
                path_step_slashes(s, n);
        if (set & READ_LATE)
                n = path_step_params(s, n);
        if (set & READ_TRIM)
                n = path_step_trim(s, n);
        if (set & READ_MERGE)
                n = path_step_merge(s, n);
        return n;
}

bool readings_path(const char *plain, size_t len, readings_visit *visit, void *ctx)
{
        struct readings r = {.visit = visit, .ctx = ctx, .bytes_max = READINGS_BYTES_MAX};
        bool is_escaped = memchr(plain, '%', len) || !fold_is_plain(plain, len);
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
                n = readings_make(set, out, n);
                readings_show(&r, out, n);
                if (n > 1 && out[n - 1] == '/' && !r.is_over)
                        readings_show(&r, out, n - 1);
        }
        free(folded);
        free(decoded);
        free(out);
        return !r.is_cut;
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

/* readings_name(s, n, out, is_cut): the name as PHP and its like keep it. */
static size_t readings_name(const char *s, size_t n, char *out, bool is_cut)
{
        n = fold_text(s, n, out);
        size_t from = 0, at = 0;
        while (from < n && out[from] == ' ')
                from++;
        for (size_t i = from; i < n && out[i]; i++) {
                if (is_cut && out[i] == '[' && i > from)
                        break;
                out[at++] = (char)(out[i] == ' ' || out[i] == '.' ? '_' : out[i]);
        }
        return at;
}

bool readings_name_is(const char *name, size_t len, const char *want)
{
        size_t want_len = strlen(want);
        if (len == want_len && memcmp(name, want, len) == 0)
                return true;
        char *a = readings_room((len + want_len) * FOLD_GROWTH), *b = a + len * FOLD_GROWTH;
        char *copy = readings_room(len);
        bool is_same = false;
        for (int k = 0; k < 4 && !is_same; k++) { /* with and without [...], decoded once more */
                bool is_cut = k & 1;
                memcpy(copy, name, len);
                size_t copy_n = k & 2 ? path_step_decode(copy, len) : len;
                size_t an = readings_name(copy, copy_n, a, is_cut);
                size_t bn = readings_name(want, want_len, b, false);
                is_same = an == bn && memcmp(a, b, an) == 0;
        }
        free(a);
        free(copy);
        return is_same;
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
