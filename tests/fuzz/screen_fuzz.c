/* screen_fuzz.c - any output of a box through the filter and the screen model to a terminal with
 * cells, while rows are taken and given back and the terminal is resized. Whatever the box writes:
 * our rows show what we wrote, the cursor is not in them, and the model knows where it is, with which
 * margins and which colours; and nobody but the box asks where the cursor is.
 *
 * Byte 0 chooses the kind of terminal, 1 and 2 where its cursor stands. 0xff begins an event. */
#include "base/buf.h"
#include "cli/filter.h"
#include "cli/screen.h"
#include "unit/libterm.h"

#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct screen screen;
static struct filter filter;
static struct vt vt;

static void screen_fuzz_fail(const char *what)
{
        fprintf(stderr,
                "%s: model row %u-%u col %u pending %d margins %u-%u rows %u+%u; terminal row %d "
                "col %d pending %d margins %d-%d rows %d\n",
                what, screen.at.lo, screen.at.hi, screen.at.col, screen.at.is_pending, screen.top,
                screen.bottom, screen.rows, screen.below, vt.at.row, vt.at.col, vt.at.is_pending,
                vt.top, vt.bottom, vt.rows);
        abort();
}

#define HOLDS(what, is_so)                                                                         \
        do {                                                                                       \
                if (!(is_so))                                                                      \
                        screen_fuzz_fail(what);                                                    \
        } while (0)

static void screen_fuzz_rows(void)
{
        for (unsigned i = 0; i < screen.below; i++) {
                const char *line = screen.lines[i];
                size_t len = strlen(line);
                for (unsigned k = 0; k < screen.cols; k++) {
                        uint32_t want = k < len ? (uint32_t)line[k] : 0;
                        HOLDS("our row", vt_row(&vt, (int)(screen.rows + i))[k] == want);
                }
        }
}

static void screen_fuzz_check(void)
{
        const struct screen_cursor *c = &screen.at;
        HOLDS("size", (unsigned)vt.rows == screen.rows + screen.below);
        HOLDS("order", c->lo <= c->hi && c->hi < screen.rows);
        screen_fuzz_rows();
        if (screen.below) {
                HOLDS("known", c->lo == c->hi && !c->is_adrift);
                HOLDS("above our rows", (unsigned)vt.at.row < screen.rows);
        }
        if (screen.state != SCREEN_TEXT || vt.state)
                return;
        HOLDS("row", (unsigned)vt.at.row >= c->lo && (unsigned)vt.at.row <= c->hi);
        HOLDS("margins", (unsigned)vt.top == screen.top && (unsigned)vt.bottom == screen.bottom);
        HOLDS("sides", vt.has_sides == screen.has_sides &&
                               (!vt.has_sides || ((unsigned)vt.left == screen.left &&
                                                  (unsigned)vt.right == screen.right)));
        HOLDS("origin", vt.at.is_origin == c->is_origin);
        HOLDS("wrapping",
              screen.below ? vt.has_wrap == !screen.is_wrap_off : vt.has_wrap == screen.has_wrap);
        HOLDS("insert", vt.has_insert == screen.has_insert);
        HOLDS("colours", memcmp(&vt.at.pen, &c->pen, sizeof c->pen) == 0);
        if (c->is_adrift)
                return;
        HOLDS("column", (unsigned)vt.at.col == c->col);
        if (!screen.is_wrap_off)
                HOLDS("full line", vt.at.is_pending == c->is_pending);
}

static void screen_fuzz_out(struct buf *out)
{
        vt_feed(&vt, out->data, out->len);
        out->len = 0;
        screen_fuzz_check();
}

/* screen_fuzz_event(p, out): two bytes: what, and how much. */
static void screen_fuzz_event(const uint8_t *p, struct buf *out)
{
        static const char *const lines[] = {"ostiary: allow \"GET https://example.test/\"? y n a",
                                            "second", "", "fourth"};
        unsigned total = screen.rows + screen.below;
        switch (p[0] % 4) {
        case 0:
                screen_reserve(&screen, lines, p[1] % 5, out);
                break;
        case 1:
                screen_reserve(&screen, NULL, 0, out);
                break;
        case 2: {
                unsigned rows = 1 + p[1] % 40;
                vt_resize(&vt, (int)rows, (int)screen.cols, 0);
                screen_resize(&screen, rows, screen.cols, out);
                break;
        }
        case 3: {
                unsigned cols = 1 + p[1] % 100;
                vt_resize(&vt, (int)total, (int)cols, p[1]);
                screen_resize(&screen, total, cols, out);
                break;
        }
        }
        screen_fuzz_out(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
        if (n < 3)
                return 0;
        struct buf passed = {0}, out = {0};
        struct filter_policy p = filter_normal();
        screen_init(&screen, 24, 80);
        filter_init(&filter, &p);
        vt_init(&vt, 24, 80, data[0] & 7);
        vt.at.row = data[1] % 24;
        screen.at.col = (unsigned)(vt.at.col = data[2] % 80);
        unsigned asked = 0;
        for (size_t i = 3; i < n;) {
                if (data[i] == 0xff && i + 2 < n) {
                        screen_fuzz_event(data + i + 1, &out);
                        i += 3;
                        continue;
                }
                passed.len = 0;
                filter_feed(&filter, data + i, 1, &passed);
                for (size_t k = 0; k + 3 < passed.len; k++)
                        asked += memcmp(passed.data + k, "\033[6n", 4) == 0;
                screen_feed(&screen, passed.data, passed.len, &out);
                if (passed.len)
                        screen_fuzz_out(&out);
                i++;
        }
        HOLDS("reports", vt.reports_n <= asked);
        char undo[SCREEN_UNDO_MAX];
        vt_feed(&vt, undo, screen_undo(&screen, undo, sizeof undo));
        HOLDS("undone", !screen.below || (vt.top == 0 && vt.bottom == vt.rows - 1));
        screen_free(&screen);
        buf_free(&passed);
        buf_free(&out);
        return 0;
}
