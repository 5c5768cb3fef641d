/* report_page.c - the page as a whole: its head, the figures, and the order of its sections.
 *
 * The page holds no script and asks for nothing: its policy allows one style, by its hash, and
 * forbids the rest, so that even a fault in escaping could neither run nor send anything. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/sha256.h"
#include "base/str.h"
#include "cli/out.h"
#include "cli/report.h"
#include "cli/report_html.h"
#include "session/story_time.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* put_hash(b, text): SHA-256 in base64, as a content security policy writes it. */
static void put_hash(struct buf *b, const char *text)
{
        static const char letters[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        char hex[SHA256_HEX_LEN + 1];
        uint8_t bytes[SHA256_HEX_LEN / 2 + 1] = {0}; /* and one of zeros: 33 are 44 letters */
        sha256_hex(text, strlen(text), hex);
        for (size_t i = 0; i < SHA256_HEX_LEN / 2; i++) {
                const char two[3] = {hex[2 * i], hex[2 * i + 1], 0};
                bytes[i] = (uint8_t)strtoul(two, NULL, 16);
        }
        for (size_t i = 0; i < sizeof bytes; i += 3) {
                uint32_t v = (uint32_t)bytes[i] << 16 | (uint32_t)bytes[i + 1] << 8 | bytes[i + 2];
                bool is_last = i + 3 == sizeof bytes;
                for (int k = 3; k >= 0; k--)
                        buf_put_u8(b,
                                   (uint8_t)(is_last && k == 0 ? '=' : letters[v >> 6 * k & 63]));
        }
}

static void put_when(struct buf *b, int64_t us)
{
        char day[STORY_TIME_LEN], t[STORY_TIME_LEN];
        buf_put_fmt(b, "%s %.8s", story_time_day(us, day), story_time_clock(us, t));
}

static void head(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                       "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                       "style-src 'sha256-");
        put_hash(b, report_style);
        buf_put_str(b, "'; base-uri 'none'; form-action 'none'\">\n"
                       "<meta name=\"referrer\" content=\"no-referrer\">\n"
                       "<meta name=\"generator\" content=\"ostiary " OSTIARY_VERSION "\">\n"
                       "<meta name=\"viewport\" content=\"width=device-width, "
                       "initial-scale=1\">\n<title>Box ");
        html_text(b, r->id);
        buf_put_str(b, " - Ostiary report</title>\n<style>");
        buf_put_str(b, report_style);
        buf_put_str(b, "</style>\n</head>\n<body>\n<main>\n");
}

static void ending(const struct report *r, struct buf *b)
{
        const struct box_meta *m = &r->meta;
        if (box_state_is_alive(m->state))
                buf_put_str(b, "<span class=\"pill warn\">still running</span>");
        else if (m->state == BOX_DEAD)
                buf_put_str(b, "<span class=\"pill bad\">its supervisor was killed</span>");
        else if (m->exit_code == 0)
                buf_put_str(b, "<span class=\"pill ok\">ended well, exit 0</span>");
        else
                buf_put_fmt(b, "<span class=\"pill bad\">exit %d</span>", m->exit_code);
}

/* fact(b, name, value): ${value} is in words already. */
static void fact(struct buf *b, const char *name, const char *value)
{
        if (!*value)
                return;
        buf_put_fmt(b, "<p class=\"facts\">%s <code>", name);
        html_shown(b, value, 1200);
        buf_put_str(b, "</code></p>\n");
}

static void top(const struct report *r, struct buf *b)
{
        char zone[STORY_TIME_LEN];
        const struct box_meta *m = &r->meta;
        buf_put_str(b, "<header>\n<div class=\"brand\">Ostiary - report of a run</div>\n"
                       "<div class=\"top\"><h1>");
        html_text(b, r->id);
        buf_put_str(b, "</h1>");
        ending(r, b);
        buf_put_str(b, "</div>\n");
        if (*m->end_words) {
                buf_put_str(b, "<p class=\"facts\"><b>");
                html_text(b, m->end_words);
                buf_put_str(b, "</b></p>\n");
        }
        buf_put_str(b, "<p class=\"facts\">");
        put_when(b, r->begin_us);
        buf_put_str(b, m->state == BOX_EXITED ? " to "
                       : m->state == BOX_DEAD ? " to its last record, "
                                              : " until now, ");
        put_when(b, r->end_us);
        buf_put_fmt(b, ", times in %s</p>\n", story_time_zone(r->begin_us, zone));
        _cleanup_free_ char *path = out_path(m->workspace);
        _cleanup_free_ char *workspace = str_quote(path);
        fact(b, "Command", m->command);
        fact(b, "Workspace", workspace);
        fact(b, "Profile", m->profile);
        fact(b, "Was given", m->grants);
        buf_put_str(b, "</header>\n");
}

/* card(b, look, label): begins one; its figure is put by the caller, card_end ends it. */
static void card(struct buf *b, const char *look)
{
        buf_put_fmt(b, "<div class=\"card%s\"><div class=\"n\">", look);
}

static void card_end(struct buf *b, const char *label)
{
        buf_put_fmt(b, "</div><div class=\"l\">%s</div></div>\n", label);
}

static uint64_t dangerous(const struct report *r)
{
        uint64_t n = 0;
        for (int c = FILE_PLAIN + 1; c < FILE_CLASS_COUNT; c++)
                n += r->classes_n[c];
        return n;
}

static void number_card(struct buf *b, uint64_t n, bool is_bad, const char *look, const char *one,
                        const char *many)
{
        card(b, is_bad && n ? look : "");
        html_num(b, n);
        card_end(b, n == 1 ? one : many);
}

static void figures(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<div class=\"cards\" id=\"summary\">\n");
        card(b, "");
        html_span(b, r->end_us - r->begin_us);
        card_end(b, "from start to end");
        number_card(b, r->changed_n, false, "", "file changed", "files changed");
        if (r->applied_n)
                number_card(b, r->applied_n, false, "", "of them applied since",
                            "of them applied since");
        number_card(b, dangerous(r), true, " warn", "change runs or steers something",
                    "changes run or steer something");
        number_card(b, r->execs_n, false, "", "program started", "programs started");
        number_card(b, r->requests_n, false, "", "request", "requests");
        number_card(b, r->denied_n, true, " bad", "refusal", "refusals");
        number_card(b, r->alarms_n, true, " bad", "alarm", "alarms");
        buf_put_str(b, "</div>\n");
}

/* spend(r, b): what it cost, as far as it is measured; nothing is made up. */
static void spend(const struct report *r, struct buf *b)
{
        buf_put_str(b, "<section id=\"spend\"><h2>Spend</h2>\n<p class=\"lead\">What the run used. "
                       "Money is not metered.</p>\n<div class=\"cards\">\n");
        card(b, "");
        html_span(b, r->end_us - r->begin_us);
        card_end(b, "time");
        card(b, "");
        if (r->exits_n)
                html_span(b, (int64_t)(r->cpu_us & INT64_MAX));
        else
                buf_put_str(b, "-");
        card_end(b, r->exits_n ? "processor time" : "processor time is not in the log");
        card(b, "");
        if (r->peak_kib && r->peak_kib < UINT64_MAX / 1024)
                html_size(b, r->peak_kib * 1024);
        else
                buf_put_str(b, "-");
        card_end(b, r->peak_kib ? "memory of the largest process" : "memory is not in the log");
        number_card(b, r->requests_n, false, "", "request", "requests");
        card(b, "");
        html_size(b, r->bytes_up);
        card_end(b, "sent");
        card(b, "");
        html_size(b, r->bytes_down);
        card_end(b, "received");
        buf_put_str(b, "</div></section>\n");
}

void report_page(const struct report *r, struct buf *b)
{
        head(r, b);
        top(r, b);
        figures(r, b);
        report_chart(r, b);
        report_noted(r, b);
        report_changes(r, b);
        report_hosts(r, b);
        report_processes(r, b);
        report_secrets(r, b);
        spend(r, b);
        report_timeline(r, b);
        buf_put_str(b, "<footer>Made by ostiary " OSTIARY_VERSION
                       " from the box's log, its changed files and the history of applies. "
                       "<code>ostiary timeline ");
        html_text(b, r->id);
        buf_put_str(b, "</code> has every event.</footer>\n</main>\n</body>\n</html>\n");
}
