/* args_test.c - flags by table, and the key that detaches. */
#include "base/buf.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/detach.h"
#include "unit/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static const struct cmd test_cmd = {
        .name = "test", .args = "", .summary = "a test", .help = "A test."};

struct got {
        bool flag, other;
        int tty;
        const char *name;
        struct strs list;
        uint64_t number, seconds;
        struct args a;
        char words[256];
};

/* parse(g, ...): words up to NULL; operands are joined with commas into g->words. */
static void parse(struct got *g, char **argv)
{
        int argc = 0;
        while (argv[argc])
                argc++;
        *g = (struct got){.tty = -1};
        const struct arg flags[] = {
                ARG_BOOL('f', "flag", &g->flag, "a flag"),
                ARG_BOOL('o', "other", &g->other, "another"),
                ARG_INT('t', "tty", &g->tty, 1, "on"),
                ARG_INT('T', "no-tty", &g->tty, 0, "off"),
                ARG_STR('n', "name", &g->name, "NAME", "a name"),
                ARG_LIST('e', "env", &g->list, "X", "many"),
                ARG_U64(0, "number", &g->number, "N", "a number"),
                ARG_DURATION(0, "time", &g->seconds, "T", "a time"),
                ARG_END,
        };
        g->a = args_of(&test_cmd, flags, argc, argv);
        for (char *w; (w = args_next(&g->a));) {
                strcat(g->words, w);
                strcat(g->words, ",");
        }
}

#define PARSE(g, ...) parse(g, (char *[]){(char[]){"test"}, __VA_ARGS__, NULL})
#define W(s)          ((char[]){s})

static void flags(void)
{
        struct got g;
        PARSE(&g, W("-f"), W("x"), W("--name"), W("bob"), W("y"));
        CHECK("flags and words mix", g.flag && !strcmp(g.name, "bob") && !strcmp(g.words, "x,y,"));
        PARSE(&g, W("--name=bob"), W("-fo"), W("-ncarl"));
        CHECK("short flags run together", g.flag && g.other && !strcmp(g.name, "carl"));
        PARSE(&g, W("-e"), W("A=1"), W("--env=B=2"));
        CHECK("a list grows", g.list.n == 2 && !strcmp(g.list.v[1], "B=2"));
        strs_free(&g.list);
        PARSE(&g, W("-t"), W("--no-tty"));
        CHECK("the later of two wins", g.tty == 0);
        PARSE(&g, W("a"), W("--"), W("-f"), W("b"));
        CHECK("-- ends the flags", !g.flag && g.a.has_dashes && !strcmp(g.words, "a,") &&
                                           !strcmp(args_rest(&g.a)[0], "-f") &&
                                           !strcmp(args_rest(&g.a)[1], "b"));
        PARSE(&g, W("-"), W("x"));
        CHECK("a lone dash is a word", !strcmp(g.words, "-,x,"));
        PARSE(&g, W("--number"), W("12"), W("--time=5m"));
        CHECK("numbers and times", g.number == 12 && g.seconds == 300);
        PARSE(&g, W("--name"), W("--flag"));
        CHECK("a value may look like a flag", !strcmp(g.name, "--flag") && !g.flag);
        PARSE(&g, W("--name="));
        CHECK("an empty value is a value", g.name && !*g.name);
}

static void mistakes(void)
{
        struct got g;
        PARSE(&g, W("--flog"), W("x"));
        CHECK("an unknown flag ends with 64", g.a.is_over && g.a.exit_code == 64 && !g.words[0]);
        PARSE(&g, W("-x"));
        CHECK("an unknown letter ends with 64", g.a.is_over && g.a.exit_code == 64);
        PARSE(&g, W("--name"));
        CHECK("a missing value ends with 64", g.a.is_over && g.a.exit_code == 64);
        PARSE(&g, W("--flag=1"));
        CHECK("a value too many ends with 64", g.a.is_over && g.a.exit_code == 64);
        PARSE(&g, W("--number=twelve"));
        CHECK("no number ends with 64", g.a.is_over && g.a.exit_code == 64);
        PARSE(&g, W("--time=4G"));
        CHECK("no time ends with 64", g.a.is_over && g.a.exit_code == 64);
}

static void only(const char *name, int want, size_t min, size_t max, char **argv)
{
        int argc = 0;
        while (argv[argc])
                argc++;
        const struct arg none[] = {ARG_END};
        struct args a = args_of(&test_cmd, none, argc, argv);
        struct strs words = {0};
        check(args_only(&a, &words, min, max) == want, name, "it was not %d", want);
        strs_free(&words);
}

/* typed(d, in): what reaches the box, and <y> for an answer; '!' at the end when the user left. */
static const char *typed(struct detach *d, const char *in)
{
        static char out[256];
        struct buf b = {0};
        const uint8_t *p = (const uint8_t *)in;
        size_t n = strlen(in);
        enum detach_event event = DETACH_NOTHING;
        while (n > 0 && event != DETACH_LEAVE) {
                char letter;
                size_t used = detach_feed(d, p, n, &b, &event, &letter);
                p += used;
                n -= used;
                if (event == DETACH_LETTER)
                        buf_put_fmt(&b, "<%c>", letter);
        }
        snprintf(out, sizeof out, "%s%s", buf_cstr(&b), event == DETACH_LEAVE ? "!" : "");
        buf_free(&b);
        return out;
}

static void keys(void)
{
        struct detach d;
#define FRESH(key) CHECK("the key " key " is taken", detach_parse(key, &d) == 0)
        FRESH("ctrl-]");
        check_str("keys go through", typed(&d, "abc\033[A\rd"), "abc\033[A\rd");
        check_str("Ctrl-] d leaves", typed(&d, "x\035dyz"), "x!");
        FRESH("ctrl-]");
        check_str("in two reads too: first", typed(&d, "\035"), "");
        check_str("in two reads too: second", typed(&d, "d"), "!");
        FRESH("ctrl-]");
        check_str("twice sends it once", typed(&d, "\035\035d"), "\035d");
        check_str("another key sends both", typed(&d, "\035x"), "\035x");
        check_str("kitty encoding", typed(&d, "\033[93;5ud"), "!");
        FRESH("ctrl-]");
        check_str("kitty with releases and locks",
                  typed(&d, "\033[57442;5u\033[93;69u\033[93;5:3u\033[100u"), "\033[57442;5u!");
        FRESH("ctrl-]");
        check_str("modifyOtherKeys", typed(&d, "\033[27;5;93~d"), "!");
        FRESH("ctrl-]");
        check_str("not meant: the sequence goes on", typed(&d, "\033[93;5ux"), "\033[93;5ux");
        check_str("never in a paste", typed(&d, "\033[200~\035d\033[201~"),
                  "\033[200~\035d\033[201~");
        check_str("after the paste again", typed(&d, "\035d"), "!");
        FRESH("^q");
        check_str("another prefix", typed(&d, "\035d\021d"), "\035d!");
        FRESH("none");
        check_str("none", typed(&d, "\035d"), "\035d");
        FRESH("ctrl-]");
        check_str("an Escape is not held back", typed(&d, "\033"), "\033");
        d.takes = "yna?";
        check_str("an answer", typed(&d, "a\035yb"), "a<y>b");
        check_str("with Ctrl held down, and in capitals", typed(&d, "\035\016\035A"), "<n><a>");
        check_str("the question mark", typed(&d, "\035?"), "<?>");
        check_str("answers in the kitty encoding",
                  typed(&d, "\033[93;5u\033[121u\033[121;1:3u\033[93;5u\033[47:63;2u\033[93;5u"
                            "\033[47;2u"),
                  "<y><?><?>");
        check_str("answers by modifyOtherKeys", typed(&d, "\033[27;5;93~\033[27;2;63~"), "<?>");
        check_str("a letter with Alt is not one", typed(&d, "\035\033[121;3u"), "\035\033[121;3u");
        check_str("an answer in a paste is text", typed(&d, "\033[200~\035y\033[201~"),
                  "\033[200~\035y\033[201~");
        check_str("a letter that means nothing now goes on", typed(&d, "\035f"), "\035f");
        d.takes = NULL;
        check_str("nothing waits: letters go on", typed(&d, "\035y"), "\035y");
        d.below = 2;
        check_str("a size that the terminal types is the box's",
                  typed(&d, "\033[48;24;80;480;640t"), "\033[48;22;80;480;640t");
        CHECK("keys that cannot be", detach_parse("ctrl-m", &d) < 0 && detach_parse("x", &d) < 0 &&
                                             detach_parse("", &d) < 0);
}

int main(void)
{
        /* What args.c says about mistakes is not the test's output. */
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDERR_FILENO);
        flags();
        mistakes();
        only("too few words", -1, 1, 2, (char *[]){W("test"), NULL});
        only("too many words", -1, 0, 1, (char *[]){W("test"), W("a"), W("b"), NULL});
        only("words after --", 0, 2, 2, (char *[]){W("test"), W("a"), W("--"), W("-b"), NULL});
        keys();
        return check_end();
}
