/* tty.c - cases 1-3: keys pushed into the terminal of the person who started the box.
 *
 * Run with a terminal that the harness made; HOST_TTY names it (device:inode), so that a key which
 * lands in the box's own terminal is not taken for an escape. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#ifndef TIOCLINUX
#define TIOCLINUX 0x541C
#endif

/* is_callers_tty(fd): is this the very terminal the harness holds the other end of? */
static bool is_callers_tty(int fd)
{
        const char *host = planted("HOST_TTY");
        struct stat st;
        char here[64];

        if (!host || fstat(fd, &st) < 0)
                return false;
        snprintf(here, sizeof here, "%lu:%lu", (unsigned long)st.st_dev, (unsigned long)st.st_ino);
        return strcmp(host, here) == 0;
}

/* push(out, request): type a line with the given ioctl number, on each terminal within reach. */
static void push(struct outcome *o, unsigned long request)
{
        static const char *const others[] = {"/dev/tty", "/dev/console", "/dev/tty0", "/dev/ttyS0"};
        int fds[8] = {0, 1, 2}, fd_n = 3;
        bool own = false;
        int err = 0;

        for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
                int fd = open(others[i], O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
                if (fd >= 0)
                        fds[fd_n++] = fd;
        }
        for (int i = 0; i < fd_n; i++) {
                char key = '\r';
                if (!isatty(fds[i]))
                        continue;
                if (syscall(SYS_ioctl, fds[i], request, &key) < 0) {
                        err = errno;
                        continue;
                }
                if (is_callers_tty(fds[i]))
                        out_escaped(o, "a key was typed into the caller's terminal");
                own = true;
        }
        if (own)
                out_blocked_why(o, "OWN-PTY", "the key landed in the box's own terminal");
        else if (err)
                out_blocked(o, err, "no key could be typed");
        else
                out_na(o, "no terminal within reach");
}

static void case_tiocsti(struct outcome *o)
{
        push(o, TIOCSTI);
}

/* The kernel looks at the low 32 bits only; a filter that compares 64 sees another number. */
static void case_tiocsti_high(struct outcome *o)
{
        push(o, TIOCSTI | 1UL << 32);
}

static void case_tioclinux(struct outcome *o)
{
        unsigned char paste = 3; /* TIOCL_PASTESEL */
        int err = 0;

        for (int fd = 0; fd < 3; fd++) {
                if (!isatty(fd))
                        continue;
                if (syscall(SYS_ioctl, fd, (unsigned long)TIOCLINUX, &paste) == 0)
                        out_escaped(o, "the console accepted a paste");
                else if (errno == ENOTTY || errno == EINVAL)
                        out_escaped(o, "the request reached the terminal driver");
                else
                        err = errno;
        }
        if (err)
                out_blocked(o, err, "no paste could be asked for");
        else
                out_na(o, "no terminal within reach");
}

const struct attack_case tty_cases[] = {
        {"1", "TIOCSTI types into the caller's terminal", EXEC, REAL, IN_TTY, case_tiocsti,
         "tiocsti+pty", "tiocsti+pty"},
        {"2", "TIOCSTI with bit 32 set", EXEC, REAL, IN_TTY, case_tiocsti_high, "tiocsti+pty",
         "tiocsti+pty"},
        {"3", "TIOCLINUX pastes on a console", EXEC, SURFACE, IN_TTY, case_tioclinux, "seccomp",
         "seccomp"},
        {0},
};
