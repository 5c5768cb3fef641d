/* judge.c - run one sequence and hold diff, apply and undo against the oracle:
 *
 *   diff         what ws_walk tells is the difference between the mounted view and the host's tree
 *   diff --turn  the same between the view before and after one frozen layer
 *   apply        each path is then as the box has it, or was told as refused or as a conflict and
 *                is as before; nothing else changed; what the host changed meanwhile is never lost
 *   again        nothing is pending but what was told; the box sees what it saw before
 *   undo         the host's tree is as before, also after two applies of two parts
 */
#include "judge_int.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct judge_count judge_count;
enum judge_fault judge_fault;

int fails(struct judge *j, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(j->why, j->why_size, fmt, ap);
        va_end(ap);
        return 1;
}

/* Everything, and back. */
static int judge_all(struct judge *j, const struct ws_roots *r)
{
        _cleanup_changes_ struct ws_changes c = {0}, again = {0}, back = {0};
        _cleanup_free_ struct apply_choice *v = NULL;
        struct told told = {0};
        struct tree applied = {0};
        uint64_t record = 0, by = 0;
        int got = diff_now(j, r, &c, "diff");
        judge_count.changes += c.n;
        if (got == 0)
                got = check_part(j, &r->v[0], &c);
        if (got == 0) {
                v = choose(j, &c, 100, false);
                got = apply(j, r, v, c.n, &record, &told, "apply");
        }
        if (got == 0)
                got = check_again(j, r, &told);
        if (got == 0)
                got = diff_now(j, r, &again, "diff after apply");
        tree_copy(&applied, &j->now);
        if (got == 0)
                got = undo(j, record, &j->host, &by, "undo");
        if (got == 0 && dice_below(&j->dice, 4) == 0) { /* and forth and back once more */
                got = undo(j, by, &applied, &by, "undo of the undo");
                if (got == 0)
                        got = undo(j, by, &j->host, NULL, "undo of the undo's undo");
        }
        tree_free(&applied);
        if (got == 0)
                got = diff_now(j, r, &back, "diff after undo");
        told_free(&told);
        return got;
}

/* A part, then the rest, and back in two steps. */
static int judge_parts(struct judge *j, const struct ws_roots *r)
{
        _cleanup_changes_ struct ws_changes c = {0}, rest = {0};
        _cleanup_free_ struct apply_choice *v = NULL, *w = NULL;
        struct told told = {0}, told_rest = {0};
        struct tree between = {0};
        uint64_t record = 0, record_rest = 0;
        int got = diff_now(j, r, &c, "diff before a part");
        if (got == 0) {
                v = choose(j, &c, 20 + dice_below(&j->dice, 60), true);
                got = apply(j, r, v, c.n, &record, &told, "apply of a part");
        }
        tree_copy(&between, &j->now);
        if (got == 0)
                got = diff_now(j, r, &rest, "diff after a part");
        if (got == 0) {
                w = choose(j, &rest, 100, false);
                got = apply(j, r, w, rest.n, &record_rest, &told_rest, "apply of the rest");
        }
        if (got == 0)
                got = undo(j, record_rest, &between, NULL, "undo of the rest");
        if (got == 0)
                got = undo(j, record, &j->host, NULL, "undo of the part");
        tree_free(&between);
        told_free(&told);
        told_free(&told_rest);
        return got;
}

static int open_roots(struct judge *j, unsigned turn, struct ws_roots *r)
{
        struct err err = {0};
        if (ws_roots_open(r, j->stage.box_fd, j->stage.frozen_fd, turn, &err) < 0)
                return fails(j, "the layers cannot be opened: %s", err.text);
        if (r->n != 1 || r->v[0].gone)
                return fails(j, "%zu roots instead of one, or: %s", r->n,
                             r->n ? r->v[0].gone : "none");
        return 0;
}

/* One turn alone, while the host's tree stays as it was. */
static int judge_turn(struct judge *j, unsigned turn, const struct tree *before)
{
        _cleanup_roots_ struct ws_roots r = {0};
        _cleanup_changes_ struct ws_changes c = {0};
        struct ws_query q = {.with_ignored = true};
        struct ws_tally tally = {0};
        struct err err = {0};
        char when[32];
        snprintf(when, sizeof when, "diff of turn %u", turn);
        int got = open_roots(j, turn, &r);
        if (got == 0 && ws_changes_of(&r.v[0], &q, &c, &tally, &err) < 0)
                got = fails(j, "%s failed: %s", when, err.text);
        ws_tally_free(&tally);
        return got ? got : check_diff(j, &c, before, &j->box, when);
}

static int freeze(struct judge *j, unsigned n, struct tree *last, unsigned *turns_n)
{
        tree_free(&j->box);
        if (tree_read(j->stage.merged_fd, &j->box) < 0 || stage_unmount(&j->stage) < 0)
                return -1;
        int froze = stage_freeze(&j->stage, n, j->why, j->why_size);
        if (froze < 0)
                return 1;
        int got = 0;
        if (froze) {
                judge_count.frozen++;
                *turns_n += froze == 1;
                if (froze == 1 && !j->has_host_ops)
                        got = judge_turn(j, *turns_n, last);
        }
        tree_free(last);
        *last = j->box;
        j->box = (struct tree){0};
        if (got == 0 && stage_mount(&j->stage) < 0)
                got = -1;
        return got ? got : check_view(j, last, "after freezing");
}

/* The operations in order; the host's own are done while nothing is mounted, because the kernel
 * promises nothing for a lower tree that changes under a mount. */
static int play(struct judge *j)
{
        struct stage *s = &j->stage;
        struct tree last = {0};
        unsigned turns_n = 0;
        bool has_begun = false, is_real = j->has_host_ops || j->seq->seed % 4 == 0;
        int got = 0;
        for (size_t i = 0; got == 0 && i <= j->seq->n; i++) {
                const struct op *o = i < j->seq->n ? &j->seq->v[i] : NULL;
                if (!has_begun && (!o || o->where != AT_SETUP)) {
                        has_begun = true;
                        if (tree_read(s->host_fd, &j->at_start) < 0 ||
                            stage_start(s, is_real) < 0 || stage_mount(s) < 0)
                                got = -1;
                        tree_copy(&last, &j->at_start);
                        if (is_real)
                                stage_settle();
                }
                if (!o || got != 0)
                        continue;
                judge_count.ops++;
                if (o->where == AT_SETUP) {
                        op_do(s->host_fd, s->host_fd, o);
                } else if (o->kind == OP_FREEZE) {
                        got = freeze(j, o->n, &last, &turns_n);
                } else if (o->where == AT_HOST) {
                        if (stage_unmount(s) < 0)
                                got = -1;
                        op_do(s->host_fd, s->host_fd, o);
                        if (got == 0 && stage_mount(s) < 0)
                                got = -1;
                } else {
                        op_do(s->merged_fd, s->host_fd, o);
                }
        }
        tree_free(&last);
        return got;
}

int judge_run(const char *base, const struct seq *seq, char *why, size_t size)
{
        struct judge j = {.seq = seq, .dice = {seq->seed + 1}, .why = why, .why_size = size};
        int got = 0;
        snprintf(why, size, "no reason was given");
        for (size_t i = 0; i < seq->n; i++)
                j.has_host_ops |= seq->v[i].where == AT_HOST;
        if (stage_new(&j.stage, base) < 0)
                got = -1;
        if (got == 0)
                got = play(&j);
        tree_free(&j.box);
        if (got == 0 && (tree_read(j.stage.merged_fd, &j.box) < 0 || stage_unmount(&j.stage) < 0 ||
                         tree_read(j.stage.host_fd, &j.host) < 0))
                got = -1;
        if (got == 0) {
                _cleanup_roots_ struct ws_roots r = {0};
                tree_copy(&j.now, &j.host);
                got = open_roots(&j, 0, &r);
                if (got == 0)
                        got = judge_all(&j, &r);
                if (got == 0)
                        got = judge_parts(&j, &r);
        }
        if (got == STOP)
                got = 0;
        if (got < 0)
                snprintf(why, size, "the test's own stage failed: %s", strerror(errno));
        stage_end(&j.stage);
        tree_free(&j.at_start);
        tree_free(&j.host);
        tree_free(&j.box);
        tree_free(&j.now);
        return got;
}
