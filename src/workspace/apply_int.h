/* apply_int.h - what apply and its memory share. Nobody else includes it. */
#ifndef WORKSPACE_APPLY_INT_H
#define WORKSPACE_APPLY_INT_H

#include "workspace/apply.h"

struct buf;

/* Lines of `applied`. applied_put_will: about to land, so that it is known as ours whatever moment
 * we are killed in. applied_put_done: landed; ${node} is the box's file as it was, or NULL when
 * only a part of it was taken, and the rest is still pending. */
void applied_put_will(struct buf *, const char *layer, const char *path, const struct undo_state *);
void applied_put_done(struct buf *, const char *layer, const char *path, const struct ws_node *,
                      const struct undo_state *);
/* applied_put_host: undo makes, or made, the host's path so. applied_is_put: is this what was
 * applied there? */
void applied_put_host(struct buf *, const char *layer, const char *path, const struct undo_state *);
bool applied_is_put(const struct applied *, const char *layer, const char *path,
                    const struct undo_state *);
int applied_append(int box_dir_fd, const struct buf *, struct err *);

/* applied_put_took(b, layer, ino): that a file of the host with this inode was replaced or deleted
 * by us. applied_took(a, layer, ino): was it? ${a} may be NULL. */
void applied_put_took(struct buf *, const char *layer, uint64_t ino);
bool applied_took(const struct applied *, const char *layer, uint64_t ino);

/* apply_origin_is_gone(change, applied, since_ns): the host had a file that the box's is a copy of,
 * and has it no more, and that was not us. What is looked up for it is kept with ${applied} in
 * applied_origins(a), which is NULL for none. */
bool apply_origin_is_gone(const struct ws_change *, const struct applied *, int64_t since_ns);
/* apply_is_moved(change, applied, since_ns): was a directory above it renamed, or given another
 * mode, since then, and not by us? */
bool apply_is_moved(const struct ws_change *, const struct applied *, int64_t since_ns);
struct apply_origins;
void apply_origins_free(struct apply_origins *);
struct apply_origins **applied_origins(const struct applied *);

/* What never lands (apply_ground.c). apply_ground_open(g, root, choices, n): which directories would get
 * parts of a git directory; both are borrowed. apply_ground_refuses(g, change): a constant sentence,
 * or NULL. */
struct apply_ground {
        const struct ws_root *root;
        struct apply_ground_dir *v; /* sorted */
        size_t n;
        char *clean; /* a directory that is not in one of git's on the host: the last one asked for
                        */
};
void apply_ground_open(struct apply_ground *, const struct ws_root *, const struct apply_choice *,
                       size_t n);
void apply_ground_close(struct apply_ground *);
const char *apply_ground_refuses(struct apply_ground *, const struct ws_change *);

/* applied_last(a, layer, path, sha): the content that was put there last; false: none. */
bool applied_last(const struct applied *, const char *layer, const char *path,
                  char sha[SHA256_HEX_LEN + 1]);

/* apply_mode(box, host): the mode that lands: the bits that the host's file has too, and of the others
 * those that the user's umask allows. ${host} is 0 for something new. */
mode_t apply_mode(mode_t box, mode_t host);

/* apply_host_is(host, sha): is it what apply_host_sha named? */
bool apply_host_is(const struct undo_state *host, const char *sha);

/* apply_judge_state(change, applied, host, ident, conflict): the same as apply_judge, of a host
 * path that was looked at. */
void apply_judge_state(const struct ws_change *, const struct applied *,
                       const struct undo_state *host, const struct undo_ident *,
                       enum apply_conflict *);

#endif
