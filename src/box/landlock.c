/* landlock.c - the second wall around files: read and execute everywhere in the box's own tree,
 * write only where the plan says so, no signals and no abstract sockets across the border.
 *
 * The mounts say the same; this holds when one of them is wrong. It needs no_new_privs. */
#include "box/landlock.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "box/step.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>

/* Newer than Debian 12's headers. */
#define FS_TRUNCATE  (1ull << 14)
#define FS_IOCTL_DEV (1ull << 15)
#define SCOPE_SOCKET (1ull << 0)
#define SCOPE_SIGNAL (1ull << 1)

struct ruleset_attr {
        uint64_t fs, net, scoped;
};

#define FS_READ                                                                                    \
        (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_V1 ((1ull << 13) - 1)

int landlock_abi(void)
{
        long v = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        return v < 0 ? 0 : (int)v;
}

const char *landlock_words(int abi)
{
        if (abi <= 0)
                return "absent";
        if (abi < 2)
                return "files";
        if (abi < 3)
                return "files, moves between directories";
        if (abi < 5)
                return "files, moves, truncation";
        if (abi < 6)
                return "files, moves, truncation, device ioctls";
        return "files, moves, truncation, device ioctls, scoped signals and abstract sockets";
}

/* handled(abi): everything this kernel can restrict is restricted. */
static struct ruleset_attr handled(int abi)
{
        struct ruleset_attr a = {.fs = FS_V1};
        if (abi >= 2)
                a.fs |= LANDLOCK_ACCESS_FS_REFER;
        if (abi >= 3)
                a.fs |= FS_TRUNCATE;
        if (abi >= 5)
                a.fs |= FS_IOCTL_DEV;
        if (abi >= 6)
                a.scoped = SCOPE_SOCKET | SCOPE_SIGNAL;
        return a;
}

static int allow(int rules, const char *path, uint64_t access, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
        if (fd < 0)
                return err_sys(err, "open %s", path);
        struct landlock_path_beneath_attr a = {.allowed_access = access, .parent_fd = fd};
        if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0)
                return err_sys(err, "allow %s", path);
        return 0;
}

int step_landlock(struct build *b, struct err *err)
{
        if (box_weak(WEAK_LANDLOCK))
                return 0;
        int abi = landlock_abi();
        if (abi < 1)
                return err_set(
                        err, E_MACHINE,
                        "this kernel has no Landlock (Linux 5.13 or newer with landlock among "
                        "the enabled security modules is needed)");

        struct ruleset_attr a = handled(abi);
        size_t size = abi >= 6 ? sizeof a : abi >= 4 ? 16 : 8;
        _cleanup_close_ int rules = (int)syscall(SYS_landlock_create_ruleset, &a, size, 0);
        if (rules < 0)
                return err_sys(err, "create a Landlock ruleset");

        /* Device nodes and pipes cannot be made in the box, sockets and FIFOs of its own can. */
        uint64_t write =
                a.fs & ~(uint64_t)(LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK);
        static const char *const writable[] = {"/tmp", "/var/tmp", "/run", "/dev/shm"};
        uint64_t use =
                (FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | FS_TRUNCATE | FS_IOCTL_DEV) & a.fs;
        if (allow(rules, "/", FS_READ, err) < 0 || allow(rules, "/dev", use, err) < 0 ||
            allow(rules, "/proc", use, err) < 0)
                return -1;
        for (size_t i = 0; i < sizeof writable / sizeof *writable; i++)
                if (allow(rules, writable[i], write & ~FS_IOCTL_DEV, err) < 0)
                        return -1;
        /* Message queues are opened without a path; a kernel without them has no directory. */
        if (access("/dev/mqueue", F_OK) == 0 &&
            allow(rules, "/dev/mqueue", write & ~FS_IOCTL_DEV, err) < 0)
                return -1;
        for (size_t i = 0; i < b->plan->mounts_n; i++) {
                const struct box_mount *m = &b->plan->mounts[i];
                if (m->kind == BOX_MOUNT_FILE || m->kind == BOX_MOUNT_SHIELD)
                        continue;
                /* Reading is granted at "/" already; said again here, the kernel need not climb so
                 * far for every file of a large tree. */
                uint64_t access = m->kind == BOX_MOUNT_TREE ? FS_READ : write & ~FS_IOCTL_DEV;
                if (allow(rules, m->target, access, err) < 0)
                        return -1;
        }
        if (syscall(SYS_landlock_restrict_self, rules, 0) < 0)
                return err_sys(err, "enter the Landlock domain");

        /* Read back: something that the mounts allow and the rules do not must fail, and by the
         * rules (B8): they are asked before the rights that nobody has here, so it is EACCES and
         * not EPERM. Not by a character device: Linux 6.1 lets a whiteout pass. */
        if (mknod("/tmp/.probe", S_IFBLK | 0600, 0) == 0 || errno != EACCES)
                return err_set(err, E_MACHINE, "Landlock took its rules and does not hold them");
        return 0;
}
