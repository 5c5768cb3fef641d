/* diff_text.c - `ostiary diff` as a diff, and as names: what is written line by line while it is
 * found. Called through the table of forms.
 *
 * The workspace's sections are a patch as git writes it. Sections of other directories are told
 * with their whole path and with "| " before every line, so that a patch program that is given all
 * of it takes the workspace's part and nothing else; lines of ours begin with "# ". */
#include "cli/diff.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <string.h>

/* tell_root(d): where the following belongs, once per root that is not the workspace. */
static int tell_root(struct diff *d, struct err *err)
{
        const struct ws_root *r = &d->c->roots.v[d->root];
        d->print.line_prefix = NULL;
        if (strcmp(r->name, "ws") == 0)
                return 0;
        if (!d->is_root_told) {
                d->is_root_told = true;
                _cleanup_free_ char *host = str_quote(r->host);
                int rc = r->kind == WS_ROOT_HOME
                                 ? ws_print_line(&d->print, PRINT_HEAD, err,
                                                 "# in the box's home, of which profiles keep a "
                                                 "part for the next box:")
                                 : ws_print_line(&d->print, PRINT_HEAD, err,
                                                 "# in %s, outside of the workspace:", host);
                if (rc < 0)
                        return -1;
        }
        d->print.line_prefix = "| ";
        return 0;
}

static int text_change(struct diff *d, const struct ws_change *c, struct err *err)
{
        if (tell_root(d, err) < 0)
                return -1;
        const struct ws_root *r = c->root;
        _cleanup_free_ char *prefix = strcmp(r->name, "ws") == 0 ? NULL
                                      : r->kind == WS_ROOT_HOME  ? str_dup("~/")
                                                                 : str_fmt("%s/", r->host);
        if (diff_git_is_uncommitted(d, c) &&
            ws_print_line(&d->print, PRINT_PLAIN, err, "# not committed:") < 0)
                return -1;
        d->print.name_prefix = prefix;
        int rc = ws_print_change(&d->print, c, err);
        d->print.name_prefix = NULL;
        d->print.line_prefix = NULL;
        return rc;
}

static int text_note(struct diff *d, const char *words, struct err *err)
{
        return ws_print_line(&d->print, PRINT_PLAIN, err, "# %s", words);
}

const struct diff_form diff_text = {.change = text_change, .note = text_note};

static int names_change(struct diff *d, const struct ws_change *c, struct err *err)
{
        if (!d->has_zeros) {
                _cleanup_free_ char *name = diff_name(d, c->path);
                return ws_print_line(&d->print, PRINT_PLAIN, err, "%s", name);
        }
        _cleanup_free_ char *name = changes_name(d->c, c->root, c->path);
        if (d->print.put(d->print.arg, name, strlen(name) + 1) < 0)
                return err_sys(err, "write the names");
        return 0;
}

const struct diff_form diff_names = {.change = names_change};
