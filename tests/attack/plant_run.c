/* plant_run.c - run a command with a terminal, or a session keyring, that the harness made.
 *
 * Called by plant.c. Both note in the attacker's file what they made, so that the attacker can tell
 * the caller's terminal from its own and ask for the user's key by number. */
#include "plant.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

static _Noreturn void die(const char *what)
{
        fprintf(stderr, "plant: %s: %s\n", what, strerror(errno));
        exit(1);
}

/* ---- a command with a session keyring of its own, in which the user's key lies (case 9) ---- */

int plant_keys(const char *env_path, const char *secret, char **cmd)
{
        if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) >= 0) {
                long key = syscall(SYS_add_key, "user", "ostiary-attack", secret, strlen(secret),
                                   KEY_SPEC_SESSION_KEYRING);
                FILE *f = fopen(env_path, "ae");
                if (key > 0 && f)
                        fprintf(f, "KEY_SERIAL=%ld\nKEY_NAME=ostiary-attack\n", key);
                if (f)
                        fclose(f);
        }
        execvp(cmd[0], cmd);
        die(cmd[0]);
}

/* ---- two names that change places as fast as they can (case 22w) ---- */

int plant_swap(const char *one, const char *two)
{
        struct pollfd p = {.fd = 0, .events = POLLIN};

        /* An even number of times, so that in the end everything is where it was. */
        while (poll(&p, 1, 0) == 0)
                for (int i = 0; i < 2; i++) {
                        if (renameat2(AT_FDCWD, one, AT_FDCWD, two, RENAME_EXCHANGE) < 0)
                                die(one);
                        sched_yield();
                }
        return 0;
}

/* ---- a command with a terminal of its own (cases 1-3) ---- */

int plant_tty(const char *env_path, char **cmd)
{
        int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
        char *name = NULL, buf[4096];
        struct stat st;

        if (master < 0 || grantpt(master) < 0 || unlockpt(master) < 0 || !(name = ptsname(master)))
                die("a terminal");
        int slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (slave < 0 || fstat(slave, &st) < 0)
                die(name);
        struct winsize size = {.ws_row = 24, .ws_col = 200};
        ioctl(slave, TIOCSWINSZ, &size);
        FILE *f = fopen(env_path, "ae");
        if (!f)
                die(env_path);
        fprintf(f, "HOST_TTY=%lu:%lu\n", (unsigned long)st.st_dev, (unsigned long)st.st_ino);
        fclose(f);

        pid_t pid = fork();
        if (pid == 0) {
                setsid();
                ioctl(slave, TIOCSCTTY, 0);
                dup2(slave, 0);
                dup2(slave, 1);
                dup2(slave, 2);
                execvp(cmd[0], cmd);
                _exit(127);
        }
        /* The slave stays open here, so that the master does not hang up and what was typed into
         * the terminal can still be counted. */
        int status = 0;
        for (int waited = 0; waited < 60000; waited += 20) {
                struct pollfd p = {.fd = master, .events = POLLIN};
                if (poll(&p, 1, 20) > 0) {
                        ssize_t n = read(master, buf, sizeof buf);
                        if (n > 0 && write(1, buf, (size_t)n) < 0)
                                break;
                        continue;
                }
                if (waitpid(pid, &status, WNOHANG) == pid)
                        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        kill(pid, SIGKILL);
        waitpid(pid, &status, 0);
        return 124;
}

void plant_listener(void)
{
        struct sock_filter all[] = {BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
        struct sock_fprog p = {1, all};
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
                syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &p);
}
