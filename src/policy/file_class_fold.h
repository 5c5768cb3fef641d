/* file_class_fold.h - the name that a file has for somebody who does not look closely: another file
 * system, another operating system, a reader (case 75). Pure functions, used by file_class.c. */
#ifndef POLICY_FILE_CLASS_FOLD_H
#define POLICY_FILE_CLASS_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/* A path cut into components, each as it is and folded. */
struct file_parts {
        char **raw;    /* bytes as they are */
        char **folded; /* lower case; invisible code points, trailing dots and blanks and NTFS
                          streams gone; look-alikes of ASCII as ASCII */
        size_t n;
        char *space;         /* where all of them lie */
        bool may_begin[256]; /* which bytes a component begins with, raw or folded; all of them (and
                                ~) when there is a ~ in the path, for 8.3 names */
};
/* file_parts_of(p, path): slashes separate, and backslashes too; "." and empty components are left
 * out. */
void file_parts_of(struct file_parts *, const char *path);
void file_parts_free(struct file_parts *);
#define _cleanup_parts_ __attribute__((cleanup(file_parts_free)))

/* file_fold(name, len, out): one component; ${out} has room for len + 1 bytes. */
void file_fold(const char *name, size_t len, char *out);

/* file_part_is(pattern, pattern_len, folded): a pattern with * and ?, in any case, or its 8.3 name.
 * file_part_is_exactly(...): with case, and no other spelling. */
bool file_part_is(const char *pattern, size_t len, const char *folded);
bool file_part_is_exactly(const char *pattern, size_t len, const char *raw);

#endif
