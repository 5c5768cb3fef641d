/* rule_fuzz.c - any text as a policy: an error has a place, what is accepted prints to what means
 * the same, doubt never opens, and a cure cures. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/path_canon.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_line(const char *text, size_t len)
{
        struct rule_line l, again;
        struct err err = {0};
        size_t column = 0;
        int got = rule_line_parse(text, len, &l, &column, &err);
        if (got < 0 && (column < 1 || column > len + 1 || !err.text[0]))
                abort();
        if (got <= 0)
                return;
        struct buf b = {0}, c = {0};
        rule_line_print(&l, &b);
        if (rule_line_parse(buf_cstr(&b), b.len, &again, &column, &err) != 1 ||
            !rule_line_equal(&l, &again))
                abort();
        rule_line_print(&again, &c);
        if (strcmp(buf_cstr(&b), buf_cstr(&c)) != 0)
                abort();
        /* What a grant may never be. */
        if (l.kind == RULE_LINE_RULE && rule_is_grant(l.rule.verdict) &&
            l.rule.place.host_kind == RULE_HOST_ANY)
                abort();
        rule_line_free(&l);
        rule_line_free(&again);
        buf_free(&b);
        buf_free(&c);
}

static void layer_with(struct policy *p, enum policy_rank rank, const char *line)
{
        struct policy_layer l = {.rank = rank, .name = str_dup("added")};
        struct err err = {0};
        if (policy_layer_add(&l, line, &err) < 0)
                abort();
        policy_put(p, &l);
}

/* Asking about the first line's own place makes verdicts other than the default likely. */
static void judge(struct policy *p, const char *path_text)
{
        static const char *const methods[] = {"GET", "POST", "FROB"};
        struct host_name host;
        struct path_canon path;
        if (path_canon_parse(path_text, strlen(path_text), &path, NULL) < 0)
                return;
        for (size_t i = 0; i < 9; i++) {
                if (host_name_parse("a.example.org", 13, &host, NULL) < 0)
                        abort();
                if (p->layers_n && p->layers[0].lines_n &&
                    p->layers[0].lines[0].kind == RULE_LINE_RULE &&
                    p->layers[0].lines[0].rule.place.host.len)
                        host = p->layers[0].lines[0].rule.place.host;
                struct request q = {.kind = (enum request_kind)(i / 3),
                                    .host = &host,
                                    .port = i % 2 ? 443 : 8080,
                                    .method = methods[i % 3],
                                    .path = &path,
                                    .body = i % 2 ? REQUEST_BODY_UNREAD : REQUEST_BODY_UNREADABLE};
                struct policy_decision d, after;
                policy_decide(p, &q, &d);
                char *words = policy_words(&d), *cure = policy_cure(&d, &q);
                if ((d.why == POLICY_BY_DEFAULT) != (d.line == NULL) || !*words)
                        abort();
                struct policy copy = {0};
                if (cure) {
                        layer_with(&copy, POLICY_RUN_TIME, cure);
                        policy_decide(&copy, &q, &after);
                        if (after.verdict == POLICY_DENY)
                                abort();
                }
                free(words);
                free(cure);
                layer_with(&copy, POLICY_SYSTEM, "deny! * *");
                policy_decide(&copy, &q, &after);
                if (after.verdict != POLICY_DENY)
                        abort();
                policy_free(&copy);
        }
        path_canon_free(&path);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;
        const char *end = size ? memchr(text, '\n', size) : NULL;
        one_line(text, end ? (size_t)(end - text) : size);

        struct err err = {0};
        struct policy p = {0};
        for (int rank = POLICY_RUN_TIME; rank <= POLICY_SYSTEM; rank++) {
                struct policy_layer l;
                if (policy_layer_parse((enum policy_rank)rank, "fuzz", text, size, &l, &err) < 0) {
                        if (l.lines || (size <= 1 << 20 && !strstr(err.text, "line ")))
                                abort();
                        continue;
                }
                for (size_t i = 0; rank == POLICY_PROJECT && i < l.lines_n; i++)
                        if (l.lines[i].kind == RULE_LINE_SECRET ||
                            l.lines[i].kind == RULE_LINE_BIND ||
                            (l.lines[i].kind == RULE_LINE_RULE &&
                             (l.lines[i].rule.to.len || l.lines[i].rule.ca)))
                                abort();
                policy_put(&p, &l);
        }
        judge(&p, "/a/b");
        judge(&p, "/a%2Fb//c;d%2525");
        policy_free(&p);
        return 0;
}
