/* checkpoint_int.h - what the files of a checkpoint share: the list of what is there, and the
 * manifest that makes the next one quick. */
#ifndef WORKSPACE_CHECKPOINT_INT_H
#define WORKSPACE_CHECKPOINT_INT_H

#include "base/sha256.h"
#include "base/strs.h"
#include "workspace/undo.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { CHECKPOINT_DEPTH_MAX = 200 };

struct checkpoint_entry {
        char *path;
        mode_t mode; /* all of st_mode */
        uint64_t ino, size;
        int64_t mtime_ns, ctime_ns;
        char sha[SHA256_HEX_LEN + 1]; /* of a file that was kept; else "" */
        bool is_left;                 /* could not be read: not covered */
};
struct checkpoint_list {
        struct checkpoint_entry *v; /* sorted by path */
        size_t n, cap;
};
struct checkpoint_entry *checkpoint_add(struct checkpoint_list *, const char *path);
void checkpoint_sort(struct checkpoint_list *);
struct checkpoint_entry *checkpoint_find(const struct checkpoint_list *, const char *path);
void checkpoint_list_free(struct checkpoint_list *);
/* checkpoint_same(a, b): did nobody touch it in between? */
bool checkpoint_same(const struct checkpoint_entry *, const struct checkpoint_entry *);

struct checkpoint {
        char *root;
        int undo_fd, objects_fd, root_fd;
        struct undo_writer *writer;
        uint64_t number, read_bytes;
        struct checkpoint_list was;
        struct strs skipped; /* left out as a whole, at the end too */
};

struct checkpoint_walk {
        struct checkpoint_list *out;
        struct strs *left;                 /* what is not covered, with reasons; may be NULL */
        struct strs *out_skipped;          /* what was left out */
        const struct strs *skipped;        /* what to leave out; used after it */
        const struct checkpoint_list *was; /* what is covered in any case; used after it */
};
/* checkpoint_look(w, root_fd): everything there is, sorted. */
int checkpoint_look(struct checkpoint_walk *, int root_fd);

/* The manifest of the last checkpoint of a directory: undo/live/HEX. One that cannot be read, or
 * written, only costs time. */
void checkpoint_manifest_read(int undo_fd, const char *root, struct checkpoint_list *);
void checkpoint_manifest_write(int undo_fd, const char *root, const struct checkpoint_list *);

#endif
