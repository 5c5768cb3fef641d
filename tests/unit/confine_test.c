/* confine_test.c - what a confined role can still do, and that anything else ends it. Each case
 * runs in a process of its own; the same call before confinement is the control. */
#include "unit/check.h"

#include "base/confine.h"
#include "base/err.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static int open_file(void)
{
        return open("/etc/passwd", O_RDONLY | O_CLOEXEC);
}

static int make_socket(void)
{
        return socket(AF_INET, SOCK_STREAM, 0);
}

static int make_unix(void)
{
        return socket(AF_UNIX, SOCK_STREAM, 0);
}

static int make_code(void)
{
        void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return p == MAP_FAILED ? -1 : 0;
}

static int turn_to_code(void)
{
        static char page[8192] __attribute__((aligned(4096)));
        return mprotect(page, 4096, PROT_READ | PROT_EXEC);
}

static int make_process(void)
{
        pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (pid == 0)
                _exit(0);
        return pid > 0 ? 0 : -1;
}

static int signal_parent(void)
{
        return kill(getppid(), 0);
}

static const struct {
        const char *name;
        int (*run)(void);
} cases[] = {
        {"open a file", open_file},
        {"make a socket", make_socket},
        {"make a unix socket", make_unix},
        {"map code", make_code},
        {"turn data into code", turn_to_code},
        {"make a process", make_process},
        {"signal another process", signal_parent},
};

/* run(i, is_confined): the wait status. */
static int run(size_t i, bool is_confined)
{
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                struct err err = {0};
                if (is_confined && confine_self(NULL, 0, &err) < 0)
                        _exit(99);
                _exit(cases[i].run() < 0 ? 1 : 0);
        }
        int status = 0;
        waitpid(pid, &status, 0);
        return status;
}

static int use_fds(void)
{
        struct err err = {0};
        int fds[2];
        char got[4] = "";
        const int calls[] = {SYS_shutdown};
        if (socketpair(AF_UNIX, SOCK_STREAM, 0, fds) < 0)
                return 2;
        if (confine_self(calls, 1, &err) < 0)
                return 3;
        char *memory = malloc(1 << 20);
        if (!memory || write(fds[0], "abc", 3) != 3 || read(fds[1], got, 3) != 3)
                return 4;
        free(memory);
        return shutdown(fds[0], SHUT_WR) == 0 && !strcmp(got, "abc") ? 0 : 5;
}

int main(void)
{
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                int before = run(i, false), after = run(i, true);
                check(before == 0, cases[i].name, "the control failed: status %#x", before);
                check(WIFSIGNALED(after) && WTERMSIG(after) == SIGSYS, cases[i].name,
                      "a confined role could: status %#x", after);
        }
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0)
                _exit(use_fds());
        int status;
        waitpid(pid, &status, 0);
        check(status == 0, "descriptors, memory and listed calls stay usable", "status %#x",
              status);
        return check_end();
}
