/* tree.h - copying a tree of files through a socket between two sides that do not trust each other.
 *
 * The stream is frames on a SOCK_SEQPACKET pair: one root, then entries depth first, each named by
 * one component, directories closed by TREE_UP. One end runs inside the box with the box's rights,
 * the other in the CLI with the user's; either treats what arrives as hostile (cases 71, 72, B3).
 * The name of the root never crosses: the receiver was told by its own user where to put it. */
#ifndef WIRE_TREE_H
#define WIRE_TREE_H

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct cur;
struct err;

enum tree_type {
        TREE_ROOT = 400, /* struct tree_entry without a name: a file or a directory */
        TREE_ENTRY,      /* struct tree_entry: in the directory that is open */
        TREE_DATA,       /* bytes of the file that is open */
        TREE_HOLE,       /* u64: so many bytes that are not there */
        TREE_FILE_END,   /* the file is whole */
        TREE_FILE_CUT,   /* the file changed while it was read: drop it */
        TREE_UP,         /* the directory is done */
        TREE_END,        /* everything was sent; answered by TREE_DONE */
        TREE_NOTE,       /* lstr: a sentence about something that was left out */
        TREE_ERROR,      /* u32 errno, lstr: a sentence; nothing follows. Both ways. */
        TREE_DONE,       /* receiver to sender: everything is in its place */
};

enum tree_kind { TREE_FILE = 1, TREE_DIR, TREE_LINK };

/* Bounds that the receiver holds the sender to. */
enum { TREE_DEPTH_MAX = 16384, TREE_SENTENCE_MAX = 8192, TREE_DATA_MAX = 65536 };

struct tree_entry {
        enum tree_kind kind;
        uint32_t mode; /* 0777 at most: no setuid, setgid, sticky */
        int64_t mtime_s;
        uint32_t mtime_ns;
        uint64_t size;             /* of a file */
        char name[NAME_MAX + 1];   /* "" for the root */
        char target[PATH_MAX + 1]; /* of a link */
};

void tree_entry_put(struct buf *, const struct tree_entry *);
/* tree_entry_get(c, is_root, e): 0, or -1 when it is not exactly one valid entry. */
int tree_entry_get(struct cur *, bool is_root, struct tree_entry *);

/* tree_name_is_one(s): is it one component: not "", ".", "..", no "/", not over NAME_MAX? */
bool tree_name_is_one(const char *);

/* tree_link_is_inside(target, depth): may a link in a directory ${depth} levels below the root (0:
 * in the root itself) point there? Only relative targets whose ".." all come first and do not climb
 * above the root: a ".." after a name could climb from where another link led. */
bool tree_link_is_inside(const char *target, size_t depth);

/* What was copied, and what was left out. */
struct tree_count {
        uint64_t files; /* files, directories and links */
        uint64_t bytes;
        uint64_t skipped;
};

struct tree_opts {
        bool is_follow;     /* copy what links point at, as far as it lies inside the tree */
        bool is_follow_any; /* the same wherever it points: only for the side inside the box */
        uid_t owner_uid;    /* who is to own what is made; (uid_t)-1: nobody is asked */
        gid_t owner_gid;
        uint64_t max_bytes; /* 0: no ceiling */
        mode_t mask;        /* rights that nothing new gets: the umask of whoever receives */
        /* leaves: of a sender: why a directory, opened, is not sent ("is ... and was left out."), or
         * NULL. ${name} is "" for the root. May be NULL: everything is sent. */
        const char *(*leaves)(int dir_fd, const char *name);
        /* judge: of a receiver: may ${e} come to lie in ${dir_fd}? ${path} is its way from the root,
         * and e->name alone for the root itself; not asked of a root whose content alone is copied.
         * 0: yes; 1: no, it and all below are left out, which it said; -1: the copy ends. May be
         * NULL. */
        int (*judge)(void *arg, int dir_fd, const char *path, const struct tree_entry *e,
                     struct err *);
        /* on_note: something was left out; the sentence is printable. NULL (in the box): a sender
         * passes the note on, a receiver refuses. */
        void (*on_note)(void *arg, const char *sentence);
        void (*on_progress)(void *arg, const struct tree_count *); /* may be NULL */
        void *arg;
};

/* Where a copy goes, in the words of cp: into a directory that exists, or to a name in one. */
struct tree_place {
        int dir_fd;    /* the directory that exists, or -1 */
        int parent_fd; /* else the directory that holds, or will hold, ${name} */
        char *name;
        char *base;     /* the source's own name, used inside dir_fd; "" copies only the content */
        bool wants_dir; /* the path ended in "/" */
};

void tree_place_free(struct tree_place *);
#define _cleanup_tree_place_ __attribute__((cleanup(tree_place_free)))

/* A way to open a directory by path; -1 with errno and a story. */
typedef int tree_open_dir_fn(void *arg, const char *path, struct err *);

/* tree_place_open(place, path, base, open_dir, arg, err): resolve ${path}. 0 or -1. */
int tree_place_open(struct tree_place *, const char *path, const char *base, tree_open_dir_fn *,
                    void *arg, struct err *);

/* tree_base(path): the last component of ${path}, the caller's to free; "" when the path ends in
 * "/.", ".." or is "/", which means "the content of it". */
char *tree_base(const char *path);

/* --- the two ends in the CLI ------------------------------------------------------------------ */

/* tree_host_out(stream_fd, place, opts, count, err): receive what a box sends and put it to
 * ${place}. Files appear whole or not at all, links and specials that are in the way are never
 * written through, modes of directories that exist stay. 0, or -1 with a printable sentence; what
 * arrived before a failure stays. */
int tree_host_out(int stream_fd, const struct tree_place *, const struct tree_opts *,
                  struct tree_count *, struct err *);

/* tree_host_in(stream_fd, root_fd, opts, count, err): send the file or directory ${root_fd}, opened
 * for reading, to a box and wait until it is in its place there. */
int tree_host_in(int stream_fd, int root_fd, const struct tree_opts *, struct tree_count *,
                 struct err *);

/* --- the two ends inside the box: a child of pid 1, confined as everything in the box -----------
 */

/* tree_box_out(stream_fd, path, follow, leaves): send ${path}, relative ones from the current
 * directory; the path itself may be a link. ${leaves} as in tree_opts. Failures travel through the
 * stream. Returns an exit status. */
int tree_box_out(int stream_fd, const char *path, bool follow,
                 const char *(*leaves)(int dir_fd, const char *name));

/* tree_box_in(stream_fd, path, base): receive to ${path} as tree_place_open reads it, ${base} being
 * the source's own name or "" for its content. Returns an exit status. */
int tree_box_in(int stream_fd, const char *path, const char *base);

#endif
