/* undo.h - every apply, undo and live run keeps what it replaced, so that it can be taken back.
 *
 *   $XDG_STATE_HOME/ostiary/undo/N/record    one line per path, written and synced BEFORE the path
 * is touched; the first lines say what this is $XDG_STATE_HOME/ostiary/undo/objects/    the
 * contents (objects.h)
 *
 * record lines (kv, values quoted as base/kv.h does):
 *   what apply|undo|live    box ID    root HOSTPATH    when UNIX_S    of N (undo: of which)
 *   path PATH<TAB>BEFORE<TAB>AFTER     a state: - (absent) | d MODE | l TARGET | f MODE SHA SIZE
 *   done                               the last line; without it the run was interrupted, and both
 *                                      `apply` again and `undo N` are right
 *   undone BY_N                        appended when it was taken back (parts: undone BY_N PATH)
 */
#ifndef WORKSPACE_UNDO_H
#define WORKSPACE_UNDO_H

#include "base/sha256.h"
#include "base/strs.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct undo_state {
        char kind; /* '-', 'd', 'l', 'f' */
        mode_t mode;
        char sha[SHA256_HEX_LEN + 1]; /* of a file */
        uint64_t size;
        char *target; /* of a link */
};
struct undo_entry {
        char *path;
        struct undo_state before, after;
        bool is_undone;
};
struct undo_record {
        uint64_t n;
        char *what, *box, *root;
        int64_t when_s;
        bool is_done, is_undone;
        struct undo_entry *v;
        size_t entries_n;
};
void undo_record_free(struct undo_record *);

/* undo_list(undo_fd, fn, ctx, err): every record, newest first, without entries (fn gets them with
 * ${with_entries}). */
int undo_list(int undo_fd, bool with_entries, int (*fn)(void *ctx, const struct undo_record *),
              void *ctx, struct err *);
int undo_read(int undo_fd, uint64_t n, struct undo_record *, struct err *);

/* undo_prune(undo_fd, max_age_s, max_bytes, removed_n, freed, err): oldest first, the newest record
 * of each root stays; objects that nobody names any more go. Called by apply and gc. */
int undo_prune(int undo_fd, uint64_t max_age_s, uint64_t max_bytes, uint64_t *removed_n,
               uint64_t *freed, struct err *);

struct undo_opts {
        bool is_dry;
        const struct strs *paths; /* NULL: all */
        /* a path whose content is not what the record left there: asked, and skipped on false */
        bool (*may_replace)(void *arg, const char *path, const char *why);
        void (*on_done)(void *arg, const char *path, const char *words);
        void *arg;
};
/* undo_run(undo_fd, n, opts, err): put back what record ${n} replaced, newest entry first; itself a
 * record, so that it can be undone. Everything below the root by descriptor. */
int undo_run(int undo_fd, uint64_t n, const struct undo_opts *, struct err *);

#endif
