/* walk_git.c - git's own ground in a copy-on-write root: what the walk neither tells nor enters,
 * because nothing of it ever lands (its commits are fetched: git/fetch.h), and what is refused
 * because it would become such a directory on the host. Called by walk.c and walk_judge.c. */
#include "workspace/walk_int.h"

#include "policy/git_shape.h"

#include <string.h>

static bool is_cow(const struct walk *w)
{
        return w->root->kind == WS_ROOT_COW;
}

static unsigned shape_of(const struct ws_dir *d)
{
        unsigned bits = 0;
        const char *name;
        for (unsigned i = 0; d && (name = git_shape_bit_name(i)); i++) {
                struct ws_node node = {0};
                if (ws_dir_look(d, name, &node, NULL) == 0 && node.kind != WS_NONE)
                        bits |= 1U << i;
        }
        return bits;
}

static void note(struct walk *w, const char *path, size_t len)
{
        struct strs *trees = &w->tally->git_trees;
        if (trees->n >= WS_GIT_TREES_MAX)
                w->tally->git_more_n++;
        else
                strs_addf(trees, "%.*s", (int)len, path);
}

/* is_output(w, f, was_there): a repository that a build fetched into a directory that is ignored is
 * no more to be told than what is beside it. */
static bool is_output(const struct walk *w, const struct walk_frame *f, bool was_there)
{
        return f->ignored && !was_there && !w->query->with_ignored;
}

static void note_output(struct walk *w, const char *path, size_t len)
{
        struct strs *repos = &w->tally->git_output;
        if (repos->n < WS_GIT_TREES_MAX)
                strs_addf(repos, "%.*s", (int)len, path);
}

bool walk_git_is_name(const struct walk *w, const char *name)
{
        return is_cow(w) && strcmp(name, ".git") == 0;
}

void walk_git_name(struct walk *w, struct walk_frame *f, const struct ws_change *c)
{
        bool was_there = c->before.kind != WS_NONE;
        f->holds_git |= was_there;
        size_t len = f->path_len ? f->path_len - 1 : 0;
        if (is_output(w, f, was_there))
                note_output(w, c->path, len);
        else
                note(w, c->path, len);
}

/* is_ground(f): is the directory of the frame one of git's? One that the host has and that the
 * box made into one is not: its own files are told, and only what would make it one is refused.
 * Both sides together decide that, since a part that the box removed may stay on the host. */
static bool is_ground(struct walk_frame *f)
{
        unsigned was = shape_of(f->before), is = shape_of(f->after);
        if (git_shape_is(was) || (!f->before && git_shape_is(is)))
                return true;
        f->is_made_git = git_shape_is(was | is);
        return false;
}

bool walk_git_is_root(struct walk *w, struct walk_frame *f)
{
        if (!is_cow(w))
                return false;
        bool is_git = ws_root_is_git(w->root) || is_ground(f);
        if ((is_git || f->is_made_git) && f->names.n + f->more.n > 0)
                note(w, "", 0);
        return is_git;
}

bool walk_git_is_dir(struct walk *w, struct walk_frame *f, struct walk_frame *sub,
                     const struct ws_change *c)
{
        if (!is_cow(w))
                return false;
        bool is_git = is_ground(sub), was_there = c->before.kind != WS_NONE;
        if (is_git && is_output(w, f, was_there))
                note_output(w, c->path, strlen(c->path));
        else if ((is_git || sub->is_made_git) && !is_output(w, f, was_there))
                note(w, c->path, strlen(c->path));
        f->holds_git |= is_git && was_there;
        return is_git;
}

const char *walk_git_refusal(const struct walk *w, const struct walk_frame *f, const char *name)
{
        if (f->refused || !is_cow(w))
                return f->refused;
        if (git_shape_name(name) == GIT_NAME_ALIKE)
                return "its name is one that other systems take for .git";
        if (f->is_made_git && classify_is_git_part(name))
                return "it would make its directory a git directory";
        return NULL;
}
