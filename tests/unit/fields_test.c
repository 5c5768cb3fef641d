/* fields_test.c - the index of a query or form says the same as a look at the text, whatever is asked
 * for; it is bounded in fields, in what a name can make it look at, and in steps. */
#include "base/buf.h"
#include "policy/fields.h"
#include "policy/readings.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static void add(void *ctx, const char *value, size_t len)
{
        struct buf *b = ctx;
        buf_put_str(b, "<");
        buf_put(b, value, len);
        buf_put_str(b, ">");
}

/* read(text, n, &steps): to its end. */
static struct fields *read_all(const char *text, size_t n, size_t *steps, size_t *longest)
{
        struct fields *f = fields_of(text, n);
        size_t used;
        *steps = *longest = 0;
        while (fields_step(f, &used) == 0) {
                ++*steps;
                *longest = used > *longest ? used : *longest;
        }
        return f;
}

static const struct {
        const char *text, *name, *exact, *loose;
} rows[] = {
        {"a=1&b=2&a=3", "a", "<1><3>", "<1><3>"},
        {"A=1&%61=2", "a", "<2>", "<1><2>"},
        {"Action[]=x&action[0]=y&ACTION.=z", "Action", "", "<x><y>"},
        {"[a]=1&a]=2&]a=3&[a=4&a]b=5&b[a]=6", "a", "", "<1><2><3><4><5>"},
        {"%5Ba%5D=1&a[b=2", "a_b", "", "<2>"},
        {"a[b]=1&a[b][]=2&a[b]c=3&a[b[]=4&a[bc]=5&a=6", "a[b]", "<1>", "<1><2><3><4>"},
        {"a.b=1&a b=2&a+b=3", "a_b", "", "<1><2><3>"},
        {"x=1;a=2&b", "a", "", "<2>"},
        {"x=1;a=2&x=3", "x", "<1;a=2><3>", "<1><3>"},
        {"a", "a", "<>", "<>"},
        {"a=&&=b", "a", "<>", "<>"},
        {"a=%41+b%2", "a", "<A b%2>", "<A b%2>"},
        {"%2561=1", "a", "", "<1>"},
        {"_method=PUT", "_method", "<PUT>", "<PUT>"},
        {"\xef\xbd\x81=1", "a", "", "<1>"},
        {" a=1&a%00b=2", "a", "", "<1><2>"},
};

static void test_same(void)
{
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                for (int is_loose = 0; is_loose < 2; is_loose++) {
                        _cleanup_buf_ struct buf by_index = {0}, by_look = {0};
                        size_t n = strlen(rows[i].text), steps, longest;
                        struct fields *f = read_all(rows[i].text, n, &steps, &longest);
                        fields_each(f, rows[i].name, is_loose, add, &by_index);
                        bool is_plain = match_query_each(rows[i].text, n, rows[i].name, is_loose,
                                                         add, &by_look);
                        const char *want = is_loose ? rows[i].loose : rows[i].exact;
                        check(strcmp(buf_cstr(&by_index), want) == 0, "a field is found",
                              "%s: %s, not %s", rows[i].text, buf_cstr(&by_index), want);
                        check(strcmp(buf_cstr(&by_look), want) == 0, "without an index as well",
                              "%s: %s, not %s", rows[i].text, buf_cstr(&by_look), want);
                        check(is_plain == fields_is_plain(f), "doubt is told alike", "%s",
                              rows[i].text);
                        fields_free(f);
                }
        }
}

static void fill(struct buf *b, const char *piece, size_t n)
{
        while (b->len + strlen(piece) <= n)
                buf_put_str(b, piece);
}

static void test_bounds(void)
{
        static const char *const pieces[] = {"a&", "%41", "a;b=%42;", "%25", "%", " ", "[", "&"};
        for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
                _cleanup_buf_ struct buf b = {0}, got = {0};
                size_t steps, longest;
                fill(&b, pieces[i], 8 << 20);
                struct fields *f = read_all((const char *)b.data, b.len, &steps, &longest);
                check(longest <= 32 << 10, "no step is long", "%s: %zu", pieces[i], longest);
                check(fields_held(f) <= 4 << 20, "nor does it hold much", "%s: %zu", pieces[i],
                      fields_held(f));
                fields_each(f, "_method", true, add, &got);
                fields_free(f);
        }
        _cleanup_buf_ struct buf many = {0}, most = {0};
        size_t steps, longest;
        fill(&many, "a&", 2 * (FIELDS_MAX + 1));
        fill(&most, "a&", 2 * FIELDS_MAX - 2);
        buf_put_str(&most, "b");
        struct fields *f = read_all((const char *)many.data, many.len, &steps, &longest);
        check(fields_is_cut(f), "too many are not read", "%zu bytes", many.len);
        fields_free(f);
        f = read_all((const char *)most.data, most.len, &steps, &longest);
        check(!fields_is_cut(f), "as many as there may be are", "%zu bytes", most.len);
        fields_free(f);
}

/* Only some names: any number of others. */
static void test_only(void)
{
        static const char *const names[] = {"_method", "x-http-method-override"};
        _cleanup_buf_ struct buf b = {0}, got = {0};
        size_t used;
        fill(&b, "a&b=c&", 1 << 20);
        buf_put_str(&b, "_METHOD[]=put&x=y&[_method]=patch&%5B_method=delete");
        struct fields *f = fields_of((const char *)b.data, b.len);
        fields_only(f, names, 2);
        while (fields_step(f, &used) == 0)
                ;
        fields_each(f, "_method", true, add, &got);
        check(!fields_is_cut(f) && strcmp(buf_cstr(&got), "<put><patch><delete>") == 0,
              "among many others one that is looked for is found", "%s", buf_cstr(&got));
        fields_free(f);
}

/* A name of megabytes is known by its beginning, whatever it would shrink to. */
static void test_long(void)
{
        _cleanup_buf_ struct buf array = {0}, text = {0}, blank = {0};
        buf_put_str(&array, "Action[");
        fill(&array, "x", 4 << 20);
        buf_put_str(&text, "100% of this is no name");
        fill(&text, "x", 4 << 20);
        fill(&blank, " ", 900);
        buf_put_str(&blank, "action");
        check(readings_name_is((const char *)array.data, array.len, "action"),
              "a long array has its name", "no");
        check(!readings_name_is((const char *)text.data, text.len, "_method"),
              "a long text is not taken for a name", "yes");
        check(readings_name_is((const char *)blank.data, blank.len, "action"),
              "blanks in front do not hide one", "no");
}

int main(void)
{
        test_same();
        test_bounds();
        test_only();
        test_long();
        return check_end();
}
