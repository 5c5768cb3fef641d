/* report_tables.c - the two long tables: processes as a tree, and the changed files, those first
 * that are more than plain. */
#include "base/buf.h"
#include "base/str.h"
#include "cli/report.h"
#include "cli/report_html.h"
#include "session/story_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- processes -------------------------------------------------------------------------------- */

enum { INDENT_MAX = 8 };

/* put_bar(r, p, b): when it lived, within the life of the box. */
static void put_bar(const struct report *r, const struct report_process *p, struct buf *b)
{
        double span = (double)(r->end_us - r->begin_us);
        double x = span > 0 ? (double)(p->begin_us - r->begin_us) / span * 1000 : 0;
        double end = span > 0 && p->end_us ? (double)(p->end_us - r->begin_us) / span * 1000 : 1000;
        if (x < 0)
                x = 0;
        if (x > 997)
                x = 997;
        if (end > 1000)
                end = 1000;
        if (end < x + 3)
                end = x + 3; /* a short one is seen too */
        buf_put_fmt(b,
                    "<svg class=\"bar\" viewBox=\"0 0 1000 9\" preserveAspectRatio=\"none\"><rect "
                    "class=\"s-l\" width=\"1000\" height=\"9\"/><rect class=\"%s\" x=\"%.0f\" "
                    "width=\"%.0f\" height=\"9\"/></svg>",
                    p->end_us && p->status ? "s-b" : "s-p", x, end - x);
}

static void put_process(const struct report *r, const struct report_process *p, unsigned depth,
                        struct buf *b)
{
        buf_put_fmt(b, "<tr><td class=\"w mono\"><div class=\"i%u\">",
                    depth < INDENT_MAX ? depth : INDENT_MAX);
        html_shown(b, p->what, 400);
        buf_put_fmt(b, "</div></td><td class=\"r\" data-l=\"pid\">%" PRIu64 "</td><td class=\"r\">",
                    p->pid);
        if (p->end_us)
                html_span(b, p->end_us - p->begin_us);
        else
                buf_put_str(b, "no end");
        buf_put_str(b, "</td><td class=\"r\" data-l=\"CPU\">");
        if (p->end_us)
                html_span(b, (int64_t)(p->cpu_us & INT64_MAX));
        buf_put_str(b, "</td><td class=\"r\" data-l=\"peak\">");
        if (p->peak_kib && p->peak_kib < UINT64_MAX / 1024)
                html_size(b, p->peak_kib * 1024);
        buf_put_str(b, "</td><td class=\"r\" data-l=\"exit\">");
        if (p->end_us)
                buf_put_fmt(b, "%" PRIu64, p->status);
        buf_put_str(b, "</td><td class=\"bars\">");
        put_bar(r, p, b);
        buf_put_str(b, "</td></tr>\n");
}

/* put_tree(r, b): parents before children, without recursion: the depth is the box's to choose. */
static size_t put_tree(const struct report *r, struct buf *b)
{
        size_t shown = 0;
        unsigned depth = 0;
        for (uint32_t at = r->roots; at && shown < REPORT_PROCESS_ROWS;) {
                const struct report_process *p = &r->processes[at - 1];
                put_process(r, p, depth, b);
                shown++;
                if (p->child) {
                        at = p->child;
                        depth++;
                        continue;
                }
                while (at && !r->processes[at - 1].next) {
                        at = r->processes[at - 1].parent;
                        depth -= depth > 0;
                }
                if (at)
                        at = r->processes[at - 1].next;
        }
        return shown;
}

void report_processes(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<section id=\"processes\"><h2>Processes</h2>\n");
        if (!r->processes_n) {
                buf_put_str(b, "<p class=\"none\">The log holds no processes.</p></section>\n");
                return;
        }
        buf_put_str(b,
                    "<p class=\"lead\">Children stand below their parents; bars show when each "
                    "lived, red ones ended with a status other than 0.</p>\n"
                    "<div class=\"scroll\"><table class=\"fold\"><thead><tr><th>Command</th>"
                    "<th class=\"r\">Pid</th><th class=\"r\">Lived</th><th class=\"r\">CPU</th>"
                    "<th class=\"r\">Peak</th><th class=\"r\">Exit</th><th>When</th></tr></thead>"
                    "<tbody>\n");
        uint64_t more = r->processes_n - put_tree(r, b) + r->processes_more;
        buf_put_str(b, "</tbody></table></div>\n");
        if (more) {
                buf_put_str(b, "<p class=\"more\">and ");
                html_num(b, more);
                buf_put_str(b, " more; <code>ostiary timeline ");
                html_text(b, r->id);
                buf_put_str(b, " --kind process</code> shows all</p>\n");
        }
        buf_put_str(b, "</section>\n");
}

/* --- changes ---------------------------------------------------------------------------------- */

static int by_class(const void *a, const void *b)
{
        const struct report_change *x = a, *y = b;
        bool xp = x->class == FILE_PLAIN && !x->refused, yp = y->class == FILE_PLAIN && !y->refused;
        if (xp != yp)
                return xp ? 1 : -1;
        if (x->class != y->class)
                return x->class < y->class ? -1 : 1;
        return strcmp(x->name, y->name);
}

void report_changes_sort(struct report *r)
{
        if (r->changes_n)
                qsort(r->changes, r->changes_n, sizeof r->changes[0], by_class);
}

static void put_change(const struct report_change *c, struct buf *b)
{
        char t[STORY_TIME_LEN];
        const char *what = ws_what_name(c->what);
        buf_put_fmt(b, "<tr><td class=\"t\">%.8s</td><td class=\"what-%s\">%s</td>",
                    c->time_us ? story_time_clock(c->time_us, t) : "", what, what);
        buf_put_str(b, "<td class=\"w mono\">");
        if (c->from) {
                html_cut(b, c->from, 400);
                buf_put_str(b, " &rarr; ");
        }
        html_cut(b, c->name, 400);
        buf_put_str(b, c->kind == WS_DIR ? "/</td><td>" : "</td><td>");
        if (c->class != FILE_PLAIN) {
                buf_put_fmt(b, "<span class=\"tag class\">%s</span> ", file_class_words(c->class));
                html_text(b, c->why);
        }
        if (c->is_applied)
                buf_put_str(b, " <span class=\"tag\">applied since</span>");
        if (c->refused) {
                buf_put_str(b, " <span class=\"tag refused\">cannot be applied</span> ");
                html_text(b, c->refused);
        }
        buf_put_str(b, "</td><td class=\"r\" data-l=\"size\">");
        if (c->kind == WS_FILE && c->what != WS_DELETED)
                html_size(b, c->size);
        buf_put_str(b, "</td></tr>\n");
}

static void put_changes_lead(const struct report *r, struct buf *b)
{
        bool is_first = true;
        buf_put_str(b, "<p class=\"lead\">Files that the box left changed; "
                       "those that something runs or obeys come first. ");
        for (int i = 0; i <= WS_RENAMED; i++) {
                if (!r->whats_n[i])
                        continue;
                buf_put_str(b, is_first ? "" : ", ");
                html_num(b, r->whats_n[i]);
                buf_put_fmt(b, " %s", ws_what_name((enum ws_what)i));
                is_first = false;
        }
        if (r->ignored_n) {
                buf_put_str(b, is_first ? "" : ", ");
                html_num(b, r->ignored_n);
                buf_put_str(b, " files of build output (");
                html_size(b, r->ignored_bytes);
                buf_put_str(b, ") left out");
        }
        buf_put_str(b, ".</p>\n");
}

/* put_changes_notes(r, b): in diff's own words, which quote what the box wrote. */
static void put_changes_notes(const struct report *r, struct buf *b)
{
        for (size_t i = 0; i < r->change_notes.n; i++) {
                buf_put_str(b, "<p class=\"facts\">");
                html_cut(b, r->change_notes.v[i], 400);
                buf_put_str(b, "</p>\n");
        }
}

void report_changes(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<section id=\"changes\"><h2>Changes</h2>\n");
        if (*r->no_changes) {
                buf_put_str(b, "<p class=\"none\">The changes cannot be shown: ");
                html_text(b, r->no_changes);
                buf_put_str(b, "</p>\n");
        } else if (!r->changes_n) {
                buf_put_str(b, "<p class=\"none\">No file is left changed.</p>\n");
        }
        put_changes_notes(r, b);
        if (!r->changes_n) {
                buf_put_str(b, "</section>\n");
                return;
        }
        put_changes_lead(r, b);
        buf_put_str(b, "<div class=\"scroll\"><table class=\"fold\"><thead><tr><th>Time</th>"
                       "<th>What</th><th>Path</th><th>Means</th><th class=\"r\">Size</th></tr>"
                       "</thead><tbody>\n");
        for (size_t i = 0; i < r->changes_n; i++)
                put_change(&r->changes[i], b);
        buf_put_str(b, "</tbody></table></div>\n");
        if (r->changes_more) {
                buf_put_str(b, "<p class=\"more\">and ");
                html_num(b, r->changes_more);
                buf_put_str(b, " more; <code>ostiary diff --stat ");
                html_text(b, r->id);
                buf_put_str(b, "</code> shows all</p>\n");
        }
        buf_put_str(b, "</section>\n");
}
