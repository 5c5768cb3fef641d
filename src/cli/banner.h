/* banner.h - the one line before a box, and the one after it. */
#ifndef CLI_BANNER_H
#define CLI_BANNER_H

struct store;
struct stream;

/* banner_before(store, s): what the box is, where changes go, what it was given; on stderr. */
void banner_before(const struct store *, const struct stream *);

/* banner_after(s): if the box was kept, how to get at what it holds. */
void banner_after(const struct stream *);

#endif
