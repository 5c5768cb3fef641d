/* cgroup_int.h - what the cgroup_*.c files tell each other; nobody else includes it.
 *
 * cgroup_find.c says where we stand, cgroup_v2.c and cgroup_v1.c make groups there, cgroup_scope.c
 * asks systemd for a place, cgroup.c chooses and is the only caller. */
#ifndef BOX_CGROUP_INT_H
#define BOX_CGROUP_INT_H

#include "box/cgroup.h"

#include <stdbool.h>

#define CGROUP_PREFIX "ostiary-"
#define CGROUP_LEAF   "ostiary-leaf" /* where a supervisor goes that stood in its own way */
#define CGROUP_BIT(c) (1u << (c))
#define CGROUP_ALL    (CGROUP_BIT(BOX_CTL_N) - 1)
#define CGROUP_CORE                                                                                \
        (CGROUP_BIT(BOX_CTL_MEMORY) | CGROUP_BIT(BOX_CTL_PIDS)) /* who owns these rules */

extern const char *const cgroup_ctl_name[BOX_CTL_N];

/* Where this process stands, as paths that can be opened; "" where there is no such mount. */
struct cgroup_map {
        unsigned on_v1;                          /* bit per controller: a v1 hierarchy owns it */
        char v1[BOX_CTL_N][BOX_CGROUP_PATH_MAX]; /* our own group in that hierarchy */
        size_t v1_top[BOX_CTL_N];                /* length of the mount point in it */
        char v2[BOX_CGROUP_PATH_MAX];
        size_t v2_top;
};

/* cgroup_find(map): read /proc/self/cgroup and mountinfo, each controller for itself. Never fails:
 * what cannot be read is not there. Leaves places on v1 out for everybody but root. */
void cgroup_find(struct cgroup_map *);

/* cgroup_find_text(map, own, mounts): the same from the text of those two files, which it chews up.
 */
void cgroup_find_text(struct cgroup_map *, char *own, char *mounts);

/* cgroup_asked(limits): bit per controller that ${limits} needs. */
unsigned cgroup_asked(const struct box_limits *);

/* cgroup_names(bits, buf): "memory, pids and cpu" into at least 32 bytes; returns ${buf}. */
const char *cgroup_names(unsigned bits, char buf[32]);

/* The two makers: 1 made and ${cg} filled, 0 not possible here and ${why} says the reason as a
 * clause, -1 with ${err}. */
int cgroup_v2_make(struct box_cgroup *, struct cgroup_map *, const char *id,
                   const struct box_limits *, char why[256], struct err *);
int cgroup_v1_make(struct box_cgroup *, const struct cgroup_map *, const char *id,
                   const struct box_limits *, char why[256], struct err *);

void cgroup_v2_read(const struct box_cgroup *, struct box_usage *);
void cgroup_v1_read(const struct box_cgroup *, struct box_usage *);

/* cgroup_open(cg, slot, parent, id):
 * Make and open ${parent}/ostiary-${id}, or with .2, .3 ... after it when that exists; lock it, and
 * store both in ${slot}. 0, or -1 with errno. */
int cgroup_open(struct box_cgroup *, int slot, const char *parent, const char *id);

/* cgroup_value(dir_fd, file, key, &n): the number in ${file}, or after ${key} in a file of "key
 * number" lines. 0 or -1; "max" counts as absent. */
int cgroup_value(int dir_fd, const char *file, const char *key, uint64_t *);

/* cgroup_put(dir_fd, file, n): write the number. 0 or -1 with errno. */
int cgroup_put(int dir_fd, const char *file, uint64_t);

/* cgroup_procs(dir_fd, out): the first processes of that group, CGROUP_BATCH at most. Returns how
 * many; one outside our pid namespace counts as 0. */
#define CGROUP_BATCH 256
int cgroup_procs(int dir_fd, pid_t out[CGROUP_BATCH]);

/* cgroup_scope_exists(): is there a systemd manager that we could ask? */
bool cgroup_scope_exists(void);

/* cgroup_scope_enter(id, bits, why): have it put this process into a scope of its own with the
 * controllers in ${bits}. 0 once we are there, -1 with the reason as a clause. */
int cgroup_scope_enter(const char *id, unsigned bits, char why[256]);

#endif
