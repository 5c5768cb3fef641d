/* judge_apply.c - what apply does, held against the oracle: each path is as the box has it, or was
 * told and is as before; nothing else changed; what the host changed meanwhile is never lost. */
#include "judge_int.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_conflict(void *arg, const struct ws_change *c, enum apply_conflict how)
{
        (void)how;
        strs_add(&((struct told *)arg)->conflicts, c->path);
}

static void on_refused(void *arg, const struct ws_change *c, const char *why)
{
        struct told *t = arg;
        bool is_below = false; /* what cannot come to be takes with it what would be in it */
        for (size_t i = 0; i < t->refused.n && !is_below; i++) {
                size_t len = strlen(t->refused.v[i]);
                is_below = strncmp(t->refused.v[i], c->path, len) == 0 && c->path[len] == '/';
        }
        strs_add(&t->refused, c->path);
        if (is_below)
                return;
        t->is_shut |= strstr(why, "does not let you") != NULL;
        /* Without a reason in the thing itself it was the moment's. */
        if (!c->refused && c->after.kind != WS_SPECIAL && !(c->after.mode & 07000) && !*t->odd)
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
        if (got == 0 && is_all && !j->has_host_ops && *told->odd && !told->is_shut)
                got = fails(j, "%s: refused, but nobody touched the host: %s", when, told->odd);
        if (got == 0 && !j->has_host_ops && told->conflicts.n > 0)
                got = fails(j, "%s: %s is a conflict, but nobody touched the host", when,
                            path_words(told->conflicts.v[0]));
        return got;
}

/* put_fault(j, over): a file that nobody asked for, or one of these paths overwritten. */
void put_fault(struct judge *j, const struct strs *over)
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
int apply(struct judge *j, const struct ws_roots *r, struct apply_choice *v, size_t n,
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

void told_free(struct told *t)
{
        strs_free(&t->conflicts);
        strs_free(&t->refused);
}

/* check_view(j, want, when): what is mounted shows the same files. */
int check_view(struct judge *j, const struct tree *want, const char *when)
{
        struct tree box;
        char words[600];
        if (tree_read(j->stage.merged_fd, &box) < 0)
                return fails(j, "%s the view cannot be read: %s", when, strerror(errno));
        int got = tree_differ(&box, want, words, sizeof words)
                          ? fails(j, "%s the box sees another tree: %s", when, words)
                          : 0;
        tree_free(&box);
        return got;
}

/* Nothing is pending but what was told, and the box sees what it saw. */
int check_again(struct judge *j, const struct ws_roots *r, const struct told *told)
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
        if (stage_mount(&j->stage) < 0)
                return fails(j, "the overlay cannot be mounted after apply: %s", strerror(errno));
        got = check_view(j, &j->box, "after apply");
        stage_unmount(&j->stage);
        return got;
}

struct apply_choice *choose(struct judge *j, const struct ws_changes *c, unsigned percent,
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
