/* seccomp_watch.c - the calls themselves. See seccomp_watch.h. Most of what an auditor asks for
 * (mounts, namespaces, keys, programs in the kernel) stands in no row here, because a box may not
 * do it at all, and whatever is refused is recorded anyway. */
#include "box/seccomp_watch.h"

#include <linux/ptrace.h>
#include <signal.h>

#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))
#define UNLESS(a) .unless = (a), .unless_n = COUNT(a)
#define ARG(n, value, what)                                                                        \
        {                                                                                          \
                .words = (what), .test = { {.arg = (n), .mask = 0xffffffffu, .want = (value)} }    \
        }

/* Signal 0 is a question. SIGURG to a thread is how the run-time of Go hurries its own threads,
 * thousands of times in a run; who has no handler for it ignores it. */
static const struct seccomp_clause second_is_none[] = {ARG(1, 0, "signal 0")};
static const struct seccomp_clause third_is_none[] = {ARG(2, 0, "signal 0"),
                                                      ARG(2, SIGURG, "SIGURG")};

/* Reading a traced process and letting it go on: a tracer does little else, and has been recorded
 * when it took hold of it. */
static const struct seccomp_clause tracer_reads[] = {
        ARG(0, PTRACE_PEEKTEXT, "PTRACE_PEEKTEXT"),
        ARG(0, PTRACE_PEEKDATA, "PTRACE_PEEKDATA"),
        ARG(0, PTRACE_PEEKUSR, "PTRACE_PEEKUSER"),
        ARG(0, PTRACE_CONT, "PTRACE_CONT"),
        ARG(0, PTRACE_SINGLESTEP, "PTRACE_SINGLESTEP"),
        ARG(0, PTRACE_SYSCALL, "PTRACE_SYSCALL"),
        ARG(0, 12, "PTRACE_GETREGS"),
        ARG(0, 14, "PTRACE_GETFPREGS"),
        ARG(0, PTRACE_GETEVENTMSG, "PTRACE_GETEVENTMSG"),
        ARG(0, PTRACE_GETSIGINFO, "PTRACE_GETSIGINFO"),
        ARG(0, PTRACE_GETREGSET, "PTRACE_GETREGSET"),
        ARG(0, PTRACE_LISTEN, "PTRACE_LISTEN"),
        ARG(0, PTRACE_PEEKSIGINFO, "PTRACE_PEEKSIGINFO"),
        ARG(0, 0x420e, "PTRACE_GET_SYSCALL_INFO"),
};

const struct seccomp_watch seccomp_watch[] = {
        {BOX_AUDIT_DEFAULT, "execve execveat exit_group", .why = "which programs ran"},
        {BOX_AUDIT_DEFAULT, "connect bind listen", .why = "who spoke to whom"},
        {BOX_AUDIT_DEFAULT, "kill tkill pidfd_send_signal rt_sigqueueinfo", UNLESS(second_is_none),
         "who ended whom"},
        {BOX_AUDIT_DEFAULT, "tgkill rt_tgsigqueueinfo", UNLESS(third_is_none), "who ended whom"},
        {BOX_AUDIT_DEFAULT, "ptrace", UNLESS(tracer_reads), "who took hold of whom"},
        {BOX_AUDIT_DEFAULT, "process_vm_readv process_vm_writev",
         .why = "who reads or writes another's memory"},
        {BOX_AUDIT_DEFAULT, "unshare", .why = "the little of it that is allowed"},
        {BOX_AUDIT_FILES, "open openat creat", .why = "which files were looked into or written"},
        {BOX_AUDIT_FILES,
         "unlink unlinkat rmdir rename renameat renameat2 link linkat symlink symlinkat mkdir "
         "mkdirat mknod mknodat truncate",
         .why = "how the tree changed"},
};

const size_t seccomp_watch_n = COUNT(seccomp_watch);
