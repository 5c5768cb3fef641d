/* rule_place.c - HOST[:PORT][/PATH] as a rule or a secret names it. Pure; called by the rule
 * parser. It must never let a wildcard grant more than one owner's names. */
#include "base/buf.h"
#include "base/err.h"
#include "policy/psl.h"
#include "policy/rule.h"

#include <string.h>

void rule_place_free(struct rule_place *p)
{
        glob_free(&p->path);
        memset(p, 0, sizeof *p);
}

static int parse_port(const char *s, size_t len, struct rule_place *p, struct err *err)
{
        if (len == 1 && s[0] == '*') {
                p->port = RULE_PORT_ANY;
                return 0;
        }
        int32_t n = 0;
        if (len == 0 || len > 5 || s[0] == '0')
                return err_set(err, E_INPUT, "a port is a number from 1 to 65535, or *");
        for (size_t i = 0; i < len; i++) {
                if (s[i] < '0' || s[i] > '9')
                        return err_set(err, E_INPUT, "a port is a number from 1 to 65535, or *");
                n = n * 10 + (s[i] - '0');
        }
        if (n > 65535)
                return err_set(err, E_INPUT, "a port is a number from 1 to 65535, or *");
        p->port = n;
        return 0;
}

/* *.NAME: the list of public suffixes says whether its names have one owner. */
static int guard_wildcard(struct rule_place *p, bool is_grant, struct err *err)
{
        if (p->host.kind != HOST_NAME)
                return err_set(err, E_INPUT, "an address has nothing below it");
        enum psl_class class = psl_below(&p->host);
        if (class == PSL_PUBLIC && is_grant)
                return err_set(err, E_REFUSED,
                               "*.%s stands above a public suffix: anybody can have a name there; "
                               "write the names you mean",
                               p->host.text);
        p->is_shared = class != PSL_OWNED && is_grant;
        return 0;
}

static int parse_host(const char *s, size_t len, bool is_grant, struct rule_place *p,
                      struct err *err)
{
        if (len == 1 && s[0] == '*') {
                if (is_grant)
                        return err_set(err, E_REFUSED,
                                       "the host * is only for deny: a grant names its hosts");
                p->host_kind = RULE_HOST_ANY;
                return 0;
        }
        p->host_kind = RULE_HOST_EXACT;
        if (len > 2 && s[0] == '*' && s[1] == '.') {
                p->host_kind = RULE_HOST_BELOW;
                s += 2;
                len -= 2;
        }
        if (host_name_parse(s, len, &p->host, err) < 0)
                return -1;
        return p->host_kind == RULE_HOST_BELOW ? guard_wildcard(p, is_grant, err) : 0;
}

static int parse(const char *s, size_t len, bool is_grant, struct rule_place *p, struct err *err)
{
        for (size_t i = 0; i + 2 < len; i++) {
                if (s[i] == '/' || s[i] == '*')
                        break;
                if (memcmp(s + i, "://", 3) == 0)
                        return err_set(err, E_INPUT, "write it without %.*s://", (int)i, s);
        }
        size_t host = 0;
        if (len && s[0] == '[') {
                while (host < len && s[host] != ']')
                        host++;
                if (host < len)
                        host++;
        } else {
                while (host < len && s[host] != ':' && s[host] != '/')
                        host++;
        }
        if (parse_host(s, host, is_grant, p, err) < 0)
                return -1;

        size_t at = host;
        if (at < len && s[at] == ':') {
                size_t end = at + 1;
                while (end < len && s[end] != '/')
                        end++;
                if (parse_port(s + at + 1, end - at - 1, p, err) < 0)
                        return -1;
                at = end;
        }
        if (at == len)
                return 0;
        if (s[at] != '/')
                return err_set(err, E_INPUT, ":PORT or /PATH may follow the host");
        size_t digits = at + 1;
        while (digits < len && s[digits] >= '0' && s[digits] <= '9')
                digits++;
        if (p->host_kind == RULE_HOST_EXACT && p->host.kind != HOST_NAME && digits == len &&
            digits > at + 1 && p->port == RULE_PORT_USUAL)
                return err_set(err, E_INPUT,
                               "this looks like a range of addresses, and would be read as a path; "
                               "rules name single addresses");
        p->has_path = true;
        return glob_parse(GLOB_PATH, s + at, len - at, &p->path, err);
}

int rule_place_parse(const char *s, size_t len, bool is_grant, struct rule_place *p,
                     struct err *err)
{
        memset(p, 0, sizeof *p);
        if (parse(s, len, is_grant, p, err) == 0)
                return 0;
        rule_place_free(p);
        return -1;
}

void rule_place_print(const struct rule_place *p, struct buf *b)
{
        if (p->host_kind == RULE_HOST_ANY)
                buf_put_str(b, "*");
        if (p->host_kind == RULE_HOST_BELOW)
                buf_put_str(b, "*.");
        buf_put_str(b, p->host.text);
        if (p->port == RULE_PORT_ANY)
                buf_put_str(b, ":*");
        else if (p->port != RULE_PORT_USUAL)
                buf_put_fmt(b, ":%d", p->port);
        if (p->has_path)
                glob_print(&p->path, b);
}
