/* report_html.c - see report_html.h. */
#include "cli/report_html.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "session/story_time.h"

#include <stdio.h>
#include <string.h>

static const char *reference(char c)
{
        switch (c) {
        case '&':
                return "&amp;";
        case '<':
                return "&lt;";
        case '>':
                return "&gt;";
        case '"':
                return "&quot;";
        case '\'':
                return "&#39;";
        case '`':
                return "&#96;";
        default:
                return NULL;
        }
}

void html_shown(struct buf *b, const char *s, unsigned n)
{
        size_t len = strlen(s), most = len < n ? len : n;
        while (most < len && most > 0 && ((unsigned char)s[most] & 0xc0) == 0x80)
                most--; /* not in the middle of a character */
        for (size_t i = 0; i < most; i++) {
                const char *ref = reference(s[i]);
                if (ref)
                        buf_put_str(b, ref);
                else
                        buf_put_u8(b, (uint8_t)s[i]);
        }
        if (most < len)
                buf_put_str(b, "...");
}

void html_cut(struct buf *b, const char *s, unsigned n)
{
        _cleanup_free_ char *shown = str_quote(s);
        html_shown(b, shown, n);
}

void html_text(struct buf *b, const char *s)
{
        html_cut(b, s, 4096);
}

void html_num(struct buf *b, uint64_t n)
{
        char digits[24];
        int len = snprintf(digits, sizeof digits, "%llu", (unsigned long long)n);
        for (int i = 0; i < len; i++) {
                if (i && (len - i) % 3 == 0)
                        buf_put_u8(b, ',');
                buf_put_u8(b, (uint8_t)digits[i]);
        }
}

void html_size(struct buf *b, uint64_t bytes)
{
        char words[16];
        buf_put_str(b, str_size_words(bytes, words));
}

void html_span(struct buf *b, int64_t us)
{
        char words[STORY_TIME_LEN];
        buf_put_str(b, story_time_span_words(us, words));
}

void html_count(struct buf *b, uint64_t n, const char *one, const char *many)
{
        html_num(b, n);
        buf_put_u8(b, ' ');
        buf_put_str(b, n == 1 ? one : many);
}
