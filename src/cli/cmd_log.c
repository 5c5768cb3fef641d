/* cmd_log.c - `ostiary log`: the records of a box's log: what it asked of the network and what came
 * of it, what it ran and what it was refused.
 *
 * Hosts, paths and notes came out of a box: they are quoted before they are shown. Works on living
 * boxes and on ended ones that were kept; never wakes one. */
#include "audit/audit_query.h"
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
#include "session/settle.h"
#include "session/story_time.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FOLLOW_MS = 200 };

struct view {
        bool is_following, is_denied, is_json, is_verifying;
        bool has_colour;
        uint64_t shown_n;
        const struct story_filter *filter;
};

/* when(text, buf): "2026-11-16T01:35:01.123456Z" as local time. */
static const char *when(const char *text, char buf[24])
{
        struct tm tm = {0};
        const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &tm);
        time_t t = rest ? timegm(&tm) : 0;
        if (!rest || !localtime_r(&t, &tm))
                snprintf(buf, 24, "%-14s", "?");
        else
                strftime(buf, 24, "%m-%d %H:%M:%S", &tm);
        return buf;
}

static const char *colour(const struct audit_record *r)
{
        if (audit_record_is_refused(r))
                return "\033[31m";
        bool is_odd = strcmp(r->verdict, "error") == 0 || strcmp(r->verdict, "deny") == 0;
        return is_odd ? "\033[33m" : "\033[32m";
}

/* is_of_door(r): does the line of a request suit it? What processes did is told in words. */
static bool is_of_door(const struct audit_record *r)
{
        switch (story_group_of(r->kind)) {
        case STORY_REQUEST:
        case STORY_SECRET:
        case STORY_ALARM:
                return true;
        case STORY_BOX:
                return strcmp(r->kind, "box") != 0;
        case STORY_PROCESS:
        case STORY_SOCKET:
        case STORY_CALL:
        case STORY_FILES:
        case STORY_REVIEW:
        case STORY_OTHER:
        case STORY_GROUP_COUNT:
                break;
        }
        return false;
}

static void print_head(struct view *v)
{
        if (v->shown_n++ == 0)
                printf("%-14s  %-7s  %4s  %5s  %5s  %-7s  %s\n", "TIME", "VERDICT", "CODE", "SENT",
                       "GOT", "METHOD", "WHAT");
}

static void print_words(struct view *v, const struct audit_record *r)
{
        char t[24];
        _cleanup_free_ char *verdict = str_quote(r->verdict);
        _cleanup_free_ char *kind = str_quote(r->kind);
        _cleanup_free_ char *what = story_text_record(r);
        _cleanup_free_ char *who = story_text_who(r);
        print_head(v);
        printf("%s  %s%-7s%s  %4s  %5s  %5s  %-7s  %s%s%s\n", when(r->time, t),
               v->has_colour ? colour(r) : "", *verdict ? verdict : "-",
               v->has_colour ? "\033[0m" : "", "-", "-", "-", kind, what, *who ? "  " : "", who);
}

static void print_line(struct view *v, const struct audit_record *r)
{
        char t[24], up[8], down[8], status[24] = "-";
        _cleanup_free_ char *verdict = str_quote(r->verdict);
        /* What custody did is told beside the request that it was done for. */
        bool is_custody = strcmp(r->kind, "secret") == 0 || strcmp(r->kind, "alarm") == 0;
        _cleanup_free_ char *word = str_quote(*r->method && !is_custody ? r->method : r->kind);
        _cleanup_free_ char *secrets = str_quote(r->secrets);
        _cleanup_free_ char *what = story_text_target(r);
        _cleanup_free_ char *rule = str_quote(r->rule);
        _cleanup_free_ char *note = str_quote(r->note);
        if (r->status)
                snprintf(status, sizeof status, "%" PRIu64, r->status);
        print_head(v);
        printf("%s  %s%-7s%s  %4s  %5s  %5s  %-7s  %s", when(r->time, t),
               v->has_colour ? colour(r) : "", verdict, v->has_colour ? "\033[0m" : "", status,
               story_text_size(r->bytes_up, up), story_text_size(r->bytes_down, down), word, what);
        bool has_note = *note && strcmp(note, rule) != 0;
        if (*rule || has_note)
                printf("  (%s%s%s)", rule, *rule && has_note ? "; " : "", has_note ? note : "");
        if (*secrets)
                printf("  with %s", secrets);
        if (r->pid) {
                const char *slash = strrchr(r->exe, '/');
                _cleanup_free_ char *name = str_quote(slash ? slash + 1 : r->exe);
                printf("  %s[%" PRIu64 "]", name, r->pid);
        }
        putchar('\n');
}

/* show(l, v, err): every record there is now. */
static int show(struct audit_log *l, struct view *v, struct err *err)
{
        struct audit_record r;
        int got;
        while ((got = audit_log_next(l, &r, err)) > 0) {
                int64_t us = 0;
                story_time_of(r.time, &us);
                if (v->is_verifying || !story_filter_time(v->filter, us) ||
                    !story_filter_record(v->filter, &r))
                        continue;
                if (v->is_json)
                        printf("%.*s\n", (int)l->line_len, l->line);
                else if (is_of_door(&r))
                        print_line(v, &r);
                else
                        print_words(v, &r);
        }
        fflush(stdout);
        return got;
}

static int verdict(const struct audit_log *l, const char *id)
{
        if (l->broken_at) {
                printf("broken: %s\n", l->broken);
                return EXIT_NEGATIVE;
        }
        printf("%" PRIu64 " records of box %s, each holding the one before", l->chain.seq, id);
        if (l->torn_n)
                printf("; %" PRIu64 " cut off when the writer was killed", l->torn_n);
        printf("\nlast: %s\n", l->chain.prev);
        return EXIT_OK;
}

static int run_on(int dir, const char *id, struct view *v)
{
        struct audit_log l;
        struct err err = {0};
        if (audit_log_open(&l, dir, &err) < 0)
                return out_error(&err);
        int got;
        for (;;) {
                bool is_alive = store_box_is_alive(dir);
                /* The first connection makes the log. */
                if (l.fd < 0 && is_alive && audit_log_open(&l, dir, &err) < 0)
                        return out_error(&err);
                got = show(&l, v, &err);
                if (got < 0 || !v->is_following || !is_alive || ferror(stdout))
                        break;
                poll(NULL, 0, FOLLOW_MS);
        }
        int code = got < 0 ? out_error(&err) : EXIT_OK;
        if (got == 0 && v->is_verifying)
                code = verdict(&l, id);
        else if (got == 0 && l.chain.seq == 0)
                out_say("box %s has asked nothing of the network", id);
        audit_log_close(&l);
        return code;
}

static int run(int argc, char **argv)
{
        struct view v = {.shown_n = 0};
        _cleanup_story_args_ struct story_args sa = {0};
        const struct arg flags[] = {
                ARG_BOOL('f', "follow", &v.is_following, "go on until the box ends"),
                ARG_BOOL(0, "denied", &v.is_denied, "only what was refused"),
                STORY_FLAGS(&sa),
                ARG_BOOL(0, "json", &v.is_json, "the records themselves, one JSON object a line"),
                ARG_BOOL(0, "verify", &v.is_verifying,
                         "print no records; say whether any was changed or removed"),
                ARG_END,
        };
        struct args a = args_of(&cmd_log, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        if (v.is_verifying && (v.is_following || v.is_denied || v.is_json || story_args_has(&sa)))
                return args_bad(&a, "--verify goes with no other flag");
        v.has_colour = out_has_colour(STDOUT_FILENO);
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int dir = store_box_dir(&b.store, b.id, &err);
        if (dir < 0)
                return out_error(&err);
        _cleanup_story_filter_ struct story_filter filter;
        if (story_args_filter(&sa, &b.store, b.id, &filter, &err) < 0)
                return args_bad(&a, "%s", err.text);
        filter.is_denied = v.is_denied;
        v.filter = &filter;
        session_settle(&b.store, b.id);
        return run_on(dir, b.id, &v);
}

const struct cmd cmd_log = {
        .name = "log",
        .group = CMD_RECORD,
        .args = "[BOX] [-f] [--denied] [--kind KIND,...] [flags]",
        .summary = "what a box asked of the network, ran, and was refused",
        .help = "Prints one line per record of BOX (the newest box if none is named): when, the "
                "verdict, the answer's status, bytes sent and got, what was asked or done, and the "
                "rule that decided. Values in queries are not kept. Each record holds the hash of "
                "the one before; --verify says whether the chain is whole.\n"
                "\n"
                "Records stand in the order in which they were written: a request when it ended. "
                "ostiary timeline has everything by time, with the changed files, and its help the "
                "words for TIME and KIND.\n"
                "\n"
                "What the box's command wrote is another matter: ostiary logs.\n"
                "\n"
                "Examples:\n"
                "  ostiary log -f night\n"
                "  ostiary log --denied --json night\n"
                "  ostiary log night --kind http --host github.com --since 02:00\n",
        .run = run,
};
