/* probe_bait.c - see probe_bait.h. Everything made here has a random name and is removed by clear.
 */
#include "cli/probe_bait.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/probe.h"
#include "session/store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#define PROJECT "original\n"

static int lay_files(struct probe_bait *b, const struct store *s, struct err *err)
{
        char exe[4096], dir[] = "/tmp/ostiary-probe.XXXXXX";
        ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
        if (n <= 0)
                return err_sys(err, "find this program's own file");
        exe[n] = 0;
        b->exe = str_dup(exe);
        if (!mkdtemp(dir))
                return err_sys(err, "make a project in /tmp");
        b->workspace = str_dup(dir);
        _cleanup_free_ char *file = str_fmt("%s/project.txt", dir);
        if (fdio_write_file(AT_FDCWD, file, PROJECT, 0644, err) < 0)
                return -1;
        b->canary = str_fmt("%s/probe-canary.%d", s->state, (int)getpid());
        return fdio_write_file(AT_FDCWD, b->canary, "a secret of yours\n", 0600, err);
}

static int lay_listeners(struct probe_bait *b, struct err *err)
{
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof in;
        b->loopback_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (b->loopback_fd < 0 || bind(b->loopback_fd, (struct sockaddr *)&in, sizeof in) < 0 ||
            listen(b->loopback_fd, 4) < 0 ||
            getsockname(b->loopback_fd, (struct sockaddr *)&in, &len) < 0)
                return err_sys(err, "listen on the loopback");

        struct sockaddr_un un = {.sun_family = AF_UNIX};
        int n = snprintf(un.sun_path + 1, sizeof un.sun_path - 1, "ostiary-probe-%d",
                         (int)getpid());
        b->abstract_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (b->abstract_fd < 0 ||
            bind(b->abstract_fd, (struct sockaddr *)&un,
                 (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n)) < 0 ||
            listen(b->abstract_fd, 4) < 0)
                return err_sys(err, "listen on an abstract socket");

        strs_addf(&b->args, "port=%u", ntohs(in.sin_port));
        strs_addf(&b->args, "abstract=%s", un.sun_path + 1);
        return 0;
}

int probe_bait_lay(struct probe_bait *b, const struct store *s, struct err *err)
{
        *b = (struct probe_bait){.loopback_fd = -1, .abstract_fd = -1, .leak_fd = -1};
        if (lay_files(b, s, err) < 0 || lay_listeners(b, err) < 0)
                return -1;
        strs_addf(&b->args, "canary=%s", b->canary);
        strs_addf(&b->args, "pid=%d", (int)getpid());

        /* A descriptor without close-on-exec and a variable: what careless parents leave behind. */
        int fd = open(b->canary, O_RDONLY);
        b->leak_fd = fd >= 0 ? fcntl(fd, F_DUPFD, 77) : -1;
        close_fd(&fd);
        setenv(PROBE_SECRET, "a secret of yours", 1);
        return b->leak_fd < 0 ? err_sys(err, "open the canary") : 0;
}

bool probe_bait_is_whole(const struct probe_bait *b)
{
        _cleanup_free_ char *file = str_fmt("%s/project.txt", b->workspace);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, file, 4096, NULL);
        return text && strcmp(text, PROJECT) == 0;
}

void probe_bait_clear(struct probe_bait *b)
{
        close_fd(&b->loopback_fd);
        close_fd(&b->abstract_fd);
        close_fd(&b->leak_fd);
        if (b->canary)
                unlink(b->canary);
        if (b->workspace)
                beneath_remove_tree(AT_FDCWD, b->workspace, NULL);
        free(b->exe);
        free(b->workspace);
        free(b->canary);
        strs_free(&b->args);
}
