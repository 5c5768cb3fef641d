/* filter_modes.c - which terminal modes a box may switch, and how each is put back at its end.
 *
 * Called by filter_csi.c for every mode that a box sets, and by term.c at the end, also from a
 * signal handler: filter_reset only copies bytes. */
#include "cli/filter.h"

#include "cli/seq.h"

#include <string.h>

/* Private modes a box may change. Not here, hence refused: 2 (leaves ANSI altogether, after which
 * nobody knows what a sequence is), 3 and 40 (window size), 1001 (freezes until answered), 1042 and
 * 1043 (window urgency and raising), keyboard translations. The order is the order of undoing: the
 * alternate screen is left last. */
static const struct {
        unsigned number;
        bool is_usual_on;
} modes[] = {
        {2026, false}, {1000, false}, {1002, false}, {1003, false}, {1004, false}, {1005, false},
        {1006, false}, {1007, false}, {1015, false}, {1016, false}, {9, false},    {2004, false},
        {2027, false}, {2031, false}, {2048, false}, {1, false},    {5, false},    {6, false},
        {7, true},     {12, false},   {45, false},   {66, false},   {69, false},   {80, false},
        {1070, true},  {8452, false}, {1034, false}, {1035, true},  {1036, true},  {1039, false},
        {8, true},     {25, true},    {1048, false}, {47, false},   {1047, false}, {1049, false},
};

enum { MODES_N = sizeof modes / sizeof *modes };
_Static_assert(MODES_N <= 64, "filter_modes.on has one bit for each");

/* 8 (key repeat), 12 (blink), 80, 1070 and the meta-key modes differ between terminals and harm
 * nobody; they are passed on and left alone. 1048 only saves the cursor. */
static bool is_left_alone(unsigned number)
{
        switch (number) {
        case 8:
        case 12:
        case 80:
        case 1034:
        case 1035:
        case 1036:
        case 1039:
        case 1048:
        case 1070:
        case 8452:
                return true;
        default:
                return false;
        }
}

bool filter_mode(struct filter_modes *m, unsigned number, bool is_on)
{
        for (size_t i = 0; i < MODES_N; i++) {
                if (modes[i].number != number)
                        continue;
                if (is_on != modes[i].is_usual_on && !is_left_alone(number))
                        m->on |= (uint64_t)1 << i;
                else
                        m->on &= ~((uint64_t)1 << i);
                return true;
        }
        return false;
}

static void put_mode(struct seq *q, unsigned number, bool is_on)
{
        seq_put(q, "\033[?");
        seq_number(q, number);
        seq_put(q, is_on ? "h" : "l");
}

size_t filter_reset(const struct filter_modes *m, char *out, size_t cap)
{
        struct seq q = {.p = out, .cap = cap};
        if (!m->is_dirty)
                return 0;
        /* Each screen has a keyboard stack of its own: pop here, and again below. */
        if (m->has_kitty)
                seq_put(&q, "\033[<9u\033[=0u");
        for (size_t i = 0; i < MODES_N; i++)
                if (m->on & (uint64_t)1 << i)
                        put_mode(&q, modes[i].number, modes[i].is_usual_on);
        if (m->has_kitty)
                seq_put(&q, "\033[<9u\033[=0u");
        if (m->has_keys)
                seq_put(&q, "\033[>4m");
        if (m->has_region)
                seq_put(&q, "\0337\033[r\0338"); /* margins; setting them would move the cursor */
        if (m->has_charset)
                seq_put(&q, "\033(B\017");
        if (m->has_keypad)
                seq_put(&q, "\033>");
        if (m->has_insert)
                seq_put(&q, "\033[4;20l");
        if (m->has_style)
                seq_put(&q, "\033[0 q");
        if (m->has_colour)
                seq_put(&q, "\033]104\033\\\033]110\033\\\033]111\033\\\033]112\033\\");
        if (m->has_title)
                seq_put(&q, "\033[23;0t");
        seq_put(&q, "\033]8;;\033\\\033[0m\033[?25h");
        return q.n;
}
