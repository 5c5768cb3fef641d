/* banner.c - see banner.h. The facts are read from the box's own directory, so that the line cannot
 * say something else than what was started. */
#include "cli/banner.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "cli/out.h"
#include "cli/stream.h"
#include "session/secret_mask.h"
#include "session/store.h"

#include <ctype.h>

void banner_before(const struct stream *s, const void *store)
{
        if (s->is_quiet)
                return;
        _cleanup_close_ int dir = store_box_dir(store, s->id, NULL);
        struct box_meta m = {0};
        if (dir < 0 || store_meta_read(dir, s->id, &m, NULL) < 0)
                return;
        _cleanup_free_ char *path = out_path(m.workspace);
        _cleanup_free_ char *shown = str_quote(path);
        _cleanup_free_ char *where = NULL;
        if (!*shown)
                where = str_dup("no workspace");
        else if (m.is_live)
                where = str_fmt("%s LIVE", shown);
        else
                where = str_fmt("%s copy-on-write (take files out with: ostiary cp %s:PATH .)",
                                shown, s->id);
        _cleanup_free_ char *key = NULL;
        if (s->is_tty && !s->detach.is_off)
                key = str_fmt("; detach: Ctrl-%c d", toupper((int)s->detach.base));
        out_say("box %s, tier %s, %s, %s%s", s->id, *m.tier ? m.tier : "ns", where,
                *m.grants ? m.grants : "no network", key ? key : "");
        box_meta_free(&m);
        _cleanup_strs_ struct strs masked = {0};
        secret_mask_words(dir, &masked);
        for (size_t i = 0; i < masked.n; i++)
                out_say("%s", masked.v[i]);
}

void banner_after(const struct stream *s)
{
        if (s->is_quiet || !s->is_ended || !s->is_kept)
                return;
        out_say("changes kept in box %s: ostiary ps -a, ostiary cp %s:PATH ., ostiary rm %s", s->id,
                s->id, s->id);
}
