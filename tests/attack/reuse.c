/* reuse.c - the half of case 43 that runs inside: a number that the witness knows changes hands.
 *
 * First a thread makes a call and ends, and a process that gets its number makes another: whose was
 * that? Then a caller dies while its call is held, and whoever gets its number has other words at
 * the same place: whose words are those? The host sees to it that the numbers come round; an
 * attacker would fork some ten thousand times. Speaks with notify_cases.sh: a line "thread N",
 * "caller N" or "gone", then waits for a line. */
#include "attack.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static struct sockaddr_un address = {.sun_family = AF_UNIX};
static int say[2], hear[2]; /* between a caller and the one who talks with the host */

/* talk(word, number): a line to the host, and its answer. */
static void talk(const char *word, int number)
{
        char c = 0;
        printf("%s %d\n", word, number);
        fflush(stdout);
        while (read(0, &c, 1) == 1 && c != '\n')
                ;
}

static void *other_thread(void *arg)
{
        talk("thread", (int)syscall(SYS_gettid));
        syscall(SYS_unshare, CLONE_NEWUSER);
        return arg;
}

/* The call of the thread asks for a user namespace, the one of its heir for mounts. */
static void thread_then_process(void)
{
        pthread_t t;
        if (pthread_create(&t, NULL, other_thread, NULL) != 0)
                return;
        pthread_join(t, NULL);
        talk("gone", getpid());
        pid_t heir = fork();
        if (heir == 0) {
                syscall(SYS_unshare, CLONE_NEWNS);
                _exit(0);
        }
        waitpid(heir, NULL, 0);
}

static void name_is(const char *name)
{
        memset(address.sun_path, 0, sizeof address.sun_path);
        memcpy(address.sun_path + 1, name, strlen(name));
}

static void caller_then_heir(int sock)
{
        char c;
        name_is("made-by-the-caller");
        pid_t caller = fork();
        if (caller == 0) {
                struct itimerval t = {.it_value = {.tv_sec = 1}};
                if (read(hear[0], &c, 1) != 1)
                        _exit(1);
                setitimer(ITIMER_REAL, &t, NULL);
                (void)bind(sock, (struct sockaddr *)&address,
                           offsetof(struct sockaddr_un, sun_path) + 1 +
                                   sizeof "made-by-the-caller" - 1);
                pause();
                _exit(0);
        }
        talk("caller", caller);
        if (write(hear[1], "g", 1) != 1)
                return;
        waitpid(caller, NULL, 0);
        talk("gone", caller);
        name_is("words-of-another!!");
        pid_t heir = fork();
        if (heir == 0) {
                if (read(say[0], &c, 1) != 1)
                        _exit(1);
                syscall(SYS_exit, 0);
        }
        /* Waits behind the held call, and so until the host's side of it is over. */
        syscall(SYS_unshare, CLONE_NEWIPC);
        if (write(say[1], "g", 1) == 1)
                waitpid(heir, NULL, 0);
}

int reuse_main(void)
{
        enum { THREADS = 8, CALLERS = 3 };
        if (pipe(say) < 0 || pipe(hear) < 0)
                return 1;
        for (int i = 0; i < THREADS; i++)
                thread_then_process();
        for (int i = 0; i < CALLERS; i++) {
                int sock = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
                caller_then_heir(sock);
                close(sock);
        }
        talk("over", 0);
        return 0;
}
