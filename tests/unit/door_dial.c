/* door_dial.c - dial as the supervisor and egress see it: what it connects to, what it refuses and
 * with which words, and that it asks nobody about a name that is refused (E8, E10). */
#include "unit/libdial.h"

static const struct record first_server[] = {
        {"pub.test", "20.0.0.1"},
        {"both.test", "20.0.0.2"},
        {"both.test", "2600::2"},
        {"sick6.test", "2600::dead"},
        {"sick6.test", "20.0.0.3"},
        {"lost.test", "20.0.0.99"},
        {"lost.test", "20.0.0.98"},
        {"loop.test", "127.0.0.1"},
        {"zero.test", "0.0.0.0"},
        {"private.test", "10.1.2.3"},
        {"private6.test", "fd00::5"},
        {"link.test", "169.254.1.1"},
        {"meta.test", "169.254.169.254"},
        {"cgnat.test", "100.64.1.1"},
        {"multi.test", "224.0.0.1"},
        {"mapped.test", "::ffff:127.0.0.1"},
        {"nat64.test", "64:ff9b::7f00:1"},
        {"nat64pub.test", "64:ff9b::1400:1"},
        {"six.test", "::1"},
        {"own.test", "30.0.0.1"},
        {"mixed.test", "20.0.0.1"},
        {"mixed.test", "192.168.7.7"},
        {"mixed6.test", "20.0.0.1"},
        {"mixed6.test", "fe80::1"},
        {"chain.test", "=hop.test"},
        {"hop.test", "=end.test"},
        {"end.test", "20.0.0.1"},
        {"trap.test", "=loop.test"},
        {"fail.test", "!2"},
        {"refuse.test", "!5"},
        {"silent.test", "silence"},
        {"half.test", "silence6"},
        {"half.test", "20.0.0.1"},
        {"deaf.test", "20.0.0.66"},
        {"empty.test", "=nowhere.test"},
        {"roam.test", "20.0.0.1"},
        {NULL, NULL},
};
static const struct record second_server[] = {
        {"roam.test", "20.0.0.4"}, {"silent.test", "20.0.0.1"}, {NULL, NULL}};

enum { PORT = 4430 };

static void grants(void)
{
        struct reply r = call(REQUEST_HTTP, "pub.test", PORT);
        int nodelay = 0, alive = 0;
        socklen_t len = sizeof nodelay;
        getsockopt(r.fd, IPPROTO_TCP, TCP_NODELAY, &nodelay, &len);
        getsockopt(r.fd, SOL_SOCKET, SO_KEEPALIVE, &alive, &len);
        struct sockaddr_in in = {0};
        socklen_t in_len = sizeof in;
        getpeername(r.fd, (struct sockaddr *)&in, &in_len);
        CHECK("the socket leads to the address that was checked",
              r.fault == -1 && in.sin_addr.s_addr == inet_addr("20.0.0.1") &&
                      ntohs(in.sin_port) == PORT);
        CHECK("it is non-blocking, without delay, and kept alive",
              fcntl(r.fd, F_GETFL) & O_NONBLOCK && nodelay && alive);
        expect("a name that a rule grants is dialled", r, -1, "20.0.0.1:4430");
        CHECK("one look-up is two questions", queries_of("pub.test") == 2);
        expect("the answer is remembered", call(REQUEST_HTTP, "pub.test", PORT), -1, "20.0.0.1");
        CHECK("and not asked for again", queries_of("pub.test") == 0);
        expect("IPv6 is tried first", call(REQUEST_HTTP, "both.test", PORT), -1, "[2600::2]:4430");
        int64_t at = now_ms();
        expect("a dead IPv6 does not hold up", call(REQUEST_HTTP, "sick6.test", PORT), -1,
               "20.0.0.3:4430");
        CHECK("for more than a moment", now_ms() - at < 3000);
        at = now_ms();
        expect("a server that never answers about IPv6", call(REQUEST_HTTP, "half.test", PORT), -1,
               "20.0.0.1:4430");
        CHECK("is not waited for", now_ms() - at < 900);
        expect("a chain of names to a public address", call(REQUEST_HTTP, "chain.test", PORT), -1,
               "20.0.0.1");
        expect("to= is dialled without a question", call(REQUEST_HTTP, "near.test", 443), -1,
               "127.0.0.1:4430");
        CHECK("to the name server either", queries_of("near.test") == 0);
        expect("a literal that a rule writes", call(REQUEST_HTTP, "127.0.0.1", PORT), -1,
               "127.0.0.1:4430");
        expect("a raw stream by rule", call(REQUEST_TCP, "pub.test", PORT), -1, "20.0.0.1");
        expect("NAT64 is judged by what is behind it", call(REQUEST_HTTP, "nat64pub.test", PORT),
               DOOR_DIAL_NO_ROUTE, "cannot be reached");
}

static void refusals(void)
{
        static const struct {
                const char *name, *host, *words;
        } cases[] = {
                {"loopback is refused", "loop.test", "the host itself"},
                {"0.0.0.0 is refused", "zero.test", "0.0.0.0"},
                {"a private address is refused", "private.test", "to=10.1.2.3"},
                {"a private IPv6 is refused", "private6.test", "a private address"},
                {"link-local is refused", "link.test", "link-local"},
                {"cloud metadata is refused", "meta.test", "credentials"},
                {"a carrier's address is refused", "cgnat.test", "carrier"},
                {"multicast is refused", "multi.test", "multicast"},
                {"IPv4 mapped into IPv6 is refused", "mapped.test", "inside another"},
                {"NAT64 of loopback is refused", "nat64.test", "the host itself"},
                {"::1 is refused", "six.test", "the host itself"},
                {"this machine's own address is refused", "own.test", "this machine"},
                {"public and private mixed are refused", "mixed.test", "192.168.7.7"},
                {"public and link-local mixed are refused", "mixed6.test", "fe80::1"},
                {"a chain of names to loopback is refused", "trap.test", "the host itself"},
        };
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
                expect(cases[i].name, call(REQUEST_HTTP, cases[i].host, PORT), DOOR_DIAL_DENIED,
                       cases[i].words);
        queries_of(NULL);
        expect("a name without a rule is refused", call(REQUEST_HTTP, "other.test", 443),
               DOOR_DIAL_DENIED, "denied by default");
        expect("a name under deny! is refused", call(REQUEST_HTTP, "x.bad.test", PORT),
               DOOR_DIAL_DENIED, "user policy:");
        expect("a port without a rule is refused", call(REQUEST_HTTP, "pub.test", 22),
               DOOR_DIAL_DENIED, "denied by default");
        expect("another kind is refused", call(REQUEST_SPLICE, "chain.test", PORT),
               DOOR_DIAL_DENIED, "denied by default");
        expect("a literal without a rule is refused", call(REQUEST_HTTP, "20.0.0.1", PORT),
               DOOR_DIAL_DENIED, "denied by default");
        expect("the address of to= is no rule for itself", call(REQUEST_HTTP, "127.0.0.1", 443),
               DOOR_DIAL_DENIED, "denied by default");
        CHECK("no question was asked for any of them", queries_of(NULL) == 0);
}

static void troubles(void)
{
        expect("a name that is not there", call(REQUEST_HTTP, "gone.test", PORT), DOOR_DIAL_NO_NAME,
               "no such name");
        expect("a name without addresses", call(REQUEST_HTTP, "empty.test", PORT),
               DOOR_DIAL_NO_NAME, "empty.test does not resolve");
        expect("a server that fails", call(REQUEST_HTTP, "fail.test", PORT), DOOR_DIAL_NO_NAME,
               "name server");
        expect("a server that refuses", call(REQUEST_HTTP, "refuse.test", PORT), DOOR_DIAL_NO_NAME,
               "name server");
        int64_t at = now_ms();
        expect("a server that is silent", call(REQUEST_HTTP, "silent.test", PORT),
               DOOR_DIAL_NO_NAME, "did not answer in time");
        check(now_ms() - at < 12000, "is given up in time", "%d ms", (int)(now_ms() - at));
        at = now_ms();
        expect("nobody listens there", call(REQUEST_HTTP, "lost.test", 9), DOOR_DIAL_NO_ROUTE,
               "refused");
        CHECK("and that is said at once", now_ms() - at < 2000);
}

static void cancels(void)
{
        ask(1, REQUEST_HTTP, "deaf.test", PORT);
        cancel(1);
        ask(2, REQUEST_HTTP, "silent.test", PORT);
        cancel(2);
        cancel(77);
        expect("what was cancelled is not answered", call(REQUEST_HTTP, "pub.test", PORT), -1, "");
        for (uint32_t i = 0; i < 300; i++)
                ask(10000 + i, REQUEST_HTTP, "deaf.test", PORT);
        int busy = 0;
        for (struct reply r; (r = reply_within(500)).fault != -2;)
                busy += r.fault == DOOR_DIAL_BUSY;
        check(busy == 300 - 256, "too many at once are told to come again", "%d", busy);
        for (uint32_t i = 0; i < 300; i++)
                cancel(10000 + i);
        expect("and there is room again", call(REQUEST_HTTP, "pub.test", PORT), -1, "");
        ask(3, REQUEST_HTTP, "deaf.test", PORT);
        CHECK("rules change while a call is under way",
              rules(DOOR_STRICT, "allow * pub.test:*") == DOOR_POLICY_OK);
        struct reply r = reply_within(1000);
        CHECK("which ends it", r.id == 3);
        expect("with its reason", r, DOOR_DIAL_DENIED, "denied by default");
}

static void policies(void)
{
        uint64_t got = 0;
        CHECK("a broken rule is named",
              rules(DOOR_STRICT, "allow * pub.test\nalow x") == DOOR_POLICY_BAD &&
                      cur_u64(&frame_in.body, &got) == 0 && got == generation &&
                      memmem(frame_in.body.p, frame_in.body.left, "user policy, line 2", 19));
        expect("and the old rules stay", call(REQUEST_HTTP, "pub.test", PORT), -1, "");
        _cleanup_buf_ struct buf b = {0};
        buf_put_u64(&b, ++generation);
        buf_put_u32(&b, DOOR_STRICT);
        _cleanup_close_ int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
        frame_send(control, DOOR_POLICY, &b, &fd, 1);
        CHECK("rules that are not sealed are refused",
              next_frame(control, 2000) == DOOR_POLICY_BAD);
        CHECK("no rules", rules(DOOR_STRICT, "") == DOOR_POLICY_OK);
        expect("allow nothing", call(REQUEST_HTTP, "pub.test", PORT), DOOR_DIAL_DENIED, "default");
        CHECK("easy", rules(DOOR_EASY, "deny * roam.test:*") == DOOR_POLICY_OK);
        expect("takes egress's word for a public name", call(REQUEST_HTTP, "pub.test", PORT), -1,
               "");
        expect("and for a public literal", call(REQUEST_HTTP, "20.0.0.1", PORT), -1, "");
        expect("not for a private name", call(REQUEST_HTTP, "private.test", PORT), DOOR_DIAL_DENIED,
               "private");
        expect("nor for a private literal", call(REQUEST_HTTP, "127.0.0.1", PORT), DOOR_DIAL_DENIED,
               "only a rule that names it");
        expect("nor against a rule", call(REQUEST_HTTP, "roam.test", PORT), DOOR_DIAL_DENIED,
               "user policy:1");
}

/* until(host, want): ask again until the answer is this one, for a bounded time. */
static bool until(const char *host, const char *want)
{
        for (int i = 0; i < 50; i++) {
                struct reply r = call(REQUEST_HTTP, host, PORT);
                bool is_it = r.fault == -1 && strstr(r.words, want);
                close_fd(&r.fd);
                if (is_it)
                        return true;
                usleep(100000);
        }
        return false;
}

static void roaming(void)
{
        rules(DOOR_STRICT, "allow * *.test:*");
        expect("one network", call(REQUEST_HTTP, "roam.test", PORT), -1, "20.0.0.1");
        ask(5, REQUEST_HTTP, "silent.test", PORT);
        put_file(resolv_real, "# another network\nnameserver 127.0.0.2\n");
        struct reply r = reply_within(5000);
        CHECK("what was asked in vain is asked again", r.id == 5);
        expect("of the new server", r, -1, "20.0.0.1");
        CHECK("and the next network", until("roam.test", "20.0.0.4"));
        put_file(hosts_path, "127.0.0.1 localhost\n20.0.0.1 Roam.Test other # roam.test\n");
        CHECK("the hosts file is honoured when it changes", until("roam.test", "20.0.0.1"));
        put_file(hosts_path, "127.0.0.1 localhost roam.test\n");
        bool is_refused = false;
        for (int i = 0; i < 50 && !is_refused; i++, usleep(100000)) {
                r = call(REQUEST_HTTP, "roam.test", PORT);
                is_refused = r.fault == DOOR_DIAL_DENIED && strstr(r.words, "the host itself");
                close_fd(&r.fd);
        }
        CHECK("and its addresses are checked too", is_refused);
        put_file(hosts_path, "");
        put_file(resolv_real, "nameserver 127.0.0.1\n");
}

/* first_numbers(out): of the first two questions of a fresh process. */
static void first_numbers(unsigned out[2])
{
        dial_start("");
        rules(DOOR_STRICT, "allow * *.test:*");
        queries_of(NULL);
        struct reply r = call(REQUEST_HTTP, "pub.test", PORT);
        close_fd(&r.fd);
        out[0] = out[1] = 0;
        if (queries_of("pub.test") == 2)
                sscanf(queries_text, "%*s %*u %u %*s %*u %u", &out[0], &out[1]);
}

/* c-ares without /dev/urandom would number its questions by an unseeded rand(). */
static void numbers(void)
{
        unsigned a[2], b[2];
        first_numbers(a);
        first_numbers(b);
        check(a[0] && b[0] && (a[0] != b[0] || a[1] != b[1]),
              "questions have numbers that cannot be guessed", "%u %u, %u %u", a[0], a[1], b[0],
              b[1]);
}

/* The reader of resolv.conf is a child of dial's; it must not outlive it. */
static void leftovers(void)
{
        char path[64];
        dial_start("");
        snprintf(path, sizeof path, "/proc/%d/task/%d/children", dial_pid, dial_pid);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, 4096, NULL);
        pid_t child = text ? atoi(text) : 0;
        check(child > 0, "dial has a reader of its files", "%s", text ? text : "?");
        kill(dial_pid, SIGKILL);
        waitpid(dial_pid, NULL, 0);
        dial_pid = -1;
        close_fd(&control);
        close_fd(&egress);
        for (int i = 0; i < 100 && child > 0 && kill(child, 0) == 0; i++)
                usleep(20000);
        CHECK("which ends with it", child > 0 && kill(child, 0) < 0);
}

static bool dies(uint32_t type, const struct buf *b, bool is_egress)
{
        if (!dial_start(""))
                return false;
        rules(DOOR_STRICT, "allow * *.test:*");
        frame_send(is_egress ? egress : control, type, b, NULL, 0);
        return next_frame(control, 3000) == DOOR_FAULT && next_frame(control, 3000) == 0;
}

static void nonsense(void)
{
        static const char *const hosts[] = {"PUB.test", "a b", "pub.test.", "2130706433",
                                            "[::1",     "x@y", ""};
        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
                _cleanup_buf_ struct buf b = {0};
                _cleanup_free_ char *name = str_fmt("a host that is none ends it: %s", hosts[i]);
                buf_put_u32(&b, 1);
                buf_put_u32(&b, REQUEST_HTTP);
                buf_put_lstr(&b, hosts[i]);
                buf_put_u32(&b, 443);
                check(dies(DOOR_DIAL, &b, true), name, "it lives");
        }
        _cleanup_buf_ struct buf cut = {0}, empty = {0};
        buf_put_u32(&cut, 1);
        CHECK("a call that is cut ends it", dies(DOOR_DIAL, &cut, true));
        CHECK("an unknown message of egress ends it", dies(DOOR_LEAF, &empty, true));
        CHECK("an unknown message of the supervisor ends it", dies(DOOR_ANSWER, &empty, false));
        dial_start("");
        pid_t pid = dial_pid;
        close_fd(&egress);
        int status = -1;
        for (int i = 0; i < 100 && waitpid(pid, &status, WNOHANG) == 0; i++)
                usleep(20000);
        CHECK("without egress it ends", WIFEXITED(status));
}

int main(void)
{
        char dir[] = "/tmp/ostiary-dial.XXXXXX";
        setvbuf(stdout, NULL, _IONBF, 0);
        if (net_make() < 0 || !mkdtemp(dir) || pipe2(queries, O_CLOEXEC | O_NONBLOCK) < 0) {
                printf("not ok network: no namespace could be made\n");
                return 1;
        }
        snprintf(resolv_path, sizeof resolv_path, "%s/resolv.conf", dir);
        snprintf(hosts_path, sizeof hosts_path, "%s/hosts", dir);
        /* As with systemd-resolved: a link into another directory. */
        char run[64];
        snprintf(run, sizeof run, "%s/run", dir);
        mkdir(run, 0755);
        snprintf(resolv_real, sizeof resolv_real, "%s/run/stub.conf", dir);
        symlink("run/stub.conf", resolv_path);
        put_file(resolv_real, "nameserver 127.0.0.1\noptions timeout:1 attempts:2\n");
        put_file(hosts_path, "127.0.0.1 localhost\n");
        pid_t servers[] = {dns_start("127.0.0.1", first_server),
                           dns_start("127.0.0.2", second_server)};
        static const char *const hear[] = {"20.0.0.1", "20.0.0.2",  "20.0.0.3",
                                           "20.0.0.4", "127.0.0.1", "2600::2"};
        for (size_t i = 0; i < sizeof hear / sizeof *hear; i++)
                listen_on(hear[i], PORT, 128);
        deaf_on("2600::dead", PORT);
        deaf_on("20.0.0.66", PORT);

        static const char first_rules[] = "allow GET *.test:4430/a\n"
                                          "deny! * *.bad.test\n"
                                          "allow POST near.test:*/x to=127.0.0.1:4430\n"
                                          "allow GET 127.0.0.1:4430/x\n"
                                          "tcp pub.test:4430\n"
                                          "allow * lost.test:9\n";
        CHECK("dial begins and is confined", dial_start(""));
        CHECK("dial takes its rules", rules(DOOR_STRICT, first_rules) == DOOR_POLICY_OK);
        grants();
        refusals();
        troubles();
        cancels();
        policies();
        roaming();
        numbers();
        leftovers();
        nonsense();
        dial_end();
        for (size_t i = 0; i < 2; i++) {
                kill(servers[i], SIGKILL);
                waitpid(servers[i], NULL, 0);
        }
        unlink(resolv_path);
        unlink(hosts_path);
        unlink(resolv_real);
        rmdir(run);
        rmdir(dir);
        return check_end();
}
