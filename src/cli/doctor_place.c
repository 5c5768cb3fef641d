/* doctor_place.c - where boxes live: control groups, the state directory, id-mapped mounts for
 * root. */
#include "cli/doctor.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "box/cgroup.h"
#include "box/plan.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>

void doctor_cgroup(struct doctor_answer *a)
{
        char sentence[640];
        int kind = box_cgroup_probe(sentence, sizeof sentence);
        doctor_say(a, kind == BOX_CGROUP_NONE ? OUT_WARN : OUT_GOOD, "%s", sentence);
}

void doctor_state(struct doctor_answer *a)
{
        struct err err = {0};
        struct store s;
        if (store_open(&s, &err) < 0) {
                doctor_say(a, OUT_BAD, "%.480s", err.text);
                return;
        }
        struct statvfs v;
        char words[16];
        uint64_t left = statvfs(s.state, &v) == 0 ? (uint64_t)v.f_bavail * v.f_frsize : 0;
        doctor_say(a, left < (1u << 30) ? OUT_WARN : OUT_GOOD, "%.300s, %s free", s.state,
                   str_size_words(left, words));
        if (a->mark == OUT_WARN)
                doctor_fix(a, "free some space, or set XDG_STATE_HOME to a larger disk");
        store_free(&s);
}

/* hold_userns(): a child that sits in a fresh user namespace whose root is the high id. */
static pid_t hold_userns(int *fd)
{
        int ready[2];
        char c, path[64], map[64];
        snprintf(map, sizeof map, "1000 %u 1", BOX_HIGH_ID);
        if (pipe2(ready, O_CLOEXEC) < 0)
                return -1;
        pid_t pid = fork();
        if (pid == 0) {
                c = unshare(CLONE_NEWUSER) == 0;
                if (write(ready[1], &c, 1) == 1)
                        pause();
                _exit(0);
        }
        close(ready[1]);
        bool is_good = pid > 0 && read(ready[0], &c, 1) == 1 && c;
        close(ready[0]);
        static const char *const kinds[] = {"uid_map", "gid_map"};
        for (int i = 0; i < 2 && is_good; i++) {
                snprintf(path, sizeof path, "/proc/%d/%s", (int)pid, kinds[i]);
                is_good = fdio_put(AT_FDCWD, path, map) == 0;
        }
        snprintf(path, sizeof path, "/proc/%d/ns/user", (int)pid);
        *fd = is_good ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        return pid;
}

static struct store place; /* for the child that tries */

static int try_idmap(char *report, size_t len)
{
        int ns = -1;
        int tree = (int)syscall(SYS_open_tree, AT_FDCWD, place.state,
                                OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC);
        pid_t pid = tree >= 0 ? hold_userns(&ns) : -1;
        struct mount_attr attr = {.attr_set = MOUNT_ATTR_IDMAP, .userns_fd = (uint64_t)ns};
        long r = ns >= 0 ? syscall(SYS_mount_setattr, tree, "", AT_EMPTY_PATH, &attr, sizeof attr)
                         : -1;
        int e = r < 0 ? errno : 0;
        if (pid > 0) {
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
        }
        if (e)
                snprintf(report, len, "%s: %s", place.state, strerror(e));
        return e;
}

void doctor_idmap(struct doctor_answer *a)
{
        char report[512];
        if (geteuid() != 0) {
                doctor_say(a, OUT_INFO, "only needed when root starts boxes");
                return;
        }
        if (store_open(&place, NULL) < 0) {
                doctor_say(a, OUT_INFO, "cannot be tried; see the state directory");
                return;
        }
        int e = doctor_try(try_idmap, report, sizeof report);
        store_free(&place);
        if (e == 0) {
                doctor_say(a, OUT_GOOD, "work for the state directory's filesystem");
                return;
        }
        doctor_say(a, OUT_BAD, "do not work here: %.400s", report);
        doctor_fix(a, "start boxes as an ordinary user, or keep workspace and state on ext4, xfs, "
                      "btrfs or "
                      "tmpfs with Linux 5.12 or newer (tmpfs: 6.3)");
}
