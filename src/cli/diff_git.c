/* diff_git.c - what git keeps for itself: objects, index, logs and refs. A commit in a box touches
 * dozens of such files, and no reader learns anything from them; so they are summed up per git
 * directory, and refs are told by name, from which commit to which.
 *
 * Only files of class plain get here: hooks, settings and pointers are always shown in full. What
 * the box wrote into a ref is shown only if it is a commit's name or another ref's. */
#include "cli/diff.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <string.h>
#include <unistd.h>

enum { REFS_MAX = 40, REF_LEN = 512 };

/* inner(path, is_git_dir): the part of a path below the innermost git directory, or NULL. In a root
 * that is a git directory itself everything is. */
static const char *inner(const char *path, bool is_git_dir)
{
        const char *found = is_git_dir ? path : NULL;
        for (const char *p = path; p; p = strchr(p, '/')) {
                p += *p == '/';
                if (str_starts(p, ".git/"))
                        found = p + 5;
        }
        /* Submodules and linked worktrees have their own within. */
        while (found && (str_starts(found, "modules/") || str_starts(found, "worktrees/"))) {
                const char *slash = strchr(strchr(found, '/') + 1, '/');
                if (!slash)
                        break;
                found = slash + 1;
        }
        return found;
}

static bool is_ref(const char *in)
{
        size_t n = strlen(in);
        return str_starts(in, "refs/") || strcmp(in, "HEAD") == 0 ||
               strcmp(in, "packed-refs") == 0 ||
               (n > 5 && !strchr(in, '/') && strcmp(in + n - 5, "_HEAD") == 0);
}

static bool is_bookkeeping(const char *in)
{
        static const char *const files[] = {
                "index",  "COMMIT_EDITMSG", "MERGE_MSG",  "MERGE_MODE", "MERGE_RR", "gc.log",
                "gc.pid", "AUTO_MERGE",     "FETCH_HEAD", "SQUASH_MSG", "shallow"};
        static const char *const dirs[] = {"objects/",      "logs/",      "rebase-merge/",
                                           "rebase-apply/", "sequencer/", "rr-cache/"};
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                if (strcmp(in, files[i]) == 0)
                        return true;
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
                if (str_starts(in, dirs[i]))
                        return true;
        return strcmp(in, "objects") == 0 || strcmp(in, "logs") == 0 || strcmp(in, "refs") == 0;
}

/* value(view, path, node): what a ref holds, in words; the caller frees. */
static char *value(const struct ws_view *v, const char *path, const struct ws_node *node)
{
        if (node->kind == WS_NONE)
                return NULL;
        struct ws_node now;
        char text[REF_LEN + 1];
        _cleanup_close_ int fd = node->kind == WS_FILE ? ws_view_file(v, path, &now, NULL) : -1;
        ssize_t n = fd < 0 ? -1 : read(fd, text, REF_LEN);
        if (n < 0)
                return str_dup("something else than a ref");
        text[n] = 0;
        text[strcspn(text, "\n")] = 0;
        size_t hex = strspn(text, "0123456789abcdef");
        if ((hex == 40 || hex == 64) && !text[hex]) {
                text[12] = 0;
                return str_dup(text);
        }
        if (str_starts(text, "ref: ")) {
                _cleanup_free_ char *shown = str_quote(text + 5);
                return str_dup(shown);
        }
        return str_dup("something else than a ref");
}

static void add_ref(struct diff *d, const struct ws_change *c, const char *in)
{
        struct diff_git *g = &d->git;
        if (++g->refs_n > REFS_MAX)
                return;
        _cleanup_free_ char *name = str_quote(in);
        if (strcmp(in, "packed-refs") == 0) {
                strs_addf(&g->lines, "packed-refs %s", ws_what_name(c->what));
                return;
        }
        _cleanup_free_ char *from = value(&c->root->before, c->path, &c->before);
        _cleanup_free_ char *to = value(&c->root->after, c->path, &c->after);
        if (!from)
                strs_addf(&g->lines, "%s is new, at %s", name, to ? to : "nothing");
        else if (!to)
                strs_addf(&g->lines, "%s is gone, was at %s", name, from);
        else
                strs_addf(&g->lines, "%s %s..%s", name, from, to);
}

/* asks_inside(d, is_git_dir): did the user name a path within a git directory? */
static bool asks_inside(const struct diff *d, bool is_git_dir)
{
        const struct strs *asked = d->c->paths ? &d->c->paths[d->root] : NULL;
        for (size_t i = 0; asked && i < asked->n; i++) {
                _cleanup_free_ char *path = str_fmt("%s/", asked->v[i]);
                if (asked->v[i][0] && inner(path, is_git_dir))
                        return true;
        }
        return false;
}

/* own(c): the path below its git directory, if it is a plain file that git keeps for itself. */
static const char *own(const struct ws_change *c)
{
        const char *in = inner(c->path, str_starts(c->root->name, "git"));
        bool is_plain = c->class.class == FILE_PLAIN && !c->class.is_odd && !c->is_masked;
        return is_plain && in && (is_ref(in) || is_bookkeeping(in)) ? in : NULL;
}

bool diff_git_is_own(const struct ws_change *c)
{
        return own(c) != NULL;
}

int diff_git_take(struct diff *d, const struct ws_change *c, struct err *err)
{
        const char *in = own(c);
        if (d->with_all || !in || asks_inside(d, str_starts(c->root->name, "git")))
                return 0;

        size_t dir_len = (size_t)(in - c->path);
        _cleanup_free_ char *rel = strndup(c->path, dir_len ? dir_len - 1 : 0);
        if (!rel)
                str_no_memory();
        _cleanup_free_ char *dir = diff_name(d, rel);
        if (d->git.dir && strcmp(d->git.dir, dir) != 0 && diff_git_flush(d, err) < 0)
                return -1;
        if (!d->git.dir)
                d->git.dir = take_ptr(&dir);
        if (c->after.kind == WS_DIR || (c->after.kind == WS_NONE && c->before.kind == WS_DIR))
                return 1;
        if (is_ref(in) && !is_bookkeeping(in)) {
                add_ref(d, c, in);
        } else if (str_starts(in, "objects/")) {
                d->git.objects_n++;
                d->git.bytes += c->after.kind == WS_FILE ? c->after.size : 0;
        } else {
                d->git.others_n++;
        }
        return 1;
}

int diff_git_flush(struct diff *d, struct err *err)
{
        struct diff_git g = d->git;
        d->git = (struct diff_git){0};
        if (!g.dir)
                return 0;
        char n[32], bytes[16];
        int rc = 0;
        for (size_t i = 0; i < g.lines.n && rc == 0; i++)
                rc = diff_note(d, err, "%s: %s", g.dir, g.lines.v[i]);
        if (rc == 0 && g.refs_n > REFS_MAX)
                rc = diff_note(d, err, "%s: and %s more refs; --all shows them", g.dir,
                               ws_print_number(g.refs_n - REFS_MAX, n));
        if (rc == 0 && g.objects_n + g.others_n > 0) {
                char others[32];
                rc = diff_note(d, err,
                               "%s: %s objects (%s) and %s other files of git's own bookkeeping; "
                               "--all shows them",
                               g.dir, ws_print_number(g.objects_n, n),
                               str_size_words(g.bytes, bytes), ws_print_number(g.others_n, others));
        }
        strs_free(&g.lines);
        free(g.dir);
        return rc;
}
