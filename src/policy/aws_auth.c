/* aws_auth.c - see aws_auth.h: the Authorization header of AWS and the scope in it. Pure. Called by
 * the keeper and by egress; it judges nothing but spelling. */
#include "policy/aws_auth.h"

#include <string.h>
#include <strings.h>

bool aws_text_is(struct aws_text t, const char *s)
{
        return strlen(s) == t.n && (t.n == 0 || memcmp(t.p, s, t.n) == 0);
}

static bool is_small(char c)
{
        return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_word_char(char c)
{
        return is_small(c) || (c >= 'A' && c <= 'Z') || c == '-' || c == '_';
}

static bool is_all(struct aws_text t, bool (*is)(char))
{
        for (size_t i = 0; i < t.n; i++)
                if (!is(t.p[i]))
                        return false;
        return t.n > 0;
}

static bool is_digit(char c)
{
        return c >= '0' && c <= '9';
}

static bool is_hex(char c)
{
        return is_digit(c) || (c >= 'a' && c <= 'f');
}

int aws_scope_parse(const char *p, size_t n, struct aws_scope *s)
{
        struct aws_text parts[5];
        size_t parts_n = 0;
        const char *end = p + n;
        while (parts_n < 5) {
                const char *slash = memchr(p, '/', (size_t)(end - p));
                const char *stop = slash ? slash : end;
                parts[parts_n++] = (struct aws_text){p, (size_t)(stop - p)};
                if (!slash)
                        break;
                if (parts_n == 5) /* something behind aws4_request */
                        return -1;
                p = slash + 1;
        }
        if (parts_n != 5 || !aws_text_is(parts[4], "aws4_request"))
                return -1;
        *s = (struct aws_scope){parts[0], parts[1], parts[2], parts[3]};
        if (!is_all(s->id, is_word_char) || s->id.n > 128 || s->date.n != 8 ||
            !is_all(s->date, is_digit) || !is_all(s->region, is_word_char) || s->region.n > 64 ||
            !is_all(s->service, is_word_char) || s->service.n > 64)
                return -1;
        return 0;
}

bool aws_auth_name_next(struct aws_text *list, struct aws_text *name)
{
        if (list->n == 0)
                return false;
        const char *semi = memchr(list->p, ';', list->n);
        *name = (struct aws_text){list->p, semi ? (size_t)(semi - list->p) : list->n};
        size_t used = name->n + (semi ? 1 : 0);
        list->p += used;
        list->n -= used;
        return true;
}

static bool is_name_char(char c)
{
        return is_small(c) || (c && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool aws_auth_name_ok(const char *p, size_t n)
{
        return is_all((struct aws_text){p, n}, is_name_char);
}

static int compare(struct aws_text a, struct aws_text b)
{
        int r = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);
        return r ? r : (a.n > b.n) - (a.n < b.n);
}

bool aws_auth_names_ok(const char *p, size_t n)
{
        struct aws_text list = {p, n}, name, before = {"", 0};
        bool has_host = false;
        if (n == 0 || p[n - 1] == ';')
                return false;
        while (aws_auth_name_next(&list, &name)) {
                if (!aws_auth_name_ok(name.p, name.n) || compare(before, name) >= 0)
                        return false;
                has_host |= aws_text_is(name, "host");
                before = name;
        }
        return has_host;
}

static bool take(struct aws_text *t, const char *word)
{
        size_t n = strlen(word);
        if (t->n < n || memcmp(t->p, word, n) != 0)
                return false;
        t->p += n;
        t->n -= n;
        return true;
}

static void trim(struct aws_text *t)
{
        while (t->n && t->p[0] == ' ')
                t->p++, t->n--;
        while (t->n && t->p[t->n - 1] == ' ')
                t->n--;
}

int aws_auth_parse(const char *value, size_t n, struct aws_auth *a)
{
        struct aws_text rest = {value, n};
        *a = (struct aws_auth){0};
        if (!take(&rest, "AWS4-HMAC-SHA256 "))
                return -1;
        while (rest.n) {
                const char *comma = memchr(rest.p, ',', rest.n);
                struct aws_text part = {rest.p, comma ? (size_t)(comma - rest.p) : rest.n};
                rest.p += part.n;
                rest.n -= part.n;
                if (comma && (rest.p++, --rest.n) == 0)
                        return -1; /* nothing behind the last comma */
                trim(&part);
                if (!a->scope.id.n && take(&part, "Credential=")) {
                        if (aws_scope_parse(part.p, part.n, &a->scope) < 0)
                                return -1;
                } else if (!a->names.n && take(&part, "SignedHeaders=")) {
                        if (!aws_auth_names_ok(part.p, part.n))
                                return -1;
                        a->names = part;
                } else if (!a->signature.n && take(&part, "Signature=")) {
                        if (part.n != 64 || !is_all(part, is_hex))
                                return -1;
                        a->signature = part;
                } else {
                        return -1;
                }
        }
        return a->scope.id.n && a->names.n && a->signature.n ? 0 : -1;
}

bool aws_auth_is_aws(const char *p, size_t n)
{
        return (n >= 4 && strncasecmp(p, "AWS4", 4) == 0) ||
               (n >= 4 && strncasecmp(p, "AWS ", 4) == 0);
}
