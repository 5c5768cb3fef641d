/* apply_base.c - see apply_base.h. Called by `apply --3way`. The repository is the host's own, and
 * read nevertheless as if it were not: what does not fit is no base. */
#include "workspace/apply_base.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "workspace/apply_int.h"
#include "workspace/git_blob.h"
#include "workspace/objects.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

bool apply_base_read(const struct ws_view *v, const char *path, struct buf *to)
{
        struct ws_node node;
        _cleanup_close_ int fd = ws_view_file(v, path, &node, NULL);
        return fd >= 0 && node.size < to->max && fdio_read_all(fd, to, to->max - 1) == 0 &&
               !to->is_broken;
}

/* from_undo(c, applied, undo_fd, base): what we put there last: both sides had it then. */
static bool from_undo(const struct ws_change *c, const struct applied *a, int undo_fd,
                      struct buf *base)
{
        char sha[SHA256_HEX_LEN + 1];
        if (!applied_last(a, c->root->name, c->path, sha))
                return false;
        _cleanup_close_ int objects_fd = undo_objects(undo_fd, NULL);
        _cleanup_close_ int fd = memfd_create("base", MFD_CLOEXEC);
        if (objects_fd < 0 || fd < 0 || !objects_has(objects_fd, sha) ||
            objects_get(objects_fd, sha, fd, NULL) < 0 || lseek(fd, 0, SEEK_SET) < 0)
                return false;
        return fdio_read_all(fd, base, base->max - 1) == 0;
}

bool apply_base_find(const struct ws_change *c, const struct applied *a, int undo_fd,
                     struct buf *base)
{
        if (from_undo(c, a, undo_fd, base))
                return true;
        base->len = 0;
        return git_blob_before(c->root->host_fd, c->path, c->root->since_ns, base);
}
