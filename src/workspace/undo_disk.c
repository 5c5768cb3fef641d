/* undo_disk.c - on disk before it counts, and quickly for ten thousand files: writing is begun for
 * each, and one commit at the end waits for all. Called by the store of contents and by landing.
 *
 * ext4 has one journal and commits data before the metadata that names it; XFS needs the data to
 * have arrived, and then forces its log in order. Elsewhere nothing less than syncfs is known to
 * do, which also waits for what others write. */
#include "base/err.h"
#include "workspace/undo_int.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#define XFS_MAGIC 0x58465342

static long kind_of(int fd)
{
        struct statfs fs;
        return fstatfs(fd, &fs) < 0 ? 0 : (long)fs.f_type;
}

void undo_disk_start(int fd)
{
        long kind = kind_of(fd);
        if (kind == EXT4_SUPER_MAGIC)
                (void)sync_file_range(fd, 0, 0, SYNC_FILE_RANGE_WRITE);
        else if (kind == XFS_MAGIC)
                (void)sync_file_range(fd, 0, 0,
                                      SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE |
                                              SYNC_FILE_RANGE_WAIT_AFTER);
}

int undo_disk_commit(int fd, struct err *err)
{
        long kind = kind_of(fd);
        int r = kind == EXT4_SUPER_MAGIC || kind == XFS_MAGIC ? fsync(fd) : syncfs(fd);
        return r < 0 ? err_sys(err, "write to disk") : 0;
}
