/* etc.h - the two ways to a filtered /etc: layers (etc.c), or entry by entry (etc_entries.c).
 */
#ifndef BOX_ETC_H
#define BOX_ETC_H

struct build;
struct err;

/* etc_entries(b, etc, host, err): fill the directory ${etc} from ${host}, entry by entry. */
int etc_entries(struct build *, int etc, int host, struct err *);

/* etc_copy(from, to, err): a small tree of ours, files and links, before etc_entries: what lies
 * there already wins over the host's, directory by directory. */
int etc_copy(int from, int to, struct err *);

#endif
