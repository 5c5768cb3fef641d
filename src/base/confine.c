/* confine.c - see confine.h. The filter is written out by hand, a comparison per call: the lists
 * are short, and the static program carries no libseccomp. */
#include "base/confine.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/title.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#else
#error "name this machine's AUDIT_ARCH here"
#endif

static const int common[] = {
        SYS_read,
        SYS_write,
        SYS_recvmsg,
        SYS_sendmsg,
#ifdef SYS_epoll_wait
        SYS_epoll_wait,
#endif
        SYS_epoll_pwait,
        SYS_epoll_ctl,
        SYS_close,
        SYS_brk,
        SYS_munmap,
        SYS_mremap,
        SYS_madvise,
        SYS_futex,
        SYS_clock_gettime, /* where the vDSO has no clock */
        SYS_clock_nanosleep,
        SYS_restart_syscall,
        SYS_rt_sigreturn,
        SYS_getrandom, /* malloc, in newer libraries */
        SYS_exit_group,
        SYS_exit,
#ifdef OSTIARY_ASAN
        SYS_getpid,
        SYS_gettid,
        SYS_sched_yield,
        SYS_sigaltstack,
#endif
};

/* As of Landlock's sixth version; an older kernel is given what it knows. */
struct ruleset_attr {
        uint64_t fs, net, scoped;
};

void confine_begin(const char *name, const int *keep, size_t n)
{
        sigset_t none;
        sigemptyset(&none);
        sigprocmask(SIG_SETMASK, &none, NULL);
        signal(SIGTERM, SIG_IGN);
        if (fdio_close_except(keep, n) < 0)
                _exit(125);
        title_set(name);
        prctl(PR_SET_NAME, name, 0, 0, 0);
}

static int drop_capabilities(struct err *err)
{
        for (int cap = 0; cap <= 63; cap++)
                if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) < 0)
                        break; /* past the last one, or not ours to drop: then we have none */
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct none[2] = {0}, now[2];
        if (syscall(SYS_capset, &head, none) < 0 || syscall(SYS_capget, &head, now) < 0)
                return err_sys(err, "drop all capabilities");
        if (memcmp(now, none, sizeof now) != 0)
                return err_set(err, E_MACHINE, "capabilities are left after dropping them");
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
            prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
                return err_sys(err, "set no_new_privs");
        return 0;
}

/* leave_files(err): everything that this kernel's Landlock can refuse is refused. */
static int leave_files(struct err *err)
{
        long abi = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
        if (abi < 1)
                return err_set(err, E_MACHINE, "this kernel has no Landlock");
        struct ruleset_attr a = {.fs = (1ull << 13) - 1};
        for (int bit = 13; bit <= 15; bit++) /* moves, truncation, device ioctls: 2, 3, 5 */
                if (abi >= (bit == 15 ? 5 : bit - 11))
                        a.fs |= 1ull << bit;
        a.net = abi >= 4 ? 3 : 0;    /* bind and connect */
        a.scoped = abi >= 6 ? 3 : 0; /* abstract sockets and signals */
        size_t size = abi >= 6 ? sizeof a : abi >= 4 ? 16 : 8;
        _cleanup_close_ int rules = (int)syscall(SYS_landlock_create_ruleset, &a, size, 0);
        if (rules < 0 || syscall(SYS_landlock_restrict_self, rules, 0) < 0)
                return err_sys(err, "enter a Landlock domain without files");
        return 0;
}

struct program {
        struct sock_filter code[2 * CONFINE_COMMON_MAX + 96];
        unsigned short n;
        bool is_full;
};

static void put(struct program *p, struct sock_filter f)
{
        if (p->n == sizeof p->code / sizeof *p->code)
                p->is_full = true;
        else
                p->code[p->n++] = f;
}

#define LOAD(field)                                                                                \
        (struct sock_filter)                                                                       \
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define JUMP(op, k, yes, no) (struct sock_filter) BPF_JUMP(BPF_JMP | (op) | BPF_K, k, yes, no)
#define RET(k)               (struct sock_filter) BPF_STMT(BPF_RET | BPF_K, k)

/* allow_memory(p, call): only pages that are not executable. */
static void allow_memory(struct program *p, int call)
{
        put(p, JUMP(BPF_JEQ, (uint32_t)call, 0, 4));
        put(p, LOAD(args[2]));
        put(p, JUMP(BPF_JSET, PROT_EXEC, 0, 1));
        put(p, RET(SECCOMP_RET_KILL_PROCESS));
        put(p, RET(SECCOMP_RET_ALLOW));
}

/* allow_reading(p): files can be opened for reading alone, and in no other way. */
static void allow_reading(struct program *p)
{
        put(p, JUMP(BPF_JEQ, SYS_openat, 0, 4));
        put(p, LOAD(args[2]));
        put(p, JUMP(BPF_JEQ, O_RDONLY | O_CLOEXEC, 0, 1));
        put(p, RET(SECCOMP_RET_ALLOW));
        put(p, RET(SECCOMP_RET_KILL_PROCESS));
}

static int filter_calls(const int *calls, size_t n, struct err *err)
{
        struct program p = {.n = 0};
        put(&p, LOAD(arch));
        put(&p, JUMP(BPF_JEQ, ARCH, 1, 0));
        put(&p, RET(SECCOMP_RET_KILL_PROCESS));
        put(&p, LOAD(nr));
        for (size_t i = 0; i < sizeof common / sizeof *common + n; i++) {
                size_t own = i - sizeof common / sizeof *common;
                int call = i < sizeof common / sizeof *common ? common[i] : calls[own];
                if (call == SYS_openat) {
                        allow_reading(&p);
                        continue;
                }
                put(&p, JUMP(BPF_JEQ, (uint32_t)call, 0, 1));
                put(&p, RET(SECCOMP_RET_ALLOW));
        }
        allow_memory(&p, SYS_mmap);
        allow_memory(&p, SYS_mprotect);
        put(&p, RET(SECCOMP_RET_KILL_PROCESS));
        if (p.is_full)
                return err_set(err, E_SYSTEM, "a role lists too many system calls");
        struct sock_fprog prog = {.len = p.n, .filter = p.code};
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
                return err_sys(err, "filter a role's system calls");
        return 0;
}

int confine_memory(uint64_t bytes, struct err *err)
{
#ifdef OSTIARY_ASAN
        (void)bytes, (void)err; /* its shadow is larger than any of that */
#else
        struct rlimit want = {.rlim_cur = bytes, .rlim_max = bytes}, got;
        if (getrlimit(RLIMIT_DATA, &got) < 0)
                return err_sys(err, "read the limit on memory");
        if (got.rlim_max != RLIM_INFINITY && got.rlim_max < bytes)
                want.rlim_cur = want.rlim_max = got.rlim_max; /* somebody was stricter */
        if (setrlimit(RLIMIT_DATA, &want) < 0 || getrlimit(RLIMIT_DATA, &got) < 0)
                return err_sys(err, "set the limit on memory");
        if (got.rlim_cur > bytes || got.rlim_max > bytes)
                return err_set(err, E_MACHINE, "the limit on memory does not hold");
#endif
        return 0;
}

int confine_calls(const int *calls, size_t n, struct err *err)
{
        if (confine_memory(CONFINE_MEMORY, err) < 0 || drop_capabilities(err) < 0)
                return -1;
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
        return filter_calls(calls, n, err);
}

int confine_self(const int *calls, size_t n, struct err *err)
{
        /* no_new_privs comes with the first, and Landlock wants it. */
        if (drop_capabilities(err) < 0 || leave_files(err) < 0)
                return -1;
        return confine_calls(calls, n, err);
}
