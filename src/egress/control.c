/* control.c - what the supervisor tells us: sockets, rules, answers. The only messages here come
 * from a process of ours that reads no hostile bytes, so a broken one is a fault and ends us; a
 * broken policy is not: the old one stays, and the sentence goes back. */
#include "egress/door.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/trust.h"
#include "policy/policy_layers.h"
#include "role/role.h"
#include "wire/frame.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>

enum { QUESTION_MAX = 4000 };

void door_fault(struct door *d, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *words = str_vfmt(fmt, ap);
        va_end(ap);
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        record_flush(d);
        frame_send(d->control_fd, DOOR_FAULT, &b, NULL, 0);
        role_die("%s", words);
}

static void on_listen(struct door *d, struct frame *f)
{
        uint32_t n, port;
        if (cur_u32(&f->body, &n) < 0 || n != f->fds_n)
                door_fault(d, "the list of sockets makes no sense");
        for (uint32_t i = 0; i < n; i++) {
                if (cur_u32(&f->body, &port) < 0)
                        door_fault(d, "the list of sockets is too short");
                accept_add(d, port, frame_take_fd(f, i));
        }
        if (d->policy)
                accept_ports(d);
}

/* read_policy(d, f, &level, err): the new policy, whole, or NULL. */
static struct policy *read_policy(struct frame *f, uint32_t *level, struct err *err)
{
        _cleanup_buf_ struct buf text = {.max = DOOR_LAYERS_MAX};
        struct policy *p = calloc(1, sizeof *p);
        if (!p)
                str_no_memory();
        if (cur_u32(&f->body, level) < 0 || *level > DOOR_LEARN || f->fds_n != 1) {
                err_set(err, E_PROTO, "the message with the rules makes no sense");
        } else if (door_sealed_read(f->fds[0], DOOR_LAYERS_MAX, &text, err) == 0 &&
                   policy_layers_parse(text.data, text.len, p, err) == 0) {
                return p;
        }
        free(p);
        return NULL;
}

static void on_policy(struct door *d, struct frame *f)
{
        uint64_t generation;
        uint32_t level;
        struct err err = {0};
        _cleanup_buf_ struct buf b = {0};
        if (cur_u64(&f->body, &generation) < 0)
                door_fault(d, "the message with the rules is too short");
        struct policy *fresh = read_policy(f, &level, &err);
        buf_put_u64(&b, generation);
        if (!fresh) {
                buf_put_lstr(&b, err.text);
                frame_send(d->control_fd, DOOR_POLICY_BAD, &b, NULL, 0);
                return;
        }
        /* Everything that is open is judged by the new rules before the old ones go: nobody sees
         * half of either (E12). */
        struct policy *old = d->policy;
        d->policy = fresh;
        d->level = (enum door_level)level;
        d->generation = generation;
        exchange_policy_changed(d);
        relay_policy_changed(d);
        accept_ports(d);
        if (old) {
                policy_free(old);
                free(old);
        }
        frame_send(d->control_fd, DOOR_POLICY_OK, &b, NULL, 0);
}

static void on_answer(struct door *d, struct frame *f)
{
        uint64_t id;
        uint32_t answer;
        if (cur_u64(&f->body, &id) < 0 || cur_u32(&f->body, &answer) < 0)
                door_fault(d, "an answer makes no sense");
        exchange_answered(d, id, (enum door_answer)answer);
}

static void on_trust(struct door *d, struct frame *f)
{
        struct err err = {0};
        struct trust *fresh = f->fds_n == 1 ? trust_open(f->fds[0], &err) : NULL;
        if (!fresh)
                door_fault(d, "the system's trusted roots cannot be read: %s", err.text);
        trust_free(d->trust);
        d->trust = fresh;
}

static void on_ca_file(struct door *d, struct frame *f)
{
        char *name;
        struct err err = {0};
        _cleanup_buf_ struct buf pem = {0};
        if (cur_lstr(&f->body, 4096, &name) < 0 || f->fds_n != 1)
                door_fault(d, "a ca= file makes no sense");
        if (door_sealed_read(f->fds[0], 1 << 20, &pem, &err) < 0 ||
            trust_add_ca(d->trust, name, pem.data, pem.len, &err) < 0)
                door_fault(d, "%s: %s", name, err.text);
        free(name);
}

static const struct {
        uint32_t type;
        void (*run)(struct door *, struct frame *);
} table[] = {
        {DOOR_LISTEN, on_listen}, {DOOR_POLICY, on_policy},   {DOOR_ANSWER, on_answer},
        {DOOR_TRUST, on_trust},   {DOOR_CA_FILE, on_ca_file},
};

static void on_control(void *ctx, uint32_t events)
{
        static struct frame f;
        struct door *d = ctx;
        (void)events;
        if (frame_recv(d->control_fd, &f, false) <= 0) {
                record_sum_up(d);
                role_die("the supervisor is gone");
        }
        void (*run)(struct door *, struct frame *) = NULL;
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                if (table[i].type == f.type)
                        run = table[i].run;
        if (run)
                run(d, &f);
        else
                door_fault(d, "the supervisor sent message %u, which is not for egress", f.type);
        frame_release(&f);
}

void control_hear(struct door *d)
{
        on_control(d, EPOLLIN);
}

int control_init(struct door *d, struct err *err)
{
        if (!loop_add(d->loop, d->control_fd, EPOLLIN, on_control, d))
                return err_sys(err, "watch the supervisor");
        return 0;
}

/* put_short(b, s): as much of it as a person would read; the supervisor takes no more than 8192. */
static void put_short(struct buf *b, const char *s)
{
        char *text = strlen(s) > QUESTION_MAX ? str_fmt("%.*s...", QUESTION_MAX, s) : NULL;
        buf_put_lstr(b, text ? text : s);
        free(text);
}

void control_question(struct door *d, uint64_t id, const char *what, const char *rule,
                      const char *cure, const char *agent)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u64(&b, id);
        buf_put_u32(&b, DOOR_ASK_MS / 1000);
        put_short(&b, what);
        put_short(&b, rule);
        buf_put_lstr(&b, strlen(cure) > QUESTION_MAX ? "" : cure); /* half a rule is none */
        put_short(&b, agent);
        frame_send(d->control_fd, DOOR_QUESTION, &b, NULL, 0);
}

void control_settled(struct door *d, uint64_t id)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u64(&b, id);
        frame_send(d->control_fd, DOOR_SETTLED, &b, NULL, 0);
}
