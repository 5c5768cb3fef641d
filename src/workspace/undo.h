/* undo.h - every apply, undo and live run keeps what it replaced, so that it can be taken back.
 *
 *   $XDG_STATE_HOME/ostiary/undo/N/record   one line per path, written and synced BEFORE the path
 *                                           is touched; the first lines say what this is
 *   $XDG_STATE_HOME/ostiary/undo/objects/   the contents (objects.h)
 *   $XDG_STATE_HOME/ostiary/undo/lock       flock: one writer at a time
 *
 * record lines (kv, values quoted as base/kv.h does; tabs and backslashes within a field once
 * more): what apply|undo|live    box ID    layer NAME    root HOSTPATH    id DEV:INO
 *   when_us UNIX_US (older ones: when UNIX_S)
 *   of N (undo: of which)   temp HEX (what the names of temporary files of this run begin with)
 *   path PATH<TAB>BEFORE<TAB>AFTER     a state: - (absent) | d MODE | l TARGET | f MODE SHA SIZE
 *                                      | ? (not known: whatever is there). The last line of a path
 *                                      counts.
 *   open MODE<TAB>INODE<TAB>PATH       a directory ("." the root) that was opened for the moment:
 *                                      an interrupted run left it so, and this is its own mode
 *   ref TREE<TAB>NAME<TAB>FROM<TAB>TO  a git ref of the repository at TREE that is moved with it; an
 *                                      id that is "-" stands for none
 *   skip PATH                          it was not touched after all
 *   swept 1                            temporary files of the interrupted run were removed, and
 *                                      the directories that it had opened are shut
 *   done 1                             the last line; without it the run was interrupted, and both
 *                                      `apply` again and `undo N` are right
 *   undone BY_N                        appended when it was taken back (parts: undone
 * BY_N<TAB>PATH)
 */
#ifndef WORKSPACE_UNDO_H
#define WORKSPACE_UNDO_H

#include "base/sha256.h"
#include "base/strs.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;

struct undo_state {
        char kind;   /* '-', 'd', 'l', 'f'; '?' not known; 's' a device, FIFO or socket: only found,
                        never restored */
        mode_t mode; /* permission bits */
        char sha[SHA256_HEX_LEN + 1]; /* of a file */
        uint64_t size;
        char *target; /* of a link */
};
void undo_state_free(struct undo_state *);
void undo_state_copy(struct undo_state *to, const struct undo_state *from);
/* undo_state_same(a, b): nothing, the same file by content and mode, ...; '?' is like nothing else.
 * A directory is like any directory: its mode is put back, and never a reason to ask. */
bool undo_state_same(const struct undo_state *, const struct undo_state *);
/* undo_state_put(b, s), undo_state_parse(text, s): as it stands in a record; parse returns -1 for
 * anything else. */
void undo_state_put(struct buf *, const struct undo_state *);
int undo_state_parse(const char *text, struct undo_state *);

/* How a thing is known again: what changes when anybody changes it. */
struct undo_ident {
        uint64_t dev, ino, size;
        int64_t mtime_ns, ctime_ns;
        int64_t born_ns; /* of a directory; 0: not known. Not compared. */
        bool is_linked;  /* a file with other names: when one of those lands, its ctime moves */
        bool uid_known;
        uid_t uid; /* not compared: what replaces a file belongs to whom it belonged, if it can */
        gid_t gid;
};

/* undo_state_of(root_fd, path, objects_fd, state, ident, err): what is at ${path} now, through no
 * symlink; a path through something that is no directory is absent. The content of a file is kept
 * in ${objects_fd}, or only hashed when that is -1. ${ident} may be NULL. */
int undo_state_of(int root_fd, const char *path, int objects_fd, struct undo_state *,
                  struct undo_ident *, struct err *);

struct undo_entry {
        char *path;
        struct undo_state before, after;
        bool is_undone, is_skipped;
};
struct undo_shut {
        char *path;
        mode_t mode; /* with setgid and sticky */
        uint64_t ino;
};
struct undo_ref {
        char *tree, *name;
        char *from, *to; /* ids in hexadecimal; "": none */
};
struct undo_record {
        uint64_t n;
        char *what, *box, *layer, *root; /* "" when the record does not say */
        char *temp;
        uint64_t dev, ino; /* of the root */
        uint64_t of;
        int64_t when_us; /* wall clock, when it was begun */
        bool is_done, is_undone;
        bool is_swept;          /* interrupted, and its temporary files are gone */
        uint64_t undone_by;     /* the last one */
        struct undo_entry *v;   /* NULL when they were not asked for */
        size_t entries_n;       /* counted in any case; without entries: lines */
        struct undo_shut *shut; /* read with the entries */
        size_t shut_n;
        struct undo_ref *refs; /* in the order in which they moved; read in any case */
        size_t refs_n;
};
void undo_record_free(struct undo_record *);
#define _cleanup_record_ __attribute__((cleanup(undo_record_free)))

/* undo_store_open(state, err): $XDG_STATE_HOME/ostiary -> descriptor of its undo directory, made
 * when missing (0700, with objects in it). undo_objects(undo_fd, err): of the contents. */
int undo_store_open(const char *state, struct err *);
int undo_objects(int undo_fd, struct err *);
/* undo_lock(undo_fd, err): wait until nobody else writes there; returns a descriptor that holds the
 * lock until it is closed. Whoever puts objects or writes records holds it. */
int undo_lock(int undo_fd, struct err *);

/* undo_clean(undo_fd, root_fd, err): remove what a killed apply or undo left below a root under its
 * temporary names, and shut what it had opened; before the root is looked at, so that they are not
 * taken for the user's. */
int undo_clean(int undo_fd, int root_fd, struct err *);

/* undo_list(undo_fd, with_entries, fn, ctx, err): every record, newest first; ${fn} returns 0 to go
 * on. A record that cannot be read is passed over. */
int undo_list(int undo_fd, bool with_entries, int (*fn)(void *ctx, const struct undo_record *),
              void *ctx, struct err *);
int undo_read(int undo_fd, uint64_t n, struct undo_record *, struct err *);
/* undo_parse(text_fd, with_entries, record, err): a record file. Lines that are not whole or make
 * no sense count for nothing: they were written before anything was done. */
int undo_parse(int text_fd, bool with_entries, struct undo_record *, struct err *);

/* Writing a record: begin, add everything, sync, only then touch what was added, done.
 *
 *     w = undo_begin(undo_fd, &head, err);
 *     for each path: undo_state_of(root_fd, path, objects_fd, &before, ...);
 *                    undo_add(w, path, &before, &after);
 *     if (undo_sync(w, err) == 0) { ...touch...; undo_done(w, err); }
 *     undo_close(w);
 *
 * A live run adds every path with its state at the start and AFTER '?', and at its end, by
 * undo_again, a further line for each path that changed. */
struct undo_writer;
struct undo_head {
        const char *what, *box, *layer, *root; /* NULL: does not say */
        uint64_t dev, ino;                     /* of the root */
        uint64_t of;                           /* 0: none */
};
struct undo_writer *undo_begin(int undo_fd, const struct undo_head *, struct err *);
/* undo_again(undo_fd, n, err): go on with record ${n}. */
struct undo_writer *undo_again(int undo_fd, uint64_t n, struct err *);
uint64_t undo_number(const struct undo_writer *);
const char *undo_temp(const struct undo_writer *);
/* undo_add, undo_skip: kept in memory and written now and then; a failure to write is told by the
 * next undo_sync or undo_done. */
void undo_add(struct undo_writer *, const char *path, const struct undo_state *before,
              const struct undo_state *after);
void undo_skip(struct undo_writer *, const char *path);
/* undo_ref_add(w, ref): a git ref that will move; synced before it does, like a path. */
void undo_ref_add(struct undo_writer *, const struct undo_ref *);
/* undo_opened(w, s): a directory that will be opened for the moment. */
void undo_opened(struct undo_writer *, const struct undo_shut *);
/* undo_undone(w, by, path): that a part, or with NULL all of it, was taken back by record ${by}. */
void undo_undone(struct undo_writer *, uint64_t by, const char *path);
/* undo_swept(w): temporary files of the interrupted run are gone. */
void undo_swept(struct undo_writer *);
int undo_sync(struct undo_writer *, struct err *);
int undo_done(struct undo_writer *, struct err *);
void undo_close(struct undo_writer *); /* NULL is fine */
/* undo_drop(w): close, and take the record away: nothing was touched. */
void undo_drop(struct undo_writer *);

/* undo_prune(undo_fd, max_age_s, max_bytes, removed_n, freed, err): oldest first, the newest record
 * of each root stays; objects that nobody names any more go. Called by apply and gc. */
int undo_prune(int undo_fd, uint64_t max_age_s, uint64_t max_bytes, uint64_t *removed_n,
               uint64_t *freed, struct err *);

struct undo_opts {
        bool is_dry;
        const struct strs *paths; /* these and what is below them; NULL: all */
        /* The directory of the box that the record names, if it is still there: what is taken back
         * is pending in it again (apply.h). */
        bool has_box;
        int box_dir_fd;
        /* a path whose content is not what the record left there: asked, and skipped on false */
        bool (*may_replace)(void *arg, const char *path, const char *why);
        void (*on_done)(void *arg, const char *path, const char *words);
        /* left as it is, and why */
        void (*on_left)(void *arg, const char *path, const char *why);
        void *arg;
};
struct undo_result {
        uint64_t record_n; /* of this undo; 0: nothing was done */
        uint64_t done_n, left_n;
};
/* undo_run(undo_fd, n, opts, result, err): put back what record ${n} replaced; itself a record, so
 * that it can be undone. Everything below the root by descriptor. A root that is gone or another
 * directory is refused. */
int undo_run(int undo_fd, uint64_t n, const struct undo_opts *, struct undo_result *, struct err *);

#endif
