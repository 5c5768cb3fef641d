/* glob.c - see glob.h. Pure; called by the rule parser and by match.c for every request. Patterns
 * are kept decoded, so that a rule and a request are compared in one spelling. */
#include "policy/glob.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/fold.h"
#include "policy/path_canon.h"

#include <stdlib.h>
#include <string.h>

enum { ENC_SLASH = PATH_ENC_SLASH, STAR = '\002', STARS = '\003' };

void glob_free(struct glob *g)
{
        free(g->code);
        free(g->folded);
        memset(g, 0, sizeof *g);
}

bool glob_equal(const struct glob *a, const struct glob *b)
{
        return a->kind == b->kind && a->len == b->len &&
               (a->len == 0 || memcmp(a->code, b->code, a->len) == 0);
}

static int wrong(struct glob *g, struct err *err, const char *why)
{
        glob_free(g);
        return err_set(err, E_INPUT, "%s", why);
}

static bool has_dot_segment(const char *s, size_t len)
{
        for (size_t i = 0; i < len; i++) {
                size_t left = len - i - 1;
                if (s[i] != '/' && s[i] != ENC_SLASH)
                        continue;
                size_t dots = 0;
                while (dots < left && s[i + 1 + dots] == '.')
                        dots++;
                if ((dots == 1 || dots == 2) &&
                    (dots == left || s[i + 1 + dots] == '/' || s[i + 1 + dots] == ENC_SLASH))
                        return true;
        }
        return false;
}

/* glob_fold(g): stars and encoded slashes are control bytes, which folding leaves alone. */
static int glob_fold(struct glob *g)
{
        if (fold_is_plain(g->code, g->len))
                return 0;
        g->folded = malloc(g->len * FOLD_GROWTH + 1);
        if (!g->folded)
                str_no_memory();
        g->folded_len = fold_text(g->code, g->len, g->folded);
        return g->folded_len <= GLOB_MAX ? 0 : -1;
}

int glob_parse(enum glob_kind kind, const char *s, size_t len, struct glob *g, struct err *err)
{
        *g = (struct glob){.kind = kind};
        if (len > GLOB_MAX)
                return wrong(g, err, "a pattern has at most 1024 bytes");
        if (kind == GLOB_PATH && (len == 0 || s[0] != '/'))
                return wrong(g, err, "a path begins with /");
        g->code = malloc(len + 1);
        if (!g->code)
                str_no_memory();
        for (size_t i = 0; i < len;) {
                if (s[i] == '*') {
                        size_t stars = 1;
                        while (i + stars < len && s[i + stars] == '*')
                                stars++;
                        if (stars > 2)
                                return wrong(g, err, "* and ** are known, not three stars");
                        bool is_deep = stars == 2 && kind == GLOB_PATH;
                        g->code[g->len++] = is_deep ? STARS : STAR;
                        i += stars;
                        continue;
                }
                size_t n = 1;
                while (i + n < len && s[i + n] != '*')
                        n++;
                if (kind == GLOB_PATH) {
                        const char *why = NULL;
                        long got = path_canon_decode(s + i, n, g->code + g->len, &why);
                        if (got < 0)
                                return wrong(g, err, why);
                        g->len += (size_t)got;
                } else {
                        for (size_t k = 0; k < n; k++)
                                if ((unsigned char)s[i + k] < 0x20 || s[i + k] == 0x7f)
                                        return wrong(g, err,
                                                     "a pattern has no control characters in it");
                        memcpy(g->code + g->len, s + i, n);
                        g->len += n;
                }
                i += n;
        }
        if (kind == GLOB_PATH && has_dot_segment(g->code, g->len))
                return wrong(g, err, "this path has . or .. in it; write it straight");
        if (glob_fold(g) < 0)
                return wrong(g, err, "a pattern has at most 1024 bytes, also in small letters");
        return 0;
}

/* All places in the pattern where we could be are kept side by side, and each byte of the text
 * moves them on: never more than pattern times text steps. */
static bool glob_run(enum glob_kind kind, const char *code, size_t code_len, const char *text,
                     size_t len)
{
        /* Most patterns begin with plain text that already decides. */
        size_t head = 0;
        while (head < code_len && (unsigned char)code[head] > STARS) {
                if (head >= len || text[head] != code[head])
                        return false;
                head++;
        }
        if (head == code_len)
                return head == len;

        bool at[GLOB_MAX + 2] = {false};
        size_t last = head; /* the furthest place that is set */
        at[head] = true;
        for (size_t i = head;; i++) {
                /* A star may also stand for nothing. */
                for (size_t k = head; k <= last && k < code_len; k++)
                        if (at[k] && (code[k] == STAR || code[k] == STARS) && !at[k + 1]) {
                                at[k + 1] = true;
                                if (k + 1 > last)
                                        last = k + 1;
                        }
                if (i == len)
                        return at[code_len];
                char c = text[i];
                bool any = false;
                /* From the far end, so that a place moved on is not moved twice. */
                size_t new_last = head;
                for (size_t k = last + 1; k-- > head;) {
                        if (!at[k])
                                continue;
                        at[k] = false;
                        if (k == code_len)
                                continue;
                        char want = code[k];
                        size_t to = code_len + 1;
                        if (want == STARS || (want == STAR && (kind == GLOB_VALUE || c != '/')))
                                to = k;
                        else if (want == c || (want == ENC_SLASH && c == '/'))
                                to = k + 1;
                        if (to > code_len)
                                continue;
                        at[to] = true;
                        any = true;
                        if (to > new_last)
                                new_last = to;
                }
                if (!any)
                        return false;
                last = new_last;
        }
}

/* glob_piece(code, len): of plain text, up to the next star. */
static size_t glob_piece(const char *code, size_t len)
{
        size_t n = 0;
        while (n < len && (unsigned char)code[n] > STARS)
                n++;
        return n;
}

/* glob_value(code, code_len, text, len): a value has no segments, so a star is the same everywhere, and
 * the first place where a piece stands is as good as any other: one look at the text, however long. */
static bool glob_value(const char *code, size_t code_len, const char *text, size_t len)
{
        size_t n = glob_piece(code, code_len);
        if (n > len || memcmp(text, code, n) != 0)
                return false;
        text += n;
        len -= n;
        if (n == code_len)
                return len == 0;
        while (n < code_len) {
                size_t at = n + 1; /* behind a star */
                n = at + glob_piece(code + at, code_len - at);
                size_t piece = n - at;
                if (n == code_len)
                        return len >= piece && memcmp(text + len - piece, code + at, piece) == 0;
                const char *found = piece ? memmem(text, len, code + at, piece) : text;
                if (!found)
                        return false;
                len -= (size_t)(found - text) + piece;
                text = found + piece;
        }
        return true;
}

static bool glob_any(enum glob_kind kind, const char *code, size_t code_len, const char *text,
                     size_t len)
{
        return kind == GLOB_VALUE ? glob_value(code, code_len, len ? text : "", len)
                                  : glob_run(kind, code, code_len, text, len);
}

bool glob_matches(const struct glob *g, const char *text, size_t len)
{
        return glob_any(g->kind, g->code, g->len, text, len);
}

bool glob_matches_folded(const struct glob *g, const char *text, size_t len)
{
        if (!g->folded)
                return glob_matches(g, text, len);
        return glob_any(g->kind, g->folded, g->folded_len, text, len);
}

void glob_print(const struct glob *g, struct buf *b)
{
        for (size_t i = 0; i < g->len; i++) {
                char c = g->code[i];
                if (c == STAR)
                        buf_put_str(b, "*");
                else if (c == STARS)
                        buf_put_str(b, "**");
                else if (g->kind == GLOB_VALUE)
                        buf_put_u8(b, (uint8_t)c);
                else if (c == '*')
                        buf_put_str(b, "%2A");
                else if (c == ',')
                        buf_put_str(b, "%2C"); /* a bare one separates the places of a secret */
                else {
                        char out[3];
                        buf_put(b, out, path_canon_put_encoded((unsigned char)c, out));
                }
        }
}
