/* report_sections.c - what needs a look first, who was contacted, and which secrets were used. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "cli/report.h"
#include "cli/report_html.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static void put_list(const struct report *r, const struct report_list *l, const char *flags,
                     struct buf *b)
{
        buf_put_str(b, "<div class=\"scroll\"><table class=\"fold\"><thead><tr><th>Time</th>"
                       "<th>Kind</th><th>Process</th><th>What</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < l->n; i++)
                report_row_put(&l->v[i], b);
        buf_put_str(b, "</tbody></table></div>\n");
        if (!l->more)
                return;
        buf_put_str(b, "<p class=\"more\">and ");
        html_num(b, l->more);
        buf_put_str(b, " more; <code>ostiary timeline ");
        html_text(b, r->id);
        buf_put_fmt(b, " %s</code> shows all</p>\n", flags);
}

void report_noted(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<section id=\"alarms\"><h2>Refusals and alarms</h2>\n");
        if (r->bad.n) {
                buf_put_str(b, "<p class=\"lead\">What the box tried and did not get, and secrets "
                               "seen where they have no business.</p>\n");
                put_list(r, &r->bad, "--kind denied,alarm", b);
        } else {
                buf_put_str(b, "<p class=\"none\">None.</p>\n");
        }
        if (r->absent_n) {
                buf_put_str(b, "<p class=\"more\">");
                html_count(b, r->absent_n, "more call was", "more calls were");
                buf_put_str(b, " answered with \"no such call\", which programs do without.</p>\n");
        }
        buf_put_str(b, "</section>\n<section id=\"approvals\"><h2>Approvals</h2>\n");
        if (r->approvals.n)
                put_list(r, &r->approvals, "--kind approval", b);
        else
                buf_put_str(b, "<p class=\"none\">Nobody was asked.</p>\n");
        if (r->reviews.n) {
                buf_put_str(b, "<h3>Applied and taken back</h3>\n");
                put_list(r, &r->reviews, "--kind review", b);
        }
        buf_put_str(b, "</section>\n");
}

/* --- hosts ------------------------------------------------------------------------------------ */

static int by_weight(const void *a, const void *b)
{
        const struct report_host *x = a, *y = b;
        bool xd = x->denied_n != 0, yd = y->denied_n != 0;
        if (xd != yd)
                return xd ? -1 : 1;
        uint64_t xb = x->bytes_up + x->bytes_down, yb = y->bytes_up + y->bytes_down;
        if (xb != yb)
                return xb > yb ? -1 : 1;
        return x->n != y->n ? (x->n > y->n ? -1 : 1) : strcmp(x->host, y->host);
}

void report_hosts_sort(struct report *r)
{
        if (r->hosts_n)
                qsort(r->hosts, r->hosts_n, sizeof r->hosts[0], by_weight);
}

/* put_cure(r, h, b): the command that would allow it. A rule that could end the quotes it stands in
 * is not offered for copying. */
static void put_cure(const struct report *r, const struct report_host *h, struct buf *b)
{
        _cleanup_free_ char *shown = str_quote(h->cure);
        if (!*shown || strchr(shown, '\'') || strs_has(&r->alarmed, h->host))
                return;
        buf_put_str(b, "<br><code>ostiary allow ");
        html_text(b, r->id);
        buf_put_str(b, " &#39;");
        html_shown(b, str_starts(shown, "allow ") ? shown + 6 : shown, 600);
        buf_put_str(b, "&#39;</code>");
}

static void put_host(const struct report *r, const struct report_host *h, uint64_t most,
                     struct buf *b)
{
        uint64_t bytes = h->bytes_up + h->bytes_down;
        double part = most ? (double)bytes / (double)most * 1000 : 0;
        buf_put_fmt(b, "<tr%s><td class=\"w mono\">", h->denied_n ? " class=\"is-bad\"" : "");
        html_cut(b, h->host, 260);
        if (h->port && h->port != 443 && h->port != 80)
                buf_put_fmt(b, ":%" PRIu64, h->port);
        if (h->denied_n)
                put_cure(r, h, b);
        buf_put_str(b, "</td><td class=\"r\" data-l=\"requests\">");
        html_num(b, h->n);
        buf_put_str(b, "</td><td class=\"r\" data-l=\"refused\">");
        html_num(b, h->denied_n);
        buf_put_str(b, "</td><td class=\"r\" data-l=\"sent\">");
        html_size(b, h->bytes_up);
        buf_put_str(b, "</td><td class=\"r\" data-l=\"got\">");
        html_size(b, h->bytes_down);
        buf_put_fmt(b,
                    "</td><td class=\"bars\"><svg class=\"bar\" viewBox=\"0 0 1000 9\" "
                    "preserveAspectRatio=\"none\"><rect class=\"s-l\" width=\"1000\" height=\"9\"/>"
                    "<rect class=\"s-q\" width=\"%.0f\" height=\"9\"/></svg></td></tr>\n",
                    part);
}

void report_hosts(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<section id=\"hosts\"><h2>Hosts</h2>\n");
        if (!r->hosts_n) {
                buf_put_str(b,
                            "<p class=\"none\">It asked nothing of the network.</p></section>\n");
                return;
        }
        uint64_t most = 0;
        for (size_t i = 0; i < r->hosts_n; i++)
                if (r->hosts[i].bytes_up + r->hosts[i].bytes_down > most)
                        most = r->hosts[i].bytes_up + r->hosts[i].bytes_down;
        buf_put_str(b, "<p class=\"lead\">Those it was refused come first, with what would allow "
                       "them.</p>\n<div class=\"scroll\"><table class=\"fold\"><thead><tr>"
                       "<th>Host</th><th class=\"r\">Requests</th><th class=\"r\">Refused</th>"
                       "<th class=\"r\">Sent</th><th class=\"r\">Got</th><th>Traffic</th></tr>"
                       "</thead><tbody>\n");
        for (size_t i = 0; i < r->hosts_n; i++)
                put_host(r, &r->hosts[i], most, b);
        buf_put_str(b, "</tbody></table></div>\n");
        if (r->hosts_more) {
                buf_put_str(b, "<p class=\"more\">and ");
                html_count(b, r->hosts_more, "request", "requests");
                buf_put_str(b, " to other hosts; <code>ostiary timeline ");
                html_text(b, r->id);
                buf_put_str(b, " --kind request</code> shows all</p>\n");
        }
        buf_put_str(b, "</section>\n");
}

/* --- secrets ---------------------------------------------------------------------------------- */

void report_secrets(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<section id=\"secrets\"><h2>Secrets used</h2>\n");
        if (!r->secrets_n) {
                buf_put_str(b, "<p class=\"none\">None.</p></section>\n");
                return;
        }
        buf_put_str(b, "<p class=\"lead\">By name; the box never had the values.</p>\n"
                       "<div class=\"scroll\"><table class=\"fold\"><thead><tr><th>Name</th>"
                       "<th class=\"r\">Times</th><th>Where</th></tr></thead><tbody>\n");
        for (size_t i = 0; i < r->secrets_n; i++) {
                const struct report_secret *s = &r->secrets[i];
                buf_put_str(b, "<tr><td class=\"mono\">");
                html_cut(b, s->name, 200);
                buf_put_str(b, "</td><td class=\"r\" data-l=\"times\">");
                html_num(b, s->n);
                buf_put_str(b, "</td><td class=\"w mono\">");
                for (size_t k = 0; k < s->hosts.n; k++) {
                        buf_put_str(b, k ? ", " : "");
                        html_cut(b, s->hosts.v[k], 200);
                }
                buf_put_str(b, "</td></tr>\n");
        }
        buf_put_str(b, "</tbody></table></div></section>\n");
}
