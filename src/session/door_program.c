/* door_program.c - see door_program.h. Relative to the program that runs now, so that a build tree,
 * a home and a system each use their own. */
#include "session/door_program.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int door_program_open(struct err *err)
{
        static const char *const places[] = {"ostiary-door", "../libexec/ostiary/ostiary-door"};
        char self[4096];
        ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
        if (n <= 0)
                return err_sys(err, "find out where ostiary is");
        self[n] = 0;
        char *slash = strrchr(self, '/');
        if (!slash)
                return err_set(err, E_MACHINE, "ostiary does not know where it is");
        *slash = 0;
        for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
                char path[4200];
                snprintf(path, sizeof path, "%s/%s", self, places[i]);
                int fd = open(path, O_PATH | O_CLOEXEC);
                if (fd >= 0)
                        return fd;
                if (errno != ENOENT && errno != ENOTDIR)
                        return err_sys(err, "open %s", path);
        }
        return err_set(err, E_MACHINE,
                       "the program ostiary-door, which guards a box's network, is neither in %s "
                       "nor in %s/../libexec/ostiary (make install puts it there)",
                       self, self);
}

_Noreturn void door_program_become(int door_fd, char *const argv[], int words_fd)
{
        static char *const env[] = {(char *)"PATH=/usr/bin:/bin", NULL};
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        int program = fcntl(door_fd, F_DUPFD_CLOEXEC, 3);
        int words = words_fd < 0 ? -1 : fcntl(words_fd, F_DUPFD_CLOEXEC, 3);
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        for (int i = 0; i < 3; i++)
                if (null < 0 || dup2(i == 2 && words >= 0 ? words : null, i) < 0)
                        _exit(125);
        if (program < 0 || fdio_close_except(&program, 1) < 0)
                _exit(125);
        fexecve(program, argv, env);
        _exit(125);
}

int door_program_run(int door_fd, char *const argv[], char *words, size_t n, struct err *err)
{
        int pipe_fds[2], status = -1;
        size_t len = 0;
        ssize_t got;
        char rest[256] = "";
        if (pipe2(pipe_fds, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        fflush(NULL);
        pid_t pid = fork();
        if (pid == 0)
                door_program_become(door_fd, argv, pipe_fds[1]);
        close(pipe_fds[1]);
        while (pid > 0 && (got = read(pipe_fds[0], len + 1 < n ? words + len : rest,
                                      len + 1 < n ? n - 1 - len : sizeof rest)) != 0) {
                if (got < 0 && errno != EINTR)
                        break;
                if (got > 0 && len + 1 < n)
                        len += (size_t)got;
        }
        words[len] = 0;
        close(pipe_fds[0]);
        if (pid < 0)
                return err_sys(err, "start ostiary-door");
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
                ;
        return status;
}
