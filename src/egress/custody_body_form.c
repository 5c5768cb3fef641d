/* custody_body_form.c - see custody_body_slots.h: a form's fields as they come. It must never take
 * a field for a slot before its value is whole. */
#include "egress/custody_body_slots.h"

#include "base/buf.h"
#include "base/str.h"
#include "egress/custody_slots.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_MAX_N = 1024 };

struct custody_form {
        const struct custody_sink *sink;
        const char *const *names;
        size_t names_n, longest, which;
        bool in_value, is_slot;
        struct buf name; /* as written */
        struct buf held; /* the value of a slot, as written */
};

struct custody_form *custody_form_new(const char *const *names, size_t n, size_t longest,
                                      const struct custody_sink *sink)
{
        struct custody_form *f = calloc(1, sizeof *f);
        if (!f)
                str_no_memory();
        f->sink = sink;
        f->names = names;
        f->names_n = n < CUSTODY_BODY_SLOTS_MAX ? n : CUSTODY_BODY_SLOTS_MAX;
        f->longest = longest;
        return f;
}

void custody_form_free(struct custody_form *f)
{
        if (!f)
                return;
        buf_free(&f->name);
        buf_free(&f->held);
        free(f);
}

static void begin_value(struct custody_form *f)
{
        _cleanup_buf_ struct buf plain = {0};
        f->in_value = true;
        f->is_slot = false;
        f->held.len = 0;
        if (f->name.len > NAME_MAX_N)
                return;
        custody_undo((const char *)f->name.data, f->name.len, true, &plain);
        const char *name = buf_cstr(&plain);
        for (size_t i = 0; i < f->names_n; i++)
                if (strcmp(f->names[i], name) == 0) {
                        f->is_slot = true;
                        f->which = i;
                        return;
                }
}

/* end_value(f): true when it was taken. */
static bool end_value(struct custody_form *f)
{
        bool was_slot = f->in_value && f->is_slot;
        f->in_value = f->is_slot = false;
        f->name.len = 0;
        if (!was_slot)
                return false;
        _cleanup_buf_ struct buf plain = {0};
        custody_undo((const char *)f->held.data, f->held.len, true, &plain);
        if (f->sink->slot(f->sink->ctx, f->which, buf_cstr(&plain), plain.len))
                return true;
        f->sink->pass(f->sink->ctx, f->held.data, f->held.len);
        return false;
}

ssize_t custody_form_feed(struct custody_form *f, const char *p, size_t n, struct err *err)
{
        (void)err;
        for (size_t at = 0; at < n;) {
                size_t run = 0;
                const char *stop = f->in_value ? "&" : "&=";
                while (at + run < n && !strchr(stop, p[at + run] ? p[at + run] : 'x'))
                        run++;
                if (f->is_slot) {
                        buf_put(&f->held, p + at, run);
                        if (f->held.len > 3 * f->longest) { /* no placeholder is so long */
                                f->sink->pass(f->sink->ctx, f->held.data, f->held.len);
                                f->is_slot = false;
                        }
                } else {
                        if (!f->in_value && f->name.len <= NAME_MAX_N)
                                buf_put(&f->name, p + at, run);
                        f->sink->pass(f->sink->ctx, p + at, run);
                }
                at += run;
                if (at == n)
                        break;
                if (p[at] == '=') {
                        begin_value(f);
                } else if (end_value(f)) {
                        return (ssize_t)at; /* the & comes again */
                }
                f->sink->pass(f->sink->ctx, p + at, 1);
                at++;
        }
        return (ssize_t)n;
}

int custody_form_end(struct custody_form *f, struct err *err)
{
        (void)err;
        return end_value(f) ? 1 : 0;
}
