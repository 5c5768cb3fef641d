/* etc.h - the two ways to a filtered /etc: behind a mask (etc.c), or entry by entry
 * (etc_entries.c). */
#ifndef BOX_ETC_H
#define BOX_ETC_H

#include <stdbool.h>

struct build;
struct err;

/* etc_is_listed(name): is this name of the host's /etc, as a whole, on the list? */
bool etc_is_listed(const char *name);

/* etc_mask(b, err): fill the mask on the stage, for step_etc to mount. Run by the assistant. */
int etc_mask(struct build *, struct err *);

/* etc_entries(b, etc, host, err): fill the directory ${etc} from ${host}, entry by entry. */
int etc_entries(struct build *, int etc, int host, struct err *);

#endif
