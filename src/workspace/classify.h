/* classify.h - what a change means, by everything that is known of it: its path (policy/
 * file_class.h), the shape of the directories around it, and what it holds.
 *
 * One struct classify for each root and walk: it reads once where the repository's own settings say
 * hooks and included configuration are. Nothing is followed and nothing of it is run. */
#ifndef WORKSPACE_CLASSIFY_H
#define WORKSPACE_CLASSIFY_H

#include "workspace/change.h"

struct git_words;

struct classify;

/* classify_new(root, classes): never NULL; both are borrowed. ${classes} NULL: the built-in tables.
 */
struct classify *classify_new(const struct ws_root *, const struct file_classes *);
void classify_free(struct classify *);

/* classify_at(c, before, after): the directory, opened on both sides (NULL: not there), that the next
 * change is in: it is looked at by descriptor then, however deep it lies. */
struct ws_dir;
void classify_at(struct classify *, const struct ws_dir *before, const struct ws_dir *after);

/* classify_change(c, change): fill change->class from path, what, before and after. A directory
 * itself is plain, unless it makes its own a git directory: what is in it is judged entry by entry.
 * Another mode of a directory is of the class of what is in it. What cannot be read is judged by its
 * path, never as plain. */
void classify_change(struct classify *, struct ws_change *);

/* classify_path(c, path, kind, verdict): the same for something that is there, without a
 * comparison: a git config with no key that runs anything is plain. For live workspaces. */
void classify_path(struct classify *, const char *path, enum ws_kind, struct file_class_verdict *);

/* classify_place(c, path, kind, verdict): what a file or directory is there for, whatever it holds:
 * a git config is one even if all its keys are plain, and a directory of hooks is of their class.
 */
void classify_place(struct classify *, const char *path, enum ws_kind, struct file_class_verdict *);

/* For who judges on while a tree changes. classify_makes_git(verdict): does this file complete a
 * git directory, where there was none? classify_forget(c): directories may have another shape now.
 * classify_named(c, configs, run): directories of hooks, files of configuration and what git runs, as
 * settings name them, from the root on; they are the classifier's. */
bool classify_makes_git(const struct file_class_verdict *);
void classify_forget(struct classify *);
/* classify_is_git_part(name): may a path within a git directory begin with this component? */
bool classify_is_git_part(const char *name);
const struct strs *classify_named(const struct classify *, const struct strs **configs,
                                  const struct git_words **run);

#endif
