/* detach_test.c - the prefix and its letter among what a terminal says by itself: reports pass to the
 * box and disarm nothing; keys do. Every case is fed whole, byte by byte where a terminal could be cut,
 * and in two pieces at every place. */
#include "base/buf.h"
#include "cli/detach.h"
#include "unit/check.h"

#include <stdio.h>
#include <string.h>

/* fed(d, p, n, out): what happened last that was something. */
static enum detach_event fed(struct detach *d, const char *p, size_t n, struct buf *out)
{
        enum detach_event last = DETACH_NOTHING;
        while (n > 0) {
                enum detach_event event;
                char letter;
                size_t used = detach_feed(d, (const uint8_t *)p, n, out, &event, &letter);
                if (event == DETACH_PREFIX)
                        d->takes = "y";
                if (event != DETACH_NOTHING)
                        last = event;
                p += used;
                n -= used;
        }
        return last;
}

/* passes(name, report, len): between the prefix and its letter, whole and cut at every place behind
 * its second byte (an Escape alone is a key). */
static void passes(const char *name, const char *report, size_t len)
{
        for (size_t cut = 3; cut <= len; cut++) {
                if (cut < len && (report[cut] == '[' || report[cut - 1] == '['))
                        continue;
                struct detach d;
                struct buf out = {0};
                detach_parse("ctrl-]", &d);
                enum detach_event first = fed(&d, "\x1d", 1, &out);
                enum detach_event during = fed(&d, report, cut, &out);
                if (cut < len)
                        during |= fed(&d, report + cut, len - cut, &out);
                enum detach_event then = fed(&d, "d", 1, &out);
                bool is_so = first == DETACH_PREFIX && during == DETACH_NOTHING &&
                             then == DETACH_LEAVE && out.len == len &&
                             memcmp(out.data, report, len) == 0;
                if (!is_so || cut == len) {
                        CHECK(name, is_so);
                        cut = len;
                }
                buf_free(&out);
        }
}

/* both(name, typed, want): a key between disarms: it and what follows go to the box. */
static void both(const char *name, const char *typed)
{
        struct detach d;
        struct buf out = {0};
        detach_parse("ctrl-]", &d);
        fed(&d, "\x1d", 1, &out);
        enum detach_event then = fed(&d, typed, strlen(typed), &out);
        fed(&d, "d", 1, &out);
        CHECK(name, then == DETACH_OTHER && out.len == strlen(typed) + 2 &&
                            out.data[out.len - 1] == 'd' && out.data[0] == 0x1d);
        buf_free(&out);
}

#define PASSES(name, report) passes(name, report, sizeof(report) - 1)

int main(void)
{
        PASSES("where the cursor is", "\033[12;40R");
        PASSES("where the cursor is, with its page", "\033[?12;40;1R");
        PASSES("many answers in one piece", "\033[1;1R\033[1;2R\033[0n\033[I");
        PASSES("the focus comes", "\033[I");
        PASSES("the focus goes", "\033[O");
        PASSES("the mouse", "\033[<35;10;20M");
        PASSES("the mouse lets go", "\033[<0;10;20m");
        PASSES("the mouse of rxvt", "\033[35;10;20M");
        PASSES("the state", "\033[0n");
        PASSES("the kind, longer than any key", "\033[?64;1;2;4;6;9;15;18;21;22;28;29;42;52c");
        PASSES("the second kind", "\033[>41;380;0c");
        PASSES("a mode", "\033[?2026;2$y");
        PASSES("the keyboard's mode", "\033[?1u");
        PASSES("a size in points", "\033[4;600;800t");
        PASSES("a colour, BEL", "\033]11;rgb:1e1e/1e1e/1e1e\007");
        PASSES("a colour, ST", "\033]10;rgb:dddd/dddd/dddd\033\\");
        PASSES("the version", "\033P>|XTerm(380)\033\\");
        PASSES("a capability", "\033P1+r544e=787465726d\033\\");
        PASSES("an image's answer", "\033_Gi=31;OK\033\\");

        struct detach d;
        struct buf out = {0};
        detach_parse("ctrl-]", &d);
        const char old_mouse[] = "\033[M\x1d\x64\x64";
        fed(&d, old_mouse, sizeof old_mouse - 1, &out);
        CHECK("the mouse of old may hold the prefix's byte", !d.is_armed && out.len == 6);

        both("an arrow is a key", "\033[A");
        both("Escape is a key", "\033");
        both("a function key is a key", "\033[15~");
        both("Enter is a key", "\r");

        detach_parse("ctrl-]", &d);
        out.len = 0;
        fed(&d, "\033]0;no end", 10, &out);
        CHECK("the prefix ends a string that has no end",
              fed(&d, "\x1d", 1, &out) == DETACH_PREFIX && fed(&d, "d", 1, &out) == DETACH_LEAVE);
        detach_parse("ctrl-]", &d);
        fed(&d, "\033]", 2, &out);
        CHECK("Alt and ] is a key, and the prefix behind it counts",
              fed(&d, "\x1d", 1, &out) == DETACH_PREFIX);
        detach_parse("ctrl-]", &d);
        const char paste[] = "\033[200~\033]0;x\x1d\x64\033[201~";
        CHECK("a paste holds no key", fed(&d, paste, sizeof paste - 1, &out) == DETACH_NOTHING &&
                                              !d.is_paste && !d.is_armed);
        buf_free(&out);
        return check_end();
}
