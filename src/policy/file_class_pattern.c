/* file_class_pattern.c - see file_class_pattern.h. Called for every row that may hold for a path:
 * what comes first here is a cheap no. */
#include "policy/file_class_pattern.h"

#include "policy/file_class_fold.h"

#include <ctype.h>
#include <string.h>

enum { PATTERN_MAX = 256, PATTERN_PARTS_MAX = 16, PATTERN_STARS_MAX = 2 };

struct pattern {
        const char *part[PATTERN_PARTS_MAX];
        size_t len[PATTERN_PARTS_MAX];
        size_t n;
        bool is_anchored, is_dir, is_cased;
};

static bool pattern_cut(const char *text, struct pattern *p)
{
        p->is_cased = *text == '=';
        text += p->is_cased;
        p->is_anchored = *text == '/';
        text += p->is_anchored;
        p->n = 0;
        for (;;) {
                size_t n = strcspn(text, "/");
                if (n == 0 || p->n == PATTERN_PARTS_MAX)
                        return false;
                p->part[p->n] = text;
                p->len[p->n++] = n;
                text += n;
                p->is_dir = text[0] == '/' && text[1] == '\0';
                if (*text == '\0' || p->is_dir)
                        return true;
                text++;
        }
}

/* Do the parts from ${i} on fit the path from ${at} on? Of a directory, what follows is free. The
 * depth of calls is that of the pattern's parts; ** is bounded when a pattern is accepted. */
static bool fits(const struct pattern *p, size_t i, char *const *v, size_t n, size_t at,
                 bool with_case)
{
        if (i == p->n)
                return p->is_dir || at == n;
        if (p->len[i] == 2 && memcmp(p->part[i], "**", 2) == 0) {
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

static bool fits_anywhere(const struct pattern *p, char *const *v, size_t n, bool with_case)
{
        if (p->is_anchored)
                return fits(p, 0, v, n, 0, with_case);
        bool has_stars = false;
        for (size_t i = 0; i < p->n; i++)
                has_stars |= p->len[i] == 2 && memcmp(p->part[i], "**", 2) == 0;
        if (!p->is_dir && !has_stars)
                return n >= p->n && fits(p, 0, v, n, n - p->n, with_case);
        for (size_t at = 0; at < n; at++)
                if (fits(p, 0, v, n, at, with_case))
                        return true;
        return false;
}

/* A cheap no, in which most rows end: no component begins as they do, or the last one does not end
 * so. Never no where file_pattern_holds would say yes. */
static bool may_hold(const char *pattern, const struct file_parts *parts)
{
        const char *first = pattern + (*pattern == '=');
        if (parts->may_begin['~'])
                return true;
        if (strchr(first, '/')) {
                first += *first == '/';
                return *first == '*' || *first == '?' ||
                       parts->may_begin[tolower((unsigned char)*first)];
        }
        if (parts->n == 0)
                return false;
        const char *name = parts->folded[parts->n - 1], *raw = parts->raw[parts->n - 1];
        size_t len = strlen(name), raw_len = strlen(raw);
        int c = tolower((unsigned char)*first);
        if (c != '*' && c != '?' && c != *name && c != tolower((unsigned char)*raw))
                return false;
        c = tolower((unsigned char)first[strlen(first) - 1]);
        return c == '*' || c == '?' || (len > 0 && c == name[len - 1]) ||
               (raw_len > 0 && c == tolower((unsigned char)raw[raw_len - 1]));
}

bool file_pattern_holds(const char *pattern, const struct file_parts *parts, size_t from,
                        bool *is_odd)
{
        struct pattern p;
        if (!may_hold(pattern, parts))
                return false;
        if (!pattern_cut(pattern, &p))
                return false;
        size_t n = parts->n - from;
        bool is_exact = fits_anywhere(&p, parts->raw + from, n, true);
        if (!is_exact && (p.is_cased || !fits_anywhere(&p, parts->folded + from, n, false)))
                return false;
        *is_odd = !is_exact;
        return true;
}

const char *file_pattern_wrong(const char *s)
{
        size_t len = strlen(s);
        struct pattern p;
        size_t stars = 0;
        if (len == 0)
                return "has no pattern";
        if (len > PATTERN_MAX)
                return "has a pattern of more than 256 bytes";
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)s[i] < 0x20 || s[i] == 0x7f || s[i] == '\\')
                        return "has a control byte or a backslash in its pattern";
        if (!pattern_cut(s, &p))
                return "has a pattern with an empty component, or with more than 16";
        for (size_t i = 0; i < p.n; i++) {
                bool is_stars = p.len[i] == 2 && memcmp(p.part[i], "**", 2) == 0;
                stars += is_stars;
                if ((p.len[i] == 1 && p.part[i][0] == '.') ||
                    (p.len[i] == 2 && memcmp(p.part[i], "..", 2) == 0))
                        return "has . or .. in its pattern";
        }
        return stars > PATTERN_STARS_MAX ? "has ** more than twice" : NULL;
}
