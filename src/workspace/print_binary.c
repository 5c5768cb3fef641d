/* print_binary.c - a binary change as git's own patch format has it (`diff --binary`): both
 * contents packed, in base 85, with the names git gives them, so that `git apply` can check and
 * take it. Called by print.c when it was asked for. Pure functions on bytes that are held already.
 */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "workspace/print_int.h"

#include "base/cleanup.h"
#include "base/err.h"

#include <openssl/sha.h>
#include <string.h>
#include <zlib.h>

void print_blob_name(const struct print_side *s, char hex[PRINT_BLOB_LEN + 1])
{
        static const char digits[] = "0123456789abcdef";
        uint8_t sum[SHA_DIGEST_LENGTH] = {0};
        if (!s->is_absent) {
                char head[32];
                int n = snprintf(head, sizeof head, "blob %zu", s->len);
                SHA_CTX c;
                SHA1_Init(&c);
                SHA1_Update(&c, head, (size_t)n + 1);
                SHA1_Update(&c, s->bytes.data, s->len);
                SHA1_Final(sum, &c);
        }
        for (size_t i = 0; i < sizeof sum; i++) {
                hex[2 * i] = digits[sum[i] >> 4];
                hex[2 * i + 1] = digits[sum[i] & 15];
        }
        hex[PRINT_BLOB_LEN] = 0;
}

/* put_line(out, p, n): up to 52 bytes: their number as a letter, then five digits for four bytes.
 */
static void put_line(struct buf *out, const uint8_t *p, size_t n)
{
        static const char digits[] =
                "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                "!#$%&()*+-;<=>?@^_`{|}~";
        buf_put_u8(out, (uint8_t)(n <= 26 ? 'A' + n - 1 : 'a' + n - 27));
        for (size_t i = 0; i < n; i += 4) {
                uint32_t word = 0;
                for (size_t k = 0; k < 4; k++)
                        word = word << 8 | (i + k < n ? p[i + k] : 0u);
                char five[5];
                for (size_t k = 5; k-- > 0; word /= 85)
                        five[k] = digits[word % 85];
                buf_put(out, five, sizeof five);
        }
}

static int put_side(struct ws_print *p, const struct print_side *s, struct err *err)
{
        enum { LINE = 52, FLUSH_AT = 1 << 16 };
        uLongf room = compressBound(s->len);
        _cleanup_free_ uint8_t *packed = malloc(room ? room : 1);
        const void *bytes = s->len ? (const void *)s->bytes.data : "";
        if (!packed || compress2(packed, &room, bytes, s->len, Z_DEFAULT_COMPRESSION) != Z_OK)
                return err_set(err, E_SYSTEM, "there is no memory to pack a binary file");
        if (ws_print_line(p, PRINT_PLAIN, err, "literal %zu", s->len) < 0)
                return -1;
        _cleanup_buf_ struct buf out = {0};
        for (size_t at = 0; at < room; at += LINE) {
                print_open(&out, p, PRINT_PLAIN);
                put_line(&out, packed + at, room - at < LINE ? room - at : LINE);
                print_close(&out, p, PRINT_PLAIN);
                if (out.len >= FLUSH_AT && print_flush(p, &out, err) < 0)
                        return -1;
        }
        if (print_flush(p, &out, err) < 0)
                return -1;
        return ws_print_line(p, PRINT_PLAIN, err, "%s", "");
}

int print_binary(struct ws_print *p, const struct print_side *a, const struct print_side *b,
                 struct err *err)
{
        if (ws_print_line(p, PRINT_PLAIN, err, "GIT binary patch") < 0 || put_side(p, b, err) < 0)
                return -1;
        return put_side(p, a, err);
}
