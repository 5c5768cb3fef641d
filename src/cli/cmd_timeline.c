/* cmd_timeline.c - `ostiary timeline`: what a box ran, asked for and changed, in one order; and
 * with
 * --before, what led up to one change.
 *
 * Reads a box's log, its layers and the undo records; wakes nothing, writes nothing. Everything of
 * the box is quoted before it is shown. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/story_args.h"
#include "cli/story_text.h"
#include "cli/timeline.h"
#include "session/story.h"
#include "session/story_time.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FOLLOW_MS = 200, FILES_MS = 1000 };

struct view {
        bool is_json, has_colour, is_following;
        uint64_t shown_n;
        char day[STORY_TIME_LEN]; /* under which the last line stands */
};

static const char *colour_of(const struct story_event *e)
{
        if (story_text_is_bad(e))
                return "\033[1;31m";
        switch (e->group) {
        case STORY_PROCESS:
                return "\033[36m";
        case STORY_REQUEST:
        case STORY_SOCKET:
                return "\033[32m";
        case STORY_FILES:
                return e->change && e->change->class != FILE_PLAIN ? "\033[1;33m" : "\033[33m";
        case STORY_REVIEW:
        case STORY_BOX:
                return "\033[35m";
        case STORY_CALL:
        case STORY_SECRET:
        case STORY_ALARM:
        case STORY_OTHER:
        case STORY_GROUP_COUNT:
                break;
        }
        return "";
}

/* head(v, us): a new day is said once, with the zone all times are in. */
static void head(struct view *v, int64_t us)
{
        char day[STORY_TIME_LEN], zone[STORY_TIME_LEN];
        if (v->shown_n++ && strcmp(story_time_day(us, day), v->day) == 0)
                return;
        story_time_day(us, v->day);
        printf("%s, times in %s\n", v->day, story_time_zone(us, zone));
}

static void print_event(struct view *v, const struct story_event *e)
{
        char t[STORY_TIME_LEN];
        head(v, e->time_us);
        _cleanup_free_ char *kind = str_quote(e->kind);
        _cleanup_free_ char *who = e->record ? story_text_who(e->record) : str_dup("");
        _cleanup_free_ char *what = story_text_what(e);
        const char *on = v->has_colour ? colour_of(e) : "";
        printf("%s  %s%-7s%s  %-14s  %s\n", story_time_clock(e->time_us, t), on, kind,
               *on ? "\033[0m" : "", who, what);
}

static int tell(struct story *s, struct view *v, struct err *err)
{
        struct story_event e;
        int got;
        _cleanup_buf_ struct buf b = {0};
        while ((got = story_next(s, &e, err)) > 0 && !ferror(stdout)) {
                if (!v->is_json) {
                        print_event(v, &e);
                        continue;
                }
                b.len = 0;
                timeline_json(&b, &e);
                buf_put_u8(&b, '\n');
                fwrite(b.data, 1, b.len, stdout);
                v->shown_n++;
        }
        return got < 0 ? -1 : 0;
}

/* remarks(s, v, id): what is not in the list, so that nobody takes it for all. */
static void remarks(const struct story *s, const struct view *v, const char *id,
                    const struct story_args *sa)
{
        char size[16];
        if (*s->no_changes)
                out_say("the changed files are not in this list: %s", s->no_changes);
        if (s->changes_more)
                out_say("and %" PRIu64 " more changed files; --path shows a part of them",
                        s->changes_more);
        if (s->undos_more)
                out_say("and %" PRIu64 " more entries of ostiary history", s->undos_more);
        if (s->ignored_n && !v->is_json)
                out_say("%" PRIu64 " files of build output (%s) are left out; ostiary diff counts "
                        "them",
                        s->ignored_n, str_size_words(s->ignored_bytes, size));
        if (s->late_n == STORY_LATE_MAX)
                out_say("so many records were written out of order that some stand late");
        if (v->shown_n == 0 && !v->is_json)
                out_say(story_args_has(sa) ? "nothing of box %s fits"
                                           : "box %s has done nothing that is recorded",
                        id);
}

static uint64_t now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

/* follow(s, b, v): what comes from now on, until the box ends. Files are looked for as often as
 * that leaves the machine to others. */
static int follow(struct story *s, const struct boxarg *b, struct view *v, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        if (dir < 0)
                return -1;
        uint64_t next = now_ms() + FILES_MS;
        for (bool is_alive = true; is_alive && !ferror(stdout);) {
                if (fflush(stdout) != 0)
                        return 0;
                poll(NULL, 0, FOLLOW_MS);
                is_alive = store_box_is_alive(dir);
                uint64_t began = now_ms();
                bool with_files = !is_alive || began >= next;
                if (story_go_on(s, &b->store, b->id, with_files, err) < 0 || tell(s, v, err) < 0)
                        return -1;
                uint64_t took = now_ms() - began;
                if (with_files)
                        next = now_ms() + (took * 10 > FILES_MS ? took * 10 : FILES_MS);
        }
        return 0;
}

static int run_on(const struct boxarg *b, const struct story_args *sa,
                  const struct story_filter *filter, struct view *v)
{
        struct err err = {0};
        _cleanup_story_ struct story s;
        out_wait("reading the log");
        int got = story_open(&s, &b->store, b->id, filter, &err);
        out_wait(NULL);
        if (got < 0 || tell(&s, v, &err) < 0 || (v->is_following && follow(&s, b, v, &err) < 0))
                return out_error(&err);
        if (fflush(stdout) != 0)
                return EXIT_OURS;
        remarks(&s, v, b->id, sa);
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        struct view v = {.shown_n = 0};
        _cleanup_story_args_ struct story_args sa = {0};
        const char *before = NULL;
        const struct arg flags[] = {
                ARG_BOOL('f', "follow", &v.is_following, "go on until the box ends"),
                STORY_FLAGS(&sa),
                ARG_STR(0, "before", &before, "PATH", "what led up to the change of this file"),
                ARG_BOOL(0, "json", &v.is_json, "one JSON object a line"),
                ARG_END,
        };
        struct args a = args_of(&cmd_timeline, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        if (before && story_args_has(&sa))
                return args_bad(&a, "--before goes with no filter");
        if (before && v.is_following)
                return args_bad(&a, "--before does not go with --follow");
        if (before && !*before)
                return args_bad(&a, "--before is empty");
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        _cleanup_story_filter_ struct story_filter filter;
        if (story_args_filter(&sa, NULL, NULL, &filter, &err) < 0)
                return args_bad(&a, "%s", err.text);
        story_filter_free(&filter);
        story_filter_init(&filter);
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        struct box_meta meta = {0};
        int code;
        if (boxarg_meta(&b, &meta, &err) < 0) {
                code = out_error(&err);
        } else if (before) {
                code = timeline_before(&b, meta.workspace, before, v.is_json);
        } else if (story_args_filter(&sa, &b.store, b.id, &filter, &err) < 0) {
                code = args_bad(&a, "%s", err.text);
        } else {
                filter.workspace = meta.workspace;
                v.has_colour = out_has_colour(STDOUT_FILENO);
                code = run_on(&b, &sa, &filter, &v);
        }
        box_meta_free(&meta);
        return code;
}

const struct cmd cmd_timeline = {
        .name = "timeline",
        .group = CMD_RECORD,
        .args = "[BOX] [-f] [--since TIME] [--until TIME] [--kind KIND,...] [flags]",
        .summary = "what a box ran, asked for and changed, in one order",
        .help = "Processes, requests, changed files, refusals, alarms, approvals, applies and "
                "undos of BOX (the newest box if none is named), each at its time. Times are "
                "local: 02:10, 02:10:30, \"2026-11-16 02:10\", or 10m for ten minutes ago; a "
                "clock time is the last such moment of the box's life.\n"
                "\n"
                "KIND is one of process (exec, exit, kill), request (http, tcp, splice, dns, tls, "
                "ssh), socket (connect, bind, listen), file (open, change), call, secret, alarm, "
                "box, review (apply, undo, live), denied, approval.\n"
                "\n"
                "--follow goes on with what a living box does, until it ends: records as they are "
                "written, changed files every second or more.\n"
                "\n"
                "--before PATH answers which requests preceded a change, which process wrote it "
                "if the log knows, and what else ran at that moment.\n"
                "\n"
                "Examples:\n"
                "  ostiary timeline night --since 02:10 --until 02:15 --kind exec\n"
                "  ostiary timeline -f night\n"
                "  ostiary timeline night --before package.json\n",
        .run = run,
};
