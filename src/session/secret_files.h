/* secret_files.h - the credential files that agents read, in the box's home and full of
 * placeholders: ~/.aws/credentials, ~/.netrc, gh's hosts.yml, ~/.npmrc, ~/.docker/config.json,
 * ~/.pypirc, ~/.git-credentials, the logins of claude and codex, a service account's JSON.
 *
 * A secret's forms and places decide which files it is in. Split by what reads them:
 * secret_files_git.c, secret_files_registry.c, secret_files_cloud.c, secret_files_login.c. */
#ifndef SESSION_SECRET_FILES_H
#define SESSION_SECRET_FILES_H

struct err;
struct session_plan;

/* secret_files_write(plan, dir_fd, err): after the keeper answered (plan->secrets has placeholders)
 * and before the box's first process: write the files into the home layer of the box whose
 * directory is ${dir_fd}, 0600, the box's own. What a profile or an earlier start put there is kept
 * beside our entries. Variables that point at such a file are set in plan->box.env. A file that
 * cannot be in its place because the box put something else there is left out with a note. */
int secret_files_write(struct session_plan *, int dir_fd, struct err *);

#endif
