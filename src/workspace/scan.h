/* scan.h - every entry of a directory tree as it lies on the disk, by descriptor, through no link,
 * however deep it is. For questions about the whole of a tree; what a box changed is walk.c's. */
#ifndef WORKSPACE_SCAN_H
#define WORKSPACE_SCAN_H

enum scan_next {
        SCAN_GO,   /* on */
        SCAN_SKIP, /* of a directory: not into it */
        SCAN_STOP, /* enough */
};

/* scan_tree(fd, fn, ctx): call ${fn} for each entry below the directory ${fd}, all of a directory
 * before what is in its directories. ${path} is from ${fd} on, ${type} one of DT_*. What may not be
 * read is left out, and so are other filesystems, and what is deeper than 16,384 levels. */
typedef enum scan_next scan_fn(void *ctx, int dir_fd, const char *name, const char *path,
                               unsigned char type);
void scan_tree(int fd, scan_fn *, void *ctx);

#endif
