/* spawn.h - pid 1 starts a command: the fork, the terminal, the exec, and the report of a failed
 * one. */
#ifndef BOX_SPAWN_H
#define BOX_SPAWN_H

#include <stdint.h>
#include <sys/types.h>

struct box_plan;
struct err;
struct msg_spawn;

/* spawn_command(plan, spawn, id, fds, &pid, &master_fd, err):
 * Fork and execute. With a terminal, a pty of the box is made and its master returned; otherwise
 * ${fds} become 0, 1 and 2. Returns when the exec has happened; -1 when it could not (E_NOCMD,
 * E_NOEXEC), and no process is left. ${fds} stay the caller's. */
int spawn_command(const struct box_plan *, const struct msg_spawn *, uint32_t id, const int fds[3],
                  pid_t *, int *master_fd, struct err *);

/* spawn_task(fn, ctx, keep_fd, &pid, err): fork a child that runs ${fn} with the box's own rights
 * and exits with what it returns; of pid 1's descriptors it has ${keep_fd} alone. For copying trees
 * in and out. */
int spawn_task(int (*fn)(void *), void *ctx, int keep_fd, pid_t *, struct err *);

#endif
