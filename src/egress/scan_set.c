/* scan_set.c - what a scanner looks for: texts that we have in all their writings, and fingers of
 * writings that we do not have. See scan.h; built by custody.c, read by scan*.c. */
#include "egress/scan_int.h"

#include "base/str.h"
#include "wire/door.h"

#include <stdlib.h>
#include <string.h>

/* fill_alphabet(set): what a writing of each coding can consist of. Values have no control bytes
 * and nothing beyond ASCII (the keeper refuses them), so that every line end ends all of them. */
static void fill_alphabet(uint32_t alphabet[256])
{
        const uint32_t any = 1 << SECRET_RAW | 1 << SECRET_JSON | 1 << SECRET_HTML |
                             1 << SECRET_HEAD | 1 << SECRET_TAIL | 1 << SECRET_PLUS |
                             0x1fu << SECRET_BYTES_JSON;
        const uint32_t b64 = 1 << SECRET_BASE64_0 | 1 << SECRET_BASE64_1 | 1 << SECRET_BASE64_2;
        const uint32_t url =
                1 << SECRET_BASE64URL_0 | 1 << SECRET_BASE64URL_1 | 1 << SECRET_BASE64URL_2;
        const uint32_t base32 = 0x1fu << SECRET_BASE32_0;
        for (unsigned c = 0; c < 256; c++) {
                uint32_t m = 0, l = c | 0x20;
                bool is_digit = c >= '0' && c <= '9', is_alpha = l >= 'a' && l <= 'z' && c < 128;
                if ((c >= 0x20 && c < 0x7f) || c == '\t')
                        m |= any;
                if (is_digit || is_alpha)
                        m |= b64 | url | 1 << SECRET_PERCENT | base32;
                if (is_digit || (is_alpha && l <= 'f'))
                        m |= 1 << SECRET_HEX;
                if (c == '+' || c == '/' || c == '=')
                        m |= b64;
                if (c == '-' || c == '_' || c == '=')
                        m |= url;
                if (c && strchr("-_.!~*'()%", (int)c))
                        m |= 1 << SECRET_PERCENT;
                alphabet[c] = m;
        }
}

struct scan_set *scan_set_new(const uint8_t key[16])
{
        struct scan_set *s = calloc(1, sizeof *s);
        struct scan_table *t = calloc(1, sizeof *t);
        if (!s || !t)
                str_no_memory();
        memcpy(t->key, key, sizeof t->key);
        fill_alphabet(t->alphabet);
        s->table = t;
        return s;
}

struct scan_set *scan_set_lens(const struct scan_set *of, scan_may *may, const void *ctx)
{
        struct scan_set *s = malloc(sizeof *s);
        if (!s)
                str_no_memory();
        *s = (struct scan_set){.table = of->table, .is_lens = true, .may = may, .ctx = ctx};
        return s;
}

static void table_free(struct scan_table *t)
{
        for (uint32_t i = 0; i < t->writings_n; i++)
                free(t->writings[i].stand_in);
        free(t->writings);
        explicit_bzero(t->key, sizeof t->key);
        free(t);
}

void scan_set_free(struct scan_set *s)
{
        if (s && !s->is_lens)
                table_free(s->table);
        free(s);
}

bool scan_set_is_empty(const struct scan_set *s)
{
        return !s || s->table->writings_n == 0;
}

static uint8_t small(uint8_t c)
{
        return c >= 'A' && c <= 'Z' ? (uint8_t)(c | 0x20) : c;
}

/* covers(o, w): is ${o} found wherever ${w} is to be? */
static bool covers(const struct scan_writing *o, const struct scan_writing *w)
{
        return !o->is_local || (w->is_local && o->tag == w->tag);
}

/* is_known(s, w): a value that is shown twice (a finger sent again) is kept once. */
static bool is_known(const struct scan_table *s, const struct scan_writing *w)
{
        for (uint32_t i = s->by_hint[w->hint >> 4]; i; i = s->writings[i - 1].next_hint) {
                const struct scan_writing *o = &s->writings[i - 1];
                if (o->tail == w->tail && o->whole == w->whole && o->len == w->len && covers(o, w))
                        return true;
        }
        return false;
}

static struct scan_writing *add(struct scan_table *s, const struct scan_writing *from)
{
        if (from->len < SECRET_HINT_BYTES || is_known(s, from))
                return NULL;
        if (s->writings_n == s->writings_cap) {
                s->writings_cap = s->writings_cap ? s->writings_cap * 2 : 64;
                s->writings = realloc(s->writings, s->writings_cap * sizeof *s->writings);
                if (!s->writings)
                        str_no_memory();
        }
        struct scan_writing *w = &s->writings[s->writings_n++];
        *w = *from;
        for (size_t i = 0; i < sizeof w->first; i++)
                if (w->is_folded)
                        w->first[i] = small(w->first[i]);
        w->next_hint = s->by_hint[w->hint >> 4];
        s->by_hint[w->hint >> 4] = s->writings_n;
        /* Lists and pairs go by bytes with bit 5 set, as the quick look does. */
        uint8_t a = w->first[0] | 0x20, b = w->first[1] | 0x20;
        w->next_first = s->by_first[a];
        s->by_first[a] = s->writings_n;
        uint32_t pair = (uint32_t)a << 8 | b;
        s->pairs[pair >> 6] |= (uint64_t)1 << (pair & 63);
        s->hints[w->hint >> 6] |= (uint64_t)1 << (w->hint & 63);
        if (w->len > s->longest)
                s->longest = w->len;
        return w;
}

/* add_form(s->table, tag, coding, text, n): one writing of a text that we have. */
static void add_form(struct scan_table *s, uint32_t tag, enum secret_coding c, const char *text,
                     size_t n)
{
        _cleanup_buf_ struct buf b = {0};
        if (!secret_form_put(c, text, n, &b) || b.is_broken || b.len < SECRET_HINT_BYTES)
                return;
        bool fold = secret_form_ignores_case(c);
        const uint8_t *last = b.data + b.len - SECRET_HINT_BYTES;
        struct scan_writing w = {
                .tag = tag,
                .coding = (uint8_t)c,
                .len = (uint32_t)b.len,
                .is_folded = fold,
                .hint = secret_finger_hint(last),
                .tail = secret_siphash(s->key, last, SECRET_HINT_BYTES, true),
                .whole = secret_siphash(s->key, b.data, b.len, fold),
        };
        memcpy(w.first, b.data, sizeof w.first);
        add(s, &w);
}

void scan_set_text(struct scan_set *s, uint32_t tag, const char *text, size_t n)
{
        for (int c = 0; c < SECRET_CODINGS; c++)
                add_form(s->table, tag, (enum secret_coding)c, text, n);
        for (int inner = SECRET_BASE64_0; inner <= SECRET_HEX; inner++) {
                _cleanup_buf_ struct buf b = {0};
                if (!secret_form_is_nested((enum secret_coding)inner, SECRET_HEX) ||
                    !secret_form_put((enum secret_coding)inner, text, n, &b) || b.is_broken)
                        continue;
                for (int c = SECRET_BASE64_0; c <= SECRET_HEX; c++)
                        add_form(s->table, tag, (enum secret_coding)c, (const char *)b.data, b.len);
        }
}

static void add_finger(struct scan_table *s, uint32_t tag, const struct door_finger *f,
                       const char *stand_in, size_t n, bool is_local)
{
        if (f->coding >= SECRET_CODINGS || f->inner >= SECRET_CODINGS)
                return;
        _cleanup_buf_ struct buf inner = {0};
        if (f->inner != SECRET_RAW &&
            secret_form_put((enum secret_coding)f->inner, stand_in, n, &inner)) {
                stand_in = (const char *)inner.data;
                n = inner.len;
        }
        enum secret_coding c = (enum secret_coding)f->coding;
        struct scan_writing new = {
                .tag = tag,
                .coding = f->coding,
                .len = f->len,
                .is_folded = secret_form_ignores_case(c),
                .is_local = is_local,
                .hint = f->hint,
                .tail = f->tail,
                .whole = f->whole,
        };
        s->is_secret = true;
        struct scan_writing *w = add(s, &new);
        if (!w)
                return;
        _cleanup_buf_ struct buf b = {0};
        secret_form_replace(c, stand_in, n, f->len, &b);
        if (b.is_broken)
                str_no_memory();
        w->stand_in = malloc(f->len);
        if (!w->stand_in)
                str_no_memory();
        memset(w->stand_in, 'x', f->len);
        memcpy(w->stand_in, b.data, b.len < f->len ? b.len : f->len);
}

void scan_set_finger(struct scan_set *s, uint32_t tag, const struct door_finger *f,
                     const char *stand_in, size_t n)
{
        add_finger(s->table, tag, f, stand_in, n, false);
}

void scan_set_local(struct scan_set *s, uint32_t tag, const struct door_finger *f,
                    const char *stand_in, size_t n)
{
        add_finger(s->table, tag, f, stand_in, n, true);
}
