/* closing_test.c - the last descriptor of a socket whose owner asked to wait, with a window that is full. */
#include "base/closing.h"
#include "unit/check.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LINGER_S = 3600 };

/* full(&peer): a socket that lingers, and whose peer reads nothing. */
static int full(int *peer)
{
        static char bytes[65536];
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
        socklen_t len = sizeof a;
        int door = socket(AF_INET, SOCK_STREAM, 0);
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        struct linger l = {.l_onoff = 1, .l_linger = LINGER_S};
        if (bind(door, (struct sockaddr *)&a, sizeof a) < 0 || listen(door, 1) < 0 ||
            getsockname(door, (struct sockaddr *)&a, &len) < 0 ||
            connect(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
            setsockopt(fd, SOL_SOCKET, SO_LINGER, &l, sizeof l) < 0)
                return -1;
        *peer = accept(door, NULL, NULL);
        close(door);
        while (send(fd, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
                ;
        return fd;
}

/* closes(with): does a process that closes such a socket in this way come to an end? */
static bool closes(void (*with)(int *fd), time_t wait_s)
{
        pid_t pid = fork();
        if (pid == 0) {
                int peer = -1, fd = full(&peer);
                if (fd < 0 || closing_begin() < 0)
                        _exit(2);
                with(&fd);
                _exit(fd == -1 ? 0 : 3);
        }
        sigset_t child;
        siginfo_t info;
        struct timespec t = {.tv_sec = wait_s};
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        int got = sigtimedwait(&child, &info, &t);
        if (got < 0)
                kill(pid, SIGKILL);
        int status = 0;
        waitpid(pid, &status, 0);
        return got == SIGCHLD && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void plainly(int *fd)
{
        close(*fd);
        *fd = -1;
}

int main(void)
{
        sigset_t child;
        sigemptyset(&child);
        sigaddset(&child, SIGCHLD);
        sigprocmask(SIG_BLOCK, &child, NULL);
        CHECK("to close a socket that lingers waits", !closes(plainly, 2));
        CHECK("and does not wait here", closes(closing_fd, 600));
        int fd = -1;
        closing_fd(&fd);
        CHECK("none is none", fd == -1);
        return check_end();
}
