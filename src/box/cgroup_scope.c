/* cgroup_scope.c - ask the systemd manager for a delegated scope of our own.
 *
 * Called by cgroup_v2.c when systemd looks after our place in the tree: groups made behind its back
 * may lose their controllers whenever it tidies up. Speaks D-Bus on the manager's private socket:
 * one call, one answer, no bus daemon, no helper program that a search path could replace (case
 * B11). The socket's path is fixed by uid and its peer is checked, so no variable can redirect it.
 */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "box/cgroup_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#define REPLY_MAX 65536

static void socket_path(char *buf, size_t len)
{
        if (geteuid() == 0)
                snprintf(buf, len, "/run/systemd/private");
        else
                snprintf(buf, len, "/run/user/%u/systemd/private", (unsigned)geteuid());
}

bool cgroup_scope_exists(void)
{
        char path[64];

        socket_path(path, sizeof(path));
        return access(path, W_OK) == 0;
}

/* D-Bus marshalling, little-endian, just what one call needs. */
static void put_pad(struct buf *b, size_t to)
{
        while (b->len % to && !b->is_broken)
                buf_put_u8(b, 0);
}

static void put_u32(struct buf *b, uint32_t v)
{
        put_pad(b, 4);
        for (int i = 0; i < 4; i++)
                buf_put_u8(b, (uint8_t)(v >> (8 * i)));
}

static void put_str(struct buf *b, const char *s)
{
        put_u32(b, (uint32_t)strlen(s));
        buf_put(b, s, strlen(s) + 1);
}

static void put_sig(struct buf *b, const char *s)
{
        buf_put_u8(b, (uint8_t)strlen(s));
        buf_put(b, s, strlen(s) + 1);
}

static void patch_u32(struct buf *b, size_t at, uint32_t v)
{
        for (size_t i = 0; i < 4 && !b->is_broken; i++)
                b->data[at + i] = (uint8_t)(v >> (8 * i));
}

static void put_field(struct buf *b, uint8_t code, const char *type, const char *value)
{
        put_pad(b, 8);
        buf_put_u8(b, code);
        put_sig(b, type);
        if (type[0] == 'g')
                put_sig(b, value);
        else
                put_str(b, value);
}

static void put_property(struct buf *b, const char *name, const char *type)
{
        put_pad(b, 8);
        put_str(b, name);
        put_sig(b, type);
}

/* StartTransientUnit(name, "fail", properties, no auxiliary units), signature ssa(sv)a(sa(sv)). The
 * body starts at a multiple of 8, so it can be aligned on its own. Asks for the controllers we need
 * and no more: each further one makes systemd rearrange every group of the machine. */
static void call_build(struct buf *msg, const char *unit, unsigned bits)
{
        _cleanup_buf_ struct buf body = {.max = 4096};
        size_t at, start, list;

        put_str(&body, unit);
        put_str(&body, "fail");
        put_u32(&body, 0);
        at = body.len - 4;
        put_pad(&body, 8);
        start = body.len;
        put_property(&body, "Description", "s");
        put_str(&body, "a box of ostiary");
        put_property(&body, "PIDs", "au");
        put_u32(&body, 4);
        put_u32(&body, (uint32_t)getpid());
        put_property(&body, "DelegateControllers", "as");
        put_u32(&body, 0);
        list = body.len;
        for (int c = 0; c < BOX_CTL_N; c++)
                if (bits & CGROUP_BIT(c))
                        put_str(&body, cgroup_ctl_name[c]);
        patch_u32(&body, list - 4, (uint32_t)(body.len - list));
        put_property(&body, "CollectMode", "s");
        put_str(&body, "inactive-or-failed");
        patch_u32(&body, at, (uint32_t)(body.len - start));
        put_u32(&body, 0);
        put_pad(&body, 8);

        buf_put(msg, "l\1\0\1", 4); /* little-endian, method call, no flags, version 1 */
        put_u32(msg, (uint32_t)body.len);
        put_u32(msg, 1); /* serial */
        put_u32(msg, 0); /* length of the fields, patched below */
        put_field(msg, 1, "o", "/org/freedesktop/systemd1");
        put_field(msg, 2, "s", "org.freedesktop.systemd1.Manager");
        put_field(msg, 3, "s", "StartTransientUnit");
        put_field(msg, 6, "s", "org.freedesktop.systemd1");
        put_field(msg, 8, "g", "ssa(sv)a(sa(sv))");
        patch_u32(msg, 12, (uint32_t)(msg->len - 16));
        put_pad(msg, 8);
        buf_put(msg, body.data, body.len);
        msg->is_broken |= body.is_broken;
}

static int manager_connect(char why[256])
{
        struct sockaddr_un sa = {.sun_family = AF_UNIX};
        struct timeval patience = {.tv_sec = 1};
        struct ucred peer = {.uid = (uid_t)-1};
        socklen_t peer_len = sizeof(peer);
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

        socket_path(sa.sun_path, sizeof(sa.sun_path));
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) < 0 ||
            setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience)) < 0 ||
            connect(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0) {
                snprintf(why, 256, "the systemd manager at %s does not answer", sa.sun_path);
                return -1;
        }
        if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &peer_len) < 0 ||
            peer.uid != geteuid()) {
                snprintf(why, 256, "%s belongs to another user", sa.sun_path);
                return -1;
        }
        return take_fd(&fd);
}

/* The SASL greeting: our uid as hexadecimal digits of its decimal form, proved by the socket. */
static int manager_greet(int fd)
{
        char uid[16], line[96], reply[256];
        int len = snprintf(uid, sizeof(uid), "%u", (unsigned)geteuid());
        size_t n = 0, got = 0;

        line[n++] = '\0';
        n += (size_t)snprintf(line + n, sizeof(line) - n, "AUTH EXTERNAL ");
        for (int i = 0; i < len; i++)
                n += (size_t)snprintf(line + n, sizeof(line) - n, "%02x", (unsigned)uid[i]);
        n += (size_t)snprintf(line + n, sizeof(line) - n, "\r\n");
        if (fdio_write_all(fd, line, n) < 0)
                return -1;
        while (got < sizeof(reply) - 1) {
                ssize_t r = read(fd, reply + got, 1);
                if (r <= 0)
                        return -1;
                if (reply[got++] == '\n')
                        break;
        }
        reply[got] = '\0';
        return strncmp(reply, "OK ", 3) == 0 ? fdio_write_all(fd, "BEGIN\r\n", 7) : -1;
}

static int read_exact(int fd, uint8_t *p, size_t n)
{
        while (n) {
                ssize_t r = read(fd, p, n);
                if (r < 0 && errno == EINTR)
                        continue;
                if (r <= 0)
                        return -1;
                p += r;
                n -= (size_t)r;
        }
        return 0;
}

static uint32_t get_u32(const uint8_t *p)
{
        return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

/* Read messages until the answer to our only call; signals in between are skipped. */
static int answer_read(int fd, char why[256])
{
        static uint8_t body[REPLY_MAX];

        for (int i = 0; i < 64; i++) {
                uint8_t head[16];
                uint32_t body_len, fields_len;

                if (read_exact(fd, head, sizeof(head)) < 0 || head[0] != 'l')
                        break;
                body_len = get_u32(head + 4);
                fields_len = (get_u32(head + 12) + 7) & ~7u;
                if (fields_len > REPLY_MAX || body_len > REPLY_MAX - 1 ||
                    read_exact(fd, body, fields_len) < 0 || read_exact(fd, body, body_len) < 0)
                        break;
                if (head[1] == 2)
                        return 0;
                if (head[1] == 3) { /* an error, whose body is its message */
                        body[body_len] = '\0';
                        snprintf(why, 256, "systemd refused a scope: %.150s",
                                 body_len > 4 ? (const char *)body + 4 : "no reason given");
                        return -1;
                }
        }
        snprintf(why, 256, "the systemd manager gave no answer that makes sense");
        return -1;
}

/* The answer only says that a job was queued. We are there when our own cgroup says so. */
static int wait_moved(const char *unit, char why[256])
{
        const struct timespec nap = {.tv_nsec = 300000};
        char tail[BOX_CGROUP_ID_MAX + 40];

        snprintf(tail, sizeof(tail), "/%s\n", unit);
        for (int i = 0; i < 3000; i++) {
                _cleanup_free_ char *own =
                        fdio_read_file(AT_FDCWD, "/proc/self/cgroup", 65536, NULL);
                const char *v2 = own ? strstr(own, "0::/") : NULL;
                if (v2 && strstr(v2, tail))
                        return 0;
                nanosleep(&nap, NULL);
        }
        snprintf(why, 256, "systemd promised the scope %.80s and did not move us there", unit);
        return -1;
}

int cgroup_scope_enter(const char *id, unsigned bits, char why[256])
{
        _cleanup_buf_ struct buf msg = {.max = 8192};
        _cleanup_close_ int fd = manager_connect(why);
        char unit[BOX_CGROUP_ID_MAX + 32];

        if (fd < 0)
                return -1;
        /* With our pid, as another state directory may have a box of the same name. */
        snprintf(unit, sizeof(unit), CGROUP_PREFIX "%s-%d.scope", id, (int)getpid());
        call_build(&msg, unit, bits);
        if (msg.is_broken || manager_greet(fd) < 0 || fdio_write_all(fd, msg.data, msg.len) < 0) {
                snprintf(why, 256, "the systemd manager closed the door on us");
                return -1;
        }
        return answer_read(fd, why) < 0 ? -1 : wait_moved(unit, why);
}
