/* ignore_compile.c - a pattern becomes a row of steps. Called by ignore.c. What git would never
 * match (a bracket that is not closed, an unknown class, a lone backslash at the end) is no rule at
 * all. */
#include "workspace/ignore_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* The pattern in hand; a byte past its end is 0, which no pattern holds. */
struct pat {
        const char *s;
        size_t len, at;
};

static uint8_t byte_at(const struct pat *p, size_t i)
{
        return i < p->len ? (uint8_t)p->s[i] : 0;
}

static void step(struct ignore_rule *r, struct ignore_step s)
{
        r->steps[r->steps_n++] = s; /* at most two for each byte: there is room */
}

static void set_add(struct ignore_set *s, unsigned from, unsigned to)
{
        for (unsigned c = from; c <= to; c++)
                s->bits[c / 64] |= (uint64_t)1 << (c % 64);
}

/* A class by name, in ASCII as git has them. */
static bool set_class(struct ignore_set *s, const char *name, size_t len)
{
        static const struct {
                const char *name;
                uint8_t ranges[8]; /* pairs; 0 ends */
        } classes[] = {
                {"alnum", "09AZaz"},   {"alpha", "AZaz"},
                {"blank", "\t\t  "},   {"cntrl", "\1\37\177\177"},
                {"digit", "09"},       {"graph", "!~"},
                {"lower", "az"},       {"print", " ~"},
                {"punct", "!/:@[`{~"}, {"space", "\t\r  "},
                {"upper", "AZ"},       {"xdigit", "09AFaf"},
        };
        for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
                const uint8_t *r = classes[i].ranges;
                if (strlen(classes[i].name) != len || memcmp(classes[i].name, name, len) != 0)
                        continue;
                for (size_t k = 0; k < 8 && r[k]; k += 2)
                        set_add(s, r[k], r[k + 1]);
                return true;
        }
        return false;
}

/* class_in(p, s): "[:name:]" at the cursor. 1 taken, 0 it is none, -1 an unknown one. */
static int class_in(struct pat *p, struct ignore_set *s)
{
        size_t from = p->at + 2, to = from;
        while (byte_at(p, to) && byte_at(p, to) != ']')
                to++;
        if (!byte_at(p, to))
                return -1;
        if (to == from || byte_at(p, to - 1) != ':')
                return 0;
        if (!set_class(s, p->s + from, to - 1 - from))
                return -1;
        p->at = to + 1;
        return 1;
}

/* bracket(r, p): from "[" on; the cursor ends behind "]". */
static bool bracket(struct ignore_rule *r, struct pat *p)
{
        struct ignore_set set = {0};
        unsigned before = 0; /* what a "-" would begin a range with */
        p->at++;
        bool is_negated = byte_at(p, p->at) == '!' || byte_at(p, p->at) == '^';
        p->at += is_negated;
        for (bool is_first = true; is_first || byte_at(p, p->at) != ']'; is_first = false) {
                unsigned c = byte_at(p, p->at), next = byte_at(p, p->at + 1);
                if (!c)
                        return false;
                if (c == '[' && next == ':') {
                        int got = class_in(p, &set);
                        if (got < 0)
                                return false;
                        if (got > 0) {
                                before = 0;
                                continue;
                        }
                }
                if (c == '-' && before && next && next != ']') {
                        p->at++;
                        if (next == '\\' && !(next = byte_at(p, ++p->at)))
                                return false;
                        set_add(&set, before, next);
                        before = 0;
                } else {
                        if (c == '\\' && !(c = byte_at(p, ++p->at)))
                                return false;
                        set_add(&set, c, c);
                        before = c;
                }
                p->at++;
        }
        p->at++;
        for (size_t i = 0; i < 4 && is_negated; i++)
                set.bits[i] = ~set.bits[i];
        set.bits['/' / 64] &= ~((uint64_t)1 << ('/' % 64));
        if (r->sets_n > UINT16_MAX)
                return false;
        r->sets[r->sets_n] = set;
        step(r, (struct ignore_step){.op = IGNORE_SET, .set = (uint16_t)r->sets_n++});
        return true;
}

/* stars(r, p): one or more; two that stand alone between slashes cross directories. What comes
 * before the first special byte was taken off, so the beginning counts as a slash, as in git. */
static void stars(struct ignore_rule *r, struct pat *p)
{
        size_t from = p->at;
        while (byte_at(p, p->at) == '*')
                p->at++;
        uint8_t next = byte_at(p, p->at);
        bool is_alone =
                p->at - from >= 2 && (from == 0 || byte_at(p, from - 1) == '/') &&
                (next == 0 || next == '/' || (next == '\\' && byte_at(p, p->at + 1) == '/'));
        if (!is_alone || r->is_name_only) {
                step(r, (struct ignore_step){.op = IGNORE_RUN});
        } else if (next == '/') {
                step(r, (struct ignore_step){.op = IGNORE_OPEN});
                step(r, (struct ignore_step){.op = IGNORE_DIRS});
                p->at++;
        } else {
                step(r, (struct ignore_step){.op = IGNORE_ALL});
        }
}

bool ignore_compile(struct ignore_rule *r, const char *pattern, size_t len)
{
        struct pat p = {.s = pattern, .len = len};
        size_t sets_n = 0;
        for (size_t i = 0; i < len; i++)
                sets_n += pattern[i] == '[';
        r->steps = calloc(2 * len + 1, sizeof *r->steps);
        r->sets = calloc(sets_n + 1, sizeof *r->sets);
        if (!r->steps || !r->sets)
                str_no_memory();
        while (p.at < p.len) {
                uint8_t c = byte_at(&p, p.at);
                switch (c) {
                case '*':
                        stars(r, &p);
                        break;
                case '?':
                        step(r, (struct ignore_step){.op = IGNORE_ONE});
                        p.at++;
                        break;
                case '[':
                        if (!bracket(r, &p))
                                return false;
                        break;
                case '\\':
                        if (!(c = byte_at(&p, ++p.at)))
                                return false;
                        step(r, (struct ignore_step){.op = IGNORE_BYTE, .byte = c});
                        p.at++;
                        break;
                default:
                        step(r, (struct ignore_step){.op = IGNORE_BYTE, .byte = c});
                        p.at++;
                }
        }
        return true;
}
