/* body_each.c - the values in a body that was read, for the conditions of rules. See body.h. Pure;
 * called by policy's matching through struct request. It must never show a grant a value that another
 * program would not find there. */
#include "egress/body.h"

#include "base/str.h"
#include "egress/body_int.h"
#include "policy/body_readers.h"
#include "policy/fields.h"
#include "policy/override.h"

#include <stdlib.h>
#include <string.h>

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

/* graphql_of(ctx, text, n): a document that stood in a JSON body. */
static void graphql_of(void *ctx, const char *text, size_t n)
{
        struct found *f = ctx;
        f->is_any = true;
        if (n == 0 || !body_graphql_each(text, n, f->visit, f->ctx))
                f->visit(f->ctx, NULL, 0);
}

/* only_words(ctx, type, n): the types of messages in which GraphQL's protocols send no document. */
static void only_words(void *ctx, const char *type, size_t n)
{
        static const char *const known[] = {
                "connection_init", "connection_terminate", "ping", "pong", "complete", "stop"};
        int *is_known = ctx; /* -1: there was no type yet */
        bool is_one = false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                is_one |= strlen(known[i]) == n && memcmp(known[i], type, n) == 0;
        *is_known = is_one && *is_known != 0;
}

/* has_query(j, v): the document is written out, and nothing beside it may name another that the
 * server keeps (id, documentId, extensions.persistedQuery). */
static bool has_query(const struct body_json *j, const struct json_node *v)
{
        static const char *const known[] = {"query", "variables", "operationName", "extensions"};
        bool is_there = false;
        for (uint32_t c = v->type == JSON_T_OBJECT ? v->child : 0; c; c = j->nodes[c].next) {
                const struct json_node *m = &j->nodes[c];
                size_t k = 0;
                while (k < 4 && (m->key_len != strlen(known[k]) ||
                                 memcmp(j->keys.data + m->key, known[k], m->key_len) != 0))
                        k++;
                if (k == 4 || (k == 3 && m->child != 0))
                        return false;
                is_there = is_there || k == 0;
        }
        return is_there;
}

/* all_have_query(j): of several requests in one, one may name a query that the server keeps. */
static bool all_have_query(const struct body_json *j)
{
        if (j->nodes[0].type != JSON_T_ARRAY)
                return has_query(j, &j->nodes[0]);
        for (uint32_t c = j->nodes[0].child; c; c = j->nodes[c].next)
                if (!has_query(j, &j->nodes[c]))
                        return false;
        return j->nodes[0].child != 0;
}

/* graphql_of_message(b, f): in a message the document stands below "payload". */
static void graphql_of_message(const struct body *b, struct found *f)
{
        int is_known = -1;
        bool is_batch = b->json->nodes[0].type == JSON_T_ARRAY;
        body_json_each(b->json, "/payload/query", graphql_of, f);
        body_json_each(b->json, "/query", graphql_of, f);
        body_json_each(b->json, "/type", only_words, &is_known);
        if (is_batch ||
            (!f->is_any && is_known != 1)) /* the server keeps it, or reads it elsewhere */
                f->visit(f->ctx, NULL, 0);
}

static void each_graphql(const struct body *b, struct found *f)
{
        enum { MOST = 256 << 10 }; /* of a document; JSON around it has its own bounds */
        if (b->kind == BODY_MESSAGE) {
                if (b->json) /* else it is a word of the protocol */
                        graphql_of_message(b, f);
        } else if (b->kind != BODY_JSON && b->kind != BODY_TEXT) {
                f->visit(f->ctx, NULL, 0); /* query=... of a form, operations=... of one in parts */
        } else if (!b->json) {
                graphql_of(f, (const char *)b->bytes.data, b->bytes.len < MOST ? b->bytes.len : 0);
        } else {
                body_json_each(b->json, "/query", graphql_of, f);
                if (!all_have_query(b->json))
                        f->visit(f->ctx, NULL, 0);
        }
}

/* each_of_body(b, name, f): body:text, body:graphql, body:xml/NAME. */
static void each_of_body(const struct body *b, const char *name, struct found *f)
{
        enum { XML_MOST = 2 << 20 }; /* read in one go */
        const char *text = (const char *)b->bytes.data;
        bool is_text_alone = b->kind == BODY_MESSAGE && !memchr(text, '<', b->bytes.len);
        if (strcmp(name, "text") == 0) {
                f->visit(f->ctx, text, b->bytes.len);
        } else if (strcmp(name, "graphql") == 0) {
                each_graphql(b, f);
        } else if (!is_text_alone && b->bytes.len > XML_MOST) {
                f->visit(f->ctx, NULL, 0);
        } else if (!is_text_alone &&
                   !body_xml_each(text, b->bytes.len, name + 4, f->visit, f->ctx)) {
                f->visit(f->ctx, NULL, 0);
        } else if (b->kind == BODY_JSON || b->kind == BODY_FORM || b->kind == BODY_MULTIPART) {
                f->visit(f->ctx, NULL, 0); /* XML is not what its type says */
        }
}

/* is_override(name): one of the fields that are looked for in every text. */
static bool is_override(const char *name)
{
        for (size_t i = 0; i < OVERRIDE_FIELDS; i++)
                if (strcmp(name, override_fields[i]) == 0)
                        return true;
        return false;
}

/* each_field(b, name, is_loose, f): of a form, or of a text that some server may take for one. */
static void each_field(struct body *b, const char *name, bool is_loose, struct found *f)
{
        const char *text = (const char *)b->bytes.data;
        bool is_form = b->kind == BODY_MULTIPART || (b->kind == BODY_FORM && !b->json);
        bool is_known = b->fields && (is_form || (is_loose && is_override(name)));
        if (is_known) {
                fields_each(b->fields, name, is_loose, count, f);
                if (!is_form && fields_is_cut(b->fields)) /* no method has such a name */
                        count(f, FIELDS_TOO_MANY, sizeof FIELDS_TOO_MANY - 1);
                return;
        }
        b->looked += b->bytes.len;
        match_query_each(text, b->bytes.len, name, is_loose, count, f);
}

/* What is found by reading the body as something that its type does not say is shown together with
 * an empty value: a refusal hits what it names, a grant does not hold for every value. One that could
 * not be read shows nothing but a guess at the fields that stand for a method. */
void body_each(void *body, enum rule_where where, const char *name, bool is_loose,
               request_visit *visit, void *ctx)
{
        struct body *b = body;
        const char *text = b ? (const char *)b->bytes.data : NULL;
        struct found f = {.visit = visit, .ctx = ctx};
        bool is_said = false;
        bool is_guess = b && b->state == REQUEST_BODY_UNREADABLE && is_loose &&
                        where == RULE_FORM && b->kind != BODY_GIT && is_override(name);
        if (!b || b->bytes.len == 0 || (b->state != REQUEST_BODY_READ && !is_guess))
                return;
        bool wants_json =
                where == RULE_JSON || (where == RULE_BODY && strcmp(name, "graphql") == 0);
        if (b->is_broken_json && wants_json)
                visit(ctx, NULL, 0);
        if (where != RULE_FORM)
                b->looked += b->bytes.len;
        if (where == RULE_BODY) {
                each_of_body(b, name, &f);
                return;
        }
        if (where == RULE_FORM && b->kind == BODY_MULTIPART) {
                each_field(b, name, is_loose, &f);
                return; /* what could not be read was said when it was read */
        }
        if (where == RULE_JSON && b->json) {
                body_json_each(b->json, name, count, &f);
                is_said = b->kind == BODY_JSON || b->kind == BODY_MESSAGE;
        } else if (where == RULE_JSON && b->kind != BODY_MESSAGE && b->kind != BODY_GIT) {
                visit(ctx, NULL, 0); /* another type: who knows what the server makes of it */
        } else if (where == RULE_FORM && b->kind == BODY_GIT) {
                body_git_each(text, b->bytes.len, name, count, &f);
                is_said = true;
        } else if (where == RULE_FORM) {
                each_field(b, name, is_loose, &f);
                is_said = b->kind == BODY_FORM && !b->json;
                if (b->json && is_loose) { /* many servers have one list of fields for both */
                        char *pointer = str_fmt("/%s", name);
                        body_json_each(b->json, pointer, count, &f);
                        free(pointer);
                }
        }
        if (f.is_any && !is_said)
                visit(ctx, "", 0);
}
