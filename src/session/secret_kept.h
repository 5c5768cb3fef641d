/* secret_kept.h - the placeholders of a box, kept beside it for its next life: what the agent wrote
 * down of them (a settings file, a token in a script) goes on working when the box is woken, or
 * made anew from its layers. They have no value; only a keeper that is told of them honours them.
 */
#ifndef SESSION_SECRET_KEPT_H
#define SESSION_SECRET_KEPT_H

#include "session/secrets.h"

struct err;

/* secret_kept_write(dir_fd, secrets, err): as the keeper gave them; replaces what was there. */
int secret_kept_write(int dir_fd, const struct session_secrets *, struct err *);

/* secret_kept_each(dir_fd, name, fn, ctx): call ${fn} with each part and placeholder that the
 * secret of that name had; it returns 0 to go on. Nothing there is fine. */
int secret_kept_each(int dir_fd, const char *name,
                     int (*fn)(void *ctx, const char *part, const char *text), void *ctx);

#endif
