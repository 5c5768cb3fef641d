/* policy_parse.c - a file of rules, whole or not at all. See policy.h. Pure: the caller has read
 * the file. */
#include "base/err.h"
#include "base/str.h"
#include "policy/policy.h"

#include <stdlib.h>
#include <string.h>

enum { TEXT_MAX = 1 << 20, LINES_MAX = 10000 };

/* What a file that came with a clone may not say, whoever trusted it. */
static const char *project_fault(const struct rule_line *l)
{
        if (l->kind == RULE_LINE_SECRET)
                return "a project's file may not hold a secret line";
        if (l->kind == RULE_LINE_BIND)
                return "a project's file may not hold a bind line";
        if (l->kind == RULE_LINE_RULE && l->rule.to.len)
                return "a project's file may not say to=";
        if (l->kind == RULE_LINE_RULE && l->rule.ca)
                return "a project's file may not say ca=";
        return NULL;
}

/* One line of text; an empty one adds nothing. */
static int add(struct policy_layer *layer, const char *text, size_t len, size_t line_no,
               size_t *column, struct err *err)
{
        struct rule_line l;
        *column = 1;
        int got = rule_line_parse(text, len, &l, column, err);
        if (got <= 0)
                return got;
        const char *fault = layer->rank == POLICY_PROJECT ? project_fault(&l) : NULL;
        if (fault) {
                rule_line_free(&l);
                return err_set(err, E_REFUSED, "%s", fault);
        }
        l.line_no = line_no;
        /* Room doubles: a list of ten thousand lines is not copied ten thousand times. */
        if ((layer->lines_n & (layer->lines_n - 1)) == 0) {
                size_t cap = layer->lines_n ? layer->lines_n * 2 : 1;
                struct rule_line *more = reallocarray(layer->lines, cap, sizeof *more);
                if (!more)
                        str_no_memory();
                layer->lines = more;
        }
        layer->lines[layer->lines_n++] = l;
        return 0;
}

int policy_layer_add(struct policy_layer *layer, const char *text, struct err *err)
{
        size_t column = 1;
        if (strchr(text, '\n'))
                return err_set(err, E_INPUT, "a rule is one line");
        if (layer->lines_n >= LINES_MAX)
                return err_set(err, E_INPUT, "%s has more than %d lines", layer->name, LINES_MAX);
        if (add(layer, text, strlen(text), 0, &column, err) < 0)
                return err_add(err, "%s, column %zu", layer->name, column);
        return 0;
}

int policy_layer_parse(enum policy_rank rank, const char *name, const char *text, size_t len,
                       struct policy_layer *layer, struct err *err)
{
        *layer = (struct policy_layer){.rank = rank, .name = str_dup(name)};
        size_t line_no = 0;
        if (len > TEXT_MAX) {
                policy_layer_free(layer);
                return err_set(err, E_INPUT, "%s is larger than %d KiB", name, TEXT_MAX >> 10);
        }
        for (size_t at = 0; at < len;) {
                const char *end = memchr(text + at, '\n', len - at);
                size_t n = end ? (size_t)(end - text) - at : len - at;
                size_t column = 1;
                line_no++;
                if (line_no > LINES_MAX)
                        err_set(err, E_INPUT, "there are more than %d lines", LINES_MAX);
                if (line_no > LINES_MAX || add(layer, text + at, n, line_no, &column, err) < 0) {
                        policy_layer_free(layer);
                        return err_add(err, "%s, line %zu, column %zu", name, line_no, column);
                }
                at += n + 1;
        }
        return 0;
}
