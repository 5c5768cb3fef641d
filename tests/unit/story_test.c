/* story_test.c - a box's story: times as people write them, filters, records that were written late
 * put in order among changes and undos, and text that means something to HTML. */
#include "unit/check.h"

#include "audit/audit.h"
#include "audit/chain.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/report_html.h"
#include "cli/story_text.h"
#include "session/story.h"
#include "session/story_time.h"
#include "wire/door.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static char place[] = "/tmp/ostiary-story.XXXXXX";
static int dir = -1;

#define S INT64_C(1000000)

static void zone(const char *tz)
{
        setenv("TZ", tz, 1);
        tzset();
}

/* --- times ------------------------------------------------------------------------------------ */

static int64_t at(const char *utc)
{
        int64_t us = -1;
        if (story_time_of(utc, &us) < 0)
                abort();
        return us;
}

/* is_time(words, frame, utc): "" means that the words are refused. */
static void is_time(const char *words, const struct story_frame *f, const char *utc)
{
        struct err err = {0};
        int64_t us;
        char got[STORY_TIME_LEN] = "";
        _cleanup_free_ char *name = str_fmt("time: %s", words);
        if (story_time_parse(words, f, &us, &err) == 0)
                story_time_utc(us, got);
        check_str(name, got, utc);
        if (!*utc)
                CHECK("and is told what may be written", strstr(err.text, "is no time") != NULL);
}

static void times(void)
{
        zone("UTC0");
        /* A box of the night: from 23:00 to 06:00, looked at in the morning. */
        struct story_frame f = {.begin_us = at("2026-11-15T23:00:00Z"),
                                .end_us = at("2026-11-16T06:00:00Z"),
                                .now_us = at("2026-11-16T09:00:00Z")};
        is_time("02:10", &f, "2026-11-16T02:10:00.000000Z");
        is_time("02:10:30", &f, "2026-11-16T02:10:30.000000Z");
        is_time("02:10:30.25", &f, "2026-11-16T02:10:30.250000Z");
        is_time("23:30", &f, "2026-11-15T23:30:00.000000Z");
        is_time("22:00", &f, "2026-11-16T22:00:00.000000Z"); /* never within: the next one */
        is_time("2026-11-16 02:10", &f, "2026-11-16T02:10:00.000000Z");
        is_time("2026-11-16T02:10:30Z", &f, "2026-11-16T02:10:30.000000Z");
        is_time("2026-11-16", &f, "2026-11-16T00:00:00.000000Z");
        is_time("10m", &f, "2026-11-16T08:50:00.000000Z");
        is_time("2d", &f, "2026-11-14T09:00:00.000000Z");
        is_time("0026-11-16 02:11", &f, "0026-11-16T02:11:00.000000Z");
        is_time("2024-02-29", &f, "2024-02-29T00:00:00.000000Z");
        static const char *const bad[] = {"",
                                          "x",
                                          "25:00",
                                          "02:60",
                                          "2:10",
                                          "02:10:61",
                                          "02:10:",
                                          "02:10:30.",
                                          "2026-02-30",
                                          "2026-11-16 ",
                                          "10",
                                          "10y",
                                          "-5m",
                                          "02:10Z",
                                          "2026-11-16T",
                                          "m",
                                          "2026-13-01",
                                          "2026-11-16x",
                                          "02:10 ",
                                          " 02:10",
                                          "2026-00-1",
                                          "99999999999999999999d"};
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                is_time(bad[i], &f, "");

        zone("CET-1CEST,M3.5.0,M10.5.0/3");
        is_time("02:10", &f, "2026-11-16T01:10:00.000000Z");
        is_time("2026-07-01 02:10", &f, "2026-07-01T00:10:00.000000Z");
        is_time("2026-11-16T02:10:30Z", &f, "2026-11-16T02:10:30.000000Z");
        char buf[STORY_TIME_LEN];
        check_str("a clock is local", story_time_clock(at("2026-11-16T01:10:05.250Z"), buf),
                  "02:10:05.250");
        check_str("the zone is said", story_time_zone(at("2026-11-16T01:10:05Z"), buf),
                  "CET (+01:00)");
        check_str("as it was then", story_time_zone(at("2026-07-16T01:10:05Z"), buf),
                  "CEST (+02:00)");
        zone("UTC0");
        story_time_clock(INT64_MAX, buf);
        story_time_clock(INT64_MIN, buf);
        story_time_day(INT64_MIN, buf);
        story_time_zone(INT64_MAX, buf);
        check_str("a moment nobody lives", story_time_utc(INT64_MIN, buf), "");
        check_str("before the epoch", story_time_utc(-1, buf), "1969-12-31T23:59:59.999999Z");
        check_str("milliseconds", story_time_span_words(350000, buf), "350 ms");
        check_str("seconds", story_time_span_words(2450000, buf), "2.4 s");
        check_str("minutes", story_time_span_words(200 * S, buf), "3 min 20 s");
        check_str("hours", story_time_span_words(18120 * S, buf), "5 h 2 min");
}

static void spans(void)
{
        struct story_frame f = {.begin_us = at("2026-11-15T23:00:00Z"),
                                .end_us = at("2026-11-16T02:00:00Z"),
                                .now_us = at("2026-11-16T09:00:00Z")};
        int64_t a, b;
        struct err err = {0};
        CHECK("between two clock times",
              story_time_span("00:10", "00:15", &f, &a, &b, &err) == 0 && b - a == 300 * S);
        CHECK("over midnight",
              story_time_span("23:30", "00:15", &f, &a, &b, &err) == 0 && b - a == 2700 * S);
        CHECK("to a time after the box's end",
              story_time_span("23:30", "02:15", &f, &a, &b, &err) == 0 && b - a == 9900 * S);
        CHECK("both ends open", story_time_span(NULL, NULL, &f, &a, &b, &err) == 0 &&
                                        a == INT64_MIN && b == INT64_MAX);
        CHECK("an end before the beginning is refused",
              story_time_span("2026-11-16 02:00", "2026-11-16 01:00", &f, &a, &b, &err) < 0 &&
                      strstr(err.text, "lies before"));
        CHECK("the same moment is a span",
              story_time_span("01:00", "01:00", &f, &a, &b, &err) == 0 && a == b);
}

/* --- filters ---------------------------------------------------------------------------------- */

static struct audit_record record(const char *kind)
{
        return (struct audit_record){.kind = kind,
                                     .prev = "",
                                     .time = "",
                                     .box = "",
                                     .verdict = "",
                                     .rule = "",
                                     .protocol = "",
                                     .method = "",
                                     .host = "",
                                     .path = "",
                                     .address = "",
                                     .exe = "",
                                     .secrets = "",
                                     .note = "",
                                     .cure = ""};
}

static void kinds(void)
{
        struct err err = {0};
        _cleanup_story_filter_ struct story_filter f;
        story_filter_init(&f);
        CHECK("kinds and groups",
              story_filter_kinds(&f, "exec,requests,denials", &err) == 0 && f.kinds.n == 3);
        struct audit_record exec = record("exec"), end = record("exit"), dns = record("dns"),
                            call = record("call"), odd = record("marvel");
        CHECK("a kind", story_filter_record(&f, &exec) && !story_filter_record(&f, &end));
        CHECK("a group", story_filter_record(&f, &dns));
        CHECK("not denied", !story_filter_record(&f, &call));
        call.verdict = "deny";
        CHECK("denied, of whatever kind", story_filter_record(&f, &call));
        CHECK("an unknown kind is not asked for", !story_filter_record(&f, &odd));
        CHECK("changes and undos neither",
              !story_filter_wants_changes(&f) && !story_filter_wants_undos(&f));
        story_filter_free(&f);
        story_filter_init(&f);
        CHECK("without kinds everything passes, unknown ones too",
              story_filter_record(&f, &odd) && story_filter_wants_changes(&f));
        CHECK("a word that is no kind is refused",
              story_filter_kinds(&f, "exce", &err) < 0 && strstr(err.text, "did you mean exec"));
        CHECK("so is an empty one", story_filter_kinds(&f, "exec,,exit", &err) < 0 &&
                                            story_filter_kinds(&f, "", &err) < 0);
        CHECK("and a long one",
              story_filter_kinds(&f, "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", &err) < 0);
}

static void names(void)
{
        struct story_filter f;
        struct audit_record r = record("http");
        story_filter_init(&f);
        static const struct {
                const char *want, *host, *address;
                bool is_in;
        } hosts[] = {
                {"github.com", "github.com", "", true},
                {"github.com", "api.GitHub.com", "", true},
                {"github.com", "notgithub.com", "", false},
                {"github.com", "github.com.evil.org", "", false},
                {"*.github.com", "api.github.com", "", true},
                {"192.0.2.7", "a.org", "192.0.2.7:443", true},
                {"192.0.2.7", "a.org", "192.0.2.70:443", false},
                {"2001:db8::1", "a.org", "[2001:db8::1]:443", true},
                {"a.org", "", "", false},
        };
        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
                _cleanup_free_ char *name =
                        str_fmt("host %s: %s %s", hosts[i].want, hosts[i].host, hosts[i].address);
                f.host = hosts[i].want;
                r.host = hosts[i].host;
                r.address = hosts[i].address;
                check(story_filter_record(&f, &r) == hosts[i].is_in, name, "it is not so");
        }
        story_filter_init(&f);
        static const struct {
                const char *want, *name;
                bool is_in;
        } paths[] = {
                {"src", "src/a.c", true},       {"src/", "src/a.c", true},
                {"./src", "src/a.c", true},     {"src", "source/a.c", false},
                {"a.c", "src/a.c", true},       {"a.c", "src/ba.c", false},
                {"*.c", "src/a.c", true},       {"*.h", "src/a.c", false},
                {"/ws/src", "src/a.c", true},   {"/ws/sr", "src/a.c", false},
                {"/other", "src/a.c", false},   {"~/.bashrc", "~/.bashrc", true},
                {".bashrc", "~/.bashrc", true}, {".", "anything", true},
                {"/", "/etc/x", true},
        };
        f.workspace = "/ws";
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                _cleanup_free_ char *name = str_fmt("path %s: %s", paths[i].want, paths[i].name);
                f.path = paths[i].want;
                check(story_filter_path(&f, paths[i].name) == paths[i].is_in, name, "it is not so");
        }
        story_filter_init(&f);
        r = record("exec");
        r.exe = "/bin/sh";
        r.path = "/usr/bin/node";
        r.pid = 7;
        f.process = "node";
        CHECK("an exec is of the program it starts", story_filter_record(&f, &r));
        f.process = "sh";
        CHECK("and of the one that starts it", story_filter_record(&f, &r));
        f.process = "nod";
        CHECK("by the whole name", !story_filter_record(&f, &r));
        f.process = "no*";
        CHECK("or a pattern", story_filter_record(&f, &r));
        f.process = NULL;
        f.pid = 8;
        CHECK("by pid", !story_filter_record(&f, &r));
        CHECK("then no change passes", !story_filter_wants_changes(&f));
        CHECK("stars", story_name_matches("a*b*c", "aXXbYYbZZc") &&
                               !story_name_matches("a*b*c", "aXXbYYbZZ") &&
                               story_name_matches("*", "") && story_name_matches("?", "x") &&
                               !story_name_matches("?", ""));
}

/* --- order ------------------------------------------------------------------------------------ */

static const int64_t zero_us = 1763256900 * S;

static void put(struct chain *c, struct buf *b, const char *kind, int64_t us, uint32_t n)
{
        struct door_record r = {.time_us = (uint64_t)us, .kind = kind, .status = n};
        chain_put(c, "box", &r, NULL, b);
}

static void store_log(const struct buf *b)
{
        _cleanup_close_ int fd = openat(dir, AUDIT_FILE, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || fdio_write_all(fd, b->data, b->len) < 0)
                abort();
}

static void merging(void)
{
        struct chain c;
        _cleanup_buf_ struct buf b = {0};
        chain_begin(&c);
        put(&c, &b, "exec", zero_us + 10, 1);
        put(&c, &b, "exec", zero_us + 50, 2);
        put(&c, &b, "http", zero_us + 20, 3); /* it began at 20 and ended after 50 */
        put(&c, &b, "exit", zero_us + 60, 4);
        put(&c, &b, "http", zero_us + 10, 5); /* the same time as the first: after it */
        put(&c, &b, "http", zero_us + 60, 6);
        store_log(&b);

        struct story_filter f;
        story_filter_init(&f);
        struct story s = {.filter = &f, .log.fd = -1};
        struct err err = {0};
        CHECK("the log is opened", story_log_begin(&s, dir, &err) == 0 && s.late_n == 2);
        s.changes = calloc(2, sizeof *s.changes);
        s.undos = calloc(1, sizeof *s.undos);
        if (!s.changes || !s.undos)
                abort();
        s.changes_n = 2;
        s.undos_n = 1;
        s.changes[0] = (struct story_change){.time_us = zero_us + 20, .name = str_dup("a")};
        s.changes[1] = (struct story_change){.time_us = zero_us + 100, .name = str_dup("b")};
        s.undos[0] = (struct story_undo){.time_us = zero_us + 60, .what = str_dup("apply")};
        _cleanup_buf_ struct buf told = {0};
        struct story_event e;
        while (story_next(&s, &e, &err) > 0) {
                if (e.record)
                        buf_put_fmt(&told, "%u ", (unsigned)e.record->status);
                else
                        buf_put_fmt(&told, "%s ", e.change ? e.change->name : e.undo->what);
                if (e.record && e.line[0] != '{')
                        check(false, "an event has its line", "it has not");
        }
        check_str("three sources in one order", buf_cstr(&told), "1 5 3 a 2 4 6 apply b ");
        story_close(&s);

        f.since_us = zero_us + 15;
        f.until_us = zero_us + 55;
        s = (struct story){.filter = &f, .log.fd = -1};
        told.len = 0;
        if (story_log_begin(&s, dir, &err) < 0)
                abort();
        while (story_next(&s, &e, &err) > 0)
                buf_put_fmt(&told, "%u ", (unsigned)e.record->status);
        check_str("a part of it by time", buf_cstr(&told), "3 2 ");
        story_close(&s);
}

/* many(): random lateness, up to far; each record exactly once, in order, whatever the order of
 * writing. */
/* Two runs, 1000 to 2000 and 5000 on; the kernel's clock is 80 behind. */
static void runs(void)
{
        struct story s = {.log.fd = -1};
        struct audit_record r = {.kind = "box", .method = "start"};
        story_runs_note(&s, &r, 1000);
        r.method = "snapshot";
        story_runs_note(&s, &r, 1500);
        r.method = "end";
        story_runs_note(&s, &r, 2000);
        r.method = "wake";
        story_runs_note(&s, &r, 5000);
        r.kind = "exec";
        story_runs_note(&s, &r, 5100);
        CHECK("beginnings and ends make runs", s.runs_n == 2 && s.runs[0].end_us == 2000);
        CHECK("a change is told when it was made at the latest",
              story_runs_bound(&s, 1100, 80) == 1180);
        CHECK("but before the box had ended", story_runs_bound(&s, 1950, 80) == 1999);
        CHECK("also when we touched it later", story_runs_bound(&s, 3000, 80) == 1999);
        CHECK("each in its run", story_runs_bound(&s, 5010, 80) == 5090);
        CHECK("what was there before the first stays", story_runs_bound(&s, 100, 80) == 180);

        struct story_frame f = {.begin_us = 900, .end_us = 1990, .now_us = 9000};
        story_runs_close(&s, &f);
        CHECK("a box that was woken keeps the end of its command elsewhere",
              s.runs[1].end_us == 9000 && s.runs[0].end_us == 2000);
        f.end_us = 8000;
        story_runs_close(&s, &f);
        CHECK("the end that the box noted is the end", story_runs_bound(&s, 7990, 80) == 7999);
        story_close(&s);
        story_runs_close(&s, &f);
        CHECK("without a log the facts must do",
              s.runs_n == 1 && s.runs[0].begin_us == 900 && story_runs_bound(&s, 7990, 80) == 7999);
        story_close(&s);
}

static void many(void)
{
        enum { N = 20000 };
        struct chain c;
        _cleanup_buf_ struct buf b = {0};
        _cleanup_free_ uint8_t *seen = calloc(N + 1, 1);
        uint32_t seed = 12345;
        chain_begin(&c);
        for (uint32_t i = 1; i <= N; i++) {
                seed = seed * 1664525 + 1013904223;
                int64_t late = seed >> 28 ? 0 : (seed >> 4) % 5000000;
                put(&c, &b, "http", zero_us + (int64_t)i * 100 - late, i);
        }
        store_log(&b);
        struct story_filter f;
        story_filter_init(&f);
        struct story s = {.filter = &f, .log.fd = -1};
        struct err err = {0};
        struct story_event e;
        if (story_log_begin(&s, dir, &err) < 0)
                abort();
        /* What is written meanwhile belongs to the next story. */
        put(&c, &b, "http", zero_us, 0);
        store_log(&b);
        int64_t last = INT64_MIN;
        bool is_sorted = true, is_once = true;
        uint32_t n = 0;
        while (story_next(&s, &e, &err) > 0) {
                is_sorted = is_sorted && e.time_us >= last;
                last = e.time_us;
                is_once = is_once && e.record->status <= N && !seen[e.record->status]++;
                n++;
        }
        CHECK("records written late stand in order", is_sorted);
        check(is_once && n == N, "each once, and none that came meanwhile", "%u of %u", n,
              (unsigned)N);
        CHECK("memory grows with the late ones only", s.late_n < N / 4);
        story_close(&s);
}

static void odd_logs(void)
{
        struct story_filter f;
        struct err err = {0};
        struct story_event e;
        story_filter_init(&f);
        static const char text[] =
                "{\"seq\":1,\"prev\":\"\",\"time\":\"nonsense\",\"kind\":\"exec\"}\n"
                "not a record\n"
                "{\"seq\":3,\"prev\":\"\",\"time\":\"9999-12-31T23:59:59.999999Z\",\"kind\":\"x\"}"
                "\n"
                "{\"seq\":4,\"prev\":\"\",\"time\":\"0000-01-01T00:00:00.000000Z\",\"kind\":\"y\"}"
                "\n"
                "{\"seq\":5,\"prev\":\"\",\"kind\":\"z\"}\n"
                "{\"seq\":6";
        struct buf b = {.data = (uint8_t *)(uintptr_t)text, .len = sizeof text - 1};
        store_log(&b);
        struct story s = {.filter = &f, .log.fd = -1};
        _cleanup_buf_ struct buf told = {0};
        if (story_log_begin(&s, dir, &err) < 0)
                abort();
        while (story_next(&s, &e, &err) > 0) {
                _cleanup_free_ char *what = story_text_what(&e);
                buf_put_fmt(&told, "%s ", e.kind);
        }
        check_str("a damaged log is told as far as it can be", buf_cstr(&told), "exec y x z ");
        story_close(&s);
        unlinkat(dir, AUDIT_FILE, 0);
        s = (struct story){.filter = &f, .log.fd = -1};
        CHECK("no log is an empty story",
              story_log_begin(&s, dir, &err) == 0 && story_next(&s, &e, &err) == 0);
        story_close(&s);
}

/* --- words ------------------------------------------------------------------------------------ */

static void words(void)
{
        struct audit_record r = record("exec");
        r.pid = 7;
        r.ppid = 3;
        r.exe = "/bin/sh";
        r.path = "/usr/bin/no\033[2Jde";
        r.note = "node -e \033]0;x\007";
        _cleanup_free_ char *what = story_text_record(&r), *who = story_text_who(&r);
        check_str("an exec", what, "node -e \\x1b]0;x\\x07  (child of 3)");
        check_str("by what it becomes", who, "no\\x1b[2Jde[7]");
        r.note = "sh -c \"echo \\\"a\\\" \\x1b\"\033";
        _cleanup_free_ char *command = story_text_command(&r);
        check_str("a command line is quoted once", command, "sh -c \"echo \\\"a\\\" \\x1b\"\\x1b");
        r = record("exit");
        r.status = 137;
        r.cpu_us = 1500000;
        r.peak_kib = 2048;
        _cleanup_free_ char *end = story_text_record(&r);
        check_str("an exit", end, "status 137, CPU 1.5 s, peak 2.0 MiB");
        r = record("marvel");
        r.method = "do";
        r.path = "/x";
        r.note = "because";
        _cleanup_free_ char *any = story_text_record(&r);
        check_str("a kind nobody knows", any, "do /x  (because)");
        struct story_change c = {.time_us = zero_us,
                                 .mtime_us = zero_us - 100 * S,
                                 .name = (char[]){"a\nb"},
                                 .what = WS_ADDED,
                                 .kind = WS_FILE};
        _cleanup_free_ char *change = story_text_change(&c);
        CHECK("a change whose time the box set",
              str_starts(change, "added a\\x0ab  (says it is of ") && !strchr(change, '\n'));

        _cleanup_buf_ struct buf b = {0};
        html_text(&b, "<img src=x onerror=\"alert('&')\">`\033");
        check_str("nothing means anything to HTML", buf_cstr(&b),
                  "&lt;img src=x onerror=&quot;alert(&#39;&amp;&#39;)&quot;&gt;&#96;\\x1b");
        b.len = 0;
        html_shown(&b, "\xc3\xa4\xc3\xa4", 3);
        check_str("a cut is never in the middle of a letter", buf_cstr(&b), "\xc3\xa4...");
        b.len = 0;
        html_num(&b, 1234567);
        buf_put_str(&b, " ");
        html_num(&b, 999);
        check_str("numbers", buf_cstr(&b), "1,234,567 999");
}

int main(void)
{
        if (!mkdtemp(place) || (dir = open(place, O_RDONLY | O_DIRECTORY)) < 0)
                abort();
        times();
        spans();
        kinds();
        names();
        merging();
        runs();
        many();
        odd_logs();
        words();
        unlinkat(dir, AUDIT_FILE, 0);
        rmdir(place);
        return check_end();
}
