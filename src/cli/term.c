/* term.c - see term.h. Everything the signal handler touches is static and set before it can run.
 */
#include "cli/term.h"

#include "base/err.h"
#include "cli/filter.h"
#include "cli/screen.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static struct termios saved;
static volatile sig_atomic_t is_raw;
static struct {
        int fd;
        const struct filter_modes *modes;
        const struct screen *screen;
} watched[2];
static volatile sig_atomic_t watched_n;

bool term_is_background(int fd)
{
        pid_t front = tcgetpgrp(fd);
        return front > 0 && front != getpgrp();
}

bool term_is_ours(void)
{
        return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && !term_is_background(STDIN_FILENO);
}

void term_size(uint32_t *cols, uint32_t *rows)
{
        static const int order[] = {STDOUT_FILENO, STDIN_FILENO, STDERR_FILENO};
        struct winsize w;
        *cols = 80;
        *rows = 24;
        for (int i = 0; i < 3; i++) {
                if (ioctl(order[i], TIOCGWINSZ, &w) == 0 && w.ws_col && w.ws_row) {
                        *cols = w.ws_col;
                        *rows = w.ws_row;
                        return;
                }
        }
}

void term_restore(void)
{
        for (; watched_n > 0; watched_n--) {
                char bytes[SCREEN_UNDO_MAX + FILTER_RESET_MAX];
                const struct screen *s = watched[watched_n - 1].screen;
                size_t n = s ? screen_undo(s, bytes, SCREEN_UNDO_MAX) : 0;
                n += filter_reset(watched[watched_n - 1].modes, bytes + n, FILTER_RESET_MAX);
                ssize_t ignored = n ? write(watched[watched_n - 1].fd, bytes, n) : 0;
                (void)ignored;
        }
        if (is_raw) {
                is_raw = 0;
                tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
        }
}

/* A signal that ends us: terminal first, then die of it as we would have. */
static void on_fatal(int sig)
{
        term_restore();
        signal(sig, SIG_DFL);
        raise(sig);
}

static void catch_fatal(void)
{
        static bool is_done;
        static const int fatal[] = {SIGSEGV, SIGBUS,  SIGILL, SIGFPE, SIGABRT,
                                    SIGSYS,  SIGTERM, SIGHUP, SIGINT, SIGQUIT};
        if (is_done)
                return;
        is_done = true;
        atexit(term_restore);
        for (size_t i = 0; i < sizeof fatal / sizeof *fatal; i++) {
                struct sigaction act = {.sa_handler = on_fatal}, old;
                sigaction(fatal[i], NULL, &old);
                if (old.sa_handler != SIG_IGN)
                        sigaction(fatal[i], &act, NULL);
        }
}

void term_watch(int fd, const struct filter_modes *m, const struct screen *s)
{
        for (int i = 0; i < watched_n; i++)
                if (watched[i].fd == fd)
                        watched[i].screen = s;
        bool is_known =
                (watched_n > 0 && watched[0].fd == fd) || (watched_n > 1 && watched[1].fd == fd);
        if (is_known || watched_n >= 2)
                return;
        catch_fatal();
        watched[watched_n].screen = s;
        watched[watched_n].fd = fd;
        watched[watched_n].modes = m;
        watched_n++;
}

void term_pause(void)
{
        if (is_raw)
                tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
}

int term_raw(struct err *err)
{
        catch_fatal();
        if (!is_raw && tcgetattr(STDIN_FILENO, &saved) < 0)
                return err_sys(err, "read the terminal's settings");
        struct termios raw = saved;
        cfmakeraw(&raw);
        is_raw = 1;
        if (tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) < 0) {
                is_raw = 0;
                return err_sys(err, "set the terminal's settings");
        }
        return 0;
}
