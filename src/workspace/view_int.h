/* view_int.h - what the files of a view share: an opened directory, and how it sleeps.
 *
 * Included by view*.c and walk*.c alone. */
#ifndef WORKSPACE_VIEW_INT_H
#define WORKSPACE_VIEW_INT_H

#include "workspace/view.h"

/* A layer's part of a directory. */
struct ws_part {
        size_t layer;      /* index in the view; parts are in rising order */
        int fd;            /* -1 while it sleeps */
        bool has_xattr_wh; /* opaque is "x": empty files in it may be whiteouts by xattr */
        uint64_t dev, ino;
};

struct ws_dir {
        const struct ws_view *view;
        bool is_root; /* its descriptors are the view's own */
        size_t n;
        struct ws_part parts[];
};

/* What overlayfs wrote on an entry. */
struct ws_marks {
        bool is_opaque;    /* "y" */
        bool has_xattr_wh; /* "x" */
        bool is_whiteout;
        bool has_origin;
        uint64_t origin_ino; /* 0: not known */
};

/* view_marks(fd, marks, err): read them from an open file or directory of an overlay's layer; a
 * redirect or a metacopy is an error (case 77). */
int view_marks(int fd, struct ws_marks *, struct err *);
/* view_marks_at(dir_fd, name, marks, err): the same without opening it. 0, -1, or 1 when that does
 * not do and it is to be opened: an old kernel, or a mark whose value counts. */
int view_marks_at(int dir_fd, const char *name, struct ws_marks *, struct err *);

/* view_node_of(st, layer, node): without what only marks tell. */
struct stat;
void view_node_of(const struct stat *, size_t layer, struct ws_node *);

/* The directories on the way to a path, kept open (view_trail.c). view_trail_dir(v, path, len, err):
 * the directory at the first ${len} bytes of ${path}, of which no component is empty or "."; it is
 * the trail's own, until the next call. NULL and a story otherwise. */
struct view_trail;
struct ws_dir *view_trail_dir(const struct ws_view *, const char *path, size_t len, struct err *);
void view_trail_free(struct view_trail *);

/* ws_dir_sleep(d, child): give back the descriptors that ${child}, a directory in ${d}, can lead
 * back to. ws_dir_wake(d, child, err): take them again by "..", each checked to be the directory it
 * was: -1 when somebody moved it meanwhile. So a walk holds few descriptors however deep it is. */
void ws_dir_sleep(struct ws_dir *, const struct ws_dir *child);
int ws_dir_wake(struct ws_dir *, const struct ws_dir *child, struct err *);

#endif
