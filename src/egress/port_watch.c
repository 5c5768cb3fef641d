/* port_watch.c - see port_watch.h. It only writes to the log: nothing is answered, opened or decided
 * here, and what it cannot keep up with is lost to nobody but the log. */
#include "egress/port_watch.h"

#include "base/str.h"
#include "egress/door.h"
#include "egress/gate.h"
#include "egress/names.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>

/* A program that tries again and again is told of now and then; one that tries every port is told
 * of at its beginning. */
enum { PACKETS_PER_ROUND = 64, TRIES_KEPT = 64, AGAIN_MS = 10000, BURST = 20, PER_SECOND = 2 };

struct tried {
        uint32_t addr;
        uint16_t port;
        uint64_t at_ms;
};

struct port_watch {
        struct door *door;
        int fd;
        struct tried tried[TRIES_KEPT];
        size_t next;
        uint64_t tokens_ms; /* a record takes 1000 / PER_SECOND of them */
        uint64_t seen_ms, untold_n;
};

/* is_new(w, addr, port, now): is it to be told of? */
static bool is_new(struct port_watch *w, uint32_t addr, uint16_t port, uint64_t now)
{
        for (size_t i = 0; i < TRIES_KEPT; i++) {
                struct tried *t = &w->tried[i];
                if (t->addr != addr || t->port != port || now >= t->at_ms + AGAIN_MS)
                        continue;
                return false;
        }
        w->tried[w->next++ % TRIES_KEPT] = (struct tried){addr, port, now};
        uint64_t most = BURST * 1000 / PER_SECOND;
        w->tokens_ms += now - w->seen_ms;
        w->seen_ms = now;
        if (w->tokens_ms > most)
                w->tokens_ms = most;
        if (w->tokens_ms < 1000 / PER_SECOND) {
                w->untold_n++;
                return false;
        }
        w->tokens_ms -= 1000 / PER_SECOND;
        return true;
}

static bool is_listened_on(const struct door *d, uint16_t port)
{
        for (size_t i = 0; i < d->listeners_n; i++)
                if (d->listeners[i].port == port)
                        return true;
        return false;
}

/* is_raw(port): servers there speak first or in a language of their own. */
static bool is_raw(uint16_t port)
{
        static const uint16_t known[] = {1433, 1521, 1883, 2181, 3306, 3389,  5432,
                                         5672, 5900, 6379, 9042, 9092, 11211, 27017};
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (known[i] == port)
                        return true;
        return port < 1024;
}

static void tell(struct port_watch *w, uint32_t addr, uint16_t port, uint16_t source)
{
        const struct host_name *host = names_find(w->door->names, addr);
        struct in_addr in = {.s_addr = htonl(addr)};
        struct host_name literal;
        char text[INET_ADDRSTRLEN], note[160];
        if (!host) {
                if (!inet_ntop(AF_INET, &in, text, sizeof text) ||
                    host_name_parse(text, strlen(text), &literal, NULL) < 0)
                        return;
                host = &literal;
        }
        char *cure = gate_port_cure(host, port, is_raw(port));
        snprintf(note, sizeof note, "no rule names port %u, so the connection was refused", port);
        if (w->untold_n)
                snprintf(note + strlen(note), sizeof note - strlen(note),
                         "; %llu more to other ports were not told",
                         (unsigned long long)w->untold_n);
        w->untold_n = 0;
        record_put(w->door, &(struct door_record){.time_us = record_now_us(),
                                                  .kind = "tcp",
                                                  .verdict = "deny",
                                                  .rule = "denied by default",
                                                  .protocol = "tcp",
                                                  .host = host->text,
                                                  .port = port,
                                                  .source_port = source,
                                                  .note = note,
                                                  .cure = cure});
        free(cure);
}

static void on_packet(void *ctx, uint32_t events)
{
        struct port_watch *w = ctx;
        uint8_t p[128];
        (void)events;
        for (int i = 0; i < PACKETS_PER_ROUND; i++) {
                ssize_t n = recv(w->fd, p, sizeof p, MSG_DONTWAIT);
                if (n < 0)
                        return;
                size_t head = (size_t)(p[0] & 15) * 4;
                if (n < 20 || head < 20 || (size_t)n < head + 4)
                        continue;
                uint32_t addr = (uint32_t)p[16] << 24 | (uint32_t)p[17] << 16 |
                                (uint32_t)p[18] << 8 | p[19];
                uint16_t source = (uint16_t)(p[head] << 8 | p[head + 1]);
                uint16_t port = (uint16_t)(p[head + 2] << 8 | p[head + 3]);
                if (!is_listened_on(w->door, port) &&
                    is_new(w, addr, port, loop_now(w->door->loop)))
                        tell(w, addr, port, source);
        }
}

void port_watch_begin(struct door *d, int fd)
{
        struct port_watch *w = calloc(1, sizeof *w); /* for the life of the process */
        if (!w)
                str_no_memory();
        *w = (struct port_watch){.door = d,
                                 .fd = fd,
                                 .tokens_ms = BURST * 1000 / PER_SECOND,
                                 .seen_ms = loop_now(d->loop)};
        if (!loop_add(d->loop, fd, EPOLLIN, on_packet, w))
                door_fault(d, "the box's first packets cannot be watched");
}
