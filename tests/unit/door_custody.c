/* door_custody.c - a request's head and the box's secrets: which slots are found, what is a leak,
 * what is somebody else's credential, and the head that goes to the origin. */
#include "base/err.h"
#include "egress/custody_slots.h"
#include "egress/scan.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

static struct door door;

/* grant(number, line, placeholder): as the keeper tells it. */
static void grant(uint32_t number, const char *line, const char *placeholder)
{
        struct custody *c = custody_of(&door);
        struct custody_secret *s = calloc(1, sizeof *s), **end = &c->secrets;
        size_t column;
        struct err err = {0};
        if (!s || rule_line_parse(line, strlen(line), &s->line, &column, &err) != 1) {
                check(false, line, "%s", err.text);
                exit(1);
        }
        s->number = number;
        s->parts[0].name = strdup("");
        s->parts[0].placeholder = strdup(placeholder);
        s->parts_n = 1;
        while (*end)
                end = &(*end)->next;
        *end = s;
        if (!c->placeholders)
                c->placeholders = scan_set_new(c->key);
        scan_set_text(c->placeholders, number, placeholder, strlen(placeholder));
        custody_folds_add(c, number, placeholder);
}

#define ONE   "fakePlaceholderOne0001"
#define TWO   "fake-placeholder-two-2"
#define THREE "700001:fakeThree0003"

struct asked {
        struct head head;
        struct host_name host;
        struct custody_uses uses;
        bool is_plain;
};

static void begin(struct asked *r, const char *host, const char *target)
{
        memset(r, 0, sizeof *r);
        head_init(&r->head);
        host_name_parse(host, strlen(host), &r->host, NULL);
        r->head.method = head_put(&r->head, "GET", 3);
        r->head.method_len = 3;
        head_target(&r->head, target, strlen(target), NULL);
        r->head.host = r->host;
}

static void field(struct asked *r, const char *name, const char *value)
{
        head_add(&r->head, name, strlen(name), value, strlen(value), NULL);
}

static void find(struct asked *r)
{
        const struct custody_place p = {
                .host = &r->host, .port = 443, .is_tls = !r->is_plain, .path = &r->head.path};
        custody_slots_find(custody_of(&door), &p, &r->head, &r->uses);
}

static void end(struct asked *r)
{
        custody_uses_free(&r->uses);
        head_free(&r->head);
}

/* found(name, host, target, header, value, slot): the one slot that is found; NULL: none. */
static void found(const char *name, const char *host, const char *target, const char *header,
                  const char *value, const char *slot)
{
        struct asked r;
        begin(&r, host, target);
        if (header)
                field(&r, header, value);
        find(&r);
        if (slot)
                check(r.uses.n == 1 && strcmp(r.uses.list[0].slot, slot) == 0, name, "%zu: %s",
                      r.uses.n, r.uses.n ? r.uses.list[0].slot : "-");
        else
                check(r.uses.n == 0, name, "%zu: %s", r.uses.n, r.uses.list[0].slot);
        struct custody_leaks leaks = {0};
        custody_slots_leak(&door, &r.head, &r.uses, &leaks);
        check((leaks.n > 0) == !slot, name, "leak: %s", leaks.n ? leaks.list[0].where : "none");
        custody_leaks_free(&leaks);
        end(&r);
}

static void test_find(void)
{
        found("bearer", "one.org", "/", "authorization", "Bearer " ONE, "Bearer " ONE);
        found("bearer in any case", "one.org", "/", "Authorization", "bearer " ONE, "bearer " ONE);
        found("token", "one.org", "/", "authorization", "token " ONE, "token " ONE);
        found("no scheme", "one.org", "/", "authorization", ONE, NULL);
        found("another scheme", "one.org", "/", "authorization", "Digest " ONE, NULL);
        found("more behind it", "one.org", "/", "authorization", "Bearer " ONE "x", NULL);
        found("two of it", "one.org", "/", "authorization", "Bearer " ONE " " ONE, NULL);
        found("another host", "two.org", "/", "authorization", "Bearer " ONE, NULL);
        found("below the host", "x.one.org", "/", "authorization", "Bearer " ONE, NULL);
        found("another header", "one.org", "/", "x-other", ONE, NULL);
        found("a header", "two.org", "/", "x-key", TWO, TWO);
        found("a header with a word", "two.org", "/", "x-key", "ApiKey " TWO, "ApiKey " TWO);
        found("a query", "two.org", "/?a=1&key=" TWO, NULL, NULL, TWO);
        found("an encoded query", "two.org", "/?k%65y=%66ake-placeholder-two-2", NULL, NULL, TWO);
        found("another parameter", "two.org", "/?keys=" TWO, NULL, NULL, NULL);
        found("a parameter with more", "two.org", "/?key=" TWO ";x", NULL, NULL, NULL);
        found("a cookie", "two.org", "/", "cookie", "a=1; sid=" TWO "; b=2", TWO);
        found("a cookie in quotes", "two.org", "/", "cookie", "sid=\"" TWO "\"", TWO);
        found("another cookie", "two.org", "/", "cookie", "a=1; sidx=" TWO, NULL);
        found("a segment", "three.org", "/" THREE "/x", NULL, NULL, THREE);
        found("a segment with a word before it", "three.org", "/bot" THREE "/getMe", NULL, NULL,
              "bot" THREE);
        found("a segment, encoded", "three.org", "/bot700001%3AfakeThree0003/x", NULL, NULL,
              "bot" THREE);
        found("a segment with more behind", "three.org", "/" THREE "x/", NULL, NULL, NULL);
        /* me:fakePlaceholderOne0001, fakePlaceholderOne0001:, a:fakePlaceholderOne0001:b */
        found("basic, password", "four.org", "/", "authorization",
              "Basic bWU6ZmFrZVBsYWNlaG9sZGVyT25lMDAwMQ==",
              "Basic bWU6ZmFrZVBsYWNlaG9sZGVyT25lMDAwMQ==");
        found("basic, user", "four.org", "/", "authorization",
              "Basic ZmFrZVBsYWNlaG9sZGVyT25lMDAwMTo=", "Basic ZmFrZVBsYWNlaG9sZGVyT25lMDAwMTo=");
        found("basic, neither", "four.org", "/", "authorization",
              "Basic YTpmYWtlUGxhY2Vob2xkZXJPbmUwMDAxOmI=", NULL);
        struct asked r;
        begin(&r, "one.org", "/");
        field(&r, "authorization", "Bearer " ONE);
        r.is_plain = true;
        find(&r);
        CHECK("nothing without TLS", r.uses.n == 0);
        end(&r);
}

static bool leaks(const char *header, const char *value, uint32_t want)
{
        struct asked r;
        struct custody_leaks l = {0};
        begin(&r, "other.org", "/");
        field(&r, header, value);
        custody_slots_leak(&door, &r.head, &r.uses, &l);
        bool is_right = (l.n > 0) == (want != 0) && (l.n == 0 || l.list[0].number == want);
        custody_leaks_free(&l);
        end(&r);
        return is_right;
}

/* leaks_parts(target, a, b, cookie): how many secrets leak in parts of one head. */
static size_t leaks_parts(const char *target, const char *a, const char *b, const char *cookie)
{
        struct asked r;
        struct custody_leaks l = {0};
        begin(&r, "other.org", target);
        field(&r, "x-a", a);
        field(&r, "x-b", b);
        field(&r, "cookie", cookie);
        custody_slots_leak(&door, &r.head, &r.uses, &l);
        size_t n = l.n;
        custody_leaks_free(&l);
        end(&r);
        return n;
}

static void test_leak(void)
{
        CHECK("a value", leaks("x-a", "before " ONE " after", 1));
        CHECK("every secret is told", leaks_parts("/?q=" ONE, "x", TWO, "a=1") == 2);
        CHECK("each once", leaks_parts("/?q=" ONE, ONE, ONE, "a=" ONE) == 1);
        CHECK("two fields with a half each",
              leaks_parts("/", "fakePlacehol", "derOne0001", "a=1") == 1);
        CHECK("two parameters", leaks_parts("/?a=fakePlacehol&b=derOne0001", "x", "y", "a=1") == 1);
        CHECK("two segments", leaks_parts("/x/fakePlacehol/derOne0001", "x", "y", "a=1") == 1);
        CHECK("two cookies", leaks_parts("/", "x", "y", "a=fakePlacehol; b=derOne0001") == 1);
        CHECK("a half is nothing", leaks_parts("/", "fakePlacehol", "y", "a=1") == 0);
        CHECK("which one", leaks("x-a", TWO, 2));
        CHECK("none", leaks("x-a", "nothing of the kind", 0));
        CHECK("a name", leaks("x-" ONE, "1", 1));
        CHECK("a name in small letters", leaks("x-fakeplaceholderone0001", "1", 1));
        CHECK("hexadecimal", leaks("x-a", "66616b65506c616365686f6c6465724f6e6530303031", 1));
        struct host_name h;
        host_name_parse("fakeplaceholder.one0001.evil.org", 32, &h, NULL);
        CHECK("a host's labels", custody_name_leaks(&door, &h) == 1);
        host_name_parse("placeholder.evil.org", 20, &h, NULL);
        CHECK("another host", custody_name_leaks(&door, &h) == 0);
}

static bool foreign(const char *host, const char *target, const char *header, const char *value)
{
        struct asked r;
        begin(&r, host, target);
        if (header)
                field(&r, header, value);
        find(&r);
        char *where = NULL;
        bool is_any = custody_slots_foreign(custody_of(&door), &r.host, 443, &r.head, &r.uses,
                                            false, &where);
        free(where);
        end(&r);
        return is_any;
}

static void test_foreign(void)
{
        CHECK("authorization of somebody else",
              foreign("one.org", "/", "authorization", "Bearer x"));
        CHECK("another header of that kind", foreign("one.org", "/", "x-api-key", "mine"));
        CHECK("a query of that kind", foreign("one.org", "/?access_token=mine", NULL, NULL));
        CHECK("the declared header", foreign("two.org", "/", "x-key", "mine"));
        CHECK("the declared query", foreign("two.org", "/?key=mine", NULL, NULL));
        CHECK("the declared cookie", foreign("two.org", "/", "cookie", "a=1; sid=mine"));
        CHECK("ours is none", !foreign("one.org", "/", "authorization", "Bearer " ONE));
        CHECK("another cookie is none", !foreign("two.org", "/", "cookie", "a=1"));
        CHECK("an ordinary header is none", !foreign("one.org", "/", "accept", "text/html"));
        CHECK("elsewhere nothing is", !foreign("other.org", "/", "authorization", "Bearer x"));
        CHECK("an empty one is none", !foreign("one.org", "/", "authorization", ""));
}

static void test_write(void)
{
        struct asked r;
        struct head out;
        struct err err = {0};
        begin(&r, "two.org", "/p?a=1&key=" TWO "&access_token=mine&z=2");
        field(&r, "x-key", "ApiKey " TWO);
        field(&r, "cookie", "a=1; sid=" TWO "; b=2");
        field(&r, "authorization", "Bearer mine");
        field(&r, "accept", "*/*");
        find(&r);
        CHECK("three slots", r.uses.n == 3);
        CHECK("others are taken out",
              custody_slots_foreign(custody_of(&door), &r.host, 443, &r.head, &r.uses, true, NULL));
        for (size_t i = 0; i < r.uses.n; i++)
                if (r.uses.list[i].kind == CUSTODY_PLACE)
                        r.uses.list[i].placed = strdup(
                                r.uses.list[i].at == CUSTODY_FIELD ? "ApiKey V" : "v/ &alue=");
        CHECK("written", custody_slots_write(&r.head, &r.uses, &out, &err) == 0);
        const struct field *f = head_find(&out, "x-key");
        check_str("the header", f ? head_str(&out, f->value) : NULL, "ApiKey V");
        CHECK("is marked", f && f->is_secret && out.has_secrets && out.is_target_secret);
        f = head_find(&out, "cookie");
        check_str("the cookie", f ? head_str(&out, f->value) : NULL, "a=1; sid=v/ &alue=; b=2");
        CHECK("authorization is gone", !head_find(&out, "authorization"));
        f = head_find(&out, "accept");
        CHECK("others stay, unmarked", f && !f->is_secret);
        check_str("the query", head_str(&out, out.query), "a=1&key=v%2F%20%26alue%3D&z=2");
        check_str("the path", out.path.text, "/p");
        check_str("what came stays as it was", head_str(&r.head, r.head.query),
                  "a=1&key=" TWO "&access_token=mine&z=2");
        head_free(&out);
        end(&r);

        begin(&r, "three.org", "/bot" THREE "/getMe?x");
        find(&r);
        r.uses.list[0].placed = strdup("bot12:a/b");
        CHECK("a path is written", custody_slots_write(&r.head, &r.uses, &out, &err) == 0);
        check_str("encoded", out.path.text, "/bot12%3Aa%2Fb/getMe");
        check_str("with its query", head_str(&out, out.query), "x");
        head_free(&out);
        end(&r);

        begin(&r, "one.org", "/");
        field(&r, "authorization", "Bearer " ONE);
        find(&r);
        r.uses.list[0].placed = strdup("Bearer a\r\nx-evil: 1");
        CHECK("a value that would split the head is refused",
              custody_slots_write(&r.head, &r.uses, &out, &err) < 0);
        head_free(&out);
        end(&r);
}

static void test_inject(void)
{
        struct asked r;
        struct head out;
        const struct custody_place p = {
                .host = &r.host, .port = 443, .is_tls = true, .path = &r.head.path};
        begin(&r, "five.org", "/?a=1");
        custody_slots_inject(custody_of(&door), &p, &r.head, &r.uses);
        CHECK("two secrets with two slots", r.uses.n == 2);
        for (size_t i = 0; i < r.uses.n; i++)
                r.uses.list[i].placed = strdup(i ? "v&" : "Bearer v");
        CHECK("written", custody_slots_write(&r.head, &r.uses, &out, NULL) == 0);
        const struct field *f = head_find(&out, "authorization");
        check_str("the header", f ? head_str(&out, f->value) : NULL, "Bearer v");
        check_str("the query", head_str(&out, out.query), "a=1&k=v%26");
        head_free(&out);
        end(&r);
}

int main(void)
{
        grant(1, "secret ONE from env at one.org as bearer", ONE);
        grant(2, "secret TWO from env at two.org as header x-key,query key,cookie sid", TWO);
        grant(3, "secret THREE from env at three.org as path", THREE);
        grant(4, "secret FOUR from env at four.org as basic", ONE);
        grant(5, "secret FIVE from env at five.org as bearer inject", "fakePlaceholderFive5");
        grant(6, "secret SIX from env at five.org as query k inject", "fakePlaceholderSix06");
        grant(7, "secret SEVEN from env at five.org as basic inject", "fakePlaceholderSeven7");
        test_find();
        test_leak();
        test_foreign();
        test_write();
        test_inject();
        return check_end();
}
