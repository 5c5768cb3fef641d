/* ca.h - one certificate authority per box, made before it is needed, used once.
 *
 *   $XDG_STATE_HOME/ostiary/ca/
 *       KEY.TIME.RANDOM/   one authority in the pool, see keeper/make_ca.c:
 *           key            its private key, 0600; gone as soon as it is taken
 *           cert           its certificate, DER
 *           etc/           what lies over the box's /etc: bundle, hashed name, Java's store
 *           nssdb/         ~/.pki/nssdb for browsers, where the host has one and certutil
 *       used.KEY.RANDOM/   the same while its box lives, and holds a lock on it; make-ca turns
 *                          those of boxes that are over into new ones
 *       KEY.roots          index of the system's roots for egress (egress/trust.h)
 *
 * KEY says which roots of the host it was made from. Making a key, a certificate and a store needs
 * libraries that a start has no time to load; so a start takes one that is ready and the supervisor
 * has more made afterwards. No two boxes ever share one. */
#ifndef SESSION_CA_H
#define SESSION_CA_H

#include <stdbool.h>

struct buf;
struct err;
struct loop;
struct session_plan;
struct store;
struct strs;

/* The state of the host that an authority must have been made from. */
struct ca_host {
        char key[20];       /* KEY */
        char roots[20];     /* KEY of the index: of the bundle alone */
        const char *bundle; /* NULL when the host trusts nobody */
        bool has_java, has_browser;
        const char *certutil; /* NULL when there is none, or no test tool's browser */
};

struct ca {
        struct ca_host host;
        int dir_fd;   /* used.KEY.RANDOM/, locked as long as it is open */
        int key_fd;   /* sealed memfd with the private key: for the keeper and nobody else */
        char *etc;    /* host path of etc/ */
        bool has_nss; /* ca_seed_home has something to do */
        bool is_low;  /* the pool wants filling */
        bool is_none; /* there is no ostiary-door here, so there is no authority and no door */
};
#define CA_NONE                                                                                    \
        (struct ca)                                                                                \
        {                                                                                          \
                .dir_fd = -1, .key_fd = -1                                                         \
        }

/* ca_take(store, ca, err): take one from the pool, or have one made now if it is empty. The key is
 * never in our memory. Without ostiary-door on this machine 0 and is_none: the box has no network
 * then. -1 on failure. */
int ca_take(const struct store *, struct ca *, struct err *);
void ca_close(struct ca *); /* not the files: they go when the lock is gone (ca_refill, ca_gc) */

/* ca_seed_home(ca, home_fd, uid, gid, err): move nssdb/ to .pki/nssdb of the box's home, whose
 * upper directory is ${home_fd} (hostile); what was there goes, it believed another authority. */
int ca_seed_home(const struct ca *, int home_fd, unsigned uid, unsigned gid, struct err *);

/* ca_begin(ca, body, err): the body of the keeper's DOOR_BEGIN. It holds the key: wipe it after
 * sending. */
int ca_begin(const struct ca *, struct buf *body, struct err *);

/* ca_refill(store, ca, loop): fill the pool and sweep it, in the background and at low priority, if
 * ${ca} found it low; called by the supervisor when its box runs. Never fails in a way that matters
 * now. */
void ca_refill(const struct store *, const struct ca *, struct loop *);

/* ca_gc(store, &removed, err): remove what boxes that are gone have left, and what fits no more. */
int ca_gc(const struct store *, unsigned long *removed, struct err *);

/* ca_roots(store, err): sealed memfd of the index for DOOR_TRUST, made now if it is missing. -1
 * with err->code E_ABSENT when this machine has no roots. */
int ca_roots(const struct store *, struct err *);

/* ca_file(name, home, err): sealed memfd of the file that a rule names with ca= ("~/" is ${home}),
 * for DOOR_CA_FILE; at most DOOR_CA_FILE_MAX bytes. */
int ca_file(const char *name, const char *home, struct err *);

/* ca_env(env): the variables that send programs with roots of their own to the box's files. */
void ca_env(struct strs *env);
/* ca_env_java(env): the same for a Java that brings its own roots, if JAVA_HOME is one. It says a
 * line about that variable at each start, so no other gets it. */
void ca_env_java(struct strs *env);
/* ca_env_drop(env): take them away again, for a box without an authority. */
void ca_env_drop(struct strs *env);

#endif
