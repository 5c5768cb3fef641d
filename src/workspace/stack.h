/* stack.h - the frozen layers below a box: what it, or the box it was forked from, wrote before the
 * last snapshot, turn or fork.
 *
 *   $XDG_STATE_HOME/ostiary/frozen/FID/   NAME/ ...   one tree per layer name, never written again
 *                                         info        who made it, when
 *   boxes/ID/stack                        the box's own list, oldest first, one line each:
 *                                         layer FID<TAB>KIND<TAB>LABEL<TAB>UNIX_S
 *                                         layers N       the last line
 *   snapshots/NAME                        a file: the same list, and what a box needs besides
 *
 * KIND is turn, snapshot, fork or squash. To freeze is: make FID, write the list with it, then
 * rename each upper into it. Whatever moment that is killed in, list and uppers together show the
 * same files as before, because a tree that is not there counts for nothing. Sharing costs nothing
 * and nothing is copied, whatever the size. */
#ifndef WORKSPACE_STACK_H
#define WORKSPACE_STACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;

enum { STACK_ID_LEN = 16, STACK_MAX = 400, STACK_SQUASH_AT = 16 };

struct stack_entry {
        char id[STACK_ID_LEN + 1];
        char *kind, *label;
        int64_t when_s;
};
struct stack {
        struct stack_entry *v; /* oldest first */
        size_t n;
};
void stack_free(struct stack *);
#define _cleanup_stack_ __attribute__((cleanup(stack_free)))

/* stack_read(dir_fd, name, s, err): a list; one that is not there is empty. A line that is not
 * whole is an error: a layer must not vanish from sight. */
int stack_read(int dir_fd, const char *name, struct stack *, struct err *);
int stack_write(int dir_fd, const char *name, const struct stack *, struct err *);
/* stack_parse(text, s, err) / stack_put(b, s): the same from and to text; other keys may stand
 * beside it. ${text} is changed. */
int stack_parse(char *text, struct stack *, struct err *);
void stack_put(struct buf *, const struct stack *);
/* stack_add(s, id, kind, label, when). */
void stack_add(struct stack *, const char *id, const char *kind, const char *label, int64_t when_s);
/* stack_drop(s, at): entry ${at} is not in the list any more. */
void stack_drop(struct stack *, size_t at);
bool stack_is_id(const char *);
/* stack_turn(s, n): index of the n-th entry of kind turn (n from 1), or s->n. */
size_t stack_turn(const struct stack *, unsigned n);

/* stack_freeze(box_dir_fd, frozen_fd, kind, label, id, err): freeze the uppers of a box whose
 * processes are gone (the caller has its lock). Layers that hold nothing are not moved; if all are
 * empty, nothing is added and ${id} is "". Constant time. */
int stack_freeze(int box_dir_fd, int frozen_fd, const char *kind, const char *label,
                 char id[STACK_ID_LEN + 1], struct err *);
/* stack_copy(box_dir_fd, frozen_fd, kind, label, id, err): the same for a box that is frozen or
 * goes on afterwards: the uppers are copied (reflink where the filesystem can) and stay; nothing is
 * added to the box's own list. */
int stack_copy(int box_dir_fd, int frozen_fd, const char *kind, const char *label,
               char id[STACK_ID_LEN + 1], struct err *);

/* stack_open(frozen_fd, id, layer_name, err): the tree's descriptor; -1 with ENOENT in err->sys
 * when this entry has none of that name. The entry itself missing is an error of its own (E_INPUT).
 */
int stack_open(int frozen_fd, const char *id, const char *layer_name, struct err *);

/* stack_hold(frozen_fd, is_alone, err): a descriptor; as long as one is open that is not alone,
 * nothing unlisted is swept. Whoever makes an entry holds it until it is listed. */
int stack_hold(int frozen_fd, bool is_alone, struct err *);

/* stack_squash(frozen_fd, s, keep_n, err): make one new entry of all but the newest ${keep_n} that
 * are no turns, and put it into ${s} instead; the old trees stay until nobody lists them
 * (stack_gc). */
int stack_squash(int frozen_fd, struct stack *, size_t keep_n, struct err *);

/* stack_back(box_dir_fd, frozen_fd, s, at, how, err): take entry ${at} back: the box's list goes on
 * without it, or with another that has only the paths which a later layer, or the upper, changed
 * too. Every path is told. The caller has the box's lock and holds stack_hold. */
struct stack_back {
        bool is_dry;
        const char *whole; /* a layer that is not taken back, and not told of: "home"; or NULL */
        void (*on_path)(void *arg, const char *layer, const char *path, bool is_kept);
        void *arg;
};
int stack_back(int box_dir_fd, int frozen_fd, struct stack *, size_t at, const struct stack_back *,
               struct err *);

#endif
