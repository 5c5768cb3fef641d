/* judge.c - run one sequence and hold diff, apply and undo against the oracle:
 *
 *   diff         what ws_walk tells is the difference between the mounted view and the host's tree
 *   diff --turn  the same between the view before and after one frozen layer
 *   apply        each path is then as the box has it, or was told as refused or as a conflict and
 *                is as before; nothing else changed; what the host changed meanwhile is never lost
 *   again        nothing is pending but what was told; the box sees what it saw before
 *   undo         the host's tree is as before, also after two applies of two parts
 */
#include "model.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "workspace/apply.h"
#include "workspace/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

struct judge_count judge_count;
enum judge_fault judge_fault;

/* Not wrong, and nothing more can be seen in this sequence. */
enum { STOP = 2 };

struct judge {
        struct stage stage;
        const struct seq *seq;
        struct dice dice;
        struct tree at_start; /* the host's when the box began */
        struct tree host;     /* the host's when the box was done */
        struct tree box;      /* the mounted view */
        struct tree now;      /* the host's as it was last read; nobody else writes there */
        bool has_host_ops;
        char *why;
        size_t why_size;
};

__attribute__((format(printf, 2, 3))) static int fails(struct judge *j, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(j->why, j->why_size, fmt, ap);
        va_end(ap);
        return 1;
}

/* --- diff ------------------------------------------------------------------------------------- */

static int what_is(const struct entry *before, const struct entry *after)
{
        if (entry_same(before, after))
                return -1;
        if (!before)
                return WS_ADDED;
        if (!after)
                return WS_DELETED;
        if (before->kind != after->kind)
                return WS_RETYPED;
        if (before->size != after->size || before->hash != after->hash || before->kind == 'l')
                return WS_MODIFIED;
        return WS_MODE;
}

static int by_path(const void *a, const void *b)
{
        return strcmp((*(const struct ws_change *const *)a)->path,
                      (*(const struct ws_change *const *)b)->path);
}

static const struct ws_change *change_at(struct ws_change *const *sorted, size_t n,
                                         const char *path)
{
        struct ws_change key = {.path = (char *)(uintptr_t)path};
        const struct ws_change *p = &key;
        struct ws_change *const *got =
                n == 0 ? NULL : bsearch(&p, sorted, n, sizeof *sorted, by_path);
        return got ? *got : NULL;
}

/* Parents that come to be stand before what is in them, those that go after it. */
static int check_order(struct judge *j, const struct ws_changes *c, struct ws_change *const *sorted,
                       const char *when)
{
        for (size_t i = 0; i < c->n; i++) {
                const struct ws_change *one = &c->v[i];
                const char *slash = strrchr(one->path, '/');
                if (!slash)
                        continue;
                char *dir = strndup(one->path, (size_t)(slash - one->path));
                const struct ws_change *up = change_at(sorted, c->n, dir);
                free(dir);
                if (!up)
                        continue;
                bool goes = one->what == WS_DELETED &&
                            (up->what == WS_DELETED || up->what == WS_RETYPED);
                bool comes =
                        one->what == WS_ADDED && (up->what == WS_ADDED || up->what == WS_RETYPED);
                if (goes && up->after.kind != WS_DIR && up < one)
                        return fails(j, "%s: %s is told after its directory", when,
                                     path_words(one->path));
                if (comes && up->after.kind == WS_DIR && up > one)
                        return fails(j, "%s: %s is told before its directory", when,
                                     path_words(one->path));
        }
        return 0;
}

static int check_diff(struct judge *j, const struct ws_changes *c, const struct tree *before,
                      const struct tree *after, const char *when)
{
        struct ws_change **sorted = calloc(c->n + 1, sizeof *sorted);
        int got = 0;
        for (size_t i = 0; i < c->n; i++)
                sorted[i] = &c->v[i];
        qsort(sorted, c->n, sizeof *sorted, by_path);
        size_t a = 0, b = 0, k = 0;
        while (got == 0 && (a < before->n || b < after->n || k < c->n)) {
                const char *path = NULL;
                const struct entry *x = a < before->n ? &before->v[a] : NULL;
                const struct entry *y = b < after->n ? &after->v[b] : NULL;
                if (x)
                        path = x->path;
                if (y && (!path || strcmp(y->path, path) < 0))
                        path = y->path;
                if (k < c->n && (!path || strcmp(sorted[k]->path, path) < 0))
                        path = sorted[k]->path;
                x = x && strcmp(x->path, path) == 0 ? &before->v[a++] : NULL;
                y = y && strcmp(y->path, path) == 0 ? &after->v[b++] : NULL;
                int told = -1;
                if (k < c->n && strcmp(sorted[k]->path, path) == 0)
                        told = (int)sorted[k++]->what;
                int wanted = what_is(x, y);
                if (told != wanted) {
                        char one[128], two[128];
                        got = fails(j, "%s: %s is told as %s and is %s (%s -> %s)", when,
                                    path_words(path),
                                    told < 0 ? "unchanged" : ws_what_name((enum ws_what)told),
                                    wanted < 0 ? "unchanged" : ws_what_name((enum ws_what)wanted),
                                    entry_words(x, one, sizeof one),
                                    entry_words(y, two, sizeof two));
                }
        }
        if (got == 0)
                got = check_order(j, c, sorted, when);
        free(sorted);
        return got;
}

/* A part of the tree, asked for by its path, is told as it is told among all. */
static int check_part(struct judge *j, const struct ws_root *root, const struct ws_changes *all)
{
        if (all->n == 0)
                return 0;
        char *path = strdup(all->v[dice_below(&j->dice, (unsigned)all->n)].path);
        char *slash = strrchr(path, '/');
        if (slash && dice_below(&j->dice, 2))
                *slash = 0;
        size_t len = strlen(path), n = 0, m = 0;
        _cleanup_strs_ struct strs paths = {0};
        strs_add(&paths, path);
        _cleanup_changes_ struct ws_changes part = {0};
        struct ws_query q = {.with_ignored = true, .paths = &paths};
        struct ws_tally tally = {0};
        struct err err = {0};
        int got = 0;
        if (ws_changes_of(root, &q, &part, &tally, &err) < 0)
                got = fails(j, "diff of %s: %s", path_words(path), err.text);
        for (size_t i = 0; i < all->n; i++) {
                const char *p = all->v[i].path;
                n += strncmp(p, path, len) == 0 && (p[len] == 0 || p[len] == '/');
        }
        for (size_t i = 0; i < part.n; i++) {
                const char *p = part.v[i].path;
                m += strncmp(p, path, len) == 0 && (p[len] == 0 || p[len] == '/');
        }
        if (got == 0 && (n != m || m != part.n))
                got = fails(j, "diff of %s alone tells %zu changes (%zu below it) instead of %zu",
                            path_words(path), part.n, m, n);
        ws_tally_free(&tally);
        free(path);
        return got;
}

/* diff_now(j, roots, changes, before, when): walk, and hold it against the host as it is now. */
static int diff_now(struct judge *j, const struct ws_roots *r, struct ws_changes *c,
                    const char *when)
{
        struct ws_query q = {.with_ignored = true};
        struct ws_tally tally = {0};
        struct err err = {0};
        if (ws_changes_of(&r->v[0], &q, c, &tally, &err) < 0)
                return fails(j, "%s: the walk failed: %s", when, err.text);
        ws_tally_free(&tally);
        if (judge_fault == FAULT_DIFF && c->n > 0)
                ws_change_free(&c->v[--c->n]);
        return check_diff(j, c, &j->now, &j->box, when);
}

/* --- apply ------------------------------------------------------------------------------------ */

struct told {
        struct strs conflicts, refused;
        char odd[700]; /* refused without a reason that lasts */
};

static void on_conflict(void *arg, const struct ws_change *c, enum apply_conflict how)
{
        (void)how;
        strs_add(&((struct told *)arg)->conflicts, c->path);
}

static void on_refused(void *arg, const struct ws_change *c, const char *why)
{
        struct told *t = arg;
        strs_add(&t->refused, c->path);
        /* Without a reason in the thing itself it was the moment's. */
        if (!c->refused && c->after.kind != WS_SPECIAL && !(c->after.mode & 07000) && !*t->odd &&
            !strstr(why, "does not let you")) /* a read-only directory stays one */
                snprintf(t->odd, sizeof t->odd, "%s (%s)", path_words(c->path), why);
}

static bool is_told(const struct told *t, const char *path)
{
        return strs_has(&t->conflicts, path) || strs_has(&t->refused, path);
}

static bool is_below_one(const struct apply_choice *v, size_t n, const char *dir)
{
        size_t len = strlen(dir);
        for (size_t i = 0; i < n; i++)
                if (v[i].how != APPLY_SKIP && strncmp(v[i].change->path, dir, len) == 0 &&
                    v[i].change->path[len] == '/' && v[i].change->after.kind != WS_NONE)
                        return true;
        return false;
}

static const struct apply_choice *choice_at(const struct apply_choice *v, size_t n,
                                            const char *path)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(v[i].change->path, path) == 0)
                        return &v[i];
        return NULL;
}

static const char our_bytes[] = "a part of it\n";

static int check_applied_path(struct judge *j, const char *path, const struct tree *before,
                              const struct tree *after, const struct apply_choice *v, size_t n,
                              const struct told *told, const char *when)
{
        const struct entry *was = tree_at(before, path), *is = tree_at(after, path);
        const struct entry *want = tree_at(&j->box, path), *start = tree_at(&j->at_start, path);
        const struct apply_choice *c = choice_at(v, n, path);
        char one[128], two[128];
        struct entry plain;
        if (!c || c->how == APPLY_SKIP || is_told(told, path)) {
                if (entry_same(was, is))
                        return 0;
                /* What was asked for has to lie somewhere. */
                if (!was && is->kind == 'd' && is_below_one(v, n, path))
                        return 0;
                return fails(j, "%s: %s was not applied%s and is %s instead of %s", when,
                             path_words(path),
                             !c || c->how == APPLY_SKIP         ? ""
                             : strs_has(&told->conflicts, path) ? " (conflict)"
                                                                : " (refused)",
                             entry_words(is, one, sizeof one), entry_words(was, two, sizeof two));
        }
        /* The user's own work since the box began is never lost. */
        const struct entry *theirs = tree_at(&j->host, path);
        if (was && was->kind != 'd' && entry_same(was, theirs) && !entry_same(start, theirs) &&
            !entry_same(was, want) && !entry_same(is, was))
                return fails(j, "%s: %s was changed on the host meanwhile and is overwritten", when,
                             path_words(path));
        if (want) {
                plain = *want;
                plain.mode &= 0777;
                want = &plain;
        }
        if (c->how == APPLY_BYTES) {
                if (is && is->kind == 'f' && is->size == sizeof our_bytes - 1)
                        return 0;
        } else if (entry_same(is, want)) {
                return 0;
        }
        return fails(j, "%s: %s was applied and is %s instead of %s", when, path_words(path),
                     entry_words(is, one, sizeof one), entry_words(want, two, sizeof two));
}

static int check_applied(struct judge *j, const struct apply_choice *v, size_t n,
                         const struct told *told, const char *when)
{
        struct tree after;
        int got = 0;
        if (tree_read(j->stage.host_fd, &after) < 0)
                return fails(j, "%s: the host's tree cannot be read: %s", when, strerror(errno));
        const struct tree *before = &j->now;
        const struct tree *all[] = {before, &after, &j->box};
        for (int t = 0; t < 3; t++)
                for (size_t i = 0; got == 0 && i < all[t]->n; i++)
                        got = check_applied_path(j, all[t]->v[i].path, before, &after, v, n, told,
                                                 when);
        tree_free(&j->now);
        j->now = after;
        bool is_all = true;
        for (size_t i = 0; i < n; i++)
                is_all &= v[i].how != APPLY_SKIP;
        if (got == 0 && is_all && !j->has_host_ops && *told->odd)
                got = fails(j, "%s: refused, but nobody touched the host: %s", when, told->odd);
        if (got == 0 && !j->has_host_ops && told->conflicts.n > 0)
                got = fails(j, "%s: %s is a conflict, but nobody touched the host", when,
                            path_words(told->conflicts.v[0]));
        return got;
}

/* put_fault(j, over): a file that nobody asked for, or one of these paths overwritten. */
static void put_fault(struct judge *j, const struct strs *over)
{
        if (over && over->n == 0)
                return;
        int fd = openat(j->stage.host_fd, over ? over->v[0] : "planted by the test",
                        O_WRONLY | O_TRUNC | O_CLOEXEC | (over ? 0 : O_CREAT), 0644);
        if (fd >= 0 && write(fd, "fault", 5) != 5)
                abort();
        if (fd >= 0)
                close(fd);
}

/* apply(j, roots, changes, choose, record, told, when): choose(i) is what to do with each. */
static int apply(struct judge *j, const struct ws_roots *r, struct apply_choice *v, size_t n,
                 uint64_t *record, struct told *told, const char *when)
{
        struct apply_hooks hooks = {
                .on_conflict = on_conflict, .on_refused = on_refused, .arg = told};
        struct apply_result result = {0};
        struct err err = {0};
        *told = (struct told){0};
        int got = 0;
        if (apply_run(j->stage.box_fd, "model", j->stage.undo_fd, &r->v[0], v, n, &hooks, &result,
                      &err) < 0)
                got = fails(j, "%s: apply failed: %s", when, err.text);
        if (judge_fault == FAULT_APPLY || judge_fault == FAULT_LOST)
                put_fault(j, judge_fault == FAULT_LOST ? &told->conflicts : NULL);
        *record = result.record_n;
        judge_count.conflicts += told->conflicts.n;
        judge_count.refused += told->refused.n;
        if (got == 0)
                got = check_applied(j, v, n, told, when);
        if (got == 0 &&
            (result.conflicts_n != told->conflicts.n || result.refused_n != told->refused.n))
                got = fails(j, "%s: %llu conflicts and %llu refused are counted, %zu and %zu told",
                            when, (unsigned long long)result.conflicts_n,
                            (unsigned long long)result.refused_n, told->conflicts.n,
                            told->refused.n);
        return got;
}

static void told_free(struct told *t)
{
        strs_free(&t->conflicts);
        strs_free(&t->refused);
}

/* Nothing is pending but what was told, and the box sees what it saw. */
static int check_again(struct judge *j, const struct ws_roots *r, const struct told *told)
{
        struct applied *applied = NULL;
        struct err err = {0};
        struct ws_tally tally = {0};
        _cleanup_changes_ struct ws_changes c = {0};
        int got = 0;
        if (applied_read(j->stage.box_fd, &applied, &err) < 0)
                return fails(j, "what was applied cannot be read: %s", err.text);
        struct ws_query q = {.with_ignored = true, .is_applied = applied_has, .arg = applied};
        if (ws_changes_of(&r->v[0], &q, &c, &tally, &err) < 0)
                got = fails(j, "the walk after apply failed: %s", err.text);
        ws_tally_free(&tally);
        for (size_t i = 0; got == 0 && i < c.n; i++)
                if (!is_told(told, c.v[i].path))
                        got = fails(j, "%s was applied and is still pending as %s",
                                    path_words(c.v[i].path), ws_what_name(c.v[i].what));
        if (got == 0 && c.n != told->conflicts.n + told->refused.n)
                got = fails(j, "%zu changes are pending after %zu conflicts and %zu refusals", c.n,
                            told->conflicts.n, told->refused.n);
        applied_free(applied);
        if (got != 0)
                return got;
        struct tree box;
        char words[600];
        if (stage_mount(&j->stage) < 0 || tree_read(j->stage.merged_fd, &box) < 0)
                return fails(j, "the overlay cannot be mounted after apply: %s", strerror(errno));
        if (tree_differ(&box, &j->box, words, sizeof words))
                got = fails(j, "the box sees another tree after apply: %s", words);
        tree_free(&box);
        stage_unmount(&j->stage);
        return got;
}

/* --- undo ------------------------------------------------------------------------------------- */

struct asked {
        char path[512];
        bool was;
        bool is_shut; /* a read-only directory of the host stays one, and that is told */
};

static bool may_replace(void *arg, const char *path, const char *why)
{
        struct asked *a = arg;
        a->was = true;
        snprintf(a->path, sizeof a->path, "%s (%s)", path_words(path), why);
        return false;
}

static void on_left(void *arg, const char *path, const char *why)
{
        if (strstr(why, "does not let you"))
                ((struct asked *)arg)->is_shut = true;
        else
                may_replace(arg, path, why);
}

/* undo(j, n, want, by, when): ${by} is the undo's own record, may be NULL. */
static int undo(struct judge *j, uint64_t n, const struct tree *want, uint64_t *by,
                const char *when)
{
        struct asked asked = {0};
        struct undo_opts opts = {.has_box = true,
                                 .box_dir_fd = j->stage.box_fd,
                                 .may_replace = may_replace,
                                 .on_left = on_left,
                                 .arg = &asked};
        struct undo_result result = {0};
        struct err err = {0};
        char words[600];
        if (n != 0 && undo_run(j->stage.undo_fd, n, &opts, &result, &err) < 0)
                return fails(j, "%s failed: %s", when, err.text);
        if (by)
                *by = result.record_n;
        if (judge_fault == FAULT_UNDO)
                put_fault(j, NULL);
        if (asked.is_shut)
                return STOP;
        if (asked.was)
                return fails(j, "%s asks about %s, which nobody touched", when, asked.path);
        tree_free(&j->now);
        if (tree_read(j->stage.host_fd, &j->now) < 0)
                return fails(j, "after %s the host's tree cannot be read: %s", when,
                             strerror(errno));
        return tree_differ(&j->now, want, words, sizeof words)
                       ? fails(j, "after %s the host's tree is not as before: %s", when, words)
                       : 0;
}

/* --- one sequence ----------------------------------------------------------------------------- */

static struct apply_choice *choose(struct judge *j, const struct ws_changes *c, unsigned percent,
                                   bool with_bytes)
{
        struct apply_choice *v = calloc(c->n + 1, sizeof *v);
        for (size_t i = 0; i < c->n; i++) {
                v[i] = (struct apply_choice){.change = &c->v[i]};
                v[i].how = dice_below(&j->dice, 100) < percent ? APPLY_TAKE : APPLY_SKIP;
                if (with_bytes && v[i].how == APPLY_TAKE && c->v[i].what == WS_MODIFIED &&
                    c->v[i].after.kind == WS_FILE && dice_below(&j->dice, 6) == 0) {
                        v[i].how = APPLY_BYTES;
                        v[i].bytes = our_bytes;
                        v[i].bytes_len = sizeof our_bytes - 1;
                }
        }
        return v;
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

static int freeze(struct judge *j, struct tree *last, unsigned *turns_n)
{
        tree_free(&j->box);
        if (tree_read(j->stage.merged_fd, &j->box) < 0 || stage_unmount(&j->stage) < 0)
                return -1;
        int froze = stage_freeze(&j->stage, "model", j->why, j->why_size);
        if (froze < 0)
                return 1;
        int got = 0;
        if (froze) {
                judge_count.frozen++;
                ++*turns_n;
                if (!j->has_host_ops)
                        got = judge_turn(j, *turns_n, last);
                tree_free(last);
                *last = j->box;
                j->box = (struct tree){0};
        }
        if (got == 0 && stage_mount(&j->stage) < 0)
                got = -1;
        return got;
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
                        got = freeze(j, &last, &turns_n);
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
