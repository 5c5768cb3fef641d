/* call_words.c - see call_words.h. A letter per argument; a call that has no line here shows its
 * first three words as they are. */
#include "audit/call_words.h"

#include "audit/peek.h"
#include "base/buf.h"

#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>

enum { STRING_MAX = 512 };

/* d: a number; D: a directory's descriptor; x: bits; o: a mode; s: a string; p: a process; g: a
 * signal; r: what ptrace is to do. */
static const struct {
        const char *name, *args;
} shapes[] = {
        {"mount", "sssxs"},
        {"umount2", "sx"},
        {"pivot_root", "ss"},
        {"chroot", "s"},
        {"open_tree", "Dsx"},
        {"move_mount", "DsDsx"},
        {"fsopen", "sx"},
        {"fsconfig", "ddsxd"},
        {"fsmount", "dxx"},
        {"fspick", "Dsx"},
        {"mount_setattr", "Dsx"},
        {"setns", "dx"},
        {"unshare", "x"},
        {"clone", "x"},
        {"clone3", ""},
        {"ptrace", "rpxx"},
        {"process_vm_readv", "p"},
        {"process_vm_writev", "p"},
        {"process_madvise", "d"},
        {"kcmp", "ppddd"},
        {"pidfd_getfd", "ddx"},
        {"bpf", "d"},
        {"perf_event_open", "xpddx"},
        {"userfaultfd", "x"},
        {"io_uring_setup", "d"},
        {"io_uring_enter", "dddx"},
        {"io_uring_register", "dd"},
        {"add_key", "ss"},
        {"request_key", "sss"},
        {"keyctl", "dxxxx"},
        {"open_by_handle_at", "dxx"},
        {"init_module", "xds"},
        {"finit_module", "dsx"},
        {"delete_module", "sx"},
        {"socket", "ddd"},
        {"socketpair", "ddd"},
        {"setsockopt", "ddd"},
        {"ioctl", "dx"},
        {"openat2", "Ds"},
        {"open", "sxo"},
        {"openat", "Dsxo"},
        {"creat", "so"},
        {"chmod", "so"},
        {"fchmod", "do"},
        {"fchmodat", "Dso"},
        {"fchmodat2", "Dsox"},
        {"mknod", "sox"},
        {"mknodat", "Dsox"},
        {"personality", "x"},
        {"prctl", "dxxxx"},
        {"swapon", "sx"},
        {"swapoff", "s"},
        {"acct", "s"},
        {"quotactl", "xs"},
        {"sethostname", "s"},
        {"setdomainname", "s"},
        {"reboot", "xxx"},
        {"syslog", "d"},
        {"fanotify_init", "xx"},
        {"fanotify_mark", "dxxDs"},
        {"kill", "pg"},
        {"tkill", "pg"},
        {"tgkill", "ppg"},
        {"pidfd_send_signal", "dg"},
        {"rt_sigqueueinfo", "pg"},
        {"rt_tgsigqueueinfo", "ppg"},
};

static const struct {
        uint32_t nr;
        const char *name;
} traces[] = {
        {0, "PTRACE_TRACEME"},
        {4, "PTRACE_POKETEXT"},
        {5, "PTRACE_POKEDATA"},
        {6, "PTRACE_POKEUSER"},
        {8, "PTRACE_KILL"},
        {13, "PTRACE_SETREGS"},
        {15, "PTRACE_SETFPREGS"},
        {16, "PTRACE_ATTACH"},
        {17, "PTRACE_DETACH"},
        {0x4200, "PTRACE_SETOPTIONS"},
        {0x4203, "PTRACE_SETSIGINFO"},
        {0x4205, "PTRACE_SETREGSET"},
        {0x4206, "PTRACE_SEIZE"},
        {0x4207, "PTRACE_INTERRUPT"},
};

void call_words_signal(int nr, struct buf *out)
{
        const char *name = nr > 0 && nr < SIGRTMIN ? sigabbrev_np(nr) : NULL;
        if (name)
                buf_put_fmt(out, "SIG%s", name);
        else
                buf_put_fmt(out, "signal %d", nr);
}

static void trace_words(uint64_t nr, struct buf *out)
{
        for (size_t i = 0; i < sizeof traces / sizeof *traces; i++) {
                if (traces[i].nr == nr) {
                        buf_put_str(out, traces[i].name);
                        return;
                }
        }
        buf_put_fmt(out, "request %#llx", (unsigned long long)nr);
}

static void one(char kind, uint64_t v, struct peek *peek, struct buf *out)
{
        switch (kind) {
        case 's':
                peek_quoted(peek, v, STRING_MAX, out);
                return;
        case 'D':
                if ((int)v == AT_FDCWD) {
                        buf_put_str(out, "cwd");
                        return;
                }
                buf_put_fmt(out, "%d", (int)v);
                return;
        case 'd':
                buf_put_fmt(out, "%d", (int)v);
                return;
        case 'p':
                buf_put_fmt(out, "pid %d", (int)v);
                return;
        case 'o':
                buf_put_fmt(out, "0%o", (unsigned)v);
                return;
        case 'g':
                call_words_signal((int)v, out);
                return;
        case 'r':
                trace_words(v, out);
                return;
        default:
                buf_put_fmt(out, "%#llx", (unsigned long long)v);
        }
}

void call_words(const char *name, const uint64_t args[6], struct peek *peek, struct buf *out)
{
        const char *shape = "xxx";
        for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
                if (strcmp(shapes[i].name, name) == 0) {
                        shape = shapes[i].args;
                        break;
                }
        }
        for (size_t i = 0; shape[i]; i++) {
                if (i)
                        buf_put_str(out, ", ");
                one(shape[i], args[i], peek, out);
        }
}
