/* guest.c - a connection of the box has come in: whom does it mean, and in which language?
 *
 * The address that was connected to is a name's synthetic one or a literal. A rule may let the
 * bytes pass unread (tcp). Otherwise the first bytes decide: a ClientHello (whose name must agree,
 * and which a rule may let pass undeciphered: splice), an HTTP/2 preface, or HTTP/1. They are only
 * looked at here (MSG_PEEK), so that whoever comes next reads them all. Called by accept.c. */
#include "egress/guest.h"

#include "base/err.h"
#include "base/str.h"
#include "egress/conn.h"
#include "egress/custody.h"
#include "egress/door.h"
#include "egress/gate.h"
#include "egress/h2_server.h"
#include "egress/hello.h"
#include "egress/idle.h"
#include "egress/names.h"
#include "egress/upstream.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

static const char preface[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
enum { PREFACE_N = sizeof preface - 1 };

/* A connection whose language is not known yet. */
struct guest {
        struct door *door;
        int fd;
        struct loop_src *src;
        struct loop_timer timer;
        struct idle idle; /* while it says nothing, or in the handshake */
        bool is_counted;  /* in guests_n */
        struct origin origin;
        struct conn *conn; /* while the TLS handshake runs */
        size_t seen;       /* bytes that were there at the last look */
        bool is_patient;   /* the server will not speak first: it has as long as any idle one */
        uint64_t began_us;
};

/* Origins with whom the box spoke first, on ports where that cannot be known: the last few. */
enum { HEARD = 16 };
struct guest_heard {
        struct {
                struct host_name host;
                uint16_t port;
        } at[HEARD];
        size_t next;
};

/* uncount(g): what it needs is charged by somebody else now. */
static void uncount(struct guest *g)
{
        g->door->guests_n -= g->is_counted;
        g->is_counted = false;
}

static void guest_free(struct guest *g)
{
        loop_timer_stop(&g->timer);
        idle_end(g->door, &g->idle);
        uncount(g);
        loop_del(&g->src);
        free(g);
}

/* is_usual(g): a port on which programs speak HTTP, or TLS and then HTTP. */
static bool is_usual(const struct guest *g)
{
        return g->origin.port == 80 || g->origin.port == 443;
}

static bool is_heard(const struct guest *g)
{
        const struct guest_heard *h = g->door->heard;
        for (size_t i = 0; h && i < HEARD; i++)
                if (h->at[i].port == g->origin.port &&
                    host_name_equal(&h->at[i].host, &g->origin.host))
                        return true;
        return false;
}

/* hear(g): it spoke first. */
static void hear(const struct guest *g)
{
        if (is_usual(g) || is_heard(g))
                return;
        struct door *d = g->door;
        if (!d->heard && !(d->heard = calloc(1, sizeof *d->heard)))
                str_no_memory();
        size_t i = d->heard->next++ % HEARD;
        d->heard->at[i].host = g->origin.host;
        d->heard->at[i].port = g->origin.port;
}

/* note(g, why): a connection that never became a request is told of too. */
static void note(struct guest *g, const char *kind, const char *why)
{
        bool is_advised = !is_usual(g) && !custody_is_alarmed(g->door, g->origin.host.text);
        char *cure = is_advised ? gate_tcp_cure(&g->origin.host, g->origin.port) : NULL;
        record_put(g->door, &(struct door_record){
                                    .time_us = g->began_us,
                                    .kind = kind,
                                    .verdict = "deny",
                                    .protocol = kind,
                                    .host = g->origin.host.text,
                                    .port = g->origin.port,
                                    .source_port = g->origin.source_port,
                                    .total_us = record_now_us() - g->began_us,
                                    .note = why,
                                    .cure = cure,
                            });
        free(cure);
}

/* drop(g, why): hang up on a connection that nothing can be answered to. */
static void drop(struct guest *g, const char *kind, const char *why)
{
        note(g, kind, why);
        close(g->fd);
        accept_ended(g->door);
        guest_free(g);
}

/* is_silent(g): it has sent nothing that we did not look at yet. */
static bool is_silent(const struct guest *g)
{
        int n = 0;
        return ioctl(g->fd, FIONREAD, &n) == 0 && (size_t)n <= g->seen;
}

/* leave(g): somebody else needs its place. The log is told by idle.c. */
static bool leave(void *ctx)
{
        struct guest *g = ctx;
        if (g->conn ? !conn_is_silent(g->conn) : !is_silent(g))
                return false;
        if (g->conn)
                conn_free(g->conn);
        else
                close(g->fd);
        accept_ended(g->door);
        guest_free(g);
        return true;
}

static void on_timer(void *ctx)
{
        struct guest *g = ctx;
        if (!is_silent(g)) { /* we did not come to it yet */
                loop_timer_set(g->door->loop, &g->timer, DOOR_SILENCE_MS);
        } else if (g->seen) {
                drop(g, "tcp", "its first bytes did not come to an end within 10 s");
        } else if (g->is_patient) {
                drop(g, "tcp", "nothing was said on it for 5 minutes");
        } else if (is_heard(g)) { /* a program that opens many at once comes to each of them */
                g->is_patient = true;
                loop_timer_set(g->door->loop, &g->timer, DOOR_IDLE_MS - DOOR_SILENCE_MS);
        } else {
                drop(g, "tcp",
                     "it waits for the server to speak first, which only a tcp rule lets pass");
        }
}

/* --- after the handshake -------------------------------------------------------------------- */

static void on_ready(void *ctx)
{
        struct guest *g = ctx;
        struct conn *c = g->conn;
        g->origin.is_tls = true;
        if (strcmp(tls_alpn(conn_ssl(c)), "h2") == 0) {
                g->origin.protocol = "h2";
                h2_server_new(g->door, c, &g->origin, NULL, 0);
        } else {
                g->origin.protocol = "http/1.1";
                h1_server_begin(g->door, c, &g->origin, NULL, 0);
        }
        guest_free(g);
}

static void on_closed(void *ctx, const char *why)
{
        struct guest *g = ctx;
        char *words = str_fmt("TLS with the program in the box failed: %s", why);
        note(g, "tls", words);
        free(words);
        conn_free(g->conn);
        accept_ended(g->door);
        guest_free(g);
}

static void on_nothing(void *ctx)
{
        (void)ctx;
}

static const struct conn_ops handshake_ops = {
        .ready = on_ready, .readable = on_nothing, .drained = on_nothing, .closed = on_closed};

static void on_leaf(void *ctx, X509 *cert, const char *why)
{
        struct guest *g = ctx;
        SSL *ssl = cert ? tls_server(g->door, cert) : NULL;
        if (!ssl) {
                drop(g, "tls", why ? why : "the certificate could not be used");
                return;
        }
        uncount(g);
        g->conn = conn_tls(g->door, g->fd, ssl, &handshake_ops, g);
        idle_fresh(g->door, &g->idle);
}

/* --- the first bytes ------------------------------------------------------------------------- */

/* may_pass(g, kind, &d): does a rule let the bytes pass? */
static bool may_pass(struct guest *g, enum request_kind kind, struct policy_decision *d)
{
        struct request r = {.kind = kind, .host = &g->origin.host, .port = g->origin.port};
        policy_decide(g->door->policy, &r, d);
        return d->verdict == (kind == REQUEST_TCP ? POLICY_TCP : POLICY_SPLICE);
}

static void pass(struct guest *g, enum request_kind kind, const struct policy_decision *d)
{
        loop_del(&g->src);
        relay_begin(g->door, g->fd, &g->origin, kind, d);
        guest_free(g);
}

/* agree(g, hello, &why): SNI and the name that was looked up are one; a literal address takes the
 * name that TLS says, because dial looks that up anew. */
static bool agree(struct guest *g, const struct hello *h, const char **why)
{
        if (!h->has_sni)
                return true;
        if (g->origin.is_literal) {
                g->origin.host = h->sni;
                g->origin.is_literal = false;
                return true;
        }
        *why = "the name in the TLS handshake is not the one that was looked up";
        return host_name_equal(&h->sni, &g->origin.host);
}

/* leaks(g, hello, p, n): is a secret's placeholder in the name that the handshake says, or anywhere
 * else in these first bytes? ${h} NULL: they are none that can be read. */
static bool leaks(struct guest *g, const struct hello *h, const uint8_t *p, size_t n)
{
        const struct host_name *host = h && h->has_sni ? &h->sni : &g->origin.host;
        uint32_t numbers[CUSTODY_LEAKS_MAX];
        size_t found = host->kind == HOST_NAME
                               ? custody_text_all(g->door, host->text, host->len, numbers)
                               : 0;
        static const char where[] = "the name of a TLS handshake";
        for (size_t i = 0; i < found; i++)
                custody_alarm(g->door, numbers[i], where, host->text, g->origin.source_port);
        char *words = found ? custody_leak_words(g->door, numbers[0], where)
                            : custody_bytes_leak(g->door, &g->origin, p, n, "a TLS handshake");
        if (words)
                drop(g, "tls", words);
        free(words);
        return words != NULL;
}

static void on_hello(struct guest *g, const uint8_t *p, size_t n)
{
        struct hello h;
        struct err err = {0};
        struct policy_decision d;
        const char *why = "";
        int r = hello_parse(p, n, &h, &err);
        if (r == 0)
                return;
        if (leaks(g, r < 0 ? NULL : &h, p, n))
                return;
        if (r < 0)
                drop(g, "tls", err.text);
        else if (!agree(g, &h, &why))
                drop(g, "tls", why);
        else if (may_pass(g, REQUEST_SPLICE, &d))
                pass(g, REQUEST_SPLICE, &d);
        else {
                /* From here on conn owns the descriptor's events. */
                loop_timer_stop(&g->timer);
                loop_del(&g->src);
                upstream_prepare(g->door, &g->origin.host, g->origin.port);
                tls_leaf(g->door, &g->origin.host, on_leaf, g); /* may be the end of it */
        }
}

static void begin_plain(struct guest *g, bool is_h2)
{
        struct door *d = g->door;
        loop_del(&g->src);
        /* The engine takes the callbacks over before any of these could be called. */
        struct conn *c = conn_plain(d, g->fd, &handshake_ops, NULL);
        g->origin.protocol = is_h2 ? "h2" : "http/1.1";
        if (is_h2)
                h2_server_new(d, c, &g->origin, NULL, 0);
        else
                h1_server_begin(d, c, &g->origin, NULL, 0);
        guest_free(g);
}

static void on_first(void *ctx, uint32_t events)
{
        static uint8_t p[HELLO_MAX];
        struct guest *g = ctx;
        (void)events;
        ssize_t r = recv(g->fd, p, sizeof p, MSG_PEEK);
        if (r < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (r <= 0) {
                close(g->fd);
                accept_ended(g->door);
                guest_free(g);
                return;
        }
        size_t n = (size_t)r;
        if (n == g->seen) { /* it hung up in the middle, or epoll tells of the same bytes again */
                if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
                        drop(g, "tcp", "it hung up before it had said what it wanted");
                return;
        }
        if (g->seen == 0) { /* once: a byte now and then does not make it longer */
                hear(g);
                idle_end(g->door, &g->idle);
                loop_timer_set(g->door->loop, &g->timer, DOOR_HEAD_MS);
        }
        g->seen = n;
        if (hello_is_tls(p[0]))
                on_hello(g, p, n);
        else if (memcmp(p, preface, n < PREFACE_N ? n : PREFACE_N) != 0)
                begin_plain(g, false);
        else if (n >= PREFACE_N)
                begin_plain(g, true);
}

/* --- coming in ------------------------------------------------------------------------------- */

/* find_origin(d, fd, peer, o): whom the address stands for. False when it stands for nobody. */
static bool find_origin(struct door *d, int fd, const struct sockaddr_in *peer, struct origin *o)
{
        struct sockaddr_in here = {0};
        socklen_t n = sizeof here;
        if (getsockname(fd, (struct sockaddr *)&here, &n) < 0 || here.sin_family != AF_INET)
                return false;
        *o = (struct origin){.port = ntohs(here.sin_port),
                             .source_port = ntohs(peer->sin_port),
                             .protocol = "tcp"};
        uint32_t addr = ntohl(here.sin_addr.s_addr);
        const struct host_name *host = names_find(d->names, addr);
        char text[INET_ADDRSTRLEN];
        if (host) {
                o->host = *host;
                return true;
        }
        o->is_literal = true;
        return inet_ntop(AF_INET, &here.sin_addr, text, sizeof text) &&
               host_name_parse(text, strlen(text), &o->host, NULL) == 0;
}

void guest_welcome(struct door *d, int fd, const struct sockaddr_in *peer)
{
        struct guest *g = calloc(1, sizeof *g);
        if (!g)
                str_no_memory();
        *g = (struct guest){.door = d,
                            .fd = fd,
                            .began_us = record_now_us(),
                            .idle = {.fn = leave, .ctx = g},
                            .timer = {.fn = on_timer, .ctx = g}};
        d->conns_n++;
        if (!find_origin(d, fd, peer, &g->origin)) {
                drop(g, "tcp", "the address stands for nobody");
                return;
        }
        int one = 1;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        struct policy_decision decision;
        if (may_pass(g, REQUEST_TCP, &decision)) {
                pass(g, REQUEST_TCP, &decision);
                return;
        }
        /* Edge by edge: bytes that were only looked at stay in the socket. */
        g->src = loop_add(d->loop, fd, EPOLLIN | EPOLLRDHUP | EPOLLET, on_first, g);
        g->is_patient = is_usual(g);
        loop_timer_set(d->loop, &g->timer, g->is_patient ? DOOR_IDLE_MS : DOOR_SILENCE_MS);
        idle_fresh(d, &g->idle);
        g->is_counted = true;
        d->guests_n++;
        if (!g->src)
                drop(g, "tcp", "too many connections");
}
