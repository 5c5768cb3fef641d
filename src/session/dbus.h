/* dbus.h - the little of D-Bus that asking the keyring takes: one connection to the session's bus
 * over a UNIX socket, method calls one after the other, and readers for their answers. Blocking,
 * with a limit on each message; for a process of its own. */
#ifndef SESSION_DBUS_H
#define SESSION_DBUS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct strs;

struct dbus {
        int fd;
        uint32_t serial;
        struct buf in;        /* the last answer, whole */
        char error_name[128]; /* "org.freedesktop...." when it was an error, else "" */
};

/* dbus_address(env): of the session's bus: the variable, or where it usually is. The caller frees. */
char *dbus_address(const struct strs *env);
/* dbus_open(d, address, err): connect, authenticate as ourselves and say hello. dbus_close wipes. */
int dbus_open(struct dbus *, const char *address, struct err *);
void dbus_close(struct dbus *);

/* A body that is written: values are aligned as D-Bus wants them. */
void dbus_put_u32(struct buf *, uint32_t);
void dbus_put_str(struct buf *, const char *); /* also an object's path */
void dbus_put_sig(struct buf *, const char *);
void dbus_align(struct buf *, size_t to);

/* A body that is read; every getter fails when it is short. */
struct dbus_in {
        const uint8_t *p;
        size_t n, at;
        bool is_large; /* the bytes of a number come the other way round */
};
int dbus_get_align(struct dbus_in *, size_t to);
int dbus_get_u32(struct dbus_in *, uint32_t *);
int dbus_get_str(struct dbus_in *, const char **);                  /* inside the message */
int dbus_get_bytes(struct dbus_in *, const uint8_t **p, size_t *n); /* ay */
/* dbus_get_paths(in, list): an array of objects, appended. */
int dbus_get_paths(struct dbus_in *, struct strs *);

/* dbus_call(d, to, path, interface, member, signature, body, in, err): ask and wait. ${in} is the
 * answer's body, inside ${d}, until the next call. -1: d->error_name says which error, or it is "".
 */
int dbus_call(struct dbus *, const char *to, const char *path, const char *interface,
              const char *member, const char *signature, const struct buf *body, struct dbus_in *,
              struct err *);

#endif
