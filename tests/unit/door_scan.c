/* door_scan.c - a value is found in every writing, at every split, by its fingers alone, and what
 * takes its place is the same writing of the placeholder, of the same length. What holds no value
 * passes as it is, and at once when it ends in a line end. */
#include "base/buf.h"
#include "egress/scan.h"
#include "unit/check.h"
#include "wire/door.h"

#include <stdlib.h>
#include <string.h>

static const uint8_t key[16] = "0123456789abcdef";
static const char value[] = "sk-fake-Zq9/x+R7=Ab>>?f\"GhI??l&MnOp";
static const char stand[] = "sk-fake-000/p+H0=Pl>>?h\"OlD??r&XyZw";

/* put_all(set, tag, v, s, put): every writing of ${v}, by scan_set_finger or scan_set_local. */
static void put_all(struct scan_set *set, uint32_t tag, const char *v, const char *s,
                    void (*put)(struct scan_set *, uint32_t, const struct door_finger *,
                                const char *, size_t))
{
        for (int c = 0; c < SECRET_CODINGS; c++) {
                struct buf b = {0};
                if (secret_form_put((enum secret_coding)c, v, strlen(v), &b)) {
                        bool fold = secret_form_ignores_case((enum secret_coding)c);
                        struct door_finger f = {
                                .coding = (uint8_t)c,
                                .len = (uint32_t)b.len,
                                .hint = secret_finger_hint(b.data + b.len - 8),
                                .tail = secret_siphash(key, b.data + b.len - 8, 8, true),
                                .whole = secret_siphash(key, b.data, b.len, fold)};
                        put(set, tag, &f, s, strlen(s));
                }
                buf_free(&b);
        }
}

static void put_fingers(struct scan_set *set, uint32_t tag, const char *v, const char *s)
{
        put_all(set, tag, v, s, scan_set_finger);
}

/* run(set, text, n, step, out): the stream in pieces of ${step}. */
static size_t run(const struct scan_set *set, const char *text, size_t n, size_t step,
                  struct buf *out)
{
        struct scan s = {0};
        size_t hits = 0;
        for (size_t at = 0; at < n; at += step)
                hits += scan_feed(&s, set, text + at, n - at < step ? n - at : step, false, out,
                                  NULL);
        hits += scan_feed(&s, set, "", 0, true, out, NULL);
        scan_free(&s);
        return hits;
}

/* each_split(set, name, text, n, want): the same comes out however it is cut. */
static void each_split(const struct scan_set *set, const char *name, const char *text, size_t n,
                       const char *want)
{
        bool is_good = true;
        struct buf got = {0};
        for (size_t step = 1; step <= n && is_good; step++) {
                buf_free(&got);
                size_t hits = run(set, text, n, step, &got);
                is_good = got.len == n && memcmp(got.data, want, n) == 0 && hits > 0;
        }
        for (size_t at = 0; at <= n && is_good; at++) {
                struct scan s = {0};
                buf_free(&got);
                scan_feed(&s, set, text, at, false, &got, NULL);
                scan_feed(&s, set, text + at, n - at, true, &got, NULL);
                is_good = got.len == n && memcmp(got.data, want, n) == 0;
                scan_free(&s);
        }
        check(is_good, name, "got \"%s\", wanted \"%s\"", buf_cstr(&got), want);
        buf_free(&got);
}

static const char *const names[SECRET_CODINGS] = {
        "raw",          "base64 0",    "base64 1", "base64 2", "base64url 0", "base64url 1",
        "base64url 2",  "hexadecimal", "base32 0", "base32 1", "base32 2",    "base32 3",
        "base32 4",     "percent",     "json",     "html",     "its head",    "its tail",
        "+ for blanks", "115,107",     "115, 107", "115 107",  "73:6b",       "73 6b"};

/* other_numbers(b, from): what takes the place of a list: as many digits, and nothing of it. */
static void other_numbers(struct buf *b, size_t from)
{
        for (size_t at = from, end; at < b->len; at = end + 1) {
                for (end = at; end < b->len && b->data[end] >= '0' && b->data[end] <= '9';)
                        end++;
                if (end > at)
                        memcpy(b->data + at, end - at == 3 ? "120" : "88", end - at);
        }
}

static void every_writing(const struct scan_set *set)
{
        for (int c = 0; c < SECRET_CODINGS; c++) {
                struct buf in = {0}, want = {0};
                buf_put_str(&in, "{\"it is\":\"");
                buf_put_str(&want, "{\"it is\":\"");
                bool is_there = secret_form_put((enum secret_coding)c, value, strlen(value), &in);
                size_t from = want.len;
                bool is_list = secret_form_is_list((enum secret_coding)c);
                secret_form_put((enum secret_coding)c, is_list ? value : stand, strlen(stand),
                                &want);
                if (is_list)
                        other_numbers(&want, from);
                buf_put_str(&in, "\", \"and\": 1}\n");
                buf_put_str(&want, "\", \"and\": 1}\n");
                if (is_there)
                        each_split(set, names[c], buf_cstr(&in), in.len, buf_cstr(&want));
                buf_free(&in);
                buf_free(&want);
        }
}

/* Escapes of some of its letters, and what the placeholder becomes behind the same ones. */
static void escapes(const struct scan_set *set)
{
        static const struct {
                const char *name, *every, *want; /* one letter; formats of one unsigned */
        } kinds[] = {
                {"each letter %XX", "%%%02x", "%%%02x"},
                {"each letter %25XX", "%%25%02x", "%%25%02x"},
                {"each letter \\u00XX", "\\u%04x", "\\u%04x"},
                {"each letter \\\\u00XX", "\\\\u%04x", "\\\\u%04x"},
                {"each letter \\xXX", "\\x%02x", "\\x%02x"},
                {"each letter &#N;", "&#%03u;", "&#%03u;"},
                {"each letter &#xN;", "&#x%02x;", "&#x%02x;"},
                {"each letter &amp;#N;", "&amp;#%03u;", "&amp;#%03u;"},
                {"each letter %5cu00XX", "%%5cu%04x", "%%5cu%04x"},
                {"each letter %26%23xXX;", "%%26%%23x%02x;", "%%26%%23x%02x;"},
                {"each letter &#37;XX", "&#37;%02x", "&#37;%02x"},
                {"each letter \\NNN", "\\%03o", "\\%03o"},
                {"each letter \\0NNN", "\\0%03o", "\\0%03o"},
                {"each letter \\\\NNN", "\\\\%03o", "\\\\%03o"},
                {"each letter \\u{XX}", "\\u{%02x}", "\\u{%02x}"},
                {"each letter \\u{00XX}", "\\u{%04x}", "\\u{%04x}"},
                {"each letter \\x{XX}", "\\x{%02x}", "\\x{%02x}"},
                {"each letter \\U000000XX", "\\U%08x", "\\U%08x"},
                {"each letter %u00XX", "%%u%04x", "%%u%04x"},
        };
        for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
                for (size_t every = 1; every <= 9; every += 4) {
                        struct buf in = {0}, want = {0};
                        buf_put_str(&in, "a 100% \\n & text ");
                        buf_put_str(&want, "a 100% \\n & text ");
                        for (size_t i = 0; value[i]; i++) {
                                bool is_escaped = i % every == 0 || strchr("\"&/", value[i]);
                                char a[32] = {value[i]}, b[32] = {stand[i]};
                                if (is_escaped) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
                                        snprintf(a, sizeof a, kinds[k].every,
                                                 (unsigned)(unsigned char)value[i]);
                                        snprintf(b, sizeof b, kinds[k].want,
                                                 (unsigned)(unsigned char)stand[i]);
#pragma GCC diagnostic pop
                                }
                                buf_put_str(&in, a);
                                buf_put_str(&want, b);
                        }
                        buf_put_str(&in, " and so on\n");
                        buf_put_str(&want, " and so on\n");
                        each_split(set, kinds[k].name, buf_cstr(&in), in.len, buf_cstr(&want));
                        buf_free(&in);
                        buf_free(&want);
                }
        }
}

/* base64 in lines, as mail, PEM and JSON have it: the end of a line is no end of a value. */
static void lines(const struct scan_set *set)
{
        static const char *const ends[] = {
                "\n",      "\r\n",           "\\n",       "\\r\\n",     "\n  ",
                "\\\\n",   "\\\\r\\\\n",     "\\\\\\\\n", "%0A",        "%0D%0A",
                "%0d%0a",  "%250A",          "&#10;",     "&#13;&#10;", "&#xA;",
                "\\u000a", "\\u000d\\u000a", "\\x0a",     "%5Cn",       "&amp;#10;"};
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
                for (size_t before = 0; before < 3; before++) {
                        struct buf in = {0}, want = {0}, a = {0}, b = {0};
                        enum secret_coding c = (enum secret_coding)(SECRET_BASE64_0 + before);
                        buf_put_str(&a, "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB");
                        buf_put_str(&b, "QUFBQUFBQUFBQUFBQUFBQUFBQUFBQUFB");
                        secret_form_put(c, value, strlen(value), &a);
                        secret_form_put(c, stand, strlen(stand), &b);
                        for (size_t i = 0; i < a.len; i++) {
                                if (i > 0 && i % 20 == 0) {
                                        buf_put_str(&in, ends[k]);
                                        buf_put_str(&want, ends[k]);
                                }
                                buf_put(&in, a.data + i, 1);
                                buf_put(&want, b.data + i, 1);
                        }
                        buf_put_str(&in, "==\" and so on\n");
                        buf_put_str(&want, "==\" and so on\n");
                        each_split(set, "base64 in lines", buf_cstr(&in), in.len, buf_cstr(&want));
                        buf_free(&in);
                        buf_free(&want);
                        buf_free(&a);
                        buf_free(&b);
                }
}

/* Quoted-printable breaks a line behind "=", whatever stands there. */
static void soft_lines(const struct scan_set *set)
{
        static const char *const ends[] = {"=\n", "=\r\n", "=\\n", "=\\r\\n"};
        for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
                for (size_t cut = 1; cut < strlen(value); cut += 5) {
                        struct buf in = {0}, want = {0};
                        buf_put_fmt(&in, "the key: %.*s%s%s\n", (int)cut, value, ends[k],
                                    value + cut);
                        buf_put_fmt(&want, "the key: %.*s%s%s\n", (int)cut, stand, ends[k],
                                    stand + cut);
                        each_split(set, "a soft end of a line", buf_cstr(&in), in.len,
                                   buf_cstr(&want));
                        buf_free(&in);
                        buf_free(&want);
                }
}

/* Forms write a blank as +. */
static void blanks(void)
{
        static const char with[] = "four words & twelve 12";
        struct scan_set *set = scan_set_new((const uint8_t *)"0123456789abcdef");
        scan_set_text(set, 3, with, strlen(with));
        static const char form[] = "a=1&b=four+words+%26+twelve+12&c";
        CHECK("blanks as +", scan_look(set, form, strlen(form), NULL));
        scan_set_free(set);
}

/* Every text that is found is told, not the first alone. */
static void tells_all(void)
{
        struct scan_set *set = scan_set_new((const uint8_t *)"0123456789abcdef");
        scan_set_text(set, 3, "fake-first-text-of-many", 23);
        scan_set_text(set, 5, "fake-other-text-of-many", 23);
        scan_set_text(set, 6, "fake-third-text-of-many", 23);
        static const char text[] = "x fake-other-text-of-many y fake-first-text-of-many and "
                                   "fake-other-text-of-many\n";
        struct scan_hit hit;
        CHECK("several are found", scan_look(set, text, strlen(text), &hit));
        CHECK("the first, and each of the others once",
              hit.tag == 5 && hit.at == 2 && hit.others_n == 1 && hit.others[0] == 3);
        scan_set_free(set);
}

static void nothing_held(const struct scan_set *set)
{
        static const char event[] = "event: x\ndata: {\"text\":\"sk-fake\"}\n\n";
        static const char half[] = "data: sk-fake-Z";
        struct scan s = {0};
        struct buf out = {0};
        scan_feed(&s, set, event, strlen(event), false, &out, NULL);
        check_str("an event passes at once", buf_cstr(&out), event);
        out.len = 0;
        scan_feed(&s, set, half, strlen(half), false, &out, NULL);
        CHECK("what may be a value's beginning is held", out.len == 0);
        scan_feed(&s, set, "!\n", 2, false, &out, NULL);
        check_str("and passes when it is not one", buf_cstr(&out), "data: sk-fake-Z!\n");
        out.len = 0;
        scan_feed(&s, set, "100%", 4, false, &out, NULL);
        scan_feed(&s, set, "", 0, true, &out, NULL);
        check_str("the end of the stream lets everything go", buf_cstr(&out), "100%");
        scan_free(&s);
        buf_free(&out);
}

/* Letters at the end of what came are let go after a moment; the rest is still found. */
static void let_go(const struct scan_set *set)
{
        bool is_good = true;
        for (size_t at = 1; at <= 12; at++) {
                struct scan s = {0};
                struct buf out = {0};
                char want[128];
                buf_put_str(&out, "");
                scan_feed(&s, set, value, at, false, &out, NULL);
                bool is_all = at > 3;
                is_good &= out.len == 0 && scan_may_release(&s, true) &&
                           scan_may_release(&s, false) == !is_all;
                scan_release(&s, set, is_all, &out);
                is_good &= out.len == at && !scan_may_release(&s, true);
                size_t hits = scan_feed(&s, set, value + at, strlen(value) - at, true, &out, NULL);
                snprintf(want, sizeof want, "%.*s%s", (int)at, value, stand + at);
                is_good &= hits > 0 && strcmp(buf_cstr(&out), want) == 0;
                scan_free(&s);
                buf_free(&out);
        }
        CHECK("letters may be let go, and the rest is found", is_good);
        struct scan w = {0};
        struct buf whole = {0};
        scan_feed(&w, set, value, strlen(value), false, &whole, NULL);
        scan_release(&w, set, true, &whole);
        check_str("a value that is whole is never let go", buf_cstr(&whole), stand);
        scan_free(&w);
        buf_free(&whole);
        struct scan s = {0};
        struct buf out = {0};
        scan_feed(&s, set, value, 9, false, &out, NULL);
        CHECK("more than a few are not", out.len == 0 && !scan_may_release(&s, false));
        scan_free(&s);
        buf_free(&out);
}

/* One text inside another, and two that overlap: nothing of either passes. */
static void overlaps(void)
{
        struct scan_set *set = scan_set_new(key);
        put_fingers(set, 1, "ABCDEFGHIJKLMNOP", "0000000000000000");
        put_fingers(set, 2, "EFGHIJKL", "11111111");
        put_fingers(set, 3, "KLMNOPQRSTUV", "222222222222");
        static const char text[] = ".ABCDEFGHIJKLMNOPQRSTUV.";
        for (size_t step = 1; step < sizeof text; step++) {
                struct buf out = {0};
                run(set, text, strlen(text), step, &out);
                if (step == 1 || step == 7 || step == sizeof text - 1)
                        check_str("values that overlap", buf_cstr(&out),
                                  ".0000000000000000222222.");
                buf_free(&out);
        }
        scan_set_free(set);
}

static void texts(void)
{
        struct scan_set *set = scan_set_new(key);
        CHECK("an empty set", scan_set_is_empty(set));
        scan_set_text(set, 7, stand, strlen(stand));
        struct scan_hit hit = {0};
        char text[256];
        snprintf(text, sizeof text, "x=%s&y", stand);
        CHECK("a text is found", scan_look(set, text, strlen(text), &hit));
        CHECK("by its tag and place", hit.tag == 7 && hit.at == 2 && hit.len == strlen(stand));
        struct buf out = {0};
        CHECK("and stays",
              run(set, text, strlen(text), 3, &out) > 0 && strcmp(buf_cstr(&out), text) == 0);
        for (char *c = text; *c; c++)
                *c = (char)(*c >= 'a' && *c <= 'z' ? *c - 32 : *c);
        CHECK("in large letters too", scan_look(set, text, strlen(text), NULL));
        text[5]++;
        CHECK("cut at its beginning it is known by its end",
              scan_look(set, text, strlen(text), &hit) && hit.coding == SECRET_TAIL);
        text[strlen(text) - 6]++;
        CHECK("another text is not", !scan_look(set, text, strlen(text), NULL));
        buf_free(&out);
        scan_set_free(set);
}

/* Letters of two bytes, of either order, at each split. */
static void wide(const struct scan_set *set)
{
        for (int order = 0; order < 2; order++) {
                static const char before[] = "\"note\": \"", after[] = "\", 1}\n";
                struct buf in = {0}, want = {0};
                const char *const parts[] = {before, value, after}, *const to[] = {before, stand,
                                                                                   after};
                for (size_t k = 0; k < 3; k++)
                        for (size_t i = 0; i < strlen(parts[k]); i++) {
                                buf_put(&in, order ? "\0" : parts[k] + i, 1);
                                buf_put(&in, order ? parts[k] + i : "\0", 1);
                                buf_put(&want, order ? "\0" : to[k] + i, 1);
                                buf_put(&want, order ? to[k] + i : "\0", 1);
                        }
                bool is_good = true;
                for (size_t step = 1; step <= in.len && is_good; step++) {
                        struct buf got = {0};
                        size_t hits = run(set, (const char *)in.data, in.len, step, &got);
                        is_good = hits > 0 && got.len == want.len &&
                                  memcmp(got.data, want.data, want.len) == 0;
                        check(is_good || step == 0, "UTF-16", "order %d, step %zu", order, step);
                        buf_free(&got);
                }
                buf_free(&in);
                buf_free(&want);
        }
}

/* UTF-32 of either order. */
static void wider(const struct scan_set *set)
{
        for (int order = 0; order < 2; order++) {
                struct buf in = {0}, want = {0};
                buf_put(&in, "\1\2\0\3", 4);
                buf_put(&want, "\1\2\0\3", 4);
                for (size_t i = 0; value[i]; i++) {
                        buf_put(&in, "\0\0", order ? 3 : 0);
                        buf_put(&in, value + i, 1);
                        buf_put(&in, "\0\0", order ? 0 : 3);
                        buf_put(&want, "\0\0", order ? 3 : 0);
                        buf_put(&want, stand + i, 1);
                        buf_put(&want, "\0\0", order ? 0 : 3);
                }
                buf_put(&in, "\1\2\0\3", 4);
                buf_put(&want, "\1\2\0\3", 4);
                bool is_good = true;
                for (size_t step = 1; step <= in.len && is_good; step++) {
                        struct buf got = {0};
                        size_t hits = run(set, (const char *)in.data, in.len, step, &got);
                        is_good = hits > 0 && got.len == want.len &&
                                  memcmp(got.data, want.data, want.len) == 0;
                        check(is_good, "UTF-32", "order %d, step %zu", order, step);
                        buf_free(&got);
                }
                buf_free(&in);
                buf_free(&want);
        }
}

/* What is held back does not depend on what it is: a right guess of any length, in any writing,
 * looks like a wrong one. */
static void no_oracle(const struct scan_set *set)
{
        static const char *const tails[] = {"", "data: ", "{\"a\":\"", "x&#48;", "100% ", "a\n"};
        static const enum secret_coding codings[] = {SECRET_RAW, SECRET_BASE64_0, SECRET_HEX};
        size_t bad = 0;
        for (size_t n = 1; n <= 24; n++)
                for (size_t k = 0; k < 3 * sizeof tails / sizeof *tails; k++) {
                        struct buf right = {0}, wrong = {0}, a = {0}, b = {0};
                        struct scan s = {0}, t = {0};
                        buf_put_str(&right, tails[k / 3]);
                        size_t at = right.len;
                        secret_form_put(codings[k % 3], value, strlen(value), &right);
                        right.len = at + n;
                        buf_put(&wrong, right.data, right.len);
                        /* Another letter of the same alphabet, at the end or at the beginning. */
                        wrong.data[n % 2 ? at : right.len - 1] =
                                wrong.data[n % 2 ? at : right.len - 1] == '7' ? '6' : '7';
                        scan_feed(&s, set, right.data, right.len, false, &a, NULL);
                        scan_feed(&t, set, wrong.data, wrong.len, false, &b, NULL);
                        bad += a.len != b.len;
                        for (int is_all = 0; is_all < 2; is_all++) {
                                bad += scan_may_release(&s, is_all) != scan_may_release(&t, is_all);
                                scan_release(&s, set, is_all, &a);
                                scan_release(&t, set, is_all, &b);
                                bad += a.len != b.len;
                        }
                        scan_feed(&s, set, "~~", 2, false, &a, NULL);
                        scan_feed(&t, set, "~~", 2, false, &b, NULL);
                        bad += a.len != b.len;
                        scan_free(&s);
                        scan_free(&t);
                        buf_free(&right);
                        buf_free(&wrong);
                        buf_free(&a);
                        buf_free(&b);
                }
        check(bad == 0, "a right guess of 1 to 24 letters looks like a wrong one", "%zu do not",
              bad);
}

static void nested(void)
{
        struct scan_set *set = scan_set_new(key);
        scan_set_text(set, 7, stand, strlen(stand));
        for (int inner = SECRET_BASE64_0; inner <= SECRET_HEX; inner++)
                for (int c = SECRET_BASE64_0; c <= SECRET_HEX; c++) {
                        struct buf one = {0}, two = {0};
                        bool is_one = secret_form_is_nested((enum secret_coding)inner,
                                                            (enum secret_coding)c) &&
                                      secret_form_put((enum secret_coding)inner, stand,
                                                      strlen(stand), &one) &&
                                      secret_form_put((enum secret_coding)c, (const char *)one.data,
                                                      one.len, &two);
                        if (is_one)
                                CHECK("one kind inside another",
                                      scan_look(set, two.data, two.len, NULL));
                        buf_free(&one);
                        buf_free(&two);
                }
        scan_set_free(set);
}

/* A set that grows in the middle of a stream, and one value that is told twice. */
static void grows(void)
{
        struct scan_set *set = scan_set_new(key);
        struct scan s = {0};
        struct buf out = {0};
        put_fingers(set, 1, "ABCDEFGHIJKLMNOP", "0000000000000000");
        put_fingers(set, 1, "ABCDEFGHIJKLMNOP", "0000000000000000");
        scan_feed(&s, set, "xxABCDEF", 8, false, &out, NULL);
        put_fingers(set, 2, value, stand);
        scan_feed(&s, set, "GHIJKLMNOP ", 11, false, &out, NULL);
        scan_feed(&s, set, value, strlen(value), true, &out, NULL);
        char want[128];
        snprintf(want, sizeof want, "xx0000000000000000 %s", stand);
        check_str("a set that grows", buf_cstr(&out), want);
        scan_free(&s);
        buf_free(&out);
        scan_set_free(set);
}

/* each(out, v, before, how, after): every letter by itself: as it is ('c'), as a decimal number
 * ('d'), in hexadecimal digits ('x'). */
static void each(struct buf *out, const char *v, const char *before, char how, const char *after)
{
        for (; *v; v++) {
                buf_put_str(out, before);
                if (how == 'c')
                        buf_put_u8(out, (uint8_t)*v);
                else if (how == 'd')
                        buf_put_fmt(out, "%d", *v);
                else
                        buf_put_fmt(out, "%02X", (unsigned)*v);
                buf_put_str(out, after);
        }
}

static void put_base64(struct buf *out, const struct buf *from)
{
        secret_form_put(SECRET_BASE64_0, (const char *)from->data, from->len, out);
}

/* joined(out, from, n, by): broken after every ${n} letters. */
static void joined(struct buf *out, const struct buf *from, size_t n, const char *by)
{
        for (size_t at = 0; at < from->len; at += n) {
                buf_put_str(out, at ? by : "");
                buf_put(out, from->data + at, from->len - at < n ? from->len - at : n);
        }
}

static void put_base32hex(struct buf *out, const char *v)
{
        unsigned bits = 0, have = 0;
        for (; *v; v++) {
                bits = bits << 8 | (uint8_t)*v;
                for (have += 8; have >= 5; have -= 5)
                        buf_put_u8(out,
                                   (uint8_t) "0123456789ABCDEFGHIJKLMNOPQRSTUV"[bits >> (have - 5) &
                                                                                31]);
                bits &= 0xff;
        }
}

/* Writings that docs/scrubbing.md names as not found. When one is found, the page changes. */
static void not_found(void)
{
        static const char v[] = "fake-Listed-Value-Of-40-Characters-00001";
        struct buf plain = {0}, base64 = {0}, escaped = {0}, lines = {0}, all[12] = {{0}};
        struct scan_set *set = scan_set_new(key);
        put_fingers(set, 1, v, "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx");
        buf_put_str(&plain, v);
        put_base64(&base64, &plain);
        each(&escaped, v, "%", 'x', "");
        joined(&lines, &base64, 16, "\n");
        each(&all[0], v, "=", 'x', "");
        each(&all[1], v, "\\", 'x', " ");
        each(&all[2], v, "\"", 'c', "\", ");
        each(&all[3], v, "0x", 'x', ", ");
        each(&all[4], v, "", 'd', "\n");
        put_base32hex(&all[5], v);
        put_base64(&all[6], &escaped);
        put_base64(&all[7], &lines);
        joined(&all[8], &base64, 4, " ");
        joined(&all[9], &base64, 20, " ");
        static const char *const names[] = {
                "quoted-printable",        "escapes of CSS",
                "a list of letters",       "a list of hexadecimal numbers",
                "one number in a line",    "base32hex",
                "base64 of escaped text",  "base64 of base64 in lines",
                "base64 joined by blanks", "long pieces of base64 joined by blanks"};
        CHECK("control: as it is", scan_look(set, v, strlen(v), NULL));
        CHECK("control: base64 in lines", scan_look(set, lines.data, lines.len, NULL));
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                check(!scan_look(set, all[i].data, all[i].len, NULL), names[i],
                      "is found, and docs/scrubbing.md says that it is not");
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                buf_free(&all[i]);
        buf_free(&plain);
        buf_free(&base64);
        buf_free(&escaped);
        buf_free(&lines);
        scan_set_free(set);
}

static bool is_tag(const void *ctx, uint32_t tag)
{
        return tag == *(const uint32_t *)ctx;
}

/* seen(set, text): what comes out. */
static const char *seen(const struct scan_set *set, const char *text)
{
        static char last[256];
        struct buf out = {0};
        run(set, text, strlen(text), 7, &out);
        snprintf(last, sizeof last, "%s", buf_cstr(&out));
        buf_free(&out);
        return last;
}

/* What is local is found through the lens of its place, in every writing, and nowhere else. */
static void local(void)
{
        static const uint32_t here = 4, there = 5;
        static const char sum[] = "3da541559918a808c2402bba5012f6c60b27661c";
        static const char by[] = "0000000000000000000000000000000000000000";
        struct scan_set *set = scan_set_new(key);
        struct scan_set *at = scan_set_lens(set, is_tag, &here);
        struct scan_set *else_ = scan_set_lens(set, is_tag, &there);
        put_all(set, here, sum, by, scan_set_local);
        check_str("what is local is replaced at its place", seen(at, sum), by);
        check_str("and not elsewhere", seen(else_, sum), sum);
        check_str("nor where nobody says where it is", seen(set, sum), sum);
        for (int c = 0; c < SECRET_CODINGS; c++) {
                struct buf b = {0};
                if (secret_form_put((enum secret_coding)c, sum, strlen(sum), &b)) {
                        CHECK("a writing at its place", scan_look(at, b.data, b.len, NULL));
                        CHECK("a writing elsewhere", !scan_look(else_, b.data, b.len, NULL));
                }
                buf_free(&b);
        }
        CHECK("with escapes at its place",
              scan_look(at, "%33da541559918a808c2402bba5012f6c60b27661c", 42, NULL));
        CHECK("with escapes elsewhere",
              !scan_look(else_, "%33da541559918a808c2402bba5012f6c60b27661c", 42, NULL));
        put_fingers(set, 1, value, stand);
        check_str("others are found there", seen(at, value), stand);
        check_str("and elsewhere", seen(else_, value), stand);
        put_fingers(set, 6, sum, "1111111111111111111111111111111111111111");
        CHECK("the same text, when it is certain, is found elsewhere",
              strcmp(seen(else_, sum), sum) != 0);
        CHECK("and everywhere", strcmp(seen(set, sum), sum) != 0);
        scan_set_free(at);
        scan_set_free(else_);
        scan_set_free(set);
}

int main(void)
{
        struct scan_set *set = scan_set_new(key);
        put_fingers(set, 1, value, stand);
        every_writing(set);
        escapes(set);
        lines(set);
        soft_lines(set);
        wider(set);
        blanks();
        tells_all();
        nothing_held(set);
        let_go(set);
        wide(set);
        no_oracle(set);
        nested();
        scan_set_free(set);
        overlaps();
        texts();
        grows();
        local();
        not_found();
        return check_end();
}
