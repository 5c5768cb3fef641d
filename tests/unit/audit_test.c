/* audit_test.c - the log: its chain, what a change to it does, strings from a hostile box, the role
 * that writes it, and a disk that is full. */
#include "unit/check.h"

#include "audit/audit.h"
#include "audit/audit_query.h"
#include "audit/chain.h"
#include "audit/head.h"
#include "audit/refused.h"
#include "audit/seen.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/sha256.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char place[] = "/tmp/ostiary-audit.XXXXXX";
static int dir = -1;

static struct door_record sample(const char *host, const char *verdict)
{
        return (struct door_record){.time_us = 1763256901123456,
                                    .kind = "http",
                                    .verdict = verdict,
                                    .rule = "allowed by user policy:12",
                                    .protocol = "h2",
                                    .host = host,
                                    .port = 443,
                                    .address = "192.0.2.7:443",
                                    .method = "GET",
                                    .path = "/a?b=*",
                                    .status = 200,
                                    .bytes_up = 120,
                                    .bytes_down = 4096,
                                    .wait_us = 900,
                                    .total_us = 1200,
                                    .source_port = 40000,
                                    .secrets = "A_KEY B_KEY",
                                    .cure = "allow GET a.org/"};
}

static void hashes(void)
{
        char out[SHA256_HEX_LEN + 1];
        sha256_hex("abc", 3, out);
        check_str("SHA-256 of abc", out,
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        sha256_hex("", 0, out);
        check_str("SHA-256 of nothing", out,
                  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56, out);
        check_str("SHA-256 of two blocks", out,
                  "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
}

/* --- the chain -------------------------------------------------------------------------------- */

static void store(const void *p, size_t n)
{
        _cleanup_close_ int fd = openat(dir, AUDIT_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || fdio_write_all(fd, p, n) < 0)
                abort();
}

struct looked {
        uint64_t records, broken_at, torn;
};

static struct looked look(void)
{
        struct audit_log l;
        struct audit_record r;
        struct err err = {0};
        struct looked s = {0};
        if (audit_log_open(&l, dir, &err) < 0)
                abort();
        while (audit_log_next(&l, &r, &err) > 0)
                s.records++;
        s.broken_at = l.broken_at;
        s.torn = l.torn_n;
        audit_log_close(&l);
        return s;
}

static void make_lines(struct buf *b, int n)
{
        struct chain c;
        chain_begin(&c);
        for (int i = 0; i < n; i++) {
                char host[32];
                snprintf(host, sizeof host, "h%d.example.org", i);
                struct door_record r = sample(host, "allow");
                chain_put(&c, "amber-1", &r, NULL, b);
        }
}

/* Any byte of any line but the last, changed: the chain says where. The last one's hash is nobody's
 * yet. */
static void tampering(void)
{
        _cleanup_buf_ struct buf b = {0};
        make_lines(&b, 5);
        store(b.data, b.len);
        struct looked s = look();
        CHECK("five records hold each other", s.records == 5 && !s.broken_at && !s.torn);

        size_t last = b.len - 1;
        while (b.data[last - 1] != '\n')
                last--;
        int missed = 0;
        for (size_t at = 0; at < last; at++) {
                if (b.data[at] == '\n')
                        continue;
                uint8_t was = b.data[at];
                b.data[at] = was == '7' ? '8' : '7';
                store(b.data, b.len);
                s = look();
                missed += !s.broken_at;
                b.data[at] = was;
        }
        check(missed == 0, "a changed byte is found wherever it is", "%d were missed", missed);

        char *second = memchr(b.data, '\n', b.len);
        char *third = memchr(second + 1, '\n', b.len);
        _cleanup_buf_ struct buf less = {0};
        buf_put(&less, b.data, (size_t)(second + 1 - (char *)b.data));
        buf_put(&less, third + 1, b.len - (size_t)(third + 1 - (char *)b.data));
        store(less.data, less.len);
        s = look();
        check(s.broken_at == 2, "a removed line is found", "broken at %llu",
              (unsigned long long)s.broken_at);
}

static void resuming(void)
{
        _cleanup_buf_ struct buf b = {0};
        struct chain c;
        struct err err = {0};
        make_lines(&b, 3);
        store(b.data, b.len - 20); /* its writer was killed in the middle of the last line */
        _cleanup_close_ int fd = openat(dir, AUDIT_FILE, O_RDWR | O_APPEND);
        CHECK("a torn log is read", chain_resume(&c, fd, &err) == 0 && c.is_torn && c.seq == 3);
        _cleanup_buf_ struct buf more = {0};
        struct door_record r = sample("after.example.org", "allow");
        chain_mend(&c, "amber-1", 1, &more);
        chain_put(&c, "amber-1", &r, NULL, &more);
        fdio_write_all(fd, more.data, more.len);
        struct looked s = look();
        check(s.records == 4 && s.torn == 1 && !s.broken_at, "and goes on with its chain",
              "%llu records, %llu torn, broken at %llu", (unsigned long long)s.records,
              (unsigned long long)s.torn, (unsigned long long)s.broken_at);
        CHECK("a whole log is resumed",
              chain_resume(&c, fd, &err) == 0 && !c.is_torn && c.seq == 5);
}

/* --- strings of a hostile box ----------------------------------------------------------------- */

static void quoting(void)
{
        static const char *const odd[] = {"a\"},{\"seq\":9", "\n{\"seq\":2}\n",   "\x1b[2J\x07",
                                          "\xff\xfe\x80",    "\xe2\x80\xae evil", "back\\slash",
                                          "\xed\xa0\x80",    "caf\xc3\xa9"};
        bool is_one_line = true, is_json = true, is_same = true;
        for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
                _cleanup_buf_ struct buf b = {0}, strings = {0};
                struct chain c;
                struct audit_record got;
                chain_begin(&c);
                struct door_record r = sample("a.org", "deny");
                r.path = odd[i];
                r.note = odd[i];
                chain_put(&c, "amber-1", &r, NULL, &b);
                const char *nl = memchr(b.data, '\n', b.len);
                is_one_line = is_one_line && nl == (const char *)b.data + b.len - 1;
                for (size_t k = 0; k + 1 < b.len; k++)
                        is_one_line = is_one_line && b.data[k] >= 0x20 && b.data[k] != 0x7f;
                json_t *j = json_loadb((const char *)b.data, b.len, JSON_REJECT_DUPLICATES, NULL);
                is_json = is_json && j && json_integer_value(json_object_get(j, "seq")) == 1;
                bool is_read =
                        audit_record_parse((const char *)b.data, b.len - 1, &got, &strings) == 0;
                is_same = is_same && is_read && j &&
                          !strcmp(got.path, json_string_value(json_object_get(j, "path"))) &&
                          !strcmp(got.host, "a.org") && got.port == 443 &&
                          !strcmp(got.secrets, "A_KEY B_KEY");
                if (j)
                        json_decref(j);
        }
        CHECK("a record is one line of printable bytes", is_one_line);
        CHECK("and JSON", is_json);
        CHECK("and our reader sees what jansson sees", is_same);

        static const char *const bad[] = {"",
                                          "{",
                                          "{}",
                                          "{\"seq\":}",
                                          "{\"seq\":1",
                                          "{\"seq\":1}x",
                                          "{\"seq\":18446744073709551616}",
                                          "{\"a\":\"\\u0000\"}",
                                          "{\"a\":\"\\ud800\"}",
                                          "{\"a\":{}}",
                                          "{\"a\":-1}",
                                          "[1]"};
        int taken = 0;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct audit_record r;
                _cleanup_buf_ struct buf s = {0};
                taken += audit_record_parse(bad[i], strlen(bad[i]), &r, &s) == 0;
        }
        check(taken == 0, "what is no record is refused", "%d were taken", taken);
}

/* --- the role --------------------------------------------------------------------------------- */

static void send_records(int sock, int n, const char *verdict)
{
        _cleanup_buf_ struct buf b = {0};
        for (int i = 0; i < n; i++) {
                struct door_record r =
                        sample(i % 2 ? "even.example.org" : "odd.example.org", verdict);
                door_record_put(&b, &r);
        }
        while (frame_send(sock, DOOR_RECORD, &b, NULL, 0) < 0 && errno == EAGAIN)
                poll(NULL, 0, 1);
}

static void role(void)
{
        struct audit a;
        struct err err = {0};
        unlinkat(dir, AUDIT_FILE, 0);
        if (!check(audit_start(&a, "amber-1", dir, &err) == 0 && audit_go(&a, &err) == 0,
                   "the role starts", "%s", err.text))
                return;
        int one = audit_writer(&a, &err), two = audit_writer(&a, &err);
        for (int i = 0; i < 100; i++) {
                send_records(one, 10, "allow");
                send_records(two, 3, "deny");
        }
        frame_send_data(two, DOOR_RECORD, "nonsense", 8);
        frame_send_data(two, 12345, "", 0);
        close(one);
        close(two);
        _cleanup_buf_ struct buf body = {0};
        audit_end(&a, &body);
        struct looked s = look();
        check(s.records == 1301 && !s.broken_at, "two writers, one chain",
              "%llu records, broken at %llu", (unsigned long long)s.records,
              (unsigned long long)s.broken_at);
        struct stat st;
        CHECK("only its owner can read it",
              fstatat(dir, AUDIT_FILE, &st, 0) == 0 && (st.st_mode & 0777) == 0600);
        _cleanup_refused_ struct refused list = {0};
        struct cur c = cur_of(body.data, body.len);
        CHECK("refused hosts are told at the end",
              refused_get(&c, &list) == 0 && list.hosts_n == 2 && list.hosts[0].n == 200 &&
                      list.hosts[1].n == 100 && !strcmp(list.hosts[0].cure, "allow GET a.org/"));

        CHECK("it starts again",
              audit_start(&a, "amber-1", dir, &err) == 0 && audit_go(&a, &err) == 0);
        one = audit_writer(&a, &err);
        send_records(one, 1, "allow");
        close(one);
        audit_end(&a, NULL);
        s = look();
        CHECK("and goes on with the chain", s.records == 1302 && !s.broken_at);
        struct audit_uses uses;
        CHECK("what was used is counted", audit_log_uses(dir, false, &uses, &err) == 0 &&
                                                  uses.n == 2 && uses.v[0].n + uses.v[1].n == 1001);
        audit_uses_free(&uses);
}

static void orphan(void)
{
        struct audit a;
        struct err err = {0};
        unlinkat(dir, AUDIT_FILE, 0);
        unlinkat(dir, AUDIT_HEAD, 0);
        if (audit_start(&a, "amber-1", dir, &err) < 0 || audit_go(&a, &err) < 0)
                return;
        int w = audit_writer(&a, &err);
        send_records(w, 5, "allow");
        close_fd(&a.control_fd); /* as if the supervisor had been killed */
        struct pollfd p = {.fd = a.pidfd, .events = POLLIN};
        CHECK("it ends with its supervisor", poll(&p, 1, 3000) == 1);
        waitpid(a.pid, NULL, 0);
        close(a.pidfd);
        close(w);
        CHECK("and has written what it had", look().records == 5);
}

/* --- who asked -------------------------------------------------------------------------------- */

static void seeing(void)
{
        struct seen s = {0};
        struct chain_process who;
        CHECK("nobody was seen", !seen_find(&s, 80, &who) && !seen_find(&s, 0, &who));
        seen_put(&s, 0, 1, "x");
        seen_put(&s, 70000, 1, "x");
        for (uint32_t port = 1; port <= 65535; port++)
                seen_put(&s, port, port + 1, port % 2 ? "/bin/odd" : "/bin/even");
        int right = 0;
        for (uint32_t port = 65535; port > 65535 - SEEN_MAX; port--)
                right += seen_find(&s, port, &who) && who.pid == port + 1 &&
                         !strcmp(who.exe, port % 2 ? "/bin/odd" : "/bin/even");
        check(right == SEEN_MAX, "the last are known", "%d", right);
        CHECK("the oldest are forgotten", !seen_find(&s, 65535 - SEEN_MAX, &who));
        seen_put(&s, 65535, 7, "/bin/other");
        CHECK("a port that is used anew",
              seen_find(&s, 65535, &who) && who.pid == 7 && !strcmp(who.exe, "/bin/other"));
        for (size_t i = 0; i < SEEN_MAX; i++)
                free(s.v[i].exe);
        free(s.v);
        free(s.slots);
}

/* --- a full disk ------------------------------------------------------------------------------ */

static bool hear(struct audit *a, const char *part)
{
        char words[512];
        for (int i = 0; i < 300; i++) {
                enum audit_news news = audit_hear(a, words);
                if ((news == AUDIT_SAYS || news == AUDIT_FULL) && strstr(words, part))
                        return true;
                if (news == AUDIT_GONE)
                        return false;
                poll(NULL, 0, 10);
        }
        return false;
}

static int full_disk_inside(void)
{
        char path[64];
        struct audit a;
        struct err err = {0};
        snprintf(path, sizeof path, "%s/small", place);
        if (mkdir(path, 0700) < 0 || mount("none", path, "tmpfs", 0, "size=64k") < 0)
                return 77;
        close(dir);
        dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (!check(audit_start(&a, "amber-1", dir, &err) == 0 && audit_go(&a, &err) == 0,
                   "a role on a small disk", "%s", err.text))
                return 1;
        int w = audit_writer(&a, &err), sent = 0;
        _cleanup_buf_ struct buf b = {0};
        struct door_record r = sample("a.org", "allow");
        door_record_put(&b, &r);
        time_t end = time(NULL) + 10;
        int idle = 0;
        while (time(NULL) < end && idle < 300) {
                if (frame_send(w, DOOR_RECORD, &b, NULL, 0) == 0) {
                        sent++;
                        idle = 0;
                } else {
                        idle++;
                        poll(NULL, 0, 1);
                }
        }
        CHECK("a full disk stops the writers", idle == 300 && sent > 100);
        CHECK("and is told", hear(&a, "cannot be written (No space left on device)"));
        int written = (int)look().records;
        check(written < sent, "not everything could be written", "%d of %d", written, sent);
        if (mount("none", path, NULL, MS_REMOUNT, "size=4m") < 0)
                return 77;
        CHECK("with room it goes on", hear(&a, "can be written again"));
        close(w);
        audit_end(&a, NULL);
        struct looked s = look();
        check((int)s.records == sent && !s.broken_at && !s.torn, "and nothing is lost",
              "%llu of %d, broken at %llu", (unsigned long long)s.records, sent,
              (unsigned long long)s.broken_at);
        return check_end();
}

static void full_disk(void)
{
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                char uids[32], gids[32];
                snprintf(uids, sizeof uids, "0 %u 1", getuid());
                snprintf(gids, sizeof gids, "0 %u 1", getgid());
                if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0 ||
                    fdio_put(AT_FDCWD, "/proc/self/uid_map", uids) < 0)
                        _exit(77);
                fdio_put(AT_FDCWD, "/proc/self/setgroups", "deny");
                fdio_put(AT_FDCWD, "/proc/self/gid_map", gids);
                _exit(full_disk_inside());
        }
        int status;
        waitpid(pid, &status, 0);
        if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
                puts("skip a full disk: no mount in a user namespace here");
        else
                CHECK("a full disk", status == 0);
}

int main(void)
{
        signal(SIGPIPE, SIG_IGN);
        if (!mkdtemp(place) || (dir = open(place, O_RDONLY | O_DIRECTORY | O_CLOEXEC)) < 0)
                return 1;
        hashes();
        tampering();
        resuming();
        quoting();
        role();
        orphan();
        seeing();
        full_disk();
        unlinkat(dir, AUDIT_FILE, 0);
        unlinkat(dir, "small", AT_REMOVEDIR);
        rmdir(place);
        return check_end();
}
