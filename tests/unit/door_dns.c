/* door_dns.c - the box's name server: every valid name gets an address that stays its own, nothing
 * else is told, and odd queries get the answer that ends them. Answers are read with the C
 * library's own reader. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/custody.h"
#include "egress/dns.h"
#include "egress/door.h"
#include "egress/names.h"
#include "policy/policy_layers.h"
#include "unit/check.h"
#include "wire/door.h"

#include <arpa/nameser.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BYTES(s) s, sizeof(s) - 1
#define HEAD     "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00"
#define HEAD_OPT "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x01"
#define A_ORG                                                                                      \
        "\x01"                                                                                     \
        "a\x03org\x00"
#define IN_A "\x00\x01\x00\x01"
#define OPT  "\x00\x00\x29\x04\xd0\x00\x00\x80\x00"

enum { NONE = -1, BADVERS = 16 };

/* A query for ${name}, which is text with dots. */
static void put_query(struct buf *b, const char *name, unsigned type)
{
        buf_put(b, HEAD, 12);
        while (*name) {
                size_t n = strcspn(name, ".");
                buf_put_u8(b, (uint8_t)n);
                buf_put(b, name, n);
                name += n + (name[n] == '.');
        }
        buf_put(b, (uint8_t[5]){0, (uint8_t)(type >> 8), (uint8_t)type, 0, 1}, 5);
}

struct seen {
        size_t len;
        int rcode, answers_n, soas_n, opts_n;
        uint32_t ttl, addr;
        char name[NS_MAXDNAME];
        uint8_t bytes[DNS_MAX];
};

/* ask_bytes(names, p, n, now, note): what an independent reader finds in the answer. */
static struct seen ask_bytes(struct names *names, const void *p, size_t n, uint64_t now,
                             struct dns_note *note)
{
        struct seen s = {.rcode = NONE};
        ns_msg m;
        ns_rr rr;
        s.len = dns_answer(names, p, n, now, s.bytes, note);
        if (s.len == 0 || ns_initparse(s.bytes, (int)s.len, &m) < 0)
                return s;
        s.rcode = (int)ns_msg_getflag(m, ns_f_rcode);
        s.answers_n = ns_msg_count(m, ns_s_an);
        if (s.answers_n && ns_parserr(&m, ns_s_an, 0, &rr) == 0) {
                s.ttl = ns_rr_ttl(rr);
                if (ns_rr_type(rr) == ns_t_a)
                        s.addr = ns_get32(ns_rr_rdata(rr));
                else if (ns_rr_type(rr) == ns_t_ptr)
                        ns_name_uncompress(s.bytes, s.bytes + s.len, ns_rr_rdata(rr), s.name,
                                           sizeof s.name);
        }
        if (ns_msg_count(m, ns_s_ns) == 1 && ns_parserr(&m, ns_s_ns, 0, &rr) == 0) {
                s.soas_n = ns_rr_type(rr) == ns_t_soa;
                s.ttl = ns_rr_ttl(rr);
        }
        if (ns_msg_count(m, ns_s_ar) == 1 && ns_parserr(&m, ns_s_ar, 0, &rr) == 0) {
                s.opts_n = ns_rr_type(rr) == ns_t_opt && ns_rr_rdlen(rr) == 0;
                s.rcode |= (int)(ns_rr_ttl(rr) >> 24) << 4;
        }
        return s;
}

static struct seen ask(struct names *names, const char *name, unsigned type)
{
        struct dns_note note;
        _cleanup_buf_ struct buf b = {0};
        put_query(&b, name, type);
        return ask_bytes(names, b.data, b.len, 0, &note);
}

static void test_names(void)
{
        struct names *names = names_new();
        struct seen a = ask(names, "a.example.org", ns_t_a),
                    b = ask(names, "b.example.org", ns_t_a);
        CHECK("a name gets an address",
              a.rcode == 0 && a.answers_n == 1 && (a.addr & 0xffff0000) == DOOR_NAMES_NET);
        CHECK("it holds for a minute", a.ttl == 60 && a.soas_n == 0);
        CHECK("another name gets another", b.rcode == 0 && b.addr != a.addr);
        CHECK("the same name gets the same", ask(names, "A.Example.ORG", ns_t_a).addr == a.addr);
        CHECK("the address stands for the name",
              names_find(names, a.addr) &&
                      !strcmp(names_find(names, a.addr)->text, "a.example.org"));
        CHECK("others stand for nobody",
              !names_find(names, b.addr + 1) && !names_find(names, DOOR_NAMES_NET) &&
                      !names_find(names, 0xffffffff) && !names_find(names, 0));
        CHECK("localhost is where it always is",
              ask(names, "localhost", ns_t_a).addr == INADDR_LOOPBACK &&
                      ask(names, "x.LocalHost", ns_t_a).addr == INADDR_LOOPBACK);
        CHECK("notlocalhost is not", ask(names, "notlocalhost", ns_t_a).addr != INADDR_LOOPBACK);

        static const unsigned none[] = {ns_t_aaaa,  ns_t_mx,  ns_t_txt, ns_t_ns, ns_t_soa,
                                        ns_t_srv,   ns_t_any, 64,       65,      ns_t_ds,
                                        ns_t_cname, ns_t_ptr, 999};
        for (size_t i = 0; i < sizeof none / sizeof *none; i++) {
                struct seen s = ask(names, "new.example.org", none[i]);
                check(s.rcode == 0 && s.answers_n == 0 && s.soas_n == 1 && s.ttl == 60,
                      "there is nothing else", "type %u: rcode %d", none[i], s.rcode);
        }
        CHECK("and asking so makes no name", !names_find(names, b.addr + 2));

        char reverse[64];
        snprintf(reverse, sizeof reverse, "%u.%u.19.198.in-addr.arpa", a.addr & 255,
                 a.addr >> 8 & 255);
        check_str("an address has its name", ask(names, reverse, ns_t_ptr).name, "a.example.org");
        check_str("127.0.0.1 too", ask(names, "1.0.0.127.in-addr.arpa", ns_t_ptr).name,
                  "localhost");
        static const char *const unknown[] = {
                "9.9.19.198.in-addr.arpa", "1.2.3.in-addr.arpa",     "1.2.3.4.5.in-addr.arpa",
                "x.2.3.4.in-addr.arpa",    "in-addr.arpa",           "256.2.3.4.in-addr.arpa",
                "1.0.0.0.ip6.arpa",        "01.0.0.127.in-addr.arpa"};
        for (size_t i = 0; i < sizeof unknown / sizeof *unknown; i++)
                check(ask(names, unknown[i], ns_t_ptr).rcode == ns_r_nxdomain, "nobody's address",
                      "%s", unknown[i]);

        static const char *const never[] = {"wpad",
                                            "wpad.example.org",
                                            "_dns.resolver.arpa",
                                            "use-application-dns.net",
                                            "x.onion",
                                            "x.invalid",
                                            "1.2.3.4",
                                            "2130706433",
                                            "-a.org",
                                            "a-.org",
                                            "a b.org",
                                            "a@b.org",
                                            "*.a.org",
                                            "x.0x7f"};
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                for (unsigned type = ns_t_a; type <= ns_t_aaaa; type += ns_t_aaaa - ns_t_a) {
                        struct seen s = ask(names, never[i], type);
                        check(s.rcode == ns_r_nxdomain && s.soas_n == 1 && s.answers_n == 0,
                              "is no name", "%s: rcode %d", never[i], s.rcode);
                }
        CHECK("names like these are fine",
              ask(names, "_x._tcp.wpads.org", ns_t_a).addr &&
                      ask(names, "host.docker.internal", ns_t_a).addr &&
                      ask(names, "printer.local", ns_t_a).addr);
        names_free(names);
}

static const struct {
        const char *name, *bytes;
        size_t len;
        int rcode;
        size_t question_n;
} queries[] = {
        {"a query", BYTES(HEAD A_ORG IN_A), 0, 1},
        {"the root", BYTES(HEAD "\x00\x00\x02\x00\x01"), 0, 1},
        {"with OPT", BYTES(HEAD_OPT A_ORG IN_A OPT "\x00\x00"), 0, 1},
        {"with a client subnet",
         BYTES(HEAD_OPT A_ORG IN_A OPT "\x00\x0b\x00\x08\x00\x07\x00\x01\x18\x00\x01\x02\x03"), 0,
         1},
        {"nothing", BYTES(""), NONE, 0},
        {"half a head", BYTES("\x12\x34\x01\x00\x00\x01"), NONE, 0},
        {"an answer", BYTES("\x12\x34\x81\x00\x00\x01\x00\x00\x00\x00\x00\x00" A_ORG IN_A), NONE,
         0},
        {"an update", BYTES("\x12\x34\x28\x00\x00\x01\x00\x00\x00\x00\x00\x00" A_ORG IN_A), 4, 0},
        {"a status query", BYTES("\x12\x34\x10\x00\x00\x01\x00\x00\x00\x00\x00\x00" A_ORG IN_A), 4,
         0},
        {"no question", BYTES("\x12\x34\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00"), 1, 0},
        {"two questions",
         BYTES("\x12\x34\x01\x00\x00\x02\x00\x00\x00\x00\x00\x00" A_ORG IN_A A_ORG IN_A), 1, 0},
        {"an answer in a query",
         BYTES("\x12\x34\x01\x00\x00\x01\x00\x01\x00\x00\x00\x00" A_ORG IN_A), 1, 0},
        {"an authority in a query",
         BYTES("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x01\x00\x00" A_ORG IN_A), 1, 0},
        {"bytes after the question", BYTES(HEAD A_ORG IN_A "x"), 1, 1},
        {"half a question", BYTES(HEAD A_ORG "\x00\x01\x00"), 1, 0},
        {"a name without an end",
         BYTES(HEAD "\x01"
                    "a\x03org"),
         1, 0},
        {"a pointer",
         BYTES(HEAD "\x01"
                    "a\xc0\x0c" IN_A),
         1, 0},
        {"a pointer to itself", BYTES(HEAD "\xc0\x0c" IN_A), 1, 0},
        {"a label of another kind",
         BYTES(HEAD "\x41"
                    "a\x00" IN_A),
         1, 0},
        {"a dot in a label",
         BYTES(HEAD "\x05"
                    "a.org\x00" IN_A),
         3, 1},
        {"E1: NUL in a label",
         BYTES(HEAD "\x03"
                    "a\0b\x03org\x00" IN_A),
         3, 1},
        {"a byte beyond ASCII", BYTES(HEAD "\x02\xc3\xa9\x03org\x00" IN_A), 3, 1},
        {"another class", BYTES(HEAD A_ORG "\x00\x01\x00\x03"), 5, 1},
        {"any class", BYTES(HEAD A_ORG "\x00\x01\x00\xff"), 5, 1},
        {"a transfer", BYTES(HEAD A_ORG "\x00\xfc\x00\x01"), 4, 1},
        {"OPT as a question", BYTES(HEAD A_ORG "\x00\x29\x00\x01"), 4, 1},
        {"OPT that is missing", BYTES(HEAD_OPT A_ORG IN_A), 1, 1},
        {"OPT with a name",
         BYTES(HEAD_OPT A_ORG IN_A "\x01"
                                   "a\x00\x00\x29\x04\xd0\x00\x00\x80\x00\x00\x00"),
         1, 1},
        {"another record for OPT",
         BYTES(HEAD_OPT A_ORG IN_A "\x00\x00\x01\x04\xd0\x00\x00\x80\x00\x00\x00"), 1, 1},
        {"OPT too short", BYTES(HEAD_OPT A_ORG IN_A OPT "\x00\x01"), 1, 1},
        {"bytes after OPT", BYTES(HEAD_OPT A_ORG IN_A OPT "\x00\x00x"), 1, 1},
        {"half an option", BYTES(HEAD_OPT A_ORG IN_A OPT "\x00\x05\x00\x08\x00\x07\x00"), 1, 1},
        {"OPT of another version",
         BYTES(HEAD_OPT A_ORG IN_A "\x00\x00\x29\x04\xd0\x00\x01\x00\x00\x00\x00"), BADVERS, 1},
};

static void test_queries(void)
{
        for (size_t i = 0; i < sizeof queries / sizeof *queries; i++) {
                struct names *names = names_new();
                struct dns_note note;
                struct seen s = ask_bytes(names, queries[i].bytes, queries[i].len, 0, &note);
                bool good = s.rcode == queries[i].rcode;
                if (good && s.rcode != NONE)
                        good = memcmp(s.bytes, "\x12\x34", 2) == 0 &&
                               s.bytes[5] == queries[i].question_n;
                check(good, queries[i].name, "rcode %d, wanted %d", s.rcode, queries[i].rcode);
                names_free(names);
        }

        struct names *names = names_new();
        struct dns_note note;
        struct seen s =
                ask_bytes(names,
                          BYTES(HEAD_OPT "\x01"
                                         "A\x03oRg\x00" IN_A OPT
                                         "\x00\x0b\x00\x08\x00\x07\x00\x01\x18\x00\x01\x02\x03"),
                          0, &note);
        CHECK("OPT is answered without options", s.opts_n == 1 && s.answers_n == 1);
        CHECK("the letters of the question come back", memcmp(s.bytes + 12,
                                                              "\x01"
                                                              "A\x03oRg",
                                                              6) == 0);
        check_str("the log gets the name", note.host.text, "a.org");
        CHECK("no OPT without OPT", ask(names, "a.org", ns_t_a).bytes[11] == 0);

        /* The longest name there is. */
        char longest[254];
        memset(longest, 'a', sizeof longest);
        longest[63] = longest[127] = longest[191] = '.';
        longest[253] = 0;
        s = ask(names, longest, ns_t_a);
        CHECK("the longest name has an address", s.rcode == 0 && s.addr);
        char reverse[64];
        snprintf(reverse, sizeof reverse, "%u.%u.19.198.in-addr.arpa", s.addr & 255,
                 s.addr >> 8 & 255);
        check_str("and back", ask(names, reverse, ns_t_ptr).name, longest);
        _cleanup_buf_ struct buf b = {0};
        buf_put(&b, HEAD, 12);
        for (int i = 0; i < 128; i++)
                buf_put(&b, "\x01x", 2);
        buf_put(&b, "\x00" IN_A, 5);
        CHECK("a longer one is refused", ask_bytes(names, b.data, b.len, 0, &note).rcode == 1);
        names_free(names);
}

/* New names come in a burst, then slowly, and not for ever. */
static void test_caps(void)
{
        struct names *names = names_new();
        struct host_name h;
        char text[32];
        uint32_t addr, first = 0;
        int n = 0;
        for (int i = 0; i < 300; i++) {
                snprintf(text, sizeof text, "n%d.example.org", i);
                host_name_parse(text, strlen(text), &h, NULL);
                n += names_address(names, &h, 1000, &addr) == 0;
                first = i == 0 ? addr : first;
        }
        check(n == 200, "two hundred new names come at once", "%d do", n);
        struct dns_note note;
        _cleanup_buf_ struct buf b = {0};
        put_query(&b, "n299.example.org", ns_t_a);
        struct seen s = ask_bytes(names, b.data, b.len, 1000, &note);
        CHECK("more do not exist for a moment",
              s.rcode == ns_r_nxdomain && note.is_capped && s.ttl == 1 && note.host.len);
        host_name_parse("n0.example.org", 14, &h, NULL);
        CHECK("known ones go on", names_address(names, &h, 1000, &addr) == 0 && addr == first);
        s = ask_bytes(names, b.data, b.len, 1050, &note);
        CHECK("after a while there is one more", s.rcode == 0 && !note.is_capped);
        n = 0;
        for (int i = 300; i < 600; i++) {
                snprintf(text, sizeof text, "n%d.example.org", i);
                host_name_parse(text, strlen(text), &h, NULL);
                n += names_address(names, &h, 2050, &addr) == 0;
        }
        check(n == 20, "twenty in a second", "%d come", n);
        CHECK("a clock that goes back gives none", host_name_parse("late.org", 8, &h, NULL) == 0 &&
                                                           names_address(names, &h, 5, &addr) < 0);

        uint64_t now = 10000;
        int ok = 0, wrong = 0;
        for (int i = 0; i < 61000; i++) {
                snprintf(text, sizeof text, "m%d.example.org", i);
                host_name_parse(text, strlen(text), &h, NULL);
                if (names_address(names, &h, now += 50, &addr) == 0) {
                        ok++;
                        const struct host_name *back = names_find(names, addr);
                        wrong += !back || !host_name_equal(back, &h);
                }
        }
        check(ok + 221 == 60000 && wrong == 0, "60000 names and no more", "%d, %d wrong", ok,
              wrong);
        host_name_parse("n0.example.org", 14, &h, NULL);
        CHECK("the first is still itself",
              names_address(names, &h, now, &addr) == 0 && addr == first);
        host_name_parse("127.0.0.1", 9, &h, NULL);
        CHECK("an address is no name", names_address(names, &h, now, &addr) < 0);
        names_free(names);
}

/* --- the server: nothing is answered before it is known what is secret ------------------------- */

static void on_enough(void *ctx)
{
        loop_stop(ctx);
}

/* is_answered(d, fd): is there an answer on ${fd} when the door has gone round for a while? */
static bool is_answered(struct door *d, int fd)
{
        uint8_t reply[DNS_MAX];
        struct loop_timer enough = {.fn = on_enough, .ctx = d->loop};
        loop_timer_set(d->loop, &enough, 20);
        loop_run(d->loop);
        loop_timer_stop(&enough);
        return recv(fd, reply, sizeof reply, MSG_DONTWAIT) > 0;
}

/* udp_pair(&box): the server's socket; ${box} is connected to it. */
static int udp_pair(int *box)
{
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t n = sizeof at;
        int one = 1, fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
        *box = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        if (setsockopt(fd, IPPROTO_IP, IP_PKTINFO, &one, sizeof one) < 0 ||
            bind(fd, (struct sockaddr *)&at, sizeof at) < 0 ||
            getsockname(fd, (struct sockaddr *)&at, &n) < 0 ||
            connect(*box, (struct sockaddr *)&at, sizeof at) < 0)
                abort();
        return fd;
}

static void test_waits_for_secrets(void)
{
        static struct door d;
        static struct policy none;
        int box;
        d.loop = loop_new();
        d.names = names_new();
        accept_add(&d, DOOR_PORT_DNS_UDP, udp_pair(&box));
        _cleanup_buf_ struct buf b = {0};
        put_query(&b, "first.example.org", ns_t_a);
        CHECK("a first lookup is asked", send(box, b.data, b.len, 0) == (ssize_t)b.len);
        CHECK("it waits while there are no rules", !is_answered(&d, box));
        d.policy = &none;
        accept_ports(&d);
        CHECK("and while it is not known what is secret", !is_answered(&d, box));
        custody_of(&d)->is_known = true;
        accept_ports(&d);
        CHECK("it is answered then", is_answered(&d, box));
        close(box);
        names_free(d.names);
        loop_free(d.loop);
}

int main(void)
{
        test_names();
        test_waits_for_secrets();
        test_queries();
        test_caps();
        return check_end();
}
