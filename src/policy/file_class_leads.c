/* file_class_leads.c - links in the place of a directory that a row speaks of. Called for links of a
 * commit; pure. */
#include "policy/file_class.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/file_class_fold.h"
#include "policy/file_class_pattern.h"
#include "policy/file_class_table.h"

#include <stdio.h>
#include <string.h>

/* leads_row(pattern, parts): does the path take the place of one of the directories that the pattern
 * names before its last part? One that any name fits says nothing. */
static bool leads_row(const char *pattern, const struct file_parts *parts)
{
        struct file_pattern p;
        bool is_odd = false;
        if (!file_pattern_cut(pattern, &p))
                return false;
        while (p.n > 1) {
                p.n--;
                p.is_dir = false;
                if (p.is_stars[p.n])
                        p.stars_n--;
                bool is_named = false;
                for (size_t i = 0; i < p.len[p.n - 1]; i++)
                        is_named |= !strchr("*?", p.part[p.n - 1][i]);
                if (is_named && file_pattern_ends(&p, parts->raw, parts->folded, parts->n, &is_odd))
                        return true;
        }
        return false;
}

static void leads_say(struct file_class_verdict *v, enum file_class class, const char *why)
{
        *v = (struct file_class_verdict){.class = class};
        snprintf(v->why, sizeof v->why, "a link in place of a directory: %.50s", why);
}

bool file_class_leads(const struct file_classes *t, const char *path, struct file_class_verdict *v)
{
        _cleanup_parts_ struct file_parts parts;
        file_parts_of(&parts, path);
        for (size_t i = file_classes_user_n(t); i-- > 0;) {
                enum file_class class;
                const char *pattern = file_classes_user_at(t, i, &class);
                if (class == FILE_PLAIN || !leads_row(pattern, &parts))
                        continue;
                leads_say(v, class, pattern);
                return true;
        }
        const struct file_class_row *r;
        for (size_t i = 0; (r = file_class_row_at(i)); i++) {
                if (r->class == FILE_PLAIN || !leads_row(r->pattern, &parts))
                        continue;
                leads_say(v, r->class, r->why);
                return true;
        }
        return false;
}
