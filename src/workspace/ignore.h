/* ignore.h - the lines of one ignore file (.gitignore, info/exclude), read and matched as git does:
 * negation, anchoring, **, trailing slashes and blanks, escapes, bracket expressions.
 *
 * Pure functions on bytes. Matching takes time in proportion to pattern times path, whatever stars
 * there are: the names it is asked about are hostile. */
#ifndef WORKSPACE_IGNORE_H
#define WORKSPACE_IGNORE_H

#include <stdbool.h>
#include <stddef.h>

struct ignore;

/* ignore_parse(text, len): the rules, or NULL when there are none. The bytes are not kept. */
struct ignore *ignore_parse(const char *text, size_t len);
void ignore_free(struct ignore *);

enum ignore_says { IGNORE_SILENT, IGNORE_YES, IGNORE_NO /* a line with "!" */ };

/* ignore_match(i, path, is_dir): what the last line that fits says of ${path}, which is relative to
 * the directory that the file is in (or, of info/exclude, to the repository). Whether a directory
 * above is ignored, and what files further up say, is the caller's to ask. ${i} may be NULL. */
enum ignore_says ignore_match(const struct ignore *, const char *path, bool is_dir);

#endif
