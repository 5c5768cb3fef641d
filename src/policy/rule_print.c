/* rule_print.c - a rule back into its canonical text. Pure; what is printed is what the parser
 * reads: parse(print(r)) equals r. */
#include "base/buf.h"
#include "base/str.h"
#include "policy/rule_int.h"

#include <string.h>

void rule_put_word(struct buf *b, const char *s)
{
        if (*s && *s != '#' && !strpbrk(s, " \t\n\"'\\")) {
                buf_put_str(b, s);
                return;
        }
        buf_put_u8(b, '"');
        for (; *s; s++) {
                if (*s == '"' || *s == '\\' || *s == '\n' || *s == '\t')
                        buf_put_u8(b, '\\');
                buf_put_u8(b, *s == '\n' ? 'n' : *s == '\t' ? 't' : (uint8_t)*s);
        }
        buf_put_u8(b, '"');
}

/* put_sized(b, n): with the largest unit that loses nothing. */
static void put_sized(struct buf *b, uint64_t n)
{
        static const char units[] = "KMGT";
        size_t u = 0;
        while (u < 4 && n >= 1024 && n % 1024 == 0) {
                n /= 1024;
                u++;
        }
        buf_put_fmt(b, "%lu", (unsigned long)n);
        if (u)
                buf_put_u8(b, (uint8_t)units[u - 1]);
}

static void put_methods(struct buf *b, uint64_t methods)
{
        if (methods == RULE_METHODS_ALL) {
                buf_put_str(b, "*");
                return;
        }
        bool has_one = false;
        for (size_t i = 0; rule_methods[i]; i++) {
                if (!(methods & (uint64_t)1 << i))
                        continue;
                buf_put_str(b, has_one ? "," : "");
                buf_put_str(b, rule_methods[i]);
                has_one = true;
        }
}

/* A word that is built from parts and may need quotes as a whole. */
static void put_built(struct buf *b, struct buf *word)
{
        buf_put_str(b, " ");
        rule_put_word(b, buf_cstr(word));
        buf_free(word);
        *word = (struct buf){0};
}

static void put_cond(struct buf *b, const struct rule_cond *c)
{
        static const char *const prefix[] = {[RULE_HEADER] = "h:",
                                             [RULE_QUERY] = "q:",
                                             [RULE_JSON] = "json:",
                                             [RULE_FORM] = "form:",
                                             [RULE_BODY] = "body:"};
        struct buf word = {0};
        buf_put_str(&word, prefix[c->where]);
        buf_put_str(&word, c->name);
        buf_put_str(&word, "=");
        glob_print(&c->value, &word);
        put_built(b, &word);
}

void rule_print(const struct rule *r, struct buf *b)
{
        struct buf word = {0};
        buf_put_str(b, rule_verdict_word(r->verdict));
        if (r->methods) {
                buf_put_str(b, " ");
                put_methods(b, r->methods);
        }
        rule_place_print(&r->place, &word);
        put_built(b, &word);
        for (size_t i = 0; i < r->conds_n; i++)
                put_cond(b, &r->conds[i]);
        if (r->rate_n)
                buf_put_fmt(b, " rate=%lu/%c", (unsigned long)r->rate_n,
                            r->rate_per_s == 1      ? 's'
                            : r->rate_per_s == 60   ? 'm'
                            : r->rate_per_s == 3600 ? 'h'
                                                    : 'd');
        if (r->bytes) {
                buf_put_str(b, " bytes=");
                put_sized(b, r->bytes);
        }
        if (r->hosts)
                buf_put_fmt(b, " hosts=%lu", (unsigned long)r->hosts);
        if (r->to.len) {
                buf_put_fmt(b, " to=%s", r->to.text);
                if (r->to_port)
                        buf_put_fmt(b, ":%u", r->to_port);
        }
        if (r->ca) {
                buf_put_fmt(&word, "ca=%s", r->ca);
                put_built(b, &word);
        }
        if (r->reason) {
                buf_put_fmt(&word, "reason=%s", r->reason);
                put_built(b, &word);
        }
}

void rule_line_print(const struct rule_line *l, struct buf *b)
{
        switch (l->kind) {
        case RULE_LINE_RULE:
                rule_print(&l->rule, b);
                return;
        case RULE_LINE_SECRET:
                rule_secret_print(l->secret, b);
                return;
        case RULE_LINE_BIND:
                buf_put_str(b, "bind ");
                rule_put_word(b, l->bind.path);
                buf_put_fmt(b, " %s", l->bind.mode);
                return;
        case RULE_LINE_LIMIT:
                buf_put_str(b, "limit");
                for (size_t i = 0; i < l->limits.n; i++)
                        buf_put_fmt(b, " %s", l->limits.v[i]);
                return;
        }
}
