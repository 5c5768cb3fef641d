/* custody_body_json.c - see custody_body_slots.h: JSON as it comes, byte by byte, with the way to
 * the value that is being read. It must never guess: what two programs could read in two ways (a
 * key twice on the way to a slot, text that is no JSON) is refused. */
#include "egress/custody_body_slots.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/body_int.h"
#include "egress/custody_body_way.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 128, KEY_MAX_N = 1024 };

enum state {
        S_VALUE,     /* a value must come */
        S_FIRST,     /* a value or the end of an array */
        S_FIRST_KEY, /* a key or the end of an object */
        S_KEY,       /* a key must come */
        S_COLON,
        S_AFTER, /* a comma or the end of the container */
        S_STRING,
        S_NUMBER,
        S_WORD,
        S_DONE,
};

struct custody_json {
        const struct custody_sink *sink;
        size_t longest;
        struct custody_way way;
        enum state state;
        bool is_object[DEPTH_MAX];
        size_t index[DEPTH_MAX]; /* of the element, in an array */
        size_t depth;

        /* the string that is being read */
        bool is_key, is_slot;
        size_t which;
        struct buf held; /* as written, without its quotes */
        unsigned escape; /* 0, or 1 after a backslash, then 2..5 within \u */
        uint16_t unit;   /* the \u that is being read */
        bool after_high; /* a low half must follow */
        uint8_t utf8_left;

        /* the number or word */
        char text[64];
        size_t text_n;
};

static int bad(struct err *err, const char *what)
{
        return err_set(err, E_PROTO,
                       "a secret's slot is declared in this JSON body, which holds %s", what);
}

struct custody_json *custody_json_new(const char *const *pointers, size_t n, size_t longest,
                                      const struct custody_sink *sink)
{
        struct custody_json *j = calloc(1, sizeof *j);
        if (!j)
                str_no_memory();
        j->sink = sink;
        j->longest = longest;
        custody_way_begin(&j->way, pointers, n);
        return j;
}

void custody_json_free(struct custody_json *j)
{
        if (!j)
                return;
        custody_way_end(&j->way);
        buf_free(&j->held);
        free(j);
}

/* --- the way --------------------------------------------------------------------------------- */

/* step(j, name, n, err): the member or element that begins, in the innermost container. */
static int step(struct custody_json *j, const char *name, size_t n, struct err *err)
{
        return custody_way_step(&j->way, j->depth - 1, name, n) ? 0 : bad(err, "a key twice");
}

static void leave(struct custody_json *j)
{
        custody_way_leave(&j->way, --j->depth);
        j->state = j->depth ? S_AFTER : S_DONE;
}

static int enter(struct custody_json *j, bool is_object, struct err *err)
{
        if (j->depth == DEPTH_MAX)
                return bad(err, "too deep a nesting");
        custody_way_enter(&j->way, j->depth);
        j->is_object[j->depth] = is_object;
        j->index[j->depth++] = 0;
        j->state = is_object ? S_FIRST_KEY : S_FIRST;
        return 0;
}

static int element(struct custody_json *j, struct err *err)
{
        char name[24];
        size_t at = 24, i = j->index[j->depth - 1];
        do
                name[--at] = (char)('0' + i % 10);
        while (i /= 10);
        return step(j, name + at, 24 - at, err);
}

/* --- strings --------------------------------------------------------------------------------- */

static void begin_string(struct custody_json *j, bool is_key)
{
        j->state = S_STRING;
        j->is_key = is_key;
        j->is_slot = !is_key && custody_way_is_slot(&j->way, j->depth, &j->which);
        j->held.len = 0;
        j->escape = 0;
        j->after_high = false;
        j->utf8_left = 0;
}

static int check_escape(struct custody_json *j, char c, struct err *err)
{
        if (j->escape == 1) {
                if (c == 'u') {
                        j->escape = 2;
                        j->unit = 0;
                        return 0;
                }
                if (!c || !strchr("\"\\/bfnrt", c) || j->after_high)
                        return bad(err, "a broken escape");
                j->escape = 0;
                return 0;
        }
        int v = c >= '0' && c <= '9'   ? c - '0'
                : c >= 'a' && c <= 'f' ? c - 'a' + 10
                : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                       : -1;
        if (v < 0)
                return bad(err, "a broken escape");
        j->unit = (uint16_t)(j->unit << 4 | v);
        if (++j->escape < 6)
                return 0;
        j->escape = 0;
        bool is_low = j->unit >= 0xdc00 && j->unit <= 0xdfff;
        if (is_low != j->after_high)
                return bad(err, "half of a character");
        j->after_high = j->unit >= 0xd800 && j->unit <= 0xdbff;
        return 0;
}

/* check_byte(j, c): UTF-8, as far as one byte tells. */
static int check_byte(struct custody_json *j, unsigned char c, struct err *err)
{
        if (j->after_high && c != '\\')
                return bad(err, "half of a character");
        if (j->utf8_left > 0) {
                j->utf8_left--;
                return (c & 0xc0) == 0x80 ? 0 : bad(err, "text that is not UTF-8");
        }
        if (c < 0x20)
                return bad(err, "a control character in a string");
        if (c < 0x80)
                return 0;
        j->utf8_left = c >= 0xf0 && c <= 0xf4  ? 3
                       : c >= 0xe0 && c < 0xf0 ? 2
                       : c >= 0xc2 && c < 0xe0 ? 1
                                               : 0;
        return j->utf8_left ? 0 : bad(err, "text that is not UTF-8");
}

static int end_key(struct custody_json *j, struct err *err)
{
        _cleanup_buf_ struct buf plain = {0};
        j->state = S_COLON;
        if (j->held.len > KEY_MAX_N)
                return step(j, NULL, SIZE_MAX, err); /* no pointer names it */
        if (j->held.len)
                body_json_unescape((const char *)j->held.data, j->held.len, &plain);
        return step(j, buf_cstr(&plain), plain.len, err);
}

/* end_string(j, &is_taken): behind its closing quote. */
static int end_string(struct custody_json *j, bool *is_taken, struct err *err)
{
        if (j->utf8_left || j->after_high)
                return bad(err, "half of a character");
        if (j->is_key)
                return end_key(j, err);
        j->state = j->depth ? S_AFTER : S_DONE;
        if (!j->is_slot)
                return 0;
        _cleanup_buf_ struct buf plain = {0};
        if (j->held.len)
                body_json_unescape((const char *)j->held.data, j->held.len, &plain);
        *is_taken = j->sink->slot(j->sink->ctx, j->which, buf_cstr(&plain), plain.len);
        if (!*is_taken)
                j->sink->pass(j->sink->ctx, j->held.data, j->held.len);
        return 0;
}

/* use_string(j, p, n, &used, &is_taken, err): more of a string, perhaps to its end. */
static int use_string(struct custody_json *j, const char *p, size_t n, size_t *used, bool *is_taken,
                      struct err *err)
{
        size_t at = 0;
        bool is_end = false;
        for (; at < n && !is_end; at++) {
                char c = p[at];
                int r = 0;
                if (j->escape)
                        r = check_escape(j, c, err);
                else if (c == '"')
                        is_end = true;
                else if (check_byte(j, (unsigned char)c, err) < 0)
                        r = -1;
                else
                        j->escape = c == '\\';
                if (r < 0)
                        return -1;
        }
        *used = at;
        size_t inner = is_end ? at - 1 : at;
        if (j->is_slot) {
                buf_put(&j->held, p, inner);
                if (j->held.len > 6 * j->longest) { /* no placeholder is so long */
                        j->sink->pass(j->sink->ctx, j->held.data, j->held.len);
                        j->is_slot = false;
                }
        } else {
                if (j->is_key && j->held.len <= KEY_MAX_N)
                        buf_put(&j->held, p, inner);
                j->sink->pass(j->sink->ctx, p, inner);
        }
        if (!is_end)
                return 0;
        if (end_string(j, is_taken, err) < 0)
                return -1;
        j->sink->pass(j->sink->ctx, "\"", *is_taken ? 0 : 1);
        return 0;
}

/* --- numbers and words ----------------------------------------------------------------------- */

static bool is_number(const char *p)
{
        p += *p == '-';
        size_t n = strspn(p, "0123456789");
        if (n == 0 || (n > 1 && *p == '0'))
                return false;
        p += n;
        if (*p == '.') {
                n = strspn(++p, "0123456789");
                if (n == 0)
                        return false;
                p += n;
        }
        if (*p == 'e' || *p == 'E') {
                p++;
                p += *p == '+' || *p == '-';
                n = strspn(p, "0123456789");
                if (n == 0)
                        return false;
                p += n;
        }
        return *p == '\0';
}

static int end_plain(struct custody_json *j, struct err *err)
{
        j->text[j->text_n] = '\0';
        bool is_ok = j->state == S_NUMBER
                             ? is_number(j->text)
                             : strcmp(j->text, "true") == 0 || strcmp(j->text, "false") == 0 ||
                                       strcmp(j->text, "null") == 0;
        j->state = j->depth ? S_AFTER : S_DONE;
        return is_ok ? 0 : bad(err, "something that is no value");
}

static int begin_value(struct custody_json *j, char c, struct err *err)
{
        if (j->depth && !j->is_object[j->depth - 1] && element(j, err) < 0)
                return -1;
        if (c == '{' || c == '[')
                return enter(j, c == '{', err);
        if (c == '"') {
                begin_string(j, false);
                return 0;
        }
        j->text_n = 0;
        j->text[j->text_n++] = c;
        j->state = c == '-' || (c >= '0' && c <= '9') ? S_NUMBER : S_WORD;
        if (j->state == S_WORD && (!c || !strchr("tfn", c)))
                return bad(err, "something that is no value");
        return 0;
}

/* use_mark(j, c): one byte outside of strings, numbers and words. */
static int use_mark(struct custody_json *j, char c, struct err *err)
{
        if (c == ' ' || c == '\t' || c == '\n' || c == '\r')
                return 0;
        bool is_object = j->depth && j->is_object[j->depth - 1];
        switch (j->state) {
        case S_FIRST:
                if (c == ']') {
                        leave(j);
                        return 0;
                }
                return begin_value(j, c, err);
        case S_VALUE:
                return begin_value(j, c, err);
        case S_FIRST_KEY:
                if (c == '}') {
                        leave(j);
                        return 0;
                }
                /* fall through */
        case S_KEY:
                if (c != '"')
                        return bad(err, "something that is no key");
                begin_string(j, true);
                return 0;
        case S_COLON:
                j->state = S_VALUE;
                return c == ':' ? 0 : bad(err, "no colon after a key");
        case S_AFTER:
                if (c == (is_object ? '}' : ']')) {
                        leave(j);
                        return 0;
                }
                j->index[j->depth - 1]++;
                j->state = is_object ? S_KEY : S_VALUE;
                return c == ',' ? 0 : bad(err, "no comma between values");
        case S_DONE:
                return bad(err, "bytes after its end");
        case S_STRING:
        case S_NUMBER:
        case S_WORD:
                break;
        }
        return bad(err, "something that makes no sense");
}

static bool is_plain_byte(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == '-' || c == '+' ||
               c == '.' || c == 'E';
}

ssize_t custody_json_feed(struct custody_json *j, const char *p, size_t n, struct err *err)
{
        size_t at = 0, run = 0; /* from ${run} on it was not passed on yet */
        bool is_taken = false;
        while (at < n && !is_taken) {
                if (j->state == S_STRING) {
                        size_t used;
                        j->sink->pass(j->sink->ctx, p + run, at - run);
                        if (use_string(j, p + at, n - at, &used, &is_taken, err) < 0)
                                return -1;
                        at += used;
                        run = at;
                } else if (j->state == S_NUMBER || j->state == S_WORD) {
                        if (!is_plain_byte(p[at])) {
                                if (end_plain(j, err) < 0)
                                        return -1;
                                continue;
                        }
                        if (j->text_n == sizeof j->text - 1)
                                return bad(err, "too long a number");
                        j->text[j->text_n++] = p[at++];
                } else if (use_mark(j, p[at], err) < 0) {
                        return -1;
                } else {
                        at++;
                }
        }
        j->sink->pass(j->sink->ctx, p + run, at - run);
        return (ssize_t)at;
}

int custody_json_end(struct custody_json *j, struct err *err)
{
        if ((j->state == S_NUMBER || j->state == S_WORD) && j->depth == 0 && end_plain(j, err) < 0)
                return -1;
        return j->state == S_DONE ? 0 : bad(err, "no end");
}
