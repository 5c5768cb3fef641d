/* filter_test.c - the escape filter: what passes, what does not, whole and cut at every byte, and
 * that the terminal is left as it was found. */
#include "base/buf.h"
#include "base/str.h"
#include "cli/filter.h"
#include "unit/check.h"

#include <stdlib.h>

static char *run(const struct filter_policy *p, const char *in, size_t n, size_t cut)
{
        static struct filter f;
        struct buf out = {0};
        filter_init(&f, p);
        filter_feed(&f, in, cut, &out);
        filter_feed(&f, in + cut, n - cut, &out);
        char *s = str_dup(buf_cstr(&out));
        buf_free(&out);
        return s;
}

static void expect_p(const char *policy, const char *name, const char *in, const char *want)
{
        struct filter_policy p;
        char full[256];
        snprintf(full, sizeof full, "%s: %s", policy, name);
        if (strcmp(policy, "text") == 0)
                p = filter_text();
        else if (filter_policy_parse(policy, &p) < 0) {
                check(false, full, "the policy is not known");
                return;
        }
        size_t n = strlen(in);
        for (size_t cut = 0; cut <= n; cut++) {
                char *got = run(&p, in, n, cut);
                bool is_same = strcmp(got, want) == 0;
                if (!is_same) {
                        char *shown = str_quote(got);
                        check(false, full, "cut at %zu: got %s", cut, shown);
                        free(shown);
                }
                free(got);
                if (!is_same)
                        return;
        }
        check(true, full, "-");
}

#define PASS(name, s)       expect_p("normal", name, s, s)
#define DROP(name, s)       expect_p("normal", name, "a" s "b", "ab")
#define TAME(name, s, want) expect_p("normal", name, s, want)
#define ST                  "\033\\"

static void what_draws(void)
{
        PASS("text and line ends", "hello\tworld\r\n\a\b");
        PASS("UTF-8", "gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x98\x80 \xe6\xb4\x9b");
        PASS("colours", "\033[1;38;2;10;20;30mx\033[0m\033[4:3m\033[58;5;1m");
        PASS("cursor", "\033[2J\033[H\033[10;20H\033[3A\033[K\033[2;5r\0337\0338\033M");
        PASS("alternate screen", "\033[?1049h\033[?25l\033[?1049l\033[?25h");
        PASS("paste and mouse", "\033[?2004h\033[?1000;1002;1006h\033[?1006;1000l");
        PASS("synchronised output", "\033[?2026h\033[?2026$p\033[?2026l");
        PASS("kitty keyboard", "\033[>1u\033[?u\033[<u\033[=1;1u");
        PASS("modifyOtherKeys", "\033[>4;2m\033[>4m");
        PASS("questions that screens ask", "\033[c\033[>c\033[>q\033[6n\033[?996n\033[18t");
        PASS("colour questions", "\033]11;?" ST "\033]10;?" ST "\033]4;1;?" ST);
        PASS("cursor shape", "\033[2 q\033[ q");
        PASS("line drawing", "\033(0lqqk\033(B\016x\017");
        PASS("soft reset", "\033[!p");
        PASS("sixel", "\033P0;1;8q\"1;1;10;10#0;2;0;0;0~~$-" ST "x");
        PASS("terminfo question", "\033P+q544e;436f" ST);
        PASS("web link", "\033]8;id=1;https://example.org/a?b=c" ST "text\033]8;;" ST);
        PASS("progress bar", "\033]9;4;1;50" ST);
        PASS("title on and off the stack", "\033[22;0t\033[23;0t");
        TAME("BEL ends an OSC", "\033]0;name\a", "\033]0;name" ST);
        TAME("a control inside a sequence acts first", "\033[1\n;2H", "\n\033[1;2H");
}

static void what_reaches_out(void)
{
        DROP("clipboard", "\033]52;c;aGVsbG8=" ST);
        DROP("clipboard with BEL", "\033]52;c;aGVsbG8=\a");
        DROP("clipboard question", "\033]52;c;?" ST);
        DROP("title typed back", "\033[21t");
        DROP("icon title typed back", "\033[20t");
        DROP("window moved", "\033[3;0;0t");
        DROP("window resized", "\033[8;50;200t");
        DROP("window hidden", "\033[2t");
        DROP("printing", "\033[5i\033[?4i");
        DROP("answerback", "\x05");
        DROP("settings question", "\033P$qm" ST);
        DROP("tmux pass-through", "\033Ptmux;\033\033]52;c;eA==\a" ST);
        DROP("kitty graphics", "\033_Gf=100,t=f;L2V0Yy9wYXNzd2Q=" ST);
        DROP("privacy message", "\033^secret" ST);
        DROP("start of string", "\033Xabc" ST);
        DROP("screen's title", "\033kname" ST);
        DROP("font", "\033]50;?" ST);
        DROP("working directory", "\033]7;file:///etc" ST);
        DROP("iTerm file", "\033]1337;File=name=eA==:eA==" ST);
        DROP("notification", "\033]9;click here" ST);
        DROP("notification 777", "\033]777;notify;a;b" ST);
        DROP("shell integration", "\033]133;A" ST "\033]633;E;rm" ST);
        DROP("screen checksum", "\033[1;1;1;1;10;10*y");
        DROP("printer status", "\033[?15n");
        DROP("VT52", "\033[?2l");
        DROP("132 columns", "\033[?3h\033[?40h");
        DROP("highlight tracking", "\033[?1001h");
        DROP("keyboard lock", "\033[2h");
        DROP("8-bit answers", "\033 G");
        DROP("leaving UTF-8", "\033%@");
        DROP("identify", "\033Z");
        DROP("file link", "\033]8;;file:///etc/passwd" ST);
        DROP("other link", "\033]8;;ssh://host" ST);
        DROP("link with a control", "\033]8;;http://a\x01\x80"
                                    "b" ST);
        DROP("raw C1 CSI", "\x9b"
                           "");
        DROP("raw C1 OSC", "\x9d");
        DROP("C1 in two bytes", "\xc2\x9b\xc2\x9d\xc2\x90");
        DROP("delete and null-like bytes", "\x7f\x01\x02\x1c");
        DROP("unknown sequences", "\033[1;2&z\033[?1x\033[>1x\033[1>2m\033[1\"5q");
        DROP("cancelled sequence", "\033[12\x18");
        DROP("cancelled string", "\033]0;x\x1a");
        DROP("sequence begun anew", "\033[1;\033[21t");
        TAME("only the allowed of a list of modes", "\033[?1000;2;1006h", "\033[?1000;1006h");
        TAME("title without controls",
             "\033]2;a\x01\xc2\x9b"
             "b\xe2\x80\xae"
             "c" ST,
             "\033]2;abc" ST);
        TAME("bytes that are no UTF-8",
             "a\xff\xfe"
             "b\xe2\x82",
             "a\xef\xbf\xbd\xef\xbf\xbd"
             "b");
        TAME("UTF-8 broken off", "\xe2\x82z", "\xef\xbf\xbdz");
        TAME("UTF-8 too long", "\xe0\x80\xaf", "\xef\xbf\xbd");
        TAME("sixel cut short is ended", "\033Pq~~\033[0m", "\033Pq~~" ST "\033[0m");
        TAME("a number that no screen has",
             "\033[2147483647b\033[99999999999999999999;7H\033[10000S",
             "\033[9999b\033[9999;7H\033[9999S");
        TAME("also among colours and regions", "\033[38;2;4294967296;1;1m\033[1;123456r",
             "\033[38;2;9999;1;1m\033[1;9999r");
        TAME("zeros in front do not hide it", "\033[0000000000002147483647X", "\033[9999X");
        PASS("the last column is found with a large number", "\033[999C\033[9999;9999H\033[00012C");
        TAME("a sixel repeat is bounded", "\033Pq!99999999999~" ST, "\033Pq!4096~" ST);
        TAME("so is the size of an image", "\033Pq\"1;1;65535;999999~" ST,
             "\033Pq\"1;1;4096;4096~" ST);
        TAME("and what stands before it", "\033P0;1;99999q~" ST, "\033P0;1;9999q~" ST);
        TAME("nothing splits a number",
             "\033Pq!4096\x01"
             "4096~!40 96~" ST,
             "\033Pq!4096~" ST);
        TAME("a repeat holds until its column", "\033Pq!4096#1~!9#2~" ST, "\033Pq#1!4096~#2" ST);
        TAME("a repeat ends there", "\033Pq!4000~!4000@" ST, "\033Pq!4000~!96@" ST);
        TAME("an image has a right edge", "\033Pq!4095~@@A!9~$B" ST, "\033Pq!4095~@$B" ST);
        TAME("sixel cancelled is ended", "\033Pq~~\x18x", "\033Pq~~" ST "x");
        expect_p("strict", "title", "a\033]0;x" ST "b", "ab");
        expect_p("strict", "link", "a\033]8;;http://x" ST "b", "ab");
        expect_p("strict", "direction marks",
                 "a\xe2\x80\xae"
                 "b",
                 "ab");
        expect_p("strict", "colours pass", "\033[31mx", "\033[31mx");
        expect_p("normal,clipboard", "write", "\033]52;c;eA==\a", "\033]52;c;eA==" ST);
        expect_p("normal,clipboard", "never read", "a\033]52;c;?\a", "a");
        expect_p("normal,notify", "notification", "\033]9;hi\a", "\033]9;hi" ST);
        expect_p("raw", "everything", "\033]52;c;?\a\x9b\x05", "\033]52;c;?\a\x9b\x05");
        expect_p("text", "only text and colours", "\033[31mx\033[2Jy\033[6n\033[A\033c\r\n",
                 "\033[31mxy\r\n");
}

static void long_ones(void)
{
        struct filter_policy p = filter_normal();
        static struct filter f;
        struct buf out = {0};
        filter_init(&f, &p);
        filter_feed(&f, "\033]0;", 4, &out);
        for (int i = 0; i < 100000; i++)
                filter_feed(&f, "xxxxxxxxxx", 10, &out);
        filter_feed(&f, "\033\\ok", 4, &out);
        check_str("a title of a million bytes is dropped", buf_cstr(&out), "ok");
        buf_free(&out);

        filter_init(&f, &p);
        filter_feed(&f, "\033[", 2, &out);
        for (int i = 0; i < 10000; i++)
                filter_feed(&f, "1;", 2, &out);
        filter_feed(&f, "mok", 3, &out);
        check_str("a sequence of ten thousand numbers is dropped", buf_cstr(&out), "ok");
        buf_free(&out);
}

static void reset_is(const char *name, const char *in, const char *want)
{
        struct filter_policy p = filter_normal();
        static struct filter f;
        struct buf out = {0};
        char got[FILTER_RESET_MAX + 1];
        filter_init(&f, &p);
        filter_feed(&f, in, strlen(in), &out);
        got[filter_reset(&f.modes, got, FILTER_RESET_MAX)] = 0;
        char *a = str_quote(got), *b = str_quote(want);
        check(strcmp(got, want) == 0, name, "got %s, wanted %s", a, b);
        free(a);
        free(b);
        buf_free(&out);
}

static void resets(void)
{
#define ALWAYS "\033]8;;" ST "\033[0m\033[?25h"
        reset_is("text alone leaves nothing to reset", "x\r\n\xc3\xbc", "");
        reset_is("a colour", "\033[31mx", ALWAYS);
        reset_is("screen, mouse and paste are switched off",
                 "\033[?1049h\033[?2004h\033[?1000h\033[?1006h\033[?25l",
                 "\033[?1000l\033[?1006l\033[?2004l\033[?25h\033[?1049l" ALWAYS);
        reset_is("what was switched off is left alone",
                 "\033[?1049h\033[?1049l\033[?1000h\033[?1000l", ALWAYS);
        reset_is("keyboard modes are popped on both screens", "\033[?1049h\033[>1u",
                 "\033[<9u\033[=0u\033[?1049l\033[<9u\033[=0u" ALWAYS);
        reset_is("modifyOtherKeys is switched off", "\033[>4;2m", "\033[>4m" ALWAYS);
        reset_is("insert mode is switched off", "\033[4h", "\033[4;20l" ALWAYS);
        reset_is("a full reset forgets", "\033[?1000h\033c", ALWAYS);
}

/* However many rows are begun, no more than an image may have reach the terminal. */
static void image_edge(void)
{
        struct filter_policy p = filter_normal();
        static struct filter f;
        struct buf out = {0};
        filter_init(&f, &p);
        filter_feed(&f, "\033Pq", 3, &out);
        for (int i = 0; i < 100000; i++)
                filter_feed(&f, "~-", 2, &out);
        size_t rows = 0;
        for (size_t i = 0; i < out.len; i++)
                rows += out.data[i] == '-';
        check(rows > 600 && rows < 700, "an image has a lower edge", "%zu rows of six", rows);
        buf_free(&out);
}

int main(void)
{
        what_draws();
        what_reaches_out();
        long_ones();
        resets();
        image_edge();
        struct filter_policy p;
        check(filter_policy_parse("nonsense", &p) < 0 && filter_policy_parse("normal,x", &p) < 0,
              "an unknown policy is refused", "it was taken");
        return check_end();
}
