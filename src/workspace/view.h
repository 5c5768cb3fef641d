/* view.h - a tree made of layers, read the way overlayfs shows it, without mounting anything.
 *
 * The topmost layer comes first. In a layer of an overlay a 0/0 character device (or the xattr
 * user.overlay.whiteout) hides a name, user.overlay.opaque hides a directory's lower content; the
 * host's own directory at the bottom is plain. Redirects and metacopies do not exist (they are
 * off); one that is met nevertheless is an error, not a guess (case 77).
 *
 * Every look goes component by component, by descriptor, through no symlink (cases 71, 72, B3). */
#ifndef WORKSPACE_VIEW_H
#define WORKSPACE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct buf;
struct err;

struct ws_layer {
        int fd;          /* its root; borrowed */
        bool is_overlay; /* whiteouts and opaque directories mean something */
};

struct ws_view {
        struct ws_layer *layers; /* topmost first; the view's own array */
        size_t n;
        struct view_trail *trail; /* see ws_view_keep; NULL: none */
};
void ws_view_add(struct ws_view *, int fd, bool is_overlay);
void ws_view_free(struct ws_view *);
/* ws_view_keep(v): from now on the directories on the way to the path that was asked for last stay
 * open, so that looking by whole paths, in the order of a walk, costs a few calls each however deep
 * they lie (case 78). For who asks for many at one time: a directory that is moved meanwhile is seen
 * where it was. ${v} must stay where it is. */
void ws_view_keep(struct ws_view *);
/* ws_view_again(v): the next look begins at the root, at what is there now. */
void ws_view_again(const struct ws_view *);

enum ws_kind {
        WS_NONE, /* nothing there; when a mark hides it, ctime_ns, ino and layer are the mark's */
        WS_FILE,
        WS_DIR,
        WS_LINK,
        WS_SPECIAL, /* device, FIFO, socket */
};

struct ws_node {
        enum ws_kind kind;
        mode_t mode; /* all of st_mode */
        uid_t uid;
        gid_t gid;
        uint64_t size, dev, ino, nlink;
        int64_t mtime_ns, ctime_ns;
        size_t layer;    /* index in the view it was found in */
        bool is_opaque;  /* of a directory: nothing below shines through */
        bool has_origin; /* of an upper file: it was copied up from a lower one, maybe elsewhere */
        uint64_t origin_ino; /* that one's inode; 0 when it cannot be told */
};

/* A directory of a view, opened: one descriptor per layer that takes part in it. Walking down by
 * ws_dir_open keeps look-ups short however deep the tree is (case 78). */
struct ws_dir;

/* ws_dir_root(v, err) / ws_dir_open(parent, name, err): NULL and a story otherwise; ENOENT or
 * ENOTDIR in err->sys when it is no directory. ws_dir_close(NULL) is fine. */
struct ws_dir *ws_dir_root(const struct ws_view *, struct err *);
struct ws_dir *ws_dir_open(const struct ws_dir *parent, const char *name, struct err *);
void ws_dir_close(struct ws_dir *);

/* ws_dir_look(d, name, node, err): kind WS_NONE when there is nothing. 0 or -1. */
int ws_dir_look(const struct ws_dir *, const char *name, struct ws_node *, struct err *);

struct ws_names {
        char **v; /* sorted by bytes */
        size_t n;
        char *space; /* where they lie */
};
void ws_names_free(struct ws_names *);

/* ws_dir_list(d, top_n, names, err): what is in it, merged; only names that appear in one of the
 * first ${top_n} layers of the view, hidden ones included (0: all layers, hidden ones left out). */
int ws_dir_list(const struct ws_dir *, size_t top_n, struct ws_names *, struct err *);

/* ws_dir_file(d, name, node, err): a descriptor for reading the regular file that ${node}
 * describes, or -1: also when it is another file by now. */
int ws_dir_file(const struct ws_dir *, const char *name, const struct ws_node *, struct err *);
/* ws_dir_link(d, name, node, target, err): the target of a symlink, appended without NUL. */
int ws_dir_link(const struct ws_dir *, const char *name, const struct ws_node *, struct buf *target,
                struct err *);

/* ws_view_look(v, path, node, err), ws_view_file, ws_view_link: the same by a whole relative path;
 * a path through something that is no directory finds nothing. */
int ws_view_look(const struct ws_view *, const char *path, struct ws_node *, struct err *);
int ws_view_file(const struct ws_view *, const char *path, struct ws_node *, struct err *);
int ws_view_link(const struct ws_view *, const char *path, struct buf *target, struct err *);

#endif
