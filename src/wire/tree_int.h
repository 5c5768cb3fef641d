/* tree_int.h - what the files of the tree stream share; nobody else includes it but their tests. */
#ifndef WIRE_TREE_INT_H
#define WIRE_TREE_INT_H

#include "base/buf.h"
#include "wire/frame.h"
#include "wire/tree.h"

#include <sys/stat.h>

/* How many directories of the way down are kept open; those above are found again through "..",
 * and it is checked that they are the same. */
enum { TREE_WINDOW = 64 };

/* tree_reopen_parent(child_fd, dev, ino, flags, err): the directory above, if it still is that one.
 */
int tree_reopen_parent(int child_fd, dev_t, ino_t, int flags, struct err *);

/* The way from the root to where we are, for sentences. */
void tree_path_push(struct buf *, const char *name);
void tree_path_pop(struct buf *);
/* tree_path_words(path, name): "a/b/name", or only its end when it is long; the caller frees. */
char *tree_path_words(struct buf *, const char *name);

/* --- sending ---------------------------------------------------------------------------------- */

/* tree_send(stream_fd, root_fd, opts, count, err): walk and send all, up to TREE_END, and wait for
 * the answer. Sentences hold names as they are; whoever prints them quotes them. */
int tree_send(int stream_fd, int root_fd, const struct tree_opts *, struct tree_count *,
              struct err *);
/* tree_send_error(stream_fd, err): tell the other side; nobody minds if it is gone. */
void tree_send_error(int stream_fd, const struct err *);
/* tree_send_file(stream_fd, fd, size, count, opts, err): data, holes and the end of one file whose
 * entry was sent. 1 when the file shrank meanwhile and was cut. */
int tree_send_file(int stream_fd, int fd, uint64_t size, struct tree_count *,
                   const struct tree_opts *, struct err *);

/* --- receiving -------------------------------------------------------------------------------- */

struct tree_level {
        int fd; /* -1: closed, find it again through ".." */
        bool is_new;
        dev_t dev;
        ino_t ino;
        uint32_t mode;
        struct timespec mtime;
};

enum tree_state { TREE_WANTS_ROOT, TREE_IN_DIR, TREE_IN_FILE, TREE_WANTS_END, TREE_IS_DONE };

struct tree_recv {
        const struct tree_place *place;
        const struct tree_opts *opts;
        struct tree_count *count;
        enum tree_state state;
        struct tree_level *levels;
        size_t levels_n, levels_cap;
        struct buf path;

        /* the file that is open */
        int file_fd;
        int file_dir_fd; /* borrowed: the directory it goes to */
        struct tree_entry file;
        char temp[64];
        uint64_t got;
        unsigned temps;

        /* what is left out: taken off the stream and made nowhere */
        size_t left_n;     /* directories that are open there */
        bool is_file_left; /* the file that is open */
        uint64_t left_bytes;
};

void tree_recv_init(struct tree_recv *, const struct tree_place *, const struct tree_opts *,
                    struct tree_count *);
/* tree_recv_feed(r, type, body, err): one record. 0: go on, 1: that was the end, -1: refuse. */
int tree_recv_feed(struct tree_recv *, uint32_t type, struct cur *body, struct err *);
/* tree_recv_close(r): remove a file that is not whole, close everything. */
void tree_recv_close(struct tree_recv *);

/* tree_recv_file_*: one file under a temporary name, renamed when it is whole (tree_file.c). */
int tree_recv_file_open(struct tree_recv *, int dir_fd, const struct tree_entry *, struct err *);
int tree_recv_file_data(struct tree_recv *, struct cur *, struct err *);
int tree_recv_file_hole(struct tree_recv *, struct cur *, struct err *);
int tree_recv_file_end(struct tree_recv *, struct err *);
void tree_recv_file_drop(struct tree_recv *);
/* tree_recv_file_leave(r, e): the same of a file that is made nowhere. */
void tree_recv_file_leave(struct tree_recv *, const struct tree_entry *);
int tree_recv_link(struct tree_recv *, int dir_fd, const struct tree_entry *, struct err *);

#endif
