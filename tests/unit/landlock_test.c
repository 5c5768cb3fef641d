/* landlock_test.c - a kernel that takes the rules and does not hold them is noticed: what the box
 * reads back fails by the rules or not at all. */
#include "unit/check.h"

#include "base/err.h"
#include "box/landlock.h"
#include "box/step.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { HELD = 10, NOT_HELD, OTHER };

/* pretend(): landlock_restrict_self() says 0 from here on, and does nothing. */
static void pretend(void)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_landlock_restrict_self, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog p = {.len = sizeof code / sizeof *code, .filter = code};
        if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &p) < 0)
                _exit(OTHER);
}

static int enter(bool is_pretended)
{
        int status = 0;
        pid_t pid = fork();
        if (pid == 0) {
                static const struct box_plan plan;
                struct build b = {.plan = &plan};
                struct err err = {0};
                prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                if (is_pretended)
                        pretend();
                int r = step_landlock(&b, &err);
                if (r < 0)
                        unlink("/tmp/.probe"); /* it could be made, that is the point */
                _exit(r == 0 ? HELD : strstr(err.text, "does not hold them") ? NOT_HELD : OTHER);
        }
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

int main(void)
{
        if (landlock_abi() < 1) {
                printf("skip what Landlock holds: this kernel has none\n");
                return 0;
        }
        CHECK("rules that hold", enter(false) == HELD);
        CHECK("rules that were taken and do not hold", enter(true) == NOT_HELD);
        return check_end();
}
