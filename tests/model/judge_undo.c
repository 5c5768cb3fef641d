/* judge_undo.c - what undo does, held against the oracle: the host has what it had, and nobody is
 * asked about what nobody touched. */
#include "judge_int.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
int undo(struct judge *j, uint64_t n, const struct tree *want, uint64_t *by, const char *when)
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
