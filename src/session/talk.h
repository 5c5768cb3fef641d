/* talk.h - which conversation did the agent of a box leave behind, that it could go on with? */
#ifndef SESSION_TALK_H
#define SESSION_TALK_H

struct store;

/* talk_left(store, id, path): did box ${id} itself leave a file that is not empty at or below ${path},
 * which is below its home and in which a part that is * is any directory? NULL: no. Else the UUID in the
 * name of the newest file that has one, or "". The caller frees. What earlier boxes of the same profile
 * left there does not count. Looks at a bounded number of names and follows no link; what cannot be looked
 * at is no conversation. */
char *talk_left(const struct store *, const char *id, const char *path);

#endif
