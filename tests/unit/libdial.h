/* libdial.h - what the tests of dial share: a network namespace in which every address of two
 * ranges is this machine, name servers that say what the test wants, and the role itself at the end
 * of a socket, as the supervisor and egress hold it. */
#ifndef TESTS_UNIT_LIBDIAL_H
#define TESTS_UNIT_LIBDIAL_H

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "dial/dial.h"
#include "policy/policy.h"
#include "unit/check.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef IPV6_FREEBIND
#define IPV6_FREEBIND 78
#endif

#pragma GCC diagnostic ignored "-Wunused-result"
/* Not every test needs everything of this. */
#pragma GCC diagnostic ignored "-Wunused-function"
#pragma GCC diagnostic ignored "-Wunused-variable"

/* --- the network: 20.0.0.0/8 and 2600::/16 are "the internet", and they are all here ------------
 */

static int net_make(void)
{
        char map[64];
        uid_t uid = getuid();
        gid_t gid = getgid();
        if (unshare(CLONE_NEWUSER | CLONE_NEWNET) < 0)
                return -1;
        fdio_put(AT_FDCWD, "/proc/self/setgroups", "deny");
        snprintf(map, sizeof map, "0 %u 1", uid);
        fdio_put(AT_FDCWD, "/proc/self/uid_map", map);
        snprintf(map, sizeof map, "0 %u 1", gid);
        fdio_put(AT_FDCWD, "/proc/self/gid_map", map);
        return system("PATH=$PATH:/usr/sbin:/sbin; ip link set lo up && ip addr add 30.0.0.1/32 "
                      "dev lo && "
                      "ip route add local 20.0.0.0/8 dev lo && "
                      "ip -6 route add local 2600::/16 dev lo") == 0
                       ? 0
                       : -1;
}

static int listen_on(const char *addr, uint16_t port, int backlog)
{
        int six = strchr(addr, ':') != NULL, on = 1;
        int fd = socket(six ? AF_INET6 : AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
        struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
        inet_pton(six ? AF_INET6 : AF_INET, addr,
                  six ? (void *)&in6.sin6_addr : (void *)&in.sin_addr);
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
        if (six) {
                setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on);
                setsockopt(fd, IPPROTO_IPV6, IPV6_FREEBIND, &on, sizeof on);
        }
        if (bind(fd, six ? (struct sockaddr *)&in6 : (struct sockaddr *)&in,
                 six ? sizeof in6 : sizeof in) < 0 ||
            listen(fd, backlog) < 0) {
                perror(addr);
                exit(1);
        }
        return fd;
}

/* deaf_on(addr, port): a listener whose queue is full, so that connecting hangs. */
static void deaf_on(const char *addr, uint16_t port)
{
        int fd = listen_on(addr, port, 0);
        struct sockaddr_storage sa;
        socklen_t len = sizeof sa;
        getsockname(fd, (struct sockaddr *)&sa, &len);
        for (int i = 0; i < 3; i++) {
                int c = socket(sa.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
                (void)connect(c, (struct sockaddr *)&sa, len);
        }
        usleep(50000);
}

/* --- name servers ------------------------------------------------------------------------------
 */

struct record {
        const char *name, *value; /* an address, "=name" for CNAME, "!N" for code N, "silence",
                                     "silence6" for no answer about IPv6 */
};

static int queries[2]; /* a pipe: every question with its type and number, one line each */
static char queries_text[65536];

static size_t put_name(uint8_t *out, const char *name)
{
        size_t n = 0;
        while (*name) {
                size_t len = strcspn(name, ".");
                out[n++] = (uint8_t)len;
                memcpy(out + n, name, len);
                n += len;
                name += len + (name[len] == '.');
        }
        out[n++] = 0;
        return n;
}

static size_t put_rr(uint8_t *out, const char *name, unsigned type, const void *data, size_t len)
{
        size_t n = put_name(out, name);
        const uint8_t fixed[] = {0, (uint8_t)type, 0, 1, 0, 0, 0, 60, 0, (uint8_t)len};
        memcpy(out + n, fixed, sizeof fixed);
        memcpy(out + n + sizeof fixed, data, len);
        return n + sizeof fixed + len;
}

/* dns_answer(q, n, out, table): the bytes to send, 0 for silence. */
static size_t dns_answer(const uint8_t *q, size_t n, uint8_t *out, const struct record *table)
{
        char name[256] = "";
        size_t at = 12, len = 0;
        while (at < n && q[at] && len + q[at] + 2 < sizeof name) {
                memcpy(name + len, q + at + 1, q[at]);
                len += q[at];
                name[len++] = '.';
                at += q[at] + 1u;
        }
        name[len ? len - 1 : 0] = 0;
        unsigned type = q[at + 2];
        dprintf(queries[1], "%s %u %u\n", name, type, q[0] * 256u + q[1]);
        memcpy(out, q, at + 5);
        out[2] = 0x81;
        out[3] = 0x80;
        memset(out + 6, 0, 6);
        size_t used = at + 5;
        const char *owner = name;
        bool is_known = false;
        for (int hop = 0; hop < 8; hop++) {
                const char *next = NULL;
                for (const struct record *r = table; r->name; r++) {
                        uint8_t data[256];
                        if (strcasecmp(r->name, owner) != 0)
                                continue;
                        is_known = true;
                        if (strcmp(r->value, "silence") == 0 ||
                            (strcmp(r->value, "silence6") == 0 && type == 28))
                                return 0;
                        if (r->value[0] == '!') {
                                out[3] = (uint8_t)(0x80 | atoi(r->value + 1));
                        } else if (r->value[0] == '=') {
                                next = r->value + 1;
                                used += put_rr(out + used, owner, 5, data, put_name(data, next));
                                out[7]++;
                        } else if (r->value[0] != 's' && type == (strchr(r->value, ':') ? 28 : 1)) {
                                inet_pton(type == 28 ? AF_INET6 : AF_INET, r->value, data);
                                used += put_rr(out + used, owner, type, data, type == 28 ? 16 : 4);
                                out[7]++;
                        }
                }
                if (!next)
                        break;
                owner = next;
        }
        if (!is_known)
                out[3] = 0x83;
        return used;
}

static pid_t dns_start(const char *addr, const struct record *table)
{
        int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(53)}, from;
        inet_pton(AF_INET, addr, &in.sin_addr);
        if (bind(fd, (struct sockaddr *)&in, sizeof in) < 0) {
                perror("bind 53");
                exit(1);
        }
        pid_t pid = fork();
        if (pid) {
                close(fd);
                return pid;
        }
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        for (;;) {
                uint8_t q[1500], out[4096];
                socklen_t len = sizeof from;
                ssize_t n = recvfrom(fd, q, 512, 0, (struct sockaddr *)&from, &len);
                size_t m = n > 16 ? dns_answer(q, (size_t)n, out, table) : 0;
                if (m)
                        sendto(fd, out, m, 0, (struct sockaddr *)&from, len);
        }
}

/* queries_of(name): how many questions for ${name} (NULL: for any) came since the last call, which
 * forgets all of them. */
static int queries_of(const char *name)
{
        char *text = queries_text;
        usleep(20000);
        ssize_t n = read(queries[0], text, sizeof queries_text - 1);
        text[n > 0 ? n : 0] = 0;
        int found = 0;
        size_t len = name ? strlen(name) : 0;
        for (char *line = text; *line; line = strchr(line, '\n') + 1)
                found += !name || (strncasecmp(line, name, len) == 0 && line[len] == ' ');
        return found;
}

/* --- the role ----------------------------------------------------------------------------------
 */

static int control = -1, egress = -1;
static pid_t dial_pid = -1;
static char resolv_path[64], hosts_path[64];
static char resolv_real[64]; /* where the link resolv_path leads */
static struct frame frame_in;
static uint64_t generation;

/* next_frame(fd, ms): the next frame within the time, in frame_in; its type, 0 at the end, -1. */
static int next_frame(int fd, int ms)
{
        struct pollfd p = {.fd = fd, .events = POLLIN};
        if (poll(&p, 1, ms) != 1)
                return -1;
        frame_release(&frame_in);
        int got = frame_recv(fd, &frame_in, true);
        return got == 1 ? (int)frame_in.type : got;
}

static void dial_end(void)
{
        if (dial_pid < 0)
                return;
        close_fd(&control);
        close_fd(&egress);
        int status;
        for (int i = 0; i < 100 && waitpid(dial_pid, &status, WNOHANG) == 0; i++)
                usleep(20000);
        kill(dial_pid, SIGKILL);
        waitpid(dial_pid, &status, 0);
        dial_pid = -1;
}

/* dial_start(proxy): a fresh role; true when it said that it is ready. */
static bool dial_start(const char *proxy)
{
        int c[2], e[2];
        dial_end();
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e);
        dial_pid = fork();
        if (dial_pid == 0) {
                char *argv[] = {"dial", "--resolv-conf", resolv_path, "--hosts", hosts_path, NULL};
                if (c[1] == DOOR_CONTROL_FD)
                        fcntl(c[1], F_SETFD, 0);
                else
                        dup2(c[1], DOOR_CONTROL_FD);
                _exit(dial_main(5, argv));
        }
        close(c[1]);
        control = c[0];
        egress = e[0];
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, proxy);
        frame_send(control, DOOR_BEGIN, &b, &e[1], 1);
        close(e[1]);
        return next_frame(control, 5000) == DOOR_READY;
}

/* rules(level, text): what dial answered, DOOR_POLICY_OK or DOOR_POLICY_BAD. */
static int rules(enum door_level level, const char *text)
{
        struct err err = {0};
        _cleanup_buf_ struct buf layers = {0}, b = {0};
        door_layers_put(&layers, POLICY_USER, "user policy", true, text);
        _cleanup_close_ int fd = door_sealed_make("policy", &layers, &err);
        buf_put_u64(&b, ++generation);
        buf_put_u32(&b, level);
        frame_send(control, DOOR_POLICY, &b, &fd, 1);
        return next_frame(control, 5000);
}

static void ask(uint32_t id, enum request_kind kind, const char *host, uint32_t port)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        buf_put_u32(&b, kind);
        buf_put_lstr(&b, host);
        buf_put_u32(&b, port);
        frame_send(egress, DOOR_DIAL, &b, NULL, 0);
}

static void cancel(uint32_t id)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        frame_send(egress, DOOR_DIAL_CANCEL, &b, NULL, 0);
}

/* What came back: fd >= 0 and where it leads, or a fault and a sentence. */
struct reply {
        uint32_t id;
        int fault; /* enum door_dial_fault, or -1 when it was dialled, -2 when nothing came */
        int fd;
        char words[1500];
};

static struct reply reply_within(int ms)
{
        struct reply r = {.fault = -2, .fd = -1};
        char *words = NULL;
        uint32_t fault;
        int type = next_frame(egress, ms);
        if (type == DOOR_DIALED && cur_u32(&frame_in.body, &r.id) == 0 &&
            cur_lstr(&frame_in.body, 1400, &words) == 0 && frame_in.fds_n == 1) {
                r.fault = -1;
                r.fd = frame_take_fd(&frame_in, 0);
        } else if (type == DOOR_DIAL_FAILED && cur_u32(&frame_in.body, &r.id) == 0 &&
                   cur_u32(&frame_in.body, &fault) == 0 &&
                   cur_lstr(&frame_in.body, 1400, &words) == 0) {
                r.fault = (int)fault;
        }
        snprintf(r.words, sizeof r.words, "%s", words ? words : "");
        free(words);
        return r;
}

static struct reply call(enum request_kind kind, const char *host, uint32_t port)
{
        static uint32_t id = 1000;
        ask(++id, kind, host, port);
        struct reply r = reply_within(25000);
        if (r.fault != -2 && r.id != id)
                r.fault = -3;
        return r;
}

static int64_t now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* expect(name, r, fault, words): the fault, and ${words} somewhere in the sentence. */
static void expect(const char *name, struct reply r, int fault, const char *words)
{
        check(r.fault == fault && strstr(r.words, words), name, "got %d \"%s\", wanted %d \"%s\"",
              r.fault, r.words, fault, words);
        close_fd(&r.fd);
}

static void put_file(const char *path, const char *text)
{
        struct err err = {0};
        if (fdio_write_file(AT_FDCWD, path, text, 0644, &err) < 0)
                printf("not ok %s: %s\n", path, err.text);
}

#endif
