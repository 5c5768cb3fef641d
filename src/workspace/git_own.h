/* git_own.h - has a box committed something in a repository that only it has, or is it a clone of another
 * one, as builds make them? For who asks before such a repository is thrown away. Read from the layers,
 * without git; a box that hides its own work from its own reflog only loses it. */
#ifndef WORKSPACE_GIT_OWN_H
#define WORKSPACE_GIT_OWN_H

#include "workspace/view.h"

#include <stdbool.h>

/* git_own_commits(view, repo): ${repo} is a work tree with a `.git`, or a bare repository, from the root
 * of the view. false also for one without commits, and for a `.git` that leads elsewhere: there they
 * are. What cannot be told counts as a commit. */
bool git_own_commits(const struct ws_view *, const char *repo);

#endif
