/* plant.c - the host's side of the attacks: listeners, queues, a victim, a terminal, a key.
 *
 * Started by run.sh with the rights of the user whose box is attacked. `serve` plants everything,
 * writes what the attacker needs to know to the workspace, and notes in DIR/events whatever reaches
 * it, until its standard input ends; then it takes everything away again. `tty` and `keys` are in
 * plant_run.c. */
#include "plant.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

static char canary[64];
static FILE *env_file, *events;

static void die(const char *what)
{
        fprintf(stderr, "plant: %s: %s\n", what, strerror(errno));
        exit(1);
}

static void tell(const char *key, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* tell(key, fmt, ...): one line for the attacker. */
static void tell(const char *key, const char *fmt, ...)
{
        va_list ap;
        fprintf(env_file, "%s=", key);
        va_start(ap, fmt);
        vfprintf(env_file, fmt, ap);
        va_end(ap);
        fputc('\n', env_file);
}

static void event(const char *what, const char *more)
{
        fprintf(events, "%s%s%s\n", what, more ? " " : "", more ? more : "");
        fflush(events);
}

static int write_file(const char *path, const char *text, mode_t mode)
{
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, mode);
        if (fd < 0)
                return -1;
        ssize_t n = write(fd, text, strlen(text));
        fchmod(fd, mode);
        close(fd);
        return n == (ssize_t)strlen(text) ? 0 : -1;
}

/* ---- the victim: counts SIGUSR1 by writing a byte for each ---- */

static void on_usr1(int sig)
{
        (void)sig;
        if (write(3, "s", 1) < 0)
                _exit(1);
}

static _Noreturn void victim_main(void)
{
        signal(SIGUSR1, on_usr1);
        plant_listener();
        for (;;)
                pause();
}

static pid_t victim_start(int *read_fd)
{
        int p[2];
        if (pipe(p) < 0)
                die("pipe");
        pid_t pid = fork();
        if (pid == 0) {
                dup2(p[1], 3);
                close_range(4, ~0U, 0);
                setenv("VICTIM_CANARY", canary, 1);
                execl("/proc/self/exe", "plant", "victim", canary, NULL);
                _exit(127);
        }
        close(p[1]);
        *read_fd = p[0];
        fcntl(p[0], F_SETFD, FD_CLOEXEC);
        /* It must have its handler before anybody is told its number. */
        usleep(50000);
        return pid;
}

/* ---- listeners ---- */

static int listen_unix(const char *path, bool is_abstract, int type)
{
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        socklen_t len = sizeof a;
        int fd = socket(AF_UNIX, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (is_abstract) {
                size_t n = strlen(path);
                memcpy(a.sun_path + 1, path, n);
                len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
        } else {
                snprintf(a.sun_path, sizeof a.sun_path, "%s", path);
                unlink(path);
        }
        if (fd < 0 || bind(fd, (struct sockaddr *)&a, len) < 0 ||
            (type == SOCK_STREAM && listen(fd, 16) < 0))
                die(path);
        if (!is_abstract)
                chmod(path, 0777);
        return fd;
}

static int listen_tcp(int *port)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof a;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 16) < 0 ||
            getsockname(fd, (struct sockaddr *)&a, &len) < 0)
                die("a TCP listener");
        *port = ntohs(a.sin_port);
        return fd;
}

/* listen_tcp6(&port): -1 where the host has no IPv6. */
static int listen_tcp6(int *port)
{
        struct sockaddr_in6 a = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
        socklen_t len = sizeof a;
        int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 || listen(fd, 16) < 0 ||
            getsockname(fd, (struct sockaddr *)&a, &len) < 0)
                return -1;
        *port = ntohs(a.sin6_port);
        return fd;
}

static int bind_udp(int *port)
{
        struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t len = sizeof a;
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

        if (fd < 0 || bind(fd, (struct sockaddr *)&a, sizeof a) < 0 ||
            getsockname(fd, (struct sockaddr *)&a, &len) < 0)
                die("a UDP socket");
        *port = ntohs(a.sin_port);
        return fd;
}

static int make_fifo(const char *path)
{
        unlink(path);
        if (mkfifo(path, 0666) < 0 || chmod(path, 0666) < 0)
                die(path);
        return open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
}

/* give(fd, secret_fd): hand the caller a descriptor of the secret (case 34). */
static void give(int fd, int secret_fd)
{
        char control[CMSG_SPACE(sizeof(int))] = {0};
        struct iovec iov = {"x", 1};
        struct msghdr msg = {.msg_iov = &iov,
                             .msg_iovlen = 1,
                             .msg_control = control,
                             .msg_controllen = sizeof control};
        struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN(sizeof(int));
        memcpy(CMSG_DATA(c), &secret_fd, sizeof secret_fd);
        sendmsg(fd, &msg, MSG_NOSIGNAL);
}

/* ---- what is watched ---- */

enum watch_kind { WATCH_STDIN, WATCH_ACCEPT, WATCH_DRAIN, WATCH_ANSWER, WATCH_MOUNTS };

static struct watch {
        const char *name;
        enum watch_kind kind;
} watches[16];
static struct pollfd polls[16];
static nfds_t watch_n;

static void watch(const char *name, enum watch_kind kind, int fd)
{
        if (fd < 0)
                return;
        watches[watch_n] = (struct watch){name, kind};
        polls[watch_n++] =
                (struct pollfd){.fd = fd, .events = kind == WATCH_MOUNTS ? POLLPRI : POLLIN};
}

static void on_accept(const char *name, int fd, int secret_fd)
{
        int c = accept4(fd, NULL, NULL, SOCK_CLOEXEC);
        if (c < 0)
                return;
        event(name, NULL);
        if (strcmp(name, "abstract") == 0)
                give(c, secret_fd);
        else if (send(c, canary, strlen(canary), MSG_NOSIGNAL) < 0)
                event(name, "went away");
        close(c);
}

/* on_question(name, fd): a datagram is answered with the secret. */
static void on_question(const char *name, int fd)
{
        struct sockaddr_in from;
        socklen_t len = sizeof from;
        char buf[64];
        if (recvfrom(fd, buf, sizeof buf, 0, (struct sockaddr *)&from, &len) < 0)
                return;
        event(name, NULL);
        sendto(fd, canary, strlen(canary), 0, (struct sockaddr *)&from, len);
}

static void on_mounts(int fd)
{
        static char table[262144];
        ssize_t n = pread(fd, table, sizeof table - 1, 0);
        table[n > 0 ? n : 0] = 0;
        if (strstr(table, "ostiary-attack-26"))
                event("mount", NULL);
}

static void serve_loop(int secret_fd)
{
        char buf[512];

        for (;;) {
                if (poll(polls, watch_n, -1) < 0)
                        return;
                for (nfds_t i = 0; i < watch_n; i++) {
                        if (!polls[i].revents)
                                continue;
                        switch (watches[i].kind) {
                        case WATCH_STDIN:
                                if (read(0, buf, sizeof buf) <= 0)
                                        return;
                                break;
                        case WATCH_ACCEPT:
                                on_accept(watches[i].name, polls[i].fd, secret_fd);
                                break;
                        case WATCH_DRAIN:
                                if (read(polls[i].fd, buf, sizeof buf) > 0)
                                        event(watches[i].name, NULL);
                                break;
                        case WATCH_ANSWER:
                                on_question(watches[i].name, polls[i].fd);
                                break;
                        case WATCH_MOUNTS:
                                on_mounts(polls[i].fd);
                                break;
                        }
                }
        }
}

static char *join(const char *dir, const char *name)
{
        char *s;
        if (asprintf(&s, "%s/%s", dir, name) < 0)
                die("memory");
        return s;
}

/* plant_paths(ws, home, tree): sockets, FIFOs and secrets that have a path. */
static void plant_paths(const char *ws, const char *home, const char *tree)
{
        char *ws_sock = join(ws, "agent.sock"), *ws_fifo = join(ws, "agent.fifo");
        char *home_sock = join(home, "agent.sock"), *home_secret = join(home, ".ssh/id_attack");

        watch("ws-sock", WATCH_ACCEPT, listen_unix(ws_sock, false, SOCK_STREAM));
        watch("ws-fifo", WATCH_DRAIN, make_fifo(ws_fifo));
        watch("home-sock", WATCH_ACCEPT, listen_unix(home_sock, false, SOCK_STREAM));
        mkdir(join(home, ".ssh"), 0700);
        if (write_file(home_secret, canary, 0600) < 0)
                die(home_secret);
        tell("WS_SOCK", "%s", ws_sock);
        tell("WS_FIFO", "%s", ws_fifo);
        tell("HOME_SOCK", "%s", home_sock);
        tell("HOME_SECRET", "%s", home_secret);
        if (strcmp(tree, "-") == 0)
                return;
        char *sock = join(tree, "sock"), *fifo = join(tree, "fifo"), *file = join(tree, "file");
        watch("tree-sock", WATCH_ACCEPT, listen_unix(sock, false, SOCK_STREAM));
        watch("tree-fifo", WATCH_DRAIN, make_fifo(fifo));
        if (write_file(file, "unchanged\n", 0666) < 0)
                die(file);
        tell("TREE_SOCK", "%s", sock);
        tell("TREE_FIFO", "%s", fifo);
        tell("TREE_FILE", "%s", file);
        tell("ROOT_FILE", "%s/root-only", tree);
}

/* plant_ipc(): one of each, open to everybody. Returns the id of the shared memory. */
static int plant_ipc(const char *shm_path, const char *mq_name)
{
        key_t key = (key_t)(0x05710000 + (getpid() & 0xffff));
        int id = shmget(key, 4096, IPC_CREAT | IPC_EXCL | 0666);
        char *at = id >= 0 ? shmat(id, NULL, 0) : (void *)-1;

        if (at != (void *)-1) {
                strcpy(at, canary);
                tell("SHM_KEY", "%d", key);
        }
        mode_t old = umask(0);
        struct mq_attr attr = {.mq_maxmsg = 4, .mq_msgsize = 128};
        mqd_t q = mq_open(mq_name, O_CREAT | O_WRONLY | O_CLOEXEC, 0666, &attr);
        if (q != (mqd_t)-1 && mq_send(q, canary, strlen(canary), 0) == 0)
                tell("MQ_NAME", "%s", mq_name);
        if (write_file(shm_path, canary, 0666) == 0)
                tell("DEV_SHM", "%s", shm_path);
        umask(old);
        return id;
}

static void tell_host(void)
{
        static const char *const etc[] = {"/etc/fstab", "/etc/adduser.conf", "/etc/crontab",
                                          "/etc/deluser.conf", "/etc/pam.conf"};
        char name[256] = "";

        gethostname(name, sizeof name - 1);
        tell("HOST_NAME", "%s", name);
        tell("HOST_SYSRQ", "%d", access("/proc/sysrq-trigger", F_OK) == 0);
        for (size_t i = 0; i < sizeof etc / sizeof *etc; i++) {
                struct stat st;
                if (stat(etc[i], &st) == 0 && st.st_size > 0 && access(etc[i], R_OK) == 0) {
                        tell("ETC_FILE", "%s", etc[i]);
                        break;
                }
        }
}

static int serve_main(char **argv)
{
        const char *dir = argv[0], *ws = argv[1], *home = argv[2], *tree = argv[3];
        char abstract[64], dgram[64], mq_name[64], shm_path[64];
        int port = 0, udp_port = 0, tcp6_port = -1, signals = -1;

        snprintf(canary, sizeof canary, "%s", argv[4]);
        env_file = fopen(join(ws, ".attack-env"), "we");
        events = fopen(join(dir, "events"), "we");
        char *secret = join(dir, "secret");
        if (!env_file || !events || write_file(secret, canary, 0600) < 0)
                die(dir);
        int secret_fd = open(secret, O_RDONLY | O_CLOEXEC);
        snprintf(abstract, sizeof abstract, "ostiary-attack-%d", (int)getpid());
        snprintf(dgram, sizeof dgram, "ostiary-attack-dgram-%d", (int)getpid());
        snprintf(mq_name, sizeof mq_name, "/ostiary-attack-%d", (int)getpid());
        snprintf(shm_path, sizeof shm_path, "/dev/shm/ostiary-attack-%d", (int)getpid());

        tell("CANARY", "%s", canary);
        tell("SECRET_FILE", "%s", secret);
        watch("stdin", WATCH_STDIN, 0);
        watch("abstract", WATCH_ACCEPT, listen_unix(abstract, true, SOCK_STREAM));
        watch("dgram", WATCH_DRAIN, listen_unix(dgram, true, SOCK_DGRAM));
        watch("tcp", WATCH_ACCEPT, listen_tcp(&port));
        watch("tcp6", WATCH_ACCEPT, listen_tcp6(&tcp6_port));
        watch("udp", WATCH_ANSWER, bind_udp(&udp_port));
        watch("mounts", WATCH_MOUNTS, open("/proc/self/mountinfo", O_RDONLY | O_CLOEXEC));
        tell("ABSTRACT", "%s", abstract);
        tell("ABSTRACT_DGRAM", "%s", dgram);
        tell("TCP_PORT", "%d", port);
        tell("TCP6_PORT", "%d", tcp6_port);
        tell("UDP_PORT", "%d", udp_port);
        plant_paths(ws, home, tree);
        int shm_id = plant_ipc(shm_path, mq_name);
        pid_t victim = victim_start(&signals);
        watch("signal", WATCH_DRAIN, signals);
        tell("VICTIM_PID", "%d", (int)victim);
        tell_host();
        fclose(env_file);
        puts("ready");
        fflush(stdout);

        serve_loop(secret_fd);
        kill(victim, SIGKILL);
        waitpid(victim, NULL, 0);
        if (shm_id >= 0)
                shmctl(shm_id, IPC_RMID, NULL);
        mq_unlink(mq_name);
        unlink(shm_path);
        return 0;
}

int main(int argc, char **argv)
{
        signal(SIGPIPE, SIG_IGN);
        if (argc == 7 && strcmp(argv[1], "serve") == 0)
                return serve_main(argv + 2);
        if (argc > 1 && strcmp(argv[1], "victim") == 0)
                victim_main();
        if (argc > 3 && strcmp(argv[1], "tty") == 0)
                return plant_tty(argv[2], argv + 3);
        if (argc == 4 && strcmp(argv[1], "swap") == 0)
                return plant_swap(argv[2], argv[3]);
        if (argc > 4 && strcmp(argv[1], "keys") == 0)
                return plant_keys(argv[2], argv[3], argv + 4);
        fprintf(stderr, "usage: plant serve DIR WORKSPACE HOME TREE CANARY | tty ENV CMD... | "
                        "keys ENV SECRET CMD...\n");
        return 64;
}
