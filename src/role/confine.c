/* confine.c - giving up what a role does not need, in the order in which it can be given up: the
 * network, the files, the capabilities, and at last most system calls (filter.c). See role.h.
 *
 * Called once by each role, before the first byte from elsewhere is read. Every wall is read back:
 * a role that cannot be confined does not run. */
#include "role/role.h"

#include "base/cleanup.h"
#include "base/confine.h"
#include "base/err.h"
#include "role/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than Debian 12's headers. */
#define FS_V1        ((1ull << 13) - 1)
#define FS_TRUNCATE  (1ull << 14)
#define FS_IOCTL_DEV (1ull << 15)
#define NET_BIND     (1ull << 0)
#define NET_CONNECT  (1ull << 1)
#define SCOPE_ALL    ((1ull << 0) | (1ull << 1)) /* abstract sockets, signals */

struct ruleset_attr {
        uint64_t fs, net, scoped;
};

static ino_t ns_inode(void)
{
        struct stat st;
        return stat("/proc/self/ns/net", &st) == 0 ? st.st_ino : 0;
}

/* An empty tmpfs as the root: not even the name of a file of the host can be seen. */
static int leave_files(struct err *err)
{
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return err_sys(err, "make the mounts private");
        if (mount("empty", "/proc", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RDONLY,
                  "size=4k,nr_inodes=2,mode=0555") < 0)
                return err_sys(err, "mount an empty root");
        if (chdir("/proc") < 0 || chroot(".") < 0 || chdir("/") < 0)
                return err_sys(err, "enter the empty root");
        if (access("/usr", F_OK) == 0 || access("/etc", F_OK) == 0)
                return err_set(err, E_MACHINE, "the empty root is not empty");
        return 0;
}

/* Namespaces of its own. A user namespace comes along also for root: it takes away the power over
 * everything that belongs to the first one. */
static int leave_network(const struct role_needs *n, struct err *err)
{
        bool may_see_files = n->may_read_files && n->files_n > 0;
        int flags = CLONE_NEWUSER | CLONE_NEWNET | CLONE_NEWIPC | CLONE_NEWUTS;
        ino_t before = ns_inode();
        if (unshare(flags | (may_see_files ? 0 : CLONE_NEWNS)) < 0) {
                err_sys(err, "make an empty network namespace");
                return err_hint(err, "ostiary doctor says what this machine lacks");
        }
        if (before && ns_inode() == before)
                return err_set(err, E_MACHINE, "the network namespace is still the host's");
        return may_see_files ? 0 : leave_files(err);
}

static int landlock_allow(int rules, const char *path, uint64_t handled, struct err *err)
{
        _cleanup_close_ int fd = open(path, O_PATH | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
                return 0; /* what is not there needs no right */
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0)
                return err_sys(err, "open %s", path);
        uint64_t want = LANDLOCK_ACCESS_FS_READ_FILE;
        if (S_ISDIR(st.st_mode))
                want |= LANDLOCK_ACCESS_FS_READ_DIR;
        struct landlock_path_beneath_attr a = {.allowed_access = want & handled, .parent_fd = fd};
        if (syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &a, 0) < 0)
                return err_sys(err, "allow %s", path);
        return 0;
}

static int confine_landlock(const struct role_needs *n, struct err *err)
{
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (abi < 1)
                return err_set(err, E_MACHINE,
                               "this kernel has no Landlock (Linux 5.13 or newer with landlock "
                               "among the enabled security modules is needed)");
        struct ruleset_attr a = {.fs = FS_V1};
        if (abi >= 2)
                a.fs |= LANDLOCK_ACCESS_FS_REFER;
        if (abi >= 3)
                a.fs |= FS_TRUNCATE;
        if (abi >= 4)
                a.net = (n->may_listen ? 0 : NET_BIND) | (n->may_dial ? 0 : NET_CONNECT);
        if (abi >= 5)
                a.fs |= FS_IOCTL_DEV;
        if (abi >= 6)
                a.scoped = SCOPE_ALL;
        size_t size = abi >= 6 ? sizeof a : abi >= 4 ? 16 : 8;
        _cleanup_close_ int rules = (int)syscall(SYS_landlock_create_ruleset, &a, size, 0);
        if (rules < 0)
                return err_sys(err, "create a Landlock ruleset");
        for (size_t i = 0; n->may_read_files && i < n->files_n; i++)
                if (landlock_allow(rules, n->files[i], a.fs, err) < 0)
                        return -1;
        if (syscall(SYS_landlock_restrict_self, rules, 0) < 0)
                return err_sys(err, "enter the Landlock domain");
        _cleanup_close_ int in = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (in >= 0)
                return err_set(err, E_MACHINE, "Landlock took its rules and does not hold them");
        return 0;
}

static int drop_capabilities(struct err *err)
{
        for (int cap = 0; cap <= 63; cap++)
                if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
                        break; /* past the last one, or without the right to, which is as good */
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct none[2] = {0}, now[2];
        if (syscall(SYS_capset, &head, none) < 0)
                return err_sys(err, "drop all capabilities");
        if (syscall(SYS_capget, &head, now) < 0)
                return err_sys(err, "read the capabilities back");
        if (memcmp(now, none, sizeof now) != 0)
                return err_set(err, E_MACHINE, "capabilities are left after dropping them");
        return 0;
}

int role_confine(const struct role_needs *n, struct err *err)
{
        if (confine_memory(n->memory ? n->memory : CONFINE_MEMORY, err) < 0)
                return -1;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
                return err_sys(err, "set no_new_privs");
        if (!n->may_dial && leave_network(n, err) < 0)
                return -1;
        if (confine_landlock(n, err) < 0 || drop_capabilities(err) < 0)
                return -1;
        /* After the last change of credentials, because such a change undoes both. */
        if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != 0 ||
            prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
                return err_sys(err, "become undumpable and tied to the supervisor");
        return role_filter_install(n, err);
}
