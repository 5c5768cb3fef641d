/* inside.c - the attacker: runs one case, or all of them, inside the box and prints a line each.
 *
 * Started by run.sh in the workspace of a box as `inside N`, `inside all`, `inside list`. Each case
 * runs in a forked child with a deadline, so that a case which is killed by the filter or hangs
 * cannot hide the next one. Static, so that it runs in any box. */
#include "attack.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CASE_DEADLINE_MS 8000

static const struct attack_case *const groups[] = {
        tty_cases,    ns_cases,     mount_cases, kernel_cases, boot_cases, proc_cases, peer_cases,
        sysctl_cases, socket_cases, net_cases,   path_cases,   ipc_cases,  file_cases, state_cases,
        notify_cases, design_cases, limit_cases, share_cases,  host_cases,
};

static const char *const proof_names[] = {"READ", "WRITE", "EXEC", "REACH", "CRASH", "STARVE"};
static const char *const strength_names[] = {"real", "surface", "state"};

/* for_each(fn, arg): call ${fn} for every case in the tables; stops when it returns non-zero. */
static int for_each(int (*fn)(const struct attack_case *, void *), void *arg)
{
        for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++)
                for (const struct attack_case *c = groups[g]; c->id; c++) {
                        int r = fn(c, arg);
                        if (r)
                                return r;
                }
        return 0;
}

/* print_outcome(id, out): the one line. Never more, so that the harness can count. */
static void print_outcome(const char *id, const struct outcome *o)
{
        switch (o->kind) {
        case OUT_BLOCKED:
                printf("case %s blocked %s %s\n", id, o->why[0] ? o->why : errno_name(o->err),
                       o->text);
                break;
        case OUT_ESCAPED:
                printf("case %s escaped %s\n", id, o->text);
                break;
        case OUT_NA:
                printf("case %s n/a %s\n", id, o->text);
                break;
        case OUT_NONE:
                printf("case %s n/a the attack came to no result\n", id);
                break;
        }
        fflush(stdout);
}

/* The child tells its outcome through a pipe, so that what a case prints by accident is no verdict.
 */
static void child_run(const struct attack_case *c, int out_fd)
{
        struct outcome o = {.kind = OUT_NONE};
        verdict_fd = out_fd;
        c->run(&o);
        ssize_t n = write(out_fd, &o, sizeof o);
        _exit(n == (ssize_t)sizeof o ? 0 : 1);
}

static int wait_deadline(pid_t pid, int *status)
{
        /* Most cases are over at once, and a hundred of them run in each of some sixty boxes. */
        for (long us = 0, nap_us; us < CASE_DEADLINE_MS * 1000L; us += nap_us) {
                pid_t got = waitpid(pid, status, WNOHANG);
                if (got == pid || (got < 0 && errno == ECHILD))
                        return 0;
                nap_us = us < 5000 ? 250 : 5000;
                nanosleep(&(struct timespec){.tv_nsec = nap_us * 1000}, NULL);
        }
        kill(pid, SIGKILL);
        waitpid(pid, status, 0);
        return -1;
}

static void run_case(const struct attack_case *c)
{
        struct outcome o = {.kind = OUT_NONE};
        int p[2], status = 0;

        if (pipe(p) < 0) {
                out_na(&o, "no pipe for the verdict");
                print_outcome(c->id, &o);
                return;
        }
        pid_t pid = fork();
        if (pid == 0) {
                close(p[0]);
                child_run(c, p[1]);
        }
        close(p[1]);
        if (pid < 0) {
                out_na(&o, "no process for the attempt (%s)", errno_name(errno));
        } else if (wait_deadline(pid, &status) < 0) {
                out_blocked_why(&o, "TIMEOUT", "the attempt hung and was ended");
        } else if (WIFSIGNALED(status)) {
                char sig[24];
                const char *abbrev = sigabbrev_np(WTERMSIG(status));
                snprintf(sig, sizeof sig, "SIG%s", abbrev ? abbrev : "?");
                out_blocked_why(&o, sig, "the attacker was killed");
        } else if (read(p[0], &o, sizeof o) != (ssize_t)sizeof o) {
                out_na(&o, "the attempt gave no verdict");
        }
        close(p[0]);
        print_outcome(c->id, &o);
}

struct selection {
        const char *id; /* NULL: all that match ${needs} */
        int needs;
        bool found;
};

static int select_and_run(const struct attack_case *c, void *arg)
{
        struct selection *s = arg;

        if (s->id ? strcmp(s->id, c->id) != 0 : c->needs != s->needs)
                return 0;
        s->found = true;
        if (c->run)
                run_case(c);
        return 0;
}

static int list_line(const struct attack_case *c, void *arg)
{
        bool *json = arg;
        const char *needs = c->needs & IN_TTY     ? "tty"
                            : c->needs & IN_LIMIT ? "limit"
                            : c->needs & BY_HOST  ? "host"
                                                  : "plain";
        if (*json)
                printf("{\"case\":\"%s\",\"name\":\"%s\",\"proof\":\"%s\",\"strength\":\"%s\","
                       "\"start\":\"%s\",\"layers_user\":\"%s\",\"layers_root\":\"%s\"}\n",
                       c->id, c->name, proof_names[c->proof], strength_names[c->strength], needs,
                       c->layers_user, c->layers_root);
        else
                printf("%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c->id, proof_names[c->proof],
                       strength_names[c->strength], needs, c->layers_user, c->layers_root, c->name);
        return 0;
}

/* hold(seconds): stand still under a name the harness can find; for the host-side cases. */
static int hold(const char *seconds)
{
        printf("holding\n");
        fflush(stdout);
        sleep((unsigned)atoi(seconds));
        return 0;
}

static int usage(void)
{
        fprintf(stderr,
                "usage: inside CASE... | all | all-tty | list [--json] | hold SECONDS | storm | "
                "reuse\n");
        return 64;
}

int main(int argc, char **argv)
{
        if (argc < 2)
                return usage();
        if (strcmp(argv[1], "list") == 0) {
                bool json = argc > 2 && strcmp(argv[2], "--json") == 0;
                return for_each(list_line, &json);
        }
        if (strcmp(argv[1], "hold") == 0)
                return argc > 2 ? hold(argv[2]) : usage();
        if (strcmp(argv[1], "quiet") == 0)
                return 0;
        if (strcmp(argv[1], "storm") == 0)
                return storm_main();
        if (strcmp(argv[1], "reuse") == 0)
                return reuse_main();
        if (strncmp(argv[1], "all", 3) == 0) {
                struct selection s = {.needs = strcmp(argv[1], "all-tty") == 0 ? IN_TTY : 0};
                return for_each(select_and_run, &s);
        }
        for (int i = 1; i < argc; i++) {
                struct selection s = {.id = argv[i]};
                for_each(select_and_run, &s);
                if (!s.found) {
                        fprintf(stderr, "inside: there is no case \"%s\"; try `inside list`\n",
                                argv[i]);
                        return 64;
                }
        }
        return 0;
}
