/* report_chart.c - the run at a glance: how much happened when, as columns. SVG with attributes of
 * numbers only; colours come from the style. */
#include "base/buf.h"
#include "cli/report.h"
#include "cli/report_html.h"
#include "session/story_time.h"

#include <inttypes.h>

enum { WIDE = 960, HIGH = 150, STEP = WIDE / REPORT_BUCKETS };

static const char *const looks[SERIES_COUNT] = {"s-p", "s-q", "s-f", "s-b"};

/* root(v): of a number from 0 to 1, close enough for a picture. */
static double root(double v)
{
        double x = 1;
        for (int i = 0; v > 0 && i < 20; i++)
                x = (x + v / x) / 2;
        return v > 0 ? x : 0;
}

/* height_of(n, most): a tenth of the most is still seen: the scale is a root. */
static double height_of(uint64_t n, uint64_t most)
{
        return most ? root((double)n / (double)most) * (HIGH - 4) : 0;
}

static void put_column(struct buf *b, const uint32_t v[SERIES_COUNT], size_t i, uint64_t most)
{
        uint64_t sum = 0;
        for (int s = 0; s < SERIES_COUNT; s++)
                sum += v[s];
        if (!sum)
                return;
        double whole = height_of(sum, most), y = HIGH;
        if (whole < 3)
                whole = 3;
        for (int s = 0; s < SERIES_COUNT; s++) {
                if (!v[s])
                        continue;
                double h = whole * (double)v[s] / (double)sum;
                y -= h;
                buf_put_fmt(b,
                            "<rect class=\"%s\" x=\"%zu\" y=\"%.1f\" width=\"%d\" "
                            "height=\"%.1f\" rx=\"1\"/>",
                            looks[s], i * STEP + 1, y, STEP - 2, h);
        }
}

static void put_axis(const struct report *r, struct buf *b)
{
        char t[STORY_TIME_LEN];
        buf_put_str(b, "<div class=\"axis\">");
        for (int i = 0; i <= 4; i++) {
                int64_t at = r->begin_us + (r->end_us - r->begin_us) / 4 * i;
                buf_put_fmt(b, "<span>%.8s</span>", story_time_clock(at, t));
        }
        buf_put_str(b, "</div>\n");
}

void report_chart(const struct report *r, struct buf *b)
{
        uint64_t most = 0;
        for (size_t i = 0; i < REPORT_BUCKETS; i++) {
                uint64_t sum = 0;
                for (int s = 0; s < SERIES_COUNT; s++)
                        sum += r->buckets[i][s];
                if (sum > most)
                        most = sum;
        }
        buf_put_str(b, "<section id=\"activity\"><h2>Activity</h2>\n<p class=\"lead\">");
        html_count(b, r->events_n, "event", "events");
        buf_put_str(b, " over the life of the box</p>\n<div class=\"key\">"
                       "<span><i class=\"p\"></i>processes</span>"
                       "<span><i class=\"q\"></i>requests</span>"
                       "<span><i class=\"f\"></i>changed files</span>"
                       "<span><i class=\"b\"></i>refusals and alarms</span></div>\n");
        buf_put_fmt(b,
                    "<svg class=\"chart\" viewBox=\"0 0 %d %d\" preserveAspectRatio=\"none\" "
                    "role=\"img\" aria-label=\"Events over time\">"
                    "<rect class=\"s-l\" x=\"0\" y=\"%d\" width=\"%d\" height=\"1\"/>",
                    WIDE, HIGH, HIGH - 1, WIDE);
        for (size_t i = 0; i < REPORT_BUCKETS; i++)
                put_column(b, r->buckets[i], i, most);
        buf_put_str(b, "</svg>\n");
        put_axis(r, b);
        buf_put_str(b, "</section>\n");
}
