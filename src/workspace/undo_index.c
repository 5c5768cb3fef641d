/* undo_index.c - `git status`, or an editor that asks for it, writes the host's index anew without
 * changing what it says: that is no reason to refuse the undo of a live run. Called by undo_run.c.
 * Nothing here fails: an index that cannot be read is judged as any other file. */
#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "workspace/git_index.h"
#include "workspace/objects.h"
#include "workspace/undo_int.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

enum { INDEX_MAX = 64 << 20 };

static int meaning_of(int fd, char hex[SHA256_HEX_LEN + 1])
{
        _cleanup_buf_ struct buf b = {.max = INDEX_MAX};
        if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0 || fdio_read_all(fd, &b, INDEX_MAX) < 0)
                return -1;
        return git_index_meaning(b.data, b.len, hex);
}

bool undo_index_is_same(int objects_fd, const char *sha, const char *layer, int root_fd,
                        const char *path)
{
        char now[SHA256_HEX_LEN + 1], then[SHA256_HEX_LEN + 1];
        const char *index = strcmp(layer, "ws") == 0 ? ".git/index" : "index";
        if (strcmp(path, index) != 0 || !objects_has(objects_fd, sha))
                return false;
        _cleanup_close_ int host =
                beneath_open_nosym(root_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, NULL);
        _cleanup_close_ int kept = memfd_create("index", MFD_CLOEXEC);
        return kept >= 0 && objects_get(objects_fd, sha, kept, NULL) == 0 &&
               meaning_of(kept, then) == 0 && meaning_of(host, now) == 0 && strcmp(now, then) == 0;
}
