/* row.c - what waits, and which of it is shown; see row.h. Painting is screen_paint.c's. */
#include "cli/row.h"

#include "base/cleanup.h"
#include "base/cur.h"
#include "base/str.h"
#include "cli/out.h"
#include "cli/sink.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
        NOTICE_MS = 8000,
        IDLE_MS = 4000,   /* "nothing waits" */
        URL_MS = 120000,  /* as long as a question */
        ALARM_MS = 60000, /* where no key can put it away */
        ALARMS_MAX = 32,
        WORDS_MAX = 8192
};

void row_init(struct row *r, struct sink *k, const char *box, uint32_t key, bool is_quiet)
{
        *r = (struct row){.sink = k && k->screen ? k : NULL,
                          .box = box,
                          .key = (char)toupper((int)key),
                          .is_quiet = is_quiet};
}

static uint64_t row_now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void row_clear(struct row *r, enum row_kind kind)
{
        struct row_item *i = &r->items[kind];
        free(i->text);
        free(i->all);
        *i = (struct row_item){0};
}

void row_free(struct row *r)
{
        for (enum row_kind k = ROW_NOTHING; k < ROW_KINDS; k++)
                row_clear(r, k);
        strs_free(&r->alarms);
}

bool row_is_on(const struct row *r)
{
        return r->sink && screen_may_reserve(r->sink->screen);
}

/* row_set(r, kind, text, all, ms): both become the row's. */
static struct row_item *row_set(struct row *r, enum row_kind kind, char *text, char *all,
                                uint64_t ms)
{
        row_clear(r, kind);
        struct row_item *i = &r->items[kind];
        *i = (struct row_item){.text = text, .all = all};
        i->until_ms = ms ? row_now() + ms : 0;
        if (r->shown == kind)
                r->page = 0;
        return i;
}

/* --- what came ---------------------------------------------------------------------------------- */

static void row_ask(struct row *r, struct cur *body)
{
        uint64_t id;
        uint32_t left;
        _cleanup_free_ char *what = NULL, *rule = NULL, *line = NULL, *manager = NULL;
        if (cur_u64(body, &id) < 0 || cur_u32(body, &left) < 0 ||
            cur_lstr(body, WORDS_MAX, &what) < 0 || cur_lstr(body, WORDS_MAX, &rule) < 0 ||
            cur_lstr(body, WORDS_MAX, &line) < 0 || cur_lstr(body, WORDS_MAX, &manager) < 0)
                return;
        if (r->items[ROW_QUESTION].text && r->items[ROW_QUESTION].id == id)
                return;
        _cleanup_free_ char *asked = row_quote(what), *by = row_quote(rule),
                            *keep = row_quote(line);
        _cleanup_free_ char *why =
                *by ? str_fmt("Asked by: %s\n", by) : str_dup("No rule speaks of it.\n");
        _cleanup_free_ char *everywhere =
                *manager ? str_fmt(", in every box: it says it is %s", manager) : str_dup("");
        _cleanup_free_ char *always =
                *keep ? str_fmt("a adds the rule: %s%s\n", keep, everywhere) : str_dup("");
        char *all = str_fmt("ostiary: the box asks for \"%s\"\n%s%s", asked, why, always);
        struct row_item *i = row_set(r, ROW_QUESTION, str_dup(asked), all, 0);
        i->id = id;
        i->ends_ms = row_now() + (uint64_t)left * 1000;
        i->has_always = *keep != 0;
        i->is_everywhere = *manager != 0;
}

void row_waiting(struct row *r, struct cur *body)
{
        if (cur_u32(body, &r->waiting_n) < 0)
                return;
        if (r->waiting_n == 0)
                row_clear(r, ROW_QUESTION);
        else if (!r->is_quiet)
                row_ask(r, body);
}

/* row_next_alarm(r): the oldest that nobody has seen. */
static void row_next_alarm(struct row *r)
{
        if (r->alarms.n == 0)
                row_clear(r, ROW_ALARM);
        else
                row_set(r, ROW_ALARM, str_dup(r->alarms.v[0]),
                        str_fmt("ostiary: %s", r->alarms.v[0]), r->key ? 0 : ALARM_MS);
}

static void row_seen_alarm(struct row *r)
{
        if (r->alarms.n)
                strs_remove(&r->alarms, 0);
        row_next_alarm(r);
}

void row_alarm(struct row *r, const char *words)
{
        if (r->alarms.n >= ALARMS_MAX)
                row_seen_alarm(r);
        _cleanup_free_ char *shown = row_quote(words);
        strs_add(&r->alarms, shown);
        if (r->alarms.n == 1)
                row_next_alarm(r);
}

void row_notice(struct row *r, const char *words, bool is_reply)
{
        if (r->is_quiet && !is_reply)
                return;
        char *shown = row_quote(words);
        row_set(r, is_reply ? ROW_REPLY : ROW_NOTICE, shown, str_fmt("ostiary: %s", shown),
                NOTICE_MS);
}

void row_url(struct row *r, const char *url, uint32_t port)
{
        r->port = r->key ? port : 0;
        _cleanup_free_ char *shown = row_quote(url);
        _cleanup_free_ char *way = r->key ? str_fmt("Ctrl-%c f", r->key)
                                          : str_fmt("ostiary forward %s %u:%u", r->box, port, port);
        _cleanup_free_ char *back =
                port ? str_fmt("\nit comes back to port %u of the box; to let it: %s", port, way)
                     : str_dup("");
        char *all = str_fmt("ostiary: the box wants this opened:\n%s%s", shown, back);
        row_set(r, ROW_URL, str_dup(shown), all, URL_MS);
        if (r->shown == ROW_URL)
                r->page = 1;
}

/* --- keys ---------------------------------------------------------------------------------------- */

static const char *row_letters(const struct row *r)
{
        switch (r->armed) {
        case ROW_QUESTION:
                return r->items[ROW_QUESTION].has_always ? "yna?f" : "yn?f";
        case ROW_ALARM:
        case ROW_URL:
        case ROW_NOTICE:
        case ROW_REPLY:
                return "n?f";
        case ROW_NOTHING:
        case ROW_KINDS:
                break;
        }
        return r->port ? "f" : NULL;
}

const char *row_press(struct row *r)
{
        r->armed = row_is_on(r) ? r->shown : ROW_NOTHING;
        r->armed_id = r->shown_id;
        r->is_pressed = true;
        if (r->armed == ROW_NOTHING && row_is_on(r)) {
                char *words = str_fmt("nothing waits for an answer; Ctrl-%c d detaches", r->key);
                row_set(r, ROW_REPLY, words, str_fmt("ostiary: %s", words), IDLE_MS);
        }
        return row_letters(r);
}

void row_pass(struct row *r)
{
        r->is_pressed = false;
        if (r->armed == ROW_NOTHING)
                row_clear(r, ROW_REPLY);
}

static struct row_act row_answer(struct row *r, char letter)
{
        const struct row_item *q = &r->items[ROW_QUESTION];
        if (!q->text || q->id != r->armed_id) {
                row_notice(r,
                           "that question was answered elsewhere, or its time was over; nothing "
                           "was done",
                           true);
                return (struct row_act){0};
        }
        return (struct row_act){.what = ROW_ANSWER,
                                .question = q->id,
                                .is_yes = letter != 'n',
                                .is_kept = letter == 'a'};
}

struct row_act row_letter(struct row *r, char letter)
{
        r->is_pressed = false;
        if (letter == 'f' && r->port) {
                uint32_t port = r->port;
                r->port = 0;
                row_clear(r, ROW_URL);
                return (struct row_act){.what = ROW_FORWARD, .port = port};
        }
        if (letter == 'f') {
                row_notice(r, "the box offers no port to forward", true);
                return (struct row_act){0};
        }
        bool is_shown = r->shown == r->armed && r->shown_id == r->armed_id;
        if (letter == '?' && is_shown)
                r->page++;
        else if (letter == '?')
                ; /* it is gone, which can be seen */
        else if (r->armed == ROW_QUESTION)
                return row_answer(r, letter);
        else if (is_shown && r->armed == ROW_ALARM)
                row_seen_alarm(r);
        else if (is_shown)
                row_clear(r, r->armed);
        return (struct row_act){0};
}

/* --- showing -------------------------------------------------------------------------------------- */

static void row_expire(struct row *r)
{
        uint64_t now = row_now();
        for (enum row_kind k = ROW_NOTHING; k < ROW_KINDS; k++) {
                if (!r->items[k].until_ms || r->items[k].until_ms > now)
                        continue;
                if (k == ROW_ALARM)
                        row_seen_alarm(r);
                else
                        row_clear(r, k);
        }
}

int row_wait_ms(const struct row *r)
{
        uint64_t first = 0, now = row_now();
        for (enum row_kind k = ROW_NOTHING; k < ROW_KINDS; k++)
                if (r->items[k].until_ms && (!first || r->items[k].until_ms < first))
                        first = r->items[k].until_ms;
        if (r->tick_ms && (!first || r->tick_ms < first))
                first = r->tick_ms;
        return !first || !r->sink ? -1 : first > now ? (int)(first - now) : 0;
}

/* row_line(r, cols): the short form of what is shown. */
static char *row_line(const struct row *r, unsigned cols)
{
        const struct row_item *i = &r->items[r->shown];
        char more[64] = "";
        if (r->shown == ROW_QUESTION && r->waiting_n > 1)
                snprintf(more, sizeof more, "\"? (1 of %u) ", r->waiting_n);
        else if (r->shown == ROW_QUESTION)
                snprintf(more, sizeof more, "\"? ");
        else if (r->shown == ROW_ALARM && r->alarms.n > 1)
                snprintf(more, sizeof more, " (1 of %zu) ", r->alarms.n);
        /* Whoever pressed the prefix sees that it counts for this. */
        bool is_pressed = r->is_pressed && r->armed == r->shown && r->armed_id == r->shown_id;
        _cleanup_free_ char *keys = is_pressed ? str_dup("press") : str_fmt("Ctrl-%c", r->key);
        _cleanup_free_ char *after = NULL;
        if (!r->key)
                after = str_dup(more);
        else if (r->shown == ROW_QUESTION)
                after = str_fmt("%s%s y n%s%s ?", more, keys, i->has_always ? " a" : "",
                                i->is_everywhere ? "=all boxes" : "");
        else
                after = str_fmt("%s %s n ?", more, keys);
        bool is_plain = r->shown == ROW_REPLY;
        return row_short(r->shown == ROW_QUESTION ? "ostiary: allow \"" : "ostiary: ", i->text,
                         is_plain ? "" : after, cols);
}

/* row_all(r, is_more): the long form. Of a question it names the keys, how to close it (or that more
 * follows), and the seconds that are left, which is why the next second changes it. */
static char *row_all(struct row *r, bool is_more)
{
        const struct row_item *i = &r->items[r->shown];
        if (r->shown != ROW_QUESTION)
                return str_dup(i->all);
        uint64_t now = row_now(), left_ms = i->ends_ms > now ? i->ends_ms - now : 0;
        r->tick_ms = left_ms ? now + (left_ms - 1) % 1000 + 1 : 0;
        return str_fmt("%sCtrl-%c y allows it, n refuses it%s, ? %s\n"
                       "%" PRIu64 " s are left; in another terminal: ostiary approve %s/%" PRIu64
                       " (or refuse)",
                       i->all, r->key, i->has_always ? ", a allows it for good" : "",
                       is_more ? "shows more" : "closes this", (left_ms + 999) / 1000, r->box,
                       i->id);
}

/* row_page(r, lines): the lines of the page that is shown. */
static void row_page(struct row *r, struct strs *lines)
{
        const struct screen *s = r->sink->screen;
        unsigned total = s->rows + s->below;
        size_t size = total / 2 < SCREEN_BELOW_MAX ? total / 2 : SCREEN_BELOW_MAX;
        _cleanup_strs_ struct strs all = {0};
        size = size ? size : 1;
        r->tick_ms = 0;
        for (int is_more = 0; r->page && is_more < 2; is_more++) {
                _cleanup_free_ char *text = row_all(r, is_more);
                strs_free(&all);
                row_wrap(text, s->cols, &all);
                if (all.n <= r->page * size)
                        break; /* this page is the last */
        }
        if (r->page && (r->page - 1) * size >= all.n)
                r->page = r->shown == ROW_URL ? 1 : 0;
        r->tick_ms = r->page ? r->tick_ms : 0;
        if (!r->page) {
                _cleanup_free_ char *line = row_line(r, s->cols);
                strs_add(lines, line);
                return;
        }
        for (size_t i = (r->page - 1) * size; i < all.n && lines->n < size; i++)
                strs_add(lines, all.v[i]);
}

bool row_update(struct row *r)
{
        if (!r->sink)
                return false;
        row_expire(r);
        enum row_kind kind = ROW_NOTHING;
        for (enum row_kind k = ROW_KINDS - 1; k > ROW_NOTHING; k--)
                kind = r->items[k].text ? k : kind;
        if (kind != r->shown || r->items[kind].id != r->shown_id)
                r->page = kind == ROW_URL;
        r->shown = kind;
        r->shown_id = r->items[kind].id;
        struct screen *s = r->sink->screen;
        unsigned before = s->rows;
        _cleanup_strs_ struct strs lines = {0};
        if (kind && row_is_on(r))
                row_page(r, &lines);
        bool is_same = lines.n == s->below;
        for (size_t i = 0; is_same && i < lines.n; i++)
                is_same = s->lines[i] && strcmp(s->lines[i], lines.v[i]) == 0;
        if (!is_same) {
                screen_reserve(s, (const char *const *)lines.v, lines.n, &r->sink->out);
                sink_flush(r->sink);
        }
        return s->rows != before;
}

void row_last_words(const struct row *r, bool is_detached)
{
        for (size_t i = 0; i < r->alarms.n; i++)
                out_say("%s", r->alarms.v[i]);
        if (is_detached && r->waiting_n && !r->is_quiet)
                out_say("%u question%s of the box wait%s: ostiary approvals %s", r->waiting_n,
                        r->waiting_n == 1 ? "" : "s", r->waiting_n == 1 ? "s" : "", r->box);
}
