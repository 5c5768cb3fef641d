/* fields.c - see fields.h. Called by egress/body.c for bodies, by match.c for queries. It reads bytes
 * from the box and must neither write nor look outside them; each is looked at a bounded number of
 * times, however many names are asked for. */
#include "policy/fields.h"

#include "base/buf.h"
#include "base/str.h"
#include "policy/path_steps.h"
#include "policy/readings.h"

#include <stdlib.h>
#include <string.h>

enum {
        FIELDS_STEP = 16 << 10, /* bytes that are checked in one step */
        FIELDS_PAIRS = 64,      /* pairs that are read in one */
        FIELDS_COST = 64,       /* of a field, besides its name */
        FIELDS_GLANCE = 4,      /* of one that is hardly looked at */
};

/* How a field is found: under its own name as it stands; under those that servers take for it. Text
 * with ; in it is one field to the first and several to the second. */
enum { FIELDS_EXACT = 1, FIELDS_LOOSE = 2 };

struct fields_one {
        const char *name, *value;
        size_t name_len, value_len;
        uint32_t readings; /* the first of its names, and how many */
        uint8_t readings_n, found;
        bool is_coded, is_file;
};

struct fields_reading {
        uint32_t at; /* in texts */
        uint8_t len;
        bool is_open; /* only the beginning is known */
};

struct fields {
        const char *text;
        size_t len, checked, at; /* escapes were looked at; fields were read */
        bool is_split, is_plain, is_cut;
        struct fields_one *all;
        size_t n, cap;
        struct fields_reading *readings;
        size_t readings_n, readings_cap;
        struct buf texts;
        struct readings_names only[FIELDS_ONLY];
        size_t only_n;
};

struct fields *fields_new(void)
{
        struct fields *f = calloc(1, sizeof *f);
        if (!f)
                str_no_memory();
        f->is_plain = f->is_split = true;
        return f;
}

struct fields *fields_of(const char *text, size_t len)
{
        struct fields *f = fields_new();
        f->text = text;
        f->len = len;
        f->is_split = false;
        return f;
}

void fields_free(struct fields *f)
{
        if (!f)
                return;
        free(f->all);
        free(f->readings);
        buf_free(&f->texts);
        free(f);
}

void fields_only(struct fields *f, const char *const *names, size_t n)
{
        for (; f->only_n < n && f->only_n < FIELDS_ONLY; f->only_n++)
                readings_want(names[f->only_n], &f->only[f->only_n]);
        f->checked = f->len; /* it is no form, so its escapes are nobody's */
}

size_t fields_held(const struct fields *f)
{
        return sizeof *f + f->cap * sizeof *f->all + f->readings_cap * sizeof *f->readings +
               f->texts.cap;
}

size_t fields_more(void)
{
        return 2 * FIELDS_PAIRS *
               (sizeof(struct fields_one) +
                READINGS_NAMES * (sizeof(struct fields_reading) + READINGS_NAME));
}

bool fields_is_plain(const struct fields *f)
{
        return f->is_plain;
}

bool fields_is_cut(const struct fields *f)
{
        return f->is_cut;
}

/* --- reading ----------------------------------------------------------------------------------- */

static void *fields_grow(void *list, size_t n, size_t *cap, size_t size)
{
        if (n < *cap)
                return list;
        *cap = *cap ? *cap * 2 : 8;
        void *more = reallocarray(list, *cap, size);
        if (!more)
                str_no_memory();
        return more;
}

/* fields_decode(s, len, out): + is a space, %XX a byte; a broken escape stands as it is. */
static size_t fields_decode(const char *s, size_t len, char *out)
{
        size_t n = 0;
        for (size_t i = 0; i < len; i++) {
                char c = s[i] == '+' ? ' ' : s[i];
                int high = c == '%' && i + 2 < len ? path_step_hex(s[i + 1]) : -1;
                int low = high >= 0 ? path_step_hex(s[i + 2]) : -1;
                if (low >= 0) {
                        c = (char)(high * 16 + low);
                        i += 2;
                }
                out[n++] = c;
        }
        return n;
}

/* fields_names(one, names): of the beginning of its name alone, where they differ. */
static void fields_names(const struct fields_one *one, struct readings_names *names)
{
        char name[READINGS_NAME_LOOK];
        size_t most = sizeof name - sizeof ".filename";
        size_t part = one->name_len < most ? one->name_len : most;
        bool is_whole = part == one->name_len;
        if (one->is_coded)
                part = fields_decode(one->name, part, name);
        else
                memcpy(name, one->name, part);
        if (one->is_file && is_whole)
                part = (size_t)(stpcpy(name + part, ".filename") - name);
        readings_names(name, part, is_whole, names);
}

static void fields_put_readings(struct fields *f, struct fields_one *one)
{
        struct readings_names names;
        fields_names(one, &names);
        one->readings = (uint32_t)f->readings_n;
        one->readings_n = (uint8_t)names.n;
        for (size_t i = 0; i < names.n; i++) {
                const struct readings_name *r = &names.at[i];
                f->readings = fields_grow(f->readings, f->readings_n, &f->readings_cap,
                                          sizeof *f->readings);
                f->readings[f->readings_n++] = (struct fields_reading){.at = (uint32_t)f->texts.len,
                                                                       .len = (uint8_t)r->len,
                                                                       .is_open = r->is_open};
                buf_put(&f->texts, r->text, r->len);
        }
}

/* fields_is_read_as(one, want): has its name a reading that is ${want}? */
static bool fields_is_read_as(const struct fields_one *one, const struct readings_name *want)
{
        struct readings_names names;
        fields_names(one, &names);
        for (size_t i = 0; i < names.n; i++)
                if (readings_is(&names.at[i], want))
                        return true;
        return false;
}

static int fields_put(struct fields *f, struct fields_one one)
{
        if (f->n == FIELDS_MAX) {
                f->is_cut = true;
                return -1;
        }
        if (one.found & FIELDS_LOOSE)
                fields_put_readings(f, &one);
        f->all = fields_grow(f->all, f->n, &f->cap, sizeof *f->all);
        f->all[f->n++] = one;
        return 0;
}

int fields_add(struct fields *f, const char *name, size_t name_len, const char *value,
               size_t value_len, bool is_file)
{
        return fields_put(f, (struct fields_one){.name = name,
                                                 .name_len = name_len,
                                                 .value = value,
                                                 .value_len = value_len,
                                                 .found = FIELDS_EXACT | FIELDS_LOOSE,
                                                 .is_file = is_file});
}

/* fields_one_of(s, n, found): "name=value", or a name alone. */
static struct fields_one fields_one_of(const char *s, size_t n, unsigned found)
{
        const char *eq = n ? memchr(s, '=', n) : NULL;
        size_t name_n = eq ? (size_t)(eq - s) : n, at = eq ? name_n + 1 : n;
        return (struct fields_one){.name = s,
                                   .name_len = name_n,
                                   .value = s + at,
                                   .value_len = n - at,
                                   .found = (uint8_t)found,
                                   .is_coded = true};
}

/* fields_is_wanted(f, s, n): a glance at the first letter sorts out nearly all; the others are read
 * once, for all names. */
static bool fields_is_wanted(const struct fields *f, const char *s, size_t n)
{
        struct readings_names names;
        bool is_read = false;
        for (size_t i = 0; i < f->only_n; i++) {
                const struct readings_name *want = &f->only[i].at[0];
                if (!readings_may_begin(s, n, want))
                        continue;
                if (!is_read) {
                        struct fields_one one = fields_one_of(s, n, 0);
                        fields_names(&one, &names);
                        is_read = true;
                }
                for (size_t k = 0; k < names.n; k++)
                        if (readings_is(&names.at[k], want))
                                return true;
        }
        return f->only_n == 0;
}

static int fields_pair(struct fields *f, const char *s, size_t n, unsigned found)
{
        if (n == 0 || !fields_is_wanted(f, s, n))
                return 0;
        return fields_put(f, fields_one_of(s, n, found));
}

/* fields_split(f, s, n): what stands between two &; some take ; for one. */
static int fields_split(struct fields *f, const char *s, size_t n)
{
        if (n == 0 || !memchr(s, ';', n))
                return fields_pair(f, s, n, FIELDS_EXACT | FIELDS_LOOSE);
        f->is_plain = false;
        if (fields_pair(f, s, n, FIELDS_EXACT) < 0)
                return -1;
        for (size_t at = 0; at <= n;) {
                const char *stop = at < n ? memchr(s + at, ';', n - at) : NULL;
                size_t part = stop ? (size_t)(stop - s) - at : n - at;
                if (fields_pair(f, s + at, part, FIELDS_LOOSE) < 0)
                        return -1;
                at += part + 1;
        }
        return 0;
}

/* fields_check(f): is an escape of the next bytes broken? */
static size_t fields_check(struct fields *f)
{
        size_t end = f->len - f->checked < FIELDS_STEP ? f->len : f->checked + FIELDS_STEP;
        size_t from = f->checked;
        const char *p;
        while (f->checked < end && f->is_plain &&
               (p = memchr(f->text + f->checked, '%', end - f->checked))) {
                size_t left = f->len - (size_t)(p - f->text);
                f->is_plain = left > 2 && path_step_hex(p[1]) >= 0 && path_step_hex(p[2]) >= 0;
                f->checked = (size_t)(p - f->text) + 1;
        }
        f->checked = end;
        return end - from;
}

int fields_step(struct fields *f, size_t *used)
{
        *used = 0;
        if (f->is_cut)
                return -1;
        if (f->checked < f->len) {
                *used = fields_check(f);
                return 0;
        }
        size_t before = f->n;
        while (f->n - before < FIELDS_PAIRS && *used < FIELDS_STEP && !f->is_split) {
                const char *s = f->text + f->at;
                size_t left = f->len - f->at;
                const char *amp = left ? memchr(s, '&', left) : NULL;
                size_t n = amp ? (size_t)(amp - s) : left;
                *used += (f->only_n ? FIELDS_GLANCE : FIELDS_COST) +
                         (n < READINGS_NAME_LOOK ? n : READINGS_NAME_LOOK);
                if (fields_split(f, s, n) < 0)
                        return -1;
                f->at += n + 1;
                f->is_split = !amp;
        }
        return f->is_split;
}

/* --- looking up -------------------------------------------------------------------------------- */

/* fields_is_named(one, want): is that its name, decoded? */
static bool fields_is_named(const struct fields_one *one, const char *want)
{
        size_t want_n = strlen(want);
        const char *dot = ".filename";
        if (one->is_file) {
                size_t dot_n = strlen(dot);
                return want_n == one->name_len + dot_n &&
                       memcmp(want + one->name_len, dot, dot_n) == 0 &&
                       memcmp(want, one->name, one->name_len) == 0;
        }
        if (!one->is_coded)
                return want_n == one->name_len && memcmp(want, one->name, want_n) == 0;
        if (one->name_len < want_n || one->name_len > 3 * want_n)
                return false;
        char *name = malloc(one->name_len + 1);
        if (!name)
                str_no_memory();
        size_t n = fields_decode(one->name, one->name_len, name);
        bool is_same = n == want_n && memcmp(name, want, n) == 0;
        free(name);
        return is_same;
}

static bool fields_may_be(const struct fields *f, const struct fields_one *one,
                          const struct readings_name *want)
{
        const char *texts = f->texts.data ? (const char *)f->texts.data : ""; /* all are empty */
        for (size_t i = 0; i < one->readings_n; i++) {
                const struct fields_reading *r = &f->readings[one->readings + i];
                const struct readings_name known = {
                        .text = texts + r->at, .len = r->len, .is_open = r->is_open};
                if (readings_is(&known, want))
                        return true;
        }
        return false;
}

static void fields_show(const struct fields_one *one, request_visit *visit, void *ctx)
{
        bool is_odd = one->is_coded && one->value_len > 0 &&
                      (memchr(one->value, '%', one->value_len) ||
                       memchr(one->value, '+', one->value_len));
        if (!is_odd) {
                visit(ctx, one->value_len ? one->value : "", one->value_len);
                return;
        }
        char *value = malloc(one->value_len);
        if (!value)
                str_no_memory();
        visit(ctx, value, fields_decode(one->value, one->value_len, value));
        free(value);
}

void fields_each(const struct fields *f, const char *name, bool is_loose, request_visit *visit,
                 void *ctx)
{
        struct readings_names want;
        readings_want(name, &want);
        for (size_t i = 0; i < f->n; i++) {
                const struct fields_one *one = &f->all[i];
                bool is_ours =
                        is_loose ? (one->found & FIELDS_LOOSE) && fields_may_be(f, one, &want.at[0])
                                 : (one->found & FIELDS_EXACT) && fields_is_named(one, name);
                if (is_ours)
                        fields_show(one, visit, ctx);
        }
}

/* --- without an index, where a text of another kind is looked at as if it were a form ----------- */

static bool fields_is(const struct fields_one *one, const char *name,
                      const struct readings_name *want, bool is_loose)
{
        return is_loose ? fields_is_read_as(one, want) : fields_is_named(one, name);
}

/* fields_end(s, n, is_loose): where a pair ends. */
static size_t fields_end(const char *s, size_t n, bool is_loose)
{
        enum { SHORT = 16 }; /* so far a loop is faster than a call */
        char other = is_loose ? ';' : '&';
        for (size_t i = 0; i < SHORT && i < n; i++)
                if (s[i] == '&' || s[i] == other)
                        return i;
        const char *amp = n ? memchr(s, '&', n) : NULL;
        size_t end = amp ? (size_t)(amp - s) : n;
        const char *mark = is_loose && end ? memchr(s, ';', end) : NULL;
        return mark ? (size_t)(mark - s) : end;
}

static bool fields_text_is_plain(const char *s, size_t n)
{
        struct fields f = {.text = s, .len = n, .is_plain = true};
        while (f.checked < f.len)
                fields_check(&f);
        return f.is_plain && !(n && memchr(s, ';', n));
}

bool match_query_each(const char *query, size_t len, const char *name, bool is_loose,
                      request_visit *visit, void *ctx)
{
        struct readings_names want;
        readings_want(name, &want);
        for (size_t at = 0; at < len;) {
                size_t n = fields_end(query + at, len - at, is_loose);
                if (n && readings_may_begin(query + at, n, &want.at[0])) {
                        struct fields_one one = fields_one_of(query + at, n, 0);
                        if (fields_is(&one, name, &want.at[0], is_loose))
                                fields_show(&one, visit, ctx);
                }
                at += n + 1;
        }
        return fields_text_is_plain(query, len);
}
