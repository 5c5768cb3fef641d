/* report_changes.c - the changed files of a report: the same files, counted in the same way, that
 * `ostiary diff` shows, and those of them that landed since. Called by report_gather.c when the
 * story has been told; the times are the story's. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/diff.h"
#include "cli/report.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A walk of diff's, told to a report. */
struct report_walk {
        struct diff diff; /* first: what the form is given */
        struct report *r;
        const struct story *s; /* its changes sorted by name */
};

static int changes_by_name(const void *a, const void *b)
{
        const struct story_change *x = a, *y = b;
        return strcmp(x->name, y->name);
}

static int64_t changes_time(const struct story *s, const char *name)
{
        const struct story_change key = {.name = (char *)(uintptr_t)name};
        const struct story_change *at =
                s->changes_n ? bsearch(&key, s->changes, s->changes_n, sizeof key, changes_by_name)
                             : NULL;
        return at ? at->time_us : 0;
}

/* changes_slot(r, class): where the next one goes; those that are more than plain push plain ones
 * out. NULL when it is only counted. */
static struct report_change *changes_slot(struct report *r, enum file_class class)
{
        size_t at = r->changes_n;
        if (at < REPORT_CHANGES)
                return &r->changes[r->changes_n++];
        r->changes_more++;
        while (class != FILE_PLAIN && at > 0 && r->changes[at - 1].class != FILE_PLAIN)
                at--;
        if (class == FILE_PLAIN || at-- == 0)
                return NULL;
        free(r->changes[at].name);
        free(r->changes[at].from);
        return &r->changes[at];
}

static int changes_on(struct diff *d, const struct ws_change *c, struct err *err)
{
        struct report_walk *w = (struct report_walk *)d;
        (void)err;
        struct report_change *to = changes_slot(w->r, c->class.class);
        if (!to)
                return 0;
        const struct ws_node *now = c->after.kind == WS_NONE ? &c->before : &c->after;
        char *name = changes_name(d->c, c->root, c->path);
        *to = (struct report_change){
                .time_us = changes_time(w->s, name),
                .name = name,
                .from = c->from ? changes_name(d->c, c->root, c->from) : NULL,
                .refused = c->refused,
                .size = now->size,
                .what = c->what,
                .kind = now->kind,
                .class = c->class.class,
                .is_applied = d->only_applied,
        };
        snprintf(to->why, sizeof to->why, "%s", c->class.why);
        return 0;
}

static int changes_on_note(struct diff *d, const char *words, struct err *err)
{
        struct report_walk *w = (struct report_walk *)d;
        (void)err;
        if (w->r->change_notes.n < REPORT_NOTED)
                strs_add(&w->r->change_notes, words);
        return 0;
}

static const struct diff_form changes_waiting = {.change = changes_on, .note = changes_on_note};
static const struct diff_form changes_landed = {.change = changes_on};

/* changes_walk(w, form, only_applied, err): what diff counted is what the report says. */
static int changes_walk(struct report_walk *w, const struct diff_form *form, bool only_applied,
                        struct err *err)
{
        struct report *r = w->r;
        w->diff = (struct diff){.c = w->diff.c, .form = form, .only_applied = only_applied};
        int rc = diff_run(&w->diff, err);
        r->changed_n += w->diff.shown_n;
        r->applied_n += only_applied ? w->diff.shown_n : 0;
        for (int i = 0; i < FILE_CLASS_COUNT; i++)
                r->classes_n[i] += w->diff.tally.classes_n[i];
        for (int i = 0; i <= WS_RENAMED; i++)
                r->whats_n[i] += w->diff.tally.files_n[i];
        diff_free(&w->diff);
        return rc;
}

void report_changes_gather(struct report *r, struct story *s, const struct store *store)
{
        struct err err = {0};
        _cleanup_box_changes_ struct changes c = {.box_fd = -1, .frozen_fd = -1};
        struct report_walk w = {.diff = {.c = &c}, .r = r, .s = s};
        if (s->changes_n)
                qsort(s->changes, s->changes_n, sizeof *s->changes, changes_by_name);

        int rc = changes_open(&c, store, r->id, 0, &err);
        if (rc == 0)
                rc = changes_walk(&w, &changes_waiting, false, &err);
        if (rc == 0 && faccessat(c.box_fd, "applied", F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                rc = changes_walk(&w, &changes_landed, true, &err);

        report_changes_sort(r);
        r->ignored_n = s->ignored_n;
        r->ignored_bytes = s->ignored_bytes;
        if (rc < 0)
                snprintf(r->no_changes, sizeof r->no_changes, "%.250s", err.text);
}
