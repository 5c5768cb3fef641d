/* openfiles.c - see openfiles.h. */
#include "base/openfiles.h"

#include <sys/resource.h>

void openfiles_raise(void)
{
        struct rlimit l;
        if (getrlimit(RLIMIT_NOFILE, &l) < 0 || l.rlim_cur >= l.rlim_max)
                return;
        l.rlim_cur = l.rlim_max;
        setrlimit(RLIMIT_NOFILE, &l);
}
