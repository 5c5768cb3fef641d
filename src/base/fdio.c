/* fdio.c - see fdio.h. */
#include "base/fdio.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

int fdio_write_all(int fd, const void *p, size_t n)
{
        const char *at = p;
        while (n > 0) {
                ssize_t w = write(fd, at, n);
                if (w < 0) {
                        if (errno == EINTR)
                                continue;
                        return -1;
                }
                at += w;
                n -= (size_t)w;
        }
        return 0;
}

int fdio_read_all(int fd, struct buf *b, size_t max)
{
        for (;;) {
                uint8_t *at = buf_room(b, 4096);
                if (!at) {
                        errno = ENOMEM;
                        return -1;
                }
                ssize_t r = read(fd, at, 4096);
                b->len -= 4096 - (r > 0 ? (size_t)r : 0);
                if (r < 0 && errno != EINTR)
                        return -1;
                if (b->len > max) {
                        errno = EFBIG;
                        return -1;
                }
                if (r == 0)
                        return 0;
        }
}

ssize_t fdio_pread(int fd, void *p, size_t n, off_t at)
{
        size_t have = 0;
        while (have < n) {
                ssize_t got = pread(fd, (char *)p + have, n - have, at + (off_t)have);
                if (got < 0 && errno == EINTR)
                        continue;
                if (got < 0)
                        return -1;
                if (got == 0)
                        break;
                have += (size_t)got;
        }
        return (ssize_t)have;
}

char *fdio_read_file(int dir_fd, const char *path, size_t max, struct err *err)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) {
                err_sys(err, "open %s", path);
                return NULL;
        }
        struct stat st;
        if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
                err_set(err, E_INPUT, "%s is a directory", path);
                return NULL;
        }
        _cleanup_buf_ struct buf b = {0};
        if (fdio_read_all(fd, &b, max) < 0) {
                err_sys(err, "read %s", path);
                return NULL;
        }
        if (b.len && memchr(b.data, 0, b.len)) {
                err_set(err, E_INPUT, "%s has a NUL byte in it", path);
                return NULL;
        }
        buf_put_u8(&b, 0);
        if (b.is_broken) {
                err_set(err, E_INPUT, "%s is too large", path);
                return NULL;
        }
        return (char *)take_ptr(&b.data);
}

int fdio_write_file(int dir_fd, const char *path, const char *text, mode_t mode, struct err *err)
{
        char tmp[4096];
        if (snprintf(tmp, sizeof tmp, "%s.new.%d", path, (int)getpid()) >= (int)sizeof tmp)
                return err_set(err, E_INPUT, "the path %s is too long", path);
        {
                _cleanup_close_ int fd =
                        openat(dir_fd, tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
                if (fd < 0)
                        return err_sys(err, "create %s", tmp);
                if (fdio_write_all(fd, text, strlen(text)) < 0) {
                        err_sys(err, "write %s", tmp);
                        unlinkat(dir_fd, tmp, 0);
                        return -1;
                }
        }
        if (renameat(dir_fd, tmp, dir_fd, path) < 0) {
                err_sys(err, "rename %s to %s", tmp, path);
                unlinkat(dir_fd, tmp, 0);
                return -1;
        }
        return 0;
}

DIR *fdio_opendir(int dir_fd)
{
        if (dir_fd < 0)
                return NULL;
        int fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d && fd >= 0) {
                int why = errno;
                close(fd);
                errno = why;
        }
        return d;
}

int fdio_put(int dir_fd, const char *path, const char *text)
{
        _cleanup_close_ int fd = openat(dir_fd, path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -1;
        size_t n = strlen(text);
        ssize_t w = write(fd, text, n);
        return w == (ssize_t)n ? 0 : -1;
}

int fdio_send(int sock, const void *p, size_t n, const int *fds, size_t fds_n)
{
        struct iovec iov = {.iov_base = (void *)(uintptr_t)p, .iov_len = n};
        union {
                char bytes[CMSG_SPACE(sizeof(int) * FDIO_MAX_FDS)];
                struct cmsghdr align;
        } ctl;
        struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};
        if (fds_n > FDIO_MAX_FDS) {
                errno = EINVAL;
                return -1;
        }
        if (fds_n) {
                memset(&ctl, 0, sizeof ctl);
                m.msg_control = ctl.bytes;
                m.msg_controllen = CMSG_SPACE(sizeof(int) * fds_n);
                struct cmsghdr *h = CMSG_FIRSTHDR(&m);
                h->cmsg_level = SOL_SOCKET;
                h->cmsg_type = SCM_RIGHTS;
                h->cmsg_len = CMSG_LEN(sizeof(int) * fds_n);
                memcpy(CMSG_DATA(h), fds, sizeof(int) * fds_n);
        }
        ssize_t r;
        do
                r = sendmsg(sock, &m, MSG_NOSIGNAL);
        while (r < 0 && errno == EINTR);
        return r == (ssize_t)n ? 0 : -1;
}

ssize_t fdio_recv(int sock, void *p, size_t cap, int *fds, size_t fds_cap, size_t *fds_n)
{
        struct iovec iov = {.iov_base = p, .iov_len = cap};
        union {
                char bytes[CMSG_SPACE(sizeof(int) * FDIO_MAX_FDS)];
                struct cmsghdr align;
        } ctl;
        struct msghdr m = {.msg_iov = &iov,
                           .msg_iovlen = 1,
                           .msg_control = ctl.bytes,
                           .msg_controllen = sizeof ctl.bytes};
        int got[FDIO_MAX_FDS];
        size_t got_n = 0;
        ssize_t r;
        bool was_reset = false;
        *fds_n = 0;
        for (;;) {
                r = recvmsg(sock, &m, MSG_CMSG_CLOEXEC);
                if (r >= 0 || (errno != EINTR && (errno != ECONNRESET || was_reset)))
                        break;
                /* A peer that closed with something of ours unread shows as one reset, ahead of
                 * what it said before; that is still there to be read. */
                was_reset |= errno == ECONNRESET;
        }
        if (r < 0)
                return -1;

        for (struct cmsghdr *h = CMSG_FIRSTHDR(&m); h; h = CMSG_NXTHDR(&m, h)) {
                if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
                        continue;
                size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
                for (size_t i = 0; i < n; i++) {
                        int fd;
                        memcpy(&fd, CMSG_DATA(h) + i * sizeof fd, sizeof fd);
                        if (got_n < FDIO_MAX_FDS)
                                got[got_n++] = fd;
                        else
                                close(fd);
                }
        }
        /* An empty message would read as the end, and its descriptors would be nobody's. */
        if ((m.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) || got_n > fds_cap || (r == 0 && got_n)) {
                for (size_t i = 0; i < got_n; i++)
                        close(got[i]);
                errno = EPROTO;
                return -1;
        }
        for (size_t i = 0; i < got_n; i++)
                fds[i] = got[i];
        *fds_n = got_n;
        return r;
}

/* next_kept(keep, n, from): the smallest listed descriptor that is at least ${from}, or -1. */
static int next_kept(const int *keep, size_t n, int from)
{
        int best = -1;
        for (size_t i = 0; i < n; i++)
                if (keep[i] >= from && (best < 0 || keep[i] < best))
                        best = keep[i];
        return best;
}

int fdio_close_except(const int *keep, size_t n)
{
        for (int from = 3;;) {
                int next = next_kept(keep, n, from);
                unsigned last = next < 0 ? ~0u : (unsigned)next - 1;
                if (next != from && close_range((unsigned)from, last, 0) < 0)
                        return -1;
                if (next < 0)
                        return 0;
                from = next + 1;
        }
}
