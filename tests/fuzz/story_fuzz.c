/* story_fuzz.c - whatever is typed as a time or a filter, and whatever a log's line says: no read
 * beyond the end, a time that is understood reads back as itself, and no text of a record reaches a
 * terminal or a page raw. */
#include "audit/audit_query.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/report_html.h"
#include "cli/story_text.h"
#include "session/story.h"
#include "session/story_time.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void times(const char *text)
{
        struct story_frame f = {.begin_us = INT64_C(1763256900000000),
                                .end_us = INT64_C(1763266900000000),
                                .now_us = INT64_C(1763276900000000)};
        char shown[STORY_TIME_LEN];
        int64_t us, back, until;
        if (story_time_parse(text, &f, &us, NULL) == 0) {
                story_time_utc(us, shown);
                if (*shown && (story_time_of(shown, &back) < 0 || back != us))
                        abort();
                story_time_clock(us, shown);
                story_time_zone(us, shown);
                story_time_span_words(us, shown);
        }
        if (story_time_span(text, text, &f, &us, &until, NULL) == 0 && until < us)
                abort();
}

static void check_clean(const char *shown)
{
        for (const char *p = shown; *p; p++)
                if ((unsigned char)*p < 0x20 || *p == 0x7f)
                        abort();
        struct buf b = {0};
        html_shown(&b, shown, 100);
        html_text(&b, shown);
        if (strpbrk(buf_cstr(&b), "<>\"'`"))
                abort();
        buf_free(&b);
}

static void records(const char *line, size_t n, struct story_filter *f)
{
        struct audit_record r;
        struct buf strings = {0};
        if (audit_record_parse(line, n, &r, &strings) == 0) {
                char *what = story_text_record(&r), *who = story_text_who(&r);
                check_clean(what);
                check_clean(who);
                story_filter_record(f, &r);
                free(what);
                free(who);
        }
        buf_free(&strings);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
        if (n > 8192)
                return 0;
        char *text = malloc(n + 1);
        if (!text)
                abort();
        memcpy(text, data, n);
        text[n] = 0;
        /* The first line is what was typed, the second what the log says. */
        char *second = strchr(text, '\n');
        if (second)
                *second++ = 0;
        times(text);
        struct story_filter f;
        story_filter_init(&f);
        story_filter_kinds(&f, text, NULL);
        f.path = f.host = f.process = *text ? text : NULL;
        f.workspace = "/ws";
        if (second) {
                records(second, strlen(second), &f);
                struct story_change c = {.name = second, .what = WS_ADDED};
                char *what = story_text_change(&c);
                check_clean(what);
                free(what);
                story_filter_change(&f, &c);
        }
        story_filter_free(&f);
        free(text);
        return 0;
}
