/* fdio_test.c - small files whole or not at all, and descriptors that ride on messages. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int open_fds(void)
{
        int n = 0;
        for (int fd = 0; fd < 256; fd++)
                n += fcntl(fd, F_GETFD) >= 0;
        return n;
}

static void files(int dir)
{
        struct err err = {0};
        CHECK("write a file", fdio_write_file(dir, "a", "one\n", 0600, &err) == 0);
        CHECK("replace it", fdio_write_file(dir, "a", "two\n", 0600, &err) == 0);
        char *s = fdio_read_file(dir, "a", 100, &err);
        CHECK("read it back", s && !strcmp(s, "two\n"));
        free(s);
        CHECK("exactly the ceiling", (s = fdio_read_file(dir, "a", 4, &err)) != NULL);
        free(s);
        CHECK("over the ceiling", !fdio_read_file(dir, "a", 3, &err) && err.sys == EFBIG);
        CHECK("a missing file", !fdio_read_file(dir, "no", 3, &err) && err.sys == ENOENT);
        CHECK("a directory", !fdio_read_file(dir, ".", 3, &err) && err.code == E_INPUT);
        CHECK("an empty file", fdio_write_file(dir, "e", "", 0600, &err) == 0 &&
                                       (s = fdio_read_file(dir, "e", 0, &err)) && !*s);
        free(s);
        {
                _cleanup_close_ int fd = openat(dir, "nul", O_CREAT | O_WRONLY, 0600);
                CHECK("a NUL byte is an error",
                      write(fd, "a\0b", 3) == 3 && !fdio_read_file(dir, "nul", 100, &err));
        }
        CHECK("no temporary file is left when the rename fails",
              mkdirat(dir, "d", 0700) == 0 && fdio_write_file(dir, "d", "x", 0600, &err) == -1);
        char tmp[64];
        snprintf(tmp, sizeof tmp, "d.new.%d", (int)getpid());
        CHECK("and it is gone", faccessat(dir, tmp, F_OK, 0) < 0);
        CHECK("a FIFO does not hang the reader",
              mkfifoat(dir, "fifo", 0600) == 0 &&
                      ((s = fdio_read_file(dir, "fifo", 9, &err)), true));
        free(s);
        CHECK("put wants a file that exists", fdio_put(dir, "nothing", "1") < 0 && errno == ENOENT);
}

static void messages(void)
{
        int s[2], fds[FDIO_MAX_FDS];
        char small[4], big[64];
        size_t n;
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, s) < 0)
                return;
        int before = open_fds();
        int three[9] = {0, 1, 2, 0, 1, 2, 0, 1, 2};

        CHECK("send with descriptors", fdio_send(s[0], "hello", 5, three, 3) == 0);
        CHECK("receive them", fdio_recv(s[1], big, sizeof big, fds, 8, &n) == 5 && n == 3);
        bool is_cloexec = true;
        for (size_t i = 0; i < n; i++) {
                is_cloexec &= (fcntl(fds[i], F_GETFD) & FD_CLOEXEC) != 0;
                close(fds[i]);
        }
        CHECK("they are close-on-exec", is_cloexec);
        int many[FDIO_MAX_FDS + 1];
        for (size_t i = 0; i < sizeof many / sizeof *many; i++)
                many[i] = three[0];
        CHECK("too many to send",
              fdio_send(s[0], "x", 1, many, FDIO_MAX_FDS + 1) < 0 && errno == EINVAL);

        fdio_send(s[0], "hello", 5, three, 3);
        CHECK("more than wanted is a fault",
              fdio_recv(s[1], big, sizeof big, fds, 2, &n) == -1 && errno == EPROTO && n == 0);
        fdio_send(s[0], "hello", 5, three, 3);
        CHECK("longer than the room is a fault",
              fdio_recv(s[1], small, sizeof small, fds, 8, &n) == -1 && errno == EPROTO && n == 0);
        fdio_send(s[0], "", 0, three, 2);
        CHECK("an empty message with descriptors is a fault",
              fdio_recv(s[1], big, sizeof big, fds, 8, &n) == -1 && errno == EPROTO && n == 0);
        CHECK("none of them stayed open", open_fds() == before);

        fdio_send(s[0], "last words", 10, NULL, 0);
        fdio_send(s[1], "unread", 6, NULL, 0);
        close(s[0]);
        CHECK("last words of a peer that left our own unread",
              fdio_recv(s[1], big, sizeof big, fds, 8, &n) == 10);
        CHECK("the end", fdio_recv(s[1], big, sizeof big, fds, 8, &n) == 0);
        CHECK("no signal when the other side is gone",
              fdio_send(s[1], "x", 1, NULL, 0) < 0 && errno == EPIPE);
        close(s[1]);
}

int main(void)
{
        char dir[] = "/tmp/ostiary-fdio.XXXXXX";
        if (!mkdtemp(dir))
                return 1;
        int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        files(fd);
        messages();
        static const char *const left[] = {"a", "e", "nul", "fifo"};
        for (size_t i = 0; i < sizeof left / sizeof *left; i++)
                unlinkat(fd, left[i], 0);
        unlinkat(fd, "d", AT_REMOVEDIR);
        close(fd);
        CHECK("nothing else was left behind", rmdir(dir) == 0);
        return check_end();
}
