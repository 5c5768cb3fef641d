/* role.c - how a role of the door begins, and how it ends when something is wrong. See role.h.
 *
 * Runs before anything hostile is read, and after that never again. */
#include "role/role.h"

#include "base/buf.h"
#include "base/fdio.h"
#include "base/openfiles.h"
#include "base/scale.h"
#include "base/title.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#ifdef OSTIARY_ASAN
#include <sanitizer/asan_interface.h>
#endif
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *role_name = "a role";

#ifdef OSTIARY_WEAK
static char weakened[512]; /* the environment is gone soon */

bool role_weak(const char *layer)
{
        size_t n = strlen(layer);
        for (const char *at = weakened; *at; at += strcspn(at, ",") + (strchr(at, ',') != NULL))
                if (strcspn(at, ",") == n && memcmp(at, layer, n) == 0)
                        return true;
        return false;
}
#endif

#ifdef OSTIARY_ASAN
/* A sanitizer's report has nowhere to go from here but the way of every last word. */
static void on_report(const char *report)
{
        const char *error = strstr(report, "ERROR: ");
        role_die("%s", error ? error : report);
}
#endif

/* The places of standard input and output are never free: a socket that landed there would get
 * what somebody prints. */
static void fill_standard(void)
{
        for (int fd = 0; fd <= 2; fd++)
                if (fcntl(fd, F_GETFD) < 0 && errno == EBADF && open("/dev/null", O_RDWR) != fd)
                        role_die("the standard descriptors could not be opened");
}

void role_begin(const char *name)
{
        role_name = name;
#ifdef OSTIARY_WEAK
        const char *weak = getenv("OSTIARY_WEAKEN");
        snprintf(weakened, sizeof weakened, "%s", weak ? weak : "");
#endif
        scale_init();
        scale_timers();
#ifdef OSTIARY_ASAN
        __asan_set_error_report_callback(on_report);
#endif
        title_set(name);
        prctl(PR_SET_NAME, name, 0, 0, 0);

        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
                role_die("the process could not be tied to its supervisor");
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGPIPE, SIG_IGN);
        umask(077);

        struct rlimit no_core = {0};
        setrlimit(RLIMIT_CORE, &no_core);
        openfiles_raise(); /* as many connections as the machine lets us have */

        fill_standard();
        const int keep[] = {DOOR_CONTROL_FD};
        if (fdio_close_except(keep, 1) < 0)
                role_die("inherited descriptors could not be closed");
}

void role_die(const char *fmt, ...)
{
        char text[1000]; /* as much as the supervisor takes */
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(text, sizeof text, fmt, ap);
        va_end(ap);
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, text);
        /* Whoever is left to hear it: the supervisor, or a test's standard error. */
        frame_send(DOOR_CONTROL_FD, DOOR_FAULT, &b, NULL, 0);
        /* Not dprintf: it asks whether this is a terminal, and a confined role may not ask. */
        char line[1100];
        int n = snprintf(line, sizeof line, "ostiary-door %s: %s\n", role_name, text);
        _exit(n > 0 && write(2, line, (size_t)n) < 0 ? 2 : 1);
}
