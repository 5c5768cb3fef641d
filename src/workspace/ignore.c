/* ignore.c - see ignore.h: lines become rules, and the last rule that fits decides. Called by the
 * walk, for ignore files of the host alone: a box must not hide its changes by editing one. */
#include "workspace/ignore_int.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <string.h>

enum { RULES_MAX = 65536 };

static bool is_special(char c)
{
        return c == '*' || c == '?' || c == '[' || c == '\\';
}

/* trimmed(line, len): without blanks at the end, unless one is escaped. */
static size_t trimmed(const char *line, size_t len)
{
        size_t end = 0;
        for (size_t i = 0; i < len; i++) {
                if (line[i] == '\\') {
                        if (++i >= len)
                                return len;
                        end = i + 1;
                } else if (line[i] != ' ') {
                        end = i + 1;
                }
        }
        return end;
}

static void rule_free(struct ignore_rule *r)
{
        free(r->head);
        free(r->steps);
        free(r->sets);
}

static void add(struct ignore *ig, const char *line, size_t len)
{
        struct ignore_rule r = {0};
        if (len && *line == '!') {
                r.is_negated = true;
                line++;
                len--;
        }
        if (len && line[len - 1] == '/') {
                r.is_dir_only = true;
                len--;
        }
        r.is_name_only = !memchr(line, '/', len);
        if (len == 0 || ig->n >= RULES_MAX)
                return;
        if (*line == '/') {
                line++;
                len--;
        }
        while (r.head_len < len && !is_special(line[r.head_len]))
                r.head_len++;
        r.head = strndup(line, r.head_len);
        if (!r.head)
                str_no_memory();
        if (!ignore_compile(&r, line + r.head_len, len - r.head_len)) {
                rule_free(&r);
                return;
        }
        if ((ig->n & (ig->n - 1)) == 0) {
                struct ignore_rule *more =
                        reallocarray(ig->rules, ig->n ? ig->n * 2 : 1, sizeof *more);
                if (!more)
                        str_no_memory();
                ig->rules = more;
        }
        ig->rules[ig->n++] = r;
}

struct ignore *ignore_parse(const char *text, size_t len)
{
        struct ignore *ig = calloc(1, sizeof *ig);
        if (!ig)
                str_no_memory();
        if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
                text += 3;
                len -= 3;
        }
        while (len > 0) {
                const char *end = memchr(text, '\n', len);
                size_t whole = end ? (size_t)(end - text) : len;
                size_t n = whole;
                if (n && text[n - 1] == '\r')
                        n--;
                const char *nul = memchr(text, 0, n);
                if (nul)
                        n = (size_t)(nul - text);
                if (n && *text != '#')
                        add(ig, text, trimmed(text, n));
                text += whole + (end != NULL);
                len -= whole + (end != NULL);
        }
        if (ig->n)
                return ig;
        ignore_free(ig);
        return NULL;
}

void ignore_free(struct ignore *ig)
{
        if (!ig)
                return;
        for (size_t i = 0; i < ig->n; i++)
                rule_free(&ig->rules[i]);
        free(ig->rules);
        free(ig);
}
