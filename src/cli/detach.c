/* detach.c - see detach.h. A key is one byte or one CSI sequence; a terminal writes each in one
 * piece, so a sequence that is cut is passed on as it is: an Escape key must not wait for its
 * successor. */
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
enum key { KEY_OTHER, KEY_PREFIX, KEY_LEAVE, KEY_YES, KEY_SILENT, KEY_PASTE_ON, KEY_PASTE_OFF };

struct csi {
        unsigned v[4];  /* parameters; v[i] is the first sub-parameter */
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
                        if (++field >= 4)
                                return false;
                } else if (p[i] == ':') {
                        sub++;
                        if (field == 1 && sub == 1)
                                c->event = 0;
                } else if (isdigit(p[i])) {
                        unsigned *to = sub == 0                 ? &c->v[field]
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

static enum key csi_key(const struct detach *d, const struct csi *c)
{
        if (c->final == '~' && c->v[0] == 200)
                return KEY_PASTE_ON;
        if (c->final == '~' && c->v[0] == 201)
                return KEY_PASTE_OFF;
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
        bool is_leave = code == 'd' && (has_mods(mods, 0) || has_mods(mods, 4));
        if ((is_prefix || is_leave) && c->event == 3)
                return KEY_SILENT; /* let go of */
        if (d->is_asked && d->is_armed && code == 'f' && (has_mods(mods, 0) || has_mods(mods, 4)))
                return c->event == 3 ? KEY_SILENT : KEY_YES;
        return is_prefix ? KEY_PREFIX : is_leave ? KEY_LEAVE : KEY_OTHER;
}

/* next(d, p, n, &key): length of the key at ${p}. */
static size_t next(const struct detach *d, const uint8_t *p, size_t n, enum key *key)
{
        *key = KEY_OTHER;
        if (p[0] == d->key)
                *key = KEY_PREFIX;
        else if (p[0] == 'd' || p[0] == 'D' || p[0] == ('d' & 0x1f))
                *key = KEY_LEAVE;
        else if (d->is_asked && (p[0] == 'f' || p[0] == 'F' || p[0] == ('f' & 0x1f)))
                *key = KEY_YES;
        if (p[0] != 0x1b || n < 3 || p[1] != '[')
                return 1;
        size_t len = 2;
        while (len < n && len < sizeof d->prefix && p[len] < 0x40 && p[len] >= 0x20)
                len++;
        if (len >= n || len >= sizeof d->prefix || p[len] < 0x40 || p[len] > 0x7e)
                return 1;
        struct csi c;
        if (csi_read(p, len + 1, &c))
                *key = csi_key(d, &c);
        return len + 1;
}

bool detach_feed(struct detach *d, const uint8_t *p, size_t n, struct buf *out)
{
        if (d->is_off) {
                buf_put(out, p, n);
                return false;
        }
        for (size_t at = 0; at < n;) {
                enum key key;
                size_t len = next(d, p + at, n - at, &key);
                const uint8_t *bytes = p + at;
                at += len;
                if (key == KEY_PASTE_ON || key == KEY_PASTE_OFF)
                        d->is_paste = key == KEY_PASTE_ON;
                bool is_plain = d->is_paste || (!d->is_armed && key != KEY_PREFIX);
                if (is_plain) {
                        buf_put(out, bytes, len);
                } else if (!d->is_armed) {
                        d->is_armed = true;
                        memcpy(d->prefix, bytes, len);
                        d->prefix_n = len;
                } else if (key == KEY_LEAVE) {
                        return true;
                } else if (key == KEY_YES) {
                        d->is_armed = d->is_asked = false;
                        d->is_answered = true;
                } else if (key != KEY_SILENT) {
                        d->is_armed = false;
                        buf_put(out, d->prefix, d->prefix_n);
                        if (key != KEY_PREFIX)
                                buf_put(out, bytes, len);
                }
        }
        return false;
}
