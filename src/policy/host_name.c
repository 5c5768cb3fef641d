/* host_name.c - see host_name.h. Pure; called by whoever holds bytes that claim to be a host. It
 * never guesses: what has two readings is refused with the spelling that has one. */
#include "policy/host_name.h"

#include "base/err.h"

#include <arpa/inet.h>
#include <string.h>

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
        return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static int refuse(struct host_name *h, struct err *err, const char *why)
{
        memset(h, 0, sizeof *h);
        return err_set(err, E_INPUT, "%s", why);
}

static void finish(struct host_name *h, enum host_kind kind)
{
        h->kind = kind;
        h->len = (uint8_t)strlen(h->text);
}

/* "[...]": hexadecimal groups only, then the shortest form. */
static int parse_ipv6(const char *bytes, size_t len, struct host_name *h, struct err *err)
{
        char inner[INET6_ADDRSTRLEN];
        if (len < 2 || bytes[len - 1] != ']')
                return refuse(h, err, "an IPv6 address ends with ]");
        if (memchr(bytes, '%', len))
                return refuse(h, err, "an address with a zone (%) is not accepted");
        if (memchr(bytes, '.', len))
                return refuse(h, err,
                              "IPv4 inside IPv6 is not accepted; write the IPv4 address itself");
        if (len - 2 >= sizeof inner)
                return refuse(h, err, "this IPv6 address is too long");
        for (size_t i = 1; i + 1 < len; i++)
                if (!is_hex(bytes[i]) && bytes[i] != ':')
                        return refuse(h, err, "this is not an IPv6 address");
        memcpy(inner, bytes + 1, len - 2);
        inner[len - 2] = 0;
        if (inet_pton(AF_INET6, inner, h->addr) != 1)
                return refuse(h, err, "this is not an IPv6 address");

        static const uint8_t zero[12] = {0};
        bool is_mapped =
                memcmp(h->addr, zero, 10) == 0 && h->addr[10] == 0xff && h->addr[11] == 0xff;
        bool is_compatible = memcmp(h->addr, zero, 12) == 0 &&
                             (h->addr[12] || h->addr[13] || h->addr[14] || h->addr[15] > 1);
        if (is_mapped || is_compatible)
                return refuse(h, err,
                              "IPv4 inside IPv6 is not accepted; write the IPv4 address itself");
        h->text[0] = '[';
        if (!inet_ntop(AF_INET6, h->addr, h->text + 1, INET6_ADDRSTRLEN))
                return refuse(h, err, "this is not an IPv6 address");
        h->text[strlen(h->text)] = ']'; /* the rest is zero already */
        finish(h, HOST_IPV6);
        return 0;
}

/* Four decimal numbers without leading zeros, which others read as octal. */
static int parse_ipv4(struct host_name *h, struct err *err)
{
        const char *s = h->text;
        for (int part = 0; part < 4; part++) {
                unsigned n = 0;
                size_t digits = 0;
                while (digits < 4 && is_digit(s[digits]))
                        n = n * 10 + (unsigned)(s[digits++] - '0');
                if (digits == 0 || digits > 3 || n > 255 || (digits > 1 && s[0] == '0') ||
                    s[digits] != (part < 3 ? '.' : 0))
                        return refuse(h, err,
                                      "an address is written as four decimal numbers with dots, "
                                      "such as 192.0.2.1, and a name does not end in a number");
                h->addr[part] = (uint8_t)n;
                s += digits + 1;
        }
        finish(h, HOST_IPV4);
        return 0;
}

/* What no host may hold, each with its own words. NULL when ${c} may stand in a name. */
static const char *bad_byte(unsigned char c)
{
        if (c >= 'a' && c <= 'z')
                return NULL;
        if (is_digit((char)c) || c == '-' || c == '_' || c == '.')
                return NULL;
        if (c == 0)
                return "a host has no NUL byte in it";
        if (c < 0x20 || c == 0x7f)
                return "a host has no control characters in it";
        if (c == ' ')
                return "a host has no spaces in it";
        if (c == '%')
                return "a host is not percent-encoded; write it plainly";
        if (c == '@')
                return "a host has no user name (@) before it";
        if (c == '\\' || c == '/')
                return "a host has no slashes in it";
        if (c == ':')
                return "only a host is wanted here; an IPv6 address stands in brackets";
        if (c == '*')
                return "a star may stand only for whole labels at the start, as in *.example.org";
        if (c >= 0x80)
                return "a name with letters beyond ASCII is written in its xn-- form";
        return "a host is made of letters, digits, hyphens and dots";
}

/* The last label decides whether others would read an address here: all digits, or 0x... */
static bool ends_in_number(const char *text)
{
        const char *last = strrchr(text, '.');
        last = last ? last + 1 : text;
        if (strspn(last, "0123456789") == strlen(last))
                return true;
        return last[0] == '0' && last[1] == 'x' &&
               strspn(last + 2, "0123456789abcdef") == strlen(last + 2);
}

static int check_labels(struct host_name *h, struct err *err)
{
        for (const char *s = h->text;;) {
                size_t n = strcspn(s, ".");
                if (n == 0)
                        return refuse(h, err, "a host has no empty part between its dots");
                if (n > HOST_LABEL_MAX)
                        return refuse(h, err, "a part of a host has at most 63 characters");
                if (s[0] == '-' || s[n - 1] == '-')
                        return refuse(h, err, "a part of a host does not begin or end with -");
                if (!s[n])
                        return 0;
                s += n + 1;
        }
}

int host_name_parse(const char *bytes, size_t len, struct host_name *h, struct err *err)
{
        memset(h, 0, sizeof *h);
        if (len == 0)
                return refuse(h, err, "a host is missing");
        if (bytes[0] == '[')
                return parse_ipv6(bytes, len, h, err);
        if (bytes[len - 1] == '.')
                len--; /* the root, said aloud: the same name */
        if (len == 0)
                return refuse(h, err, "a host is missing");
        if (len > HOST_TEXT_MAX)
                return refuse(h, err, "a host has at most 253 characters");
        for (size_t i = 0; i < len; i++) {
                char c = bytes[i];
                if (c >= 'A' && c <= 'Z')
                        c = (char)(c - 'A' + 'a');
                const char *why = bad_byte((unsigned char)c);
                if (why)
                        return refuse(h, err, why);
                h->text[i] = c;
        }
        if (check_labels(h, err) < 0)
                return -1;
        if (ends_in_number(h->text))
                return parse_ipv4(h, err);
        finish(h, HOST_NAME);
        return 0;
}

bool host_name_equal(const struct host_name *a, const struct host_name *b)
{
        return a->len > 0 && a->kind == b->kind && a->len == b->len &&
               memcmp(a->text, b->text, a->len) == 0;
}

bool host_name_is_below(const struct host_name *h, const struct host_name *base)
{
        if (h->kind != HOST_NAME || base->kind != HOST_NAME || base->len == 0)
                return false;
        if (h->len < base->len + 2)
                return false;
        size_t at = (size_t)h->len - base->len;
        return h->text[at - 1] == '.' && memcmp(h->text + at, base->text, base->len) == 0;
}

size_t host_name_addr_len(const struct host_name *h)
{
        return h->kind == HOST_IPV4 ? 4 : h->kind == HOST_IPV6 ? 16 : 0;
}
