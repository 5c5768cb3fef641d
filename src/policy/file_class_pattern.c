/* file_class_pattern.c - see file_class_pattern.h. Called for every row that may hold for a component:
 * what comes first here is a cheap no. */
#include "policy/file_class_pattern.h"

#include "policy/file_class_fold.h"

#include <ctype.h>
#include <string.h>

enum { PATTERN_MAX = 255 };

bool file_pattern_cut(const char *text, struct file_pattern *p)
{
        p->is_cased = *text == '=';
        text += p->is_cased;
        p->is_anchored = *text == '/';
        text += p->is_anchored;
        p->n = p->stars_n = p->stars_at = 0;
        for (;;) {
                size_t n = strcspn(text, "/");
                if (n == 0 || n > PATTERN_MAX || p->n == PATTERN_PARTS_MAX)
                        return false;
                p->part[p->n] = text;
                p->len[p->n] = (unsigned char)n;
                p->is_stars[p->n] = n == 2 && memcmp(text, "**", 2) == 0;
                if (p->is_stars[p->n]) {
                        p->stars_n++;
                        p->stars_at = p->n;
                }
                p->n++;
                text += n;
                p->is_dir = text[0] == '/' && text[1] == '\0';
                if (*text == '\0' || p->is_dir)
                        return true;
                text++;
        }
}

/* Do the parts from ${i} on fit the path from ${at} on? Of a directory, what follows is free. The
 * depth of calls is that of the pattern's parts; ** is bounded when a pattern is accepted. */
static bool fits(const struct file_pattern *p, size_t i, char *const *v, size_t n, size_t at,
                 bool with_case)
{
        if (i == p->n)
                return p->is_dir || at == n;
        if (p->is_stars[i]) {
                for (size_t k = at; k <= n; k++)
                        if (fits(p, i + 1, v, n, k, with_case))
                                return true;
                return false;
        }
        if (at == n)
                return false;
        bool is_it = with_case ? file_part_is_exactly(p->part[i], p->len[i], v[at])
                               : file_part_is(p->part[i], p->len[i], v[at]);
        return is_it && fits(p, i + 1, v, n, at + 1, with_case);
}

/* run(p, from, to, v): do the parts from ${from} to ${to} fit the components from ${v} on, one by one? */
static bool run(const struct file_pattern *p, size_t from, size_t to, char *const *v,
                bool with_case)
{
        for (size_t i = from; i < to; i++, v++)
                if (!(with_case ? file_part_is_exactly(p->part[i], p->len[i], *v)
                                : file_part_is(p->part[i], p->len[i], *v)))
                        return false;
        return true;
}

/* ends(p, v, n): see file_pattern_ends, of one of the two spellings. */
static bool ends(const struct file_pattern *p, char *const *v, size_t n, bool with_case)
{
        if (p->stars_n == 0)
                return n >= p->n && (!p->is_anchored || n == p->n) &&
                       run(p, 0, p->n, v + n - p->n, with_case);
        size_t before = p->stars_at, after = (size_t)p->n - before - 1;
        if (p->stars_n > 1) {
                for (size_t at = 0; at < n; at++)
                        if (fits(p, 0, v, n, at, with_case))
                                return true;
                        else if (p->is_anchored)
                                return false;
                return false;
        }
        if (n < before + after || !run(p, before + 1, p->n, v + n - after, with_case))
                return false;
        if (p->is_anchored || before == 0)
                return run(p, 0, before, v, with_case);
        for (size_t at = 0; at + before + after <= n; at++)
                if (run(p, 0, before, v + at, with_case))
                        return true;
        return false;
}

/* may_end(p, name, folded): by the last part's first and last byte. Never no where ends() would say
 * yes. */
static bool may_end(const struct file_pattern *p, const char *raw, const char *folded)
{
        const char *part = p->part[p->n - 1];
        size_t len = strlen(folded), raw_len = strlen(raw);
        int c = tolower((unsigned char)*part);
        if (strchr(folded, '~') || strchr(raw, '~'))
                return true;
        if (c != '*' && c != '?' && c != *folded && c != tolower((unsigned char)*raw))
                return false;
        c = tolower((unsigned char)part[p->len[p->n - 1] - 1]);
        return c == '*' || c == '?' || (len > 0 && c == folded[len - 1]) ||
               (raw_len > 0 && c == tolower((unsigned char)raw[raw_len - 1]));
}

bool file_pattern_ends(const struct file_pattern *p, char *const *raw, char *const *folded,
                       size_t n, bool *is_odd)
{
        if (n == 0 || !may_end(p, raw[n - 1], folded[n - 1]))
                return false;
        bool is_exact = ends(p, raw, n, true);
        if (!is_exact && (p->is_cased || !ends(p, folded, n, false)))
                return false;
        *is_odd = !is_exact;
        return true;
}

const char *file_pattern_wrong(const char *s)
{
        size_t len = strlen(s);
        struct file_pattern p;
        size_t stars = 0;
        if (len == 0)
                return "has no pattern";
        if (len > PATTERN_MAX)
                return "has a pattern of more than 256 bytes";
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f || s[i] == '\\')
                        return "has a control byte or a backslash in its pattern";
        if (!file_pattern_cut(s, &p))
                return "has a pattern with an empty component, or with more than 16";
        for (size_t i = 0; i < p.n; i++) {
                stars += p.is_stars[i];
                if ((p.len[i] == 1 && p.part[i][0] == '.') ||
                    (p.len[i] == 2 && memcmp(p.part[i], "..", 2) == 0))
                        return "has . or .. in its pattern";
        }
        return stars > PATTERN_STARS_MAX ? "has ** more than twice" : NULL;
}
