/* git_shape.c - see git_shape.h. Called by the walk, apply and the classifier. It opens nothing.
 */
#include "policy/git_shape.h"

#include "policy/file_class_fold.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

static const char *const names[] = {"HEAD", "objects", "refs", "commondir", NULL};

enum git_name git_shape_name(const char *component)
{
        return strcmp(component, ".git") == 0 ? GIT_NAME_IS : git_shape_path(component);
}

enum git_name git_shape_path(const char *path)
{
        _cleanup_parts_ struct file_parts parts;
        enum git_name found = GIT_NAME_OTHER;
        file_parts_of(&parts, path);
        for (size_t i = 0; i < parts.n && found != GIT_NAME_IS; i++) {
                if (!file_part_is(".git", 4, parts.folded[i]))
                        continue;
                bool is_it = strcmp(parts.raw[i], ".git") == 0 && !strchr(path, '\\');
                found = is_it ? GIT_NAME_IS : GIT_NAME_ALIKE;
        }
        return found;
}

unsigned git_shape_bit(const char *component, unsigned long len)
{
        for (unsigned i = 0; names[i]; i++)
                if (strlen(names[i]) == len && strncasecmp(names[i], component, len) == 0)
                        return 1U << i;
        return 0;
}

const char *git_shape_bit_name(unsigned i)
{
        return i < sizeof names / sizeof names[0] ? names[i] : NULL;
}

bool git_shape_is(unsigned bits)
{
        unsigned whole = GIT_SHAPE_OBJECTS | GIT_SHAPE_REFS;
        return (bits & GIT_SHAPE_HEAD) && ((bits & GIT_SHAPE_COMMONDIR) || (bits & whole) == whole);
}

unsigned git_shape_at(int dir_fd)
{
        struct stat st;
        unsigned bits = 0;
        for (unsigned i = 0; names[i]; i++)
                if (fstatat(dir_fd, names[i], &st, AT_SYMLINK_NOFOLLOW) == 0)
                        bits |= 1U << i;
        return bits;
}
