/* sup_watch_disk.c - how much a box has written, and how much room it leaves to its owner.
 *
 * Everything counts: its layers, home included, its log, what it printed, /tmp, and files that it
 * deleted and holds open. Counting a tree takes time, asking a file system how much is free does
 * not: so that is asked often, and the tree is counted when as much is gone as would matter. */
#include "session/sup_watch.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/sup.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { DEPTH_MAX = 256, ENTRIES_MAX = 1000000 };

/* Never fill the user's disk: a box ends when less than this is free where its layers lie. */
#define FREE_FLOOR (256ull << 20)
/* A file that takes room and means nothing. It is made when the disk is getting full, and given
 * back when a box has ended for it, so that whoever clears up has something to work with. */
#define BALLAST_FROM  (8ull << 30)
#define BALLAST_UNTIL (1ull << 30)
#define BALLAST_SIZE  (64ll << 20)

struct disk_walk {
        uint64_t sum;
        unsigned left;
        bool is_whole;
};

/* is_overlays_own(name, depth): layers/NAME/work, where the kernel has a directory that nobody may
 * open and no box can write. */
static bool is_overlays_own(const char *name, int depth)
{
        return depth == 2 && strcmp(name, "work") == 0;
}

/* disk_tree(w, dir_fd, depth): allocated bytes below, without following links. */
static void disk_tree(struct disk_walk *w, int dir_fd, int depth)
{
        _cleanup_closedir_ DIR *d = fdio_opendir(dir_fd);
        struct dirent *e;
        while (d && w->left && (e = readdir(d))) {
                struct stat st;
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                --w->left;
                if (fstatat(dir_fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                w->sum += (uint64_t)st.st_blocks * 512;
                if (!S_ISDIR(st.st_mode) || is_overlays_own(e->d_name, depth))
                        continue;
                _cleanup_close_ int sub =
                        depth >= DEPTH_MAX
                                ? -1
                                : openat(dir_fd, e->d_name,
                                         O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (sub >= 0)
                        disk_tree(w, sub, depth + 1);
                else
                        w->is_whole = false;
        }
        w->is_whole &= w->left > 0;
}

/* disk_count(s, now, free): count the box's directory. Where that cannot be finished, because there
 * are too many files, too many levels, or directories that it has shut, whatever the disk has lost since the box began counts. */
static void disk_count(struct sup *s, uint64_t now, uint64_t free)
{
        struct watch_disk *d = &s->watch->disk;
        struct disk_walk w = {.left = ENTRIES_MAX, .is_whole = true};
        disk_tree(&w, s->dir_fd, 0);
        uint64_t lost = d->free_first > free ? d->free_first - free : 0;
        d->tree_then = !w.is_whole && lost > w.sum ? lost : w.sum;
        d->free_then = free;
        uint64_t took = watch_now() - now;
        d->count_at = now + took * 10;
}

static void ballast_path(const struct sup *s, char path[4096])
{
        snprintf(path, 4096, "%s/ballast", s->store->state);
}

static void ballast_take(const struct sup *s, uint64_t free)
{
        char path[4096];
        if (free > BALLAST_FROM || free < BALLAST_UNTIL)
                return;
        ballast_path(s, path);
        _cleanup_close_ int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        if (fd >= 0 && fallocate(fd, 0, 0, BALLAST_SIZE) < 0)
                unlink(path);
}

/* disk_begin(s, free): what there is before the box writes anything. Directories that are live may
 * lie on another disk than the layers; one that is somebody else's machine is not asked, because
 * asking may take for ever. */
static void disk_begin(struct sup *s, uint64_t free)
{
        static const unsigned local[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                         F2FS_SUPER_MAGIC, TMPFS_MAGIC};
        struct watch_disk *d = &s->watch->disk;
        const struct box_plan *p = &s->plan->box;
        struct stat own, st;
        struct statfs fs;
        d->is_begun = true;
        d->free_first = d->free_then = free;
        if (fstat(s->dir_fd, &own) < 0)
                return;
        for (size_t i = 0; i < p->mounts_n && d->live_n < WATCH_LIVE_MAX; i++) {
                if (p->mounts[i].kind != BOX_MOUNT_LIVE)
                        continue;
                _cleanup_close_ int fd = open(p->mounts[i].source, O_PATH | O_CLOEXEC);
                bool is_local = false;
                if (fd < 0 || fstat(fd, &st) < 0 || st.st_dev == own.st_dev || fstatfs(fd, &fs) < 0)
                        continue;
                for (size_t k = 0; k < sizeof local / sizeof *local; k++)
                        is_local |= (unsigned)fs.f_type == local[k];
                if (is_local)
                        d->live_fd[d->live_n++] = take_fd(&fd);
        }
}

/* disk_room(fd): bytes that an ordinary user may still write there; UINT64_MAX if nobody knows. */
static uint64_t disk_room(int fd)
{
        struct statvfs v;
        return fstatvfs(fd, &v) < 0 ? UINT64_MAX : (uint64_t)v.f_bavail * v.f_frsize;
}

/* disk_room_live(d): the least of the other disks. */
static uint64_t disk_room_live(const struct watch_disk *d)
{
        uint64_t least = UINT64_MAX;
        for (size_t i = 0; i < d->live_n; i++) {
                uint64_t room = disk_room(d->live_fd[i]);
                least = room < least ? room : least;
        }
        return least;
}

static void disk_is_full(struct sup *s)
{
        char path[4096], words[256], a[16];
        ballast_path(s, path);
        unlink(path);
        snprintf(words, sizeof words,
                 "the disk that holds its layers has less than %s left (ostiary rm %s gives back "
                 "what the box wrote)",
                 str_size_words(FREE_FLOOR, a), s->id);
        sup_end(s, MSG_END_DISK, 0, words);
}

static void disk_is_over(struct sup *s, uint64_t limit)
{
        char words[256], a[16], b[16];
        snprintf(words, sizeof words, "it has written %s, more than the disk limit of %s",
                 str_size_words(s->watch->disk.now, a), str_size_words(limit, b));
        sup_end(s, MSG_END_DISK, 0, words);
}

/* disk_hidden(d, free): bytes that are gone since the box began and not in its tree: anybody's. */
static uint64_t disk_hidden(const struct watch_disk *d, uint64_t free)
{
        uint64_t lost = d->free_first > free ? d->free_first - free : 0;
        uint64_t grown = d->tree_then > d->tree_first ? d->tree_then - d->tree_first : 0;
        return lost > grown ? lost - grown : 0;
}

/* disk_nameless(s, now, hidden): ask for a look at files that processes of the box hold open or have
 * parked in sockets. */
static void disk_nameless(struct sup *s, uint64_t now, uint64_t hidden)
{
        struct watch_disk *d = &s->watch->disk;
        bool is_under_way = s->watch->deep.apart.pid;
        watch_deep(s, USAGE_MAPS | USAGE_FLYING | s->watch->share.wants, true);
        if (is_under_way || !s->watch->deep.apart.pid)
                return; /* another one, or too early */
        d->maps_hidden = hidden;
        d->maps_at = now;
        d->is_asked = true;
}

/* watch_disk_deep(s, u): that look is over. What nobody can tell the size of are files that are only
 * mapped, and descriptors that could not be looked at. Of those at most what is hidden counts, and what
 * became so while the box was at work. */
void watch_disk_deep(struct sup *s, const struct usage *u)
{
        struct watch_disk *d = &s->watch->disk;
        uint64_t now = watch_now(), mapped = u ? u->mapped_deleted : 0;
        if (!d->is_asked)
                return; /* it was for something else */
        d->is_asked = false;
        uint64_t ours = u ? watch_doubt(&d->doubt, d->maps_hidden, u->motion) : d->doubt.ours;
        d->unseen = !u || u->unseen_n ? d->unseen + 1 : 0;
        d->parked = u ? u->deleted : d->parked;
        ours = ours > d->parked ? ours - d->parked : 0;
        d->mapped = mapped < ours && d->unseen < WATCH_UNSEEN ? mapped : ours;
        if (!mapped && d->unseen < WATCH_UNSEEN)
                d->mapped = 0;
        d->maps_at = now + (now - d->maps_at) * 10;
        s->watch->disk_at = 0; /* decide at once */
        watch_again(s);
}

/* disk_other(s, hidden): bytes that are in no tree: /tmp, and files without a name. */
static uint64_t disk_other(const struct sup *s, uint64_t hidden)
{
        const struct watch_disk *d = &s->watch->disk;
        uint64_t parked = d->parked < hidden ? d->parked : hidden;
        uint64_t open = s->watch->share.u.deleted;
        return usage_tmpfs(&s->watch->eyes) + (open > parked ? open : parked) + d->mapped;
}

uint64_t watch_disk(struct sup *s, uint64_t now)
{
        struct watch_disk *d = &s->watch->disk;
        uint64_t free = disk_room(s->dir_fd), limit = s->plan->box.limits.disk;
        if (!d->is_begun) {
                disk_begin(s, free);
                if (limit)
                        disk_count(s, now, free);
                d->tree_first = d->tree_then;
        }
        if (free < FREE_FLOOR) {
                disk_is_full(s);
                return WATCH_IDLE_MS;
        }
        ballast_take(s, free);
        uint64_t live = disk_room_live(d), least = live < free ? live : free;
        if (live < FREE_FLOOR) {
                char words[128], a[16];
                snprintf(words, sizeof words,
                         "a disk that it writes to directly has less than %s left",
                         str_size_words(FREE_FLOOR, a));
                sup_end(s, MSG_END_DISK, 0, words);
                return WATCH_IDLE_MS;
        }
        uint64_t pause = watch_pause(least - FREE_FLOOR);
        if (!limit)
                return pause;

        /* Count the tree when as much is gone as would matter, if all of that was the box's. */
        uint64_t lost = d->free_then > free ? d->free_then - free : 0;
        uint64_t other = disk_other(s, disk_hidden(d, free));
        if (d->tree_then + lost + other > limit || (lost && now >= d->count_at))
                disk_count(s, now, free);
        /* What the disk has lost and the tree does not show may be in files without a name. */
        uint64_t hidden = disk_hidden(d, free);
        if (d->tree_then + hidden > limit && now >= d->maps_at)
                disk_nameless(s, now, hidden);
        d->now = d->tree_then + disk_other(s, hidden);
        if (d->now > limit) {
                disk_is_over(s, limit);
                return WATCH_IDLE_MS;
        }
        uint64_t left = watch_pause(limit - d->now);
        return left < pause ? left : pause;
}
