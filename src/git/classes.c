/* classes.c - what a path of a commit means, by the tables of policy: by its name, and for
 * .gitmodules and .gitattributes by what changed in them, read from the quarantine. */
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/file_class_trail.h"
#include "policy/git_config.h"
#include "policy/git_shape.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum {
        CLASSES_BLOBS_MAX = 4096,
        CLASSES_ALL_MAX = 64 << 20,
        LINKS_ALL_MAX = 256 << 20,
        LINKS_TREES_MAX = 64
};

void fetch_classes_free(struct fetch_classes *c)
{
        for (size_t i = 0; i < c->n; i++)
                free(c->v[i].text);
        free(c->v);
        git_links_free(&c->links);
        strs_free(&c->leaving);
        file_trail_free(c->by_table);
        file_trail_free(c->built_in);
        file_trail_free(c->whole);
        c->by_table = c->built_in = c->whole = NULL;
        c->v = NULL;
        c->n = 0;
}

/* classes_judge(trail, table, path, verdict): by the path's name. */
static void classes_judge(struct file_trail **trail, const struct file_classes *table,
                          const char *path, struct file_class_verdict *v)
{
        if (!*trail)
                *trail = file_trail_new(table);
        file_trail_judge(*trail, path, v);
}

/* classes_is_read(c, path, is_attributes): does its content decide? */
static bool classes_is_read(struct fetch_classes *c, const char *path, bool *is_attributes)
{
        struct file_class_verdict v;
        classes_judge(&c->built_in, NULL, path, &v);
        *is_attributes = file_class_is_attributes(&v);
        return *is_attributes || file_class_is_git_config(&v);
}

/* classes_find(c, id, &at): -1 when it was never asked for. */
static ssize_t classes_find(const struct fetch_classes *c, const char *id)
{
        for (size_t i = 0; i < c->n; i++)
                if (strcmp(c->v[i].id, id) == 0)
                        return (ssize_t)i;
        return -1;
}

static void classes_want(struct fetch_classes *c, const char *id, unsigned mode)
{
        if ((mode & 0170000) != 0100000 || classes_find(c, id) >= 0 || c->n >= CLASSES_BLOBS_MAX)
                return;
        void *v = realloc(c->v, (c->n + 1) * sizeof *c->v);
        if (!v)
                str_no_memory();
        c->v = v;
        memset(&c->v[c->n], 0, sizeof *c->v);
        memcpy(c->v[c->n++].id, id, strlen(id) + 1);
}

static void classes_keep(void *arg, const char *id, const char *data, size_t len)
{
        struct fetch_classes *c = arg;
        ssize_t i = classes_find(c, id);
        if (i < 0 || c->v[i].text)
                return;
        c->v[i].text = malloc(len + 1);
        if (!c->v[i].text)
                str_no_memory();
        memcpy(c->v[i].text, data, len);
        c->v[i].text[len] = 0;
        c->v[i].len = len;
}

/* Links whose targets are being read: the same blob may lie at several places. */
struct classes_links {
        struct fetch_classes *classes;
        struct strs *lines; /* "ID PATH", sorted */
        bool is_new;        /* of the box */
};

/* classes_link_at(l, line, path, target): one place of a link. */
static void classes_link_at(struct classes_links *l, const char *line, const char *path,
                            const char *target)
{
        struct fetch_classes *c = l->classes;
        git_links_add(&c->links, path, target, c->from->repo->dir);
        if (!l->is_new ||
            !git_links_leaves(path, target, c->top ? c->top : "", c->from->want->workspace))
                return;
        strs_add(&c->leaving, line);
        c->is_leaving_sorted = false;
}

static void classes_link(void *arg, const char *id, const char *data, size_t len)
{
        struct classes_links *l = arg;
        const struct strs *s = l->lines;
        size_t id_len = strlen(id), low = 0, high = s->n;
        _cleanup_free_ char *target = str_fmt("%.*s", (int)len, data);
        while (low < high) {
                size_t mid = (low + high) / 2;
                if (strncmp(s->v[mid], id, id_len) < 0)
                        low = mid + 1;
                else
                        high = mid;
        }
        for (; low < s->n && strncmp(s->v[low], id, id_len) == 0; low++)
                if (low == 0 || strcmp(s->v[low], s->v[low - 1]) != 0)
                        classes_link_at(l, s->v[low], s->v[low] + id_len + 1, target);
}

static int classes_by_text(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

/* classes_tree_links(c, id, lines): "ID PATH" lines of the links that a tree of the host's has. */
static void classes_tree_links(struct fetch_classes *c, const char *id, struct strs *lines)
{
        struct fetch *f = c->from;
        _cleanup_buf_ struct buf out = {.max = (size_t)1 << 30};
        struct err none = {0};
        if (!*id || !tips_is_known(f, id))
                return;
        if (fetch_ours(f, FETCH_ARGV("ls-tree", "-r", "-z", "--full-tree", id), NULL, &out,
                       &none) != 0) {
                c->are_links_lost = true;
                return;
        }
        const char *end = buf_cstr(&out) + out.len;
        for (const char *p = buf_cstr(&out); p < end; p += strlen(p) + 1)
                if (strncmp(p, "120000 blob ", 12) == 0 && strlen(p) > 13 + f->id_len)
                        strs_addf(lines, "%.*s %s", (int)f->id_len, p + 12, p + 13 + f->id_len);
}

/* classes_host_links(c, lines): of the tree that is checked out, and of the branches that the box's
 * refs stand for. */
static void classes_host_links(struct fetch_classes *c, struct strs *lines)
{
        const struct git_repo *r = c->from->repo;
        size_t n = 0;
        classes_tree_links(c, r->host_head_id, lines);
        for (size_t i = 0; i < r->refs_n; i++) {
                if (r->refs[i].kind != GIT_REF_HEAD || !r->refs[i].host[0] ||
                    strcmp(r->refs[i].host, r->host_head_id) == 0)
                        continue;
                if (++n > LINKS_TREES_MAX) {
                        c->are_links_lost = true;
                        return;
                }
                classes_tree_links(c, r->refs[i].host, lines);
        }
}

/* classes_links_read(c, lines, is_new): their targets; each blob is read once. */
static void classes_links_read(struct fetch_classes *c, struct strs *lines, bool is_new)
{
        struct err none = {0};
        _cleanup_buf_ struct buf ids = {0};
        struct classes_links l = {.classes = c, .lines = lines, .is_new = is_new};
        size_t id_len = c->from->id_len;
        if (lines->n == 0)
                return;
        qsort(lines->v, lines->n, sizeof *lines->v, classes_by_text);
        for (size_t i = 0; i < lines->n; i++)
                if (i == 0 || strncmp(lines->v[i], lines->v[i - 1], id_len) != 0)
                        buf_put_fmt(&ids, "%.*s\n", (int)id_len, lines->v[i]);
        c->are_links_lost |= fetch_objects(c->from, "blob", &ids, 4096, LINKS_ALL_MAX, classes_link,
                                           &l, &none) < 0;
}

/* classes_links_load(c, raws, n): the links of the host's tree, and those that are new. */
static void classes_links_load(struct fetch_classes *c, const struct git_raw *raws, size_t n)
{
        _cleanup_strs_ struct strs host = {0}, new = {0};
        if (!c->has_links) {
                classes_host_links(c, &host);
                classes_links_read(c, &host, false);
                c->links.is_lost = false; /* odd links of the user's own say nothing of the box */
        }
        c->has_links = true;
        for (size_t i = 0; i < n; i++)
                if ((raws[i].mode & 0170000) == 0120000)
                        strs_addf(&new, "%s %s", raws[i].id, raws[i].path);
        classes_links_read(c, &new, true);
}

void fetch_classes_load(struct fetch_classes *c, const struct git_raw *raws, size_t n)
{
        size_t from = c->n;
        if (c->from && n)
                classes_links_load(c, raws, n);
        for (size_t i = 0; c->from && i < n; i++) {
                bool is_attributes;
                if (!classes_is_read(c, raws[i].path, &is_attributes))
                        continue;
                classes_want(c, raws[i].id, raws[i].mode);
                classes_want(c, raws[i].id_was, raws[i].mode_was);
        }
        if (c->n == from)
                return;
        _cleanup_buf_ struct buf ids = {0};
        struct err none = {0};
        for (size_t i = from; i < c->n; i++)
                buf_put_fmt(&ids, "%s\n", c->v[i].id);
        /* What cannot be had keeps the class of its name. */
        (void)fetch_objects(c->from, "blob", &ids, GIT_CONFIG_MAX, CLASSES_ALL_MAX, classes_keep, c,
                            &none);
}

/* classes_text(c, id, mode, &text, &len): false when it is not known; nothing there is known. */
static bool classes_text(const struct fetch_classes *c, const char *id, unsigned mode,
                         const char **text, size_t *len)
{
        *text = NULL;
        *len = 0;
        if (mode == 0)
                return true;
        ssize_t i = (mode & 0170000) == 0100000 ? classes_find(c, id) : -1;
        if (i < 0 || !c->v[i].text)
                return false;
        *text = c->v[i].text;
        *len = c->v[i].len;
        return true;
}

/* classes_by_content(c, r, verdict): a file whose keys decide is plain when they are. */
static void classes_by_content(struct fetch_classes *c, const struct git_raw *r,
                               struct file_class_verdict *verdict)
{
        const char *before, *after;
        size_t before_len, after_len;
        bool is_attributes;
        if (verdict->class == FILE_PLAIN || !c->from ||
            !classes_is_read(c, r->path, &is_attributes) ||
            !classes_text(c, r->id_was, r->mode_was, &before, &before_len) ||
            !classes_text(c, r->id, r->mode, &after, &after_len))
                return;
        struct file_class_verdict read = {0};
        if (is_attributes)
                file_class_attributes(before, before_len, after, after_len, &read);
        else
                file_class_git_config(before, before_len, after, after_len, &read);
        read.is_odd = verdict->is_odd;
        if (!read.is_odd || read.class != FILE_PLAIN)
                *verdict = read;
}

static void classes_say(struct file_class_verdict *v, const char *why)
{
        *v = (struct file_class_verdict){.class = FILE_RUNS_ON_COMMIT};
        snprintf(v->why, sizeof v->why, "%s", why);
}

/* classes_is_part(name, len): one of the names by which git works in its directory. */
static bool classes_is_part(const char *name, size_t len)
{
        static const char *const parts[] = {"config", "hooks",     "info",    "packed-refs",
                                            "index",  "worktrees", "modules", "config.worktree"};
        if (git_shape_bit(name, len))
                return true;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (strlen(parts[i]) == len && strncasecmp(parts[i], name, len) == 0)
                        return true;
        return false;
}

/* classes_has_head(c, path, len): has the host's work tree a HEAD in the directory that the first
 * ${len} bytes of ${path} name? */
static bool classes_has_head(const struct fetch_classes *c, const char *path, size_t len)
{
        const char *top = c->top ? c->top : "";
        _cleanup_free_ char *head = str_fmt("%s/%s%s%.*s%sHEAD", c->from->want->workspace, top,
                                            *top ? "/" : "", (int)len, path, len ? "/" : "");
        struct stat st;
        return lstat(head, &st) == 0;
}

/* classes_by_shape(c, path, verdict): no directory is a git directory without a file HEAD. Which of
 * its parts come together on the host, over branches and applies, nobody can tell; so this one is
 * asked for wherever it comes, and any other part beside one that the host has (case 62). */
static void classes_by_shape(const struct fetch_classes *c, const char *path,
                             struct file_class_verdict *v)
{
        const char *slash = strrchr(path, '/'), *last = slash ? slash + 1 : path;
        if (v->class != FILE_PLAIN)
                return;
        if (git_shape_bit(last, strlen(last)) == GIT_SHAPE_HEAD)
                classes_say(v, "can make a git directory");
        for (const char *p = path; c->from && v->class == FILE_PLAIN && p;) {
                size_t n = strcspn(p, "/"), above = p == path ? 0 : (size_t)(p - path) - 1;
                if (classes_is_part(p, n) && classes_has_head(c, path, above))
                        classes_say(v, "can make a git directory");
                p = p[n] ? p + n + 1 : NULL;
        }
}

/* classes_by_gitlink(r, verdict): git looks at nothing below a gitlink, so a new one is asked for; one
 * that moves on is a commit of its repository's (landing.c). */
static void classes_by_gitlink(const struct git_raw *r, struct file_class_verdict *v)
{
        if (v->class == FILE_PLAIN && r->mode == 0160000 && r->mode_was != 0160000)
                classes_say(v, "a new submodule, below which git does not look");
}

/* classes_by_leaving(c, r, verdict): a link out of the workspace: what is read or written through it is
 * nothing that the box was shown, and no file of the work tree may be one (walk_judge.c). */
static void classes_by_leaving(struct fetch_classes *c, const struct git_raw *r,
                               struct file_class_verdict *v)
{
        if (v->class != FILE_PLAIN || (r->mode & 0170000) != 0120000 || c->leaving.n == 0)
                return;
        if (!c->is_leaving_sorted)
                qsort(c->leaving.v, c->leaving.n, sizeof *c->leaving.v, classes_by_text);
        c->is_leaving_sorted = true;
        _cleanup_free_ char *line = str_fmt("%s %s", r->id, r->path);
        if (bsearch(&line, c->leaving.v, c->leaving.n, sizeof line, classes_by_text))
                classes_say(v, "a link that leads outside of the workspace");
}

/* classes_by_path(c, path, verdict): by its name in the repository, and in the workspace: a repository
 * may lie below a directory that a row names. */
static void classes_by_path(struct fetch_classes *c, const char *path, struct file_class_verdict *v)
{
        classes_judge(&c->by_table, c->table, path, v);
        if (v->class != FILE_PLAIN || !c->top || !*c->top)
                return;
        _cleanup_free_ char *whole = str_fmt("%s/%s", c->top, path);
        classes_judge(&c->whole, c->table, whole, v);
}

/* classes_by_host(c, path, verdict): the judge of the work tree's files. Of files whose content
 * decides it would say the place alone. */
static void classes_by_host(struct fetch_classes *c, const char *path, struct file_class_verdict *v)
{
        const struct git_want *want = c->from ? c->from->want : NULL;
        bool is_attributes;
        if (v->class != FILE_PLAIN || !want || !want->judge ||
            classes_is_read(c, path, &is_attributes))
                return;
        const char *top = c->top ? c->top : "";
        _cleanup_free_ char *whole = str_fmt("%s%s%s", top, *top ? "/" : "", path);
        want->judge(want->judge_arg, whole, v);
}

void fetch_class_of(struct fetch_classes *c, const struct git_raw *r,
                    struct file_class_verdict *verdict)
{
        bool is_link = (r->mode & 0170000) == 0120000 || (r->mode_was & 0170000) == 0120000;
        classes_by_path(c, r->path, verdict);
        classes_by_content(c, r, verdict);
        classes_by_shape(c, r->path, verdict);
        classes_by_gitlink(r, verdict);
        classes_by_leaving(c, r, verdict);
        classes_by_host(c, r->path, verdict);
        if (verdict->class == FILE_PLAIN && is_link)
                file_class_leads(c->table, r->path, verdict);
        if (verdict->class == FILE_PLAIN && c->are_links_lost)
                classes_say(verdict, "there are more links than can be followed");
        git_links_class(&c->links, c->table, r->path, is_link, verdict);
}
