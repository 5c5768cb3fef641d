/* drop.c - giving things up: descriptors, the caller's keyring, every capability, the right to gain
 * any, and at last most system calls. What is dropped here cannot be had back. */
#include "box/step.h"

#include "base/err.h"
#include "base/fdio.h"
#include "box/notify.h"
#include "box/weak.h"

#include <errno.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

int step_keyring(struct build *b, struct err *err)
{
        (void)b;
        if (box_weak(WEAK_KEYRING))
                return 0;
        if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 && errno != ENOSYS)
                return err_sys(err, "join a fresh session keyring");
        return 0;
}

int step_fds(struct build *b, struct err *err)
{
        /* Exactly these: 0-2 (already /dev/null) and the listed ones. Everything else that the
         * supervisor or its callers had open is closed, whatever its flags (case 29). */
        if (box_weak(WEAK_FDS))
                return 0;
        if (fdio_close_except(b->keep_fds, sizeof b->keep_fds / sizeof *b->keep_fds) < 0)
                return err_sys(err, "close inherited descriptors");
        return 0;
}

static int drop_capabilities(struct err *err)
{
        for (int cap = 0; cap <= 63; cap++) {
                if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) == 0)
                        continue;
                if (errno == EINVAL)
                        break; /* past the last one this kernel has */
                return err_sys(err, "drop capability %d from the bounding set", cap);
        }
        prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct none[2] = {0}, now[2];
        if (syscall(SYS_capset, &head, none) < 0)
                return err_sys(err, "drop all capabilities");

        if (syscall(SYS_capget, &head, now) < 0)
                return err_sys(err, "read the capabilities back");
        if (memcmp(now, none, sizeof now) != 0 ||
            prctl(PR_CAPBSET_READ, CAP_SYS_ADMIN, 0, 0, 0) > 0)
                return err_set(err, E_MACHINE, "capabilities are left after dropping them (B8)");
        return 0;
}

/* keep_capabilities: exec would take them from a uid that is not 0; the test build hands them on.
 */
static void keep_capabilities(void)
{
        struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
        struct __user_cap_data_struct all[2] = {0};
        syscall(SYS_capget, &head, all);
        for (int i = 0; i < 2; i++)
                all[i].inheritable = all[i].permitted;
        syscall(SYS_capset, &head, all);
        for (int cap = 0; cap <= 63; cap++)
                prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_RAISE, cap, 0, 0);
}

int step_caps(struct build *b, struct err *err)
{
        if (box_weak(WEAK_CAPS))
                keep_capabilities();
        else if (drop_capabilities(err) < 0)
                return -1;
        if (!box_weak(WEAK_NNP)) {
                if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
                    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
                        return err_sys(err, "set no_new_privs");
        }
        /* pid 1 must not be readable or traceable by what it starts (cases 14, 28, 30). A program
         * it executes becomes dumpable again by itself. */
        int dumpable = box_weak(WEAK_DUMPABLE) ? 1 : 0;
        if (prctl(PR_SET_DUMPABLE, dumpable, 0, 0, 0) < 0 ||
            prctl(PR_GET_DUMPABLE, 0, 0, 0, 0) != dumpable)
                return err_sys(err, "become undumpable");
        box_weak_wait(WEAK_WAIT_TIED, b->ctl_fd);
        /* After the last change of credentials, because such a change clears it (case 42). */
        if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
                return err_sys(err, "tie the box to its supervisor");
        return 0;
}

int step_filter(struct build *b, struct err *err)
{
        if (box_weak(WEAK_SECCOMP))
                return 0;
        return notify_filter(b, err);
}
