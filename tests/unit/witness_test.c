/* witness_test.c - what the witness reads of a call: the memory of another process with every bad
 * pointer there is, words that are quoted, paths below a root that is not ours, whose a thread is,
 * and the answers of the filter's own program. */
#include "unit/check.h"

#include "audit/box_path.h"
#include "audit/call_words.h"
#include "audit/head.h"
#include "audit/peek.h"
#include "audit/procs.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "box/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* A page with another behind it that is not there. */
static char *edge;

static const char *text(struct buf *b)
{
        return buf_cstr(b);
}

static void reading(void)
{
        struct peek p = {0};
        _cleanup_buf_ struct buf b = {0};
        char out[64];
        peek_begin(&p, getpid());
        static const char word[] = "a word";
        CHECK("a string",
              peek_str(&p, (uintptr_t)word, 100, &b) == PEEK_WHOLE && !strcmp(text(&b), "a word"));
        b.len = 0;
        CHECK("a string that is longer",
              peek_str(&p, (uintptr_t)word, 3, &b) == PEEK_CUT && !strcmp(text(&b), "a w"));
        CHECK("nothing", peek_bytes(&p, 0, out, 8) == 0 && peek_bytes(&p, 8, out, 8) == 0 &&
                                 peek_bytes(&p, ~0ull - 3, out, 8) == 0 && !p.is_closed);
        memset(edge, 'e', 4096);
        b.len = 0;
        CHECK("no end before the end of memory",
              peek_str(&p, (uintptr_t)edge + 4090, 100, &b) == PEEK_BAD &&
                      !strcmp(text(&b), "eeeeee"));
        CHECK("part of what was asked for",
              peek_bytes(&p, (uintptr_t)edge + 4092, out, sizeof out) == 4);
        b.len = 0;
        CHECK("over the end of a page",
              peek_str(&p, (uintptr_t)edge, 4096, &b) == PEEK_CUT && b.len == 4096);
        peek_begin(&p, 1 << 22);
        CHECK("a process that is not there", peek_bytes(&p, (uintptr_t)word, out, 4) == 0);
}

static void quoting(void)
{
        static const struct {
                const char *in, *out;
                size_t n;
        } cases[] = {
                {"plain-1.0/x_y=z", "plain-1.0/x_y=z", 15},
                {"", "\"\"", 0},
                {"two words", "\"two words\"", 9},
                {"a\"b\\c", "\"a\\\"b\\\\c\"", 5},
                {"a\nb\tc", "\"a\\nb\\tc\"", 5},
                {"\033[31m", "\"\\x1b[31m\"", 5},
                {"\xff\xfe", "\"\\xff\\xfe\"", 2},
                {"gr\xc3\xbc\xc3\x9f", "\"gr\xc3\xbc\xc3\x9f\"", 6},
                {"\xc3", "\"\\xc3\"", 1},
                {"\xe2\x80\xae", "\"\\xe2\\x80\\xae\"", 3}, /* turns the line around */
                {"$(reboot)", "\"$(reboot)\"", 9},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                _cleanup_buf_ struct buf b = {0};
                peek_quote(&b, cases[i].in, cases[i].n);
                check_str("quoted", text(&b), cases[i].out);
        }
}

static void vectors(void)
{
        struct peek p = {0};
        _cleanup_buf_ struct buf b = {0};
        char *argv[] = {(char *)"ls", (char *)"-l", (char *)"a b", NULL};
        peek_begin(&p, getpid());
        peek_argv(&p, (uintptr_t)argv, 100, &b);
        check_str("arguments", text(&b), "ls -l \"a b\"");
        char *odd[] = {(char *)"ls", (char *)8, (char *)"x", NULL};
        b.len = 0;
        peek_begin(&p, getpid()); /* what was read of a page is kept for one call */
        peek_argv(&p, (uintptr_t)odd, 100, &b);
        check_str("one that leads nowhere", text(&b), "ls (unreadable) x");
        b.len = 0;
        peek_argv(&p, 8, 100, &b);
        check_str("a vector that leads nowhere", text(&b), "(unreadable)");
        b.len = 0;
        peek_argv(&p, 0, 100, &b);
        check_str("none", text(&b), "");
        char **cut = (char **)(edge + 4096 - 2 * sizeof(char *));
        cut[0] = cut[1] = (char *)"w";
        peek_begin(&p, getpid());
        b.len = 0;
        peek_argv(&p, (uintptr_t)cut, 100, &b);
        check_str("a vector without an end", text(&b), "w w (unreadable)");

        char *many[3000];
        for (size_t i = 0; i < 2999; i++)
                many[i] = (char *)"word";
        many[2999] = NULL;
        b.len = 0;
        peek_begin(&p, getpid());
        peek_argv(&p, (uintptr_t)many, 1000, &b);
        CHECK("many words are cut", b.len < 1010 && !strcmp(text(&b) + b.len - 4, " ..."));
        char *huge = malloc(100001);
        memset(huge, '\033', 100000);
        huge[100000] = 0;
        char *one[] = {(char *)"x", huge, NULL};
        b.len = 0;
        peek_begin(&p, getpid());
        peek_argv(&p, (uintptr_t)one, 1000, &b);
        CHECK("and a long one, however it is quoted", b.len <= 1010);
        free(huge);
}

/* Another process changes what we read, all the time. */
static void racing(void)
{
        char *shared = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        char **argv = (char **)(shared + 4096);
        pid_t pid = fork();
        if (pid == 0) {
                for (unsigned i = 0;; i++) {
                        argv[i % 8] = i % 3 ? shared + i % 4096 : (char *)(uintptr_t)i;
                        shared[i % 4096] = (char)(i % 7 ? i : 0);
                }
        }
        bool is_bounded = true;
        struct peek p = {0};
        for (int i = 0; i < 20000; i++) {
                _cleanup_buf_ struct buf b = {0};
                peek_begin(&p, pid);
                peek_argv(&p, (uintptr_t)argv, 200, &b);
                is_bounded = is_bounded && b.len <= 210;
        }
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        CHECK("arguments that change while they are read", is_bounded);
        munmap(shared, 8192);
}

static void paths(void)
{
        char root[] = "/tmp/witness_test.XXXXXX", out[BOX_PATH_MAX + 1];
        if (!mkdtemp(root))
                return;
        _cleanup_close_ int fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
        mkdirat(fd, "usr", 0755);
        mkdirat(fd, "usr/bin", 0755);
        close(openat(fd, "usr/bin/real", O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
        if (symlinkat("usr/bin", fd, "bin") < 0 ||
            symlinkat("/usr/bin/real", fd, "usr/bin/link") < 0 ||
            symlinkat("../../../../etc", fd, "usr/out") < 0 || symlinkat("loop", fd, "loop") < 0)
                return;
        static const struct {
                const char *in, *out; /* NULL: not there */
        } cases[] = {
                {"/usr/bin/real", "/usr/bin/real"},
                {"/bin/real", "/usr/bin/real"},
                {"/bin/link", "/usr/bin/real"},
                {"//usr/./bin/../bin//real", "/usr/bin/real"},
                {"/", "/"},
                {"/../../../usr", "/usr"},
                {"/usr/out/passwd", NULL}, /* never out of the root */
                {"/loop", NULL},
                {"/nothing/here", NULL},
                {"", "/"},
        };
        for (size_t again = 0; again < 2; again++) /* directories are known then */
                for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                        int r = box_path_resolve(fd, getpid(), cases[i].in, out);
                        check(cases[i].out ? r == 0 && !strcmp(out, cases[i].out) : r < 0,
                              "a path below the root", "%s: %d %s", cases[i].in, r, out);
                }
        mkdirat(fd, "opt", 0755);
        close(openat(fd, "opt/real", O_CREAT | O_WRONLY | O_CLOEXEC, 0755));
        unlinkat(fd, "bin", 0);
        CHECK("a directory's link that leads elsewhere now",
              symlinkat("/opt", fd, "bin") == 0 &&
                      box_path_resolve(fd, getpid(), "/bin/real", out) == 0 &&
                      !strcmp(out, "/opt/real"));
        unlinkat(fd, "bin", 0);
        CHECK("and one that is gone", box_path_resolve(fd, getpid(), "/bin/real", out) < 0);
        unlinkat(fd, "opt/real", 0);
        unlinkat(fd, "opt", AT_REMOVEDIR);
        char deep[3000];
        memset(deep, 'd', sizeof deep - 1);
        deep[sizeof deep - 1] = 0;
        CHECK("a name that is too long", box_path_resolve(fd, getpid(), deep, out) < 0);
        for (size_t i = 0; i + 2 < sizeof deep; i += 2)
                memcpy(deep + i, "/a", 2);
        CHECK("a path that is too long", box_path_resolve(fd, getpid(), deep, out) < 0);
        box_path_join(getpid(), AT_FDCWD, deep + 1, out);
        CHECK("joined, it is cut", strlen(out) <= BOX_PATH_MAX);
        unlinkat(fd, "usr/bin/real", 0);
        unlinkat(fd, "usr/bin/link", 0);
        unlinkat(fd, "usr/out", 0);
        unlinkat(fd, "loop", 0);
        unlinkat(fd, "usr/bin", AT_REMOVEDIR);
        unlinkat(fd, "usr", AT_REMOVEDIR);
        rmdir(root);
}

static void processes(void)
{
        struct procs_who who;
        struct procs_end end;
        struct epoll_event e;
        _cleanup_close_ int ep = epoll_create1(EPOLL_CLOEXEC);
        procs_begin(ep, false);
        CHECK("who we are",
              procs_who(getpid(), &who) && who.pid == getpid() && who.ppid == getppid());
        CHECK("and who is not", !procs_who(1 << 22, &who));
        uint64_t cpu, peak;
        CHECK("what we used", procs_leaving(getpid(), &who, &cpu, &peak) && who.pid == getpid() &&
                                      who.ppid == getppid() && cpu > 0 && peak > 100);
        CHECK("and of nobody", !procs_leaving(1 << 22, &who, &cpu, &peak));
        static const struct {
                int code, signal;
                uint32_t status;
        } cases[] = {{7, 0, 7}, {0, 0, 0}, {0, SIGKILL, 137}, {0, SIGTERM, 143}};
        for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
                bool is_reaped = i % 2; /* before we look */
                pid_t pid = fork();
                if (pid == 0) {
                        usleep(1000);
                        if (cases[i / 2].signal)
                                kill(getpid(), cases[i / 2].signal);
                        _exit(cases[i / 2].code);
                }
                CHECK("a child", procs_meet(pid, &who) && who.pid == pid && who.ppid == getpid());
                procs_watch(&who);
                CHECK("asked again", procs_who(pid, &who) && who.pid == pid);
                if (is_reaped)
                        waitpid(pid, NULL, 0);
                if (epoll_wait(ep, &e, 1, 3000) != 1) {
                        check(false, "the end of a process", "nobody told");
                        continue;
                }
                procs_ended(e.data.ptr, &end);
                check(end.who.pid == pid &&
                              (end.is_known ? end.status == cases[i / 2].status : is_reaped),
                      "the end of a process", "%u, known %d", end.status, end.is_known);
                if (!is_reaped)
                        waitpid(pid, NULL, 0);
        }
        CHECK("nobody is watched any more", procs_watched_n() == 0);
        CHECK("two threads that end one process are one end",
              procs_forget(getpid()) && !procs_forget(getpid()));
        pid_t gone = fork();
        if (gone == 0)
                _exit(0);
        waitpid(gone, NULL, 0);
        CHECK("two processes of one number are two ends", procs_forget(gone) && procs_forget(gone));
}

static void answers(void)
{
#if defined(__x86_64__)
        const uint32_t arch = AUDIT_ARCH_X86_64;
#else
        const uint32_t arch = AUDIT_ARCH_AARCH64;
#endif
        struct seccomp_data d = {.arch = arch, .nr = SYS_read};
        CHECK("an allowed call", box_seccomp_verdict(&d) == 0);
        d.nr = SYS_mount;
        CHECK("a refused one", box_seccomp_verdict(&d) == EPERM);
        d.nr = 999;
        CHECK("an unknown one", box_seccomp_verdict(&d) == ENOSYS);
        d = (struct seccomp_data){.arch = arch, .nr = SYS_socket, .args = {17, 3, 0}};
        CHECK("by its arguments", box_seccomp_verdict(&d) == EAFNOSUPPORT);
        d.arch = 1;
        CHECK("another machine's", box_seccomp_verdict(&d) != 0);
        check_str("a name", box_seccomp_name(SYS_execve), "execve");
        CHECK("no name", !box_seccomp_name(-1) && !box_seccomp_name(100000));
}

/* Nobody holds the listener any more: refused calls stay refused, and recorded ones are as well. */
static void deserted(void)
{
        static const enum box_audit levels[] = {BOX_AUDIT_DEFAULT, BOX_AUDIT_FILES};
        for (size_t i = 0; i < sizeof levels / sizeof *levels; i++) {
                int pipes[2], got[3] = {0};
                if (pipe2(pipes, O_CLOEXEC) < 0)
                        return;
                pid_t pid = fork();
                if (pid == 0) {
                        struct err err = {0};
                        volatile int fd = -1;
                        alarm(10);
                        prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
                        if (box_seccomp_watch(levels[i], &fd, &err) < 0 || fd < 0)
                                kill(getpid(), SIGKILL);
                        close(fd);
                        int seen[3];
                        syscall(SYS_mount, 0, 0, 0, 0, 0);
                        seen[0] = errno;
                        syscall(SYS_execve, "/bin/true", NULL, NULL);
                        seen[1] = errno;
                        seen[2] = getppid() > 0 ? 1 : 0; /* what is not watched goes on */
                        if (write(pipes[1], seen, sizeof seen) < 0)
                                kill(getpid(), SIGKILL);
                        for (;;)
                                pause(); /* its end would be a recorded call */
                }
                close(pipes[1]);
                ssize_t n = read(pipes[0], got, sizeof got);
                close(pipes[0]);
                kill(pid, SIGKILL);
                waitpid(pid, NULL, 0);
                if (n == 0)
                        printf("skip without a witness: this kernel does not tell of calls\n");
                else
                        check(got[0] == ENOSYS && got[1] == ENOSYS && got[2] == 1,
                              "without a witness everything that it would hear of is refused",
                              "%d %d %d", got[0], got[1], got[2]);
        }
}

static void words(void)
{
        struct peek p = {0};
        _cleanup_buf_ struct buf b = {0};
        peek_begin(&p, getpid());
        uint64_t args[6] = {(uintptr_t) "none", (uintptr_t) "/mnt", (uintptr_t) "tmpfs", 1, 0, 0};
        call_words("mount", args, &p, &b);
        check_str("a mount in words", text(&b), "none, /mnt, tmpfs, 0x1, NULL");
        b.len = 0;
        call_words("kill", (uint64_t[6]){12, SIGTERM}, &p, &b);
        check_str("a signal in words", text(&b), "pid 12, SIGTERM");
        b.len = 0;
        call_words("something", (uint64_t[6]){1, 2, 3}, &p, &b);
        check_str("any other call", text(&b), "0x1, 0x2, 0x3");
}

static void heads(void)
{
        struct chain c;
        struct head h;
        struct err err = {0};
        _cleanup_close_ int fd = memfd_create("head", MFD_CLOEXEC);
        CHECK("no head yet", head_read(fd, &h, &err) == 0 && !h.is_there);
        chain_begin(&c);
        c.seq = 42;
        CHECK("a head comes back", head_write(fd, &c, 12345) == 0 && head_read(fd, &h, &err) == 0 &&
                                           h.is_there && h.seq == 42 && h.size == 12345 &&
                                           !strcmp(h.hash, c.prev));
        bool is_found = true;
        struct stat st;
        if (fstat(fd, &st) < 0)
                return;
        for (off_t i = 0; i < st.st_size; i++) { /* a byte that makes no sense anywhere */
                char was;
                struct err e = {0};
                if (pread(fd, &was, 1, i) != 1 || pwrite(fd, "#", 1, i) != 1)
                        return;
                is_found = is_found && head_read(fd, &h, &e) < 0;
                if (pwrite(fd, &was, 1, i) != 1)
                        return;
        }
        CHECK("a changed head is none", is_found);
}

int main(void)
{
        edge = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        munmap(edge + 4096, 4096);
        reading();
        quoting();
        vectors();
        racing();
        paths();
        processes();
        answers();
        deserted();
        words();
        heads();
        return check_end();
}
