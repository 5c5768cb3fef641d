/* notify_trace.c - case 41t: a tracer puts another call in the place of one that was checked, or
 * waits for its answer. See notify.c. */
#include "attack.h"
#include "notify.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- 41t: a tracer rewrites the call -----------------------------------------------------------
 */

#ifdef __x86_64__
#include <sys/ptrace.h>
#include <sys/user.h>

/* The three moments at which a tracer can put another call in the place of a harmless one. */
enum moment { AT_ENTRY, AFTER_OWN_FILTER, WHILE_HELD };

/* How long the race for a held call is run. It is lost in each of some fifty boxes. */
static long held_ms = RACE_MS / 5;

static _Noreturn void traced(enum moment when)
{
        ino_t before = user_ns();
        pid_t me = getpid();
        if (when == AFTER_OWN_FILTER && own_filter(SECCOMP_RET_TRACE, SYS_getpid, 0) < 0)
                _exit(3);
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        syscall(SYS_tgkill, me, me,
                SIGSTOP); /* raise() asks for the pid, which nobody answers yet */
        for (int i = 0;
             user_ns() == before && (when == WHILE_HELD ? spent_ms() < held_ms : i < 200); i++)
                if (when == WHILE_HELD)
                        listen(-1, 0); /* watched, and harmless */
                else
                        syscall(SYS_getpid);
        syscall(SYS_exit, user_ns() == before ? 0 : 42);
        for (;;)
                ;
}

/* rewrite(pid): the call that the process stands in becomes unshare(CLONE_NEWUSER). */
static void rewrite(pid_t pid, enum moment when)
{
        struct user_regs_struct r;
        if (ptrace(PTRACE_GETREGS, pid, NULL, &r) < 0)
                return;
        if (when == WHILE_HELD) {
                if ((long)r.orig_rax != SYS_listen)
                        return;
                r.rax = SYS_unshare; /* the interrupted call is made again, as another */
                r.orig_rax = ~0ul;
                r.rip -= 2;
        } else if (r.orig_rax != SYS_getpid) {
                return;
        } else {
                r.orig_rax = SYS_unshare;
        }
        r.rdi = CLONE_NEWUSER;
        ptrace(PTRACE_SETREGS, pid, NULL, &r);
}

/* trace(when): 42 when the traced process has a namespace of its own at its end. */
static int trace(enum moment when)
{
        int status = 0;
        pid_t pid = fork();
        if (pid == 0)
                traced(when);
        if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
                return WIFEXITED(status) ? -WEXITSTATUS(status) : -1;
        ptrace(PTRACE_SETOPTIONS, pid, NULL,
               PTRACE_O_EXITKILL | PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACESECCOMP);
        bool is_entry = true;
        for (int turn = 0;; turn++) {
                ptrace(when == AT_ENTRY ? PTRACE_SYSCALL : PTRACE_CONT, pid, NULL, 0);
                if (when == WHILE_HELD) {
                        for (volatile int pause = 0; pause < 100 * (turn % 256); pause++)
                                ;
                        /* Not recorded, so it does not wait behind the call that it is to meet. */
                        syscall(SYS_tgkill, pid, pid, SIGURG);
                }
                if (waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
                        break;
                if (when == AT_ENTRY && WSTOPSIG(status) == (SIGTRAP | 0x80)) {
                        if (is_entry)
                                rewrite(pid, when);
                        is_entry = !is_entry;
                } else if (when == WHILE_HELD && WSTOPSIG(status) == SIGURG) {
                        rewrite(pid, when);
                } else if (status >> 8 == (SIGTRAP | PTRACE_EVENT_SECCOMP << 8)) {
                        rewrite(pid, when);
                }
        }
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

void case_tracer(struct outcome *o)
{
        static const char *const moments[] = {"at the entry of a call", "after a filter of its own",
                                              "while its call was held"};
        if (planted_num("HELD_MS") > 0)
                held_ms = planted_num("HELD_MS");
        for (enum moment when = AT_ENTRY; when <= WHILE_HELD; when++) {
                int got = trace(when);
                if (got == 42)
                        out_escaped(o, "a tracer made getpid a new namespace %s", moments[when]);
                else if (got != 0)
                        out_na(o, "no tracing %s (%d)", moments[when], got);
        }
        if (o->kind == OUT_NONE)
                out_blocked(o, EPERM, "what a tracer puts into a call is checked like the call");
}

#else
void case_tracer(struct outcome *o)
{
        out_na(o, "the registers of this machine are not written down here");
}
#endif
