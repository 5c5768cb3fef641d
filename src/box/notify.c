/* notify.c - see notify.h. A filter of its own, four instructions: the box's filter is compiled and
 * checked at build time and stays what it is. */
#include "box/notify.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than Debian 12's headers. Once a call is told of, only a fatal signal interrupts it: the
 * timers of some languages' run-times would otherwise start it over and over. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif

int notify_install(void)
{
        struct sock_filter code[] = {
                BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_connect, 0, 1),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
                BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        };
        struct sock_fprog p = {.len = sizeof code / sizeof *code, .filter = code};
        /* Kernels before 5.19 do without the log's evidence rather than without that flag. */
        return (int)syscall(
                SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                SECCOMP_FILTER_FLAG_NEW_LISTENER | SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, &p);
}
