/* weak.h - the switch of the test-only build that leaves named walls out, one by one.
 *
 * An attack that fails proves nothing until it has been seen to succeed without the wall that is
 * meant to stop it. `make VARIANT=weak` builds out/weak/ostiary, which reads
 * OSTIARY_WEAKEN=layer[,layer...]; in every other build box_weak() is the constant false and the
 * compiler removes what stands behind it. Asked by each set-up step that has a layer here. */
#ifndef BOX_WEAK_H
#define BOX_WEAK_H

#include <stdbool.h>
#include <stddef.h>

enum box_weak_layer {
        WEAK_SECCOMP,
        WEAK_LANDLOCK,
        WEAK_CAPS,
        WEAK_NNP,
        WEAK_NOSUID,
        WEAK_DUMPABLE,
        WEAK_PIDNS,
        WEAK_NETNS,
        WEAK_IPCNS,
        WEAK_UTSNS,
        WEAK_USERNS_LIMITS,
        WEAK_OVERLAY_RO, /* plain binds instead of lower-only overlays */
        WEAK_ETC_FILTER,
        WEAK_ENV,
        WEAK_FDS,
        WEAK_RLIMITS,
        WEAK_CGROUP,
        WEAK_MASKS,
        WEAK_TIOCSTI, /* only that rule of the seccomp filter */
        WEAK_HIGHUID,
        WEAK_PROPAGATION,
        WEAK_KEYRING,
        WEAK_PTY,
        WEAK_HOME_MASK,
        WEAK_CWD,
        WEAK_SCRUB,         /* of the door: values in answers stay as they are */
        WEAK_TRIPWIRE,      /* of the door: placeholders are not looked for */
        WEAK_NOTIFY_MEMORY, /* the witness decides on clone3 by what stands in memory */
        WEAK_NOTIFY_ID,     /* the witness takes a number for the process that once had it */
        /* No walls: with these a role waits where a race would have to be met by chance. */
        WEAK_WAIT_TIED,  /* pid 1, before it is tied to its supervisor: for the end of that */
        WEAK_WAIT_BUILT, /* the same with the filter on, before the last word of the start */
        WEAK_WAIT_HELD,  /* the witness, over bind(), until its caller's number is another's */
        WEAK_LAYERS_N,
};

#ifdef OSTIARY_WEAK

/* box_weak_init(): read OSTIARY_WEAKEN. Called once, early in main, because the environment is
 * wiped soon after; forked processes inherit the answer. A name that is not a layer ends the
 * program with a sentence and exit 64, so that a misspelt test cannot pass. */
void box_weak_init(void);

/* box_weak(layer): was this layer asked to be left out? */
bool box_weak(enum box_weak_layer);

/* box_weak_wait(layer, fd): if it was asked for, wait until the other end of ${fd} is closed;
 * twenty seconds at most. */
void box_weak_wait(enum box_weak_layer, int fd);

/* box_weak_word(): what a role of the door gets as its only variable, or NULL; its layers are asked
 * for by role_weak (role/role.h). */
char *box_weak_word(void);

#else

static inline void box_weak_init(void)
{
}

static inline bool box_weak(enum box_weak_layer layer)
{
        (void)layer;
        return false;
}

static inline void box_weak_wait(enum box_weak_layer layer, int fd)
{
        (void)layer, (void)fd;
}

static inline char *box_weak_word(void)
{
        return NULL;
}

#endif

#endif
