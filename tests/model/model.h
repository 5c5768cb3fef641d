/* model.h - the parts of the model test: random things are done to a tree through a real overlay
 * mount, and what diff, apply and undo say of them is held against what a plain comparison of the
 * two trees shows. The oracle (tree.c) knows nothing of layers and shares no code with the program.
 */
#ifndef TESTS_MODEL_H
#define TESTS_MODEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/* --- rand: the same numbers from the same seed, everywhere --------------------------------- */
struct dice {
        uint64_t s;
};
uint64_t dice_next(struct dice *);
unsigned dice_below(struct dice *, unsigned n); /* 0 .. n - 1 */

/* --- ops.c: a sequence, as data ------------------------------------------------------------- */
enum op_where { AT_SETUP, AT_BOX, AT_HOST }; /* before the box; in it; on the host meanwhile */
enum op_kind {
        OP_WRITE,    /* make or replace a file, in place */
        OP_SAVE,     /* the same as editors do it: a temporary file, renamed over it */
        OP_APPEND,   /* some bytes at the end */
        OP_TRUNCATE, /* shorter or longer */
        OP_BIG,      /* a large file with holes */
        OP_POKE,     /* some bytes in the middle of what is there */
        OP_CHMOD,
        OP_UNLINK,
        OP_RMDIR,
        OP_RMTREE,
        OP_MKDIR,
        OP_MKDEEP,   /* many levels, and a file at the end */
        OP_RENAME,   /* as mv does it: a directory from below is copied and removed */
        OP_MOVE,     /* by renaming alone; drawn for the host only before the box did anything */
        OP_EXCHANGE, /* two names change places */
        OP_SYMLINK,
        OP_LINK,
        OP_TO_DIR,   /* whatever it is becomes a directory with a file in it */
        OP_TO_FILE,  /* whatever it is becomes a file */
        OP_RECREATE, /* removed with all that is in it and made again: an opaque directory */
        OP_TOUCH,    /* the times only */
        OP_SAME,     /* written over with the same bytes */
        OP_REVERT,   /* as the host has it, again */
        OP_XATTR,
        OP_FIFO,
        OP_SOCKET,
        OP_FREEZE, /* all that was written so far becomes a frozen layer */
        OP_COUNT
};
struct op {
        enum op_where where;
        enum op_kind kind;
        char *path, *other; /* other: a second path, or a link's target; may be NULL */
        unsigned n;
};
struct seq {
        struct op *v;
        size_t n;
        uint64_t seed; /* for what is decided later: which parts are applied */
};
void seq_random(struct seq *, uint64_t seed);
void seq_copy(struct seq *, const struct seq *, size_t without); /* without >= n: all */
void seq_print(FILE *, const struct seq *);
int seq_parse(FILE *, struct seq *); /* what seq_print wrote; 0 or -1 */
void seq_free(struct seq *);

/* --- exec.c --------------------------------------------------------------------------------- */
/* op_do(root_fd, host_fd, op): an operation that makes no sense there does nothing. */
void op_do(int root_fd, int host_fd, const struct op *);
void remove_tree(int dir_fd, const char *name);

/* --- tree.c: what is really there ----------------------------------------------------------- */
struct entry {
        char *path;
        char kind;   /* f d l s */
        mode_t mode; /* of st_mode 07777; 0 for links */
        uint64_t size, hash;
        char *target;
};
struct tree {
        struct entry *v; /* sorted by path */
        size_t n;
};
int tree_read(int root_fd, struct tree *); /* 0, or -1 with errno */
void tree_copy(struct tree *to, const struct tree *from);
void tree_free(struct tree *);
const struct entry *tree_at(const struct tree *, const char *path);
bool entry_same(const struct entry *, const struct entry *); /* either may be NULL: nothing there */
/* tree_is_git(before, after, path): is it in a git directory, or one itself: something called .git,
 * or a directory by its shape, on the host or as a whole new one? Nothing of these lands. */
bool tree_is_git(const struct tree *before, const struct tree *after, const char *path);
/* tree_differ(a, b, why, size): the first path at which they differ, in words; false if none. */
bool tree_differ(const struct tree *a, const struct tree *b, char *why, size_t size);
/* entry_words(e, buf, size): "file 644 12 bytes", "nothing". */
const char *entry_words(const struct entry *, char *buf, size_t size);
/* path_words(path): printable, in one of eight static places. */
const char *path_words(const char *);

/* --- stage.c: the place where a sequence happens --------------------------------------------- */
struct stage {
        int base_fd; /* everything lies below it; also the working directory while it is used */
        int host_fd, box_fd, frozen_fd, undo_fd, merged_fd;
        bool is_mounted;
        int64_t since_ns;
};
int stage_isolate(void); /* once per process: namespaces in which overlays may be mounted */
int stage_new(struct stage *, const char *base);
void stage_end(struct stage *);
int stage_start(struct stage *, bool is_real); /* the host's tree is ready: the box begins */
int stage_mount(struct stage *);
int stage_unmount(struct stage *);
/* stage_freeze(s, n, why, size): 0 there was nothing to freeze, 1 it is a turn, 2 a snapshot, maybe
 * squashed with what lies below; -1 with words. ${n} decides. */
int stage_freeze(struct stage *, unsigned n, char *why, size_t size);
/* stage_settle(): so much time passes that a change of the host is later than what was before. */
void stage_settle(void);

/* --- judge.c --------------------------------------------------------------------------------- */
/* judge_run(base, seq, why, size): 0 all is well; 1 with words; -1 the test itself failed. */
int judge_run(const char *base, const struct seq *, char *why, size_t size);
/* A fault that is put in on purpose, to see that it is found. */
enum judge_fault {
        FAULT_NONE,
        FAULT_DIFF,  /* the walk leaves out a change */
        FAULT_APPLY, /* apply writes something that was not asked for */
        FAULT_LOST,  /* apply goes over what the user changed */
        FAULT_UNDO,  /* undo leaves something */
        FAULT_COUNT
};
extern enum judge_fault judge_fault;
struct judge_count {
        uint64_t ops, changes, conflicts, refused, frozen;
};
extern struct judge_count judge_count;

#endif
