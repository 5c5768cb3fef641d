/* banner.h - the one line before a box, and the three after it. */
#ifndef CLI_BANNER_H
#define CLI_BANNER_H

struct stream;

/* banner_before(s, store): what the box is, where changes go, what it was given; on stderr. For
 * stream.on_started: before that the box has not written down what it is. */
void banner_before(const struct stream *, const void *store);

/* banner_after(s): if the box was kept, what it changed, which of it somebody would run or obey,
 * and how to get at it: three lines at most. With the two of ended_refused that makes five. */
void banner_after(const struct stream *);

#endif
