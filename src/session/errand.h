/* errand.h - git run in a box that lives for that one call: no network, no home of the user's, no
 * secret, a few limits, nothing to write to but a /tmp of its own. Two kinds: over the layers of a box
 * (reading what a box wrote, with a program that was not made for hostile files), and over one
 * directory that it may write to (receiving a pack). Built by the same plan and walls as any box. */
#ifndef SESSION_ERRAND_H
#define SESSION_ERRAND_H

#include "git/call.h"

struct buf;
struct err;
struct store;
struct strs;

struct errand;

/* errand_open(store, id, err): for the box ${id}, running or not; its layers are shown as the box
 * sees them, read-only, and one box serves all calls. NULL and a story on failure: E_REFUSED when
 * the workspace belongs to another uid. errand_close(NULL) is fine; nothing is left on the disk. */
struct errand *errand_open(const struct store *, const char *id, struct err *);
void errand_close(struct errand *);
#define _cleanup_errand_ __attribute__((cleanup(errand_closep)))
static inline void errand_closep(struct errand **e)
{
        errand_close(*e);
}

/* errand_inside(arg, call, err): for git_inside.run; ${arg} is a struct errand. */
int errand_inside(void *errand, const struct git_call *, struct err *);

/* errand_ask(store, program, script, readable, env, out, err): not git: /bin/sh runs ${script} with
 * ${program} (absolute) as $0, which is shown with what it needs; of the user's files it sees
 * ${readable} (those that exist), read-only, at their own places. The current directory is /. What it
 * prints is in ${out}. Its exit status, or -1 when it could not run or took too long; both with a
 * story unless 0. */
int errand_ask(const struct store *, const char *program, const char *script,
               const struct strs *readable, const struct strs *env, struct buf *out, struct err *);

/* errand_confined(arg, call, writable, readable, err): for git_want.confine; ${arg} is a struct
 * errand. Sees the system's programs, ${readable} and ${writable}, and nothing of the box. */
int errand_confined(void *errand, const struct git_call *, const char *writable,
                    const struct strs *readable, struct err *);

#endif
