/* door_dial_proxy.c - dial behind a company's proxy: CONNECT is asked of it, the policy comes
 * first, its answer is read strictly, and not a byte behind that answer is lost. Also how the
 * address of a proxy is read, and resolv.conf and hosts. */
#include "dial/addr.h"
#include "dial/conf.h"
#include "dial/tunnel.h"
#include "unit/libdial.h"

enum { PROXY_PORT = 3128, NEAR_PORT = 4430 };

static int seen[2]; /* a pipe: the head of every request */

/* What the proxy says to each host, in pieces that arrive one by one at each "|". */
static const struct record says[] = {
        {"good.test:443", "HTTP/1.1 200 Connection established\r\n\r\n"},
        {"banner.test:443", "HTTP/1.1 200 OK\r\nVia: x\r\n\r\nSSH-2.0-banner"},
        {"slow.test:443", "HTT|P/1.0 200 OK\r|\n\r|\nSSH-2.0|-banner"},
        {"auth.test:443", "HTTP/1.1 407 Proxy Authentication Required\r\n\r\nwho are you"},
        {"no.test:443", "HTTP/1.1 403 Forbidden\r\n\r\n"},
        {"odd.test:443", "SSH-2.0-what\r\n\r\n"},
        {"code.test:443", "HTTP/1.1 2x0 OK\r\n\r\n"},
        {"esc.test:443", "HTTP/1.1 500 \033[2Jgone\r\n\r\n"},
        {"cut.test:443", "HTTP/1.1 200 OK\r\n"},
        {"20.0.0.1:443", "HTTP/1.1 200 OK\r\n\r\n"},
        {NULL, NULL},
};

_Noreturn static void proxy_serve(int listener)
{
        prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
        signal(SIGPIPE, SIG_IGN);
        for (;;) {
                int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                char head[4096] = "", host[256] = "";
                ssize_t n = read(fd, head, sizeof head - 1);
                write(seen[1], head, n > 0 ? (size_t)n : 0);
                sscanf(head, "CONNECT %255s ", host);
                const char *words = NULL;
                for (const struct record *r = says; r->name; r++)
                        if (strcmp(r->name, host) == 0)
                                words = r->value;
                int on = 1;
                setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
                if (strcmp(host, "long.test:443") == 0) {
                        write(fd, "HTTP/1.1 200 OK\r\n", 17);
                        for (int i = 0; i < 4000; i++)
                                if (write(fd, "X-Y: zzzzzzzz\r\n", 15) < 0)
                                        break;
                }
                while (words && *words) {
                        size_t len = strcspn(words, "|");
                        write(fd, words, len);
                        usleep(words[len] ? 30000 : 0);
                        words += len + (words[len] == '|');
                }
                if (strcmp(host, "cut.test:443") == 0 || !words)
                        close(fd);
                /* The others stay open until the end of the test. */
        }
}

static void expect_banner(const char *name, const char *host)
{
        struct reply r = call(REQUEST_SPLICE, host, 443);
        char text[64] = "";
        size_t len = 0;
        for (int i = 0; i < 50 && len < 14; i++) {
                ssize_t n = read(r.fd, text + len, sizeof text - 1 - len);
                len += n > 0 ? (size_t)n : 0;
                usleep(n > 0 ? 0 : 20000);
        }
        close_fd(&r.fd);
        check_str(name, text, "SSH-2.0-banner");
}

static void through(void)
{
        char head[4096];
        expect("a name is asked of the proxy", call(REQUEST_HTTP, "good.test", 443), -1,
               "127.0.0.1:3128");
        head[read(seen[0], head, sizeof head - 1)] = 0;
        check_str("in this form", head,
                  "CONNECT good.test:443 HTTP/1.1\r\nHost: good.test:443\r\n"
                  "Proxy-Authorization: Basic dXNlcjpwQHNz\r\n\r\n");
        expect_banner("what follows the answer is kept", "banner.test");
        expect_banner("also when everything comes in pieces", "slow.test");
        expect("a proxy that wants a password", call(REQUEST_HTTP, "auth.test", 443),
               DOOR_DIAL_NO_ROUTE, "refused: 407 Proxy Authentication Required");
        expect("a proxy that refuses", call(REQUEST_HTTP, "no.test", 443), DOOR_DIAL_NO_ROUTE,
               "refused: 403 Forbidden");
        expect("a proxy that is none", call(REQUEST_HTTP, "odd.test", 443), DOOR_DIAL_NO_ROUTE,
               "does not answer in HTTP/1");
        expect("a status that is none", call(REQUEST_HTTP, "code.test", 443), DOOR_DIAL_NO_ROUTE,
               "does not answer in HTTP/1");
        expect("a status that plays with the terminal", call(REQUEST_HTTP, "esc.test", 443),
               DOOR_DIAL_NO_ROUTE, "does not answer in HTTP/1");
        expect("an answer that is cut", call(REQUEST_HTTP, "cut.test", 443), DOOR_DIAL_NO_ROUTE,
               "closed the connection");
        expect("an answer that is too long", call(REQUEST_HTTP, "long.test", 443),
               DOOR_DIAL_NO_ROUTE, "");
        expect("a public literal goes through it too", call(REQUEST_HTTP, "20.0.0.1", 443), -1,
               "127.0.0.1:3128");
        expect("to= does not", call(REQUEST_HTTP, "near.test", 443), -1, "127.0.0.1:4430");
        while (read(seen[0], head, sizeof head) > 0)
                ;
        expect("the policy comes first", call(REQUEST_HTTP, "other.example", 443), DOOR_DIAL_DENIED,
               "denied by default");
        usleep(50000);
        CHECK("and the proxy hears nothing of it", read(seen[0], head, sizeof head) < 0);
        CHECK("no name server is asked for a name behind the proxy", queries_of("good.test") == 0);
}

static void addresses(void)
{
        static const struct {
                const char *url, *host, *auth;
                unsigned port;
        } cases[] = {
                {"http://proxy.test:3128", "proxy.test", "", 3128},
                {"http://proxy.test:3128/", "proxy.test", "", 3128},
                {"proxy.test", "proxy.test", "", 80},
                {"http://[fd00::1]:8080", "[fd00::1]", "", 8080},
                {"http://[fd00::1]", "[fd00::1]", "", 80},
                {"http://a:b@10.0.0.1", "10.0.0.1", "YTpi", 80},
                {"http://a%40b:%25@h.test:1", "h.test", "YUBiOiU=", 1},
                {"https://proxy.test", NULL, NULL, 0},
                {"socks5://proxy.test", NULL, NULL, 0},
                {"http://proxy.test/x", NULL, NULL, 0},
                {"http://proxy.test:0", NULL, NULL, 0},
                {"http://proxy.test:70000", NULL, NULL, 0},
                {"http://proxy.test:", NULL, NULL, 0},
                {"http://a%0d@proxy.test", NULL, NULL, 0},
                {"http://a%4@proxy.test", NULL, NULL, 0},
                {"http://pro xy", NULL, NULL, 0},
                {"http://", NULL, NULL, 0},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct tunnel_proxy p;
                struct err err = {0};
                _cleanup_free_ char *name = str_fmt("proxy %s", cases[i].url);
                int got = tunnel_proxy_parse(cases[i].url, &p, &err);
                bool is_good = cases[i].host ? got == 0 && !strcmp(p.host.text, cases[i].host) &&
                                                       p.port == cases[i].port &&
                                                       !strcmp(p.auth, cases[i].auth)
                                             : got < 0 && err.text[0];
                check(is_good, name, "%d %s %s", got, p.auth, err.text);
        }
}

static void files(void)
{
        struct conf c;
        conf_resolv("; x\n# y\nnameserver 192.0.2.1\nsearch a b\nnameserver\t2001:db8::1 # z\n"
                    "nameserver fe80::1%eth0\nnameserver nonsense\nnameserver [127.0.0.1]:5353\r\n"
                    "options rotate timeout:3 attempts:99 ndots:5\n",
                    &c);
        check_str("servers of resolv.conf", c.servers, "192.0.2.1,[2001:db8::1],127.0.0.1:5353");
        CHECK("options of resolv.conf",
              c.is_rotated && !c.is_tcp && c.timeout_ms == 3000 && c.tries == 5);
        conf_resolv("", &c);
        check_str("no resolv.conf", c.servers, "127.0.0.1");
        static const char hosts[] = "127.0.0.1 localhost a.test\n"
                                    "# 10.0.0.1 c.test\n"
                                    "10.0.0.2\tb.test\tc.test # d.test\n"
                                    "nonsense e.test\n"
                                    "fd00::1 b.test\n"
                                    "10.0.0.3 xb.test b.test.x\n"
                                    "10.0.0.4 f.test";
        static const struct {
                const char *name;
                size_t n;
        } cases[] = {{"a.test", 1}, {"b.test", 2}, {"c.test", 1}, {"d.test", 0},  {"e.test", 0},
                     {"f.test", 1}, {"test", 0},   {"g.test", 0}, {"10.0.0.3", 0}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                struct addr_list l = {0};
                _cleanup_free_ char *name = str_fmt("hosts has %s", cases[i].name);
                conf_hosts(hosts, cases[i].name, &l);
                check(l.n == cases[i].n, name, "%zu", l.n);
        }
}

int main(void)
{
        addresses();
        files();
        if (net_make() < 0 || pipe2(queries, O_CLOEXEC | O_NONBLOCK) < 0 ||
            pipe2(seen, O_CLOEXEC | O_NONBLOCK) < 0) {
                printf("not ok network: no namespace could be made\n");
                return 1;
        }
        static const struct record names[] = {{"proxy.test", "127.0.0.1"}, {NULL, NULL}};
        char dir[] = "/tmp/ostiary-dial.XXXXXX";
        if (!mkdtemp(dir))
                return 1;
        snprintf(resolv_path, sizeof resolv_path, "%s/resolv.conf", dir);
        snprintf(hosts_path, sizeof hosts_path, "%s/hosts", dir);
        put_file(resolv_path, "nameserver 127.0.0.1\n");
        pid_t server = dns_start("127.0.0.1", names);
        listen_on("127.0.0.1", NEAR_PORT, 16);
        int listener = listen_on("127.0.0.1", PROXY_PORT, 64);
        pid_t proxy = fork();
        if (proxy == 0)
                proxy_serve(listener);
        close(listener);
        CHECK("dial begins with a proxy", dial_start("http://user:p%40ss@proxy.test:3128"));
        CHECK("and takes its rules",
              rules(DOOR_STRICT, "allow * near.test to=127.0.0.1:4430\nallow * *.test\n"
                                 "splice *.test\nallow * 20.0.0.1\n") == DOOR_POLICY_OK);
        through();
        kill(proxy, SIGKILL);
        waitpid(proxy, NULL, 0);
        expect("a proxy that is gone", call(REQUEST_HTTP, "good.test", 443), DOOR_DIAL_NO_ROUTE,
               "the upstream proxy proxy.test:3128 cannot be reached");
        CHECK("a proxy that cannot be one is refused", !dial_start("https://proxy.test"));
        dial_end();
        kill(server, SIGKILL);
        waitpid(server, NULL, 0);
        unlink(resolv_path);
        unlink(hosts_path);
        rmdir(dir);
        return check_end();
}
