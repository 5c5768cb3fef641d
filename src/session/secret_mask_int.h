/* secret_mask_int.h - what the files of secret_mask share. Included by session/secret_mask*.c only.
 */
#ifndef SESSION_SECRET_MASK_INT_H
#define SESSION_SECRET_MASK_INT_H

#include "base/buf.h"
#include "base/sha256.h"
#include "session/secret_mask.h"
#include "session/secret_scan.h"

#include <stddef.h>
#include <sys/stat.h>

struct box_mount;
struct session_plan;
struct session_secrets;

struct secret_mask_entry {
        char *layer; /* "ws", "git0", "live", "home" */
        char sha[SHA256_HEX_LEN + 1];
        size_t count;
        char *names; /* of granted secrets that it speaks of, with commas; or "" */
        char *path;
};

struct secret_mask_list {
        struct secret_mask_entry *v;
        size_t n;
        struct strs listed; /* "why\tpath" */
        struct strs made;   /* "layer\tpath", parents before children */
};

/* secret_mask_settings.c: the copies in the home, for names that the keeper has placeholders of. */
int secret_mask_settings_grant(struct session_plan *, int dir_fd, struct err *);

/* secret_mask_list.c */
void secret_mask_list_read(int dir_fd, struct secret_mask_list *);
int secret_mask_list_write(int dir_fd, const struct secret_mask_list *, struct err *);
void secret_mask_list_free(struct secret_mask_list *);
#define _cleanup_masks_ __attribute__((cleanup(secret_mask_list_free)))
struct secret_mask_entry *secret_mask_list_add(struct secret_mask_list *, const char *layer,
                                               const char *path);
struct secret_mask_entry *secret_mask_list_find(const struct secret_mask_list *, const char *layer,
                                                const char *path);

/* secret_mask_copy.c */
struct secret_mask_copy {
        struct buf text;   /* what the box sees */
        size_t count;      /* values that are hidden in it */
        struct strs keys;  /* the names beside them, for explain */
        struct strs names; /* granted secrets that it speaks of */
};
void secret_mask_copy_free(struct secret_mask_copy *);
#define _cleanup_copy_ __attribute__((cleanup(secret_mask_copy_free)))

/* secret_mask_copy_make(kind, text, n, secrets, copy): ${text} is followed by a NUL byte. Without
 * placeholders yet (parts_n 0) a granted name gets a stand-in like any other. */
void secret_mask_copy_make(enum secret_scan_kind, const char *text, size_t n,
                           const struct session_secrets *, struct secret_mask_copy *);

/* secret_mask_tree.c: reading what is looked through. */

/* A tree that is looked through: the workspace, a bound directory that the box may write to, or the
 * git directory of a worktree. */
struct secret_mask_tree {
        char *source;   /* on the host */
        char *target;   /* in the box */
        char layer[32]; /* "ws", "git0", or "live" */
        int source_fd, upper_fd;
        struct strs lowers; /* frozen layers between them */
};

/* secret_mask_tree_open(m, t): is this mount one that is looked through? Close it in any case. */
bool secret_mask_tree_open(const struct box_mount *, struct secret_mask_tree *);
void secret_mask_tree_close(struct secret_mask_tree *);
#define _cleanup_tree_ __attribute__((cleanup(secret_mask_tree_close)))
/* secret_mask_is_frozen(t, path): has a frozen layer something to say of it? Then what the box sees
 * there is its own. */
bool secret_mask_is_frozen(const struct secret_mask_tree *, const char *path);
/* secret_mask_tree_walk(t, paths): the files in it that are worth a look. */
void secret_mask_tree_walk(const struct secret_mask_tree *, struct strs *paths);

/* secret_mask_read(root, path, b, st): a plain file beneath ${root}, followed by a NUL byte; false
 * when it is none, or too large (then ${st} says so). Wipe the buffer afterwards. */
bool secret_mask_read(int root, const char *path, struct buf *, struct stat *);
/* What was read holds secrets, and a process that is forked from here would keep them. */
void secret_mask_wipe(struct buf *);
#define _cleanup_wiped_ __attribute__((cleanup(secret_mask_wipe)))
/* secret_mask_sha(dir, path, sha): of a file; "" when it cannot be read. */
void secret_mask_sha(int dir, const char *path, char sha[SHA256_HEX_LEN + 1]);
/* secret_mask_joined(l): with commas between; the caller frees. */
char *secret_mask_joined(const struct strs *);

#endif
