/* publish.c - see publish.h. */
#include "session/publish.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { BACKLOG = 128 };

static int port_parse(const char *s, bool may_be_any, uint16_t *port)
{
        uint64_t n;
        if (str_u64(s, &n) < 0 || n > 65535 || (n == 0 && !may_be_any))
                return -1;
        *port = (uint16_t)n;
        return 0;
}

static void set_port(struct publish *p, uint16_t port)
{
        if (p->at.ss_family == AF_INET6)
                ((struct sockaddr_in6 *)&p->at)->sin6_port = htons(port);
        else
                ((struct sockaddr_in *)&p->at)->sin_port = htons(port);
}

uint16_t publish_port(const struct publish *p)
{
        return ntohs(p->at.ss_family == AF_INET6 ? ((const struct sockaddr_in6 *)&p->at)->sin6_port
                                                 : ((const struct sockaddr_in *)&p->at)->sin_port);
}

static int host_parse(const char *host, struct publish *p)
{
        struct sockaddr_in *v4 = (struct sockaddr_in *)&p->at;
        struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&p->at;
        p->at = (struct sockaddr_storage){.ss_family = AF_INET};
        p->at_len = sizeof *v4;
        if (strcmp(host, "localhost") == 0)
                host = "127.0.0.1";
        if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
                p->is_loopback = ntohl(v4->sin_addr.s_addr) >> 24 == 127;
                return 0;
        }
        p->at = (struct sockaddr_storage){.ss_family = AF_INET6};
        p->at_len = sizeof *v6;
        if (inet_pton(AF_INET6, host, &v6->sin6_addr) != 1)
                return -1;
        p->is_loopback = IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
        return 0;
}

static int bad(const char *text, struct err *err)
{
        _cleanup_free_ char *shown = str_quote(text);
        return err_set(err, E_USAGE,
                       "\"%s\" is no [HOST:]PORT[:BOXPORT], like 3000, 8080:3000 or 0:3000", shown);
}

/* split(text, host, rest): takes the address off; ${rest} is PORT or PORT:BOXPORT. */
static int split(const char *text, char host[64], const char **rest)
{
        const char *end, *colon = strchr(text, ':');
        snprintf(host, 64, "127.0.0.1");
        *rest = text;
        if (text[0] == '[') {
                end = strchr(text, ']');
                if (!end || end[1] != ':' || end - text > 60)
                        return -1;
                snprintf(host, 64, "%.*s", (int)(end - text - 1), text + 1);
                *rest = end + 2;
                return 0;
        }
        /* A first word of digits is a port: an address has dots, a name has letters. */
        if (!colon || strspn(text, "0123456789") == (size_t)(colon - text))
                return 0;
        if (colon - text > 60)
                return -1;
        snprintf(host, 64, "%.*s", (int)(colon - text), text);
        *rest = colon + 1;
        return 0;
}

int publish_parse(const char *text, struct publish *p, struct err *err)
{
        char host[64], first[8];
        const char *rest;
        uint16_t port;
        *p = (struct publish){.at_len = 0};
        if (split(text, host, &rest) < 0)
                return bad(text, err);
        const char *colon = strchr(rest, ':');
        size_t n = colon ? (size_t)(colon - rest) : strlen(rest);
        if (n == 0 || n >= sizeof first || host_parse(host, p) < 0)
                return bad(text, err);
        memcpy(first, rest, n);
        first[n] = 0;
        p->is_exact = colon != NULL;
        if (port_parse(first, p->is_exact, &port) < 0 ||
            port_parse(colon ? colon + 1 : first, false, &p->box_port) < 0)
                return bad(text, err);
        set_port(p, port);
        return 0;
}

int publish_listen(struct publish *p, struct err *err)
{
        char words[PUBLISH_WORDS];
        int one = 1;
        _cleanup_close_ int fd =
                socket(p->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
        if (fd < 0)
                return err_sys(err, "make a socket");
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
        if (p->at.ss_family == AF_INET6)
                setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof one);
        int r = bind(fd, (struct sockaddr *)&p->at, p->at_len);
        bool is_taken = r < 0 && (errno == EADDRINUSE || errno == EACCES) && !p->is_exact;
        if (is_taken) {
                set_port(p, 0);
                r = bind(fd, (struct sockaddr *)&p->at, p->at_len);
        }
        if (r < 0 || listen(fd, BACKLOG) < 0) {
                bool in_use = errno == EADDRINUSE;
                err_sys(err, "listen on %s", publish_words(p, words));
                return in_use ? err_hint(err, "0:%u takes a free port instead", p->box_port) : -1;
        }
        socklen_t n = sizeof p->at;
        if (getsockname(fd, (struct sockaddr *)&p->at, &n) < 0)
                return err_sys(err, "ask for the port that was taken");
        return take_fd(&fd);
}

const char *publish_words(const struct publish *p, char buf[PUBLISH_WORDS])
{
        char text[INET6_ADDRSTRLEN] = "";
        bool is_v6 = p->at.ss_family == AF_INET6;
        const void *a = is_v6 ? (const void *)&((const struct sockaddr_in6 *)&p->at)->sin6_addr
                              : (const void *)&((const struct sockaddr_in *)&p->at)->sin_addr;
        inet_ntop(p->at.ss_family, a, text, sizeof text);
        snprintf(buf, PUBLISH_WORDS, is_v6 ? "[%s]:%u" : "%s:%u", text, publish_port(p));
        return buf;
}
