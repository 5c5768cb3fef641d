/* diff_json.c - `ostiary diff --json`: one object, written while it is found, so that a million
 * changes need no memory. Names may be any bytes: "path" is the name as JSON can hold it, "quoted"
 * is exact, as git quotes it. */
#include "cli/diff.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/envelope.h"

#include <string.h>

static int put(struct diff *d, struct buf *b, struct err *err)
{
        if (b->is_broken || d->print.put(d->print.arg, b->data, b->len) < 0)
                return err_sys(err, "write the list");
        return 0;
}

static int json_begin(struct diff *d, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        envelope_head("diff", &b);
        json_open(&j, NULL, '{');
        json_str(&j, "box", d->c->id);
        json_str(&j, "workspace", d->c->workspace);
        json_u64(&j, "turn", d->c->turn);
        json_open(&j, "changes", '[');
        return put(d, &b, err);
}

static void put_node(struct json *j, const char *key, const struct ws_node *n)
{
        static const char *const kinds[] = {[WS_NONE] = "none",
                                            [WS_FILE] = "file",
                                            [WS_DIR] = "directory",
                                            [WS_LINK] = "link",
                                            [WS_SPECIAL] = "special"};
        if (n->kind == WS_NONE) {
                json_str(j, key, NULL);
                return;
        }
        char mode[8];
        snprintf(mode, sizeof mode, "%04o", (unsigned)(n->mode & 07777));
        json_open(j, key, '{');
        json_str(j, "kind", kinds[n->kind]);
        json_str(j, "mode", mode);
        json_u64(j, "size", n->size);
        envelope_time(j, "mtime", n->mtime_ns / 1000);
        json_close(j, '}');
}

static int json_change(struct diff *d, const struct ws_change *c, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        _cleanup_free_ char *quoted = diff_name(d, c->path);
        if (d->shown_n > 1)
                buf_put_str(&b, ",\n");
        json_open(&j, NULL, '{');
        json_str(&j, "path", c->path);
        json_str(&j, "quoted", quoted);
        json_str(&j, "root", c->root->name);
        json_str(&j, "root_path", c->root->kind == WS_ROOT_HOME ? "~" : c->root->host);
        json_str(&j, "what", ws_what_name(c->what));
        if (c->from) {
                _cleanup_free_ char *from = diff_name(d, c->from);
                json_str(&j, "from", c->from);
                json_str(&j, "from_quoted", from);
                json_u64(&j, "similarity", c->similarity);
        }
        json_str(&j, "class", file_class_name(c->class.class));
        json_str(&j, "why", *c->class.why ? c->class.why : NULL);
        json_bool(&j, "odd_name", c->class.is_odd);
        json_bool(&j, "program", c->is_program);
        json_bool(&j, "ignored", c->is_ignored);
        json_bool(&j, "masked", c->is_masked);
        json_str(&j, "refused", c->refused);
        json_bool(&j, "uncommitted", diff_git_is_uncommitted(d, c));
        put_node(&j, "before", &c->before);
        put_node(&j, "after", &c->after);
        struct ws_print_count n;
        ws_print_count(c, &n);
        d->print.unread_n += n.is_unread;
        json_bool(&j, "binary", n.is_binary);
        json_bool(&j, "unread", n.is_unread);
        json_u64(&j, "lines_added", n.added);
        json_u64(&j, "lines_removed", n.removed);
        json_close(&j, '}');
        return put(d, &b, err);
}

static int json_note(struct diff *d, const char *words, struct err *err)
{
        (void)err;
        strs_add(&d->notes, words);
        return 0;
}

static void put_paths(struct json *j, const char *key, const struct git_paths *p)
{
        json_open(j, key, '[');
        for (size_t i = 0; i < p->n; i++) {
                const char what[2] = {p->v[i].what, 0};
                json_open(j, NULL, '{');
                json_str(j, "path", p->v[i].path);
                json_str(j, "what", what);
                json_str(j, "class", file_class_name(p->v[i].class.class));
                json_str(j, "why", *p->v[i].class.why ? p->v[i].class.why : NULL);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static void put_ref(struct json *j, const struct git_ref *r)
{
        json_open(j, NULL, '{');
        json_str(j, "ref", r->name);
        json_str(j, "lands_as", r->local);
        json_str(j, "tip", r->tip);
        json_bool(j, "new", r->is_new);
        json_str(j, "refused", r->refused);
        json_str(j, "class", file_class_name(r->worst));
        json_u64(j, "commits_n", r->commits_all);
        json_open(j, "commits", '[');
        for (size_t i = 0; i < r->commits_n; i++) {
                json_open(j, NULL, '{');
                json_str(j, "id", r->commits[i].id);
                json_str(j, "subject", r->commits[i].subject);
                json_str(j, "author", r->commits[i].author);
                envelope_time(j, "when", r->commits[i].when_s * 1000000);
                json_close(j, '}');
        }
        json_close(j, ']');
        put_paths(j, "paths", &r->paths);
        json_close(j, '}');
}

static void put_repos(struct json *j, const struct git_fetch *f)
{
        json_open(j, "repositories", '[');
        for (size_t i = 0; i < f->n; i++) {
                const struct git_repo *r = &f->v[i];
                json_open(j, NULL, '{');
                json_str(j, "path", r->path);
                json_bool(j, "on_host", r->host_git != NULL);
                json_str(j, "waits", r->waits);
                json_str(j, "head", r->head);
                json_open(j, "refs", '[');
                for (size_t k = 0; k < r->refs_n; k++)
                        if (r->refs[k].is_new || r->refs[k].refused)
                                put_ref(j, &r->refs[k]);
                json_close(j, ']');
                put_paths(j, "staged", &r->staged);
                json_close(j, '}');
        }
        json_close(j, ']');
}

static int json_end(struct diff *d, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = {.out = &b, .depth = 2, .has_item = {true, true, true}};
        json_close(&j, ']');
        put_repos(&j, &d->fetch);
        json_open(&j, "notes", '[');
        for (size_t i = 0; i < d->notes.n; i++)
                json_str(&j, NULL, d->notes.v[i]);
        json_close(&j, ']');
        json_open(&j, "counts", '{');
        for (int i = 0; i <= WS_RENAMED; i++)
                json_u64(&j, ws_what_name((enum ws_what)i), d->tally.files_n[i]);
        json_close(&j, '}');
        json_open(&j, "classes", '{');
        for (int i = 0; i < FILE_CLASS_COUNT; i++)
                json_u64(&j, file_class_name((enum file_class)i), d->tally.classes_n[i]);
        json_close(&j, '}');
        json_open(&j, "ignored", '[');
        for (size_t i = 0; i < d->tally.ignored_n; i++) {
                json_open(&j, NULL, '{');
                json_str(&j, "path", d->tally.ignored[i].path);
                json_u64(&j, "files", d->tally.ignored[i].files_n);
                json_u64(&j, "bytes", d->tally.ignored[i].bytes);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        if (put(d, &b, err) < 0)
                return -1;
        envelope_tail();
        return 0;
}

const struct diff_form diff_json = {
        .begin = json_begin, .change = json_change, .note = json_note, .end = json_end};
