/* report_timeline.c - the events themselves, in order, with a choice of kinds that needs no script:
 * each kind is a checkbox, and the style hides the rows of those that are off. */
#include "base/buf.h"
#include "cli/report.h"
#include "cli/report_html.h"
#include "session/story_time.h"

#include <stdio.h>
#include <string.h>

void report_row_put(const struct report_row *w, struct buf *b)
{
        char t[STORY_TIME_LEN], utc[STORY_TIME_LEN];
        buf_put_fmt(b,
                    "<tr class=\"ev g-%s%s\"><td class=\"t\"><time datetime=\"%s\">%s</time></td>"
                    "<td><span class=\"tag\">",
                    story_group_name(w->group), w->is_bad ? " is-bad" : "",
                    story_time_utc(w->time_us, utc), story_time_clock(w->time_us, t));
        html_shown(b, w->kind, 24);
        buf_put_str(b, "</span></td><td class=\"who mono\">");
        html_shown(b, w->who, 60);
        buf_put_str(b, "</td><td class=\"w mono\">");
        html_shown(b, w->what, 1000);
        buf_put_str(b, "</td></tr>\n");
}

static void put_choice(const struct report *r, struct buf *b)
{
        for (int g = 0; g < STORY_GROUP_COUNT; g++) {
                if (!r->groups_n[g])
                        continue;
                const char *name = story_group_name((enum story_group)g);
                buf_put_fmt(b,
                            "<input class=\"pick\" type=\"checkbox\" checked id=\"k-%s\">"
                            "<label for=\"k-%s\">%s ",
                            name, name, name);
                html_num(b, r->groups_n[g]);
                buf_put_str(b, "</label>\n");
        }
        if (r->denied_n || r->alarms_n)
                buf_put_str(b, "<input class=\"pick\" type=\"checkbox\" id=\"k-bad\">"
                               "<label for=\"k-bad\">only refusals and alarms</label>\n");
}

/* put_day(b, us, last): a line of its own when a new day begins. */
static void put_day(struct buf *b, int64_t us, char last[STORY_TIME_LEN])
{
        char day[STORY_TIME_LEN];
        if (strcmp(story_time_day(us, day), last) == 0)
                return;
        memcpy(last, day, sizeof day);
        buf_put_fmt(b, "<tr><td colspan=\"4\"><b>%s</b></td></tr>\n", day);
}

void report_timeline(const struct report *r, struct buf *b)
{
        char zone[STORY_TIME_LEN], day[STORY_TIME_LEN] = "";
        buf_put_fmt(b,
                    "<section id=\"timeline\"><h2>Timeline</h2>\n<p class=\"lead\">Everything that "
                    "is recorded, in order; times in %s. A request stands where it began.</p>\n",
                    story_time_zone(r->begin_us, zone));
        if (!r->rows_n) {
                buf_put_str(b, "<p class=\"none\">Nothing was recorded.</p></section>\n");
                return;
        }
        put_choice(r, b);
        buf_put_str(b, "<div class=\"scroll\"><table class=\"fold\"><thead><tr><th>Time</th>"
                       "<th>Kind</th><th>Process</th><th>What</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < r->rows_n; i++) {
                size_t at = i < REPORT_ROWS
                                    ? i
                                    : REPORT_ROWS + (r->ring_at + i - REPORT_ROWS) % REPORT_ROWS;
                if (r->rows_n < (size_t)2 * REPORT_ROWS)
                        at = i;
                if (i == REPORT_ROWS && r->rows_more) {
                        buf_put_str(b, "<tr><td colspan=\"4\" class=\"gap\">and ");
                        html_num(b, r->rows_more);
                        buf_put_str(b, " more; <code>ostiary timeline ");
                        html_text(b, r->id);
                        buf_put_str(b, "</code> shows all</td></tr>\n");
                }
                put_day(b, r->rows[at].time_us, day);
                report_row_put(&r->rows[at], b);
        }
        buf_put_str(b, "</tbody></table></div>\n");
        if (r->reads_n) {
                buf_put_str(b, "<p class=\"more\">");
                html_count(b, r->reads_n, "open", "opens");
                buf_put_str(b, " for reading left out; <code>ostiary timeline ");
                html_text(b, r->id);
                buf_put_str(b, " --kind open</code> shows them</p>\n");
        }
        buf_put_str(b, "</section>\n");
}
