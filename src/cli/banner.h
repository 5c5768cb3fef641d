/* banner.h - the one line before a box, and the three after it. */
#ifndef CLI_BANNER_H
#define CLI_BANNER_H

struct msg_started;
struct stream;

/* banner_before(s, started): what the box is, where changes go, what it was given; on stderr. For
 * stream.on_started. Looks at nothing of the box: one that ends at once may be gone. */
void banner_before(const struct stream *, const struct msg_started *);

/* banner_after(s): if the box was kept, what it changed, which of it somebody would run or obey,
 * and how to get at it: three lines at most. With the two of ended_refused that makes five. */
void banner_after(const struct stream *);

#endif
