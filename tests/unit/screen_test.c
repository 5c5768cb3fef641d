/* screen_test.c - rows of ours below a box's screen: every sequence that moves, erases, scrolls,
 * switches or resets, in every situation that changes what it does, and thousands of them in random
 * order, held against a terminal with cells (libterm.h); then what a user sees, case by case. */
#include "base/buf.h"
#include "cli/filter.h"
#include "cli/screen.h"
#include "unit/check.h"
#include "unit/libterm.h"

#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* The fuzz target compares model and terminal after every byte, and aborts where they differ. */
int replay_screen_fuzz(const uint8_t *, size_t);

static struct buf in;

/* In a child, which may abort: input by input, up to ${to}. Returns which one did not hold, or -1. */
static long judged(void (*make)(long), long from, long to)
{
        int progress[2], status;
        long last = from;
        fflush(stdout);
        if (pipe(progress) < 0)
                return from;
        pid_t child = fork();
        if (child == 0) {
                alarm(120);
                for (long i = from; i < to; i++) {
                        if (write(progress[1], &i, sizeof i) != sizeof i)
                                _exit(1);
                        make(i);
                        replay_screen_fuzz(in.data, in.len);
                }
                _exit(0);
        }
        close(progress[1]);
        for (long i; read(progress[0], &i, sizeof i) == sizeof i;)
                last = i;
        close(progress[0]);
        bool is_good = child > 0 && waitpid(child, &status, 0) == child && status == 0;
        return is_good ? -1 : last;
}

static void begin(uint8_t kind)
{
        in.len = 0;
        buf_put_u8(&in, kind);
        buf_put_u8(&in, 5);
        buf_put_u8(&in, 0);
}

#define ROWS_ON  "\xff\x04\x02" /* events of the fuzz target: two rows become ours */
#define ROWS_OFF "\xff\x05\x01"
#define SMALLER  "\xff\x06\x0e" /* 15 rows */
#define LARGER   "\xff\x06\x1d" /* 30 rows */
#define NARROWER "\xff\x07\x31" /* 50 columns */
#define LONG     "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234"
#define IMAGE    "\033Pq#0~~-~~\033\\"

static const char *const situations[][2] = {
        {"at once", ""},
        {"at the top", "\033[H"},
        {"in the last row", "\033[24;1Hlast"},
        {"in the last column", "\033[24;80Hx"},
        {"between margins", "\033[5;10r\033[7;3H"},
        {"below the margins", "\033[5;10r\033[24;1Hbelow"},
        {"above the margins", "\033[5;10r\033[2;1H"},
        {"with origin mode", "\033[5;10r\033[?6h\033[3;3H"},
        {"with side margins", "\033[?69h\033[10;40s\033[3;20H"},
        {"without wrapping", "\033[?7l\033[24;70H"},
        {"with insert and newline mode", "\033[4;20h\033[23;5H"},
        {"on the alternate screen", "\033[24;9H\033[?1049h\033[24;3H"},
        {"with a saved cursor", "\033[24;7H\0337\033[H"},
        {"with line drawing and a link", "\033(0\016\033]8;;http://a.test/\033\\\033[31;44;1mq"},
        {"with reverse wrap", "\033[?45h\033[1;1H"},
        {"after an image", IMAGE},
};

static const char *const sequences[] = {
        "text",
        LONG LONG,
        "\xe6\xbc\xa2\xe5\xad\x97",
        "e\xcc\x81",
        "\n",
        "\r\n",
        "\v",
        "\f",
        "\b",
        "\t",
        "\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n\n",
        "\033D",
        "\033E",
        "\033M",
        "\0336",
        "\0339",
        "\033H",
        "\033[A",
        "\033[99A",
        "\033[B",
        "\033[99B",
        "\033[C",
        "\033[999C",
        "\033[D",
        "\033[999D",
        "\033[E",
        "\033[99E",
        "\033[F",
        "\033[99F",
        "\033[40G",
        "\033[40`",
        "\033[3a",
        "\033[99e",
        "\033[24d",
        "\033[999d",
        "\033[24;80H",
        "\033[999;999H",
        "\033[999;999f",
        "\033[H",
        "\033[I",
        "\033[9Z",
        "\033[g",
        "\033[3g\t",
        "\033[J",
        "\033[1J",
        "\033[2J",
        "\033[3J",
        "\033[?J",
        "\033[?2J",
        "\033[K",
        "\033[1K",
        "\033[2K",
        "\033[X",
        "\033[999X",
        "\033[P",
        "\033[@",
        "\033[L",
        "\033[99L",
        "\033[M",
        "\033[99M",
        "\033[S",
        "\033[99S",
        "\033[T",
        "\033[99T",
        "a\033[b",
        "a\033[999b",
        "a\033[9999b",
        "\033[r",
        "\033[3;99r",
        "\033[24;24r",
        "\033[23;24r",
        "\033[20;5r",
        "\033[s\033[H\033[u",
        "\0337\033[H\0338",
        "\0338",
        "\033[u",
        "\033[?1048h\033[H\033[?1048l",
        "\033[?6h",
        "\033[?6l",
        "\033[?7l" LONG,
        "\033[?7h" LONG,
        "\033[?45h\033[H\b\b",
        "\033[?69h\033[5;20s" LONG,
        "\033[?69l",
        "\033[?1049h",
        "\033[?1049l",
        "\033[?1049h\033[24;1Hx\033[?1049l",
        "\033[?47h",
        "\033[?47lx",
        "\033[?1047h\033[?1047l",
        "\033[?1049;6;7h",
        "\033[4h" LONG,
        "\033[20h\n",
        "\033[?2026h",
        "\033[?2048h",
        "\033c",
        "\033cx\033[24;1H",
        "\033[!p",
        "\033[!p" LONG,
        "\033#8",
        "\033#3",
        "\033#6",
        "\033(0lqk",
        "\033(B",
        "\016",
        "\033nx",
        "\033Nx",
        "\033[#{\033[32m\033[#}",
        "\033[1\"q",
        "\033[0;7;4:3m",
        "\033[38;5;99;48;2;1;2;3m",
        "\033]4;1;red\033\\",
        "\033]8;;http://b.test/\033\\x",
        "\033[65;1;1;99;99$x",
        "\033[$z",
        "\033[1;1;99;99${",
        "\033[2;2;9;9;1;20;1;1$v",
        "\033[2;2;9;9;7$r",
        "\033['}",
        "\033[9'~",
        "\033[3 @",
        "\033[3 A",
        IMAGE,
        "\033[18t",
        "\033[6n",
};

enum { SEQUENCES_N = sizeof sequences / sizeof *sequences, ORDERS_N = 5 };
static const char *situation; /* of the cases that are being made */

/* make_case(i): a sequence in the situation, in one of five orders. */
static void make_case(long i)
{
        static const char *const orders[ORDERS_N][3] = {
                {"", ROWS_ON, ROWS_OFF},       /* the sequence while rows are ours */
                {ROWS_ON, "", ROWS_OFF},       /* rows first, then the situation */
                {"", "", ROWS_ON ROWS_OFF},    /* rows afterwards */
                {"", ROWS_ON SMALLER, LARGER}, /* and a resize at that moment */
                {"", ROWS_ON NARROWER, ROWS_OFF},
        };
        const char *const *order = orders[i % ORDERS_N];
        begin((uint8_t)(i % 8));
        buf_put_str(&in, order[0]);
        buf_put_str(&in, situation);
        buf_put_str(&in, order[1]);
        buf_put_str(&in, sequences[i / ORDERS_N]);
        buf_put_str(&in, "x\r\ny");
        buf_put_str(&in, order[2]);
        buf_put_str(&in, "z\n\033[3;3Hend");
}

static void every_sequence(void)
{
        for (size_t i = 0; i < sizeof situations / sizeof *situations; i++) {
                char name[100];
                situation = situations[i][1];
                long bad = judged(make_case, 0, SEQUENCES_N * ORDERS_N);
                snprintf(name, sizeof name, "%d cases %s", SEQUENCES_N * ORDERS_N,
                         situations[i][0]);
                check(bad < 0, name, "case %ld differs", bad);
        }
}

static uint64_t seed;

static unsigned any(unsigned n)
{
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return (unsigned)(seed >> 33) % n;
}

/* make_any(i): sequences, situations and events, up to sixty in a row. */
static void make_any(long i)
{
        static const char *const events[] = {ROWS_ON,  ROWS_OFF, SMALLER,
                                             NARROWER, LARGER,   "\xff\x04\x04"};
        seed = (uint64_t)i;
        any(2);
        begin((uint8_t)any(8));
        for (unsigned n = 1 + any(60); n > 0; n--) {
                unsigned what = any(8);
                if (what == 0)
                        buf_put_str(&in, events[any(6)]);
                else if (what == 1)
                        buf_put_str(&in,
                                    situations[any(sizeof situations / sizeof *situations)][1]);
                else
                        buf_put_str(&in, sequences[any(SEQUENCES_N)]);
        }
}

/* --- what a user sees ----------------------------------------------------------------------------- */

static struct screen screen;
static struct vt vt;
static struct buf said; /* all that the terminal got since fresh() */

static void tell(struct buf *out)
{
        vt_feed(&vt, out->data, out->len);
        buf_put(&said, out->data, out->len);
        buf_free(out);
}

static void fresh(int row)
{
        screen_free(&screen);
        screen_init(&screen, 24, 80);
        vt_init(&vt, 24, 80, 0);
        vt.at.row = row;
        said.len = 0;
}

static void box(const char *bytes)
{
        static struct filter f;
        struct filter_policy p = filter_normal();
        struct buf passed = {0}, out = {0};
        filter_init(&f, &p);
        filter_feed(&f, bytes, strlen(bytes), &passed);
        screen_feed(&screen, passed.data, passed.len, &out);
        tell(&out);
        buf_free(&passed);
}

static void ours(const char *line)
{
        struct buf out = {0};
        screen_reserve(&screen, &line, line ? 1 : 0, &out);
        tell(&out);
}

static const char *shown(int row)
{
        static char text[VT_COLS + 1];
        int end = 0;
        for (int i = 0; i < vt.cols; i++) {
                uint32_t c = vt_row(&vt, row)[i];
                text[i] = c ? c < 0x80 ? (char)c : '#' : ' ';
                end = c ? i + 1 : end;
        }
        text[end] = 0;
        return text;
}

static void what_is_seen(void)
{
        fresh(0);
        box("\033[2J\033[Hfirst\r\nsecond\033[24;1Hprompt> ");
        ours("question");
        check_str("our row is the last", shown(23), "question");
        check_str("a cursor in the last row: the screen is scrolled first", shown(22), "prompt> ");
        check_str("by one line", shown(0), "second");
        CHECK("the box has a row less", screen.rows == 23);
        CHECK("its cursor is where its text is", vt.at.row == 22 && vt.at.col == 8);
        box("typed");
        check_str("it goes on there", shown(22), "prompt> typed");
        ours(NULL);
        check_str("the row is given back, empty", shown(23), "");
        CHECK("and the whole terminal scrolls again", vt.top == 0 && vt.bottom == 23);

        fresh(9);
        box("one\r\ntwo\r\n$ ");
        ours("question");
        check_str("a cursor that nobody told us of: lines above go, its own are kept", shown(2),
                  "$ ");
        check_str("in order", shown(0), "one");
        CHECK("and it is there", vt.at.row == 2 && vt.at.col == 2);

        fresh(0);
        box("\033[H");
        ours("question");
        box("\033[24;1Hfake \033[999Bfake\n\n\nfake\033[24;24r\033[1;24r\n\n\nfake");
        check_str("a likeness lands above", shown(23), "question");
        box("\033[2J");
        check_str("erased: painted again", shown(23), "question");
        box("\033c");
        check_str("reset: painted again", shown(23), "question");
        box("\033#8");
        check_str("alignment test: painted again", shown(23), "question");
        check_str(
                "which fills the box's rows", shown(22),
                "EEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEEE");
        box("\033[?1049h");
        check_str("on the alternate screen too", shown(23), "question");
        ours(NULL);
        box("\033[?1049l");
        check_str("and not left behind on the main screen", shown(23), "");

        fresh(0);
        box("\033[24;5Hprompt\033[?1049hedit");
        ours("question");
        box("\033[?1049l");
        check_str("back to a prompt in the last row: it moves up", shown(22), "    prompt");
        CHECK("with its cursor", vt.at.row == 22 && vt.at.col == 10);

        fresh(0);
        box("\033[24;1Hx\0337\033[H");
        ours("question");
        box("\0338fake");
        check_str("a cursor that was saved in our row does not come back to it", shown(23),
                  "question");

        fresh(0);
        box("\033[5;1Habc\0337\033[1;1H\033[31m");
        said.len = 0;
        ours("question");
        box("\033[2J");
        ours("other");
        ours(NULL);
        const char *bytes = buf_cstr(&said);
        CHECK("no cursor is saved or restored by us",
              !strstr(bytes, "\0337") && !strstr(bytes, "\0338") && !strstr(bytes, "\033[s") &&
                      !strstr(bytes, "\033[u") && !strstr(bytes, "?1048"));
        CHECK("and none is asked for", !strstr(bytes, "\033[6n"));
        CHECK("colours are the box's again",
              memcmp(&vt.at.pen, &screen.at.pen, sizeof vt.at.pen) == 0 && vt.at.pen.fg.kind == 5);

        fresh(0);
        box("\033[H");
        ours("question");
        said.len = 0;
        box("\033[?2026h\033]11;#000000\033\\\033Pq~~\033\\");
        check_str("what could hide or paint over our row does not pass", buf_cstr(&said), "");
        box("\033[18t");
        check_str("the size of the terminal is the box's", buf_cstr(&screen.typed),
                  "\033[8;23;80t");
        check_str("told by us", buf_cstr(&said), "");

        struct screen small;
        screen_init(&small, 2, 80);
        CHECK("a terminal of two rows has none for us", !screen_may_reserve(&small));
        screen_init(&small, 3, 80);
        CHECK("one of three has", screen_may_reserve(&small));
}

int main(void)
{
        every_sequence();
        long bad = judged(make_any, 1, 1500);
        check(bad < 0, "in any order", "seed %ld differs", bad);
        what_is_seen();
        screen_free(&screen);
        buf_free(&said);
        buf_free(&in);
        return check_end();
}
