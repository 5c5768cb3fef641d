/* body_graphql.c - see body_readers.h: a GraphQL document, cut into tokens; of its grammar only what
 * says which operation asks for which field at the root. */
#include "base/buf.h"
#include "policy/body_readers.h"

#include <string.h>

enum { GRAPHQL_DEPTH_MAX = 64, GRAPHQL_ROOTS_MAX = 256, GRAPHQL_FIELDS_MAX = 4096 };

struct graphql {
        const char *p, *end;
        size_t fields_n; /* at the roots, so far */
        bool is_bad;
};

static bool graphql_is_name(char c)
{
        return c == '_' || (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'z');
}

static bool graphql_has(const struct graphql *g, const char *word)
{
        size_t n = strlen(word);
        return (size_t)(g->end - g->p) >= n && memcmp(g->p, word, n) == 0;
}

static void graphql_skip_string(struct graphql *g)
{
        bool is_block = graphql_has(g, "\"\"\"");
        g->p += is_block ? 3 : 1;
        while (g->p < g->end) {
                if (is_block ? graphql_has(g, "\"\"\"") : *g->p == '"') {
                        g->p += is_block ? 3 : 1;
                        return;
                }
                if (!is_block && (*g->p == '\n' || *g->p == '\r'))
                        break;
                /* In a block string a backslash means something before three quotes alone. */
                if (is_block)
                        g->p += graphql_has(g, "\\\"\"\"") ? 4 : 1;
                else
                        g->p += *g->p == '\\' && g->end - g->p > 1 ? 2 : 1;
        }
        g->is_bad = true;
}

/* graphql_next(g, &len): the next token; NULL at the end. "..." is one. */
static const char *graphql_next(struct graphql *g, size_t *len)
{
        while (g->p < g->end && !g->is_bad) {
                const char *at = g->p;
                if (*at && strchr(" \t\r\n,", *at)) {
                        g->p++;
                } else if (*at == 0 || (unsigned char)*at >= 0x80) {
                        g->is_bad = true; /* no blank and no name in the grammar */
                } else if (*at == '#') {
                        while (g->p < g->end && *g->p != '\n' && *g->p != '\r')
                                g->p++;
                } else if (*at == '"') {
                        graphql_skip_string(g);
                        *len = 0; /* a value, of which nothing is wanted */
                        return at;
                } else if (graphql_is_name(*at)) {
                        while (g->p < g->end && graphql_is_name(*g->p))
                                g->p++;
                        *len = (size_t)(g->p - at);
                        return at;
                } else {
                        *len = g->end - at >= 3 && memcmp(at, "...", 3) == 0 ? 3 : 1;
                        g->p += *len;
                        return at;
                }
        }
        return NULL;
}

static bool graphql_is(const char *t, size_t n, const char *word)
{
        return t && n == strlen(word) && memcmp(t, word, n) == 0;
}

/* graphql_skip(g, open, close): what stands between brackets; the first is behind us. */
static void graphql_skip(struct graphql *g, char open, char close)
{
        size_t n = 0, depth = 1;
        const char *t;
        while (depth > 0 && (t = graphql_next(g, &n)))
                depth += n == 1 && *t == open ? 1 : n == 1 && *t == close ? (size_t)-1 : 0;
        g->is_bad = g->is_bad || depth > 0;
}

static void graphql_show(const char *kind, const char *field, size_t n, request_visit *visit,
                         void *ctx)
{
        char text[160];
        size_t kind_n = strlen(kind);
        if (n > sizeof text - kind_n - 2)
                n = sizeof text - kind_n - 2;
        memcpy(text, kind, kind_n);
        text[kind_n] = ' ';
        memcpy(text + kind_n + 1, field, n);
        visit(ctx, text, kind_n + 1 + n);
}

/* graphql_fields(g, kinds, depth, ...): the fields of a selection whose { is behind us. ${kinds}: as
 * whose they are shown; a fragment may be anybody's. */
static void graphql_fields(struct graphql *g, unsigned kinds, int depth, request_visit *visit,
                           void *ctx)
{
        static const char *const words[] = {"query", "mutation", "subscription"};
        size_t n = 0, field_n = 0;
        const char *t, *field = NULL;
        bool is_spread = false;
        while ((t = graphql_next(g, &n))) {
                bool is_name = n > 0 && graphql_is_name(*t);
                if (is_name && !is_spread) {
                        struct graphql look = *g;
                        size_t look_n = 0;
                        const char *colon = graphql_next(&look, &look_n);
                        if (graphql_is(colon, look_n, ":")) { /* an alias: the field follows */
                                t = graphql_next(&look, &n);
                                *g = look;
                                if (!t)
                                        break;
                        }
                        field = t;
                        field_n = n;
                        if (++g->fields_n > GRAPHQL_FIELDS_MAX)
                                break; /* nobody asks for so many */
                        for (unsigned k = 0; k < 3; k++)
                                if (kinds & 1u << k)
                                        graphql_show(words[k], field, field_n, visit, ctx);
                } else if (n == 3 && memcmp(t, "...", 3) == 0) {
                        is_spread = true;
                        struct graphql look = *g;
                        size_t name_n = 0;
                        const char *name = graphql_next(&look, &name_n);
                        if (name && graphql_is_name(*name) &&
                            name_n) { /* ...Name, or ... on Type */
                                if (graphql_is(name, name_n, "on"))
                                        graphql_next(&look, &name_n);
                                *g = look;
                        }
                } else if (n == 1 && *t == '(') {
                        graphql_skip(g, '(', ')');
                } else if (n == 1 && *t == '@') {
                        graphql_next(g, &n);
                } else if (n == 1 && *t == '{') {
                        if (is_spread && depth == GRAPHQL_DEPTH_MAX)
                                break; /* who knows what is asked for down there */
                        if (is_spread)
                                graphql_fields(g, kinds, depth + 1, visit, ctx);
                        else
                                graphql_skip(g, '{', '}');
                        is_spread = false;
                } else if (n == 1 && *t == '}') {
                        return;
                }
                if (is_name)
                        is_spread = false;
        }
        g->is_bad = true;
}

bool body_graphql_each(const char *p, size_t len, request_visit *visit, void *ctx)
{
        struct graphql g = {.p = p, .end = p + len};
        size_t n = 0, seen = 0;
        const char *t;
        while ((t = graphql_next(&g, &n))) {
                unsigned kinds = graphql_is(t, n, "query")          ? 1
                                 : graphql_is(t, n, "{")            ? 1
                                 : graphql_is(t, n, "mutation")     ? 2
                                 : graphql_is(t, n, "subscription") ? 4
                                 : graphql_is(t, n, "fragment")     ? 7
                                                                    : 0;
                if (!kinds || ++seen > GRAPHQL_ROOTS_MAX)
                        return false;
                while (t && !graphql_is(t, n, "{")) { /* its name, variables, directives */
                        bool is_open = graphql_is(t, n, "(");
                        if (!is_open && !graphql_is(t, n, "@") && !(n && graphql_is_name(*t)))
                                return false; /* such as query=... of a form */
                        if (is_open)
                                graphql_skip(&g, '(', ')');
                        t = graphql_next(&g, &n);
                }
                if (!t)
                        return false;
                graphql_fields(&g, kinds, 0, visit, ctx);
        }
        return !g.is_bad && seen > 0;
}
