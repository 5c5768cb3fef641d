/* peer.c - case 37 and the host's name: other processes of the machine.
 *
 * The victim is a process of the harness that counts SIGUSR1. No other process is ever addressed.
 */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* by_sigio(pid): the long way round: let the kernel send the signal when a pipe has data. Whether
 * it arrived is told by the harness; F_SETOWN itself is refused when the process is not seen. */
static int by_sigio(pid_t pid)
{
        int p[2];

        if (pipe(p) < 0)
                return -1;
        int r = fcntl(p[0], F_SETOWN, pid);
        if (r == 0)
                r = fcntl(p[0], F_SETSIG, SIGUSR1);
        if (r == 0)
                r = fcntl(p[0], F_SETFL, O_ASYNC | O_NONBLOCK);
        if (r == 0 && write(p[1], "x", 1) == 1)
                nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        int err = errno;
        close(p[0]);
        close(p[1]);
        errno = err;
        return r;
}

static void case_signal(struct outcome *o)
{
        long pid = planted_num("VICTIM_PID");
        int err = ESRCH;

        if (pid < 0) {
                out_na(o, "the harness planted no process");
                return;
        }
        if (kill((pid_t)pid, SIGUSR1) == 0)
                out_escaped(o, "a process of the host was signalled");
        err = errno;
        int pidfd = (int)syscall(SYS_pidfd_open, (pid_t)pid, 0);
        if (pidfd >= 0 && syscall(SYS_pidfd_send_signal, pidfd, SIGUSR1, NULL, 0) == 0)
                out_escaped(o, "a process of the host was signalled by descriptor");
        by_sigio((pid_t)pid);
        out_blocked(o, err, "no process of the host can be signalled");
}

static void case_hostname(struct outcome *o)
{
        const char *host = planted_or_na(o, "HOST_NAME");
        char name[256] = "";

        if (!host)
                return;
        gethostname(name, sizeof name - 1);
        if (strcmp(name, host) == 0)
                out_escaped(o, "the box knows the host's name");
        out_blocked_why(o, "OTHER", "the box has a name of its own");
}

const struct attack_case peer_cases[] = {
        {"37", "signals to processes of the host", CRASH, REAL, 0, case_signal, "pidns+landlock",
         "pidns+landlock+highuid"},
        {"U1", "the host's name", READ, REAL, 0, case_hostname, "utsns", "utsns"},
        {0},
};
