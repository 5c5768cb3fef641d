/* apply_tell.c - what apply did and what it did not, in words or as JSON, and what to do about it.
 * Names came out of a box: quoted always (cases 76, 80). */
#include "cli/apply.h"

#include "base/cleanup.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/out.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { TOLD_MAX = 40 };

static size_t count(const struct apply_job *j, enum landing_fate fate)
{
        size_t n = 0;
        for (size_t i = 0; i < j->l.n; i++)
                n += j->l.v[i].fate == fate;
        return n;
}

static const char *why_of(const struct landing_item *it)
{
        if (it->fate == FATE_CONFLICT)
                return it->why ? it->why : apply_conflict_words(it->conflict);
        return it->why ? it->why : "";
}

const char *apply_fate_name(const struct apply_job *j, enum landing_fate fate)
{
        switch (fate) {
        case FATE_TAKE:
                return j->l.is_dry ? "would-apply" : "not-reached";
        case FATE_APPLIED:
                return "applied";
        case FATE_CONFLICT:
                return "conflict";
        case FATE_REFUSED:
                return "refused";
        case FATE_UNASKED:
                return "not-approved";
        case FATE_DECLINED:
                return "declined";
        case FATE_WAITS:
                return "waits";
        case FATE_OPEN:
        case FATE_IMPLIED:
        case FATE_MASKED:
        case FATE_HELD:
        case FATE_UNIT:
                break;
        }
        return NULL;
}

static const char *fate_name(const struct apply_job *j, const struct landing_item *it)
{
        bool is_merged = it->fate == FATE_APPLIED && it->how == APPLY_MERGE;
        return is_merged ? "merged" : apply_fate_name(j, it->fate);
}

static int tell_json(const struct apply_job *j, int code)
{
        _cleanup_buf_ struct buf b = {.max = (size_t)2 << 30};
        struct json w = json_of(&b);
        json_open(&w, NULL, '{');
        json_str(&w, "box", j->l.c->id);
        json_bool(&w, "dry_run", j->l.is_dry);
        json_open(&w, "changes", '[');
        for (size_t i = 0; i < j->l.n; i++) {
                const struct landing_item *it = &j->l.v[i];
                const char *fate = fate_name(j, it);
                if (!fate)
                        continue;
                json_open(&w, NULL, '{');
                json_str(&w, "path", it->change->path);
                json_str(&w, "root", it->change->root->host);
                json_str(&w, "what", ws_what_name(it->change->what));
                json_str(&w, "class", file_class_name(it->change->class.class));
                json_str(&w, "fate", fate);
                if (*why_of(it))
                        json_str(&w, "why", why_of(it));
                json_close(&w, '}');
        }
        json_close(&w, ']');
        apply_git_json(j, &w);
        json_u64(&w, "ignored", j->ignored_n);
        json_open(&w, "records", '[');
        for (size_t i = 0; i < j->l.c->roots.n; i++)
                if (j->l.results[i].record_n)
                        json_u64(&w, NULL, j->l.results[i].record_n);
        json_close(&w, ']');
        json_close(&w, '}');
        int printed = out_json("apply", &b);
        return printed ? printed : code;
}

/* classes_of(it): its class, and those of new directories that it would bring along. */
static char *classes_of(const struct landing_item *it)
{
        enum file_class own = it->change->class.class;
        _cleanup_buf_ struct buf b = {0};
        buf_put_str(&b, file_class_name(own));
        for (int k = FILE_PLAIN + 1; k < FILE_CLASS_COUNT; k++)
                if ((it->change->above & (1U << k)) && k != (int)own)
                        buf_put_fmt(&b, ", in a new directory that is %s",
                                    file_class_name((enum file_class)k));
        return str_dup(buf_cstr(&b));
}

/* tell_each(j, fate, head): its files, one line each, below "3 changes HEAD:". */
static void tell_each(const struct apply_job *j, enum landing_fate fate, const char *head)
{
        size_t n = 0, all = count(j, fate);
        if (all == 0)
                return;
        out_say("%zu change%s %s:", all, all == 1 ? "" : "s", head);
        for (size_t i = 0; i < j->l.n && n < TOLD_MAX; i++) {
                const struct landing_item *it = &j->l.v[i];
                if (it->fate != fate)
                        continue;
                _cleanup_free_ char *name = landing_name(&j->l, it);
                _cleanup_free_ char *class = fate == FATE_UNASKED ? classes_of(it) : NULL;
                const char *why = class ? class : why_of(it);
                fprintf(stderr, "  %s%s%s\n", name, *why ? ": " : "", why);
                n++;
        }
        if (n < all)
                fprintf(stderr, "  and %zu more\n", all - n);
}

static void tell_unasked(const struct apply_job *j)
{
        _cleanup_buf_ struct buf classes = {0};
        unsigned is_there = 0;
        for (size_t i = 0; i < j->l.n; i++)
                if (j->l.v[i].fate == FATE_UNASKED)
                        is_there |= (1U << j->l.v[i].change->class.class) | j->l.v[i].change->above;
        for (int k = FILE_PLAIN + 1; k < FILE_CLASS_COUNT; k++)
                if (is_there & (1U << k))
                        buf_put_fmt(&classes, "%s%s", classes.len ? "," : "",
                                    file_class_name((enum file_class)k));
        tell_each(j, FATE_UNASKED,
                  j->l.is_dry ? "would be asked for by the name of their class"
                              : "left in the box, because --yes alone does not take them");
        if (classes.len)
                out_say("to take them, look at them (ostiary diff %s) and say: ostiary apply %s "
                        "--yes=%s",
                        j->l.c->id, j->l.c->id, buf_cstr(&classes));
}

static void tell_done(const struct apply_job *j)
{
        for (size_t i = 0; i < j->l.c->roots.n; i++) {
                const struct apply_result *r = &j->l.results[i];
                if (!r->record_n)
                        continue;
                if (r->applied_n == 0) {
                        out_say("take it back with: ostiary undo %" PRIu64, r->record_n);
                        continue;
                }
                _cleanup_free_ char *path = out_path(j->l.c->roots.v[i].host);
                _cleanup_free_ char *shown = str_quote(path);
                out_say("applied %" PRIu64 " change%s to %s (take back: ostiary undo %" PRIu64 ")",
                        r->applied_n, r->applied_n == 1 ? "" : "s", shown, r->record_n);
        }
}

/* tell_programs(j): what can be run now, though no class says that somebody does. */
static void tell_programs(const struct apply_job *j)
{
        struct out_names l = {0};
        enum landing_fate fate = j->l.is_dry ? FATE_TAKE : FATE_APPLIED;
        for (size_t i = 0; i < j->l.n; i++) {
                if (j->l.v[i].fate != fate || !j->l.v[i].change->is_program)
                        continue;
                _cleanup_free_ char *name = landing_name(&j->l, &j->l.v[i]);
                out_names_add(&l, name);
        }
        _cleanup_free_ char *words = out_names_words(&l);
        if (*words)
                out_say("of these can be run (executable, or begin with #!): %s", words);
        strs_free(&l.v);
}

static void tell_dry(const struct apply_job *j)
{
        for (size_t i = 0; i < j->l.n; i++) {
                if (j->l.v[i].fate != FATE_TAKE)
                        continue;
                _cleanup_free_ char *name = landing_name(&j->l, &j->l.v[i]);
                printf("%-8s %s%s\n", ws_what_name(j->l.v[i].change->what), name,
                       j->l.v[i].how == APPLY_MERGE ? "  (merged)" : "");
        }
}

/* is_left(j): did anything stay in the box that nobody declined? What waits for a merge has not
 * landed either: a script that goes on with `git push` must know. */
static bool is_left(const struct apply_job *j)
{
        static const enum landing_fate kinds[] = {FATE_CONFLICT, FATE_REFUSED, FATE_UNASKED};
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
                if (count(j, kinds[i]))
                        return true;
        for (size_t i = 0; i < j->l.n; i++) {
                const struct landing_unit *u = landing_unit_of(&j->l, &j->l.v[i]);
                if (j->l.v[i].fate == FATE_WAITS && !(u && u->is_declined))
                        return true;
        }
        return apply_git_left(j);
}

int apply_tell(struct apply_job *j)
{
        int code = is_left(j) ? EXIT_NEGATIVE : EXIT_OK;
        if (j->is_json)
                return tell_json(j, code);
        if (j->l.is_dry)
                tell_dry(j);
        apply_git_tell(j);
        tell_done(j);
        tell_programs(j);
        tell_each(j, FATE_CONFLICT, "in conflict, left as they are on both sides");
        if (count(j, FATE_CONFLICT))
                out_say("%s, or edit the host's file and put the box's version aside with: ostiary "
                        "cp %s:PATH FILE",
                        j->is_3way ? "what can be merged was; change one of the sides"
                                   : "try --3way, which merges text where a common base is known",
                        j->l.c->id);
        tell_each(j, FATE_REFUSED, "not applied");
        tell_each(j, FATE_WAITS, "left with the commits that they are part of");
        tell_unasked(j);
        if (j->ignored_n)
                out_say("%" PRIu64 " ignored file%s stayed in the box (name them, or --all)",
                        j->ignored_n, j->ignored_n == 1 ? "" : "s");
        bool has_items = count(j, FATE_HELD) + count(j, FATE_MASKED) < j->l.n;
        if (!has_items && !apply_git_has_news(j))
                out_say("box %s has nothing pending%s", j->l.c->id,
                        j->l.c->paths ? " at those paths" : "");
        return code;
}
