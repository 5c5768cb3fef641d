/* open_url.h - a program in the box wants an address opened in a browser: the way from $BROWSER to
 * the supervisor. */
#ifndef BOX_OPEN_URL_H
#define BOX_OPEN_URL_H

#include <stdint.h>

#define OPEN_URL_PROGRAM "/run/ostiary/open" /* what $BROWSER names */

/* open_url_make(): write that program and the FIFO it writes to; returns a descriptor to poll, or
 * -1 when it cannot be had: then nothing is ever asked. Runs as pid 1, behind the box's own walls.
 */
int open_url_make(void);

/* open_url_read(fd, ctl_fd): pass on what was written, as MSG_OPEN_URL. At most two a second; the
 * rest is dropped, because the box decides how many there are. */
void open_url_read(int fd, int ctl_fd);

#endif
