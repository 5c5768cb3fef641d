/* closing.c - see closing.h. Two timers run during the close: one whose signal has a handler, because
 * such a signal interrupts a wait, and one whose signal is deadly, because that ends even a wait that can only
 * be killed. */
#include "base/closing.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

enum { AGAIN_US = 20000, LAST_S = 10 };

static timer_t last;
static bool is_begun;

static void on_alarm(int sig)
{
        (void)sig;
}

int closing_begin(void)
{
        struct sigaction a = {.sa_handler = on_alarm}; /* not restarted: that is the point */
        struct sigevent deadly = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGVTALRM};
        sigset_t both;
        sigemptyset(&both);
        sigaddset(&both, SIGALRM);
        sigaddset(&both, SIGVTALRM);
        signal(SIGVTALRM, SIG_DFL);
        if (sigaction(SIGALRM, &a, NULL) < 0 || sigprocmask(SIG_UNBLOCK, &both, NULL) < 0 ||
            timer_create(CLOCK_MONOTONIC, &deadly, &last) < 0)
                return -1;
        is_begun = true;
        return 0;
}

static void closing_set(long again_us, long last_s)
{
        struct itimerval often = {.it_interval = {.tv_usec = again_us},
                                  .it_value = {.tv_usec = again_us}};
        struct itimerspec once = {.it_value = {.tv_sec = last_s}};
        setitimer(ITIMER_REAL, &often, NULL);
        timer_settime(last, 0, &once, NULL);
}

void closing_fd(int *fd)
{
        int was = errno;
        if (*fd < 0)
                return;
        if (is_begun)
                closing_set(AGAIN_US, LAST_S);
        close(*fd); /* gone, also when it was interrupted */
        if (is_begun)
                closing_set(0, 0);
        *fd = -1;
        errno = was;
}
