/* files.h - resolv.conf and hosts, and hearing of it when they change: laptops roam.
 *
 * dial itself has no files. Both are often links into /run and are replaced by renaming, so a right
 * to read them would be a right to whole directories; a second process has that right, takes
 * no message from anybody, and only ever sends the text of these two files. */
#ifndef DIAL_FILES_H
#define DIAL_FILES_H

#include <stddef.h>

struct err;
struct frame;

enum files_which { FILES_RESOLV, FILES_HOSTS, FILES_N };

/* files_read(path): the text, "" when there is none or it is not text; the caller frees. */
char *files_read(const char *path);

/* files_watch(paths, err): start the process. Returns a SEQPACKET socket on which a frame of type
 * enum files_which, with the text as its body, arrives at each change, and once at the start; -1
 * and a story otherwise. Call it before role_confine. */
int files_watch(const char *const paths[FILES_N], struct err *);

#endif
