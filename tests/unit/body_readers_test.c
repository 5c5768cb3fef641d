/* body_readers_test.c - what is found in multipart forms, GraphQL documents and XML, and what is said
 * to be unreadable. */
#include "base/buf.h"
#include "policy/body_readers.h"
#include "unit/check.h"

#include <stdio.h>
#include <string.h>

static void add(void *ctx, const char *value, size_t len)
{
        struct buf *b = ctx;
        buf_put_fmt(b, "[%.*s]", (int)len, value);
}

#define PART(x) "--b\r\nContent-Disposition: form-data; " x

static const struct {
        const char *what, *body, *name, *want; /* want: NULL when it cannot be read */
} rows[] = {
        {"form", PART("name=\"a\"\r\n\r\none\r\n") PART("name=\"b\"\r\n\r\ntwo\r\n--b--\r\n"), "b",
         "[two]"},
        {"form",
         PART("name=\"a\"; filename=\"x.sh\"\r\nContent-Type: text/plain\r\n\r\none\r\n--b--"),
         "a.filename", "[x.sh]"},
        {"form", PART("name=\"A[]\"\r\n\r\none\r\n--b--"), "a", "[one]"},
        {"form", PART("name=\"a\"; name=\"b\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("name*=utf-8''a\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("name=a\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("name=\"a\"\r\n\r\none"), "a", NULL},
        {"form", PART("name=\"=?utf-8?q?a?=\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("name=\"c\"; filename=\"=?utf-8?b?YQ==?=\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("name=\"[A]\"\r\n\r\none\r\n--b--"), "a", "[one]"},
        {"form", "--b\nContent-Disposition: form-data; name=\"a\"\n\none\n--b--", "a", NULL},
        {"form", PART("x=\"; name=\"; name=\"a\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("x=1; name=\"a\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("\vname=\"a\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("filename=\"; name=a\"; name=\"c\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("name=\"c\"\r\n--b: y\r\n\r\none\r\n--b--"), "a", NULL},
        {"form", PART("name=\"c\"\r\nContent-Type: text/plain; charset=utf-16\r\n\r\nx\r\n--b--"),
         "a", NULL},
        {"form", PART("name=\"_charset_\"\r\n\r\nutf-7\r\n--b--"), "a", NULL},
        {"form", "--c\r\n\r\n--c--", "a", NULL},
        {"form", PART("name=\"a\"; name =\"b\"\r\n\r\none\r\n--b--"), "a", NULL},
        {"form",
         PART("name=\"a\"\r\nContent-Disposition : form-data; name=\"b\"\r\n\r\none\r\n--b--"), "a",
         NULL},
        {"form", PART("name=\"a\"\r\n\r\none\r\n--b--\r\n") PART("name=\"b\"\r\n\r\ntwo\r\n--b--"),
         "b", NULL},
        {"form", PART("name=\"a\"\r\n\r\none\n") PART("name=\"b\"\r\n\r\ntwo\r\n--b--"), "b", NULL},
        {"form", PART("name=\"a\"\r\n\r\n") PART("name=\"b\"\r\n\r\ntwo\r\n--b--"), "b", NULL},
        {"form", PART("name=\"a\"\r\n\r\nx--b\r\n--b--\r\n"), "a", "[x--b]"},
        {"graphql", "{ viewer { login } }", "", "[query viewer]"},
        {"graphql", "query X($a: Int = 1) @d(x: \"}\") { a: repository(id: $a) { id } b }", "",
         "[query repository][query b]"},
        {"graphql", "mutation { deleteRef(input: {x: \"{\"}) { id } }", "", "[mutation deleteRef]"},
        {"graphql", "# mutation\nmutation M { ...F } fragment F on Mutation { drop { id } }", "",
         "[query drop][mutation drop][subscription drop]"},
        {"graphql", "mutation { ... on Mutation { drop } ... @skip(if: false) { wipe } }", "",
         "[mutation drop][mutation wipe]"},
        {"graphql", "query { a(s: \"\"\"} mutation { x\"\"\") } mutation B { c }", "",
         "[query a][mutation c]"},
        {"graphql",
         "{ a(s: \"\"\"\\\\\"\"\" )} query { b(s: \"\"\")} mutation { drop } # \"\"\") }", "",
         "[query a][mutation drop]"},
        {"graphql", "{ a(s: [\"\"\"\\\"\"\"\"\"\"\"x\"]) } mutation { drop }", "",
         "[query a][mutation drop]"},
        {"graphql", "{ a(s: \"x\ny\") }", "", NULL},
        {"graphql", "query=mutation { c }", "", NULL},
        {"graphql", "query\xc2\xa0{ a }", "", NULL},
        {"graphql", "query { a", "", NULL},
        {"graphql", "type Query { a: Int }", "", NULL},
        {"xml", "<?xml version='1.0'?><r><a:Action k='v'>Del&#101;te</a:Action></r>", "action",
         "[Delete]"},
        {"xml", "<r><x action=\"a&amp;b\"/><!-- <action>no</action> --></r>", "action", "[a&b]"},
        {"xml", "<action><![CDATA[De]]>le<b>te</b></action>", "action", "[Delete]"},
        {"xml", "<!DOCTYPE r [<!ENTITY e 'Delete'>]><action>&e;</action>", "action", NULL},
        {"xml", "<action>&e;</action>", "action", NULL},
        {"xml", "<?xml version='1.0' encoding='UTF-7'?><action>+AEQ-elete</action>", "action",
         NULL},
        {"xml", "<?xml version='1.0' encoding = \"utf-8\"?><action>x</action>", "action", "[x]"},
        {"xml", "<action>Delete", "action", NULL},
        {"xml", "<action>a<action>Delete</action><action/></action>", "action",
         "[Delete][][aDelete]"},
};

/* A field below more fragments than are followed makes the document unreadable. */
static void check_depth(void)
{
        _cleanup_buf_ struct buf text = {0}, got = {0};
        buf_put_str(&text, "mutation { ");
        for (int i = 0; i < 70; i++)
                buf_put_str(&text, "... { ");
        buf_put_str(&text, "drop ");
        for (int i = 0; i < 71; i++)
                buf_put_str(&text, "} ");
        const char *all = buf_cstr(&text);
        check(!body_graphql_each(all, text.len, add, &got), "fragments in fragments",
              "it was read");
}

/* Of two boundaries each server takes its own. */
static const struct {
        const char *type;
        bool is_read;
} types[] = {
        {"multipart/form-data; boundary=b", true},
        {"multipart/form-data;boundary=\"b\"; charset=utf-8", true},
        {"multipart/form-data; boundary=b; boundary=a", false},
        {"multipart/form-data; boundary=b; boundary*=utf-8''a", false},
        {"multipart/form-data; boundary =a; boundary=b", false},
        {"multipart/form-data; x=\"; boundary=a\"; boundary=b", false},
        {"multipart/form-data; boundary=b; boundary", false},
        {"multipart/form-data; boundary=b,a", false},
        {"multipart/form-data; boundary=b; ", false},
        {"multipart/form-data, boundary=b", false},
};

static void check_types(void)
{
        static const char body[] = PART("name=\"a\"\r\n\r\none\r\n--b--");
        for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
                _cleanup_buf_ struct buf b = {0};
                bool is_read =
                        body_multipart_each(types[i].type, body, strlen(body), "a", true, add, &b);
                check(is_read == types[i].is_read, types[i].type, "is_read %d", is_read);
        }
}

int main(void)
{
        check_types();
        check_depth();
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
                _cleanup_buf_ struct buf b = {0};
                size_t n = strlen(rows[i].body);
                bool is_read =
                        strcmp(rows[i].what, "form") == 0
                                ? body_multipart_each("multipart/form-data; boundary=b",
                                                      rows[i].body, n, rows[i].name, true, add, &b)
                        : strcmp(rows[i].what, "xml") == 0
                                ? body_xml_each(rows[i].body, n, rows[i].name, add, &b)
                                : body_graphql_each(rows[i].body, n, add, &b);
                char name[32];
                snprintf(name, sizeof name, "%s, row %zu", rows[i].what, i);
                check(is_read == (rows[i].want != NULL) &&
                              (!is_read || strcmp(buf_cstr(&b), rows[i].want) == 0),
                      name, "%s: %s", is_read ? "read" : "not read", buf_cstr(&b));
        }
        return check_end();
}
