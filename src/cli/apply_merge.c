/* apply_merge.c - `ostiary apply --3way`: a conflict between two texts with a known common base
 * becomes one text, where both sides changed different places. A result with conflict marks is
 * never written: the conflict stays, and says how many places it has. */
#include "cli/apply.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "workspace/apply_base.h"
#include "workspace/print.h"
#include "workspace/text_diff.h"

#include <stdlib.h>
#include <string.h>

static const char *merge(struct apply_job *j, struct landing_item *it, int undo_fd)
{
        const struct ws_change *c = it->change;
        _cleanup_buf_ struct buf base = {.max = (size_t)PRINT_FILE_MAX + 1};
        _cleanup_buf_ struct buf ours = base, theirs = base;
        if (it->conflict != APPLY_HOST_CHANGED || c->before.kind != WS_FILE ||
            c->after.kind != WS_FILE)
                return NULL;
        if (!apply_base_read(&c->root->before, c->path, &ours) ||
            !apply_base_read(&c->root->after, c->path, &theirs))
                return "both sides changed it, and it is too large or cannot be read: not merged";
        if (text_is_binary((const char *)ours.data, ours.len) ||
            text_is_binary((const char *)theirs.data, theirs.len))
                return "both sides changed it, and it is no text: not merged";
        if (!apply_base_find(c, j->l.c->applied, undo_fd, &base))
                return "both sides changed it, and no common base is known: not merged";
        /* Either side differs from what it began with, or it would be no conflict. */
        if ((base.len == ours.len && memcmp(base.data, ours.data, base.len) == 0) ||
            (base.len == theirs.len && memcmp(base.data, theirs.data, base.len) == 0))
                return "both sides changed it, and no common base is known: not merged";
        struct text_lines a = {0}, b = {0}, o = {0};
        text_lines_of(&o, (const char *)base.data, base.len);
        text_lines_of(&a, (const char *)ours.data, ours.len);
        text_lines_of(&b, (const char *)theirs.data, theirs.len);
        it->bytes.max = 3 * (size_t)PRINT_FILE_MAX;
        size_t conflicts_n = text_merge(&o, &a, &b, &it->bytes);
        text_lines_free(&o);
        text_lines_free(&a);
        text_lines_free(&b);
        if (conflicts_n || it->bytes.is_broken) {
                buf_free(&it->bytes);
                return "both sides changed the same lines: not merged";
        }
        sha256_hex(ours.data, ours.len, it->host_sha);
        it->how = APPLY_MERGE;
        it->fate = FATE_OPEN;
        return NULL;
}

void apply_merge(struct apply_job *j, int undo_fd)
{
        for (size_t i = 0; i < j->l.n; i++)
                if (j->l.v[i].fate == FATE_CONFLICT)
                        j->l.v[i].why = merge(j, &j->l.v[i], undo_fd);
}
