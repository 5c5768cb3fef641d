/* policy_request.c - see policy_request.h. Uses the door's own types for host and path, so that
 * what is checked is what would be matched. It asks nobody: no name is resolved, nothing is sent.
 */
#include "cli/policy_request.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/body_readers.h"
#include "policy/fields.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct {
        const char *name;
        unsigned port; /* 0: must be written */
        bool is_tls;
        enum request_kind kind;
} schemes[] = {
        {"https://", 443, true, REQUEST_HTTP}, {"http://", 80, false, REQUEST_HTTP},
        {"wss://", 443, true, REQUEST_HTTP},   {"ws://", 80, false, REQUEST_HTTP},
        {"tcp://", 0, false, REQUEST_TCP},
};

static int usage(struct err *err, const char *what)
{
        return err_set(err, E_USAGE, "%s", what);
}

static int parse_port(const char *s, uint16_t *port, struct err *err)
{
        uint64_t n = 0;
        if (str_u64(s, &n) < 0 || n == 0 || n > 65535)
                return usage(err, "a port is a number from 1 to 65535");
        *port = (uint16_t)n;
        return 0;
}

/* [scheme://]host[:port][/path][?query] */
static int parse_url(char *url, struct policy_request *r, struct err *err)
{
        struct request *q = &r->request;
        size_t k = 0;
        for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
                if (str_starts(url, schemes[i].name))
                        k = i;
        q->kind = schemes[k].kind;
        q->port = (uint16_t)schemes[k].port;
        r->is_tls = schemes[k].is_tls;
        if (str_starts(url, schemes[k].name))
                url += strlen(schemes[k].name);
        else if (strstr(url, "://"))
                return usage(err, "a URL begins with https://, http:// or tcp://");
        if (strchr(url, '#'))
                return usage(err, "what follows # is never sent; write the URL without it");

        char *query = strchr(url, '?');
        if (query) {
                *query++ = 0;
                q->query = query;
                q->query_len = strlen(query);
        }
        size_t len = strcspn(url, "/");
        const char *path = url[len] ? url + len : "/";
        size_t host = url[0] == '[' ? strcspn(url, "]/") + 1 : strcspn(url, ":/");
        if (host > len)
                host = len;
        if (host_name_parse(url, host, &r->host, err) < 0 ||
            path_canon_parse(path, strlen(path), &r->path, err) < 0) {
                err->code = E_USAGE;
                return err_add(err, "this is no URL that the door would accept");
        }
        if (host < len) {
                char *end = url + len;
                char kept = *end;
                *end = 0;
                if (url[host] != ':' || parse_port(url + host + 1, &q->port, err) < 0)
                        return usage(err, "a port is a number from 1 to 65535");
                *end = kept;
        }
        if (!q->port || (q->kind == REQUEST_TCP && (query || strcmp(path, "/") != 0)))
                return usage(err, "a raw stream is written tcp://HOST:PORT");
        q->host = &r->host;
        q->path = &r->path;
        r->shown = q->kind == REQUEST_TCP
                           ? str_fmt("tcp://%s:%u", r->host.text, q->port)
                           : str_fmt("%s %s://%s:%u%s", q->method, r->is_tls ? "https" : "http",
                                     r->host.text, q->port, r->path.text);
        return 0;
}

static int parse_headers(const struct strs *headers, struct policy_request *r, struct err *err)
{
        r->headers = calloc(headers->n + 1, sizeof *r->headers);
        if (!r->headers)
                str_no_memory();
        for (size_t i = 0; i < headers->n; i++) {
                strs_add(&r->header_words, headers->v[i]);
                char *s = r->header_words.v[i], *colon = strchr(s, ':');
                if (!colon || colon == s)
                        return usage(err, "--header wants \"Name: value\"");
                *colon = 0;
                for (char *p = s; *p; p++)
                        if (*p >= 'A' && *p <= 'Z')
                                *p = (char)(*p - 'A' + 'a');
                const char *value = colon + 1 + strspn(colon + 1, " \t");
                r->headers[i] = (struct request_header){s, value, strlen(value)};
        }
        r->request.headers = r->headers;
        r->request.headers_n = headers->n;
        return 0;
}

/* One step of a JSON pointer: ~1 is /, ~0 is ~. */
static void unescape_step(const char *token, size_t len, char key[256])
{
        size_t n = 0;
        for (size_t i = 0; i < len && n + 1 < 256; i++) {
                bool is_escape = token[i] == '~' && i + 1 < len;
                key[n++] = !is_escape ? token[i] : token[++i] == '1' ? '/' : '~';
        }
        key[n] = 0;
}

static void visit_value(const json_t *at, request_visit *visit, void *ctx)
{
        if (json_is_string(at)) {
                visit(ctx, json_string_value(at), json_string_length(at));
                return;
        }
        char *text = json_dumps(at, JSON_COMPACT | JSON_ENCODE_ANY);
        if (text)
                visit(ctx, text, strlen(text));
        free(text);
}

/* visit_pointer(at, pointer, visit, ctx): as the door does it (egress/body_pointer.c): a step that is
 * * means every element or member, and a key in other letters counts together with an empty value.
 * The depth is that of the pointer. */
static void visit_pointer(const json_t *at, const char *pointer, request_visit *visit, void *ctx)
{
        if (*pointer != '/') {
                visit_value(at, visit, ctx);
                return;
        }
        size_t n = strcspn(pointer + 1, "/");
        const char *rest = pointer + 1 + n, *name;
        char key[256];
        uint64_t index = 0;
        json_t *v;
        unescape_step(pointer + 1, n, key);
        bool is_any = strcmp(key, "*") == 0;
        bool is_index = !is_any && str_u64(key, &index) == 0;
        for (size_t i = 0; i < json_array_size(at); i++)
                if (is_any || (is_index && i == index))
                        visit_pointer(json_array_get(at, i), rest, visit, ctx);
        json_object_foreach((json_t *)at, name, v)
        {
                if (!is_any && strcasecmp(name, key) != 0)
                        continue;
                visit_pointer(v, rest, visit, ctx);
                if (!is_any && strcmp(name, key) != 0)
                        visit(ctx, "", 0);
        }
}

/* visit_body(r, name, visit, ctx): body:text, body:graphql, body:xml/NAME of what --data gave. */
static void visit_body(const struct policy_request *r, const char *name, request_visit *visit,
                       void *ctx)
{
        const char *text = r->data;
        if (strcmp(name, "graphql") == 0 && r->json)
                text = json_string_value(json_object_get(r->json, "query"));
        if (strcmp(name, "text") == 0)
                visit(ctx, text, strlen(text));
        else if (!text || !(strcmp(name, "graphql") == 0
                                    ? body_graphql_each(text, strlen(text), visit, ctx)
                                    : body_xml_each(text, strlen(text), name + 4, visit, ctx)))
                visit(ctx, NULL, 0);
}

static void body_each(void *body, enum rule_where where, const char *name, bool is_loose,
                      request_visit *visit, void *ctx)
{
        const struct policy_request *r = body;
        if (where == RULE_FORM && r->fields)
                fields_each(r->fields, name, is_loose, visit, ctx);
        if (where == RULE_BODY)
                visit_body(r, name, visit, ctx);
        if (where == RULE_FORM && r->json && is_loose) { /* as the door does it */
                _cleanup_free_ char *pointer = str_fmt("/%s", name);
                visit_pointer(r->json, pointer, visit, ctx);
        }
        if (where != RULE_JSON || !r->json)
                return;
        visit_pointer(r->json, name, visit, ctx);
        for (size_t i = 0; i < json_array_size(r->json); i++)
                visit_pointer(json_array_get(r->json, i), name, visit, ctx);
}

/* type_of(r): what --header says of the body, or "". */
static const char *type_of(const struct policy_request *r)
{
        for (size_t i = 0; i < r->request.headers_n; i++)
                if (strcmp(r->headers[i].name, "content-type") == 0)
                        return r->headers[i].value;
        return "";
}

/* read_fields(r, type): of a form, or of one in parts, by the door's own readers. False: the door
 * would not read it. */
static bool read_fields(struct policy_request *r, const char *type)
{
        size_t n = strlen(r->data), used;
        bool is_multipart = strncasecmp(type, "multipart/form-data", 19) == 0;
        struct body_multipart *m = is_multipart ? body_multipart_new(type, r->data, n) : NULL;
        int got = 0;
        r->fields = is_multipart ? fields_new() : fields_of(r->data, n);
        while (got == 0)
                got = m ? body_multipart_step(m, r->fields, &used) : fields_step(r->fields, &used);
        body_multipart_free(m);
        return got > 0 && fields_is_plain(r->fields);
}

static void read_body(const char *data, struct policy_request *r)
{
        const char *type = type_of(r);
        bool is_text = strncasecmp(type, "text/", 5) == 0 || strcasestr(type, "xml") ||
                       strcasestr(type, "graphql");
        r->request.body = REQUEST_BODY_READ;
        r->data = data;
        r->request.body_each = body_each;
        r->request.body_ctx = r;
        if (data[0] != '{' && data[0] != '[') {
                bool is_read = read_fields(r, type);
                if (!is_read && !is_text && data[0] != '<')
                        r->request.body = REQUEST_BODY_UNREADABLE;
                return;
        }
        r->json = json_loads(data, JSON_REJECT_DUPLICATES, NULL);
        if (r->json)
                return;
        r->request.body = REQUEST_BODY_UNREADABLE;
        (void)read_fields(r, type); /* what can be made out of it */
}

/* is_method(word): no host is written so. */
static bool is_method(const char *word)
{
        return *word && word[strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ-")] == 0;
}

int policy_request_make(const char *words, const struct strs *headers, const char *data,
                        struct policy_request *r, struct err *err)
{
        memset(r, 0, sizeof *r);
        r->text = str_dup(words);
        char *url = strchr(r->text, ' ');
        if (url) {
                *url = 0;
                url += 1 + strspn(url + 1, " ");
        } else {
                url = r->text;
        }
        r->request.method = url == r->text ? data ? "POST" : "GET" : r->text;
        int code = is_method(r->request.method)
                           ? 0
                           : usage(err, "a method is written in capitals, such as GET");
        if (code == 0 && (url == r->text ? is_method(url) : !*url))
                code = err_set(
                        err, E_USAGE,
                        "%s is a method, and its URL is missing: write '%s https://HOST/PATH'",
                        r->text, r->text);
        if (code == 0)
                code = parse_url(url, r, err);
        if (code == 0)
                code = parse_headers(headers, r, err);
        if (code < 0) {
                policy_request_free(r);
                return -1;
        }
        static const char *const without[] = {"GET", "HEAD", "OPTIONS", "DELETE"};
        r->request.body = REQUEST_BODY_UNREAD;
        for (size_t i = 0; i < sizeof without / sizeof *without; i++)
                if (strcmp(r->request.method, without[i]) == 0)
                        r->request.body = REQUEST_BODY_NONE;
        if (data)
                read_body(data, r);
        return 0;
}

void policy_request_free(struct policy_request *r)
{
        path_canon_free(&r->path);
        strs_free(&r->header_words);
        free(r->headers);
        free(r->text);
        free(r->shown);
        fields_free(r->fields);
        json_decref(r->json);
        memset(r, 0, sizeof *r);
}
