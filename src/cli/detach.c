/* detach.c - see detach.h. A key is one byte or one CSI sequence; a terminal writes each in one
 * piece, so a sequence that is cut is passed on as it is: an Escape key must not wait for its
 * successor.
 *
 * What a terminal says by itself is no key: answers to questions of the box (where the cursor is, what
 * the terminal is), focus, the mouse. It comes at any time, also between the prefix and its letter,
 * so it passes and changes nothing. */
#include "cli/detach.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

int detach_parse(const char *s, struct detach *d)
{
        *d = (struct detach){0};
        if (strcmp(s, "none") == 0) {
                d->is_off = true;
                return 0;
        }
        if (strncasecmp(s, "ctrl-", 5) == 0)
                s += 5;
        else if (s[0] == '^')
                s += 1;
        else
                return -1;
        int c = tolower((unsigned char)s[0]);
        if (!c || s[1] || !((c >= 'a' && c <= 'z') || strchr("@[\\]^_", c)))
                return -1;
        if (strchr("[mij", c))
                return -1; /* Escape, Enter, Tab and newline by another name */
        d->base = (uint32_t)c;
        d->key = (uint8_t)c & 0x1f;
        return 0;
}

/* What was typed, as far as we care. */
enum key {
        KEY_OTHER,
        KEY_PREFIX,
        KEY_LETTER,
        KEY_SILENT,
        KEY_PASTE_ON,
        KEY_PASTE_OFF,
        KEY_SIZE,
        KEY_REPORT, /* of the terminal itself: not typed */
};

enum { CSI_MAX = 256 };

struct csi {
        unsigned v[6];  /* parameters; v[i] is the first sub-parameter */
        unsigned shown; /* second sub-parameter of v[0]: the key with shift, if the terminal says */
        unsigned event; /* second sub-parameter of v[1]: 1 press, 2 repeat, 3 release */
        size_t n;
        char final;
};

static bool csi_read(const uint8_t *p, size_t n, struct csi *c)
{
        size_t field = 0, sub = 0;
        *c = (struct csi){.event = 1};
        for (size_t i = 2; i + 1 < n; i++) {
                if (p[i] == ';') {
                        sub = 0;
                        if (++field >= 6)
                                return false;
                } else if (p[i] == ':') {
                        sub++;
                        if (field == 1 && sub == 1)
                                c->event = 0;
                } else if (isdigit(p[i])) {
                        unsigned *to = sub == 0                 ? &c->v[field]
                                       : field == 0 && sub == 1 ? &c->shown
                                       : field == 1 && sub == 1 ? &c->event
                                                                : NULL;
                        if (to && *to < 1000000)
                                *to = *to * 10 + (p[i] - '0');
                } else {
                        return false;
                }
        }
        c->n = field + 1;
        c->final = (char)p[n - 1];
        return true;
}

/* Modifiers are 1 + shift 1, alt 2, ctrl 4, super 8 ...; caps lock 64 and num lock 128 do not
 * count. */
static bool has_mods(unsigned field, unsigned want)
{
        return ((field ? field - 1 : 0) & ~192u) == want;
}

/* csi_letter(c, code, mods): the letter that a key stands for, with or without Ctrl and Shift; 0 for
 * none. A terminal may name the key by what it is without Shift: "?" is Shift and "/" on most. */
static char csi_letter(const struct csi *c, unsigned code, unsigned mods)
{
        bool is_shifted = has_mods(mods, 1) || has_mods(mods, 5);
        if (!is_shifted && !has_mods(mods, 0) && !has_mods(mods, 4))
                return 0;
        if (c->shown == '?' || code == '?' || (code == '/' && is_shifted && !c->shown))
                return '?';
        return code < 0x80 && isalpha((int)code) ? (char)tolower((int)code) : 0;
}

/* is_report(c): by its last letter: place of the cursor, state, kind, size, mouse; focus has no
 * parameters. Keys end with u, ~ or a letter of their own. */
static bool is_report(const struct csi *c)
{
        if (c->final == 'I' || c->final == 'O')
                return c->n == 1 && c->v[0] == 0;
        return strchr("RnctxyMm", c->final) != NULL;
}

static enum key csi_key(const struct detach *d, const struct csi *c, char *letter)
{
        if (c->final == '~' && c->v[0] == 200)
                return KEY_PASTE_ON;
        if (c->final == '~' && c->v[0] == 201)
                return KEY_PASTE_OFF;
        if (c->final == 't' && c->v[0] == 48 && d->below)
                return KEY_SIZE;
        if (is_report(c))
                return KEY_REPORT;
        unsigned code, mods;
        if (c->final == 'u') {
                code = c->v[0];
                mods = c->v[1];
        } else if (c->final == '~' && c->v[0] == 27 && c->n == 3) {
                code = c->v[2];
                mods = c->v[1];
        } else {
                return KEY_OTHER;
        }
        if (code >= 57441 && code <= 57454)
                return KEY_SILENT; /* a modifier key by itself */
        bool is_prefix = code == d->base && has_mods(mods, 4);
        *letter = csi_letter(c, code, mods);
        if ((is_prefix || *letter) && c->event == 3)
                return KEY_SILENT; /* let go of */
        return is_prefix ? KEY_PREFIX : *letter ? KEY_LETTER : KEY_OTHER;
}

/* plain_letter(c): of a plain byte, also with Ctrl held down. */
static char plain_letter(uint8_t c)
{
        if (c == '?')
                return '?';
        if (c < 0x20)
                c |= 0x60;
        return isalpha(c) ? (char)tolower(c) : 0;
}

/* rest_n(d, p, n): how much of ${p} is the rest of a report that was cut, or as much of it as is
 * there. A string ends with BEL or ESC and a backslash; a control character that no string holds
 * (Enter, the prefix, the ESC of another sequence) ends it, too, and is looked at as a key. */
static size_t rest_n(struct detach *d, const uint8_t *p, size_t n)
{
        bool is_csi = d->rest == '[', was_escape = d->was_escape;
        size_t i = 0;
        d->was_escape = false;
        if (was_escape) { /* the ESC was the last byte of the piece before */
                d->rest = 0;
                return p[0] == '\\';
        }
        while (i < n && p[i] >= 0x20 && !(is_csi && p[i] >= 0x40))
                i++;
        if (i == n)
                return n;
        if (!is_csi && p[i] == 0x1b && i + 1 == n) {
                d->was_escape = true;
                return n;
        }
        d->rest = 0;
        if (is_csi)
                return i + (p[i] >= 0x40 && p[i] <= 0x7e);
        return p[i] == 0x07 ? i + 1 : p[i] == 0x1b && p[i + 1] == '\\' ? i + 2 : i;
}

/* string_n(d, p, n): length of an answer that is a string (OSC, DCS, APC), as far as it is there; 0
 * for none. Alt and a key begins the same, but nothing follows at once. */
static size_t string_n(struct detach *d, const uint8_t *p, size_t n)
{
        if (d->is_paste)
                return 0;
        bool is_osc = n > 2 && p[1] == ']' && isdigit(p[2]);
        bool is_dcs = n > 2 && p[1] == 'P' && (isdigit(p[2]) || strchr("!>$+", p[2]));
        bool is_apc = n > 2 && p[1] == '_' && p[2] == 'G';
        if (!is_osc && !is_dcs && !is_apc)
                return 0;
        d->rest = p[1];
        d->was_escape = false;
        size_t len = 2;
        while (len < n && d->rest)
                len += rest_n(d, p + len, n - len);
        return len;
}

/* next(d, p, n, &key, &letter, &csi): length of the key at ${p}. */
static size_t next(struct detach *d, const uint8_t *p, size_t n, enum key *key, char *letter,
                   struct csi *c)
{
        *letter = plain_letter(p[0]);
        *key = p[0] == d->key ? KEY_PREFIX : *letter ? KEY_LETTER : KEY_OTHER;
        if (p[0] != 0x1b)
                return 1;
        *key = KEY_OTHER;
        *letter = 0;
        size_t len = string_n(d, p, n);
        if (len)
                return *key = KEY_REPORT, len;
        if (n < 3 || p[1] != '[')
                return 1;
        if (n >= 6 && p[2] == 'M') /* the mouse of old: three bytes of any value */
                return *key = KEY_REPORT, 6;
        len = 2;
        while (len < n && len < CSI_MAX && p[len] < 0x40 && p[len] >= 0x20)
                len++;
        if (len == n && d->is_armed) { /* cut by a slow line: its rest is no letter of ours */
                d->rest = '[';
                return *key = KEY_REPORT, n;
        }
        if (len >= n || len >= CSI_MAX || p[len] < 0x40 || p[len] > 0x7e)
                return 1;
        /* One with a private mark (?, >, <) or $ in it is an answer or the mouse, never a key. */
        *key = csi_read(p, len + 1, c) ? csi_key(d, c, letter) : KEY_REPORT;
        if (*key == KEY_PREFIX && len + 1 > sizeof d->prefix)
                *key = KEY_OTHER;
        return len + 1;
}

/* armed(d, key, letter, bytes, len, out): the key behind the prefix. */
static enum detach_event armed(struct detach *d, enum key key, char letter, const uint8_t *bytes,
                               size_t len, struct buf *out)
{
        if (key == KEY_SILENT)
                return DETACH_NOTHING;
        d->is_armed = false;
        if (key == KEY_LETTER && letter == 'd')
                return DETACH_LEAVE;
        if (key == KEY_LETTER && d->takes && strchr(d->takes, letter)) {
                d->pressed = letter;
                return DETACH_LETTER;
        }
        buf_put(out, d->prefix, d->prefix_n);
        if (key != KEY_PREFIX)
                buf_put(out, bytes, len);
        return DETACH_OTHER;
}

size_t detach_feed(struct detach *d, const uint8_t *p, size_t n, struct buf *out,
                   enum detach_event *event, char *letter)
{
        *event = DETACH_NOTHING;
        for (size_t at = 0; at < n;) {
                enum key key;
                struct csi c = {0};
                if (d->rest) {
                        size_t part = rest_n(d, p + at, n - at);
                        buf_put(out, p + at, part);
                        at += part;
                        continue;
                }
                size_t len = next(d, p + at, n - at, &key, letter, &c);
                const uint8_t *bytes = p + at;
                at += len;
                if (key == KEY_PASTE_ON || key == KEY_PASTE_OFF)
                        d->is_paste = key == KEY_PASTE_ON;
                if (key == KEY_SIZE) {
                        unsigned rows = c.v[1] > d->below ? c.v[1] - d->below : 1;
                        buf_put_fmt(out, "\033[48;%u;%u;%u;%ut", rows, c.v[2], c.v[3], c.v[4]);
                } else if (key == KEY_REPORT) {
                        buf_put(out, bytes, len);
                } else if (key == KEY_SILENT && *letter && *letter == d->pressed) {
                        d->pressed = 0;
                } else if (d->is_off || d->is_paste || (!d->is_armed && key != KEY_PREFIX)) {
                        buf_put(out, bytes, len);
                } else if (!d->is_armed) {
                        d->is_armed = true;
                        memcpy(d->prefix, bytes, len);
                        d->prefix_n = len;
                        *event = DETACH_PREFIX;
                } else {
                        *event = armed(d, key, *letter, bytes, len, out);
                }
                if (*event != DETACH_NOTHING)
                        return at;
        }
        return n;
}
