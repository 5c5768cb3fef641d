/* custody_slots.h - the places in a request's head where a secret may stand: found, looked through
 * for what has no business there, and written anew. Pure but for memory; for custody_request.c. */
#ifndef EGRESS_CUSTODY_SLOTS_H
#define EGRESS_CUSTODY_SLOTS_H

#include "egress/custody.h"
#include "egress/head.h"

enum custody_at { CUSTODY_FIELD, CUSTODY_COOKIE, CUSTODY_QUERY, CUSTODY_PATH };

enum custody_use_kind {
        CUSTODY_PLACE, /* the keeper says what shall stand there */
        CUSTODY_DROP,  /* a credential that is not ours, to be taken out */
        CUSTODY_SIGN,  /* part of a signature that is made anew (sign.h) */
};

struct custody_use {
        enum custody_use_kind kind;
        const struct custody_secret *secret; /* NULL for DROP */
        size_t form;
        enum custody_at at;
        size_t field;     /* index; of FIELD and COOKIE. SIZE_MAX: a new one is added */
        size_t from, len; /* bytes of the field's value, of the query or of path.text */
        char *slot;       /* what stands there, decoded; "" to inject */
        char *placed;     /* the keeper's answer; wiped with the rest */
};

enum { CUSTODY_USES_MAX = 32 };
struct custody_uses {
        struct custody_use list[CUSTODY_USES_MAX];
        size_t n;
        bool is_full; /* there were more: refuse */
};
void custody_uses_free(struct custody_uses *);

/* Where a request goes. */
struct custody_place {
        const struct host_name *host;
        uint16_t port;
        bool is_tls;
        const struct path_canon *path;
};

/* custody_slots_find(c, place, head, uses): every placeholder that stands in a slot that its line
 * declares, toward a place where it may be shown. */
void custody_slots_find(const struct custody *, const struct custody_place *, const struct head *,
                        struct custody_uses *);
/* custody_slots_sign(secret, form, head, uses): the parts of a signature, so that they are neither
 * taken for a leak nor for somebody else's. */
void custody_slots_sign(const struct custody_secret *, size_t form, const struct head *,
                        struct custody_uses *);
/* custody_slots_inject(c, place, head, uses): secrets that go into requests without a credential,
 * each into the first of its forms that a head can have. */
void custody_slots_inject(const struct custody *, const struct custody_place *, const struct head *,
                          struct custody_uses *);

/* Placeholders where they have no business: each secret once, with the first place of it. */
struct custody_leaks {
        struct {
                uint32_t number;
                char *where;
        } list[CUSTODY_LEAKS_MAX];
        size_t n;
};
/* custody_leaks_add(l, number, where): ${where} is copied. */
void custody_leaks_add(struct custody_leaks *, uint32_t number, const char *where);
void custody_leaks_free(struct custody_leaks *);
/* custody_slots_leak(d, head, uses, leaks): all placeholders outside of ${uses}. */
void custody_slots_leak(struct door *, const struct head *, const struct custody_uses *,
                        struct custody_leaks *);
/* custody_slots_foreign(c, host, port, head, uses, is_dropped, &where): credentials that are not
 * placeholders where credentials stand, on a host that is some secret's place. True when there was
 * one; ${is_dropped}: each becomes a use that takes it out. ${where} (may be NULL) tells of the
 * first and is the caller's. */
bool custody_slots_foreign(const struct custody *, const struct host_name *, uint16_t port,
                           const struct head *, struct custody_uses *, bool is_dropped,
                           char **where);

/* custody_slots_write(from, uses, to, err): ${to} (empty) becomes ${from} with every use as it
 * shall be; what was placed is marked so that it is never indexed, and wiped by head_free. */
int custody_slots_write(const struct head *from, const struct custody_uses *, struct head *to,
                        struct err *);

/* --- shared by the files behind this header --- */
/* custody_pair_next(p, n, &at, pair): the next name=value of a query or form. */
struct custody_pair {
        size_t from, name_len;        /* of the name, as written */
        size_t value_from, value_len; /* as written; 0 and 0 when there is no = */
};
bool custody_pair_next(const char *, size_t n, size_t *at, struct custody_pair *);
/* custody_cookie_next: the same for a cookie field. */
bool custody_cookie_next(const char *, size_t n, size_t *at, struct custody_pair *);
/* custody_undo(p, n, is_form, out): percent-encoding undone; ${is_form}: + is a blank. */
void custody_undo(const char *, size_t, bool is_form, struct buf *out);
/* custody_redo(text, out): what is not unreserved is percent-encoded. */
void custody_redo(const char *, size_t, struct buf *out);
/* custody_is_placeholder(secret, p, n): is it one of its placeholders, exactly? */
bool custody_is_placeholder(const struct custody_secret *, const void *, size_t);

#endif
