/* file.c - cases 8, 29 and the files of the system: what can be read, written or gained by a path.
 *
 * The harness leaks descriptors 7 (a secret file) and 8 (its directory) into the launcher, puts a
 * file everybody may write below a read-only tree, and one that only the kernel's uid 0 may read.
 */
#include "attack.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A set-user-id program that the user may run: the kernel shows the changed id in the new process.
 * `su` would ask for a password; its euid is enough. */
static int setuid_gives(const char *path)
{
        char status[64];
        int before = (int)geteuid(), gained = 0;
        pid_t pid = fork();

        if (pid == 0) {
                int null = open("/dev/null", O_RDWR);
                dup2(null, 0);
                dup2(null, 1);
                dup2(null, 2);
                setsid();
                execl(path, path, NULL);
                _exit(127);
        }
        snprintf(status, sizeof status, "/proc/%d", (int)pid);
        for (int i = 0; pid > 0 && i < 50; i++) {
                struct stat st;
                if (stat(status, &st) < 0)
                        break;
                char buf[4096], *line;
                char file[96];
                snprintf(file, sizeof file, "%s/status", status);
                int real, effective;
                if (slurp(file, buf, sizeof buf) > 0 && (line = strstr(buf, "\nUid:")) &&
                    sscanf(line, "\nUid: %d %d", &real, &effective) == 2 && effective != before)
                        gained = 1;
                if (strstr(buf, "State:\tZ"))
                        break;
                usleep(2000);
        }
        if (pid > 0) {
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
        }
        return gained;
}

static void case_setuid(struct outcome *o)
{
        static const char *const usual[] = {"/usr/bin/su", "/usr/bin/passwd", "/usr/bin/mount",
                                            "/usr/bin/newgrp", "/usr/bin/sudo"};
        const char *own = planted("SETUID_FILE");
        struct stat st;
        int tried = 0;

        for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
                if (stat(usual[i], &st) == 0 && (st.st_mode & S_ISUID)) {
                        tried++;
                        if (setuid_gives(usual[i]))
                                out_escaped(o, "%s ran with another user id", usual[i]);
                }
        if (own && stat(own, &st) == 0 && (st.st_mode & S_ISUID)) {
                tried++;
                if (setuid_gives(own))
                        out_escaped(o, "a planted set-user-id program ran with another user id");
        }
        if (!tried)
                out_na(o, "no set-user-id program in reach");
        else
                out_blocked_why(o, "SAME-ID", "%d set-user-id programs gave nothing", tried);
}

/* In a live workspace the file is the host's, and belongs to whoever started the box. Every call
 * that takes a mode is tried. */
static void case_setuid_file(struct outcome *o)
{
        const char *name = "attack-setuid";
        struct open_how how = {.flags = O_CREAT | O_WRONLY, .mode = 04755};
        struct stat st;
        int err = EPERM;

        for (int way = 0; way < 8; way++) {
                unlink(name);
                int fd = way < 4 ? open(name, O_CREAT | O_WRONLY | O_CLOEXEC, 0755) : -1, r = -1;
                switch (way) {
                case 0:
                        r = (int)syscall(SYS_chmod, name, 04755);
                        break;
                case 1:
                        r = fchmod(fd, 04755);
                        break;
                case 2:
                        r = (int)syscall(SYS_fchmodat, AT_FDCWD, name, 04755);
                        break;
                case 3:
                        r = (int)syscall(452 /* fchmodat2 */, AT_FDCWD, name, 04755, 0);
                        break;
                case 4:
                        r = (int)syscall(SYS_open, name, O_CREAT | O_WRONLY, 04755);
                        break;
                case 5:
                        r = (int)syscall(SYS_openat, AT_FDCWD, name, O_CREAT | O_WRONLY, 04755);
                        break;
                case 6:
                        r = (int)syscall(SYS_openat2, AT_FDCWD, name, &how, sizeof how);
                        break;
                case 7:
                        r = mknod(name, S_IFREG | 04755, 0);
                        break;
                }
                if (r < 0)
                        err = errno;
                if (stat(name, &st) == 0 && (st.st_mode & S_ISUID))
                        out_escaped(o, "a set-user-id file was made (way %d)", way);
        }
        unlink(name);
        out_blocked(o, err, "no set-user-id file can be made");
}

/* fd_leads_out(fd, ...): what can be had from one inherited descriptor? */
static void fd_leads_out(struct outcome *o, int fd)
{
        char buf[512], target[256] = "";
        char link[64];
        struct stat st;

        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, target, sizeof target - 1);
        if (n > 0)
                target[n] = 0;
        if (fstat(fd, &st) < 0)
                return;
        if (S_ISREG(st.st_mode) && has_canary(buf, pread(fd, buf, sizeof buf, 0)))
                out_escaped(o, "inherited descriptor %d reads a file of the host", fd);
        if (S_ISDIR(st.st_mode)) {
                int in = openat(fd, "secret", O_RDONLY | O_CLOEXEC);
                if (in >= 0 && has_canary(buf, read(in, buf, sizeof buf)))
                        out_escaped(o, "inherited directory %d leads to the host", fd);
        }
        if (fd > 2)
                out_escaped(o, "descriptor %d was inherited (%s)", fd, target);
}

static void case_leaked_fd(struct outcome *o)
{
        DIR *d = opendir("/proc/self/fd");
        int own = d ? dirfd(d) : -1;
        int seen[256], n = 0;

        for (struct dirent *e; d && (e = readdir(d));) {
                int fd = atoi(e->d_name);
                if (e->d_name[0] != '.' && fd != own && n < 256)
                        seen[n++] = fd;
        }
        if (d)
                closedir(d);
        for (int i = 0; i < n; i++)
                if (seen[i] != verdict_fd)
                        fd_leads_out(o, seen[i]);
        if (!d)
                out_na(o, "there is no /proc/self/fd");
        else
                out_blocked_why(o, "CLOSED", "nothing but the three standard descriptors");
}

static void case_cwd(struct outcome *o)
{
        char cwd[4096] = "", buf[512];

        if (!getcwd(cwd, sizeof cwd)) {
                out_escaped(o, "the working directory has no name in here (%s)", errno_name(errno));
                return;
        }
        if (cwd[0] != '/')
                out_escaped(o, "the working directory is outside: %s", cwd);
        if (has_canary(buf, slurp("../secret-dir/secret", buf, sizeof buf)))
                out_escaped(o, "the directory above the working directory is the host's");
        out_blocked_why(o, "INSIDE", "the working directory is %s", cwd);
}

/* Files that a host has and a program needs not. The harness names one that exists. */
static void case_etc(struct outcome *o)
{
        static char buf[4096];
        const char *path = planted_or_na(o, "ETC_FILE");

        if (!path)
                return;
        if (slurp(path, buf, sizeof buf) > 0)
                out_escaped(o, "%s of the host was read", path);
        int err = errno;
        if (slurp("/etc/shadow", buf, sizeof buf) > 0)
                out_escaped(o, "/etc/shadow was read");
        out_blocked(o, err, "%s is not in the box", path);
}

static void case_tree_write(struct outcome *o)
{
        const char *path = planted_or_na(o, "TREE_FILE");

        if (!path)
                return;
        int fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
        int err = errno;
        if (fd >= 0 && write(fd, "attacked\n", 9) == 9)
                out_escaped(o, "a file of the host below a read-only tree was changed");
        if (fd >= 0)
                err = errno;
        if (mkdir("/usr/ostiary-attack", 0700) == 0) {
                rmdir("/usr/ostiary-attack");
                out_escaped(o, "a directory was made in /usr");
        }
        out_blocked(o, err, "the read-only trees stay as they are");
}

static void case_root_file(struct outcome *o)
{
        const char *path = planted_or_na(o, "ROOT_FILE");
        char buf[512];

        if (!path)
                return;
        if (has_canary(buf, slurp(path, buf, sizeof buf)))
                out_escaped(o, "a file that only root may read was read");
        out_blocked(o, errno, "a file that only root may read stays closed");
}

const struct attack_case file_cases[] = {
        {"8", "set-user-id and file-capability programs", EXEC, REAL, 0, case_setuid, "kernel",
         "kernel"},
        {"8w", "a set-user-id file made for the host", EXEC, REAL, 0, case_setuid_file, "seccomp",
         "seccomp"},
        {"29", "an inherited descriptor", READ, REAL, 0, case_leaked_fd, "fds", "fds"},
        {"29c", "the working directory outside", READ, REAL, 0, case_cwd, "cwd", "cwd"},
        {"F1", "the host's /etc", READ, REAL, 0, case_etc, "etc-filter", "etc-filter"},
        {"F2", "a file below a read-only tree changed", WRITE, REAL, 0, case_tree_write, "shape",
         "shape"},
        {"F3", "a file of root read without capabilities", READ, REAL, 0, case_root_file, "kernel",
         "highuid"},
        {0},
};
