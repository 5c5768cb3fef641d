/* witness_call.c - see witness_call.h. */
#include "audit/witness_call.h"

#include "audit/box_path.h"
#include "audit/call_words.h"
#include "audit/peek.h"
#include "audit/procs.h"
#include "audit/witness_net.h"
#include "base/buf.h"
#include "wire/door.h"

#include <fcntl.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef AT_EMPTY_PATH
#define AT_EMPTY_PATH 0x1000
#endif

enum { NOTE_MAX = DOOR_NOTE_MAX - 16, PATH_BYTES = 1000 };

/* Of the record in hand. */
static struct {
        const struct witness_scene *scene;
        const struct seccomp_notif *q;
        struct door_record *r;
        struct peek peek;
        struct buf note, given;
        char exe[BOX_PATH_MAX + 1];
        char absolute[BOX_PATH_MAX + 1];
        const char *name; /* of the call */
        char number[32];  /* where it has none */
} c;

static uint64_t arg(int i)
{
        return c.q->data.args[i];
}

/* take_path(i): the string that argument ${i} points to, as it was given. */
static const char *take_path(int i)
{
        c.given.len = 0;
        enum peek_end end = peek_str(&c.peek, arg(i), PATH_BYTES, &c.given);
        if (end != PEEK_WHOLE)
                buf_put_str(&c.given, c.given.len ? "..." : "(unreadable)");
        return buf_cstr(&c.given);
}

/* --- exec ------------------------------------------------------------------------------------- */

/* spawned(): the first program of a command, which pid 1 starts: told by the supervisor. */
static bool spawned(char path[BOX_PATH_MAX + 1])
{
        const struct witness_spawn *s =
                c.q->data.nr == SYS_execve ? c.scene->find((uint32_t)arg(3)) : NULL;
        char try[BOX_PATH_MAX + 1];
        if (!s || s->argv.n == 0)
                return false;
        for (size_t i = 0; i < s->argv.n && c.note.len < NOTE_MAX; i++) {
                if (i)
                        buf_put_u8(&c.note, ' ');
                peek_quote(&c.note, s->argv.v[i], strlen(s->argv.v[i]));
        }
        const char *file = s->argv.v[0];
        snprintf(path, BOX_PATH_MAX + 1, "%s%s%s", file[0] == '/' ? "" : s->cwd,
                 file[0] == '/' ? "" : "/", file);
        if (strchr(file, '/'))
                return true;
        for (const char *p = s->path; *p; p += strcspn(p, ":"), p += *p == ':') {
                int n = (int)strcspn(p, ":");
                snprintf(path, BOX_PATH_MAX + 1, "%.*s/%s", n, p, file);
                if (n && box_path_resolve(c.scene->root_fd, (pid_t)c.q->pid, path, try) == 0)
                        return true;
        }
        return true;
}

static void read_exec(const struct procs_who *who, int error)
{
        bool is_at = c.q->data.nr == SYS_execveat;
        int dir = is_at ? (int)arg(0) : AT_FDCWD;
        peek_ahead(&c.peek, (uint64_t[]){arg(is_at), arg(is_at + 1)}, 2); /* path and words */
        const char *given = take_path(is_at);
        if (c.peek.is_closed && spawned(c.absolute)) {
                given = c.absolute;
        } else {
                if (is_at && !*given && (arg(4) & AT_EMPTY_PATH)) { /* the descriptor itself */
                        c.given.len = 0;
                        buf_put_fmt(&c.given, "/proc/self/fd/%d", dir);
                        given = buf_cstr(&c.given);
                }
                box_path_join((pid_t)c.q->pid, dir, given, c.absolute);
        }
        bool is_there = box_path_resolve(c.scene->root_fd, (pid_t)c.q->pid, c.absolute, c.exe) == 0;
        if (!c.note.len)
                peek_argv(&c.peek, arg(is_at ? 2 : 1), NOTE_MAX, &c.note);
        c.r->path = given;
        c.r->note = buf_cstr(&c.note);
        if (is_there && !error) {
                c.r->kind = "exec";
                c.r->exe = c.exe;
                procs_watch(who);
                return;
        }
        /* A search along PATH; should the file appear this very moment, here it stands. */
        c.r->kind = "call";
        c.r->method = is_at ? "execveat" : "execve";
}

/* --- signals ---------------------------------------------------------------------------------- */

/* group_of(pid): the process group of a process as the box counts both, or -1. */
static long group_of(long pid)
{
        char name[48], text[1024];
        snprintf(name, sizeof name, "proc/%ld/stat", pid);
        int fd = openat(c.scene->root_fd, name, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
                close(fd);
        if (n <= 0)
                return -1;
        text[n] = 0;
        char *paren = strrchr(text, ')');
        long parent, group;
        return paren && sscanf(paren + 1, " %*c %ld %ld", &parent, &group) == 2 ? group : -1;
}

/* read_kill(is_refused): false when it stays within the caller's own group. */
static bool read_kill(bool is_refused)
{
        int nr = c.q->data.nr;
        bool is_thread = nr == SYS_tgkill || nr == SYS_rt_tgsigqueueinfo;
        int target = (int)arg(0), signal = (int)arg(is_thread ? 2 : 1);
        pid_t host = 0;
        c.r->kind = "kill";
        if (nr == SYS_pidfd_send_signal) {
                host = witness_net_pidfd((pid_t)c.q->pid, target);
                if (!is_refused && host > 0 && getpgid(host) == getpgid((pid_t)c.q->pid))
                        return false;
                buf_put_fmt(&c.note, host > 0 ? "pid %d of the host, " : "a pidfd, ", host);
        } else {
                long mine = procs_group((pid_t)c.q->pid);
                long group = target > 0 ? group_of(target) : target < 0 ? -(long)target : mine;
                if (!is_refused && target != -1 && group == mine)
                        return false;
                if (target == -1)
                        buf_put_str(&c.note, "every process, ");
                else if (target < 0)
                        buf_put_fmt(&c.note, "group %d, ", -target);
                else
                        buf_put_fmt(&c.note, "pid %d%s, ", target, group < 0 ? " (gone)" : "");
        }
        call_words_signal(signal, &c.note);
        c.r->note = buf_cstr(&c.note);
        return true;
}

/* --- files ------------------------------------------------------------------------------------ */

static const char *open_method(uint64_t flags)
{
        if (flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)))
                return "create";
        switch (flags & O_ACCMODE) {
        case O_WRONLY:
                return "w";
        case O_RDWR:
                return "rw";
        default:
                return flags & O_TRUNC ? "w" : "r";
        }
}

/* What each call of the tree does: which argument is the path (its directory stands before it when
 * that is at least 1), and where the other path is. */
static const struct {
        int nr;
        const char *method;
        int path, other;
        bool is_at;
        int flags;
} files[] = {
#ifdef SYS_open
        {SYS_open, NULL, 0, -1, false, 1},         {SYS_creat, "create", 0, -1, false, -1},
        {SYS_unlink, "unlink", 0, -1, false, -1},  {SYS_rmdir, "unlink", 0, -1, false, -1},
        {SYS_rename, "rename", 0, 1, false, -1},   {SYS_link, "create", 1, 0, false, -1},
        {SYS_symlink, "create", 1, 0, false, -1},  {SYS_mkdir, "create", 0, -1, false, -1},
        {SYS_mknod, "create", 0, -1, false, -1},
#endif
#ifdef SYS_renameat
        {SYS_renameat, "rename", 1, 3, true, -1},
#endif
        {SYS_openat, NULL, 1, -1, true, 2},        {SYS_unlinkat, "unlink", 1, -1, true, -1},
        {SYS_renameat2, "rename", 1, 3, true, -1}, {SYS_linkat, "create", 3, 1, true, -1},
        {SYS_symlinkat, "create", 2, 0, true, -1}, {SYS_mkdirat, "create", 1, -1, true, -1},
        {SYS_mknodat, "create", 1, -1, true, -1},  {SYS_truncate, "w", 0, -1, false, -1},
};

static bool read_file(void)
{
        size_t i = 0;
        while (i < sizeof files / sizeof *files && files[i].nr != c.q->data.nr)
                i++;
        if (i == sizeof files / sizeof *files)
                return false;
        c.r->kind = "open";
        c.r->method = files[i].flags < 0 ? files[i].method : open_method(arg(files[i].flags));
        const char *given = take_path(files[i].path);
        box_path_join((pid_t)c.q->pid, files[i].is_at ? (int)arg(files[i].path - 1) : AT_FDCWD,
                      given, c.absolute);
        c.r->path = c.absolute;
        if (files[i].other >= 0) {
                buf_put_str(&c.note, strcmp(c.r->method, "rename") == 0 ? "to " : "of ");
                peek_quoted(&c.peek, arg(files[i].other), PATH_BYTES, &c.note);
        }
        if (files[i].flags >= 0)
                buf_put_fmt(&c.note, "flags %#llx", (unsigned long long)arg(files[i].flags));
        c.r->note = buf_cstr(&c.note);
        return true;
}

/* --- all of them ------------------------------------------------------------------------------ */

static void read_exit(struct procs_who *who, struct witness_call *call)
{
        c.r->kind = "exit";
        c.r->status = (uint32_t)arg(0) & 0xff;
        if (!procs_leaving((pid_t)c.q->pid, who, &c.r->cpu_us, &c.r->peak_kib))
                procs_who((pid_t)c.q->pid, who);
        call->leaving = who->pid;
}

static void read_any(int error)
{
        uint64_t args[6];
        c.r->kind = "call";
        c.r->method = c.name;
        if (error || !c.scene->is_all) {
                for (int i = 0; i < 6; i++)
                        args[i] = arg(i);
                call_words(c.name, args, &c.peek, &c.note);
                if (error) {
                        const char *words = strerrorname_np(error);
                        buf_put_str(&c.note, c.note.len ? " = " : "");
                        buf_put_str(&c.note, words ? words : "refused");
                }
        }
        c.r->note = buf_cstr(&c.note);
}

void witness_call_read(const struct witness_scene *scene, const struct seccomp_notif *q, int error,
                       struct door_record *r, struct witness_call *call)
{
        struct procs_who who = {.pid = (pid_t)q->pid};
        int nr = q->data.nr;
        c.scene = scene;
        c.q = q;
        c.r = r;
        c.note.len = c.given.len = 0;
        c.exe[0] = 0;
        c.name = scene->name(nr);
        if (!c.name) {
                snprintf(c.number, sizeof c.number, "call %d", nr);
                c.name = c.number;
        }
        peek_begin(&c.peek, (pid_t)q->pid);
        *call = (struct witness_call){.is_told = true, .sock = -1};
        r->verdict = error ? "deny" : "allow";
        if (nr == SYS_exit_group)
                read_exit(&who, call);
        else if (!(nr == SYS_execve || nr == SYS_execveat ? procs_meet((pid_t)q->pid, &who)
                                                          : procs_who((pid_t)q->pid, &who)))
                who = (struct procs_who){.pid = (pid_t)q->pid};
        r->pid = (uint32_t)who.pid;
        r->ppid = (uint32_t)who.ppid;

        switch (nr) {
        case SYS_execve:
        case SYS_execveat:
                read_exec(&who, error);
                return;
        case SYS_exit_group:
                break;
        case SYS_connect:
        case SYS_bind:
        case SYS_listen:
                witness_net_read(q, &c.peek, r, &c.note, call);
                break;
        case SYS_kill:
        case SYS_tkill:
        case SYS_tgkill:
        case SYS_pidfd_send_signal:
        case SYS_rt_sigqueueinfo:
        case SYS_rt_tgsigqueueinfo:
                r->method = c.name;
                call->is_told = read_kill(error != 0);
                if (!call->is_told && scene->is_all) {
                        call->is_told = true;
                        read_any(error);
                }
                break;
        default:
                if (error || !read_file())
                        read_any(error);
        }
        if (!call->is_told)
                return;
        box_path_link((pid_t)q->pid, "exe", c.exe);
        r->exe = c.exe;
}
