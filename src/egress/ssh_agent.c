/* ssh_agent.c - see ssh_agent.h. Bytes go to ssh_agent_proto.c and back; what it would sign the
 * keeper is asked for, and judges again. One request at a time per connection. */
#include "egress/ssh_agent.h"

#include "base/str.h"
#include "egress/conn.h"
#include "egress/custody.h"
#include "egress/door.h"
#include "egress/ssh_agent_proto.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct client {
        struct door *door;
        struct conn *conn;
        struct loop_timer timer;
        struct agent_state state;
        struct keeper_call *call;
        uint32_t number; /* of the secret that is asked for */
        char *host;
        uint32_t port;
        char user[SSH_WORDS];
        uint8_t in[4 + AGENT_MESSAGE_MAX];
        size_t n;
};

enum { CLIENTS_MAX = 64 };

static struct agent_key *keys;
static size_t clients_n;

static void end(struct client *c)
{
        loop_timer_stop(&c->timer);
        keeper_cancel(c->door, c->call);
        agent_state_free(&c->state);
        accept_ended(c->door);
        clients_n--;
        free(c->host);
        free(c);
}

static void drop(void *ctx)
{
        struct client *c = ctx;
        conn_free(c->conn);
        end(c);
}

static void on_closed(void *ctx, const char *why)
{
        (void)why;
        drop(ctx);
}

/* note(c, verdict, number, host, port, words): what was signed and what was not is told. */
static void note(struct client *c, const char *verdict, uint32_t number, const char *host,
                 uint32_t port, const char *words)
{
        const struct custody_secret *s = custody_find(custody_of(c->door), number);
        record_put(c->door, &(struct door_record){
                                    .time_us = record_now_us(),
                                    .kind = "ssh",
                                    .verdict = verdict,
                                    .protocol = "ssh-agent",
                                    .host = host,
                                    .port = port,
                                    .secrets = s ? custody_name(s) : "",
                                    .note = words,
                            });
}

static bool pump(struct client *c);

static void on_signed(void *ctx, uint32_t type, struct cur *body)
{
        struct client *c = ctx;
        struct ssh_bytes signature;
        _cleanup_buf_ struct buf answer = {0};
        c->call = NULL;
        if (type == DOOR_SSH_SIGNED && ssh_get(body, SSH_SIGNATURE_MAX, &signature) == 0) {
                char words[SSH_WORDS + 32];
                snprintf(words, sizeof words, "signed a login as %s", c->user);
                agent_put_signed(&answer, &signature);
                note(c, "allow", c->number, c->host, c->port, words);
        } else {
                uint32_t why;
                char *words = NULL;
                if (cur_u32(body, &why) < 0 || cur_lstr(body, 1000, &words) < 0)
                        words = str_dup("the keeper did not sign");
                agent_put_failure(&answer);
                note(c, "deny", c->number, c->host, c->port, words);
                free(words);
        }
        conn_write(c->conn, answer.data, answer.len);
        conn_want_read(c->conn, true);
        pump(c);
}

static void ask_keeper(struct client *c, const struct agent_outcome *o)
{
        struct ssh_bind b = agent_state_bind(&c->state);
        const struct ssh_bytes parts[] = {b.host_key, b.session, b.signature, o->data};
        _cleanup_buf_ struct buf body = {0};
        c->number = o->key->number;
        free(c->host);
        c->host = str_dup(o->host->name);
        c->port = o->host->port;
        memcpy(c->user, o->user, sizeof c->user);
        buf_put_u32(&body, c->number);
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
                buf_put_u32(&body, (uint32_t)parts[i].n);
                buf_put(&body, parts[i].p, parts[i].n);
        }
        buf_put_u32(&body, o->flags);
        conn_want_read(c->conn, false);
        c->call = keeper_ask(c->door, DOOR_SSH_SIGN, &body, on_signed, c);
}

static void refresh_keys(struct door *d)
{
        for (struct agent_key *k = keys; k; k = k->next) {
                const struct custody_secret *s = custody_find(custody_of(d), k->number);
                k->is_gone = !s || s->gone;
        }
}

/* handle(c, message): false when the connection is to end. */
static bool handle(struct client *c, const struct ssh_bytes *message)
{
        struct agent_outcome o;
        _cleanup_buf_ struct buf answer = {0};
        if (conn_is_full(c->conn))
                return false; /* it asks and does not listen */
        refresh_keys(c->door);
        agent_message(keys, &c->state, message, &answer, &o);
        if (o.verdict == AGENT_SIGN) {
                ask_keeper(c, &o);
                return true;
        }
        if (o.verdict == AGENT_REFUSED)
                note(c, "deny", o.key ? o.key->number : 0, o.host ? o.host->name : "",
                     o.host ? o.host->port : 0, o.why);
        conn_write(c->conn, answer.data, answer.len);
        return true;
}

/* pump(c): whatever is whole, until the keeper is asked or there is no more. False: it was the end
 * of the connection, and ${c} is gone. */
static bool pump(struct client *c)
{
        size_t at = 0;
        bool is_over = false;
        while (!is_over && !c->call && c->n - at >= 4) {
                const uint8_t *p = c->in + at;
                size_t len = (size_t)p[0] << 24 | (size_t)p[1] << 16 | (size_t)p[2] << 8 | p[3];
                is_over = len > AGENT_MESSAGE_MAX;
                if (is_over || c->n - at < 4 + len)
                        break;
                is_over = !handle(c, &(struct ssh_bytes){p + 4, len});
                at += 4 + len;
        }
        c->n -= at;
        memmove(c->in, c->in + at, c->n);
        if (is_over)
                drop(c);
        return !is_over;
}

static void on_readable(void *ctx)
{
        struct client *c = ctx;
        while (!c->call && c->n < sizeof c->in) {
                ssize_t r = conn_read(c->conn, c->in + c->n, sizeof c->in - c->n);
                if (r < 0)
                        return;
                if (r == 0) {
                        conn_finish_free(c->conn);
                        end(c);
                        return;
                }
                c->n += (size_t)r;
                loop_timer_set(c->door->loop, &c->timer, DOOR_IDLE_MS);
                if (!pump(c))
                        return;
        }
}

static void on_drained(void *ctx)
{
        (void)ctx;
}

void ssh_agent_begin(struct door *d, int fd)
{
        static const struct conn_ops ops = {
                .readable = on_readable, .drained = on_drained, .closed = on_closed};
        if (clients_n == CLIENTS_MAX) {
                close(fd);
                accept_ended(d);
                return;
        }
        struct client *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        clients_n++;
        *c = (struct client){.door = d, .timer = {.fn = drop, .ctx = c}};
        c->conn = conn_plain(d, fd, &ops, c);
        loop_timer_set(d->loop, &c->timer, DOOR_IDLE_MS);
}

/* --- what the keeper says ------------------------------------------------------------------- */

static _Noreturn void nonsense(struct door *d)
{
        door_fault(d, "the keeper sent a key of ssh that makes no sense");
}

static struct agent_key *find_or_add(uint32_t number)
{
        struct agent_key **at = &keys;
        while (*at && (*at)->number < number)
                at = &(*at)->next;
        struct agent_key *fresh = calloc(1, sizeof *fresh);
        if (!fresh)
                str_no_memory();
        fresh->number = number;
        fresh->next = *at;
        if (*at && (*at)->number == number) {
                struct agent_key *old = *at;
                fresh->next = old->next;
                agent_key_free(old);
        }
        *at = fresh;
        return fresh;
}

void ssh_agent_key(struct door *d, struct cur *body)
{
        uint32_t number, n;
        struct ssh_bytes blob;
        if (cur_u32(body, &number) < 0 || ssh_get(body, DOOR_SSH_BLOB_MAX, &blob) < 0)
                nonsense(d);
        struct agent_key *k = find_or_add(number);
        buf_put(&k->blob, blob.p, blob.n);
        if (cur_lstr(body, 256, &k->comment) < 0 || cur_u32(body, &n) < 0 || n > DOOR_SSH_HOSTS_MAX)
                nonsense(d);
        k->hosts = calloc(n ? n : 1, sizeof *k->hosts);
        if (!k->hosts)
                str_no_memory();
        for (uint32_t i = 0; i < n; i++) {
                struct agent_host *h = &k->hosts[i];
                if (cur_lstr(body, HOST_TEXT_MAX, &h->name) < 0 || cur_u32(body, &h->port) < 0 ||
                    ssh_get(body, DOOR_SSH_BLOB_MAX, &blob) < 0)
                        nonsense(d);
                buf_put(&h->key, blob.p, blob.n);
                k->hosts_n++;
        }
}

void ssh_agent_gone(struct door *d, uint32_t number, const char *sentence)
{
        for (const struct agent_key *k = keys; k; k = k->next) {
                if (k->number != number && number != DOOR_SECRET_ALL)
                        continue;
                for (size_t i = 0; i < k->hosts_n; i++)
                        relay_cut(d, k->hosts[i].name, k->hosts[i].port, sentence);
        }
}
