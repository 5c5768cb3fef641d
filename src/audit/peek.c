/* peek.c - see peek.h. By process_vm_readv, whole pages, because the strings of one call lie beside
 * each other more often than not; and several at once where it is known which, because a call costs
 * more than a page. */
#include "audit/peek.h"

#include "base/buf.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum { WORDS_MAX = 1024, WORDS_AHEAD = 32 };

void peek_begin(struct peek *p, pid_t pid)
{
        size_t n = 0;
        for (size_t i = 0; i < PEEK_PAGES; i++) {
                if (p->pages[i].have && pid == p->pid)
                        p->before[n++] = p->pages[i].at;
                p->pages[i].have = 0;
        }
        p->before_n = n;
        p->pid = pid;
        p->is_closed = false;
        p->next = 0;
}

static uint64_t page_at(uint64_t addr)
{
        return addr & ~(uint64_t)(PEEK_PAGE - 1);
}

static const uint8_t *find(const struct peek *p, uint64_t page)
{
        for (size_t i = 0; i < PEEK_PAGES; i++)
                if (p->pages[i].have && p->pages[i].at == page)
                        return p->pages[i].bytes;
        return NULL;
}

/* fetch(p, pages, n): as many of them as can be read, up to the first that cannot. */
static void fetch(struct peek *p, const uint64_t *pages, size_t n)
{
        struct iovec to[PEEK_PAGES] = {0}, from[PEEK_PAGES] = {0};
        size_t slot[PEEK_PAGES] = {0};
        for (size_t i = 0; i < n; i++) {
                slot[i] = p->next++ % PEEK_PAGES;
                p->pages[slot[i]].have = 0;
                to[i] = (struct iovec){.iov_base = p->pages[slot[i]].bytes, .iov_len = PEEK_PAGE};
                from[i] = (struct iovec){.iov_base = (void *)(uintptr_t)pages[i],
                                         .iov_len = PEEK_PAGE};
        }
        ssize_t got = process_vm_readv(p->pid, to, n, from, n, 0);
        p->is_closed = p->is_closed || (got < 0 && errno == EPERM);
        for (size_t i = 0; i < n && got >= (ssize_t)(i + 1) * PEEK_PAGE; i++) {
                p->pages[slot[i]].at = pages[i];
                p->pages[slot[i]].have = PEEK_PAGE;
        }
}

/* add_page(p, addr, pages, n): while there is room beside what was read already. */
static size_t add_page(const struct peek *p, uint64_t addr, uint64_t *pages, size_t n)
{
        uint64_t page = page_at(addr);
        for (size_t i = 0; i < n; i++)
                if (pages[i] == page)
                        return n;
        if (p->next + n < PEEK_PAGES && page && !find(p, page))
                pages[n++] = page;
        return n;
}

void peek_ahead(struct peek *p, const uint64_t *addrs, size_t addrs_n)
{
        uint64_t pages[PEEK_PAGES];
        size_t n = 0;
        for (size_t i = 0; i < addrs_n; i++)
                n = add_page(p, addrs[i], pages, n);
        for (size_t i = 0; i < p->before_n; i++)
                n = add_page(p, p->before[i], pages, n);
        p->before_n = 0;
        if (n)
                fetch(p, pages, n);
}

/* page_of(p, addr, &n): what we have from ${addr} to the end of its page. NULL when nothing. */
static const uint8_t *page_of(struct peek *p, uint64_t addr, size_t *n)
{
        uint64_t page = page_at(addr);
        const uint8_t *bytes = find(p, page);
        if (!bytes) {
                fetch(p, &page, 1);
                bytes = find(p, page);
        }
        *n = PEEK_PAGE - (size_t)(addr - page);
        return bytes ? bytes + (addr - page) : NULL;
}

size_t peek_bytes(struct peek *p, uint64_t addr, void *out, size_t n)
{
        size_t done = 0, part;
        while (done < n) {
                const uint8_t *s = page_of(p, addr + done, &part);
                if (!s)
                        break;
                part = part < n - done ? part : n - done;
                memcpy((uint8_t *)out + done, s, part);
                done += part;
        }
        return done;
}

enum peek_end peek_str(struct peek *p, uint64_t addr, size_t max, struct buf *out)
{
        size_t done = 0, part;
        while (done < max) {
                const uint8_t *s = page_of(p, addr + done, &part);
                if (!s)
                        return PEEK_BAD;
                part = part < max - done ? part : max - done;
                const uint8_t *nul = memchr(s, 0, part);
                buf_put(out, s, nul ? (size_t)(nul - s) : part);
                if (nul)
                        return PEEK_WHOLE;
                done += part;
        }
        return PEEK_CUT;
}

static bool is_plain(uint8_t c)
{
        return (c >= 'a' && c <= 'z') || (c >= '+' && c <= ':') || (c >= '@' && c <= 'Z') ||
               c == '_' || c == '=' || c == '%'; /* from + to : are the digits and , - . / */
}

void peek_quote(struct buf *out, const void *bytes, size_t n)
{
        const uint8_t *s = bytes;
        size_t i = 0;
        while (i < n && is_plain(s[i]))
                i++;
        if (n && i == n) {
                buf_put(out, s, n);
                return;
        }
        buf_put_u8(out, '"');
        for (i = 0; i < n; i++) {
                if (s[i] == '"' || s[i] == '\\') {
                        buf_put_u8(out, '\\');
                        buf_put_u8(out, s[i]);
                } else if (s[i] >= 0x20 && s[i] < 0x7f) {
                        buf_put_u8(out, s[i]);
                } else if (s[i] == '\n') {
                        buf_put_str(out, "\\n");
                } else if (s[i] == '\t') {
                        buf_put_str(out, "\\t");
                } else {
                        /* One code point at a time, from a copy that has an end. */
                        char tail[5] = "";
                        memcpy(tail, s + i, n - i < 4 ? n - i : 4);
                        size_t seen = s[i] >= 0x80 ? str_seen(tail) : 0;
                        if (seen) {
                                buf_put(out, s + i, seen);
                                i += seen - 1;
                        } else {
                                buf_put_fmt(out, "\\x%02x", s[i]);
                        }
                }
        }
        buf_put_u8(out, '"');
}

void peek_quoted(struct peek *p, uint64_t addr, size_t max, struct buf *out)
{
        _cleanup_buf_ struct buf s = {0};
        if (!addr) {
                buf_put_str(out, "NULL");
                return;
        }
        size_t part;
        const uint8_t *at = page_of(p, addr, &part);
        const uint8_t *nul = at ? memchr(at, 0, part < max ? part : max) : NULL;
        if (nul) { /* as nearly all: within one page */
                peek_quote(out, at, (size_t)(nul - at));
                return;
        }
        enum peek_end end = peek_str(p, addr, max, &s);
        if (end == PEEK_BAD && s.len == 0) {
                buf_put_str(out, "(unreadable)");
                return;
        }
        peek_quote(out, s.data, s.len);
        if (end != PEEK_WHOLE)
                buf_put_str(out, "...");
}

/* ahead_of_words(p, addr): the pages of the first words of a vector. */
static void ahead_of_words(struct peek *p, uint64_t addr)
{
        uint64_t words[WORDS_AHEAD];
        size_t n = 0, part;
        const uint8_t *at = addr ? page_of(p, addr, &part) : NULL;
        if (!at)
                return;
        for (; n < WORDS_AHEAD && 8 * n + 8 <= part; n++) {
                memcpy(&words[n], at + 8 * n, 8);
                if (!words[n])
                        break;
        }
        peek_ahead(p, words, n);
}

void peek_argv(struct peek *p, uint64_t addr, size_t max, struct buf *out)
{
        size_t begin = out->len;
        ahead_of_words(p, addr);
        for (size_t i = 0;; i++) {
                uint64_t word;
                if (!addr || peek_bytes(p, addr + 8 * i, &word, sizeof word) != sizeof word) {
                        buf_put_str(out, i ? " (unreadable)" : addr ? "(unreadable)" : "");
                        return;
                }
                if (!word)
                        return;
                size_t used = out->len - begin;
                if (i == WORDS_MAX || used + 8 >= max) {
                        buf_put_str(out, " ...");
                        return;
                }
                if (i)
                        buf_put_u8(out, ' ');
                /* A byte may take four when it is quoted; then the next round ends it. */
                size_t at = out->len, room = max - used;
                peek_quoted(p, word, room, out);
                if (out->len - begin > max) { /* not in the middle of a code point */
                        out->len = begin + max;
                        while (out->len > at && (out->data[out->len] & 0xc0) == 0x80)
                                out->len--;
                        buf_put_str(out, "...");
                        return;
                }
        }
}
