/* addr.c - see addr.h. Called for every answer and every literal before anything is connected. */
#include "dial/addr.h"

#include "base/err.h"
#include "dial/own.h"
#include "policy/address_class.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

void addr_list_add(struct addr_list *l, const uint8_t *bytes, size_t len)
{
        struct addr a = {.len = (uint8_t)len};
        memcpy(a.bytes, bytes, len);
        for (size_t i = 0; i < l->n; i++)
                if (addr_equal(&l->v[i], &a))
                        return;
        if (l->n == ADDR_LIST_MAX)
                l->is_cut = true;
        else
                l->v[l->n++] = a;
}

bool addr_equal(const struct addr *a, const struct addr *b)
{
        return a->len == b->len && memcmp(a->bytes, b->bytes, a->len) == 0;
}

int addr_parse(const char *text, struct addr *a)
{
        *a = (struct addr){.len = 4};
        if (inet_pton(AF_INET, text, a->bytes) == 1)
                return 0;
        a->len = 16;
        return inet_pton(AF_INET6, text, a->bytes) == 1 ? 0 : -1;
}

const char *addr_words(const struct addr *a, unsigned port, char out[ADDR_TEXT_MAX])
{
        char text[INET6_ADDRSTRLEN] = "";
        bool is_six = a->len == 16;
        inet_ntop(is_six ? AF_INET6 : AF_INET, a->bytes, text, sizeof text);
        const char *open = is_six ? "[" : "", *close = is_six ? "]" : "";
        if (port)
                snprintf(out, ADDR_TEXT_MAX, "%s%s%s:%u", open, text, close, port);
        else
                snprintf(out, ADDR_TEXT_MAX, "%s%s%s", open, text, close);
        return out;
}

socklen_t addr_sock(const struct addr *a, uint16_t port, struct sockaddr_storage *out)
{
        memset(out, 0, sizeof *out);
        if (a->len == 16) {
                struct sockaddr_in6 s = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
                memcpy(&s.sin6_addr, a->bytes, 16);
                memcpy(out, &s, sizeof s);
                return sizeof s;
        }
        struct sockaddr_in s = {.sin_family = AF_INET, .sin_port = htons(port)};
        memcpy(&s.sin_addr, a->bytes, 4);
        memcpy(out, &s, sizeof s);
        return sizeof s;
}

/* behind(a, &inner): the IPv4 address that a NAT64 gateway would translate to. A network without
 * IPv4 gives every name such an address, so it is judged by what is behind it. */
static bool behind(const struct addr *a, struct addr *inner)
{
        static const uint8_t nat64[12] = {0x00, 0x64, 0xff, 0x9b};
        if (a->len != 16 || memcmp(a->bytes, nat64, sizeof nat64) != 0)
                return false;
        *inner = (struct addr){.len = 4};
        memcpy(inner->bytes, a->bytes + 12, 4);
        return true;
}

int addr_check(const char *host, const struct addr_list *l, struct err *err)
{
        char text[ADDR_TEXT_MAX];
        for (size_t i = 0; i < l->n; i++) {
                struct addr inner;
                bool is_behind = behind(&l->v[i], &inner);
                const struct addr *a = is_behind ? &inner : &l->v[i];
                enum address_class class = address_class(a->bytes, a->len);
                const char *words = address_class_words(class);
                if (class == ADDRESS_PUBLIC) {
                        int got = own_has(a, err);
                        if (got < 0)
                                return -1;
                        if (got == 0)
                                continue;
                        words = "an address of this machine";
                }
                addr_words(&l->v[i], 0, text);
                if (!host)
                        return err_set(err, E_REFUSED,
                                       "%s is %s; only a rule that names it leads there", text,
                                       words);
                return err_set(err, E_REFUSED,
                               "%s resolves to %s, which is %s; only a rule with to=%s leads there",
                               host, text, words, text);
        }
        return 0;
}
