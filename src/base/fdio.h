/* fdio.h - whole reads and writes on descriptors, small files, and descriptors riding on sockets.
 */
#ifndef BASE_FDIO_H
#define BASE_FDIO_H

#include <dirent.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct err;
struct buf;

/* fdio_write_all(fd, p, n): all of it, through EINTR and short writes. 0 or -1 with errno. */
int fdio_write_all(int fd, const void *, size_t);

/* fdio_read_all(fd, b, max): append until end of file; more than ${max} bytes is an error (EFBIG).
 */
int fdio_read_all(int fd, struct buf *, size_t max);

/* fdio_pread(fd, p, n, at): as many of ${n} bytes from there as there are, or -1 with errno. */
ssize_t fdio_pread(int fd, void *, size_t n, off_t at);

/* fdio_read_file(dir_fd, path, max, err): a small file as a fresh NUL-terminated string, the
 * caller's to free; NULL and a story otherwise. A file with a NUL byte in it is an error. */
char *fdio_read_file(int dir_fd, const char *path, size_t max, struct err *);

/* fdio_write_file(dir_fd, path, text, mode, err): replace by temporary file and rename, so that a
 * reader sees the old or the new content and never half of it. */
int fdio_write_file(int dir_fd, const char *path, const char *text, mode_t, struct err *);

/* fdio_opendir(dir_fd): read a directory from its beginning, through a descriptor of its own;
 * ${dir_fd} stays the caller's. NULL with errno, also when it is -1. */
DIR *fdio_opendir(int dir_fd);

/* fdio_put(dir_fd, path, text): write to an existing file (a proc or cgroup knob) in one write().
 * 0 or -1 with errno. */
int fdio_put(int dir_fd, const char *path, const char *text);

/* fdio_send(sock, p, n, fds, fds_n): one SEQPACKET message with descriptors. 0 or -1 with errno. */
int fdio_send(int sock, const void *, size_t, const int *fds, size_t fds_n);

/* fdio_recv(sock, p, cap, fds, fds_cap, &fds_n): one message; returns its length, 0 at the end, -1
 * with errno. Descriptors arrive close-on-exec; more than ${fds_cap}, or a message longer than
 * ${cap}, is EPROTO and everything received is closed. */
ssize_t fdio_recv(int sock, void *, size_t cap, int *fds, size_t fds_cap, size_t *fds_n);

/* fdio_close_except(keep, n): close every descriptor from 3 on but those listed (-1 is no
 * descriptor), whatever their flags. 0 or -1 with errno. */
int fdio_close_except(const int *keep, size_t n);

#define FDIO_MAX_FDS 64

#endif
