/* report_gather.c - see report.h. One pass over the story; every list has a ceiling. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/report.h"
#include "cli/story_text.h"
#include "session/story_time.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOWN_MAX = 600 }; /* bytes of one row's words */

static void row_free(struct report_row *w)
{
        free(w->kind);
        free(w->who);
        free(w->what);
        *w = (struct report_row){0};
}

char *report_shorten(char *s)
{
        size_t n = strlen(s);
        if (n <= SHOWN_MAX)
                return s;
        n = SHOWN_MAX;
        while (n > 0 && ((unsigned char)s[n] & 0xc0) == 0x80)
                n--;
        s[n] = 0;
        char *cut = str_fmt("%s...", s);
        free(s);
        return cut;
}

static struct report_row row_of(const struct story_event *e)
{
        return (struct report_row){
                .time_us = e->time_us,
                .kind = str_quote(e->kind),
                .who = e->record ? report_shorten(story_text_who(e->record)) : str_dup(""),
                .what = report_shorten(story_text_what(e)),
                .group = e->group,
                .is_bad = story_text_is_bad(e),
                .is_approval = e->record && str_starts(e->record->verdict, "ask-"),
        };
}

static void on_row(struct report *r, const struct story_event *e)
{
        if (r->rows_n < (size_t)2 * REPORT_ROWS) {
                r->rows[r->rows_n++] = row_of(e);
                return;
        }
        struct report_row *w = &r->rows[REPORT_ROWS + r->ring_at];
        row_free(w);
        *w = row_of(e);
        r->ring_at = (r->ring_at + 1) % REPORT_ROWS;
        r->rows_more++;
}

static void list_add(struct report_list *l, const struct story_event *e)
{
        if (l->n == REPORT_NOTED) {
                l->more++;
                return;
        }
        if (!l->v && !(l->v = calloc(REPORT_NOTED, sizeof *l->v)))
                str_no_memory();
        l->v[l->n++] = row_of(e);
}

/* --- hosts and secrets ------------------------------------------------------------------------ */

static struct report_host *host_of(struct report *r, const struct audit_record *rec)
{
        uint32_t hash = 2166136261u ^ (uint32_t)rec->port;
        for (const char *p = rec->host; *p; p++)
                hash = (hash ^ (uint8_t)*p) * 16777619u;
        for (size_t i = 0; i < r->hosts_n; i++)
                if (r->hosts[i].hash == hash && r->hosts[i].port == rec->port &&
                    strcmp(r->hosts[i].host, rec->host) == 0)
                        return &r->hosts[i];
        if (r->hosts_n == REPORT_HOSTS)
                return NULL;
        struct report_host *h = &r->hosts[r->hosts_n++];
        *h = (struct report_host){
                .host = str_dup(rec->host), .hash = hash, .port = rec->port, .cure = str_dup("")};
        return h;
}

static void on_request(struct report *r, const struct audit_record *rec)
{
        bool is_refused = audit_record_is_refused(rec);
        r->requests_n++;
        r->bytes_up += rec->bytes_up;
        r->bytes_down += rec->bytes_down;
        if (!*rec->host)
                return;
        struct report_host *h = host_of(r, rec);
        if (!h) {
                r->hosts_more++;
                return;
        }
        h->n++;
        h->denied_n += is_refused;
        h->bytes_up += rec->bytes_up;
        h->bytes_down += rec->bytes_down;
        if (is_refused && *rec->cure && !*h->cure) {
                free(h->cure);
                h->cure = str_dup(rec->cure);
        }
}

static struct report_secret *secret_of(struct report *r, const char *name)
{
        for (size_t i = 0; i < r->secrets_n; i++) {
                struct report_secret *s = &r->secrets[i];
                if (s->name && strcmp(s->name, name) == 0)
                        return s;
        }
        if (r->secrets_n == REPORT_SECRETS)
                return NULL;
        struct report_secret *s = &r->secrets[r->secrets_n++];
        *s = (struct report_secret){.name = str_dup(name)};
        return s;
}

static void on_secret(struct report *r, const char *name, const char *host)
{
        struct report_secret *s = secret_of(r, name);
        if (!s)
                return;
        s->n++;
        if (*host && s->hosts.n < 8 && !strs_has(&s->hosts, host))
                strs_add(&s->hosts, host);
}

static void on_secrets(struct report *r, const struct audit_record *rec)
{
        _cleanup_free_ char *names = str_dup(rec->secrets);
        char *at = names, *name;
        while ((name = strsep(&at, " ")))
                if (*name)
                        on_secret(r, name, rec->host);
}

/* --- the rest --------------------------------------------------------------------------------- */

static void on_bucket(struct report *r, const struct story_event *e)
{
        int64_t span = r->end_us - r->begin_us, at = e->time_us - r->begin_us;
        if (at < 0)
                at = 0;
        if (at > span)
                at = span;
        /* No product that could overflow, whatever a record claims. */
        size_t i = span > 0 ? (size_t)((double)at / (double)span * REPORT_BUCKETS) : 0;
        if (i >= REPORT_BUCKETS)
                i = REPORT_BUCKETS - 1;
        if (story_text_is_bad(e))
                r->buckets[i][SERIES_BAD]++;
        else if (e->group == STORY_PROCESS)
                r->buckets[i][SERIES_PROCESS]++;
        else if (e->group == STORY_REQUEST)
                r->buckets[i][SERIES_REQUEST]++;
        else if (e->change)
                r->buckets[i][SERIES_FILE]++;
}

/* is_reading(e): an open for reading: by the thousand, and nothing to look at. */
static bool is_reading(const struct story_event *e)
{
        return e->record && strcmp(e->kind, "open") == 0 && strcmp(e->record->method, "r") == 0 &&
               !audit_record_is_refused(e->record);
}

static void on_alarm(struct report *r, const struct audit_record *rec)
{
        r->alarms_n++;
        if (strcmp(rec->verdict, "deny") == 0 && r->alarmed.n < REPORT_HOSTS &&
            !strs_has(&r->alarmed, rec->host))
                strs_add(&r->alarmed, rec->host);
}

static void on_event(struct report *r, const struct story_event *e)
{
        r->events_n++;
        r->groups_n[e->group]++;
        on_bucket(r, e);
        if (is_reading(e))
                r->reads_n++;
        else
                on_row(r, e);
        if (e->undo)
                list_add(&r->reviews, e);
        if (!e->record)
                return;
        const struct audit_record *rec = e->record;
        if (e->group == STORY_ALARM)
                on_alarm(r, rec);
        else if (story_text_is_bad(e))
                r->denied_n++;
        else if (story_text_is_absent(rec))
                r->absent_n++;
        if (e->group == STORY_REQUEST)
                on_request(r, rec);
        if (e->group == STORY_PROCESS)
                report_process_on(r, e);
        if (*rec->secrets && !story_text_is_bad(e))
                on_secrets(r, rec);
        if (story_text_is_bad(e))
                list_add(&r->bad, e);
        if (str_starts(rec->verdict, "ask-"))
                list_add(&r->approvals, e);
}

static void *make(size_t n, size_t size)
{
        void *p = calloc(n, size);
        if (!p)
                str_no_memory();
        return p;
}

int report_gather(struct report *r, const struct store *store, const char *id, struct err *err)
{
        *r = (struct report){.id = id};
        struct story_frame frame;
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        if (dir < 0 || store_meta_read(dir, id, &r->meta, err) < 0 ||
            story_frame_of(store, id, &frame, err) < 0)
                return -1;
        r->begin_us = frame.begin_us;
        r->end_us = frame.end_us;
        r->rows = make((size_t)2 * REPORT_ROWS, sizeof *r->rows);
        r->hosts = make(REPORT_HOSTS, sizeof *r->hosts);
        r->changes = make(REPORT_CHANGES, sizeof *r->changes);
        r->secrets = make(REPORT_SECRETS, sizeof *r->secrets);

        _cleanup_story_filter_ struct story_filter all;
        story_filter_init(&all);
        _cleanup_story_ struct story s;
        struct story_event e;
        int got = story_open(&s, store, id, &all, err);
        while (got >= 0 && (got = story_next(&s, &e, err)) > 0)
                on_event(r, &e);
        report_process_end(r);
        report_hosts_sort(r);
        if (got >= 0)
                report_changes_gather(r, &s, store);
        return got;
}

static void list_free(struct report_list *l)
{
        for (size_t i = 0; i < l->n; i++)
                row_free(&l->v[i]);
        free(l->v);
}

void report_free(struct report *r)
{
        box_meta_free(&r->meta);
        for (size_t i = 0; i < r->rows_n; i++)
                row_free(&r->rows[i]);
        free(r->rows);
        for (size_t i = 0; i < r->hosts_n; i++) {
                free(r->hosts[i].host);
                free(r->hosts[i].cure);
        }
        free(r->hosts);
        for (size_t i = 0; i < r->changes_n; i++) {
                free(r->changes[i].name);
                free(r->changes[i].from);
        }
        free(r->changes);
        strs_free(&r->change_notes);
        strs_free(&r->alarmed);
        for (size_t i = 0; i < r->secrets_n; i++) {
                free(r->secrets[i].name);
                strs_free(&r->secrets[i].hosts);
        }
        free(r->secrets);
        list_free(&r->bad);
        list_free(&r->approvals);
        list_free(&r->reviews);
        report_process_free(r);
        *r = (struct report){0};
}
