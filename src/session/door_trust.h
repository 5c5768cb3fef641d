/* door_trust.h - which projects' .ostiary files the user has looked at: by the hash of their
 * content, so that any change asks for trust again. Kept in $XDG_DATA_HOME/ostiary/trust, where no
 * box writes. */
#ifndef SESSION_DOOR_TRUST_H
#define SESSION_DOOR_TRUST_H

#include <stdbool.h>

struct err;
struct store;

enum door_trust {
        DOOR_TRUST_ABSENT, /* there is no such file */
        DOOR_TRUST_NO,     /* it was never trusted, or has changed since */
        DOOR_TRUST_YES,
        DOOR_TRUST_BROKEN, /* it cannot be read; the story says why */
};

/* door_trust_read(store, path, &text, err): the file's content and whether it is trusted. ${text}
 * is the caller's for NO and YES. */
enum door_trust door_trust_read(const struct store *, const char *path, char **text, struct err *);

/* door_trust_set(store, path, text, is_trusted, err): from now on ${path} is trusted with exactly
 * this ${text}, or not at all. */
int door_trust_set(const struct store *, const char *path, const char *text, bool is_trusted,
                   struct err *);

#endif
