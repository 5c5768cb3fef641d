/* chain.c - see chain.h. One line per record; strings come from the box by way of egress and are
 * quoted, so no record can pretend to be two. */
#include "audit/chain.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "wire/door.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Two lines of the greatest length fit: strings of a record, each byte written as \u00xx. */
enum { TAIL_MAX = 1 << 20 };

void chain_begin(struct chain *c)
{
        *c = (struct chain){.seq = 0};
        memset(c->prev, '0', SHA256_HEX_LEN);
}

int chain_seq(const char *line, size_t n, uint64_t *seq)
{
        static const char head[] = "{\"seq\":";
        size_t at = sizeof head - 1;
        uint64_t v = 0;
        if (n <= at || memcmp(line, head, at) != 0)
                return -1;
        size_t first = at;
        for (; at < n && line[at] >= '0' && line[at] <= '9' && at - first < 18; at++)
                v = v * 10 + (uint64_t)(line[at] - '0');
        if (at == first || at == n || line[at] != ',')
                return -1;
        *seq = v;
        return 0;
}

/* count_lines(fd, size): for a log whose last line does not say its number. */
static uint64_t count_lines(int fd, uint64_t size)
{
        char bytes[16384];
        uint64_t lines = 0, at = 0;
        char last = '\n';
        while (at < size) {
                ssize_t n = pread(fd, bytes, sizeof bytes, (off_t)at);
                if (n <= 0)
                        break;
                for (ssize_t i = 0; i < n; i++)
                        lines += bytes[i] == '\n';
                last = bytes[n - 1];
                at += (uint64_t)n;
        }
        return lines + (last != '\n');
}

int chain_resume(struct chain *c, int fd, struct err *err)
{
        struct stat st;
        chain_begin(c);
        if (fstat(fd, &st) < 0)
                return err_sys(err, "look at the log");
        if (st.st_size == 0)
                return 0;

        size_t n = st.st_size < TAIL_MAX ? (size_t)st.st_size : TAIL_MAX;
        _cleanup_buf_ struct buf b = {0};
        uint8_t *p = buf_room(&b, n);
        if (!p || pread(fd, p, n, st.st_size - (off_t)n) != (ssize_t)n)
                return err_sys(err, "read the log's end");
        const char *text = (const char *)p;
        c->is_torn = text[n - 1] != '\n';
        size_t end = c->is_torn ? n : n - 1;
        const char *nl = memrchr(text, '\n', end);
        const char *line = nl ? nl + 1 : text;
        size_t len = (size_t)(text + end - line);
        if (c->is_torn || chain_seq(line, len, &c->seq) < 0)
                c->seq = count_lines(fd, (uint64_t)st.st_size);
        sha256_hex(line, len, c->prev);
        return 0;
}

static void put_u64(struct buf *b, const char *key, uint64_t v)
{
        char digits[20];
        size_t at = sizeof digits;
        do {
                digits[--at] = (char)('0' + v % 10);
                v /= 10;
        } while (v);
        buf_put_str(b, key);
        buf_put(b, digits + at, sizeof digits - at);
}

static void put_some(struct buf *b, const char *key, uint64_t v)
{
        if (v)
                put_u64(b, key, v);
}

static void put_str(struct buf *b, const char *key, const char *s)
{
        if (!s || !*s)
                return;
        buf_put_str(b, key);
        json_quote(b, s);
}

/* put_time(b, us): the day is worked out once per second, not once per line. */
static void put_time(struct buf *b, uint64_t us)
{
        static time_t known = -1;
        static char words[32];
        static size_t words_len;
        time_t now = (time_t)(us / 1000000);
        uint32_t rest = (uint32_t)(us % 1000000);
        if (now != known || !words_len) {
                struct tm tm;
                if (now > (time_t)253402300799 || !gmtime_r(&now, &tm))
                        tm = (struct tm){.tm_mday = 1, .tm_year = 70}; /* egress told nonsense */
                words_len = strftime(words, sizeof words, "%Y-%m-%dT%H:%M:%S.", &tm);
                known = now;
        }
        char tail[8] = "000000Z";
        for (int i = 5; i >= 0; i--, rest /= 10)
                tail[i] = (char)('0' + rest % 10);
        buf_put_str(b, ",\"time\":\"");
        buf_put(b, words, words_len);
        buf_put(b, tail, 7);
        buf_put_u8(b, '"');
}

void chain_put(struct chain *c, const char *box, const struct door_record *r,
               const struct chain_process *who, struct buf *out)
{
        size_t begin = out->len;
        put_u64(out, "{\"seq\":", c->seq + 1);
        buf_put_str(out, ",\"prev\":\"");
        buf_put(out, c->prev, SHA256_HEX_LEN);
        buf_put_u8(out, '"');
        put_time(out, r->time_us);
        put_str(out, ",\"box\":", box);
        put_str(out, ",\"kind\":", r->kind);
        put_str(out, ",\"verdict\":", r->verdict);
        put_str(out, ",\"rule\":", r->rule);
        put_str(out, ",\"protocol\":", r->protocol);
        put_str(out, ",\"method\":", r->method);
        put_str(out, ",\"host\":", r->host);
        put_some(out, ",\"port\":", r->port);
        put_str(out, ",\"path\":", r->path);
        put_str(out, ",\"address\":", r->address);
        bool is_end = r->kind && strcmp(r->kind, "exit") == 0;
        if (r->status || is_end) /* most processes end with 0, and that is something to say */
                put_u64(out, ",\"status\":", r->status);
        bool is_box = r->kind && strcmp(r->kind, "box") == 0;
        if (!r->pid && !is_box) { /* the door counts bytes, nobody else has any */
                put_u64(out, ",\"bytes_up\":", r->bytes_up);
                put_u64(out, ",\"bytes_down\":", r->bytes_down);
        }
        put_some(out, ",\"wait_us\":", r->wait_us);
        put_some(out, ",\"total_us\":", r->total_us);
        put_some(out, ",\"source_port\":", r->source_port);
        if (who || r->pid) {
                put_some(out, ",\"pid\":", who ? who->pid : r->pid);
                put_some(out, ",\"ppid\":", who ? 0 : r->ppid);
                put_str(out, ",\"exe\":", who ? who->exe : r->exe);
        }
        put_some(out, ",\"cpu_us\":", r->cpu_us);
        put_some(out, ",\"peak_kib\":", r->peak_kib);
        put_str(out, ",\"secrets\":", r->secrets);
        put_str(out, ",\"note\":", r->note);
        put_str(out, ",\"cure\":", r->cure);
        buf_put_u8(out, '}');
        if (out->is_broken) /* half a line, or a gap that nobody sees, must not be written */
                str_no_memory();
        c->seq++;
        sha256_hex(out->data + begin, out->len - begin, c->prev);
        buf_put_u8(out, '\n');
}

void chain_mend(struct chain *c, const char *box, uint64_t now_us, struct buf *out)
{
        struct door_record r = {
                .time_us = now_us,
                .kind = "door",
                .verdict = "error",
                .note = "the line before this one was cut off: its writer was ended "
                        "in the middle of it"};
        buf_put_u8(out, '\n');
        chain_put(c, box, &r, NULL, out);
        c->is_torn = false;
}
