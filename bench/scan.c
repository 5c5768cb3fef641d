/* scan.c - how fast egress searches what comes back: 20 secrets in all their writings, on text,
 * JSON, binary data and text that is full of escapes. Prints MB/s of CPU time for each. */
#include "egress/scan.h"
#include "base/buf.h"
#include "wire/door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECRETS = 20, DATA = 4 << 20, PIECE = 16 << 10, ROUNDS = 24 };

static const uint8_t key[16] = "0123456789abcdef";

static uint32_t dice(void)
{
        static uint32_t x = 2463534242;
        x ^= x << 13;
        x ^= x >> 17;
        return x ^= x << 5;
}

static void random_text(char *to, size_t n)
{
        static const char letters[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_/+";
        for (size_t i = 0; i < n; i++)
                to[i] = letters[dice() % (sizeof letters - 1)];
        to[n] = '\0';
}

/* add_finger(set, tag, coding, inner, text, len, stand, n): as the keeper makes it. */
static void add_finger(struct scan_set *set, uint32_t tag, int c, int inner, const char *text,
                       size_t len, const char *stand, size_t n)
{
        _cleanup_buf_ struct buf b = {0};
        enum secret_coding coding = (enum secret_coding)c;
        if (!secret_form_put(coding, text, len, &b))
                return;
        const uint8_t *last = b.data + b.len - SECRET_HINT_BYTES;
        struct door_finger f = {
                .coding = (uint8_t)c,
                .inner = (uint8_t)inner,
                .len = (uint32_t)b.len,
                .hint = secret_finger_hint(last),
                .tail = secret_siphash(key, last, SECRET_HINT_BYTES, true),
                .whole = secret_siphash(key, b.data, b.len, secret_form_ignores_case(coding))};
        scan_set_finger(set, tag, &f, stand, n);
}

static void add_secret(struct scan_set *set, uint32_t tag)
{
        char value[128], stand[128];
        size_t n = 40 + dice() % 60;
        random_text(value, n);
        random_text(stand, n);
        memcpy(value, tag % 2 ? "sk-ant-api03-" : "github_pat_11", 13);
        for (int c = 0; c < SECRET_CODINGS; c++)
                add_finger(set, tag, c, SECRET_RAW, value, n, stand, n);
        /* One kind inside another, as the keeper tells of it. */
        for (int inner = SECRET_BASE64_0; inner <= SECRET_HEX; inner++) {
                _cleanup_buf_ struct buf text = {0};
                if (!secret_form_is_nested((enum secret_coding)inner, SECRET_HEX) ||
                    !secret_form_put((enum secret_coding)inner, value, n, &text))
                        continue;
                for (int c = SECRET_BASE64_0; c <= SECRET_HEX; c++)
                        add_finger(set, tag, c, inner, (const char *)text.data, text.len, stand, n);
        }
}

static void fill(struct buf *b, const char *kind)
{
        static const char *const words[] = {"the ",  "value ", "of ",     "a ",     "request ",
                                            "comes", " back ", "answer ", "model ", "tokens "};
        while (b->len < DATA) {
                const char *w = words[dice() % 10];
                if (strcmp(kind, "binary") == 0) {
                        buf_put_u32(b, dice());
                } else if (strcmp(kind, "json") == 0) {
                        buf_put_fmt(b, "{\"id\":%u,\"%s\":\"%s%s\",\"sha\":\"%08x%08x\"},",
                                    dice() % 1000, w, w, words[dice() % 10], dice(), dice());
                } else if (strcmp(kind, "escapes") == 0) {
                        buf_put_fmt(b, "data: {\\\"text\\\":\\\"%s\\\\n%s%s%s\\\"}\\n", w, w, w, w);
                } else {
                        buf_put_str(b, w);
                        if (dice() % 12 == 0)
                                buf_put_str(b, "\n");
                }
        }
        b->len = DATA;
}

static double cpu(void)
{
        struct timespec t;
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(void)
{
        static const char *const kinds[] = {"text", "json", "binary", "escapes"};
        struct scan_set *set = scan_set_new(key);
        for (uint32_t i = 1; i <= SECRETS; i++)
                add_secret(set, i);
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                _cleanup_buf_ struct buf data = {0}, out = {0};
                fill(&data, kinds[k]);
                struct scan s = {0};
                size_t hits = 0;
                double before = cpu();
                for (int r = 0; r < ROUNDS; r++)
                        for (size_t at = 0; at < DATA; at += PIECE) {
                                out.len = 0;
                                hits += scan_feed(&s, set, data.data + at, PIECE, false, &out,
                                                  NULL);
                        }
                double took = cpu() - before;
                scan_free(&s);
                printf("scan %-8s %7.0f MB/s per core, %d secrets, %zu found\n", kinds[k],
                       (double)DATA * ROUNDS / 1e6 / took, SECRETS, hits);
        }
        scan_set_free(set);
        return 0;
}
