/* etc.h - the two ways to a filtered /etc: three layers (etc.c), or entry by entry (etc_entries.c).
 */
#ifndef BOX_ETC_H
#define BOX_ETC_H

struct build;
struct err;

/* etc_entries(b, etc, host, err): fill the directory ${etc} from ${host}, entry by entry. */
int etc_entries(struct build *, int etc, int host, struct err *);

#endif
