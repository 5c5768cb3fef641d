/* undo_int.h - what the files of undo share among themselves and with apply: fields of records, the
 * list of numbers, and the landing of many paths at once. Nobody else includes it. */
#ifndef WORKSPACE_UNDO_INT_H
#define WORKSPACE_UNDO_INT_H

#include "workspace/undo.h"

/* undo_path_is_fit(path): relative, without "", "." or ".." as a component. */
bool undo_path_is_fit(const char *path);

/* undo_field(&rest): the next field of a line, its escapes undone in place; NULL at the end.
 * undo_field_put(b, text): escaped. */
char *undo_field(char **rest);
void undo_field_put(struct buf *, const char *text);

/* undo_numbers(undo_fd, numbers, n, err): of all records, newest first; the caller frees. */
int undo_numbers(int undo_fd, uint64_t **numbers, size_t *n, struct err *);

/* The mode of a record whose run is over: nothing of it is left to sweep, and so it need not be
 * read for that. */
enum { UNDO_OVER = 0700 };

/* undo_sweep(undo_fd, root_fd, err): remove the temporary files that killed runs left below this
 * root, and shut the directories that they had opened; their records say which. The lock is held.
 */
int undo_sweep(int undo_fd, int root_fd, struct err *);

/* undo_disk_start(fd): begin to write a finished file. undo_disk_commit(fd, err): wait until all
 * that was begun on that filesystem is on disk; ${fd} was written last. */
void undo_disk_start(int fd);
int undo_disk_commit(int fd, struct err *);

/* --- landing: many paths of one root from one state to another ----------------------------------
 */

enum undo_landing { UNDO_WAITS, UNDO_LANDED, UNDO_LEFT };

struct undo_op {
        char *path;
        struct undo_state before, after;
        struct undo_ident ident; /* of what is there: whoever is not that any more is left alone */
        void *user;              /* the caller's */
        enum undo_landing landing;
        const char *why; /* UNDO_LEFT: a constant clause */
};

struct undo_land {
        int root_fd;
        int undo_fd;
        struct undo_writer *writer;
        struct undo_op *v;
        size_t n, cap;
        struct undo_shut *shut; /* directories that are opened for the moment, by path */
        size_t shut_n;
        /* fill(arg, op, dst_fd, sha, size, err): write the content of op->after and say what it
         * was; another one than op->after says is not landed. */
        int (*fill)(void *arg, const struct undo_op *, int dst_fd, char sha[SHA256_HEX_LEN + 1],
                    uint64_t *size, struct err *);
        void (*on_progress)(void *arg, uint64_t done_n, uint64_t all_n); /* may be NULL */
        void *arg;
};

/* undo_land_add(l, path, before, after, ident): takes over the two states. */
struct undo_op *undo_land_add(struct undo_land *, const char *path, struct undo_state *before,
                              struct undo_state *after, const struct undo_ident *);
void undo_land_free(struct undo_land *);
/* undo_land_sort(l): parents before children. undo_land_find(l, path): in a sorted one. */
void undo_land_sort(struct undo_land *);
struct undo_op *undo_land_find(const struct undo_land *, const char *path);
/* undo_land_parents(l, mode_of, err): sorts, and adds an operation for every directory that is
 * missing above something that will be; ${mode_of} says with which mode (arg as in fill). What
 * would lie below something that is no directory is left. */
int undo_land_parents(struct undo_land *, mode_t (*mode_of)(void *arg, const char *path),
                      struct err *);
/* undo_land_run(l, err): record and sync all of it, then do it: removals (deepest first),
 * directories, then files and links in batches. -1: stopped in the middle; what has landed is
 * marked, the rest is as before. Does not write `done`. */
int undo_land_run(struct undo_land *, struct err *);

/* Directories that their own owner may not write to (undo_shut.c). undo_shut_find(l): those in
 * which something of a sorted list is to land; noted in the record. undo_shut_open(l): once that is
 * on disk. undo_shut_close(l): back to their modes, but for those that landed with another.
 * undo_shut_again(root_fd, s): one, if it is still as undo_shut_open left it. */
void undo_shut_find(struct undo_land *);
void undo_shut_open(const struct undo_land *);
void undo_shut_close(const struct undo_land *);
void undo_shut_again(int root_fd, const struct undo_shut *);

/* One path at a time (undo_place.c). ${dir_fd} is the opened parent, ${name} the last component,
 * ${temp} a name nobody else uses. They return 0 (the landing is in op), or -1: stop. */
int undo_place_remove(struct undo_op *, int dir_fd, const char *name, const char *temp,
                      struct err *);
int undo_place_dir(struct undo_op *, int dir_fd, const char *name, const char *temp, struct err *);
int undo_place_link(struct undo_op *, int dir_fd, const char *name, const char *temp, struct err *);
/* undo_place_mode: of a file whose content stays. */
int undo_place_mode(struct undo_op *, int dir_fd, const char *name, struct err *);
/* undo_place_open(op, dir_fd, temp, is_named, err): a file to be filled: without a name where the
 * filesystem can. undo_place_file: what was filled to its place. */
int undo_place_open(const struct undo_op *, int dir_fd, const char *temp, bool *is_named,
                    struct err *);
int undo_place_file(struct undo_op *, int dir_fd, const char *name, const char *temp, int file_fd,
                    bool is_named, struct err *);

#endif
