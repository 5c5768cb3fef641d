/* slots.c - see slots.h. */
#include "session/slots.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int slots_take(const struct store *store, unsigned *number)
{
        _cleanup_free_ char *path = str_fmt("%s/slots", store->state);
        _cleanup_close_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
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
