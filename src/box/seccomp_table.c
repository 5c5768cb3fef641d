/* seccomp_table.c - the allow-list itself. See seccomp_table.h for how to read a row.
 *
 * Everything in a box is one trust domain: a program may trace, signal and read its neighbours.
 * What is refused is what reaches past the box (namespaces, mounts, devices, the clock, keyrings),
 * what hides from who watches calls (io_uring) and what is there only to be attacked. Refused calls
 * we know get EPERM; calls a library can do without get ENOSYS, which is what it expects of an
 * older kernel. */
#include "box/seccomp_table.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <linux/ptrace.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>

/* clang-format off */
#define ALL                     0xffffffffu
#define IS(n, value)            {.arg = (n), .mask = ALL, .want = (uint32_t)(value)}
#define BITS(n, bits, value)    {.arg = (n), .mask = (uint32_t)(bits), .want = (uint32_t)(value)}
#define HIGH_ZERO(n)            {.arg = (n), .high = true, .mask = ALL, .want = 0}

#define REFUSE(errno_, what, ...) {.words = (what), .error = (errno_), .test = {__VA_ARGS__}}
#define ALLOW(what, ...)          REFUSE(0, what, __VA_ARGS__)
/* clang-format on */

#define COUNT(a)   (sizeof(a) / sizeof((a)[0]))
#define CLAUSES(a) .clauses = (a), .clause_n = COUNT(a)

/* Not every header of a supported system has these. */
#ifndef CLONE_NEWCGROUP
#define CLONE_NEWCGROUP 0x02000000
#endif
#ifndef PR_SCHED_CORE
#define PR_SCHED_CORE 62
#endif
#define CALL_USERFAULTFD_NEW 0xaa00u /* ioctl of /dev/userfaultfd that makes one */
#define CALL_CLOSE_UNSHARE   2u      /* CLOSE_RANGE_UNSHARE */
#define CALL_MFD_HUGETLB     4u      /* MFD_HUGETLB */
#define CALL_SHM_HUGETLB     04000u  /* SHM_HUGETLB */
#define CALL_PUNCH_HOLE      2u      /* FALLOC_FL_*, of linux/falloc.h */
#define CALL_COLLAPSE        8u
#define FLAG(n, f)           BITS(n, f, f)
#define CALL_IOPRIO_USER     3u   /* IOPRIO_WHO_USER; linux/ioprio.h is newer */
#define CALL_SOCK_TYPE_MASK  0xfu /* the rest of a socket's type is flags */

/* CLONE_NEWTIME is not among them: clone() reads that bit as part of the exit signal. */
#define CALL_CLONE_NEW                                                                             \
        (CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER |             \
         CLONE_NEWPID | CLONE_NEWNET)

/* Threads with descriptors of their own would hide them from whoever counts (usage_procs.c). */
static const struct seccomp_clause clone_clauses[] = {
        REFUSE(EPERM, "a thread that does not share its descriptors",
               BITS(0, CLONE_THREAD | CLONE_FILES, CLONE_THREAD)),
        ALLOW("no CLONE_NEW* flag", BITS(0, CALL_CLONE_NEW, 0)),
};

/* By what is allowed, not by what is refused: new flags keep arriving here. */
static const struct seccomp_clause unshare_clauses[] = {
        ALLOW("only CLONE_FS, CLONE_SYSVSEM", BITS(0, ~(CLONE_FS | CLONE_SYSVSEM), 0),
              HIGH_ZERO(0)),
};

static const struct seccomp_clause ioctl_clauses[] = {
        {.words = "TIOCSTI (types into a terminal)",
         .error = EPERM,
         .test = {IS(1, TIOCSTI)},
         .tag = SECCOMP_TAG_TIOCSTI},
        REFUSE(EPERM, "TIOCLINUX (pastes on a console)", IS(1, TIOCLINUX)),
        REFUSE(EPERM, "TIOCSETD (loads line disciplines)", IS(1, TIOCSETD)),
        REFUSE(EPERM, "TIOCCONS (takes over the console)", IS(1, TIOCCONS)),
        REFUSE(EPERM, "USERFAULTFD_IOC_NEW", IS(1, CALL_USERFAULTFD_NEW)),
        /* fallocate by another name, on every file system. */
        REFUSE(EOPNOTSUPP, "FS_IOC_RESVSP (reserves room)", IS(1, 0x40305828u)),
        REFUSE(EOPNOTSUPP, "FS_IOC_RESVSP64 (reserves room)", IS(1, 0x4030582au)),
        REFUSE(EOPNOTSUPP, "FS_IOC_ZERO_RANGE (reserves room)", IS(1, 0x40305839u)),
};

static const struct seccomp_clause prctl_clauses[] = {
        REFUSE(EPERM, "PR_SET_DUMPABLE 0 (hides descriptors)", IS(0, PR_SET_DUMPABLE), IS(1, 0)),
        REFUSE(EPERM, "PR_SET_MM (rewrites what /proc says)", IS(0, PR_SET_MM)),
        REFUSE(EPERM, "PR_SCHED_CORE (idles the sibling core)", IS(0, PR_SCHED_CORE)),
};

static const struct seccomp_clause personality_clauses[] = {
        ALLOW("the default", IS(0, 0)),
        ALLOW("the question what it is", IS(0, 0xffffffffu)),
};

/* What a box must not do to its owner's files and pipes: a lease makes the next opener on the host
 * wait, dnotify marks are counted nowhere, and the pages of large pipes are the user's, not the
 * box's. The kernel reads command and size as 32 bits. */
#define CALL_PIPE_MAX 65536u

static const struct seccomp_clause fcntl_clauses[] = {
        REFUSE(EPERM, "F_SETLEASE (makes other openers wait)", IS(1, F_SETLEASE)),
        REFUSE(EPERM, "F_NOTIFY (watches that nothing counts)", IS(1, F_NOTIFY)),
        ALLOW("F_SETPIPE_SZ below 64 KiB", IS(1, F_SETPIPE_SZ), BITS(2, ~(CALL_PIPE_MAX - 1), 0)),
        ALLOW("F_SETPIPE_SZ of 64 KiB", IS(1, F_SETPIPE_SZ), IS(2, CALL_PIPE_MAX)),
        REFUSE(EPERM, "F_SETPIPE_SZ beyond 64 KiB", IS(1, F_SETPIPE_SZ)),
};

/* Everything in a box has one user id, pid 1 too, and the kernel lets a user slow down, pin and
 * limit its own processes. pid 1 must go on serving, so no call that changes another process may
 * name it. Process ids are 32 bits, and there is one pid namespace. */
static const struct seccomp_clause close_range_clauses[] = {
        REFUSE(EINVAL, "CLOSE_RANGE_UNSHARE, as an older kernel", FLAG(2, CALL_CLOSE_UNSHARE)),
};

/* Only what gives room back. To have a disk full reserved takes one call and no time, so nobody
 * could stop it; to write it takes as long as writing takes (case R16). */
static const struct seccomp_clause fallocate_clauses[] = {
        ALLOW("FALLOC_FL_PUNCH_HOLE", FLAG(1, CALL_PUNCH_HOLE)),
        ALLOW("FALLOC_FL_COLLAPSE_RANGE", FLAG(1, CALL_COLLAPSE)),
};

/* Huge pages are set aside for somebody, by number; who takes one takes it from a database. */
static const struct seccomp_clause mmap_clauses[] = {
        REFUSE(ENOMEM, "MAP_HUGETLB", FLAG(3, MAP_HUGETLB)),
};

static const struct seccomp_clause memfd_clauses[] = {
        REFUSE(EINVAL, "MFD_HUGETLB", FLAG(1, CALL_MFD_HUGETLB)),
};

static const struct seccomp_clause shmget_clauses[] = {
        REFUSE(EPERM, "SHM_HUGETLB", FLAG(2, CALL_SHM_HUGETLB)),
};

static const struct seccomp_clause prlimit_clauses[] = {
        ALLOW("the question what the limits are", IS(2, 0), HIGH_ZERO(2)),
        REFUSE(EPERM, "a limit of pid 1", IS(0, 1)),
};

static const struct seccomp_clause sched_clauses[] = {
        REFUSE(EPERM, "pid 1", IS(0, 1)),
};

static const struct seccomp_clause setpriority_clauses[] = {
        REFUSE(EPERM, "pid 1", IS(1, 1)),
        REFUSE(EPERM, "all processes of the user, pid 1 among them", IS(0, PRIO_USER)),
};

static const struct seccomp_clause ioprio_clauses[] = {
        REFUSE(EPERM, "pid 1", IS(1, 1)),
        REFUSE(EPERM, "all processes of the user, pid 1 among them", IS(0, CALL_IOPRIO_USER)),
};

/* The one tracing option that takes a filter off. The kernel wants CAP_SYS_ADMIN for it too. */
static const struct seccomp_clause ptrace_clauses[] = {
        REFUSE(EPERM, "PTRACE_SETOPTIONS with PTRACE_O_SUSPEND_SECCOMP", IS(0, PTRACE_SETOPTIONS),
               BITS(3, PTRACE_O_SUSPEND_SECCOMP, PTRACE_O_SUSPEND_SECCOMP)),
        REFUSE(EPERM, "PTRACE_SEIZE with PTRACE_O_SUSPEND_SECCOMP", IS(0, PTRACE_SEIZE),
               BITS(3, PTRACE_O_SUSPEND_SECCOMP, PTRACE_O_SUSPEND_SECCOMP)),
};

/* case 8: a file with this bit that lands on the host, in a live workspace, gives whoever runs it
 * the rights of the user who started the box, of root even. The bit for groups is not refused,
 * because directories carry it for good reasons and a filter cannot tell them from programs. */
#define SET_UID(n)   BITS(n, S_ISUID, S_ISUID)
#define CALL_TMPFILE (O_TMPFILE & ~O_DIRECTORY)

static const struct seccomp_clause mode_clauses[] = {
        REFUSE(EPERM, "the set-user-id bit", SET_UID(1)),
};

static const struct seccomp_clause modeat_clauses[] = {
        REFUSE(EPERM, "the set-user-id bit", SET_UID(2)),
};

/* Without O_CREAT or O_TMPFILE the mode is whatever the register held. */
static const struct seccomp_clause open_clauses[] = {
        REFUSE(EPERM, "a new file with the set-user-id bit", FLAG(1, O_CREAT), SET_UID(2)),
        REFUSE(EPERM, "a nameless file with the set-user-id bit", FLAG(1, CALL_TMPFILE),
               SET_UID(2)),
};

static const struct seccomp_clause openat_clauses[] = {
        REFUSE(EPERM, "a new file with the set-user-id bit", FLAG(2, O_CREAT), SET_UID(3)),
        REFUSE(EPERM, "a nameless file with the set-user-id bit", FLAG(2, CALL_TMPFILE),
               SET_UID(3)),
};

static const struct seccomp_clause mknod_clauses[] = {
        REFUSE(EPERM, "the set-user-id bit", SET_UID(1)),
        ALLOW("a regular file (no type)", BITS(1, S_IFMT, 0)),
        ALLOW("a regular file", BITS(1, S_IFMT, S_IFREG)),
        ALLOW("a FIFO", BITS(1, S_IFMT, S_IFIFO)),
        ALLOW("a socket", BITS(1, S_IFMT, S_IFSOCK)),
};

/* The same, one argument further on. */
static const struct seccomp_clause mknodat_clauses[] = {
        REFUSE(EPERM, "the set-user-id bit", SET_UID(2)),
        ALLOW("a regular file (no type)", BITS(2, S_IFMT, 0)),
        ALLOW("a regular file", BITS(2, S_IFMT, S_IFREG)),
        ALLOW("a FIFO", BITS(2, S_IFMT, S_IFIFO)),
        ALLOW("a socket", BITS(2, S_IFMT, S_IFSOCK)),
};

/* AF_INET (2) and AF_INET6 (10) differ in one bit, so one test sees both and nothing else. */
_Static_assert((AF_INET | 8) == AF_INET6, "AF_INET and AF_INET6 must differ in bit 3 alone");
#define IP      BITS(0, ~8u, AF_INET)
#define TYPE(t) BITS(1, CALL_SOCK_TYPE_MASK, t)

/* Protocols are listed because naming another one makes the kernel load a module for it. */
static const struct seccomp_clause socket_clauses[] = {
        ALLOW("AF_UNIX", IS(0, AF_UNIX)),
        ALLOW("IP stream, default protocol", IP, TYPE(SOCK_STREAM), IS(2, 0)),
        ALLOW("IP stream, TCP", IP, TYPE(SOCK_STREAM), IS(2, IPPROTO_TCP)),
        ALLOW("IP datagram, default protocol", IP, TYPE(SOCK_DGRAM), IS(2, 0)),
        ALLOW("IP datagram, UDP", IP, TYPE(SOCK_DGRAM), IS(2, IPPROTO_UDP)),
        ALLOW("IP datagram, ICMP echo", IP, TYPE(SOCK_DGRAM), IS(2, IPPROTO_ICMP)),
        ALLOW("IP datagram, ICMPv6 echo", IP, TYPE(SOCK_DGRAM), IS(2, IPPROTO_ICMPV6)),
        REFUSE(EPERM, "IP raw", IP, TYPE(SOCK_RAW)),
        REFUSE(EPERM, "IP packet", IP, TYPE(SOCK_PACKET)),
        REFUSE(EPROTONOSUPPORT, "any other IP type or protocol", IP),
        ALLOW("AF_NETLINK, NETLINK_ROUTE", IS(0, AF_NETLINK), IS(2, 0)),
        REFUSE(EPROTONOSUPPORT, "any other AF_NETLINK", IS(0, AF_NETLINK)),
};

static const struct seccomp_clause socketpair_clauses[] = {
        ALLOW("AF_UNIX", IS(0, AF_UNIX)),
};

static const struct seccomp_clause setsockopt_clauses[] = {
        REFUSE(ENOPROTOOPT, "TCP_ULP (loads kernel TLS and others)", IS(1, IPPROTO_TCP),
               IS(2, TCP_ULP)),
};

const struct seccomp_row seccomp_table[] = {
        {"files",
         "read write readv writev pread64 pwrite64 preadv pwritev preadv2 pwritev2 lseek "
         "close dup dup2 dup3 flock pipe pipe2 sendfile "
         "splice tee copy_file_range truncate ftruncate fsync fdatasync sync "
         "syncfs sync_file_range fadvise64 readahead cachestat=451",
         .why = "ordinary work with open files; which files there are is for mounts and Landlock"},
        {"files",
         "stat fstat lstat newfstatat statx access faccessat faccessat2 statfs fstatfs getdents "
         "getdents64 readlink readlinkat getcwd chdir fchdir name_to_handle_at",
         .why = "looking at files; a handle can be asked for but not opened"},
        {"files",
         "mkdir mkdirat rmdir rename renameat renameat2 link linkat unlink unlinkat symlink "
         "symlinkat chown fchown lchown fchownat umask utime "
         "utimes utimensat futimesat",
         .why = "changing the tree"},
        {"files",
         "setxattr lsetxattr fsetxattr getxattr lgetxattr fgetxattr listxattr llistxattr "
         "flistxattr removexattr lremovexattr fremovexattr setxattrat=463 getxattrat=464 "
         "listxattrat=465 removexattrat=466",
         .why = "extended attributes; the kernel keeps security.* and trusted.* for itself"},
        {"files", "close_range", 0, CLAUSES(close_range_clauses),
         "closing many; threads of a process have one table of descriptors"},
        {"files", "fallocate", EOPNOTSUPP, CLAUSES(fallocate_clauses),
         "what is not written takes no room; libraries write zeros instead (case R16)"},
        {"files", "fcntl", 0, CLAUSES(fcntl_clauses),
         "locks and flags; nothing that the host's own processes wait for (cases R12, R13)"},
        {"files", "open", 0, CLAUSES(open_clauses), "no set-user-id file is made (case 8)"},
        {"files", "openat", 0, CLAUSES(openat_clauses), "no set-user-id file is made (case 8)"},
        {"files", "openat2", ENOSYS,
         .why = "its mode lies in memory, which a filter cannot read; libraries use openat (case "
                "8)"},
        {"files", "chmod fchmod creat", 0, CLAUSES(mode_clauses),
         "no set-user-id file is made (case 8)"},
        {"files", "fchmodat fchmodat2=452", 0, CLAUSES(modeat_clauses),
         "no set-user-id file is made (case 8)"},
        {"files", "mknod", EPERM, CLAUSES(mknod_clauses),
         "no device is ever made in a box (case 25)"},
        {"files", "mknodat", EPERM, CLAUSES(mknodat_clauses),
         "no device is ever made in a box (case 25)"},
        {"files", "ioctl", 0, CLAUSES(ioctl_clauses),
         "the number is compared as the kernel reads it, low 32 bits (cases 1, 2, 3, 11)"},
        {"files", "inotify_init inotify_init1 inotify_add_watch inotify_rm_watch",
         .why = "watching files, within the user namespace's own limits"},
        {"files", "io_setup io_destroy io_submit io_cancel io_getevents io_pgetevents", ENOSYS,
         .why = "the old asynchronous I/O: the whole machine has one budget of it (fs.aio-max-nr); "
                "databases do without (case R17)"},

        {"waiting",
         "poll ppoll select pselect6 epoll_create epoll_create1 epoll_ctl epoll_wait epoll_pwait "
         "epoll_pwait2=441 eventfd eventfd2 signalfd signalfd4 timerfd_create timerfd_settime "
         "timerfd_gettime futex futex_waitv=449 futex_wake=454 futex_wait=455 futex_requeue=456 "
         "set_robust_list get_robust_list membarrier rseq",
         .why = "event loops and locks"},
        {"waiting",
         "nanosleep clock_nanosleep clock_gettime clock_getres gettimeofday time times alarm "
         "getitimer setitimer timer_create timer_settime timer_gettime timer_getoverrun "
         "timer_delete",
         .why = "reading clocks and setting timers"},

        {"memory",
         "brk munmap mprotect mremap msync mincore madvise mlock mlock2 mlockall munlock "
         "munlockall memfd_secret=447 pkey_alloc pkey_free pkey_mprotect mseal=462 "
         "map_shadow_stack=453 process_madvise=440 process_mrelease=448",
         .why = "a program's own memory; code may run from it, and from a memfd (case 33)"},
        {"memory", "mmap", 0, CLAUSES(mmap_clauses),
         "the same, in pages of the usual size (case R19)"},
        {"memory", "memfd_create", 0, CLAUSES(memfd_clauses), "the same for a memfd (case R19)"},
        {"memory", "shmget", 0, CLAUSES(shmget_clauses), "the same for a segment (case R19)"},
        {"memory", "mbind get_mempolicy set_mempolicy",
         .why = "allocators of JVMs and numeric libraries ask for nearby memory"},
        {"memory",
         "shmat shmdt shmctl semget semop semtimedop semctl msgget msgsnd msgrcv msgctl "
         "mq_open mq_unlink mq_timedsend mq_timedreceive mq_notify mq_getsetattr",
         .why = "the box has an IPC namespace of its own (case 38)"},

        {"processes",
         "fork vfork execve execveat exit exit_group wait4 waitid set_tid_address "
         "restart_syscall arch_prctl getpid getppid gettid getpgid setpgid getpgrp getsid setsid "
         "pidfd_open pidfd_send_signal kill tkill tgkill rt_sigaction rt_sigprocmask "
         "rt_sigreturn rt_sigpending rt_sigtimedwait rt_sigsuspend rt_sigqueueinfo "
         "rt_tgsigqueueinfo sigaltstack pause",
         .why = "starting, ending and signalling; the pid namespace holds only the box's own"},
        {"processes", "clone", EPERM, CLAUSES(clone_clauses),
         "threads and children, never a namespace (case 7)"},
        {"processes", "clone3", ENOSYS,
         .why = "its flags lie in memory, which a filter cannot read; libraries use clone (case "
                "4)"},
        {"processes",
         "sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_getattr "
         "sched_get_priority_max sched_get_priority_min sched_rr_get_interval getpriority "
         "ioprio_get getcpu getrlimit setrlimit getrusage sysinfo uname getrandom",
         .why = "limits of one's own, and plain questions"},
        {"processes", "sched_setaffinity sched_setparam sched_setscheduler sched_setattr", 0,
         CLAUSES(sched_clauses), "scheduling within the box; pid 1 serves on (case R14)"},
        {"processes", "prlimit64", 0, CLAUSES(prlimit_clauses), "the same for limits (case R14)"},
        {"processes", "setpriority", 0, CLAUSES(setpriority_clauses),
         "the same for priorities (case R14)"},
        {"processes", "ioprio_set", 0, CLAUSES(ioprio_clauses),
         "the same for input and output (case R14)"},
        {"processes", "prctl", 0, CLAUSES(prctl_clauses), "names, death signals, dumpability"},
        {"processes", "personality", EPERM, CLAUSES(personality_clauses),
         "nobody turns address randomisation off, which is where an exploit begins (case 18)"},
        {"processes", "ptrace", 0, CLAUSES(ptrace_clauses),
         "debuggers and leak checkers; pid 1 is not dumpable (case 14)"},
        {"processes", "process_vm_readv process_vm_writev",
         .why = "debuggers; the same check as ptrace (case 14)"},
#ifdef __x86_64__
        {"processes", "uretprobe=335 uprobe=336",
         .why = "made by the kernel's own trampolines when the host traces; else SIGILL"},
#endif

        {"identity",
         "getuid geteuid getgid getegid getresuid getresgid getgroups setuid setgid setreuid "
         "setregid setresuid setresgid setfsuid setfsgid setgroups capget capset",
         .why = "only one uid is mapped and no capability is held, so nothing can be gained"},
        {"identity",
         "seccomp landlock_create_ruleset=444 landlock_add_rule=445 landlock_restrict_self=446",
         .why = "a program may wall itself in further; neither can open what is closed"},

        {"sockets",
         "connect accept accept4 bind listen getsockname getpeername getsockopt shutdown sendto "
         "recvfrom sendmsg recvmsg sendmmsg recvmmsg",
         .why = "what can be reached is for the network namespace and the door"},
        {"sockets", "socket", EAFNOSUPPORT, CLAUSES(socket_clauses),
         "only families and protocols on the list (case 17)"},
        {"sockets", "socketpair", EAFNOSUPPORT, CLAUSES(socketpair_clauses), "local pairs"},
        {"sockets", "setsockopt", 0, CLAUSES(setsockopt_clauses),
         "programs that find no upper-layer protocol do TLS themselves"},

        {"refused: mounts and namespaces",
         "mount umount2 pivot_root chroot open_tree move_mount fsopen fsconfig fsmount fspick "
         "mount_setattr open_tree_attr=467 setns",
         EPERM, .why = "the tree is finished before the first program runs (cases 5, 27)"},
        {"refused: mounts and namespaces", "unshare", EPERM, CLAUSES(unshare_clauses),
         "no nested namespace (case 7)"},
        {"refused: mounts and namespaces", "statmount=457 listmount=458 listns=470", ENOSYS,
         .why = "programs read /proc/self/mountinfo instead, which shows only the box"},

        {"refused: past the walls", "io_uring_setup io_uring_enter io_uring_register", EPERM,
         .why = "does I/O that no filter and no watcher of calls sees (case 10)"},
        {"refused: past the walls", "open_by_handle_at", EPERM,
         .why = "opens a file by number, past every directory (case 16)"},
        {"refused: past the walls", "pidfd_getfd kcmp", EPERM,
         .why = "takes descriptors of, or compares kernel objects with, another process (case 14)"},
        {"refused: past the walls", "fanotify_init fanotify_mark", EPERM,
         .why = "watches whole file systems; inotify is there"},

        {"refused: kernel surface", "bpf perf_event_open userfaultfd", EPERM,
         .why = "programs in the kernel, counters, stretched races (cases 11, 12, 13)"},
        {"refused: kernel surface", "add_key request_key keyctl", EPERM,
         .why = "keyrings are not namespaced (case 9)"},
        {"refused: kernel surface", "modify_ldt set_thread_area get_thread_area", EPERM,
         .why = "segments of 16- and 32-bit programs, which a box does not run"},
        {"refused: kernel surface",
         "migrate_pages move_pages set_mempolicy_home_node remap_file_pages", EPERM,
         .why = "moves pages about; a tool of attacks more than of programs"},
        {"refused: kernel surface",
         "lsm_get_self_attr=459 lsm_set_self_attr=460 lsm_list_modules=461 file_getattr=468 "
         "file_setattr=469",
         ENOSYS, .why = "too young to be needed; programs use /proc and ioctl"},

        {"refused: the host",
         "settimeofday clock_settime adjtimex clock_adjtime sethostname setdomainname", EPERM,
         .why = "the clock is the host's; what adjtimex would do lies in memory (case 39)"},
        {"refused: the host",
         "init_module finit_module delete_module create_module kexec_load kexec_file_load reboot "
         "swapon swapoff acct quotactl quotactl_fd iopl ioperm vhangup",
         EPERM, .why = "runs the machine, not a program (case 15)"},
        {"refused: the host", "syslog", EPERM, .why = "the host's kernel log (case 19)"},

        {"refused: obsolete",
         "_sysctl afs_syscall epoll_ctl_old epoll_wait_old get_kernel_syms getpmsg lookup_dcookie "
         "nfsservctl putpmsg query_module security sysfs tuxcall uselib ustat vserver",
         EPERM, .why = "gone from current kernels, or used by nothing"},
};

const size_t seccomp_table_n = COUNT(seccomp_table);
