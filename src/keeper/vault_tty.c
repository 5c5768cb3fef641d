/* vault_tty.c - questions at the user's terminal, wherever stdin and stdout lead. Called by the
 * vault's verbs. What is typed is not shown, goes into the caller's locked memory and nowhere else;
 * the terminal is put back as it was also when a signal ends the question. */
#include "keeper/vault_unlock.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sodium.h>
#include <string.h>
#include <strings.h>
#include <termios.h>

static volatile sig_atomic_t ended_by;

static void on_signal(int sig)
{
        ended_by = sig;
}

bool vault_tty_is_there(void)
{
        _cleanup_close_ int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        return fd >= 0;
}

static void say(int fd, const char *words)
{
        ssize_t n = write(fd, words, strlen(words));
        (void)n; /* a terminal that went away is noticed by the read that follows */
}

/* line(fd, out, cap): one line without its end; -1 at the end of the terminal or by a signal, -2
 * when it is longer than ${cap}. */
static long line(int fd, char *out, size_t cap)
{
        size_t len = 0;
        bool is_long = false;
        for (;;) {
                char c;
                ssize_t got = read(fd, &c, 1);
                if (got < 0 && errno == EINTR && !ended_by)
                        continue;
                if (got <= 0)
                        return -1;
                if (c == '\n' || c == '\r')
                        break;
                if (len < cap)
                        out[len++] = c;
                else
                        is_long = true;
                sodium_memzero(&c, 1);
        }
        return is_long ? -2 : (long)len;
}

long vault_tty_secret(const char *prompt, char *out, size_t cap, struct err *err)
{
        static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP};
        enum { N = sizeof signals / sizeof *signals };
        struct sigaction mine = {.sa_handler = on_signal}, was[N];
        struct termios before, quiet;
        _cleanup_close_ int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return err_set(err, E_INPUT, "there is no terminal to ask at");
        if (tcgetattr(fd, &before) < 0)
                return err_sys(err, "ask at the terminal");
        ended_by = 0;
        for (size_t i = 0; i < N; i++)
                sigaction(signals[i], &mine, &was[i]);
        quiet = before;
        quiet.c_lflag &= ~(tcflag_t)(ECHO | ECHOE | ECHOK);
        quiet.c_lflag |= ICANON | ISIG;
        /* Before the question: what is typed as soon as it is there is the answer, and is not
         * shown. */
        tcsetattr(fd, TCSAFLUSH, &quiet);
        say(fd, prompt);
        long n = line(fd, out, cap);
        /* What else was pasted must not be typed into the shell, where history keeps it. */
        tcsetattr(fd, TCSAFLUSH, &before);
        say(fd, "\n");
        for (size_t i = 0; i < N; i++)
                sigaction(signals[i], &was[i], NULL);
        if (ended_by) {
                sodium_memzero(out, cap);
                raise(ended_by == SIGTSTP ? SIGINT : ended_by);
                return err_set(err, E_REFUSED, "it was broken off");
        }
        if (n == -2)
                return err_set(err, E_INPUT, "this is too long to be typed");
        return n < 0 ? err_set(err, E_REFUSED, "nothing was typed") : n;
}

bool vault_tty_yes(const char *prompt)
{
        char answer[8] = "";
        _cleanup_close_ int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return false;
        say(fd, prompt);
        ended_by = 0;
        long n = line(fd, answer, sizeof answer - 1);
        return n > 0 && (strcasecmp(answer, "y") == 0 || strcasecmp(answer, "yes") == 0);
}
