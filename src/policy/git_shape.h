/* git_shape.h - what git takes for one of its directories: by name, and by what is in it (case 62).
 * Used wherever something of a git directory must not pass as a plain file. */
#ifndef POLICY_GIT_SHAPE_H
#define POLICY_GIT_SHAPE_H

#include <stdbool.h>

/* git_shape_name(component): is it `.git`, or a name that another file system or operating system
 * takes for it (case 75: ".GIT", "git~1", ".git.", NTFS streams, invisible code points, a backslash
 * as separator)? */
enum git_name { GIT_NAME_OTHER, GIT_NAME_IS, GIT_NAME_ALIKE };
enum git_name git_shape_name(const char *component);
/* git_shape_path(path): the same of a whole path: GIT_NAME_IS when one component is. */
enum git_name git_shape_path(const char *path);

/* What makes a directory one of git's: HEAD, and objects and refs here or where commondir says. */
enum {
        GIT_SHAPE_HEAD = 1,
        GIT_SHAPE_OBJECTS = 2,
        GIT_SHAPE_REFS = 4,
        GIT_SHAPE_COMMONDIR = 8,
};
/* git_shape_bit(component, len): the bit of that name, or 0; in any case, as some file systems
 * read it. git_shape_bit_name(i): the names from 0 on, NULL after the last. git_shape_is(bits): do
 * they make a git directory? */
unsigned git_shape_bit(const char *component, unsigned long len);
const char *git_shape_bit_name(unsigned i);
bool git_shape_is(unsigned bits);

/* git_shape_at(dir_fd): the bits of what an open directory has; the only look at files here. */
unsigned git_shape_at(int dir_fd);

#endif
