/* scrub_head.c - see scrub.h: the fields of heads, in both directions. Called for every head of an
 * answer, interim ones and trailers too, and for requests whose answer will be scrubbed. */
#include "egress/scrub_int.h"

#include "base/str.h"
#include "egress/undo.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

int scrub_head(const struct scan_set *values, struct head *h, const char **why)
{
        for (size_t i = 0; i < h->fields_n; i++) {
                struct field *f = &h->fields[i];
                if (!scan_is_clean(values, head_str(h, f->name), f->name_len) &&
                    scan_look(values, head_str(h, f->name), f->name_len, NULL)) {
                        *why = "the origin sends a secret as the name of a field";
                        return -1;
                }
                if (scan_is_clean(values, head_str(h, f->value), f->value_len))
                        continue;
                struct scan s = {0};
                struct buf out = {0};
                size_t hits = scan_feed(&s, values, head_str(h, f->value), f->value_len, true, &out,
                                        NULL);
                if (hits > 0 && !out.is_broken && out.len == f->value_len)
                        memcpy(h->store.data + f->value, out.data, out.len);
                bool is_bad = hits > 0 && (out.is_broken || out.len != f->value_len ||
                                           !head_is_value((const char *)out.data, out.len));
                if (out.data)
                        explicit_bzero(out.data, out.cap);
                buf_free(&out);
                scan_free(&s);
                if (is_bad) {
                        *why = "the origin sends a secret in a field where nothing can take its "
                               "place";
                        return -1;
                }
        }
        return 0;
}

/* narrow(h): of the codings that the client accepts, those that we can undo. */
static void narrow(struct head *h)
{
        bool is_narrower = false, is_first = true;
        _cleanup_buf_ struct buf out = {0};
        for (size_t i = 0; i < h->fields_n; i++) {
                const struct field *f = &h->fields[i];
                if (strcmp(head_str(h, f->name), "accept-encoding") != 0)
                        continue;
                for (const char *c = head_str(h, f->value); *c;) {
                        c += strspn(c, " \t,");
                        size_t all = strcspn(c, ","), len = strcspn(c, ",; \t");
                        if (len == 0) {
                                c += all;
                                continue;
                        }
                        if (undo_knows(c, len)) {
                                buf_put_str(&out, is_first ? "" : ", ");
                                buf_put(&out, c, all);
                                is_first = false;
                        } else {
                                is_narrower = true;
                        }
                        c += all;
                }
        }
        if (!is_narrower)
                return;
        head_drop(h, "accept-encoding");
        const char *text = out.len ? buf_cstr(&out) : "identity";
        head_add(h, "accept-encoding", 15, text, strlen(text), NULL);
}

/* Alphabets in which an ASCII letter is itself: the beginnings of their names. */
static const char *const alphabets[] = {
        "utf-8",       "utf8",  "us-ascii",    "ascii",       "iso-8859-", "iso8859",   "latin",
        "windows-125", "cp125", "windows-874", "windows-31j", "koi8",      "shift_jis", "sjis",
        "gb",          "big5",  "euc-",        "tis-620",     "macintosh", "binary",
};

/* is_ascii(type): no charset, or one of those, at each place where one is named. */
static bool is_ascii(const char *type)
{
        for (const char *c = type; (c = strcasestr(c, "charset"));) {
                bool is_known = false;
                c += strlen("charset");
                c += strspn(c, " \t=\"'");
                for (size_t i = 0; i < sizeof alphabets / sizeof *alphabets; i++)
                        is_known |= strncasecmp(c, alphabets[i], strlen(alphabets[i])) == 0;
                if (!is_known && *c)
                        return false;
        }
        return true;
}

bool scrub_is_ascii(const struct head *h)
{
        for (size_t i = 0; i < h->fields_n; i++)
                if (strcmp(head_str(h, h->fields[i].name), "content-type") == 0 &&
                    !is_ascii(head_str(h, h->fields[i].value)))
                        return false;
        return true;
}

bool scrub_is_shown(struct door *d, const struct host_name *host, uint16_t port)
{
        const unsigned signs = 1u << RULE_AS_SIGV4 | 1u << RULE_AS_HMAC | 1u << RULE_AS_SSH;
        const struct custody_secret *s = NULL;
        while ((s = custody_managed(custody_of(d), host, port, NULL, s)))
                for (size_t i = 0; i < s->line.secret->forms_n; i++)
                        if (!(signs >> s->line.secret->forms[i].form & 1))
                                return true;
        return false;
}

void scrub_request(struct door *d, const struct host_name *host, uint16_t port, struct head *h)
{
        if (!scrub_values(d))
                return;
        if (!host || scrub_is_shown(d, host, port)) {
                /* The whole answer is always right, and a value in it is whole. */
                static const char *const drop[] = {"range", "if-range", "request-range",
                                                   "accept-charset"};
                for (size_t i = 0; i < sizeof drop / sizeof *drop; i++)
                        head_drop(h, drop[i]);
        } else if (head_find(h, "range") && head_find(h, "accept-encoding")) {
                head_drop(h, "accept-encoding");
                head_add(h, "accept-encoding", 15, "identity", 8, NULL);
        }
        narrow(h);
        if (h->is_grpc)
                head_drop(h, "grpc-accept-encoding");
}
