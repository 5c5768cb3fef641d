/* door_policy_rules.c - questions about the rules of a box that no request asks: which ports and
 * files they name, what a flag means as a line, what a deny! makes useless. See door_policy.h. Pure
 * but for reading the files that ca= names. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/ca.h"
#include "session/door_policy.h"
#include "session/opts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PORTS_MAX = 200 };

const char *door_policy_level_word(enum door_level l)
{
        const char *word = session_opts_word(OPTS_LEVEL, (int)l);
        return word ? word : "strict";
}

/* each(p, fn, ctx): every rule for the door, of the layers and of run time; stops at the first -1.
 */
static int each(const struct door_policy *p,
                int (*fn)(const struct rule *, const char *where, size_t line_no, void *),
                void *ctx)
{
        for (size_t k = 0; k < p->parsed.layers_n; k++) {
                const struct policy_layer *l = &p->parsed.layers[k];
                for (size_t i = 0; i < l->lines_n; i++)
                        if (l->lines[i].kind == RULE_LINE_RULE &&
                            fn(&l->lines[i].rule, l->name, l->lines[i].line_no, ctx) < 0)
                                return -1;
        }
        for (size_t i = 0; i < p->run_time.n; i++) {
                _cleanup_rule_line_ struct rule_line line = {0};
                size_t column;
                const char *text = p->run_time.v[i];
                if (rule_line_parse(text, strlen(text), &line, &column, NULL) == 1 &&
                    line.kind == RULE_LINE_RULE && fn(&line.rule, "run time", 0, ctx) < 0)
                        return -1;
        }
        return 0;
}

struct cas {
        const char *home;
        struct strs *names;
        struct err *err;
};

static int one_ca(const struct rule *r, const char *where, size_t line_no, void *ctx)
{
        struct cas *c = ctx;
        if (!r->ca || strs_has(c->names, r->ca))
                return 0;
        _cleanup_close_ int fd = ca_file(r->ca, c->home, c->err);
        _cleanup_buf_ struct buf text = {0};
        if (fd >= 0 && door_sealed_read(fd, DOOR_CA_FILE_MAX, &text, c->err) == 0 &&
            strstr(buf_cstr(&text), "-----BEGIN CERTIFICATE-----")) {
                strs_add(c->names, r->ca);
                return 0;
        }
        if (text.len)
                err_set(c->err, E_INPUT, "the file holds no certificate");
        else if (c->err)
                c->err->code = E_INPUT;
        if (line_no)
                return err_add(c->err, "%s, line %zu: ca=%s", where, line_no, r->ca);
        return err_add(c->err, "%s: ca=%s", where, r->ca);
}

int door_policy_cas(const struct door_policy *p, const char *home, struct strs *names,
                    struct err *err)
{
        struct cas c = {.home = home, .names = names, .err = err};
        return each(p, one_ca, &c);
}

struct ports {
        uint16_t v[PORTS_MAX];
        size_t n;
};

static int one_port(const struct rule *r, const char *where, size_t line_no, void *ctx)
{
        struct ports *ports = ctx;
        (void)where;
        (void)line_no;
        if (!rule_is_grant(r->verdict) || r->place.port <= 0)
                return 0;
        for (size_t i = 0; i < ports->n; i++)
                if (ports->v[i] == r->place.port)
                        return 0;
        if (ports->n < PORTS_MAX)
                ports->v[ports->n++] = (uint16_t)r->place.port;
        return 0;
}

static int by_number(const void *a, const void *b)
{
        return *(const uint16_t *)a - *(const uint16_t *)b;
}

size_t door_policy_ports(const struct door_policy *p, uint16_t **out)
{
        struct ports ports = {.v = {80, 443}, .n = 2};
        each(p, one_port, &ports);
        qsort(ports.v, ports.n, sizeof *ports.v, by_number);
        *out = malloc(ports.n * sizeof **out);
        if (!*out)
                str_no_memory();
        memcpy(*out, ports.v, ports.n * sizeof **out);
        return ports.n;
}

static int one_host(const struct rule *r, const char *where, size_t line_no, void *ctx)
{
        struct strs *hosts = ctx;
        (void)where;
        (void)line_no;
        if (!rule_is_grant(r->verdict))
                return 0;
        _cleanup_free_ char *name = str_fmt(
                "%s%s", r->place.host_kind == RULE_HOST_BELOW ? "*." : "", r->place.host.text);
        if (!strs_has(hosts, name))
                strs_add(hosts, name);
        return 0;
}

size_t door_policy_hosts(const struct door_policy *p)
{
        _cleanup_strs_ struct strs hosts = {0};
        each(p, one_host, &hosts);
        return hosts.n;
}

/* covers(d, r): does the refusal ${d} speak of everything that ${r} could grant? */
static bool covers(const struct rule *d, const struct rule *r)
{
        const struct rule_place *a = &d->place, *b = &r->place;
        if (d->conds_n || (d->methods != RULE_METHODS_ALL && (r->methods & ~d->methods)) ||
            (d->methods != RULE_METHODS_ALL && r->methods == 0))
                return false;
        if (a->has_path && !(b->has_path && a->path.len == b->path.len &&
                             memcmp(a->path.code, b->path.code, a->path.len) == 0))
                return false;
        if (a->port > 0 && a->port != b->port)
                return false;
        switch (a->host_kind) {
        case RULE_HOST_ANY:
                return true;
        case RULE_HOST_EXACT:
                return b->host_kind == RULE_HOST_EXACT && host_name_equal(&a->host, &b->host);
        case RULE_HOST_BELOW:
                return host_name_is_below(&b->host, &a->host) ||
                       (b->host_kind == RULE_HOST_BELOW && host_name_equal(&a->host, &b->host));
        }
        return false;
}

struct blocker {
        const struct rule *grant;
        bool is_found;
        char *words;
};

static int one_blocker(const struct rule *r, const char *where, size_t line_no, void *ctx)
{
        struct blocker *b = ctx;
        if (r->verdict != RULE_DENY_HARD || !covers(r, b->grant))
                return 0;
        b->is_found = true;
        if (line_no)
                snprintf(b->words, 256, "%s:%zu", where, line_no);
        else
                snprintf(b->words, 256, "%s", where);
        return -1;
}

bool door_policy_is_blocked(const struct door_policy *p, const struct rule *grant, char words[256])
{
        struct blocker b = {.grant = grant, .words = words};
        each(p, one_blocker, &b);
        return b.is_found;
}

/* is_methods(s, n): "*" or capitals with commas; anything else is a place. */
static bool is_methods(const char *s, size_t n)
{
        if (n == 1 && *s == '*')
                return true;
        for (size_t i = 0; i < n; i++)
                if (!(s[i] >= 'A' && s[i] <= 'Z') && s[i] != ',' && s[i] != '-')
                        return false;
        return n > 0;
}

char *door_policy_line(const char *verb, const char *words, struct err *err)
{
        static const char *const verdicts[] = {"allow", "ask", "tcp", "splice", "deny", "deny!"};
        bool is_deny = strcmp(verb, "deny") == 0;
        words += strspn(words, " \t");
        size_t n = strcspn(words, " \t");
        for (size_t i = 0; i < sizeof verdicts / sizeof *verdicts; i++) {
                if (strlen(verdicts[i]) != n || strncmp(words, verdicts[i], n) != 0)
                        continue;
                if (is_deny == (i >= 4))
                        return str_dup(words);
                err_set(err, E_USAGE, "%s and \"%s\" contradict each other", verb, verdicts[i]);
                return NULL;
        }
        if (n == 6 && strncmp(words, "secret", n) == 0 && words[n]) {
                err_set(err, E_USAGE,
                        "a secret is granted when a box starts, with --secret or a line of a file, "
                        "and not with %s",
                        verb);
                return NULL;
        }
        bool is_bind = n == 4 && strncmp(words, "bind", n) == 0;
        if ((is_bind || (n == 5 && strncmp(words, "limit", n) == 0)) && words[n]) {
                err_set(err, E_USAGE,
                        "a %s counts when a box starts, with --%s or a line of a file, and not "
                        "with %s",
                        is_bind ? "bind" : "limit", is_bind ? "bind" : "limit", verb);
                return NULL;
        }
        bool is_bare = !is_methods(words, n);
        return str_fmt("%s %s%s", verb, is_bare ? "* " : "", words);
}
