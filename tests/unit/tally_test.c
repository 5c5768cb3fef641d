/* tally_test.c - what a walk counts instead of telling: each ignored tree by itself, and past a
 * bound all others together, so that a box full of them costs no memory and none is left uncounted
 * or counted as another.
 * suite: check=any test=any soak=root,user timeout=120
 * tier: both users read a tree in the same way */
#include "unit/liblayers.h"

enum { TREES_N = 4200, APART_N = 4095 };

static int count(void *ctx, const struct ws_change *c)
{
        (void)c;
        ++*(unsigned *)ctx;
        return 0;
}

static void many_ignored_trees(void)
{
        dirs("h");
        for (unsigned i = 0; i < TREES_N; i++) {
                _cleanup_free_ char *path = str_fmt("u/%04u/node_modules/file", i);
                put(path, "x");
        }
        struct ws_root r = root_of((const char *const[]){"u", "h", NULL}, 1);
        struct ws_query q = {0};
        struct ws_tally t = {0};
        unsigned told_n = 0;
        CHECK("the walk comes to an end", ws_walk(&r, &q, count, &told_n, &t, NULL) == 0);
        CHECK("what is not ignored is told", told_n == TREES_N);
        CHECK("there is a bound", t.ignored_n == APART_N + 1);
        bool is_apart = true;
        for (size_t i = 0; i < t.ignored_n && i < APART_N; i++) {
                _cleanup_free_ char *path = str_fmt("%04u/node_modules", (unsigned)i);
                is_apart = is_apart && strcmp(t.ignored[i].path, path) == 0 &&
                           t.ignored[i].files_n == 1;
        }
        CHECK("below it each has a line of its own", is_apart);
        const struct ws_ignored *last = t.ignored_n ? &t.ignored[t.ignored_n - 1] : NULL;
        check_str("the last line is that of all others", last ? last->path : "", "elsewhere");
        CHECK("and counts them", last && last->files_n == TREES_N - APART_N);
        ws_tally_free(&t);
        root_end(&r);
}

int main(void)
{
        if (!scratch_make()) {
                printf("skip tally: the temporary directory cannot hold attributes\n");
                return 0;
        }
        many_ignored_trees();
        scratch_end();
        return check_end();
}
