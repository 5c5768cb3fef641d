/* row_test.c - the words of our row: nothing that a box chose can look like something else, and the
 * part that says whose host it is stays. */
#include "base/strs.h"
#include "cli/row.h"
#include "unit/check.h"

#include <stdlib.h>

static void quoted(const char *name, const char *in, const char *want)
{
        char *got = row_quote(in);
        check_str(name, got, want);
        free(got);
}

static void cut(const char *name, const char *what, unsigned cols, const char *want)
{
        char *got = row_short("ask \"", what, "\"?", cols);
        check_str(name, got, want);
        CHECK("and fits", strlen(got) <= cols);
        free(got);
}

static void wrapped(const char *name, const char *text, unsigned cols, const char *want)
{
        struct strs lines = {0};
        char all[400] = "";
        row_wrap(text, cols, &lines);
        for (size_t i = 0; i < lines.n; i++) {
                const char *line = lines.v[i];
                bool is_joined = *line == SCREEN_JOINED;
                snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s%s", i ? "|" : "",
                         is_joined ? "+" : "", line + is_joined);
        }
        check_str(name, all, want);
        strs_free(&lines);
}

int main(void)
{
        quoted("plain", "GET https://example.test/a?b=c", "GET https://example.test/a?b=c");
        quoted("escapes", "a\033[2Jb\r\nc", "a\\x1b[2Jb\\x0d\\x0ac");
        quoted("what would end the quotation", "a\"? yes \\", "a\\\"? yes \\\\");
        quoted("look-alikes: Cyrillic, invisible, turned around",
               "ex\xd0\xb0mple\xe2\x80\x8b\xe2\x80\xae",
               "ex\\xd0\\xb0mple\\xe2\\x80\\x8b\\xe2\\x80\\xae");

        cut("what fits stays", "GET https://a.test/x", 40, "ask \"GET https://a.test/x\"?");
        cut("a path is cut at its end",
            "GET https://a.test/0123456789012345678901234567890123456789", 40,
            "ask \"GET https://a.test/01234567890...\"?");
        cut("of a host the end is kept",
            "GET https://api.github.com.aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.evil.test/x", 40,
            "ask \"GET ...aaaaaaaaaaaaa.evil.test...\"?");
        cut("also behind a method without end",
            "GETGETGETGETGETGETGETGETGETGETGETGETGET https://good.test.evil.test/x", 40,
            "ask \"...ET https://good.test.evil.test\"?");

        cut("and where there is room for nothing else",
            "GET https://api.github.com.aaaaaaaaaaaaaaaaaaaaaa.evil.test/x", 18,
            "GET ...vil.test...");

        wrapped("lines are broken at blanks", "one two three", 8, "one two|three");
        wrapped("words without end are joined", "see\n0123456789abc", 5, "see|01234|+56789|+abc");
        wrapped("lines that end stay apart", "12345\n678", 5, "12345|678");
        return check_end();
}
