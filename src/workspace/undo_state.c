/* undo_state.c - what is, or was, at a path: absent, a directory, a link, a file by its content.
 * As text for records, and looked up on the host. Never follows a symlink (cases 71, 72). */
#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "workspace/objects.h"
#include "workspace/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>

void undo_state_free(struct undo_state *s)
{
        free(s->target);
        *s = (struct undo_state){.kind = '-'};
}

void undo_state_copy(struct undo_state *to, const struct undo_state *from)
{
        *to = *from;
        to->target = from->target ? str_dup(from->target) : NULL;
}

bool undo_state_same(const struct undo_state *a, const struct undo_state *b)
{
        if (a->kind != b->kind)
                return false;
        switch (a->kind) {
        case '-':
        case 'd':
                return true;
        case 'f':
                return a->mode == b->mode && a->size == b->size && strcmp(a->sha, b->sha) == 0;
        case 'l':
                return a->target && b->target && strcmp(a->target, b->target) == 0;
        default:
                return false;
        }
}

void undo_state_put(struct buf *b, const struct undo_state *s)
{
        switch (s->kind) {
        case 'd':
                buf_put_fmt(b, "d %o", (unsigned)s->mode);
                break;
        case 'f':
                buf_put_fmt(b, "f %o %s %" PRIu64, (unsigned)s->mode, s->sha, s->size);
                break;
        case 'l':
                buf_put_str(b, "l ");
                buf_put_str(b, s->target ? s->target : "");
                break;
        default:
                buf_put(b, &s->kind, 1);
        }
}

/* octal(&p, mode): up to 0777. */
static int octal(const char **p, mode_t *mode)
{
        unsigned m = 0;
        const char *at = *p;
        for (; *at >= '0' && *at <= '7' && m <= 0777; at++)
                m = m * 8 + (unsigned)(*at - '0');
        if (at == *p || m > 0777)
                return -1;
        *p = at;
        *mode = (mode_t)m;
        return 0;
}

int undo_state_parse(const char *text, struct undo_state *s)
{
        *s = (struct undo_state){.kind = text[0]};
        if (text[0] && strchr("-?s", text[0]))
                return text[1] ? -1 : 0;
        if (!text[0] || text[1] != ' ')
                return -1;
        const char *p = text + 2;
        switch (text[0]) {
        case 'd':
                return octal(&p, &s->mode) < 0 || *p ? -1 : 0;
        case 'l':
                if (!*p || strlen(p) >= PATH_MAX)
                        return -1;
                s->target = str_dup(p);
                return 0;
        case 'f':
                if (octal(&p, &s->mode) < 0 || *p++ != ' ' || strlen(p) < SHA256_HEX_LEN + 2)
                        return -1;
                memcpy(s->sha, p, SHA256_HEX_LEN);
                p += SHA256_HEX_LEN;
                return *p++ == ' ' && objects_is_name(s->sha) ? str_u64(p, &s->size) : -1;
        default:
                return -1;
        }
}

static int read_link(int fd, struct undo_state *s, struct err *err)
{
        char target[PATH_MAX];
        ssize_t n = readlinkat(fd, "", target, sizeof target);
        if (n <= 0 || (size_t)n >= sizeof target)
                return err_sys(err, "read a link");
        target[n] = 0;
        s->target = str_dup(target);
        return 0;
}

/* same_moment(a, b): nobody wrote to it, renamed it or changed its mode in between. */
static bool same_moment(const struct stat *a, const struct stat *b)
{
        return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
               a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
               a->st_ctim.tv_sec == b->st_ctim.tv_sec && a->st_ctim.tv_nsec == b->st_ctim.tv_nsec;
}

/* read_content(root_fd, path, objects_fd, st, state): of the file that ${st} describes. */
static int read_content(int root_fd, const char *path, int objects_fd, struct stat *st,
                        struct undo_state *s, struct err *err)
{
        _cleanup_close_ int fd = beneath_open_nosym(
                root_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY, 0, err);
        struct stat now;
        if (fd < 0)
                return -1;
        if (fstat(fd, &now) < 0)
                return err_sys(err, "look at a file");
        if (!S_ISREG(now.st_mode)) {
                errno = ESTALE;
                return err_sys(err, "look at a file that is being replaced");
        }
        *st = now;
        if (objects_fd >= 0)
                return objects_put(objects_fd, fd, s->sha, &s->size, err);
        s->size = (uint64_t)now.st_size;
        return objects_hash(fd, s->sha, err);
}

/* born(fd): when a directory was made: its other times move with what is in it. */
static int64_t born(int fd)
{
        struct statx x;
        if (statx(fd, "", AT_EMPTY_PATH, STATX_BTIME, &x) < 0 || !(x.stx_mask & STATX_BTIME))
                return 0;
        return (int64_t)x.stx_btime.tv_sec * 1000000000 + x.stx_btime.tv_nsec;
}

int undo_state_of(int root_fd, const char *path, int objects_fd, struct undo_state *s,
                  struct undo_ident *id, struct err *err)
{
        struct stat st, after;
        for (int tries = 0; tries < 8; tries++) {
                *s = (struct undo_state){.kind = '-'};
                if (id)
                        *id = (struct undo_ident){0};
                _cleanup_close_ int fd =
                        beneath_open_nosym(root_fd, path, O_PATH | O_NOFOLLOW, 0, NULL);
                if (fd < 0 && (errno == ENOENT || errno == ENOTDIR || errno == ELOOP))
                        return 0;
                if (fd < 0 || fstat(fd, &st) < 0)
                        goto failed;
                s->mode = st.st_mode & 0777;
                s->kind = S_ISDIR(st.st_mode)   ? 'd'
                          : S_ISLNK(st.st_mode) ? 'l'
                          : S_ISREG(st.st_mode) ? 'f'
                                                : 's';
                struct err why = {0};
                if (s->kind == 'l' && read_link(fd, s, &why) < 0)
                        goto failed_why;
                if (s->kind == 'f') {
                        int r = read_content(root_fd, path, objects_fd, &st, s, &why);
                        if (r < 0 && why.sys != ESTALE && why.sys != ENOENT)
                                goto failed_why;
                        s->mode = st.st_mode & 0777;
                        /* Somebody writes to it at this moment: what was kept must be what is
                         * there. */
                        _cleanup_close_ int again =
                                beneath_open_nosym(root_fd, path, O_PATH | O_NOFOLLOW, 0, NULL);
                        if (r < 0 || again < 0 || fstat(again, &after) < 0 ||
                            !same_moment(&st, &after))
                                continue;
                        s->size = (uint64_t)st.st_size;
                }
                if (id)
                        *id = (struct undo_ident){
                                .dev = st.st_dev,
                                .ino = st.st_ino,
                                .born_ns = s->kind == 'd' ? born(fd) : 0,
                                .is_linked = s->kind == 'f' && st.st_nlink > 1,
                                .uid_known = true,
                                .uid = st.st_uid,
                                .gid = st.st_gid,
                                .size = (uint64_t)st.st_size,
                                .mtime_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 +
                                            st.st_mtim.tv_nsec,
                                .ctime_ns = (int64_t)st.st_ctim.tv_sec * 1000000000 +
                                            st.st_ctim.tv_nsec,
                        };
                return 0;
        failed_why:
                undo_state_free(s);
                if (err)
                        *err = why;
                goto named;
        failed:
                err_sys(err, "look at it");
        named:;
                _cleanup_free_ char *quoted = str_quote(path);
                return err_add(err, "%s", quoted);
        }
        _cleanup_free_ char *quoted = str_quote(path);
        undo_state_free(s);
        return err_set(err, E_REFUSED,
                       "%s is being written to all the time; try again when that has ended",
                       quoted);
}
