/* timeline_before.c - `ostiary timeline --before PATH`: one change, who wrote it if the log knows,
 * what ran at that moment, and the requests that began before it. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/boxarg.h"
#include "cli/out.h"
#include "cli/story_text.h"
#include "cli/timeline.h"
#include "session/story_before.h"
#include "session/story_time.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIVE_SHOWN = 12 };

/* print_kept(k, at_us, words): one line below a heading. */
static void print_kept(const struct story_kept *k, int64_t at_us, const char *words)
{
        char t[STORY_TIME_LEN], apart[STORY_TIME_LEN];
        _cleanup_free_ char *who = story_text_who(&k->record);
        _cleanup_free_ char *what = story_text_record(&k->record);
        _cleanup_free_ char *since =
                str_fmt("%s%s", story_time_span_words(at_us - k->time_us, apart), words);
        printf("  %s  %-18s  %-14s  %s\n", story_time_clock(k->time_us, t), since, who, what);
}

static void print_text(const struct story_before *b)
{
        char t[STORY_TIME_LEN], day[STORY_TIME_LEN], zone[STORY_TIME_LEN];
        _cleanup_free_ char *what = story_text_change(&b->change);
        int64_t at = b->change.time_us;
        printf("%s %s  %s, times in %s\n", story_time_day(at, day), story_time_clock(at, t), what,
               story_time_zone(at, zone));
        if (b->others_n)
                printf("(the newest of %" PRIu64 " changes that fit)\n", b->others_n + 1);

        if (b->writers_n)
                printf("\nOpened for writing by:\n");
        else if (b->has_opens)
                printf("\nThe log has no open of it for writing under this name.\n");
        else
                printf("\nWho wrote it is not in the log; a box that is run with --audit=files "
                       "records it.\n");
        for (size_t i = 0; i < b->writers_n; i++)
                print_kept(&b->writers[i], at, " before");

        if (b->alive_n)
                printf("\nRunning at that moment, newest first:\n");
        else if (b->has_execs)
                printf("\nNothing that the log knows of was running at that moment.\n");
        size_t shown = 0;
        for (size_t i = b->alive_n; i-- > 0 && shown < ALIVE_SHOWN; shown++)
                print_kept(&b->alive[i], at, " before");
        if (b->alive_n > ALIVE_SHOWN || b->alive_more)
                printf("  and %" PRIu64 " more\n", (uint64_t)b->alive_n - shown + b->alive_more);

        printf(b->requests_n ? "\nThe last requests before it, newest first:\n"
                             : "\nNo request came before it.\n");
        for (size_t i = 0; i < b->requests_n; i++) {
                const struct story_kept *k = &b->requests[i];
                bool is_open = at > k->time_us && k->record.total_us > (uint64_t)(at - k->time_us);
                print_kept(k, at, is_open ? " before, under way" : " before");
        }
}

static void put_list(struct json *j, const char *key, const struct story_kept *v, size_t n)
{
        json_open(j, key, '[');
        for (size_t i = 0; i < n; i++) {
                const struct audit_record *r = &v[i].record;
                json_open(j, NULL, '{');
                json_str(j, "time", r->time);
                json_str(j, "kind", r->kind);
                json_u64(j, "seq", r->seq);
                const struct {
                        const char *key, *value;
                } text[] = {{"verdict", r->verdict}, {"method", r->method}, {"host", r->host},
                            {"path", r->path},       {"exe", r->exe},       {"note", r->note}};
                for (size_t f = 0; f < sizeof text / sizeof *text; f++)
                        if (*text[f].value)
                                json_str(j, text[f].key, text[f].value);
                if (r->pid)
                        json_u64(j, "pid", r->pid);
                if (r->status)
                        json_u64(j, "status", r->status);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static int print_json(const struct story_before *b)
{
        char t[STORY_TIME_LEN];
        _cleanup_buf_ struct buf out = {0};
        struct json j = json_of(&out);
        json_open(&j, NULL, '{');
        json_str(&j, "time", story_time_utc(b->change.time_us, t));
        timeline_json_change(&j, "change", &b->change);
        json_u64(&j, "others", b->others_n);
        json_bool(&j, "log_has_opens", b->has_opens);
        put_list(&j, "writers", b->writers, b->writers_n);
        put_list(&j, "running", b->alive, b->alive_n);
        put_list(&j, "requests", b->requests, b->requests_n);
        json_close(&j, '}');
        return out_json("before", &out);
}

int timeline_before(const struct boxarg *box, const char *workspace, const char *path, bool is_json)
{
        struct err err = {0};
        _cleanup_story_before_ struct story_before b;
        out_wait("reading the log");
        int got = story_before_find(&b, &box->store, box->id, workspace, path, &err);
        out_wait(NULL);
        if (got < 0)
                return out_error(&err);
        if (is_json)
                return print_json(&b);
        print_text(&b);
        return EXIT_OK;
}
