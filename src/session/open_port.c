/* open_port.c - see open_port.h. A pure function over a string of the box's. */
#include "session/open_port.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

/* port_at(s): of an address that begins here. Never 0 for one with a port. */
static uint32_t port_at(const char *s)
{
        static const char *const hosts[] = {
                "http://localhost:", "http://127.0.0.1:", "http://[::1]:"};
        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
                size_t n = strlen(hosts[i]);
                uint32_t port = 0;
                if (strncasecmp(s, hosts[i], n) != 0)
                        continue;
                const char *p = s + n;
                for (; isdigit((unsigned char)*p) && port <= 65535; p++)
                        port = port * 10 + (uint32_t)(*p - '0');
                return port > 65535 || (*p && !strchr("/?#&", *p)) ? 0 : port;
        }
        return 0;
}

static int hex(char c)
{
        return isdigit((unsigned char)c)    ? c - '0'
               : isxdigit((unsigned char)c) ? tolower((unsigned char)c) - 'a' + 10
                                            : -1;
}

/* decode(s, out, cap): up to the next '&' or the end. */
static void decode(const char *s, char *out, size_t cap)
{
        size_t n = 0;
        while (*s && *s != '&' && *s != '#' && n + 1 < cap) {
                int high = s[0] == '%' ? hex(s[1]) : -1, low = high >= 0 ? hex(s[2]) : -1;
                bool is_coded = high >= 0 && low >= 0;
                out[n++] = is_coded ? (char)(high * 16 + low) : *s;
                s += is_coded ? 3 : 1;
        }
        out[n] = 0;
}

uint32_t open_port_of(const char *url)
{
        static const char *const names[] = {"redirect_uri=", "redirect_url=", "callback="};
        uint32_t port = port_at(url);
        for (size_t i = 0; !port && i < sizeof names / sizeof *names; i++) {
                const char *at = strstr(url, names[i]);
                char value[256] = "";
                if (!at || at == url || !strchr("?&", at[-1]))
                        continue;
                decode(at + strlen(names[i]), value, sizeof value);
                port = port_at(value);
        }
        return port;
}
