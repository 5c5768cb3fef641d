/* view_marks.c - what overlayfs writes on files and directories of its layers, in the names that an
 * unprivileged overlay uses (user.overlay.*). Called by view_dir.c. It must never guess: a mark
 * that would make the entry mean something else is an error. */
#include "workspace/view_int.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <unistd.h>

#define PREFIX "user.overlay."

/* Since Linux 6.13; one call instead of three, for each of a million files. */
#ifndef SYS_listxattrat
#define SYS_listxattrat 465
#endif

/* origin_ino(fd): the inode in the file handle that overlayfs keeps: a head (version, magic,
 * length, flags, type, 16 bytes of uuid), then what the filesystem made of it. 0 for one that we do
 * not know. */
static uint64_t origin_ino(int fd)
{
        enum { HEAD = 21, TYPE = 4 };
        unsigned char h[HEAD + 128];
        uint32_t word[3] = {0};
        uint64_t wide = 0;
        ssize_t n = fgetxattr(fd, PREFIX "origin", h, sizeof h);
        if (n < HEAD + 8 || h[0] != 0 || h[1] != 0xfb || (n >= HEAD + 12 ? 0 : h[TYPE] != 1))
                return 0;
        memcpy(word, h + HEAD, n >= HEAD + 12 ? 12 : 8);
        memcpy(&wide, h + HEAD, 8);
        switch (h[TYPE]) {
        case 1: /* ext4 and most others: inode, generation; tmpfs: generation, inode in two */
                return n == HEAD + 8    ? word[0]
                       : n == HEAD + 12 ? (uint64_t)word[2] << 32 | word[1]
                                        : 0;
        case 0x81: /* xfs: inode of 64 bits, generation */
        case 0x4d: /* btrfs: object, root, generation */
                return wide;
        default:
                return 0;
        }
}

/* read_names(names, n, m, err): which marks there are; 1 when the value of one counts. */
static int read_names(const char *names, size_t n, struct ws_marks *m, struct err *err)
{
        int has_value = 0;
        for (const char *p = names; p < names + n; p += strlen(p) + 1) {
                if (strncmp(p, PREFIX, strlen(PREFIX)) != 0)
                        continue;
                const char *mark = p + strlen(PREFIX);
                if (strcmp(mark, "origin") == 0) {
                        m->has_origin = true;
                        has_value = 1;
                } else if (strcmp(mark, "whiteout") == 0) {
                        m->is_whiteout = true;
                } else if (strcmp(mark, "opaque") == 0) {
                        has_value = 1;
                } else if (strcmp(mark, "redirect") == 0 || strcmp(mark, "metacopy") == 0) {
                        /* We mount with both off, so this layer was not written by our mount. */
                        return err_set(err, E_INPUT,
                                       "the layer is damaged: it has an entry marked %s, which no "
                                       "box of ours writes, so what the box sees there cannot be "
                                       "told",
                                       p);
                }
        }
        return has_value;
}

/* Room for the names of attributes: most entries have none, and to clear 64 KiB of stack for each costs
 * more than the call. The rare long list is read with the room that the kernel allows at most. */
enum { NAMES_FEW = 1024 };

/* names_of(fd, few, many): the attributes of an open entry, in ${few} or in ${many}, which the caller
 * frees. Their length, or -1. */
static ssize_t names_of(int fd, char few[NAMES_FEW], char **many)
{
        ssize_t n = flistxattr(fd, few, NAMES_FEW);
        if (n >= 0 || errno != ERANGE)
                return n;
        *many = malloc(XATTR_LIST_MAX);
        return *many ? flistxattr(fd, *many, XATTR_LIST_MAX) : -1;
}

int view_marks(int fd, struct ws_marks *m, struct err *err)
{
        char few[NAMES_FEW];
        _cleanup_free_ char *many = NULL;
        *m = (struct ws_marks){0};
        ssize_t n = names_of(fd, few, &many);
        if (n < 0 && errno == ENOTSUP)
                return 0;
        if (n < 0)
                return err_sys(err, "read the attributes of an entry of a layer");
        int has_value = read_names(many ? many : few, (size_t)n, m, err);
        if (has_value > 0) {
                char value[2];
                ssize_t len = fgetxattr(fd, PREFIX "opaque", value, sizeof value);
                m->is_opaque = len == 1 && value[0] == 'y';
                m->has_xattr_wh = len == 1 && value[0] == 'x';
                m->origin_ino = m->has_origin ? origin_ino(fd) : 0;
        }
        return has_value < 0 ? -1 : 0;
}

int view_marks_at(int dir_fd, const char *name, struct ws_marks *m, struct err *err)
{
        char names[NAMES_FEW];
        *m = (struct ws_marks){0};
        long n = syscall(SYS_listxattrat, dir_fd, name, AT_SYMLINK_NOFOLLOW, names, sizeof names);
        if (n < 0) /* also when there are more names: then it is opened */
                return errno == ENOTSUP ? 0 : 1;
        return read_names(names, (size_t)n, m, err);
}

static enum ws_kind kind_of(mode_t mode)
{
        switch (mode & S_IFMT) {
        case S_IFREG:
                return WS_FILE;
        case S_IFDIR:
                return WS_DIR;
        case S_IFLNK:
                return WS_LINK;
        default:
                return WS_SPECIAL;
        }
}

static int64_t ns_of(struct timespec t)
{
        return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void view_node_of(const struct stat *st, size_t layer, struct ws_node *node)
{
        *node = (struct ws_node){
                .kind = kind_of(st->st_mode),
                .mode = st->st_mode,
                .uid = st->st_uid,
                .gid = st->st_gid,
                .size = (uint64_t)st->st_size,
                .dev = st->st_dev,
                .ino = st->st_ino,
                .nlink = st->st_nlink,
                .mtime_ns = ns_of(st->st_mtim),
                .ctime_ns = ns_of(st->st_ctim),
                .layer = layer,
        };
}
