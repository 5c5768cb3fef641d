/* serve_io.c - reading and writing the keeper's messages. Nothing here blocks: egress and the
 * supervisor may both be slow, and one that waits for us must not be waited for. What is written
 * may hold a value, so it is put together in one locked buffer, sent from there and wiped. */
#include "keeper/serve_int.h"

#include "base/err.h"
#include "base/str.h"
#include "role/role.h"
#include "wire/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

/* Far more than egress could have asked for at once. */
enum { SENDING_MAX = 32 << 20 };

struct keeper_sending {
        struct keeper_sending *next;
        size_t len;
        uint8_t data[];
};

uint64_t keeper_now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_BOOTTIME, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

int keeper_get_bytes(struct cur *c, size_t max, const uint8_t **p, size_t *n)
{
        struct cur probe = *c;
        uint32_t len;
        if (cur_u32(&probe, &len) < 0 || len > max || cur_bytes(&probe, len, p) < 0)
                return -1;
        *n = len;
        *c = probe;
        return 0;
}

int keeper_get_text(struct cur *c, size_t max, const char **s, size_t *n)
{
        const uint8_t *p;
        struct cur probe = *c;
        if (keeper_get_bytes(&probe, max, &p, n) < 0 || (*n && memchr(p, 0, *n)))
                return -1;
        *s = (const char *)p;
        *c = probe;
        return 0;
}

void keeper_put_bytes(struct buf *b, const void *p, size_t n)
{
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, p, n);
}

/* A buffer that cannot grow never leaves a copy behind. */
static struct buf locked_buf(size_t n)
{
        void *p = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (p == MAP_FAILED)
                role_die("there is no memory for the keeper's messages");
        madvise(p, n, MADV_DONTDUMP);
        mlock2(p, n, MLOCK_ONFAULT);
        return (struct buf){.data = p, .cap = n, .max = n};
}

void serve_io_begin(struct keeper *k)
{
        k->out = locked_buf(FRAME_INLINE_MAX + 4096);
        k->out.max = FRAME_INLINE_MAX + 4;
        k->scratch = locked_buf(6 * DOOR_SECRET_MAX + 4096);
}

static void wipe(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->len);
        b->len = 0;
        b->is_broken = false;
}

/* A writing that was begun and given up is not in its length any more, but in its bytes. */
void keeper_scratch_wipe(struct keeper *k)
{
        struct buf *b = &k->scratch;
        explicit_bzero(b->data, k->scratch_n < b->cap ? k->scratch_n : b->cap);
        k->scratch_n = 0;
        wipe(b);
}

struct buf *keeper_message(struct keeper *k, uint32_t type)
{
        wipe(&k->out);
        buf_put_u32(&k->out, type);
        return &k->out;
}

static int queue(struct serve_queue *q, const struct buf *b)
{
        if (q->size + b->len > SENDING_MAX)
                return -1;
        struct keeper_sending *x = malloc(sizeof *x + b->len);
        if (!x)
                return -1;
        x->next = NULL;
        x->len = b->len;
        memcpy(x->data, b->data, b->len);
        *q->end = x;
        q->end = &x->next;
        q->size += x->len;
        return 0;
}

static void drop_first(struct serve_queue *q)
{
        struct keeper_sending *x = q->first;
        q->first = x->next;
        if (!q->first)
                q->end = &q->first;
        q->size -= x->len;
        explicit_bzero(x->data, x->len);
        free(x);
}

static bool must_wait(void)
{
        return errno == EAGAIN || errno == EINTR || errno == ENOBUFS;
}

int serve_queue_push(int fd, struct serve_queue *q)
{
        while (q->first) {
                if (fdio_send(fd, q->first->data, q->first->len, NULL, 0) < 0)
                        return must_wait() ? 0 : -1;
                drop_first(q);
        }
        return 0;
}

void serve_io_end(struct keeper *k)
{
        while (k->to_egress.first)
                drop_first(&k->to_egress);
        while (k->to_supervisor.first)
                drop_first(&k->to_supervisor);
        wipe(&k->out);
        keeper_scratch_wipe(k);
}

static int send_or_queue(struct keeper *k, int fd, struct serve_queue *q)
{
        int r = k->out.is_broken ? -1 : 0;
        if (!q->end)
                q->end = &q->first;
        if (r == 0 && q->first)
                r = queue(q, &k->out);
        else if (r == 0 && fdio_send(fd, k->out.data, k->out.len, NULL, 0) < 0)
                r = must_wait() ? queue(q, &k->out) : -1;
        wipe(&k->out);
        return r;
}

int keeper_to_egress(struct keeper *k)
{
        return send_or_queue(k, k->egress_fd, &k->to_egress);
}

int keeper_to_supervisor(struct keeper *k)
{
        return send_or_queue(k, k->control_fd, &k->to_supervisor);
}
