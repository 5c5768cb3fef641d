/* store.h - state on disk: where boxes live, what each is, which are alive.
 *
 *   $XDG_STATE_HOME/ostiary/boxes/ID/
 *       lock     locked (F_OFD_SETLK: shared by fork, gone with the last copy, and askable without
 *                taking it) by the living supervisor, so that the truth does not depend on anybody
 *                cleaning up
 *       ctl      the supervisor's control socket
 *       opts     what the user asked for (opts.h)
 *       meta     facts about the run, one "key value" line each
 *       output   the last megabytes of terminal or stdout/stderr
 *       root/    empty; the new root is mounted on it, in the box only
 *       layers/  upper and work directories
 *   $XDG_DATA_HOME/ostiary/homes/PROFILE/  accepted home layers
 *   $XDG_CONFIG_HOME/ostiary/profiles/     the user's own profiles
 *
 * All 0700. */
#ifndef SESSION_STORE_H
#define SESSION_STORE_H

#include "base/strs.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct err;

struct store {
        char *state; /* .../ostiary */
        char *data;
        char *config;
};

/* store_open(s, err): work out the three directories from XDG variables or HOME and make the first
 * two when missing. Refuses relative paths, and a state directory on NFS or another filesystem that
 * cannot hold an overlay's upper, with the cure. */
int store_open(struct store *, struct err *);
/* store_paths(s, err): only work them out; makes and checks nothing. */
int store_paths(struct store *, struct err *);
void store_free(struct store *);

/* store_passwd_home(uid): the home that /etc/passwd names for it, or NULL; the caller's. */
char *store_passwd_home(uid_t);

/* store_unfit_fs(fd): the name of the filesystem ${fd} is on when it cannot hold an overlay's upper
 * (NFS, FUSE, overlay, ...), else NULL. */
const char *store_unfit_fs(int fd);
/* store_unfit_type(magic): the same of what statfs calls the type. */
const char *store_unfit_type(uint32_t magic);

enum box_state {
        BOX_STARTING,
        BOX_RUNNING,
        BOX_PAUSED, /* alive, and everything in it stopped, until `ostiary resume` */
        BOX_EXITED,
        BOX_DEAD /* supervisor was killed */
};

struct box_meta {
        char *id;   /* short, unique: "amber-3f2a" */
        char *name; /* the user's name for it or the same as id */
        char *profile;
        char *workspace;
        char *command; /* argv joined; whoever shows it quotes it */
        char *tier;    /* "ns" */
        char *grants;  /* what it was given, in words for the banner: "no network, memory 8G" */
        enum box_state state;
        pid_t supervisor_pid;         /* 0 when not alive */
        int64_t created_us, ended_us; /* wall clock; ended 0: it has not */
        int exit_code;                /* valid when BOX_EXITED */
        char *end_words;              /* why it ended, if there is a why */
        bool is_live, is_kept;
        bool was_written; /* a layer holds something, applied or not; pending_holds() is the answer */
};

void box_meta_free(struct box_meta *);
const char *box_state_name(enum box_state); /* "running" */
bool box_state_is_alive(enum box_state);    /* starting, running or paused */

/* store_new_box(s, name, &id, &dir_fd, &lock_fd, err): make a fresh box directory and take its
 * lock. With a ${name} that is the id too, so that taking it is one mkdir and cannot race; a name
 * in use is refused. NULL makes one up. */
int store_new_box(const struct store *, const char *name, char **id, int *dir_fd, int *lock_fd,
                  struct err *);

/* store_find(s, word, &id, err): by id, unique prefix of an id, or name; E_ABSENT with a
 * suggestion. An empty or NULL word means the only (else the newest) box. */
int store_find(const struct store *, const char *word, char **id, struct err *);

/* store_box_dir(s, id, err): descriptor of the box's directory. */
int store_box_dir(const struct store *, const char *id, struct err *);
/* store_box_lock(dir_fd, err): take the lock; returns its descriptor, or -1 with errno EAGAIN when
 * the box is alive. The lock lives until the last copy of the descriptor is closed. */
int store_box_lock(int dir_fd, struct err *);
/* store_box_lock_there(dir_fd, err): the same, but never makes the lock's file: for those who may
 * come when the box is just being removed. */
int store_box_lock_there(int dir_fd, struct err *);
bool store_box_is_alive(int dir_fd);

/* store_box_has_changes(dir_fd): does a layer other than the home's hold anything, frozen ones
 * included? Looked up on disk, for boxes whose supervisor was killed before it could write it down.
 */
bool store_box_has_changes(int dir_fd);

/* meta: written whole and renamed; `state` on disk is what was last known, store_meta_read corrects
 * it by the lock; what the file does not say, or no file, comes out as "" or 0. */
int store_meta_write(int dir_fd, const struct box_meta *, struct err *);
int store_meta_read(int dir_fd, const char *id, struct box_meta *, struct err *);

/* store_list(s, &metas, &n, err): all boxes, newest first; half-made and foreign directories do no
 * harm. store_list_free gives them back. */
int store_list(const struct store *, struct box_meta **, size_t *, struct err *);
void store_list_free(struct box_meta *, size_t);

/* store_box_use(s, id, err): something of the box is on its way to the host: it is not removed before the
 * descriptor that this returns is closed. Any number of users; -1 when it is gone or being removed. */
int store_box_use(const struct store *, const char *id, struct err *);

/* store_remove(s, id, err): delete everything of a box that is not alive. One that is in use is waited
 * for, some seconds, and then refused, with EBUSY. */
int store_remove(const struct store *, const char *id, struct err *);

/* store_discard(s, id, err): the same for a box whose lock the caller holds. */
int store_discard(const struct store *, const char *id, struct err *);

/* store_sweep(s, err): finish removals that were interrupted. Returns how many, or -1. */
int store_sweep(const struct store *, struct err *);

/* store_is_name(s): may it be a box's name? */
bool store_is_name(const char *);

#endif
