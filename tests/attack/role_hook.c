/* role_hook.c - attacker code run *as* one of our own roles; compiled into the weak build only.
 *
 * pid 1 calls role_attack() where it would begin to serve. With OSTIARY_ROLE_ATTACK=pid1 it then
 * shows what somebody who took pid 1 over would hold: environment, memory, descriptors,
 * capabilities, paths of the host. Prints `role NAME KEY VALUE` lines and ends the process. The
 * canary stands here only in a masked form, so that finding it means that the user's environment
 * was still in memory. */
#include "box/role_attack.h"

#include "base/buf.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

extern char **environ;

#define MASK 0x5a

/* "OSTIARY-ROLE-CANARY-91c2e57f" with every byte masked; roles.sh puts the plain form into the
 * environment of the CLI. */
static const unsigned char masked[] = {
        'O' ^ MASK, 'S' ^ MASK, 'T' ^ MASK, 'I' ^ MASK, 'A' ^ MASK, 'R' ^ MASK, 'Y' ^ MASK,
        '-' ^ MASK, 'R' ^ MASK, 'O' ^ MASK, 'L' ^ MASK, 'E' ^ MASK, '-' ^ MASK, 'C' ^ MASK,
        'A' ^ MASK, 'N' ^ MASK, 'A' ^ MASK, 'R' ^ MASK, 'Y' ^ MASK, '-' ^ MASK, '9' ^ MASK,
        '1' ^ MASK, 'c' ^ MASK, '2' ^ MASK, 'e' ^ MASK, '5' ^ MASK, '7' ^ MASK, 'f' ^ MASK,
};

static enum { WANT_NONE, WANT_INIT, WANT_SUPERVISOR } wanted;

/* Where the supervisor's lines go; pid 1 could not open it. */
static char out_path[512];

/* Read before main, because the roles wipe their environment early. */
__attribute__((constructor)) static void role_wanted(void)
{
        const char *v = getenv("OSTIARY_ROLE_ATTACK");

        if (v && strcmp(v, "pid1") == 0)
                wanted = WANT_INIT;
        else if (v && strcmp(v, "supervisor") == 0)
                wanted = WANT_SUPERVISOR;
        v = getenv("OSTIARY_ROLE_OUT");
        if (v && wanted == WANT_SUPERVISOR)
                snprintf(out_path, sizeof out_path, "%s", v);
}

static int out_fd = 2;
static const char *role_name;

static void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static void say(const char *fmt, ...)
{
        char line[512];
        va_list ap;
        int n = snprintf(line, sizeof line, "role %s ", role_name);
        va_start(ap, fmt);
        n += vsnprintf(line + n, sizeof line - (size_t)n - 2, fmt, ap);
        va_end(ap);
        if (n > (int)sizeof line - 2)
                n = (int)sizeof line - 2;
        line[n++] = '\n';
        if (write(out_fd, line, (size_t)n) < 0)
                _exit(9);
}

/* find_fd(is_wanted): the first descriptor above the standard ones that is meant. */
static int find_fd(bool (*is_wanted)(int fd))
{
        for (int fd = 3; fd < 1024; fd++)
                if (fcntl(fd, F_GETFD) >= 0 && is_wanted(fd))
                        return fd;
        return -1;
}

static bool is_output(int fd)
{
        struct stat st;
        int flags = fcntl(fd, F_GETFL);
        return (flags & O_ACCMODE) != O_RDONLY && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode);
}

static bool is_control(int fd)
{
        int type = 0;
        socklen_t len = sizeof type;
        return getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) == 0 && type == SOCK_SEQPACKET;
}

/* tell(ctl_fd, type): what a pid 1 that behaves would say about its first command, so that the
 * supervisor passes on what we print as that command's output. */
static void tell(int ctl_fd, enum msg_type type)
{
        _cleanup_buf_ struct buf b = {0};

        if (type != MSG_BUILT) {
                buf_put_u32(&b, 1);
                buf_put_u32(&b, type == MSG_SPAWNED ? 2 : 0);
        }
        if (type == MSG_EXITED) {
                buf_put_u64(&b, 0);
                buf_put_u64(&b, 0);
        }
        frame_send(ctl_fd, type, &b, NULL, 0);
}

struct found {
        int canaries;
        int state_paths; /* strings that look like a path into our own state */
        int state_opened;
        char where[64];
};

/* try_path(at, end, f): a string in memory that names our state: can this role still open it? */
static void try_path(const unsigned char *at, const unsigned char *end, struct found *f)
{
        char path[512];
        size_t n = 0;

        while (at + n < end && n < sizeof path - 1 && at[n] > 32 && at[n] < 127)
                n++;
        memcpy(path, at, n);
        path[n] = 0;
        if (!strstr(path, "/ostiary/boxes/"))
                return;
        f->state_paths++;
        int fd = open(path, O_PATH | O_CLOEXEC);
        if (fd >= 0) {
                f->state_opened++;
                close(fd);
        }
}

static void scan(const unsigned char *at, const unsigned char *end, const char *name,
                 struct found *f)
{
        for (const unsigned char *p = at; p + sizeof masked <= end; p++) {
                if (*p == '/' && (p == at || p[-1] == 0) && p[1] != 0)
                        try_path(p, end, f);
                if ((*p ^ MASK) != masked[0])
                        continue;
                size_t i = 1;
                while (i < sizeof masked && (p[i] ^ MASK) == masked[i])
                        i++;
                if (i < sizeof masked)
                        continue;
                f->canaries++;
                snprintf(f->where, sizeof f->where, "%s", *name ? name : "memory");
        }
}

/* scan_memory(f): every writable page of this process, and the stack, where a process's environment
 * lies. */
static int scan_memory(struct found *f)
{
        static char table[65536];
        int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        size_t have = 0;

        if (fd < 0)
                return -1;
        for (ssize_t n;
             have < sizeof table - 1 && (n = read(fd, table + have, sizeof table - 1 - have)) > 0;)
                have += (size_t)n;
        close(fd);
        table[have] = 0;
        for (char *line = table, *next; line && *line; line = next) {
                unsigned long from, to;
                char perms[8], name[256] = "";
                next = strchr(line, '\n');
                if (next)
                        *next++ = 0;
                if (sscanf(line, "%lx-%lx %7s %*s %*s %*s %255[^\n]", &from, &to, perms, name) < 3)
                        continue;
                if (perms[0] != 'r' || perms[1] != 'w')
                        continue;
                scan((const unsigned char *)from, (const unsigned char *)to, name, f);
        }
        return 0;
}

static void show_descriptors(void)
{
        for (int fd = 0; fd < 1024; fd++) {
                char link[64], target[256];
                struct stat st;
                if (fcntl(fd, F_GETFD) < 0)
                        continue;
                snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
                ssize_t n = readlink(link, target, sizeof target - 1);
                if (n < 0)
                        n = 0;
                target[n] = 0;
                fstat(fd, &st);
                say("fd %d %s %s", fd,
                    S_ISSOCK(st.st_mode)          ? "socket"
                    : S_ISFIFO(st.st_mode)        ? "pipe"
                    : st.st_rdev == makedev(1, 3) ? "null"
                    : S_ISCHR(st.st_mode)         ? "device"
                    : S_ISDIR(st.st_mode)         ? "directory"
                    : S_ISREG(st.st_mode)         ? "file"
                                                  : "other",
                    n ? target : "?");
        }
}

static void show_rights(void)
{
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct caps[2] = {{0}};

        syscall(SYS_capget, &head, caps);
        say("caps %08x%08x", caps[1].permitted | caps[1].effective,
            caps[0].permitted | caps[0].effective);
        say("no_new_privs %d", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
        say("dumpable %d", prctl(PR_GET_DUMPABLE, 0, 0, 0, 0));
        say("userns %s", unshare(CLONE_NEWUSER) == 0 ? "made" : strerrorname_np(errno));
        say("uid %d parent %d", (int)getuid(), (int)getppid());
}

/* show_all(): everything a taker-over would look for. */
static void show_all(void)
{
        struct found f = {0};
        int n = 0;

        while (environ && environ[n])
                n++;
        say("environ %d", n);
        if (scan_memory(&f) < 0)
                say("memory unread %s", strerrorname_np(errno));
        else
                say("canary %d %s", f.canaries, f.where);
        say("state-paths %d opened %d", f.state_paths, f.state_opened);
        show_descriptors();
        show_rights();
        say("end");
}

void role_attack(enum role r)
{
        if (r == ROLE_SUPERVISOR && wanted == WANT_SUPERVISOR) {
                role_name = "supervisor";
                out_fd = open(out_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
                show_all();
                _exit(0);
        }
        if (r != ROLE_INIT || wanted != WANT_INIT)
                return;
        role_name = "pid1";
        int ctl_fd = find_fd(is_control);
        out_fd = find_fd(is_output);
        tell(ctl_fd, MSG_BUILT);
        tell(ctl_fd, MSG_SPAWNED);
        show_all();
        for (int fd; (fd = find_fd(is_output)) >= 0;)
                close(fd);
        tell(ctl_fd, MSG_EXITED);
        sleep(5); /* the supervisor ends us when it has read that */
        _exit(0);
}
