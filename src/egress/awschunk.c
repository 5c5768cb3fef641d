/* awschunk.c - see awschunk.h: one state after the other. It never passes a byte on whose place in
 * the framing is not known. */
#include "egress/awschunk.h"

#include "base/err.h"
#include "base/str.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The longest head of a chunk: eight digits, the word, the signature, CRLF. */
enum { HEAD_LEN_MAX = 8 + 17 + AWSCHUNK_SIGNATURE + 2, LINES_MAX = 16 };
static const char word[] = ";chunk-signature=";
static const char trailer_word[] = "x-amz-trailer-signature:";

enum state { HEAD, DATA, DATA_END, LAST_END, TRAILER, OVER };

struct awschunk {
        enum state state;
        bool has_trailer;
        uint64_t total, length;
        struct buf bytes; /* of the unit that is being read */
        size_t line;      /* where the line begins that is being read */
        size_t signature;
        size_t left; /* of the chunk's data, or of the bytes that must follow */
        EVP_MD_CTX *hash;
        EVP_MD *md;
        struct {
                char *name, *value;
        } lines[LINES_MAX];
        size_t lines_n;
};

struct awschunk *awschunk_new(bool has_trailer, uint64_t length)
{
        struct awschunk *c = calloc(1, sizeof *c);
        if (!c)
                str_no_memory();
        c->has_trailer = has_trailer;
        c->length = length;
        c->hash = EVP_MD_CTX_new();
        c->md = EVP_MD_fetch(NULL, "SHA256", NULL);
        if (!c->hash || !c->md)
                str_no_memory();
        return c;
}

size_t awschunk_held(const struct awschunk *c)
{
        return sizeof *c + c->bytes.cap;
}

size_t awschunk_more(const struct awschunk *c, size_t n)
{
        return buf_more(&c->bytes, n);
}

void awschunk_free(struct awschunk *c)
{
        if (!c)
                return;
        for (size_t i = 0; i < c->lines_n; i++) {
                free(c->lines[i].name);
                free(c->lines[i].value);
        }
        buf_free(&c->bytes);
        EVP_MD_CTX_free(c->hash);
        EVP_MD_free(c->md);
        free(c);
}

void awschunk_unit_free(struct awschunk_unit *u)
{
        buf_free(&u->bytes);
        *u = (struct awschunk_unit){0};
}

bool awschunk_is_over(const struct awschunk *c)
{
        return c->state == OVER;
}

/* give(c, u, is_trailer, is_last): the unit is whole. 1. */
static int give(struct awschunk *c, struct awschunk_unit *u, bool is_trailer, bool is_last)
{
        *u = (struct awschunk_unit){.bytes = c->bytes,
                                    .signature = c->signature,
                                    .is_trailer = is_trailer,
                                    .is_last = is_last};
        unsigned n = sizeof u->hash;
        EVP_DigestFinal_ex(c->hash, u->hash, &n);
        c->bytes = (struct buf){0};
        c->line = 0;
        return 1;
}

/* take_line(c, p, n, max, err): bytes up to CRLF into the unit. 1: the line is whole, 0: not yet.
 */
static int take_line(struct awschunk *c, const uint8_t **p, size_t *n, size_t max, struct err *err)
{
        const uint8_t *end = memchr(*p, '\n', *n);
        size_t take = end ? (size_t)(end - *p) + 1 : *n;
        if (c->bytes.len - c->line + take > max)
                return err_set(err, E_PROTO, "a line of the signed chunks is too long");
        buf_put(&c->bytes, *p, take);
        *p += take;
        *n -= take;
        if (!end)
                return 0;
        size_t len = c->bytes.len - c->line;
        if (c->bytes.is_broken || len < 2 || c->bytes.data[c->bytes.len - 2] != '\r' ||
            memchr(c->bytes.data + c->line, '\r', len - 2))
                return err_set(err, E_PROTO, "a line of the signed chunks does not end in CRLF");
        return 1;
}

static bool is_signature(const uint8_t *p, size_t n)
{
        if (n != AWSCHUNK_SIGNATURE)
                return false;
        for (size_t i = 0; i < n; i++)
                if (!((p[i] >= '0' && p[i] <= '9') || (p[i] >= 'a' && p[i] <= 'f')))
                        return false;
        return true;
}

/* take_size(c, size, err): the chunk's head is here. */
static int take_size(struct awschunk *c, size_t *size, struct err *err)
{
        const uint8_t *p = c->bytes.data;
        size_t n = c->bytes.len - 2, digits = 0, v = 0;
        for (; digits < n && digits < 8; digits++) {
                char ch = (char)p[digits];
                int d = ch >= '0' && ch <= '9'   ? ch - '0'
                        : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
                        : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                                 : -1;
                if (d < 0)
                        break;
                v = v * 16 + (size_t)d;
        }
        size_t head = digits + sizeof word - 1;
        if (digits == 0 || (p[0] == '0' && digits > 1) || n < head ||
            memcmp(p + digits, word, sizeof word - 1) != 0 || !is_signature(p + head, n - head))
                return err_set(err, E_PROTO,
                               "the head of a signed chunk is a size in hexadecimal digits and "
                               "\";chunk-signature=\" with 64 digits");
        if (v > AWSCHUNK_MAX)
                return err_set(err, E_PROTO,
                               "a signed chunk has at most %d bytes here, because it must be whole "
                               "before it can be signed anew",
                               AWSCHUNK_MAX);
        c->signature = head;
        *size = v;
        return 0;
}

static int on_head(struct awschunk *c, struct awschunk_unit *u, struct err *err)
{
        size_t size = 0;
        if (take_size(c, &size, err) < 0)
                return -1;
        EVP_DigestInit_ex2(c->hash, c->md, NULL);
        c->total += size;
        if (c->total > c->length || (size == 0 && c->length != UINT64_MAX && c->total != c->length))
                return err_set(err, E_PROTO,
                               "the signed chunks do not have as many bytes as "
                               "x-amz-decoded-content-length says");
        if (size) {
                c->state = DATA;
                c->left = size; /* no room is made for it: it may never come */
                return 0;
        }
        if (!c->has_trailer) {
                c->state = LAST_END;
                c->left = 2;
                return 0;
        }
        c->state = TRAILER;
        return give(c, u, false, false);
}

static void on_data(struct awschunk *c, const uint8_t **p, size_t *n)
{
        size_t take = *n < c->left ? *n : c->left;
        EVP_DigestUpdate(c->hash, *p, take);
        buf_put(&c->bytes, *p, take);
        *p += take;
        *n -= take;
        c->left -= take;
        if (c->left == 0) {
                c->state = DATA_END;
                c->left = 2;
        }
}

/* on_end(c, p, n, u, err): CRLF behind the data, or behind the last chunk. */
static int on_end(struct awschunk *c, const uint8_t **p, size_t *n, struct awschunk_unit *u,
                  struct err *err)
{
        if (**p != (c->left == 2 ? '\r' : '\n'))
                return err_set(err, E_PROTO, "a signed chunk is not followed by CRLF");
        buf_put(&c->bytes, *p, 1);
        ++*p;
        --*n;
        if (--c->left)
                return 0;
        bool is_last = c->state == LAST_END;
        c->state = is_last ? OVER : HEAD;
        return give(c, u, false, is_last);
}

static int compare_lines(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* hash_lines(c): "name:value" and a line feed each, by name. */
static void hash_lines(struct awschunk *c)
{
        qsort(c->lines, c->lines_n, sizeof *c->lines, compare_lines);
        EVP_DigestInit_ex2(c->hash, c->md, NULL);
        for (size_t i = 0; i < c->lines_n; i++) {
                EVP_DigestUpdate(c->hash, c->lines[i].name, strlen(c->lines[i].name));
                EVP_DigestUpdate(c->hash, ":", 1);
                EVP_DigestUpdate(c->hash, c->lines[i].value, strlen(c->lines[i].value));
                EVP_DigestUpdate(c->hash, "\n", 1);
        }
}

static bool is_text(const char *p, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (p[i] < 0x20 || p[i] == 0x7f)
                        return false;
        return true;
}

/* keep_line(c, p, n, err): one line of the trailer, for its hash. */
static int keep_line(struct awschunk *c, const char *p, size_t n, struct err *err)
{
        static const char token[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                    "-_.";
        const char *colon = memchr(p, ':', n);
        size_t name_len = colon ? (size_t)(colon - p) : 0;
        if (name_len == 0 || c->lines_n == LINES_MAX || !is_text(p, n))
                return err_set(err, E_PROTO,
                               "the trailer of the signed chunks is at most %d lines of name:value",
                               LINES_MAX);
        const char *value = colon + 1, *end = p + n;
        while (value < end && *value == ' ')
                value++;
        while (value < end && end[-1] == ' ')
                end--;
        char *name = str_fmt("%.*s", (int)name_len, p);
        for (char *q = name; *q; q++)
                if (*q >= 'A' && *q <= 'Z')
                        *q = (char)(*q + 32);
        bool is_bad = strspn(name, token) != name_len;
        for (size_t i = 0; i < c->lines_n; i++)
                is_bad |= strcmp(c->lines[i].name, name) == 0;
        c->lines[c->lines_n].name = name;
        c->lines[c->lines_n++].value = str_fmt("%.*s", (int)(end - value), value);
        return is_bad ? err_set(err, E_PROTO,
                                "a name in the trailer of the signed chunks is "
                                "no name, or stands there twice")
                      : 0;
}

/* on_trailer(c, u, err): a line of it is here. */
static int on_trailer(struct awschunk *c, struct awschunk_unit *u, struct err *err)
{
        const char *p = (const char *)c->bytes.data + c->line;
        size_t n = c->bytes.len - c->line - 2, word_n = sizeof trailer_word - 1;
        if (n == 0) {
                if (!c->signature)
                        return err_set(err, E_PROTO,
                                       "the trailer of the signed chunks has no signature");
                hash_lines(c);
                c->state = OVER;
                return give(c, u, true, true);
        }
        if (c->signature)
                return err_set(err, E_PROTO,
                               "something stands behind the signature of the trailer");
        if (n >= word_n && strncasecmp(p, trailer_word, word_n) == 0) {
                if (c->lines_n == 0 || !is_signature((const uint8_t *)p + word_n, n - word_n))
                        return err_set(err, E_PROTO,
                                       "x-amz-trailer-signature stands behind the trailer's lines "
                                       "and has 64 digits");
                c->signature = c->line + word_n;
        } else if (keep_line(c, p, n, err) < 0) {
                return -1;
        }
        c->line = c->bytes.len;
        return 0;
}

int awschunk_feed(struct awschunk *c, const uint8_t **p, size_t *n, struct awschunk_unit *u,
                  struct err *err)
{
        int r = 0;
        while (*n && r == 0) {
                switch (c->state) {
                case HEAD:
                        r = take_line(c, p, n, HEAD_LEN_MAX, err);
                        if (r == 1)
                                r = on_head(c, u, err);
                        if (r == 1) /* the chunk that ends the data; the trailer is next */
                                c->signature = 0;
                        break;
                case DATA:
                        on_data(c, p, n);
                        break;
                case DATA_END:
                case LAST_END:
                        r = on_end(c, p, n, u, err);
                        break;
                case TRAILER:
                        if (c->bytes.len > AWSCHUNK_TRAILER_MAX)
                                return err_set(err, E_PROTO,
                                               "the trailer of the signed chunks is too long");
                        r = take_line(c, p, n, AWSCHUNK_TRAILER_MAX, err);
                        if (r == 1)
                                r = on_trailer(c, u, err);
                        break;
                case OVER:
                        return err_set(err, E_PROTO,
                                       "something stands behind the last signed chunk");
                }
        }
        if (c->bytes.is_broken)
                str_no_memory();
        return r;
}
