/* peek.c - see peek.h. By process_vm_readv, a page at a time, because the strings of one call lie
 * beside each other more often than not. */
#include "audit/peek.h"

#include "base/buf.h"
#include "base/str.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>

enum { WORDS_MAX = 1024 };

void peek_begin(struct peek *p, pid_t pid)
{
        p->pid = pid;
        p->is_closed = false;
        p->next = 0;
        for (size_t i = 0; i < PEEK_PAGES; i++)
                p->pages[i].have = 0;
}

/* page_of(p, addr, &n): what we have from ${addr} to the end of its page. NULL when nothing. */
static const uint8_t *page_of(struct peek *p, uint64_t addr, size_t *n)
{
        uint64_t page = addr & ~(uint64_t)(PEEK_PAGE - 1);
        size_t in = (size_t)(addr - page);
        for (size_t i = 0; i < PEEK_PAGES; i++) {
                if (p->pages[i].have && p->pages[i].at == page) {
                        *n = PEEK_PAGE - in;
                        return p->pages[i].bytes + in;
                }
        }
        size_t i = p->next++ % PEEK_PAGES;
        struct iovec to = {.iov_base = p->pages[i].bytes, .iov_len = PEEK_PAGE};
        struct iovec from = {.iov_base = (void *)(uintptr_t)page, .iov_len = PEEK_PAGE};
        p->pages[i].have = 0;
        ssize_t got = process_vm_readv(p->pid, &to, 1, &from, 1, 0);
        if (got != PEEK_PAGE) {
                p->is_closed = p->is_closed || (got < 0 && errno == EPERM);
                return NULL;
        }
        p->pages[i].at = page;
        p->pages[i].have = PEEK_PAGE;
        *n = PEEK_PAGE - in;
        return p->pages[i].bytes + in;
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
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               (c && strchr("_@%+=:,./-", c));
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
        enum peek_end end = peek_str(p, addr, max, &s);
        if (end == PEEK_BAD && s.len == 0) {
                buf_put_str(out, "(unreadable)");
                return;
        }
        peek_quote(out, s.data, s.len);
        if (end != PEEK_WHOLE)
                buf_put_str(out, "...");
}

void peek_argv(struct peek *p, uint64_t addr, size_t max, struct buf *out)
{
        size_t begin = out->len;
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
