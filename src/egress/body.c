/* body.c - what kind of body it is, and which reader answers for it. See body.h. Called by the
 * exchange when a rule depends on a body; must never trust the type that the box wrote further than
 * to refuse by it. */
#include "egress/body.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/body_int.h"
#include "policy/path_canon.h"

#include <string.h>
#include <strings.h>

enum kind { KIND_OTHER, KIND_JSON, KIND_FORM, KIND_GIT };

struct body {
        enum kind kind;
        enum request_body state;
        struct buf bytes; /* decoded */
        struct body_json *json;
        struct err err;
};

static size_t trimmed(const char **s, size_t n)
{
        while (n && (**s == ' ' || **s == '\t')) {
                (*s)++;
                n--;
        }
        while (n && ((*s)[n - 1] == ' ' || (*s)[n - 1] == '\t'))
                n--;
        return n;
}

static bool is_word(const char *s, size_t n, const char *word)
{
        return n == strlen(word) && strncasecmp(s, word, n) == 0;
}

static enum kind kind_of(const char *s, size_t n)
{
        if (is_word(s, n, "application/json") || is_word(s, n, "text/json") ||
            (n > 5 && strncasecmp(s + n - 5, "+json", 5) == 0))
                return KIND_JSON;
        if (is_word(s, n, "application/x-www-form-urlencoded"))
                return KIND_FORM;
        if (is_word(s, n, "application/x-git-receive-pack-request"))
                return KIND_GIT;
        return KIND_OTHER;
}

/* A charset other than UTF-8 makes other characters of the same bytes. */
static int read_type(const char *type, enum kind *kind, struct err *err)
{
        const char *end = strchrnul(type, ';'), *s = type;
        size_t n = trimmed(&s, (size_t)(end - type));
        *kind = kind_of(s, n);
        if (n == 0)
                return err_set(err, E_PROTO, "the request does not say what type its body has");
        if (*kind == KIND_OTHER || memchr(s, ',', n))
                return err_set(err, E_PROTO,
                               "bodies of type %.*s are not read; JSON, forms and git pushes are",
                               (int)(n < 80 ? n : 80), s);
        while (*end) {
                const char *from = end + 1;
                end = strchrnul(from, ';');
                n = trimmed(&from, (size_t)(end - from));
                if (n < 7 || strncasecmp(from, "charset", 7) != 0)
                        continue;
                if (!is_word(from, n, "charset=utf-8") && !is_word(from, n, "charset=\"utf-8\"") &&
                    !is_word(from, n, "charset=us-ascii"))
                        return err_set(err, E_PROTO, "the body's charset is not UTF-8");
        }
        return 0;
}

static void nothing(void *ctx, const char *value, size_t len)
{
        (void)ctx, (void)value, (void)len;
}

static bool looks_like_json(const char *p, size_t n)
{
        size_t i = 0;
        while (i < n && strchr(" \t\r\n", p[i]) && p[i])
                i++;
        return i < n && (p[i] == '{' || p[i] == '[');
}

static int read_form(struct body *b)
{
        const char *p = (const char *)b->bytes.data;
        if (looks_like_json(p, b->bytes.len)) {
                /* `curl -d '{...}'` says form; many servers do not look at the type. */
                b->json = body_json_read(p, b->bytes.len, &b->err);
                if (!b->json)
                        return err_add(&b->err, "a form that looks like JSON");
                return 0;
        }
        if (!match_query_each(p, b->bytes.len, "", nothing, NULL))
                return err_set(&b->err, E_PROTO,
                               "the form has a broken escape or a bare \";\", which programs read "
                               "in different ways");
        return 0;
}

static int read_it(struct body *b, const char *type, const char *coding, const void *p, size_t n)
{
        if (n > BODY_MAX)
                return err_set(&b->err, E_PROTO, "the body is larger than %d bytes", BODY_MAX);
        if (read_type(type, &b->kind, &b->err) < 0)
                return -1;
        int r = body_decode(coding, p, n, &b->bytes, &b->err);
        if (r < 0)
                return -1;
        if (r == 0)
                buf_put(&b->bytes, p, n);
        buf_cstr(&b->bytes); /* readers may look at the NUL behind the end */
        if (b->bytes.is_broken)
                return err_set(&b->err, E_SYSTEM, "there is no memory for the body");
        const char *text = (const char *)b->bytes.data;
        switch (b->kind) {
        case KIND_JSON:
                b->json = body_json_read(text, b->bytes.len, &b->err);
                return b->json ? 0 : -1;
        case KIND_FORM:
                return read_form(b);
        case KIND_GIT:
                return body_git_check(text, b->bytes.len, &b->err);
        case KIND_OTHER:
                break;
        }
        return -1;
}

struct body *body_read(const char *type, const char *coding, const void *p, size_t n)
{
        struct body *b = calloc(1, sizeof *b);
        if (!b)
                str_no_memory();
        b->bytes.max = BODY_DECODED_MAX + 1;
        if (n == 0)
                b->state = REQUEST_BODY_NONE;
        else if (read_it(b, type, coding, p, n) < 0)
                b->state = REQUEST_BODY_UNREADABLE;
        else if (b->kind == KIND_GIT && b->bytes.len == 4)
                b->state = REQUEST_BODY_IDLE; /* a flush alone: git tries whether it may push */
        else
                b->state = REQUEST_BODY_READ;
        return b;
}

static bool is_for_pushes(void *ctx, const char *reading, size_t n)
{
        static const char name[] = "/git-receive-pack";
        size_t len = sizeof name - 1;
        while (n && reading[n - 1] == '/')
                n--;
        bool *is_any = ctx;
        *is_any = *is_any || (n >= len && strncasecmp(reading + n - len, name, len) == 0);
        return true;
}

bool body_fits_path(const char *type, const struct path_canon *path)
{
        enum kind kind = KIND_OTHER;
        bool is_any = false;
        path_canon_each(path, is_for_pushes, &is_any);
        return (read_type(type, &kind, NULL) == 0 && kind == KIND_GIT) == is_any;
}

bool body_has_tail(const char *type, const char *coding)
{
        enum kind kind;
        return read_type(type, &kind, NULL) == 0 && kind == KIND_GIT && coding[0] == '\0';
}

enum request_body body_state(const struct body *b)
{
        return b->state;
}

const char *body_why(const struct body *b)
{
        return b->err.text;
}

struct found {
        request_visit *visit;
        void *ctx;
        bool is_any;
};

static void count(void *ctx, const char *value, size_t len)
{
        struct found *f = ctx;
        f->is_any = true;
        f->visit(f->ctx, value, len);
}

/* What is found by reading the body as something that its type does not say is shown together with
 * an empty value: a refusal hits what it names, a grant does not hold for every value. */
void body_each(void *body, enum rule_where where, const char *name, request_visit *visit, void *ctx)
{
        const struct body *b = body;
        const char *text = (const char *)b->bytes.data;
        struct found f = {.visit = visit, .ctx = ctx};
        bool is_said = false;
        if (b->state != REQUEST_BODY_READ)
                return;
        if (where == RULE_JSON && b->json) {
                body_json_each(b->json, name, count, &f);
                is_said = b->kind == KIND_JSON;
        } else if (where == RULE_FORM && b->kind == KIND_GIT) {
                body_git_each(text, b->bytes.len, name, count, &f);
                is_said = true;
        } else if (where == RULE_FORM) {
                match_query_each(text, b->bytes.len, name, count, &f);
                is_said = b->kind == KIND_FORM && !b->json;
        }
        if (f.is_any && !is_said)
                visit(ctx, "", 0);
}

void body_free(struct body *b)
{
        if (!b)
                return;
        body_json_free(b->json);
        buf_free(&b->bytes);
        free(b);
}
