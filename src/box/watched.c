/* watched.c - what the supervisor looks at the box through: descriptors that pid 1 opens while it
 * still may, because nobody outside can enter a user namespace and come back. They show numbers and
 * give no way to change anything in the box. */
#include "box/step.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <fcntl.h>
#include <linux/netlink.h>
#include <sys/socket.h>

int step_watched(struct build *b, struct err *err)
{
        int fds[MSG_WATCHED_N];
        /* The box's own /proc lists exactly its processes, however deep they are. */
        fds[MSG_WATCHED_PROC] = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fds[MSG_WATCHED_TMP] = open("/tmp", O_PATH | O_DIRECTORY | O_CLOEXEC);
        /* These three show the IPC namespace of whoever opened them. */
        fds[MSG_WATCHED_SHM] = open("/proc/sysvipc/shm", O_RDONLY | O_CLOEXEC);
        fds[MSG_WATCHED_MSG] = open("/proc/sysvipc/msg", O_RDONLY | O_CLOEXEC);
        fds[MSG_WATCHED_SEM] = open("/proc/sysvipc/sem", O_RDONLY | O_CLOEXEC);
        /* And this the network namespace that it was made in. */
        fds[MSG_WATCHED_SOCKETS] =
                socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_SOCK_DIAG);
        fds[MSG_WATCHED_PIDNS] = open("/proc/self/ns/pid", O_RDONLY | O_CLOEXEC);
        int null = open("/dev/null", O_RDONLY | O_CLOEXEC), r = 0;
        for (int i = 0; i < MSG_WATCHED_N; i++)
                if (fds[i] < 0) /* a kernel without it: what it would show is not there either */
                        fds[i] = fcntl(null, F_DUPFD_CLOEXEC, 0);
        if (frame_send(b->ctl_fd, MSG_WATCHED, NULL, fds, MSG_WATCHED_N) < 0)
                r = err_sys(err, "hand over what is watched");
        for (int i = 0; i < MSG_WATCHED_N; i++)
                close_fd(&fds[i]);
        close_fd(&null);
        return r;
}
