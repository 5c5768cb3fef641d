/* str_test.c - sizes, durations, suggestions, paths by components, and quoting of hostile names. */
#include "unit/check.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static bool quotes_to(const char *in, const char *want)
{
        char *got = str_quote(in);
        bool is_same = !strcmp(got, want);
        if (!is_same)
                printf("# got %s\n", got);
        free(got);
        return is_same;
}

static void sizes(void)
{
        uint64_t n;
        CHECK("4G", str_size("4G", &n) == 0 && n == 4ull << 30);
        CHECK("512k", str_size("512k", &n) == 0 && n == 512 << 10);
        CHECK("17", str_size("17", &n) == 0 && n == 17);
        static const char *const bad[] = {"",
                                          "G",
                                          "-1",
                                          "+1",
                                          "1GB",
                                          "1 G",
                                          "0x10",
                                          "1.5G",
                                          "4Gi",
                                          "1P",
                                          " 1",
                                          "18446744073709551616",
                                          "99999999999999999999G",
                                          "18014398509481984K"};
        bool is_refused = true;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                is_refused &= str_size(bad[i], &n) == -1;
        CHECK("sizes that make no sense", is_refused);
        CHECK("the largest number", str_u64("18446744073709551615", &n) == 0 && n == UINT64_MAX);
        CHECK("8h", str_duration("8h", &n) == 0 && n == 28800);
        CHECK("90", str_duration("90", &n) == 0 && n == 90);
        CHECK("a duration with a size's unit", str_duration("4G", &n) == -1);
        char w[16];
        CHECK("words of a size", !strcmp(str_size_words(4ull << 30, w), "4.0 GiB"));
        CHECK("words of a small size", !strcmp(str_size_words(999, w), "999 B"));
        CHECK("words of the largest size", strlen(str_size_words(UINT64_MAX, w)) < 16);
}

static void names(void)
{
        static const char *const all[] = {"run", "shell", "create", "attach", "explain"};
        CHECK("a swapped letter", !strcmp(str_suggest("rnu", all, 5), "run"));
        CHECK("a missing letter", !strcmp(str_suggest("shel", all, 5), "shell"));
        CHECK("nothing near", !str_suggest("zzzzzz", all, 5));
        CHECK("the beginning of a name",
              !strcmp(str_suggest("bear", (const char *[]){"basic", "bearer"}, 2), "bearer"));
        CHECK("of three letters two are too many",
              !str_suggest("fun", (const char *[]){"box"}, 1) &&
                      !str_suggest("foo", (const char *[]){"box"}, 1));
        char big[5000];
        memset(big, 'r', sizeof big - 1);
        big[sizeof big - 1] = 0;
        CHECK("a very long word", str_suggest(big, all, 5) == NULL);

        CHECK("starts", str_starts("abc", "ab") && str_starts("abc", "") && !str_starts("a", "ab"));
        CHECK("ends", str_ends("abc", "bc") && str_ends("abc", "") && !str_ends("c", "bc"));
        CHECK("beneath goes by components",
              str_is_beneath("/a/b", "/a") && str_is_beneath("/a", "/a") &&
                      str_is_beneath("/a/b", "/a/") && !str_is_beneath("/ab", "/a") &&
                      str_is_beneath("/x", "/") && !str_is_beneath("x", "/"));
}

static void quoting(void)
{
        CHECK("plain names stay", quotes_to("a b'c\"d", "a b'c\"d"));
        CHECK("UTF-8 stays", quotes_to("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80",
                                       "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80"));
        CHECK("case 76: newline and escape", quotes_to("a\nb\x1b[31m", "a\\x0ab\\x1b[31m"));
        CHECK("backslash, so that no two names look the same", quotes_to("\\x0a", "\\x5cx0a"));
        CHECK("case 80: C1 as UTF-8", quotes_to("\xc2\x9b", "\\xc2\\x9b"));
        CHECK("case 80: C1 as a byte", quotes_to("\x9b", "\\x9b"));
        CHECK("case 80: right-to-left override", quotes_to("\xe2\x80\xae", "\\xe2\\x80\\xae"));
        CHECK("zero width space", quotes_to("\xe2\x80\x8b", "\\xe2\\x80\\x8b"));
        CHECK("tag characters", quotes_to("\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"));
        CHECK("overlong",
              quotes_to("\xc0\xaf", "\\xc0\\xaf") && quotes_to("\xe0\x80\xaf", "\\xe0\\x80\\xaf"));
        CHECK("surrogate", quotes_to("\xed\xa0\x80", "\\xed\\xa0\\x80"));
        CHECK("beyond the last plane", quotes_to("\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"));
        CHECK("cut in the middle", quotes_to("a\xe2\x82", "a\\xe2\\x82"));
        CHECK("DEL", quotes_to("\x7f", "\\x7f"));
}

int main(void)
{
        sizes();
        names();
        quoting();
        return check_end();
}
