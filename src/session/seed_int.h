/* seed_int.h - what the files of seed share: writing beneath the box's home, reading beneath the
 * host's. Included by session/seed*.c only. */
#ifndef SESSION_SEED_INT_H
#define SESSION_SEED_INT_H

#include "session/seed.h"

#include <stddef.h>

struct profile_seed;

struct seed_run {
        const struct seed_into *into;
        int host_fd; /* the caller's home, for reading beneath */
        struct strs *notes;
        size_t files_left; /* of all seeds together, so that no settings directory fills the disk */
        size_t bytes_left;
};

/* seed_note(run, path, why): a seed that was left out, in words. */
void seed_note(struct seed_run *, const char *path, const char *why);

/* seed_dir(run, path, err): make the directory ${path} below the box's home, owned by the box;
 * returns its descriptor or -1. "" is the home itself. */
int seed_dir(const struct seed_run *, const char *path, struct err *);

/* seed_file(run, path, data, len, mode, err): write one file there, replacing what was there. */
int seed_file(const struct seed_run *, const char *path, const void *data, size_t len, mode_t mode,
              struct err *);

/* seed_read(run, path, max, &len): a host file, the caller's to free; NULL when it is absent or
 * left out with a note. Always followed by a NUL byte. */
char *seed_read(struct seed_run *, const char *path, size_t max, size_t *len);

/* seed_copy.c, seed_json.c: one line of the profile. */
int seed_copy(struct seed_run *, const char *path, struct err *);
int seed_json(struct seed_run *, const struct profile_seed *, struct err *);

/* seed_packages.c: where the user's package managers read from, without what they hold of keys. */
int seed_packages(struct seed_run *, struct err *);

/* seed_git.c: a ~/.gitconfig with name, e-mail and default branch, and nothing else. */
int seed_git(struct seed_run *, struct err *);

#endif
