/* secret_files_int.h - what the writers of credential files share. Included by
 * session/secret_files*.c only. */
#ifndef SESSION_SECRET_FILES_INT_H
#define SESSION_SECRET_FILES_INT_H

#include "base/buf.h"
#include "session/secret_files.h"
#include "session/secrets.h"
#include "session/seed_int.h"
#include "session/start.h"

struct secret_files {
        struct session_plan *plan;
        struct seed_into into;
        struct seed_run run;
        struct err *err;
};

/* secret_files_put(f, path, b): write one file below the home; what cannot be is noted. 0 or -1. */
int secret_files_put(struct secret_files *, const char *path, struct buf *);

/* secret_files_old(f, path): what the home has there already, terminated, the caller's to free; ""
 * when nothing. */
char *secret_files_old(const struct secret_files *, const char *path);

/* secret_files_block(f, path, block): append ${block} between two comment lines of ours to what is
 * there; a block of an earlier start goes. Nothing at all when ${block} is empty and there was
 * none. */
int secret_files_block(struct secret_files *, const char *path, struct buf *block);

/* secret_files_has(s, form): is it one of the secret's forms? */
bool secret_files_has(const struct session_secret *, enum rule_form);
/* secret_files_is(s, provider): is it a key of that provider, by its value's shape or, when that
 * says nothing, by a part of its name? */
bool secret_files_is(const struct session_secret *, const char *provider);
/* secret_files_host(place, out): HOST or HOST:PORT of a place that is one host; false for a
 * wildcard. ${out} has room for 300 bytes. */
bool secret_files_host(const struct rule_place *, char out[300]);
/* secret_files_user(s): the user's name that goes with it where one is wanted. */
const char *secret_files_user(const struct session_secret *);
/* secret_files_value(s): the placeholder of a secret that is one text; NULL when it is not. */
const char *secret_files_value(const struct session_secret *);

/* Each writes what the secrets of the plan ask for; nothing when none does. */
int secret_files_git(struct secret_files *);
int secret_files_gh(struct secret_files *);
int secret_files_registry(struct secret_files *);
int secret_files_cloud(struct secret_files *);
int secret_files_login(struct secret_files *);
int secret_files_agent(struct secret_files *);
int secret_files_ssh(struct secret_files *);

#endif
