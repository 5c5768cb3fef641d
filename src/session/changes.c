/* changes.c - see changes.h. Joins what four places know of a box: its layers, the user's classes,
 * what we masked and what was applied. Takes no lock and changes nothing but making the directory
 * of frozen layers when it is not there yet. */
#include "session/changes.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/profile.h"
#include "session/profiles.h"
#include "session/secret_mask_int.h"
#include "session/store.h"
#include "workspace/apply.h"
#include "workspace/objects.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLASSES_MAX = 1 << 20 };

struct file_classes *changes_classes(const struct store *s, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/classes", s->config);
        struct file_classes *t = file_classes_new();
        struct err why = {0};
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, CLASSES_MAX, &why);
        if (!text && why.sys == ENOENT)
                return t;
        if (text && file_classes_add_text(t, text, path, &why) == 0)
                return t;
        if (err)
                *err = why;
        err_add(err, "read your own classes");
        file_classes_free(t);
        return NULL;
}

static bool is_masked(void *arg, const char *layer, const char *path)
{
        const struct changes *c = arg;
        return secret_mask_list_find(c->masks, layer, path) ||
               (strcmp(layer, "ws") == 0 && secret_mask_list_find(c->masks, "live", path));
}

static bool is_applied(void *arg, const char *layer, const char *path, const struct ws_node *n)
{
        const struct changes *c = arg;
        return applied_has(c->applied, layer, path, n);
}

static void on_progress(void *arg, uint64_t n)
{
        const struct changes *c = arg;
        if (c->on_progress)
                c->on_progress(c->progress_arg, n);
}

static int open_frozen(const struct store *s, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/frozen", s->state);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make the directory %s", path);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "open the directory %s", path) : fd;
}

/* rank(root): the workspace first, the home last, the rest as they were written. */
static int rank(const struct ws_root *r)
{
        return strcmp(r->name, "ws") == 0 ? 0 : r->kind == WS_ROOT_HOME ? 2 : 1;
}

static void sort_roots(struct ws_roots *r)
{
        for (size_t i = 1; i < r->n; i++) {
                struct ws_root one = r->v[i];
                size_t k = i;
                for (; k > 0 && rank(&r->v[k - 1]) > rank(&one); k--)
                        r->v[k] = r->v[k - 1];
                r->v[k] = one;
        }
}

/* read_home(c, s, profile): which parts of the home outlive the box. A profile that is not there
 * any more keeps nothing. */
static void read_home(struct changes *c, const struct store *s, const char *profile)
{
        struct profile p = {0};
        if (profiles_find(s->config, profile && *profile ? profile : NULL, &p, NULL) < 0)
                return;
        for (size_t i = 0; i < p.persist.n; i++)
                strs_add(&c->home_kept, p.persist.v[i]);
        profile_free(&p);
}

int changes_open(struct changes *c, const struct store *s, const char *id, unsigned turn,
                 struct err *err)
{
        *c = (struct changes){.box_fd = -1, .frozen_fd = -1, .turn = turn, .id = str_dup(id)};
        struct box_meta m = {0};
        c->box_fd = store_box_dir(s, id, err);
        if (c->box_fd < 0 || store_meta_read(c->box_fd, id, &m, err) < 0)
                goto fail;
        c->workspace = str_dup(m.workspace);
        c->frozen_fd = open_frozen(s, err);
        if (c->frozen_fd < 0 || ws_roots_open(&c->roots, c->box_fd, c->frozen_fd, turn, err) < 0)
                goto fail;
        sort_roots(&c->roots);
        read_home(c, s, m.profile);
        box_meta_free(&m);

        c->masks = calloc(1, sizeof *c->masks);
        if (!c->masks)
                str_no_memory();
        secret_mask_list_read(c->box_fd, c->masks);
        c->classes = changes_classes(s, err);
        if (!c->classes || applied_read(c->box_fd, &c->applied, err) < 0)
                goto fail;
        c->query = (struct ws_query){.classes = c->classes,
                                     .is_masked = c->masks->n ? is_masked : NULL,
                                     .is_applied = turn ? NULL : is_applied,
                                     .on_progress = on_progress,
                                     .arg = c};
        return 0;
fail:
        box_meta_free(&m);
        changes_close(c);
        return err_add(err, "look at the changes of box %s", id);
}

void changes_close(struct changes *c)
{
        for (size_t i = 0; c->paths && i < c->roots.n; i++)
                strs_free(&c->paths[i]);
        free(c->paths);
        strs_free(&c->home_kept);
        free(c->id);
        free(c->workspace);
        ws_roots_free(&c->roots);
        if (c->classes)
                file_classes_free(c->classes);
        if (c->applied)
                applied_free(c->applied);
        if (c->masks)
                secret_mask_list_free(c->masks);
        free(c->masks);
        /* One that was never opened holds no descriptor either. */
        if (c->id) {
                close_fd(&c->box_fd);
                close_fd(&c->frozen_fd);
        }
        *c = (struct changes){.box_fd = -1, .frozen_fd = -1};
}

char *changes_name(const struct changes *c, const struct ws_root *r, const char *path)
{
        (void)c;
        if (strcmp(r->name, "ws") == 0)
                return str_dup(path);
        const char *slash = *path ? "/" : "";
        if (r->kind == WS_ROOT_HOME)
                return str_fmt("~%s%s", slash, path);
        return str_fmt("%s%s%s", r->host, slash, path);
}

int changes_gone(const struct changes *c, struct err *err)
{
        for (size_t i = 0; i < c->roots.n; i++) {
                const struct ws_root *r = &c->roots.v[i];
                if (!r->gone || r->kind == WS_ROOT_HOME)
                        continue;
                _cleanup_free_ char *host = str_quote(r->host);
                err_set(err, E_INPUT, "%s %s %s since box %s was started",
                        strcmp(r->name, "ws") == 0 ? "the workspace" : "the directory", host,
                        r->gone, c->id);
                return err_hint(
                        err,
                        "put it back where it was; or, with any directory in its place, take "
                        "files out with: ostiary cp %s:PATH .",
                        c->id);
        }
        return 0;
}

void changes_query_raw(struct ws_query *q)
{
        q->is_raw = true;
        q->is_applied = NULL;
}

bool changes_was_applied(const struct changes *c, const struct ws_change *ch)
{
        bool is_dir_of_host = ch->after.kind == WS_DIR && ch->after.has_origin;
        return !is_dir_of_host && ch->after.kind != WS_NONE &&
               applied_has(c->applied, ch->root->name, ch->path, &ch->after);
}

bool changes_is_untouched(const struct changes *c, const struct ws_change *ch)
{
        const struct secret_mask_entry *e =
                secret_mask_list_find(c->masks, ch->root->name, ch->path);
        if (!e && strcmp(ch->root->name, "ws") == 0)
                e = secret_mask_list_find(c->masks, "live", ch->path);
        if (!e || ch->after.kind != WS_FILE)
                return false;
        struct ws_node now;
        char sha[SHA256_HEX_LEN + 1];
        _cleanup_close_ int fd = ws_view_file(&ch->root->after, ch->path, &now, NULL);
        return fd >= 0 && objects_hash(fd, sha, NULL) == 0 && strcmp(sha, e->sha) == 0;
}
