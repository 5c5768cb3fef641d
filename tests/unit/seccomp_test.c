/* seccomp_test.c - real calls against the real filter, each in a child of its own.
 *
 * Where it is harmless the same call is made without the filter first: a refusal that the kernel
 * would have given anyway proves nothing, and is named as such. Calls that
 * could hurt are made with arguments the kernel rejects (a reboot with wrong magic, a pointer to
 * nothing), so that a filter with a hole changes nothing on the machine. */
#include "base/err.h"
#include "box/seccomp.h"
#include "box/weak.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/netlink.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#define BIT32   (1ull << 32)
#define X32     0x40000000
#define NOWHERE ((void *)8)
#define LEN(a)  (sizeof(a) / sizeof((a)[0]))

static int failed_n;
static char scratch[] = "/tmp/seccomp_test.XXXXXX";

static void ok(bool good, const char *name, const char *why)
{
        if (good)
                printf("ok %s\n", name);
        else
                printf("not ok %s: %s\n", name, why);
        failed_n += !good;
        fflush(stdout);
}

static void skip(const char *name, const char *why)
{
        printf("skip %s: %s\n", name, why);
        fflush(stdout);
}

static void wall_up(void)
{
        struct err err = {0};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || box_seccomp_install(&err) < 0) {
                fprintf(stderr, "install: %s\n", err.text);
                _exit(250);
        }
}

/* What became of a child that ran ${try}: its errno, 0, or 1000 + the signal that ended it. */
static int outcome(int (*try)(void *), void *with, bool walled)
{
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                alarm(60);
                setsid(); /* whatever a terminal call does, it does not do it to the caller's */
                if (walled)
                        wall_up();
                _exit(try(with));
        }
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) < 0)
                return -1;
        return WIFSIGNALED(status) ? 1000 + WTERMSIG(status) : WEXITSTATUS(status);
}

static int result(long r)
{
        return r < 0 ? errno : 0;
}

static void expect(const char *name, int (*try)(void *), void *with, int want)
{
        int got = outcome(try, with, true);
        char why[80];
        snprintf(why, sizeof why, "got %d, wanted %d", got, want);
        ok(got == want, name, why);
}

/* The same, and without the filter the call must have another outcome. */
static void expect_both(const char *name, int (*try)(void *), void *with, int want)
{
        if (outcome(try, with, false) == want)
                printf("# no control: the kernel gives this user the same answer to %s\n", name);
        expect(name, try, with, want);
}

/* ---- calls by number ---- */

struct call {
        const char *name;
        int want;
        long nr;
        unsigned long long arg[5];
        bool no_control; /* the call is too strong to be made without the filter */
};

static int try_call(void *with)
{
        const struct call *c = with;
        return result(syscall(c->nr, c->arg[0], c->arg[1], c->arg[2], c->arg[3], c->arg[4]));
}

#define P(p) ((unsigned long long)(uintptr_t)(p))

static struct call refused[] = {
        {"case 4: clone3", ENOSYS, SYS_clone3, {0}, false},
        {"an unknown call, 999", ENOSYS, 999, {0}, true},
        {"an unknown call, 0x3fffffff", ENOSYS, 0x3fffffff, {0}, true},
        {"the number a tracer writes to skip a call", ENOSYS, -1, {0}, true},
        {"case 7: unshare of a user namespace", EPERM, SYS_unshare, {CLONE_NEWUSER}, false},
        {"case 7: unshare with a high bit", EPERM, SYS_unshare, {BIT32 | CLONE_FS}, false},
        {"case 7: clone of a user namespace", EPERM, SYS_clone, {CLONE_NEWUSER | SIGCHLD}, true},
        {"case 7: setns", EPERM, SYS_setns, {-1ull}, false},
        {"case 5: open_tree", EPERM, SYS_open_tree, {-1ull, P("/"), 0}, false},
        {"case 5: fsopen", EPERM, SYS_fsopen, {P(NOWHERE)}, false},
        {"case 5: move_mount", EPERM, SYS_move_mount, {-1ull, P(""), -1ull, P(""), -1ull}, false},
        {"case 5: mount_setattr", EPERM, SYS_mount_setattr, {-1ull, P("/"), -1ull}, false},
        {"mount", EPERM, SYS_mount, {P(NOWHERE), P(NOWHERE), P(NOWHERE)}, false},
        {"umount2", EPERM, SYS_umount2, {P(NOWHERE), 0}, false},
        {"case 27: chroot", EPERM, SYS_chroot, {P("/")}, false},
        {"case 27: pivot_root", EPERM, SYS_pivot_root, {P(NOWHERE), P(NOWHERE)}, false},
        {"case 9: keyctl", EPERM, SYS_keyctl, {99999}, false},
        {"case 9: add_key", EPERM, SYS_add_key, {P(NOWHERE)}, false},
        {"case 9: request_key", EPERM, SYS_request_key, {P(NOWHERE)}, false},
        {"case 10: io_uring_setup", EPERM, SYS_io_uring_setup, {0, 0}, false},
        {"case 10: io_uring_enter", EPERM, SYS_io_uring_enter, {-1ull}, false},
        {"case 11: userfaultfd", EPERM, SYS_userfaultfd, {-1ull}, false},
        {"case 12: bpf", EPERM, SYS_bpf, {9999}, false},
        {"case 13: perf_event_open", EPERM, SYS_perf_event_open, {P(NOWHERE)}, false},
        {"case 14: pidfd_getfd", EPERM, SYS_pidfd_getfd, {-1ull, -1ull}, false},
        {"case 14: kcmp", EPERM, SYS_kcmp, {0, 0, 99}, false},
        {"case 15: init_module", EPERM, SYS_init_module, {P(NOWHERE), 0, P(NOWHERE)}, false},
        {"case 15: delete_module", EPERM, SYS_delete_module, {P(NOWHERE)}, false},
        {"case 15: kexec_load", EPERM, SYS_kexec_load, {0, 99999, P(NOWHERE), 0}, false},
        {"case 15: reboot", EPERM, SYS_reboot, {1, 2, 3}, false},
        {"case 15: swapon", EPERM, SYS_swapon, {P(NOWHERE)}, false},
        {"case 15: acct", EPERM, SYS_acct, {P("/nonexistent/file")}, false},
        {"case 15: quotactl", EPERM, SYS_quotactl, {-1ull, P(NOWHERE)}, false},
        {"case 16: open_by_handle_at", EPERM, SYS_open_by_handle_at, {-1ull, P(NOWHERE)}, false},
        {"case 18: personality without randomisation", EPERM, SYS_personality, {0x40000}, false},
        {"case 18: personality with a high bit", EPERM, SYS_personality, {BIT32 | 0x40000}, false},
        {"case 19: syslog", EPERM, SYS_syslog, {10}, false},
        {"case 39: settimeofday", EPERM, SYS_settimeofday, {P(NOWHERE)}, false},
        {"case 39: clock_settime", EPERM, SYS_clock_settime, {99, P(NOWHERE)}, false},
        {"case 39: adjtimex", EPERM, SYS_adjtimex, {P(NOWHERE)}, false},
        {"sethostname", EPERM, SYS_sethostname, {P(NOWHERE), -1ull}, false},
        {"unshare of CLONE_FILES", EPERM, SYS_unshare, {CLONE_FILES}, false},
        {"case R12: F_SETLEASE", EPERM, SYS_fcntl, {-1ull, F_SETLEASE}, false},
        {"case R12: F_SETLEASE with a high bit",
         EPERM,
         SYS_fcntl,
         {-1ull, BIT32 | F_SETLEASE},
         false},
        {"case R12: F_NOTIFY", EPERM, SYS_fcntl, {-1ull, F_NOTIFY}, false},
        {"case R13: a pipe of 64 KiB and one",
         EPERM,
         SYS_fcntl,
         {-1ull, F_SETPIPE_SZ, 65537},
         false},
        {"case R13: a pipe of 2 GiB", EPERM, SYS_fcntl, {-1ull, F_SETPIPE_SZ, 1u << 31}, false},
        {"case R14: a limit of pid 1", EPERM, SYS_prlimit64, {1, 7, P(NOWHERE), 0}, false},
        {"case R14: of pid 1 with a high bit",
         EPERM,
         SYS_prlimit64,
         {BIT32 | 1, 7, P(NOWHERE)},
         false},
        {"case R14: setpriority of pid 1", EPERM, SYS_setpriority, {0, 1, 0}, false},
        {"case R14: setpriority of the user", EPERM, SYS_setpriority, {2, 0, 0}, false},
        {"case R14: sched_setattr of pid 1", EPERM, SYS_sched_setattr, {1, 0, 0}, false},
        {"case R14: ioprio_set of the user", EPERM, SYS_ioprio_set, {3, 0, 0}, false},
        {"case R16: fallocate", EOPNOTSUPP, SYS_fallocate, {-1ull, 0, 0, 1}, false},
        {"case R16: fallocate, keeping the size",
         EOPNOTSUPP,
         SYS_fallocate,
         {-1ull, 1, 0, 1},
         false},
        {"case R16: fallocate of zeros", EOPNOTSUPP, SYS_fallocate, {-1ull, 16, 0, 1}, false},
        {"case R19: mmap of a huge page", ENOMEM, SYS_mmap, {0, 1 << 21, 3, 0x40022, -1ull}, false},
        {"case R19: a memfd of huge pages", EINVAL, SYS_memfd_create, {P("x"), 4}, false},
        {"case R19: a segment of huge pages", EPERM, SYS_shmget, {0, 1 << 21, 04600}, false},
        {"case R17: io_setup", ENOSYS, SYS_io_setup, {1, P(NOWHERE)}, false},
        {"fanotify_init", EPERM, SYS_fanotify_init, {-1ull}, false},
        {"prctl PR_SET_MM", EPERM, SYS_prctl, {35, 99}, true},
        {"ptrace suspending seccomp", EPERM, SYS_ptrace, {PTRACE_SETOPTIONS, 1, 0, 1 << 21}, false},
#ifdef __x86_64__
        {"case 15: iopl", EPERM, SYS_iopl, {99}, false},
        {"modify_ldt", EPERM, SYS_modify_ldt, {0}, false},
        {"case 6: an x32 call", 1000 + SIGSYS, X32 + SYS_getpid, {0}, false},
#endif
};

static struct call allowed[] = {
        {"personality, asked", 0, SYS_personality, {0xffffffff}, false},
        {"personality, the default", 0, SYS_personality, {0}, false},
        {"unshare of CLONE_FS", 0, SYS_unshare, {CLONE_FS}, false},
        {"a pipe of 64 KiB is reached", EBADF, SYS_fcntl, {-1ull, F_SETPIPE_SZ, 65536}, false},
        {"a hole is reached", EBADF, SYS_fallocate, {-1ull, 3, 0, 1}, false},
        {"the limits of pid 1, asked, are reached", 0, SYS_prlimit64, {0, 7, 0, 0}, false},
        {"membarrier", 0, SYS_membarrier, {0}, false},
        {"memfd_create", 0, SYS_memfd_create, {P("x"), 0}, false},
        {"setsid is reached",
         EPERM,
         SYS_setsid,
         {0},
         false}, /* a group leader already: kernel's own */
        {"ptrace PTRACE_TRACEME", 0, SYS_ptrace, {PTRACE_TRACEME}, false},
        {"prctl PR_SET_DUMPABLE 0", EPERM, SYS_prctl, {PR_SET_DUMPABLE, 0}, false},
        {"prctl PR_SET_DUMPABLE 1", 0, SYS_prctl, {PR_SET_DUMPABLE, 1}, false},
        {"name_to_handle_at is reached",
         EFAULT,
         SYS_name_to_handle_at,
         {-1ull, 0, P(NOWHERE)},
         false},
};

/* ---- sockets ---- */

static struct call sockets[] = {
        {"unix stream", 0, SYS_socket, {AF_UNIX, SOCK_STREAM}, false},
        {"unix with a high bit", 0, SYS_socket, {BIT32 | AF_UNIX, SOCK_STREAM}, false},
        {"IPv4 stream, flags", 0, SYS_socket, {AF_INET, SOCK_STREAM | SOCK_CLOEXEC}, false},
        {"IPv4 TCP", 0, SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_TCP}, false},
        {"IPv4 UDP", 0, SYS_socket, {AF_INET, SOCK_DGRAM | SOCK_NONBLOCK, IPPROTO_UDP}, false},
        {"netlink route", 0, SYS_socket, {AF_NETLINK, SOCK_RAW, NETLINK_ROUTE}, false},
        {"unix pair", EFAULT, SYS_socketpair, {AF_UNIX, SOCK_STREAM, 0, P(NOWHERE)}, false},
        {"case 17: IPv4 raw", EPERM, SYS_socket, {AF_INET, SOCK_RAW, IPPROTO_ICMP}, false},
        {"case 17: IPv4 raw with flags",
         EPERM,
         SYS_socket,
         {AF_INET, SOCK_RAW | SOCK_CLOEXEC},
         false},
        {"case 17: IPv6 raw", EPERM, SYS_socket, {AF_INET6, SOCK_RAW, IPPROTO_ICMPV6}, false},
        {"case 17: IPv4 packet", EPERM, SYS_socket, {AF_INET, SOCK_PACKET, 0x300}, false},
        {"case 17: SCTP", EPROTONOSUPPORT, SYS_socket, {AF_INET, SOCK_STREAM, IPPROTO_SCTP}, false},
        {"case 17: L2TP", EPROTONOSUPPORT, SYS_socket, {AF_INET, SOCK_DGRAM, 115}, false},
        {"case 17: MPTCP", EPROTONOSUPPORT, SYS_socket, {AF_INET, SOCK_STREAM, 262}, false},
        {"case 17: netlink audit", EPROTONOSUPPORT, SYS_socket, {AF_NETLINK, SOCK_RAW, 9}, false},
        {"case 17: netlink netfilter",
         EPROTONOSUPPORT,
         SYS_socket,
         {AF_NETLINK, SOCK_RAW, 12},
         false},
        {"case 17: netlink generic",
         EPROTONOSUPPORT,
         SYS_socket,
         {AF_NETLINK, SOCK_DGRAM, 16},
         false},
        {"case 17: packet", EAFNOSUPPORT, SYS_socket, {AF_PACKET, SOCK_RAW}, false},
        {"case 17: packet, high bit",
         EAFNOSUPPORT,
         SYS_socket,
         {BIT32 | AF_PACKET, SOCK_RAW},
         false},
        {"case 17: alg", EAFNOSUPPORT, SYS_socket, {AF_ALG, SOCK_SEQPACKET}, false},
        {"case 17: vsock", EAFNOSUPPORT, SYS_socket, {AF_VSOCK, SOCK_STREAM}, false},
        {"case 17: tipc", EAFNOSUPPORT, SYS_socket, {AF_TIPC, SOCK_STREAM}, false},
        {"case 17: key", EAFNOSUPPORT, SYS_socket, {AF_KEY, SOCK_RAW, 2}, false},
        {"case 17: bluetooth", EAFNOSUPPORT, SYS_socket, {AF_BLUETOOTH, SOCK_RAW}, false},
        {"case 17: smc", EAFNOSUPPORT, SYS_socket, {AF_SMC, SOCK_STREAM}, false},
        {"case 17: xdp", EAFNOSUPPORT, SYS_socket, {AF_XDP, SOCK_RAW}, false},
        {"case 17: tipc pair", EAFNOSUPPORT, SYS_socketpair, {AF_TIPC, SOCK_STREAM}, false},
        {"TCP_ULP", ENOPROTOOPT, SYS_setsockopt, {-1ull, IPPROTO_TCP, TCP_ULP}, false},
};

/* ---- terminals ---- */

/* Pushes a byte into a terminal of its own, with ${with} as the whole 64-bit request number. */
static int try_terminal(void *with)
{
        unsigned long long request = *(unsigned long long *)with;
        int master = posix_openpt(O_RDWR | O_NOCTTY);
        if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0)
                return 99;
        int tty = open(ptsname(master), O_RDWR); /* session leader: becomes our terminal */
        char bytes[16] = "x";                    /* room for what an ordinary request answers */
        return tty < 0 ? 98 : result(syscall(SYS_ioctl, tty, request, bytes));
}

static void terminals(void)
{
        static unsigned long long sti = TIOCSTI, sti_high = BIT32 | TIOCSTI, paste = TIOCLINUX,
                                  paste_high = BIT32 | TIOCLINUX, disc = TIOCSETD, plain = FIONREAD;
        expect_both("case 1: TIOCSTI", try_terminal, &sti, EPERM);
        expect_both("case 2: TIOCSTI with bit 32", try_terminal, &sti_high, EPERM);
        expect_both("case 3: TIOCLINUX", try_terminal, &paste, EPERM);
        expect("case 3: TIOCLINUX with bit 32", try_terminal, &paste_high, EPERM);
        expect("TIOCSETD", try_terminal, &disc, EPERM);
        expect("an ordinary terminal ioctl", try_terminal, &plain, 0);

#ifdef OSTIARY_WEAK
        setenv("OSTIARY_WEAKEN", "tiocsti", 1);
        box_weak_init();
        int free_outcome = outcome(try_terminal, &sti, false);
        ok(outcome(try_terminal, &sti, true) == free_outcome,
           "weak: TIOCSTI passes when its rule alone is left out", "it does not");
        expect("weak: TIOCLINUX is still refused", try_terminal, &paste, EPERM);
#endif
}

/* ---- single cases ---- */

static int try_mknod(void *with)
{
        mode_t type = *(mode_t *)with;
        char path[sizeof scratch + 16];
        snprintf(path, sizeof path, "%s/node", scratch);
        int r = result(mknod(path, type | 0600, type == S_IFCHR ? makedev(1, 3) : 0));
        unlink(path);
        return r;
}

#ifdef __x86_64__
/* The 32-bit door: number 20 is getpid there and writev here. */
static int try_int80(void *with)
{
        (void)with;
        long r = 20;
        __asm__ volatile("int $0x80" : "+a"(r) : : "memory", "r8", "r9", "r10", "r11");
        return r == getpid() ? 0 : 97;
}
#endif

static void *thread(void *arg)
{
        return arg;
}

static int try_thread(void *with)
{
        pthread_t t;
        void *back = NULL;
        return pthread_create(&t, NULL, thread, with) != 0 || pthread_join(t, &back) != 0 ||
               back != with;
}

static int try_second_filter(void *with)
{
        (void)with;
        struct sock_filter all = {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW};
        struct sock_fprog p = {1, &all};
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) < 0)
                return errno;
        return result(syscall(SYS_io_uring_setup, 0, 0)); /* and it opens nothing */
}

static int try_without_nnp(void *with)
{
        (void)with;
        struct err err = {0};
        if (geteuid() == 0 && setresuid(65534, 65534, 65534) < 0)
                return 96;
        if (box_seccomp_install(&err) == 0)
                return 0;
        return strstr(err.text, "no_new_privs") ? err.sys : 95;
}

int main(void)
{
        static mode_t chr = S_IFCHR, blk = S_IFBLK, fifo = S_IFIFO, sock = S_IFSOCK, reg = S_IFREG;
        if (!mkdtemp(scratch)) {
                printf("not ok seccomp_test: there is no place for scratch files\n");
                return 1;
        }

        for (size_t i = 0; i < LEN(refused); i++) {
                struct call *c = &refused[i];
                (c->no_control ? expect : expect_both)(c->name, try_call, c, c->want);
        }
        for (size_t i = 0; i < LEN(allowed); i++)
                expect(allowed[i].name, try_call, &allowed[i], allowed[i].want);
        for (size_t i = 0; i < LEN(sockets); i++)
                expect(sockets[i].name, try_call, &sockets[i], sockets[i].want);
        terminals();

        expect_both("case 25: mknod of a character device", try_mknod, &chr, EPERM);
        expect("case 25: mknod of a block device", try_mknod, &blk, EPERM);
        expect("mknod of a FIFO", try_mknod, &fifo, 0);
        expect("mknod of a socket", try_mknod, &sock, 0);
        expect("mknod of a regular file", try_mknod, &reg, 0);

#ifdef __x86_64__
        if (outcome(try_int80, NULL, false) != 0)
                skip("case 6: int 0x80", "this kernel has no 32-bit entry");
        else
                expect("case 6: int 0x80", try_int80, NULL, 1000 + SIGSYS);
#endif
        expect("a thread starts although clone3 is absent", try_thread, &chr, 0);
        expect("a second filter may be added and opens nothing", try_second_filter, NULL, EPERM);
        int unarmed = outcome(try_without_nnp, NULL, false);
        ok(unarmed == EACCES, "without no_new_privs the installer says so", "it does not");

        rmdir(scratch);
        return failed_n != 0;
}
