/* rule_opts.c - the name=value words behind the place of a rule, as one table: what each is called,
 * which verdicts may have it, and who reads it. Pure; called by rule_line.c. */
#include "base/err.h"
#include "base/str.h"
#include "policy/rule_int.h"
#include "policy/words.h"

#include <stdlib.h>
#include <string.h>

bool rule_text_ok(const char *s)
{
        size_t n = strlen(s);
        for (size_t i = 0; i < n; i++)
                if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f)
                        return false;
        return n > 0 && n <= 1024;
}

static int twice(struct err *err, const char *name)
{
        return err_set(err, E_INPUT, "%s may be said only once", name);
}

static int on_rate(struct rule *r, const char *v, struct err *err)
{
        if (r->rate_n)
                return twice(err, "rate=");
        static const char units[] = "smhd";
        static const uint64_t seconds[] = {1, 60, 3600, 86400};
        char digits[20];
        size_t n = strcspn(v, "/");
        const char *unit = v[n] && v[n + 1] && !v[n + 2] ? strchr(units, v[n + 1]) : NULL;
        if (n && n < sizeof digits && unit) {
                memcpy(digits, v, n);
                digits[n] = 0;
                if (str_u64(digits, &r->rate_n) == 0 && r->rate_n) {
                        r->rate_per_s = seconds[unit - units];
                        return 0;
                }
        }
        return err_set(err, E_INPUT, "rate= wants a number per s, m, h or d, such as rate=60/m");
}

static int on_bytes(struct rule *r, const char *v, struct err *err)
{
        if (r->bytes)
                return twice(err, "bytes=");
        if (str_size(v, &r->bytes) < 0 || r->bytes == 0)
                return err_set(err, E_INPUT, "bytes= wants a size, such as bytes=50M");
        return 0;
}

static int on_hosts(struct rule *r, const char *v, struct err *err)
{
        if (r->hosts)
                return twice(err, "hosts=");
        if (str_u64(v, &r->hosts) < 0 || r->hosts == 0)
                return err_set(err, E_INPUT, "hosts= wants a number of names, such as hosts=20");
        return 0;
}

static int on_to(struct rule *r, const char *v, struct err *err)
{
        if (r->to.len)
                return twice(err, "to=");
        struct rule_place p;
        if (rule_place_parse(v, strlen(v), true, &p, err) < 0)
                return err_add(err, "to= wants an address");
        bool is_good = p.host_kind == RULE_HOST_EXACT && p.host.kind != HOST_NAME && !p.has_path &&
                       p.port >= 0;
        if (is_good) {
                r->to = p.host;
                r->to_port = (uint16_t)p.port;
        }
        rule_place_free(&p);
        if (!is_good)
                return err_set(err, E_INPUT,
                               "to= wants an address, such as to=192.168.1.5:3000; a name could be "
                               "made to mean another place");
        return 0;
}

static int on_ca(struct rule *r, const char *v, struct err *err)
{
        if (r->ca)
                return twice(err, "ca=");
        if (!rule_text_ok(v) || (v[0] != '/' && !str_starts(v, "~/")))
                return err_set(err, E_INPUT, "ca= wants a file, absolute or below ~/");
        r->ca = str_dup(v);
        return 0;
}

static int on_reason(struct rule *r, const char *v, struct err *err)
{
        if (r->reason)
                return twice(err, "reason=");
        if (!rule_text_ok(v))
                return err_set(err, E_INPUT, "reason= wants words on one line");
        r->reason = str_dup(v);
        return 0;
}

enum {
        ALLOW = 1 << RULE_ALLOW,
        DENY = 1 << RULE_DENY | 1 << RULE_DENY_HARD,
        ASK = 1 << RULE_ASK,
        BLIND = 1 << RULE_TCP | 1 << RULE_SPLICE,
};

static const struct {
        const char *name;
        unsigned verdicts;
        int (*read)(struct rule *, const char *value, struct err *);
} options[] = {
        {"rate", ALLOW | ASK | BLIND, on_rate},
        {"bytes", ALLOW | ASK | BLIND, on_bytes},
        {"hosts", ALLOW | ASK | BLIND, on_hosts},
        {"to", ALLOW | ASK | BLIND, on_to},
        {"ca", ALLOW | ASK, on_ca},
        {"reason", ALLOW | DENY | ASK | BLIND, on_reason},
};
enum { OPTIONS_N = sizeof options / sizeof *options };

static const struct {
        const char *prefix;
        enum rule_where where;
} conds[] = {{"h", RULE_HEADER},
             {"q", RULE_QUERY},
             {"json", RULE_JSON},
             {"form", RULE_FORM},
             {"body", RULE_BODY}};
enum { CONDS_N = sizeof conds / sizeof *conds, CONDS_MAX = 16 };

/* A field name of HTTP: token characters, in small letters. */
static bool header_name(char *s)
{
        for (char *p = s; *p; p++) {
                if (*p >= 'A' && *p <= 'Z')
                        *p = (char)(*p - 'A' + 'a');
                if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789!#$%&'*+-.^_`|~", *p))
                        return false;
        }
        return *s != 0;
}

static const char *cond_name_fault(enum rule_where where, char *name)
{
        if (!rule_text_ok(name))
                return "a name is missing before =";
        if (where == RULE_HEADER && !header_name(name))
                return "this is not the name of a header";
        bool is_xml = str_starts(name, "xml/") && name[4];
        if (where == RULE_BODY && !is_xml && strcmp(name, "text") != 0 &&
            strcmp(name, "graphql") != 0)
                return "body: wants text, graphql or xml/NAME, such as body:text=*word*";
        if (where == RULE_JSON && name[0] != '/')
                return "json: wants a pointer, such as json:/params/name=*";
        return NULL;
}

static int on_cond(struct rule *r, enum rule_where where, const char *s, const char *eq,
                   struct err *err)
{
        if (r->verdict == RULE_TCP || r->verdict == RULE_SPLICE)
                return err_set(err, E_INPUT, "%s passes bytes unread, so it cannot look into them",
                               rule_verdict_word(r->verdict));
        if (r->conds_n == CONDS_MAX)
                return err_set(err, E_INPUT, "a rule has at most %d conditions", CONDS_MAX);
        struct rule_cond c = {.where = where, .name = str_fmt("%.*s", (int)(eq - s), s)};
        const char *fault = cond_name_fault(where, c.name);
        if (fault)
                err_set(err, E_INPUT, "%s", fault);
        if (fault || glob_parse(GLOB_VALUE, eq + 1, strlen(eq + 1), &c.value, err) < 0) {
                free(c.name);
                return -1;
        }
        struct rule_cond *more = reallocarray(r->conds, r->conds_n + 1, sizeof *more);
        if (!more)
                str_no_memory();
        r->conds = more;
        r->conds[r->conds_n++] = c;
        return 0;
}

static int unknown(const char *name, struct err *err)
{
        const char *names[OPTIONS_N + CONDS_N];
        size_t n = 0;
        for (size_t i = 0; i < OPTIONS_N; i++)
                names[n++] = options[i].name;
        char *shown = str_quote(name);
        const char *near = str_suggest(name, names, n);
        err_set(err, E_INPUT, "\"%.40s\" is not an option", shown);
        free(shown);
        if (near)
                return err_hint(err, "did you mean \"%s=\"?", near);
        return err_hint(err, "known: rate= bytes= hosts= to= ca= reason= h: q: json: form: body:");
}

static int one(struct rule *r, const char *word, struct err *err)
{
        const char *eq = strchr(word, '=');
        if (!eq)
                return err_set(err, E_INPUT, "an option (name=value) is wanted here");
        size_t n = (size_t)(eq - word);
        for (size_t i = 0; i < CONDS_N; i++) {
                size_t len = strlen(conds[i].prefix);
                if (n > len && strncmp(word, conds[i].prefix, len) == 0 && word[len] == ':')
                        return on_cond(r, conds[i].where, word + len + 1, eq, err);
        }
        for (size_t i = 0; i < OPTIONS_N; i++) {
                if (strlen(options[i].name) != n || strncmp(options[i].name, word, n) != 0)
                        continue;
                if (!(options[i].verdicts & 1u << r->verdict))
                        return err_set(err, E_INPUT, "%s= means nothing in a line with %s",
                                       options[i].name, rule_verdict_word(r->verdict));
                return options[i].read(r, eq + 1, err);
        }
        char *name = str_fmt("%.*s", (int)n, word);
        int code = unknown(name, err);
        free(name);
        return code;
}

int rule_opts_parse(const struct words *w, size_t at, struct rule *r, size_t *bad, struct err *err)
{
        for (; at < w->n; at++) {
                *bad = at;
                if (one(r, w->v[at], err) < 0)
                        return -1;
        }
        return 0;
}
