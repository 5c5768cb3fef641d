/* filter.c - see filter.h. The lists are const tables; calls of the hot path carry no conditions,
 * so that the kernel answers them from its bitmap without running the filter. */
#include "role/filter.h"

#include "base/err.h"
#include "role/role.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <seccomp.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* Bytes, memory, time, events and the end. */
static const int always[] = {
        SCMP_SYS(read),
        SCMP_SYS(write),
        SCMP_SYS(readv),
        SCMP_SYS(writev),
        SCMP_SYS(pread64),
        SCMP_SYS(pwrite64),
        SCMP_SYS(lseek),
        SCMP_SYS(recvmsg),
        SCMP_SYS(recvfrom),
        SCMP_SYS(recvmmsg),
        SCMP_SYS(shutdown),
        SCMP_SYS(getsockopt),
        SCMP_SYS(setsockopt),
        SCMP_SYS(getsockname),
        SCMP_SYS(getpeername),
        SCMP_SYS(close),
        SCMP_SYS(close_range),
        SCMP_SYS(dup),
        SCMP_SYS(pipe2),
        SCMP_SYS(splice),
        SCMP_SYS(fstat),
        SCMP_SYS(newfstatat), /* what fstat is in glibc; where no file is allowed none is visible */
        SCMP_SYS(munmap),
        SCMP_SYS(mremap),
        SCMP_SYS(madvise),
        SCMP_SYS(brk),
        SCMP_SYS(mlock),
        SCMP_SYS(mlock2),
        SCMP_SYS(munlock),
        SCMP_SYS(memfd_create),
        SCMP_SYS(futex),
        SCMP_SYS(poll),
        SCMP_SYS(ppoll),
        SCMP_SYS(epoll_create1),
        SCMP_SYS(epoll_ctl),
        SCMP_SYS(epoll_wait),
        SCMP_SYS(epoll_pwait),
        SCMP_SYS(epoll_pwait2),
        SCMP_SYS(eventfd2),
        SCMP_SYS(timerfd_create),
        SCMP_SYS(timerfd_settime),
        SCMP_SYS(timerfd_gettime),
        SCMP_SYS(clock_gettime),
        SCMP_SYS(clock_getres),
        SCMP_SYS(clock_nanosleep),
        SCMP_SYS(nanosleep),
        SCMP_SYS(gettimeofday),
        SCMP_SYS(time),
        SCMP_SYS(getrandom),
        SCMP_SYS(getpid),
        SCMP_SYS(gettid),
        SCMP_SYS(getppid),
        SCMP_SYS(getuid),
        SCMP_SYS(geteuid),
        SCMP_SYS(getgid),
        SCMP_SYS(getegid),
        SCMP_SYS(sysinfo),
        SCMP_SYS(sched_yield),
        SCMP_SYS(sched_getaffinity),
        SCMP_SYS(rt_sigaction),
        SCMP_SYS(rt_sigprocmask),
        SCMP_SYS(rt_sigreturn),
        SCMP_SYS(sigaltstack),
        SCMP_SYS(restart_syscall),
        SCMP_SYS(exit),
        SCMP_SYS(exit_group),
};

/* Sockets that somebody else made. */
static const int for_listening[] = {
        SCMP_SYS(bind),
        SCMP_SYS(listen),
        SCMP_SYS(accept),
        SCMP_SYS(accept4),
};

/* Where the flags stand. MSG_FASTOPEN is connect() by another name, and Landlock does not hear it.
 */
static const struct {
        int call;
        unsigned flags_at;
} sending[] = {
        {SCMP_SYS(sendto), 3},
        {SCMP_SYS(sendmsg), 2},
        {SCMP_SYS(sendmmsg), 3},
};

static const int for_dialling[] = {
        SCMP_SYS(connect),
        SCMP_SYS(bind), /* of the netlink socket that lists addresses; TCP by Landlock not */
};

static const int for_files[] = {
        SCMP_SYS(inotify_init1), SCMP_SYS(inotify_add_watch), SCMP_SYS(inotify_rm_watch),
        SCMP_SYS(readlink),      SCMP_SYS(readlinkat),
};

/* What libraries try when they look for settings: answered, not punished. */
static const int not_there[] = {
        SCMP_SYS(open),       SCMP_SYS(openat),   SCMP_SYS(openat2),    SCMP_SYS(stat),
        SCMP_SYS(lstat),      SCMP_SYS(statx),    SCMP_SYS(access),     SCMP_SYS(faccessat),
        SCMP_SYS(faccessat2), SCMP_SYS(readlink), SCMP_SYS(readlinkat),
};

static const int fcntl_ok[] = {F_GETFD,     F_SETFD,     F_GETFL,         F_SETFL,
                               F_GET_SEALS, F_ADD_SEALS, F_DUPFD_CLOEXEC, F_SETPIPE_SZ};

#define ALLOW SCMP_ACT_ALLOW

static struct scmp_arg_cmp is(unsigned arg, uint32_t value)
{
        return (struct scmp_arg_cmp){.arg = arg, .op = SCMP_CMP_EQ, .datum_a = value, .datum_b = 0};
}

static struct scmp_arg_cmp bits_are(unsigned arg, uint32_t bits, uint32_t value)
{
        return (struct scmp_arg_cmp){
                .arg = arg, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = value};
}

static int allow_list(scmp_filter_ctx f, const int *calls, size_t n)
{
        int bad = 0;
        for (size_t i = 0; i < n; i++)
                bad |= seccomp_rule_add(f, ALLOW, calls[i], 0);
        return bad;
}

/* The same calls with arguments that do less than they could. */
static int allow_some(scmp_filter_ctx f)
{
        int bad = 0;
        for (size_t i = 0; i < sizeof fcntl_ok / sizeof *fcntl_ok; i++)
                bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(fcntl), 1, is(1, (unsigned)fcntl_ok[i]));
        for (size_t i = 0; i < sizeof sending / sizeof *sending; i++)
                bad |= seccomp_rule_add(f, ALLOW, sending[i].call, 1,
                                        bits_are(sending[i].flags_at, MSG_FASTOPEN, 0));
        /* No page ever becomes code. */
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(mmap), 1, bits_are(2, PROT_EXEC, 0));
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(mprotect), 1, bits_are(2, PROT_EXEC, 0));
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(ioctl), 1, is(1, FIONREAD));
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(ioctl), 1, is(1, FIONBIO));
#ifdef OSTIARY_ASAN
        /* A report begins with the question whether it may be coloured. */
        bad |= seccomp_rule_add(f, SCMP_ACT_ERRNO(ENOTTY), SCMP_SYS(ioctl), 1, is(1, TCGETS));
#endif
        /* abort() signals itself. */
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(tgkill), 1, is(0, (unsigned)getpid()));
        /* Asking for a limit of its own, never setting one. */
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(prlimit64), 2, is(0, 0), is(2, 0));
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(prctl), 1, is(0, PR_GET_SECCOMP));
        return bad;
}

static int allow_sockets(scmp_filter_ctx f)
{
        static const unsigned families[] = {AF_INET, AF_INET6};
        static const unsigned types[] = {SOCK_STREAM, SOCK_DGRAM};
        int bad = 0;
        for (size_t i = 0; i < 2; i++)
                for (size_t k = 0; k < 2; k++)
                        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(socket), 2, is(0, families[i]),
                                                bits_are(1, 0xf, types[k]));
        bad |= seccomp_rule_add(f, ALLOW, SCMP_SYS(socket), 2, is(0, AF_NETLINK),
                                is(2, NETLINK_ROUTE));
        return bad;
}

/* Only for reading; which files is Landlock's matter. */
static int allow_open(scmp_filter_ctx f)
{
        const unsigned writing = O_ACCMODE | O_CREAT | O_TRUNC | O_APPEND;
        return seccomp_rule_add(f, ALLOW, SCMP_SYS(openat), 1, bits_are(2, writing, O_RDONLY));
}

#define LIST(l) l, sizeof(l) / sizeof *(l)

static bool is_in(int call, const int *calls, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (calls[i] == call)
                        return true;
        return false;
}

static int fill(scmp_filter_ctx f, const struct role_needs *n)
{
        int bad = allow_list(f, LIST(always)) | allow_some(f);
        if (n->may_listen)
                bad |= allow_list(f, LIST(for_listening));
        if (n->may_dial)
                bad |= allow_list(f, LIST(for_dialling)) | allow_sockets(f);
        if (n->may_read_files)
                bad |= allow_list(f, LIST(for_files)) | allow_open(f);
        for (size_t i = 0; i < sizeof not_there / sizeof *not_there; i++) {
                bool is_given = n->may_read_files && (not_there[i] == SCMP_SYS(openat) ||
                                                      is_in(not_there[i], LIST(for_files)));
                if (!is_given)
                        bad |= seccomp_rule_add(f, SCMP_ACT_ERRNO(EACCES), not_there[i], 0);
        }
        return bad;
}

int role_filter_install(const struct role_needs *n, struct err *err)
{
        scmp_filter_ctx f = seccomp_init(SCMP_ACT_KILL_PROCESS);
        if (!f)
                return err_set(err, E_SYSTEM, "there is not enough memory for the filter");
        seccomp_attr_set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2);
        int bad = fill(f, n);
        int loaded = bad ? -EINVAL : seccomp_load(f);
        seccomp_release(f);
        if (loaded < 0) {
                errno = -loaded;
                return err_sys(err, "install the filter of system calls");
        }
        if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) != 2)
                return err_set(err, E_MACHINE, "the filter of system calls does not hold");
        return 0;
}
