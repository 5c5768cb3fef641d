/* box_path.h - what a path means in the box, for the log: symbolic links followed below the box's
 * root and never out of it. Nothing is opened; links are read, that is all. */
#ifndef AUDIT_BOX_PATH_H
#define AUDIT_BOX_PATH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { BOX_PATH_MAX = 1023 };

/* box_path_join(pid, dir, path, out): ${path} made absolute: as it is; or below descriptor ${dir}
 * of the process; or, when that is AT_FDCWD, below its working directory. */
void box_path_join(pid_t pid, int dir, const char *path, char out[BOX_PATH_MAX + 1]);

/* box_path_resolve(root_fd, pid, path, out): the file that an absolute path leads to. 0, or -1 when
 * there is none (${out} is as far as it came). */
int box_path_resolve(int root_fd, pid_t pid, const char *path, char out[BOX_PATH_MAX + 1]);

/* box_path_link(pid, what, out): a link of /proc/PID: "exe", "cwd", "fd/3"; "" when it cannot be
 * read. */
void box_path_link(pid_t pid, const char *what, char out[BOX_PATH_MAX + 1]);

#endif
