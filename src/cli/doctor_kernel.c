/* doctor_kernel.c - what the kernel has: its age, seccomp, Landlock, TIOCSTI, KVM. */
#include "cli/doctor.h"

#include "box/landlock.h"
#include "box/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

void doctor_kernel(struct doctor_answer *a)
{
        struct utsname u;
        if (uname(&u) < 0) {
                doctor_say(a, OUT_WARN, "its version cannot be read");
                return;
        }
        char *dot = u.release;
        long major = strtol(dot, &dot, 10);
        long minor = *dot == '.' ? strtol(dot + 1, NULL, 10) : 0;
        if (strcmp(u.machine, "x86_64") != 0)
                doctor_say(a, OUT_WARN, "Linux %s on %s; only x86_64 is tested", u.release,
                           u.machine);
        else if (major < 5 || (major == 5 && minor < 13))
                doctor_say(a, OUT_BAD, "Linux %s is too old", u.release);
        else
                doctor_say(a, OUT_GOOD, "Linux %s", u.release);
        if (a->mark == OUT_BAD)
                doctor_fix(a,
                           "use Linux 5.13 or newer (Debian 12, Ubuntu 22.04 and later have it): "
                           "overlays without root and Landlock came with it");
}

static int can_tell(char *report, size_t n)
{
        (void)report;
        (void)n;
        return box_seccomp_can_tell();
}

void doctor_seccomp(struct doctor_answer *a)
{
        uint32_t kill = SECCOMP_RET_KILL_PROCESS;
        if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &kill) < 0) {
                doctor_say(a, OUT_BAD, "filters are not there: %s", strerror(errno));
                doctor_fix(a, "use a kernel built with CONFIG_SECCOMP_FILTER=y");
                return;
        }
        char report[64];
        if (doctor_try(can_tell, report, sizeof report) == 0) {
                doctor_say(a, OUT_GOOD,
                           "filters work; ours has %zu instructions, and calls can be recorded",
                           box_seccomp_size());
                return;
        }
        doctor_say(a, OUT_WARN,
                   "filters work; ours has %zu instructions. System calls cannot be recorded here",
                   box_seccomp_size());
        doctor_fix(a, "use Linux 5.19 or newer, and no other recorder of calls around us; boxes "
                      "are as closed without, and their logs have what came to the door");
}

void doctor_landlock(struct doctor_answer *a)
{
        int abi = landlock_abi();
        if (abi < 1) {
                doctor_say(a, OUT_BAD, "not there");
                doctor_fix(a,
                           "add landlock to the lsm= list of the kernel command line, for example "
                           "lsm=landlock,lockdown,yama,integrity,apparmor (Linux 5.13 or newer)");
                return;
        }
        doctor_say(a, abi < 2 ? OUT_WARN : OUT_GOOD, "ABI %d: %s", abi, landlock_words(abi));
        if (abi < 2)
                doctor_fix(a, "moving files between directories fails in a box on this kernel; "
                              "Linux 5.19 "
                              "or newer allows it");
}

void doctor_tiocsti(struct doctor_answer *a)
{
        long v = doctor_number("/proc/sys/dev/tty/legacy_tiocsti");
        if (v == 0)
                doctor_say(a, OUT_GOOD, "typing into other terminals is off in the kernel as well");
        else
                doctor_say(
                        a, OUT_INFO,
                        "the kernel allows it (%s); the box's filter and its own terminal do not",
                        v < 0 ? "older than 6.2" : "dev.tty.legacy_tiocsti=1");
}

void doctor_kvm(struct doctor_answer *a)
{
        if (access("/dev/kvm", F_OK) < 0)
                doctor_say(a, OUT_INFO, "not there; boxes do not need it");
        else if (access("/dev/kvm", R_OK | W_OK) < 0)
                doctor_say(a, OUT_INFO, "there, but not for this user; boxes do not need it");
        else
                doctor_say(a, OUT_INFO, "usable; boxes do not need it");
}
