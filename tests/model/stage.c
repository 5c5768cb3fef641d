/* stage.c - the place where a sequence happens: a host's tree, a box's directory with its layers,
 * and the overlay that joins them, mounted as src/box/trees.c mounts it.
 *
 * As an ordinary user everything happens in a user namespace of the test's own, in which it may
 * mount; the capabilities that would let it past file modes are put down, because the user has
 * none. */
#include "model.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "workspace/box_roots.h"
#include "workspace/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

static bool is_root;

static int put(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        ssize_t n = (ssize_t)strlen(text);
        int got = fd < 0 || write(fd, text, (size_t)n) != n ? -1 : 0;
        if (fd >= 0)
                close(fd);
        return got;
}

int stage_isolate(void)
{
        unsigned uid = geteuid(), gid = getegid();
        char uids[64], gids[64];
        is_root = uid == 0;
        snprintf(uids, sizeof uids, "%u %u 1", uid, uid);
        snprintf(gids, sizeof gids, "%u %u 1", gid, gid);
        umask(0); /* what the umask takes away is for review_classes.sh: here modes are exact */
        if (unshare(CLONE_NEWNS | (is_root ? 0 : CLONE_NEWUSER)) < 0)
                return -1;
        if (!is_root &&
            (put("/proc/self/setgroups", "deny") < 0 || put("/proc/self/uid_map", uids) < 0 ||
             put("/proc/self/gid_map", gids) < 0))
                return -1;
        return mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

/* To mount needs all there is; to read and write files is done with what a user has. */
static void capable(bool all)
{
        if (is_root)
                return;
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct caps[2] = {0};
        if (syscall(SYS_capget, &head, caps) < 0)
                return;
        const unsigned past_modes = 1u << CAP_DAC_OVERRIDE | 1u << CAP_DAC_READ_SEARCH |
                                    1u << CAP_FOWNER | 1u << CAP_CHOWN | 1u << CAP_FSETID |
                                    1u << CAP_MKNOD;
        for (int i = 0; i < 2; i++)
                caps[i].effective = caps[i].permitted;
        if (!all)
                caps[0].effective &= ~past_modes;
        syscall(SYS_capset, &head, caps);
}

static int open_dir(int at, const char *name)
{
        return openat(at, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

int stage_new(struct stage *s, const char *base)
{
        static const char *const dirs[] = {"s",
                                           "s/host",
                                           "s/box",
                                           "s/box/layers",
                                           "s/box/layers/ws",
                                           "s/box/layers/ws/upper",
                                           "s/frozen",
                                           "s/undo",
                                           "s/undo/objects",
                                           "s/merged",
                                           NULL};
        *s = (struct stage){-1, -1, -1, -1, -1, -1, false, 0};
        s->base_fd = open_dir(AT_FDCWD, base);
        if (s->base_fd < 0 || fchdir(s->base_fd) < 0)
                return -1;
        capable(true);
        remove_tree(s->base_fd, "s");
        for (int i = 0; dirs[i]; i++)
                if (mkdirat(s->base_fd, dirs[i], 0755) < 0)
                        return -1;
        capable(false);
        s->host_fd = open_dir(s->base_fd, "s/host");
        s->box_fd = open_dir(s->base_fd, "s/box");
        s->frozen_fd = open_dir(s->base_fd, "s/frozen");
        s->undo_fd = open_dir(s->base_fd, "s/undo");
        return s->host_fd < 0 || s->box_fd < 0 || s->frozen_fd < 0 || s->undo_fd < 0 ? -1 : 0;
}

void stage_end(struct stage *s)
{
        stage_unmount(s);
        capable(true);
        remove_tree(s->base_fd, "s");
        close_fd(&s->host_fd);
        close_fd(&s->box_fd);
        close_fd(&s->frozen_fd);
        close_fd(&s->undo_fd);
        close_fd(&s->base_fd);
}

void stage_settle(void)
{
        /* Files are stamped with a clock that moves in ticks, and may lag by one. */
        struct timespec from, now, nap = {.tv_nsec = 500000};
        clock_gettime(CLOCK_REALTIME, &from);
        do {
                nanosleep(&nap, NULL);
                clock_gettime(CLOCK_REALTIME_COARSE, &now);
        } while (now.tv_sec < from.tv_sec ||
                 (now.tv_sec == from.tv_sec && now.tv_nsec <= from.tv_nsec));
}

int stage_start(struct stage *s, bool is_real)
{
        struct timespec now;
        struct stat st;
        struct err err = {0};
        char host[4096];
        /* What the host has is older than the box by more than a tick; most sequences can save the
         * time and say so instead, because nobody changes the host in them. */
        if (is_real)
                for (int i = 0; i < 2; i++)
                        stage_settle();
        clock_gettime(CLOCK_REALTIME, &now);
        s->since_ns = now.tv_sec * 1000000000LL + now.tv_nsec + (is_real ? 0 : 30000000);
        if (fstat(s->host_fd, &st) < 0 || !getcwd(host, sizeof host - 8))
                return -1;
        strcat(host, "/s/host");
        char name[] = "ws";
        struct ws_root root = {.name = name,
                               .kind = WS_ROOT_COW,
                               .host = host,
                               .dev = st.st_dev,
                               .ino = st.st_ino,
                               .since_ns = s->since_ns,
                               .host_fd = -1};
        struct ws_roots roots = {.v = &root, .n = 1};
        return ws_roots_write(s->box_fd, &roots, &err);
}

int stage_mount(struct stage *s)
{
        char opts[16384];
        struct err err = {0};
        _cleanup_stack_ struct stack st = {0};
        if (stack_read(s->box_fd, "stack", &st, &err) < 0)
                return -1;
        strcpy(opts, "userxattr,volatile,upperdir=s/box/layers/ws/upper,workdir=s/box/layers/ws/"
                     "work,lowerdir=");
        for (size_t i = st.n; i-- > 0;) {
                char path[64];
                snprintf(path, sizeof path, "s/frozen/%s/ws", st.v[i].id);
                if (faccessat(s->base_fd, path, F_OK, 0) < 0)
                        continue;
                strcat(opts, path);
                strcat(opts, ":");
        }
        strcat(opts, "s/host");
        capable(true);
        remove_tree(s->box_fd, "layers/ws/work");
        if ((mkdirat(s->box_fd, "layers/ws/upper", 0755) < 0 && errno != EEXIST) ||
            mkdirat(s->box_fd, "layers/ws/work", 0700) < 0 ||
            mount("overlay", "s/merged", "overlay", MS_NOSUID | MS_NODEV, opts) < 0)
                return -1;
        capable(false);
        s->is_mounted = true;
        s->merged_fd = open_dir(s->base_fd, "s/merged");
        return s->merged_fd < 0 ? -1 : 0;
}

int stage_unmount(struct stage *s)
{
        if (!s->is_mounted)
                return 0;
        close_fd(&s->merged_fd);
        s->is_mounted = false;
        capable(true);
        int got = umount2("s/merged", 0);
        if (got < 0)
                umount2("s/merged", MNT_DETACH);
        capable(false);
        return got;
}

int stage_freeze(struct stage *s, unsigned n, char *why, size_t size)
{
        char id[STACK_ID_LEN + 1];
        struct err err = {0};
        bool is_turn = n % 2;
        _cleanup_stack_ struct stack st = {0};
        if (stack_freeze(s->box_fd, s->frozen_fd, is_turn ? "turn" : "snapshot", "model", id,
                         &err) < 0) {
                snprintf(why, size, "stack_freeze: %s", err.text);
                return -1;
        }
        if (n % 3 == 0 && (stack_read(s->box_fd, "stack", &st, &err) < 0 ||
                           stack_squash(s->frozen_fd, &st, n % 4, &err) < 0 ||
                           stack_write(s->box_fd, "stack", &st, &err) < 0)) {
                snprintf(why, size, "stack_squash: %s", err.text);
                return -1;
        }
        return !id[0] ? 0 : is_turn ? 1 : 2;
}
