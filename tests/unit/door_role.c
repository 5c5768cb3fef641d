/* door_role.c - attacker code run inside the confinement of egress, keeper, dial and the reader of
 * dial's files: what each could still do if it were taken over. Every attempt has a control that
 * shows that it works outside. */
#include "unit/check.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "role/role.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* An attempt returns 0 when it got what it wanted. */
typedef int attempt(void);

static int listen_fd = -1, spare_fd = -1;
static struct sockaddr_in listen_at;

static int open_passwd(void)
{
        return open("/etc/passwd", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : -1;
}
static int open_hosts(void)
{
        return open("/etc/hosts", O_RDONLY | O_CLOEXEC) >= 0 ? 0 : -1;
}
static int list_root(void)
{
        return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ? 0 : -1;
}
static int see_usr(void)
{
        struct stat st;
        return stat("/usr", &st);
}
static int write_tmp(void)
{
        int fd = open("/tmp", O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
        return fd >= 0 ? 0 : -1;
}
static int run_true(void)
{
        char *const argv[] = {"true", NULL}, *const env[] = {NULL};
        execve("/bin/true", argv, env);
        return -1;
}
static int run_memory(void)
{
        char *const argv[] = {"true", NULL}, *const env[] = {NULL};
        int from = open("/bin/true", O_RDONLY | O_CLOEXEC);
        int fd = memfd_create("x", MFD_CLOEXEC);
        char part[4096];
        for (ssize_t n; from >= 0 && (n = read(from, part, sizeof part)) > 0;)
                if (write(fd, part, (size_t)n) != n)
                        return -1;
        syscall(SYS_execveat, fd, "", argv, env, AT_EMPTY_PATH);
        return -1;
}
static int fork_one(void)
{
        pid_t pid = fork();
        if (pid == 0)
                _exit(0);
        return pid > 0 && waitpid(pid, NULL, 0) == pid ? 0 : -1;
}
static int socket_inet(void)
{
        return socket(AF_INET, SOCK_STREAM, 0) >= 0 ? 0 : -1;
}
static int socket_udp(void)
{
        return socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0) >= 0 ? 0 : -1;
}
static int socket_unix(void)
{
        return socket(AF_UNIX, SOCK_STREAM, 0) >= 0 ? 0 : -1;
}
static int socket_packet(void)
{
        int fd = socket(AF_PACKET, SOCK_DGRAM, 0);
        return fd >= 0 || errno == EPERM ? 0 : -1; /* without the right to, but the call is made */
}
static int socket_route(void)
{
        return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE) >= 0 ? 0 : -1;
}
static int socket_audit(void)
{
        return socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC) >= 0 ? 0 : -1;
}
static int connect_spare(void)
{
        return connect(spare_fd, (struct sockaddr *)&listen_at, sizeof listen_at);
}
static int bind_spare(void)
{
        struct sockaddr_in any = {.sin_family = AF_INET};
        return bind(spare_fd, (struct sockaddr *)&any, sizeof any) < 0 ? -1 : listen(spare_fd, 1);
}
static int send_fast_open(void)
{
        return sendto(spare_fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL, (struct sockaddr *)&listen_at,
                      sizeof listen_at) == 1
                       ? 0
                       : -1;
}
static int map_code(void)
{
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS,
                       -1, 0);
        return p != MAP_FAILED ? 0 : -1;
}
static int turn_to_code(void)
{
        void *p = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        return mprotect(p, 4096, PROT_READ | PROT_EXEC);
}
static int kill_parent(void)
{
        return kill(getppid(), 0);
}
static int trace_parent(void)
{
        errno = 0;
        ptrace(PTRACE_SEIZE, getppid(), NULL, NULL);
        return errno == 0 || errno == EPERM ? 0 : -1;
}
static int make_namespace(void)
{
        return unshare(CLONE_NEWUSER);
}
static int become_dumpable(void)
{
        return prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}
static int push_terminal(void)
{
        int fd = open("/dev/null", O_RDWR);
        errno = 0;
        ioctl(fd >= 0 ? fd : 0, TIOCSTI, "x");
        return errno == ENOTTY || errno == EIO || errno == EPERM || errno == 0 ? 0 : -1;
}
static int open_uring(void)
{
        errno = 0;
        syscall(SYS_io_uring_setup, 1, NULL);
        return errno == EFAULT || errno == EPERM ? 0 : -1;
}
static int load_bpf(void)
{
        errno = 0;
        syscall(SYS_bpf, 9999, NULL, 0);
        return errno == EINVAL || errno == EPERM ? 0 : -1;
}
static int receive_and_pass(void)
{
        int pair[2] = {listen_fd, -1};
        char b[4];
        return recv(pair[0], b, sizeof b, MSG_DONTWAIT) < 0 && errno == ENOTCONN ? 0 : -1;
}
static int use_memory(void)
{
        for (size_t n = 1; n < 64 << 20; n *= 4) {
                char *p = malloc(n);
                if (!p)
                        return -1;
                memset(p, 1, n);
                free(p);
        }
        return 0;
}

enum { DIAL = 1, READER = 2, EGRESS = 4, KEEPER = 8, ALL = 15 };

static const char *const etc_hosts[] = {"/etc/hosts", "/dev/urandom", "/does/not/exist"};
static const char *const urandom[] = {"/dev/urandom"};

static const struct {
        int bit;
        const char *name;
        struct role_needs needs;
} roles[] = {
        {DIAL, "dial", {.may_dial = true, .may_read_files = true, .files = urandom, .files_n = 1}},
        {READER, "reader", {.may_read_files = true, .files = etc_hosts, .files_n = 3}},
        {EGRESS, "egress", {.may_listen = true}},
        {KEEPER, "keeper", {0}},
};

/* `may` are the roles that need it: there it must work. */
static const struct {
        const char *name;
        attempt *try;
        int may;
        bool is_bold; /* has no harmless success outside */
} attempts[] = {
        {"open a file", open_passwd, 0, false},
        {"open a file that is named", open_hosts, READER, false},
        {"list the root", list_root, 0, false},
        {"see what the host has", see_usr, DIAL | READER, false},
        {"write a file", write_tmp, 0, false},
        {"execute a program", run_true, 0, false},
        {"execute from memory", run_memory, 0, false},
        {"fork", fork_one, 0, false},
        {"make a TCP socket", socket_inet, DIAL, false},
        {"make a UDP socket", socket_udp, DIAL, false},
        {"make a Unix socket", socket_unix, 0, false},
        {"make a packet socket", socket_packet, 0, false},
        {"list addresses by netlink", socket_route, DIAL, false},
        {"talk to other netlink", socket_audit, 0, false},
        {"connect a socket it was given", connect_spare, DIAL, false},
        {"connect by a fast open", send_fast_open, 0, false},
        {"listen on a socket it was given", bind_spare, EGRESS, false},
        {"map memory as code", map_code, 0, false},
        {"turn memory into code", turn_to_code, 0, false},
        {"signal another process", kill_parent, 0, false},
        {"trace another process", trace_parent, 0, false},
        {"make a namespace", make_namespace, 0, false},
        {"become readable by others", become_dumpable, 0, false},
        {"type into a terminal", push_terminal, 0, false},
        {"use io_uring", open_uring, 0, true},
        {"load a program into the kernel", load_bpf, 0, true},
        {"read from a socket", receive_and_pass, ALL, false},
        {"use memory", use_memory, ALL, false},
};

/* run(needs, try, why): in a child, confined unless ${needs} is NULL. 0: it worked; 1: refused or
 * killed; 2: the confinement itself failed. */
static int run(const struct role_needs *needs, attempt *try, char *why, size_t why_len)
{
        int out[2];
        if (pipe2(out, O_CLOEXEC) < 0)
                return 2;
        pid_t pid = fork();
        if (pid == 0) {
                struct err err = {0};
                alarm(10);
                if (needs && role_confine(needs, &err) < 0) {
                        dprintf(out[1], "%s", err.text);
                        _exit(2);
                }
                _exit(try() == 0 ? 0 : 1);
        }
        close(out[1]);
        ssize_t n = read(out[0], why, why_len - 1);
        why[n > 0 ? n : 0] = 0;
        close(out[0]);
        int status = 0;
        waitpid(pid, &status, 0);
        if (WIFSIGNALED(status))
                return WTERMSIG(status) == SIGSYS ? 1 : 2;
        return WEXITSTATUS(status);
}

int main(void)
{
        socklen_t len = sizeof listen_at;
        listen_at = (struct sockaddr_in){.sin_family = AF_INET,
                                         .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        spare_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (bind(listen_fd, (struct sockaddr *)&listen_at, len) < 0 || listen(listen_fd, 16) < 0 ||
            getsockname(listen_fd, (struct sockaddr *)&listen_at, &len) < 0)
                return 1;

        for (size_t i = 0; i < sizeof attempts / sizeof *attempts; i++) {
                char why[1024];
                close(spare_fd);
                spare_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                _cleanup_free_ char *control = str_fmt("outside: %s", attempts[i].name);
                int got = run(NULL, attempts[i].try, why, sizeof why);
                if (!attempts[i].is_bold)
                        check(got == 0, control, "the control fails (%d)", got);
                /* A fresh one, since a connected socket cannot be connected again. */
                for (size_t k = 0; k < sizeof roles / sizeof *roles; k++) {
                        close(spare_fd);
                        spare_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
                        bool may = attempts[i].may & roles[k].bit;
                        _cleanup_free_ char *name =
                                str_fmt("%s %s %s", roles[k].name, may ? "can" : "cannot",
                                        attempts[i].name);
                        got = run(&roles[k].needs, attempts[i].try, why, sizeof why);
                        check(got == (may ? 0 : 1), name, "got %d %s", got, why);
                }
        }
        return check_end();
}
