/* head_names.c - see head_names.h and head.h: the lists of names with a meaning of their own, read
 * as data. Called once per field, so it looks at the length first. */
#include "egress/head_names.h"

#include "egress/head.h"
#include "egress/head_chars.h"

#include <string.h>

/* ${name}, of ${n} bytes as ${word} has, is ${word}; or it is if _ is read as -. */
static enum head_hop same(const char *name, size_t n, const char *word, enum head_hop which)
{
        for (size_t i = 0; i < n; i++) {
                uint8_t c = head_token_char[(uint8_t)name[i]];
                if (c == (uint8_t)word[i])
                        continue;
                if (c != '_' || word[i] != '-')
                        return HOP_NOT;
                which = HOP_DISGUISED;
        }
        return which;
}

enum head_hop head_hop(const char *name, size_t n)
{
        enum head_hop found = HOP_NOT;
        switch (n) {
        case 2:
                return same(name, n, "te", HOP_TE);
        case 4:
                return same(name, n, "host", HOP_HOST);
        case 6:
                return same(name, n, "expect", HOP_EXPECT);
        case 7:
                found = same(name, n, "upgrade", HOP_UPGRADE);
                found = found ? found : same(name, n, "trailer", HOP_OTHER);
                break;
        case 10:
                found = same(name, n, "connection", HOP_CONNECTION);
                found = found ? found : same(name, n, "keep-alive", HOP_OTHER);
                break;
        case 14:
                found = same(name, n, "content-length", HOP_CONTENT_LENGTH);
                found = found ? found : same(name, n, "http2-settings", HOP_OTHER);
                break;
        case 17:
                found = same(name, n, "transfer-encoding", HOP_TRANSFER_ENCODING);
                break;
        default:
                break;
        }
        if (found == HOP_NOT && n > 6 && (name[0] | 0x20) == 'p')
                found = same(name, 6, "proxy-", HOP_OTHER);
        return found;
}

bool head_is_hop(const char *name, size_t n)
{
        return head_hop(name, n) != HOP_NOT;
}

/* RFC 9110, 6.5.1, and what names a client or its rights. A name that ends in "-" stands for all
 * that begin so. */
static const char *const never_trails[] = {
        "accept-",
        "access-control-",
        "age",
        "allow",
        "authentication-info",
        "authorization",
        "cache-control",
        "clear-site-data",
        "content-",
        "cookie",
        "cookie2",
        "date",
        "expires",
        "forwarded",
        "if-",
        "location",
        "max-forwards",
        "origin",
        "pragma",
        "range",
        "refresh",
        "retry-after",
        "sec-",
        "set-cookie",
        "set-cookie2",
        "strict-transport-security",
        "vary",
        "via",
        "warning",
        "www-authenticate",
        "x-api-key",
        "x-forwarded-",
        "x-http-method-override",
        "x-original-url",
        "x-rewrite-url",
};

bool head_may_trail(const char *name, size_t n)
{
        if (head_is_hop(name, n))
                return false;
        for (size_t i = 0; i < sizeof never_trails / sizeof *never_trails; i++) {
                const char *word = never_trails[i];
                size_t len = strlen(word);
                if (n < len || memcmp(name, word, len) != 0)
                        continue;
                if (n == len || word[len - 1] == '-')
                        return false;
        }
        return true;
}
