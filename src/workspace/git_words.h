/* git_words.h - which files a git setting names that makes git run something: `core.fsmonitor =
 * tools/watch`, `filter.x.clean = sh tools/clean.sh %f`, `alias.x = !cd tools && ./x`.
 *
 * A value is a line for a shell, and nobody can say for sure what a shell makes of it. So this is no
 * parser: it takes the value apart in each way that a path may be written in one, and keeps more than
 * will be run. Nothing is believed or opened, it only makes more files ask. Used by git_host.c for
 * repositories and by classify_said.c for the user's own settings. */
#ifndef WORKSPACE_GIT_WORDS_H
#define WORKSPACE_GIT_WORDS_H

#include "base/strs.h"

#include <stdbool.h>

struct git_config_entry;
struct git_user;

struct git_words {
        struct strs trees;      /* absolute: this, and what is below it if it is a directory */
        struct strs files;      /* absolute: this alone */
        struct strs attributes; /* absolute: core.attributesFile */
        struct strs tops;       /* absolute: directories where a plain word may be a file */
        struct strs dirs;       /* the same, and what an interpreter runs of a directory */
        struct strs words;      /* plain words: "clean" in `sh clean` */
        struct strs tails;      /* how a path may end: "tools/clean.sh", wherever it begins */
        bool is_over;           /* more than is kept: then everything asks */
};
void git_words_free(struct git_words *);
#define _cleanup_git_words_ __attribute__((cleanup(git_words_free)))

/* git_words_add(w, user, entry, bases): what one setting names. ${bases}: directories, absolute, that
 * a relative path may be meant from. */
void git_words_add(struct git_words *, const struct git_user *, const struct git_config_entry *,
                   const struct strs *bases);

/* git_words_is_entry(name): what an interpreter runs of a directory that it is given. */
bool git_words_is_entry(const char *name);

#endif
