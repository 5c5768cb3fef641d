/* doctor_ns.c - namespaces and what is mounted in them, tried the way a box needs it: a sysctl that
 * says yes has been wrong too often (Ubuntu hands out user namespaces that have no rights). */
#include "cli/doctor.h"

#include "base/err.h"
#include "box/box.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static int failed(char *report, size_t len, const char *what)
{
        int e = errno;
        snprintf(report, len, "%s: %s", what, strerror(e));
        return e ? e : EIO;
}

static int put(const char *path, const char *text)
{
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd < 0)
                return -1;
        ssize_t n = write(fd, text, strlen(text));
        int e = errno;
        close(fd);
        errno = e;
        return n < 0 ? -1 : 0;
}

/* enter(flags): a user namespace with our own id in it, and the other namespaces of ${flags}. */
static int enter(int flags, char *report, size_t len)
{
        unsigned uid = geteuid(), gid = getegid();
        char map[64];
        if (unshare(CLONE_NEWUSER) < 0)
                return failed(report, len, "make a user namespace");
        if (put("/proc/self/setgroups", "deny") < 0 && errno != ENOENT)
                return failed(report, len, "give up groups in it");
        snprintf(map, sizeof map, "%u %u 1", uid, uid);
        if (put("/proc/self/uid_map", map) < 0)
                return failed(report, len, "map our user id into it");
        snprintf(map, sizeof map, "%u %u 1", gid, gid);
        if (put("/proc/self/gid_map", map) < 0)
                return failed(report, len, "map our group id into it");
        if (flags && unshare(flags) < 0)
                return failed(report, len, "make the other namespaces in it");
        return 0;
}

/* tmp_root(): a private tmpfs over /tmp, so that nothing is made on the host. */
static int tmp_root(char *report, size_t len)
{
        int e = enter(CLONE_NEWNS, report, len);
        if (e)
                return e;
        if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
                return failed(report, len, "make mounts private");
        if (mount("tmpfs", "/tmp", "tmpfs", MS_NOSUID | MS_NODEV, NULL) < 0)
                return failed(report, len, "mount a tmpfs");
        return 0;
}

static int try_userns(char *report, size_t len)
{
        return tmp_root(report, len);
}

static void userns_fix(struct doctor_answer *a, int e)
{
        char exe[4096];
        ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
        exe[n > 0 ? n : 0] = 0;
        const char *where = doctor_container();
        if (doctor_number("/proc/sys/kernel/unprivileged_userns_clone") == 0)
                doctor_fix(
                        a,
                        "sudo sysctl -w kernel.unprivileged_userns_clone=1 (to keep it: the same "
                        "line without \"sudo sysctl -w\" in /etc/sysctl.d/50-userns.conf)");
        else if (doctor_number("/proc/sys/user/max_user_namespaces") == 0 || e == ENOSPC)
                doctor_fix(
                        a,
                        "sudo sysctl -w user.max_user_namespaces=15000 (to keep it: the same line "
                        "without \"sudo sysctl -w\" in /etc/sysctl.d/50-userns.conf)");
        else if (doctor_number("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") > 0)
                doctor_fix(
                        a,
                        "this system lets only named programs use user namespaces (AppArmor). "
                        "Install the .deb, which brings a profile (make deb; sudo apt install "
                        "./out/*.deb), or put the following into /etc/apparmor.d/ostiary and run: "
                        "sudo apparmor_parser -r /etc/apparmor.d/ostiary\n"
                        "    abi <abi/4.0>,\n"
                        "    include <tunables/global>\n"
                        "    profile ostiary %.400s flags=(unconfined) {\n"
                        "      userns,\n"
                        "    }\n"
                        "or, for every program: sudo sysctl -w "
                        "kernel.apparmor_restrict_unprivileged_userns=0",
                        exe);
        else if (where)
                doctor_fix(a,
                           "we are inside a container (%s) whose filter forbids it. docker and "
                           "podman: "
                           "run it with --security-opt seccomp=unconfined --security-opt "
                           "apparmor=unconfined --security-opt systempaths=unconfined (podman: "
                           "unmask=ALL)",
                           where);
        else if (e == EINVAL)
                doctor_fix(a, "use a kernel built with CONFIG_USER_NS=y");
        else
                doctor_fix(a,
                           "something forbids it: a chroot, a seccomp filter or a security module "
                           "around us; try from a plain login shell");
}

void doctor_userns(struct doctor_answer *a)
{
        char report[512];
        int e = doctor_try(try_userns, report, sizeof report);
        if (e == 0) {
                doctor_say(a, OUT_GOOD, "can be made, mapped and mounted in");
                return;
        }
        doctor_say(a, OUT_BAD, "cannot be used: %s", report[0] ? report : "the attempt crashed");
        userns_fix(a, e);
}

static int try_all(char *report, size_t len)
{
        static const struct {
                int flag;
                const char *name;
        } kinds[] = {{CLONE_NEWNET, "make a network namespace"},
                     {CLONE_NEWIPC, "make an ipc namespace"},
                     {CLONE_NEWUTS, "make a uts namespace"},
                     {CLONE_NEWPID, "make a pid namespace"},
                     {CLONE_NEWCGROUP, "make a cgroup namespace"}};
        int e = enter(CLONE_NEWNS, report, len);
        for (size_t i = 0; e == 0 && i < sizeof kinds / sizeof *kinds; i++)
                if (unshare(kinds[i].flag) < 0)
                        e = failed(report, len, kinds[i].name);
        return e;
}

void doctor_namespaces(struct doctor_answer *a)
{
        char report[512];
        int e = doctor_try(try_all, report, sizeof report);
        if (e == 0) {
                doctor_say(a, OUT_GOOD, "pid, mount, net, ipc, uts and cgroup can be made");
                return;
        }
        doctor_say(a, OUT_BAD, "%s", report[0] ? report : "the attempt crashed");
        if (e == ENOSPC)
                doctor_fix(a, "raise the numbers in /proc/sys/user/max_*_namespaces");
        else
                doctor_fix(
                        a,
                        "see user namespaces above; if those are good, the kernel lacks this kind");
}

void doctor_network(struct doctor_answer *a)
{
        struct err err = {0};
        if (box_net_try(&err) == 0) {
                doctor_say(a, OUT_GOOD, "a box gets a network that leads to the door alone");
                return;
        }
        doctor_say(a, OUT_BAD, "%s", err.text);
        if (err.sys == EOPNOTSUPP || err.sys == ENODEV)
                doctor_fix(a, "sudo modprobe veth (to keep it: echo veth | sudo tee "
                              "/etc/modules-load.d/veth.conf)");
        else if (err.sys == EROFS)
                doctor_fix(a, "/proc/sys is read-only here, as containers do. docker: "
                              "--security-opt systempaths=unconfined; podman: --security-opt "
                              "unmask=ALL");
}

static int try_overlay(char *report, size_t len)
{
        int e = tmp_root(report, len);
        if (e)
                return e;
        static const char *const dirs[] = {"/tmp/low", "/tmp/low2", "/tmp/up", "/tmp/work",
                                           "/tmp/on"};
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
                if (mkdir(dirs[i], 0700) < 0)
                        return failed(report, len, "make a directory in a tmpfs");
        if (mount("overlay", "/tmp/on", "overlay", MS_NOSUID | MS_NODEV,
                  "lowerdir=/tmp/low,upperdir=/tmp/up,workdir=/tmp/work,userxattr") < 0)
                return failed(report, len, "mount a copy-on-write overlay");
        if (mkdir("/tmp/on/x", 0700) < 0)
                return failed(report, len, "write to the overlay");
        if (mount("overlay", "/tmp/on", "overlay", MS_RDONLY | MS_NOSUID | MS_NODEV,
                  "lowerdir=/tmp/low:/tmp/low2,userxattr") < 0)
                return failed(report, len, "mount a read-only overlay");
        return 0;
}

void doctor_overlay(struct doctor_answer *a)
{
        char report[512];
        int e = doctor_try(try_overlay, report, sizeof report);
        if (e == 0) {
                doctor_say(a, OUT_GOOD, "copy-on-write and read-only overlays work without root");
                return;
        }
        doctor_say(a, OUT_BAD, "%s", report[0] ? report : "the attempt crashed");
        if (e == ENODEV)
                doctor_fix(a, "sudo modprobe overlay (to keep it: echo overlay | sudo tee "
                              "/etc/modules-load.d/overlay.conf)");
        else
                doctor_fix(a, "overlays in a user namespace need Linux 5.11 or newer, and user "
                              "namespaces "
                              "that work (see above)");
}

static int try_proc(char *report, size_t len)
{
        int e = enter(CLONE_NEWNS | CLONE_NEWPID, report, len), status;
        if (e)
                return e;
        pid_t pid = fork();
        if (pid == 0) {
                mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
                _exit(mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) ? errno
                                                                                             : 0);
        }
        if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
                return failed(report, len, "start a process in a pid namespace");
        errno = WEXITSTATUS(status);
        return errno ? failed(report, len, "mount a fresh /proc") : 0;
}

void doctor_proc(struct doctor_answer *a)
{
        char report[512];
        int e = doctor_try(try_proc, report, sizeof report);
        if (e == 0) {
                doctor_say(a, OUT_GOOD, "a box gets a /proc of its own");
                return;
        }
        doctor_say(a, OUT_BAD, "%s", report[0] ? report : "the attempt crashed");
        if (e == EPERM)
                doctor_fix(a,
                           "the /proc here is partly covered, as containers do (the kernel then "
                           "refuses "
                           "a fresh one). docker: --security-opt systempaths=unconfined; podman: "
                           "--security-opt unmask=ALL; kubernetes: procMount: Unmasked");
}
