/* proxy.c - the address of an upstream proxy as users write it, see tunnel.h. Pure. */
#include "base/err.h"
#include "base/str.h"
#include "dial/tunnel.h"

#include <string.h>

static int hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* decode(from, len, out): percent escapes of user and password; -1 when it is none. */
static long decode(const char *from, size_t len, uint8_t *out)
{
        long n = 0;
        for (size_t i = 0; i < len; i++) {
                int c = (uint8_t)from[i];
                if (c == '%') {
                        if (len - i < 3)
                                return -1;
                        int hi = hex(from[i + 1]), lo = hex(from[i + 2]);
                        if (hi < 0 || lo < 0)
                                return -1;
                        c = hi << 4 | lo;
                        i += 2;
                }
                if (c < 0x20 || c == 0x7f)
                        return -1;
                out[n++] = (uint8_t)c;
        }
        return n;
}

static void base64(const uint8_t *p, size_t n, char *out)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        for (size_t i = 0; i < n; i += 3) {
                uint32_t v = (uint32_t)p[i] << 16;
                if (i + 1 < n)
                        v |= (uint32_t)p[i + 1] << 8;
                if (i + 2 < n)
                        v |= p[i + 2];
                *out++ = digits[v >> 18];
                *out++ = digits[v >> 12 & 63];
                *out++ = i + 1 < n ? digits[v >> 6 & 63] : '=';
                *out++ = i + 2 < n ? digits[v & 63] : '=';
        }
        *out = 0;
}

static int parse_auth(const char *text, size_t len, struct tunnel_proxy *p, struct err *err)
{
        uint8_t plain[512];
        long n = len <= sizeof plain ? decode(text, len, plain) : -1;
        if (n < 0)
                return err_set(err, E_INPUT,
                               "user and password of the proxy cannot be read (write other "
                               "characters than letters and digits as %%XX)");
        base64(plain, (size_t)n, p->auth);
        return 0;
}

int tunnel_proxy_parse(const char *url, struct tunnel_proxy *p, struct err *err)
{
        memset(p, 0, sizeof *p);
        if (!*url)
                return 0;
        const char *s = strstr(url, "://");
        if (s && strncmp(url, "http://", 7) != 0)
                return err_set(err, E_INPUT, "only proxies that are reached by http:// are known");
        s = s ? s + 3 : url;
        size_t len = strcspn(s, "/");
        if (s[len] && s[len + 1])
                return err_set(err, E_INPUT, "the address of a proxy has no path");
        const char *at = memrchr(s, '@', len);
        if (at) {
                if (parse_auth(s, (size_t)(at - s), p, err) < 0)
                        return -1;
                len -= (size_t)(at + 1 - s);
                s = at + 1;
        }
        /* A colon inside brackets belongs to the address. */
        const char *colon = memrchr(s, ':', len);
        if (colon && memchr(colon, ']', len - (size_t)(colon - s)))
                colon = NULL;
        size_t host_len = colon ? (size_t)(colon - s) : len;
        uint64_t port = 80;
        if (colon) {
                char digits[8] = "";
                size_t n = len - host_len - 1;
                if (n == 0 || n > 5)
                        return err_set(err, E_INPUT, "the port of the proxy is a number");
                memcpy(digits, colon + 1, n);
                if (str_u64(digits, &port) < 0 || port == 0 || port > 65535)
                        return err_set(err, E_INPUT, "the port of the proxy is a number");
        }
        if (host_name_parse(s, host_len, &p->host, err) < 0)
                return err_add(err, "the address of the proxy");
        p->port = (uint16_t)port;
        return 0;
}
