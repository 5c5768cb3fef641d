/* doctor.c - what the checks share: answers, trying things in a child, and the list itself. */
#include "cli/doctor.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

const struct doctor_check doctor_checks[] = {
        {"kernel", doctor_kernel},
        {"user namespaces", doctor_userns},
        {"other namespaces", doctor_namespaces},
        {"network", doctor_network},
        {"overlay", doctor_overlay},
        {"proc", doctor_proc},
        {"id-mapped mounts", doctor_idmap},
        {"seccomp", doctor_seccomp},
        {"Landlock", doctor_landlock},
        {"control groups", doctor_cgroup},
        {"state directory", doctor_state},
        {"TIOCSTI", doctor_tiocsti},
        {"KVM", doctor_kvm},
        {0},
};

void doctor_say(struct doctor_answer *a, enum out_mark mark, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        a->mark = mark;
        vsnprintf(a->words, sizeof a->words, fmt, ap);
        va_end(ap);
}

void doctor_fix(struct doctor_answer *a, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        vsnprintf(a->fix, sizeof a->fix, fmt, ap);
        va_end(ap);
}

int doctor_try(int (*fn)(char *, size_t), char *report, size_t len)
{
        int p[2], status;
        report[0] = 0;
        if (pipe2(p, O_CLOEXEC) < 0)
                return -1;
        pid_t pid = fork();
        if (pid == 0) {
                prctl(PR_SET_PDEATHSIG, SIGKILL);
                char said[512] = "";
                int e = fn(said, sizeof said);
                fdio_write_all(p[1], said, strlen(said));
                _exit(e & 0xff);
        }
        close(p[1]);
        if (pid > 0) {
                size_t got = 0;
                ssize_t n;
                while (got + 1 < len && (n = read(p[0], report + got, len - 1 - got)) > 0)
                        got += (size_t)n;
                report[got] = 0;
        }
        close(p[0]);
        if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
                return -1;
        return WEXITSTATUS(status);
}

long doctor_number(const char *path)
{
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, 4096, NULL);
        return text ? strtol(text, NULL, 10) : -1;
}

const char *doctor_container(void)
{
        const char *env = getenv("container");
        if (access("/.dockerenv", F_OK) == 0)
                return "docker";
        if (access("/run/.containerenv", F_OK) == 0)
                return "podman";
        return env && *env ? env : NULL;
}

int doctor_why(struct err *err)
{
        for (const struct doctor_check *c = doctor_checks; c->name; c++) {
                struct doctor_answer a = {0};
                c->ask(&a);
                if (a.mark == OUT_BAD)
                        return err_set(err, E_MACHINE, "%s: %s", c->name, a.words);
        }
        return 0;
}
