/* sup_ssh_agent.c - see sup_ssh_agent.h. What the agent says is bounded and passed on; the keeper
 * checks each signature. Nothing here waits for the agent but the list at the start, and that for
 * two seconds at most. */
#include "session/sup_ssh_agent.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/sup_door.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { MESSAGE_MAX = 64 << 10, LIST_S = 2, SIGN_MS = 120000, DATA_MAX = 16 << 10 };
enum { LIST = 11, LISTED = 12, SIGN = 13, SIGNED = 14 };

static int connect_agent(const struct strs *env, int flags)
{
        const char *path = strs_get_env(env, "SSH_AUTH_SOCK");
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        if (!path || !*path || strlen(path) >= sizeof a.sun_path)
                return -1;
        memcpy(a.sun_path, path, strlen(path) + 1);
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0);
        struct timeval limit = {.tv_sec = LIST_S};
        if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
            connect(fd, (struct sockaddr *)&a, sizeof a) < 0)
                return -1;
        return take_fd(&fd);
}

/* get_bytes(c, max, &p, &n): u32 length and bytes, as ssh and we write them. */
static int get_bytes(struct cur *c, size_t max, const uint8_t **p, uint32_t *n)
{
        return cur_u32(c, n) < 0 || *n > max || cur_bytes(c, *n, p) < 0 ? -1 : 0;
}

static void put_bytes(struct buf *b, const void *p, size_t n)
{
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, p, n);
}

/* message(in, c): a whole one behind its length. 1, 0 when more has to come, -1 for nonsense. */
static int message(const struct buf *in, struct cur *c)
{
        uint32_t n;
        *c = cur_of(in->data, in->len);
        if (cur_u32(c, &n) < 0)
                return 0;
        if (n == 0 || n > MESSAGE_MAX)
                return -1;
        if (c->left < n)
                return 0;
        c->left = n;
        return 1;
}

void sup_ssh_agent_held(const struct strs *env, struct buf *b)
{
        static const uint8_t ask[] = {0, 0, 0, 1, LIST};
        struct timeval limit = {.tv_sec = LIST_S};
        _cleanup_buf_ struct buf in = {0}, list = {0};
        uint8_t some[4096], type;
        struct cur c = {0};
        uint32_t n = 0, taken = 0, len;
        const uint8_t *p;
        ssize_t got;
        int r = -1;
        _cleanup_close_ int fd = connect_agent(env, 0);
        if (fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) == 0 &&
            send(fd, ask, sizeof ask, MSG_NOSIGNAL) == (ssize_t)sizeof ask)
                while ((r = message(&in, &c)) == 0 && (got = recv(fd, some, sizeof some, 0)) > 0)
                        buf_put(&in, some, (size_t)got);
        if (r == 1 && cur_u8(&c, &type) == 0 && type == LISTED && cur_u32(&c, &n) == 0)
                for (; n > 0 && taken < DOOR_SSH_HOSTS_MAX; n--) {
                        if (get_bytes(&c, MESSAGE_MAX, &p, &len) < 0)
                                break;
                        if (len <= DOOR_SSH_BLOB_MAX) {
                                put_bytes(&list, p, len);
                                taken++;
                        }
                        if (get_bytes(&c, MESSAGE_MAX, &p, &len) < 0) /* its comment */
                                break;
                }
        buf_put_u32(b, taken);
        buf_put(b, list.data, list.len);
}

/* --- signatures --------------------------------------------------------------------------------
 */

struct asking {
        struct sup *sup;
        uint32_t id;
        int fd;
        struct loop_src *src;
        struct loop_timer timer;
        struct buf in;
};

static void answer(struct sup *s, uint32_t id, const uint8_t *p, size_t n)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, id);
        put_bytes(&b, p, n);
        sup_role_send(&s->door->roles[SUP_KEEPER], DOOR_SSH_ASKED, &b, NULL, 0);
}

static void end(struct asking *a, const uint8_t *p, size_t n)
{
        answer(a->sup, a->id, p, n);
        loop_timer_stop(&a->timer);
        loop_del(&a->src);
        close(a->fd);
        buf_free(&a->in);
        free(a);
}

static void on_timer(void *ctx)
{
        end(ctx, NULL, 0);
}

static void on_agent(void *ctx, uint32_t events)
{
        struct asking *a = ctx;
        uint8_t some[4096], type;
        struct cur c;
        const uint8_t *p;
        uint32_t n;
        (void)events;
        ssize_t got = recv(a->fd, some, sizeof some, MSG_DONTWAIT);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        buf_put(&a->in, some, got > 0 ? (size_t)got : 0);
        int r = got > 0 ? message(&a->in, &c) : -1;
        if (r == 0)
                return;
        if (r == 1 && cur_u8(&c, &type) == 0 && type == SIGNED && get_bytes(&c, 2048, &p, &n) == 0)
                end(a, p, n);
        else
                end(a, NULL, 0);
}

void sup_ssh_agent_ask(struct sup *s, struct cur *body)
{
        uint32_t id, key_len, data_len, flags;
        const uint8_t *key, *data;
        _cleanup_buf_ struct buf out = {0};
        if (cur_u32(body, &id) < 0 || get_bytes(body, DOOR_SSH_BLOB_MAX, &key, &key_len) < 0 ||
            get_bytes(body, DATA_MAX, &data, &data_len) < 0 || cur_u32(body, &flags) < 0)
                return;
        buf_put_u32(&out, 1 + 4 + key_len + 4 + data_len + 4);
        buf_put_u8(&out, SIGN);
        put_bytes(&out, key, key_len);
        put_bytes(&out, data, data_len);
        buf_put_u32(&out, flags);
        struct asking *a = calloc(1, sizeof *a);
        if (!a)
                str_no_memory();
        *a = (struct asking){.sup = s, .id = id, .timer = {.fn = on_timer, .ctx = a}};
        a->fd = connect_agent(&s->plan->secrets.env, SOCK_NONBLOCK);
        a->src = a->fd < 0 ? NULL : loop_add(s->loop, a->fd, EPOLLIN, on_agent, a);
        /* A fresh socket takes so few bytes at once, or not at all. */
        if (!a->src || send(a->fd, out.data, out.len, MSG_NOSIGNAL) != (ssize_t)out.len) {
                answer(s, id, NULL, 0);
                loop_del(&a->src);
                close_fd(&a->fd);
                free(a);
                return;
        }
        loop_timer_set(s->loop, &a->timer, SIGN_MS);
}
