/* scrub_head.c - see scrub.h: the fields of heads, in both directions. Called for every head of an
 * answer, interim ones and trailers too, and for requests whose answer will be scrubbed. */
#include "egress/scrub.h"

#include "base/str.h"
#include "egress/custody.h"
#include "egress/scan.h"
#include "egress/undo.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { RANGE_MIN = 64 }; /* less than this is a way to read a value letter by letter */

int scrub_head(const struct scan_set *values, struct head *h, const char **why)
{
        for (size_t i = 0; i < h->fields_n; i++) {
                struct field *f = &h->fields[i];
                if (scan_look_small(values, head_str(h, f->name), f->name_len)) {
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

/* is_fine(range, least): one range of that size at least: "bytes=N-M", "bytes=N-", "bytes=-N". */
static bool is_fine(const char *range, size_t least)
{
        char *end;
        if (strncasecmp(range, "bytes=", 6) != 0 || strchr(range, ','))
                return false;
        range += 6;
        range += strspn(range, " \t");
        bool is_suffix = *range == '-';
        unsigned long long a = 0, b;
        if (!is_suffix) {
                a = strtoull(range, &end, 10);
                if (end == range || *end != '-')
                        return false;
                range = end;
                if (range[1] == '\0')
                        return true;
        }
        b = strtoull(range + 1, &end, 10);
        return *end == '\0' && b >= a && b - a + !is_suffix >= least;
}

void scrub_request(struct door *d, const struct host_name *host, uint16_t port, struct head *h)
{
        if (!scrub_values(d))
                return;
        const struct field *range = head_find(h, "range");
        bool is_managed = !host || custody_managed(custody_of(d), host, port, NULL, NULL);
        size_t least = is_managed ? RANGE_MIN : 1;
        if (range && (head_count(h, "range") > 1 || !is_fine(head_str(h, range->value), least))) {
                /* The whole answer is always right, and a value in it is whole. */
                head_drop(h, "range");
                head_drop(h, "if-range");
                range = NULL;
        }
        if (range && head_find(h, "accept-encoding")) {
                head_drop(h, "accept-encoding");
                head_add(h, "accept-encoding", 15, "identity", 8, NULL);
        }
        narrow(h);
        if (h->is_grpc)
                head_drop(h, "grpc-accept-encoding");
}
