/* closing.h - close a copy of somebody else's descriptor without waiting for what they arranged.
 *
 * To close the last descriptor of a socket waits for as long as its owner asked (SO_LINGER), and to close
 * a file may wait for a server. Whoever copies descriptors out of a box closes them here. */
#ifndef BASE_CLOSING_H
#define BASE_CLOSING_H

/* closing_begin(): once in a process, before it gives up calls; afterwards closing_fd needs close,
 * setitimer and timer_settime. Takes SIGALRM and SIGVTALRM. 0 or -1 with errno. */
int closing_begin(void);

/* closing_fd(&fd): closed, and -1. What waits for a peer is interrupted after some hundredths of a second.
 * What no signal but the last one ends (a file system's server that does not answer) ends this process
 * after ten seconds: whoever started it starts another. */
void closing_fd(int *fd);

#define _cleanup_closing_ __attribute__((cleanup(closing_fd)))

#endif
