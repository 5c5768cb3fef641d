/* paths.c - cases 31, 36, B1, B12: the host's sockets, pipes and files by their path.
 *
 * A read-only mount stops neither connect() nor a write to a FIFO; a path can be spelled in many
 * ways. The harness plants a socket and a FIFO below a tree the box sees, and a secret in a home.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

static int connect_path(const char *path, int type)
{
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0)
                return -1;
        snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
        int r = connect(fd, (struct sockaddr *)&a, sizeof a);
        int err = errno;
        close(fd);
        errno = err;
        return r;
}

static void case_tree_socket(struct outcome *o)
{
        const char *path = planted_or_na(o, "TREE_SOCK");

        if (!path)
                return;
        if (connect_path(path, SOCK_STREAM) == 0)
                out_escaped(o, "a socket below a read-only tree was reached");
        out_blocked(o, errno, "the socket below a read-only tree answers nobody");
}

/* fifo_write(path): put one line into a FIFO that somebody on the host reads. */
static int fifo_write(const char *path)
{
        struct stat st;
        int fd = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);

        if (fd < 0)
                return -1;
        int r = fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode) && write(fd, "out\n", 4) == 4 ? 0 : -1;
        int err = errno;
        close(fd);
        errno = err;
        return r;
}

static void case_tree_fifo(struct outcome *o)
{
        const char *path = planted_or_na(o, "TREE_FIFO");

        if (!path)
                return;
        if (fifo_write(path) == 0)
                out_escaped(o, "a FIFO below a read-only tree carried bytes to the host");
        out_blocked(o, errno, "the FIFO below a read-only tree has no reader in here");
}

/* Sockets people have: each is tried where it usually lies, and the ones planted in the workspace.
 */
static void case_known_sockets(struct outcome *o)
{
        static const char *const known[] = {
                "/run/docker.sock",
                "/var/run/docker.sock",
                "/run/podman/podman.sock",
                "/run/containerd/containerd.sock",
                "/run/libvirt/libvirt-sock",
                "/run/dbus/system_bus_socket",
                "/run/systemd/private",
                "/run/systemd/journal/stdout",
                "/run/systemd/journal/socket",
                "/dev/log",
                "/tmp/.X11-unix/X0",
                "/run/snapd.socket",
        };
        static const char *const keys[] = {"WS_SOCK", "HOME_SOCK"};
        int err = ENOENT;

        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (connect_path(known[i], SOCK_STREAM) == 0 ||
                    connect_path(known[i], SOCK_DGRAM) == 0)
                        out_escaped(o, "%s of the host was reached", known[i]);
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                const char *path = planted(keys[i]);
                if (path && connect_path(path, SOCK_STREAM) == 0)
                        out_escaped(o, "the user's socket %s was reached", path);
                else if (path)
                        err = errno;
        }
        const char *fifo = planted("WS_FIFO");
        if (fifo && fifo_write(fifo) == 0)
                out_escaped(o, "a FIFO in the workspace carried bytes to the host");
        out_blocked(o, err, "no socket and no FIFO of the host answers");
}

/* spelled(out, path, what): the same file by every alias /proc and a descriptor offer. */
static int spelled(struct outcome *o, const char *path, const char *what)
{
        static const char *const prefixes[] = {
                "",
                "/proc/self/root",
                "/proc/thread-self/root",
                "/proc/1/root",
                "/proc/self/cwd/../../../../../../../../../..",
                "/proc/self/task/../root/../../..",
                "/../../../../..",
                "//",
        };
        char name[1024], buf[1024], link[64];
        int err = ENOENT;

        for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
                snprintf(name, sizeof name, "%s%s", prefixes[i], path);
                long n = slurp(name, buf, sizeof buf);
                if (n < 0 && i == 0)
                        err = errno;
                if (has_canary(buf, n))
                        out_escaped(o, "%s was read%s%s", what, i ? " through " : "", prefixes[i]);
        }
        int root = open("/", O_PATH | O_CLOEXEC);
        snprintf(link, sizeof link, "/proc/self/fd/%d/..", root);
        snprintf(name, sizeof name, "%s%s", link, path);
        if (has_canary(buf, slurp(name, buf, sizeof buf)))
                out_escaped(o, "%s was read through a descriptor", what);
        return err;
}

static void case_alias(struct outcome *o)
{
        const char *path = planted_or_na(o, "HOME_SECRET");

        if (path) {
                int err = spelled(o, path, "a secret of the home");
                out_blocked(o, err, "the home's secret is nowhere, however it is spelled");
        }
}

static void case_outside(struct outcome *o)
{
        const char *path = planted_or_na(o, "SECRET_FILE");

        if (path) {
                int err = spelled(o, path, "a file beside the workspace");
                out_blocked(o, err, "the directory beside the workspace is not there");
        }
}

/* B12: the box's own record: control socket, plan, layers, policy. */
static void case_own_state(struct outcome *o)
{
        static const char *const keys[] = {"STATE_DIR", "DATA_DIR", "CONFIG_DIR"};
        int err = 0, known = 0;

        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                const char *dir = planted(keys[i]);
                if (!dir)
                        continue;
                known++;
                if (access(dir, F_OK) == 0)
                        out_escaped(o, "%s of the box's own state is to be seen", dir);
                else
                        err = errno;
        }
        if (!known)
                out_na(o, "the harness planted no STATE_DIR");
        else
                out_blocked(o, err, "policy, log and layers are not in the box");
}

const struct attack_case path_cases[] = {
        {"31", "the home by an alias of its path", READ, REAL, 0, case_alias, "home-mask",
         "home-mask"},
        {"31o", "a file beside the workspace by any alias", READ, REAL, 0, case_outside,
         "cwd+landlock", "cwd+landlock+highuid"},
        {"36", "a socket below a read-only tree", REACH, REAL, 0, case_tree_socket, "overlay-ro",
         "overlay-ro"},
        {"36f", "a FIFO below a read-only tree", WRITE, REAL, 0, case_tree_fifo, "overlay-ro",
         "overlay-ro"},
        {"B1", "sockets of daemons, agents, desktops; in the workspace", REACH, REAL, 0,
         case_known_sockets, "home-mask", "home-mask"},
        {"B12", "the box's own policy, log, layers", READ, REAL, 0, case_own_state, "shape",
         "shape"},
        {0},
};
