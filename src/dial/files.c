/* files.c - see files.h. The child of files_watch lives as long as dial does. It must never read
 * from its socket: nobody may tell it what to open. */
#include "dial/files.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "role/role.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
        TEXT_LEN_MAX = FRAME_SPILL_MAX,
        HOPS_MAX = 8,
        SETTLE_MS = 50,   /* whoever writes a file writes it in pieces */
        ABSENT_MS = 5000, /* a directory that is not there cannot be watched */
};

char *files_read(const char *path)
{
        char *text = fdio_read_file(AT_FDCWD, path, TEXT_LEN_MAX, NULL);
        return text ? text : str_dup("");
}

/* next_hop(path, out): where the link ${path} points, as a path; false when it is none. */
static bool next_hop(const char *path, char out[PATH_MAX])
{
        char to[PATH_MAX], dir[PATH_MAX];
        ssize_t n = readlink(path, to, sizeof to - 1);
        if (n <= 0)
                return false;
        to[n] = 0;
        snprintf(dir, sizeof dir, "%s", path);
        int len = to[0] == '/' ? snprintf(out, PATH_MAX, "%s", to)
                               : snprintf(out, PATH_MAX, "%s/%s", dirname(dir), to);
        return len > 0 && len < PATH_MAX;
}

/* watch_chain(in_fd, path): every directory on the way to the file. False when one is missing. */
static bool watch_chain(int in_fd, const char *path)
{
        char at[PATH_MAX], next[PATH_MAX], dir[PATH_MAX];
        bool is_whole = true;
        snprintf(at, sizeof at, "%s", path);
        for (int hop = 0; hop < HOPS_MAX; hop++) {
                snprintf(dir, sizeof dir, "%s", at);
                is_whole &= inotify_add_watch(in_fd, dirname(dir),
                                              IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVE |
                                                      IN_ONLYDIR) >= 0;
                if (!next_hop(at, next))
                        break;
                memcpy(at, next, sizeof at);
        }
        return is_whole;
}

static void send_changed(int sock, const char *const paths[], char *last[])
{
        for (uint32_t i = 0; i < FILES_N; i++) {
                char *text = files_read(paths[i]);
                if (last[i] && strcmp(last[i], text) == 0) {
                        free(text);
                        continue;
                }
                _cleanup_buf_ struct buf b = {0};
                buf_put_str(&b, text);
                if (frame_send(sock, i, &b, NULL, 0) < 0)
                        _exit(0); /* dial is gone */
                free(last[i]);
                last[i] = text;
        }
}

/* Sleeping until something in a directory changes or dial ends. */
static void wait_for_change(int sock, int in_fd, int limit_ms)
{
        char events[4096];
        struct pollfd p[] = {{.fd = in_fd, .events = POLLIN}, {.fd = sock, .events = 0}};
        if (poll(p, 2, limit_ms) < 0 && errno != EINTR)
                _exit(1);
        if (p[1].revents)
                _exit(0);
        if (!p[0].revents)
                return;
        poll(NULL, 0, SETTLE_MS);
        while (read(in_fd, events, sizeof events) > 0)
                ;
}

/* rights(paths, out): the directories in which the files are now or usually are. */
static size_t rights(const char *const paths[], const char *out[])
{
        static char dirs[FILES_N * 2][PATH_MAX];
        size_t n = 0;
        out[n++] = "/etc";
        out[n++] = "/run";
        for (size_t i = 0; i < FILES_N; i++) {
                char real[PATH_MAX];
                snprintf(dirs[i * 2], PATH_MAX, "%s", paths[i]);
                out[n++] = dirname(dirs[i * 2]);
                if (!realpath(paths[i], real))
                        continue;
                snprintf(dirs[i * 2 + 1], PATH_MAX, "%s", real);
                out[n++] = dirname(dirs[i * 2 + 1]);
        }
        return n;
}

_Noreturn static void serve(int sock, const char *const paths[])
{
        const char *dirs[2 + FILES_N * 2];
        char *last[FILES_N] = {0};
        struct err err = {0};
        int in_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
        if (in_fd < 0)
                _exit(1);
        struct role_needs needs = {
                .may_read_files = true, .files = dirs, .files_n = rights(paths, dirs)};
        if (role_confine(&needs, &err) < 0)
                _exit(1);
        for (;;) {
                bool is_whole = true;
                for (size_t i = 0; i < FILES_N; i++)
                        is_whole &= watch_chain(in_fd, paths[i]);
                /* After the watches stand, or a change in between would be missed. */
                send_changed(sock, paths, last);
                wait_for_change(sock, in_fd, is_whole ? -1 : ABSENT_MS);
        }
}

int files_watch(const char *const paths[FILES_N], struct err *err)
{
        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                return err_sys(err, "make a socket pair");
        pid_t parent = getpid();
        pid_t pid = fork();
        if (pid < 0) {
                err_sys(err, "start the reader of resolv.conf");
                close(pair[0]);
                close(pair[1]);
                return -1;
        }
        if (pid == 0) {
                prctl(PR_SET_NAME, "dial-files", 0, 0, 0);
                prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
                if (getppid() != parent || fdio_close_except(&pair[1], 1) < 0)
                        _exit(1);
                serve(pair[1], paths);
        }
        close(pair[1]);
        return pair[0];
}
