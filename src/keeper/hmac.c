/* hmac.c - see sign.h: signatures of partners that are no AWS: a message made of parts of the
 * request, hashed with the key, written somewhere. Pure. Called by sign.c. The message is made here
 * and not by egress, so that nobody has anything signed but a request. */
#include "base/err.h"
#include "base/sha256.h"
#include "keeper/sign.h"
#include "keeper/sigv4.h"
#include "policy/rule.h"

#include <inttypes.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static void put_header(const struct hmac_ask *a, const char *name, size_t n, struct buf *b)
{
        bool is_first = true;
        for (size_t i = 0; i < a->fields_n; i++) {
                const char *have = a->fields[i].name;
                if (strlen(have) != n || strncasecmp(have, name, n) != 0)
                        continue;
                if (!is_first)
                        buf_put_u8(b, ',');
                is_first = false;
                buf_put_str(b, a->fields[i].value);
        }
}

static bool is_part(const char *p, size_t n, const char *word)
{
        return strlen(word) == n && memcmp(p, word, n) == 0;
}

/* put_part(a, p, n, b, stamp, err): what {p} stands for. */
static int put_part(const struct hmac_ask *a, const char *p, size_t n, struct buf *b,
                    char stamp[24], struct err *err)
{
        size_t path_len = strcspn(a->target, "?");
        if (is_part(p, n, "method")) {
                buf_put_str(b, a->method);
        } else if (is_part(p, n, "target")) {
                buf_put_str(b, a->target);
        } else if (is_part(p, n, "path")) {
                buf_put(b, a->target, path_len);
        } else if (is_part(p, n, "query")) {
                buf_put_str(b, a->target[path_len] ? a->target + path_len + 1 : "");
        } else if (is_part(p, n, "host")) {
                buf_put_str(b, a->host);
        } else if (is_part(p, n, "time")) {
                snprintf(stamp, 24, "%" PRIu64, a->now_ms / 1000);
                buf_put_str(b, stamp);
        } else if (is_part(p, n, "time_ms")) {
                snprintf(stamp, 24, "%" PRIu64, a->now_ms);
                buf_put_str(b, stamp);
        } else if (is_part(p, n, "body") || is_part(p, n, "body_sha256")) {
                buf_put(b, a->body, a->body_n);
        } else if (n > 7 && memcmp(p, "header:", 7) == 0) {
                put_header(a, p + 7, n - 7, b);
        } else {
                return err_set(err, E_INPUT, "message= has no part {%.*s}", (int)n, p);
        }
        return 0;
}

static int put_message(const char *t, const struct hmac_ask *a, struct buf *b, char stamp[24],
                       struct err *err)
{
        stamp[0] = 0;
        while (*t) {
                const char *close = *t == '{' ? strchr(t, '}') : NULL;
                if (close) {
                        if (put_part(a, t + 1, (size_t)(close - t - 1), b, stamp, err) < 0)
                                return -1;
                        t = close + 1;
                } else if (t[0] == '\\' && t[1] == 'n') {
                        buf_put_u8(b, '\n');
                        t += 2;
                } else {
                        buf_put_u8(b, (uint8_t)*t++);
                }
        }
        return b->is_broken ? err_set(err, E_REFUSED, "the request is too large to be signed") : 0;
}

static const EVP_MD *hash_of(const char *word)
{
        if (!word || strcmp(word, "sha256") == 0)
                return EVP_sha256();
        if (strcmp(word, "sha1") == 0)
                return EVP_sha1();
        return strcmp(word, "sha512") == 0 ? EVP_sha512() : NULL;
}

int hmac_make(const struct rule_secret *line, const struct hmac_ask *a, const void *key, size_t n,
              struct buf *out, char stamp[24], struct err *err)
{
        _cleanup_buf_ struct buf message = {0};
        uint8_t mac[EVP_MAX_MD_SIZE];
        unsigned mac_n = 0;
        const EVP_MD *md = hash_of(line->hash);
        bool is_base64 = line->encoding && strcmp(line->encoding, "base64") == 0;
        if (!md || !line->message)
                return err_set(err, E_INPUT,
                               "hash= is sha1, sha256 or sha512, and message= says "
                               "what is signed");
        if (put_message(line->message, a, &message, stamp, err) < 0)
                return -1;
        if (!HMAC(md, key, (int)n, message.data, message.len, mac, &mac_n))
                return err_set(err, E_SYSTEM, "the signature could not be made");
        buf_put_str(out, line->prefix ? line->prefix : "");
        if (is_base64) {
                uint8_t text[EVP_MAX_MD_SIZE * 2];
                buf_put(out, text, (size_t)EVP_EncodeBlock(text, mac, (int)mac_n));
        } else {
                for (unsigned i = 0; i < mac_n; i++)
                        buf_put_fmt(out, "%02x", mac[i]);
        }
        return out->is_broken ? err_set(err, E_SYSTEM, "the signature could not be made") : 0;
}
