/* slots.c - see slots.h. */
#include "session/slots.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

/* slots_open(store): one file for all boxes of the user, whatever its state directory is, where the
 * machine has a place for such a thing; else in the state directory. */
static int slots_open(const struct store *store)
{
        char path[64];
        int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC;
        struct stat st;
        if (geteuid() == 0)
                snprintf(path, sizeof path, "/run/ostiary.slots");
        else
                snprintf(path, sizeof path, "/run/user/%u/ostiary.slots", geteuid());
        int fd = open(path, flags, 0600);
        if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid())
                return fd;
        if (fd >= 0)
                close(fd);
        _cleanup_free_ char *own = str_fmt("%s/slots", store->state);
        return open(own, flags, 0600);
}

int slots_take(const struct store *store, unsigned *number)
{
        _cleanup_close_ int fd = slots_open(store);
        if (fd < 0 && errno == ENOENT) {
                *number = 1; /* no state directory, no boxes */
                return -1;
        }
        for (unsigned i = 1; fd >= 0 && i < SLOTS_MAX; i++) {
                struct flock byte = {
                        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = (off_t)i, .l_len = 1};
                if (fcntl(fd, F_OFD_SETLK, &byte) < 0)
                        continue;
                *number = i;
                return take_fd(&fd);
        }
        *number = SLOTS_MAX;
        return -1;
}
