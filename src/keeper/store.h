/* store.h - the box's secrets: their lines, their values in locked memory, their placeholders.
 *
 * keeper.c's parts read and change it; nothing here speaks to anybody. A value leaves only through
 * the pointer in struct store_part: whoever copies it wipes the copy. */
#ifndef KEEPER_STORE_H
#define KEEPER_STORE_H

#include "policy/rule.h"
#include "wire/door.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

enum store_state {
        STORE_LIVE,
        STORE_REVOKED, /* no values any more, for good */
        STORE_EXPIRED, /* the same, by its ttl= */
};

struct store_part {
        char name[12];  /* "", "id", "key", "token", "access", "refresh" */
        uint8_t *value; /* locked, len bytes and a NUL; NULL once it is wiped */
        size_t len;
        char *placeholder; /* of the same length as the first value; NULL: has none */
        bool is_open;      /* the value is no secret (an address): nobody looks for it in answers */
        bool is_local;     /* it is looked for in answers of the places of its line alone */
};

struct store_secret {
        struct store_secret *next;
        uint32_t number;
        uint32_t parent; /* a captured token: of the secret it was got with, or 0 */
        bool is_captured;
        enum store_state state;
        bool is_cut;           /* egress has said that nothing uses it any more */
        struct rule_line line; /* kind RULE_LINE_SECRET: line.secret */
        char *line_text;       /* its canonical text */
        struct store_part parts[DOOR_PARTS_MAX];
        size_t parts_n;
        uint64_t expires_ms; /* keeper_now_ms; 0: never */
        uint64_t used_ms;    /* when it was last asked for; decides which captured one goes first */
        /* What a signer makes of the value and wants to keep: a derived key, an EVP_PKEY. It is
         * dropped with cache_free whenever the value changes or is wiped. */
        void *cache;
        void (*cache_free)(void *);
};

/* store_memory(): once, at the start of the process: locked memory that is left out of core files,
 * for values, for OpenSSL's private numbers and for what jansson reads. */
void store_memory(void);
struct store *store_new(void);
/* store_free wipes everything. */
void store_free(struct store *);

/* store_find(s, number): NULL when there is none. */
struct store_secret *store_find(struct store *, uint32_t number);
/* store_each(s, last): the first after ${last} (NULL: the first of all), by number; or NULL. */
struct store_secret *store_each(struct store *, const struct store_secret *last);
size_t store_count(const struct store *, bool is_captured);

/* store_add(s, number, line, err): a secret without values. ${line} is taken over when it works,
 * and refused when it is no secret line, the number is taken or there are too many. */
struct store_secret *store_add(struct store *, uint32_t number, struct rule_line *line,
                               struct err *);
/* store_line(secret, line): another line for it; the old one is freed. */
void store_line(struct store_secret *, struct rule_line *);
void store_remove(struct store *, struct store_secret *);

enum store_stand_in {
        STORE_OPEN,   /* none: it is not shown in the box */
        STORE_SHAPED, /* what its provider's keys look like (secret_shape.h) */
        STORE_TOKEN,  /* for keys of several lines: 40 hexadecimal digits */
};
/* store_set(s, secret, name, value, n, stand_in, err): the part's value, copied into locked memory;
 * what it had is wiped, and so is the cache. A part that is new gets a placeholder, which it keeps.
 * -1 when there is no room, or nothing can stand in for it. */
int store_set(struct store *, struct store_secret *, const char *name, const uint8_t *value,
              size_t n, enum store_stand_in, struct err *);
/* store_clear(secret, name): the part has no value any more (a session token that the source no
 * longer gives); its placeholder stays. */
void store_clear(struct store_secret *, const char *name);
/* store_stand_in(s, number, part, text): what stood for that part before; store_set takes it when
 * the part is new. */
void store_stand_in(struct store *, uint32_t number, const char *part, const char *text);
/* store_part(secret, name): NULL when it has no such part, or has it no more. */
const struct store_part *store_part(const struct store_secret *, const char *name);
/* store_part_shown(secret, p, n): the part whose placeholder these bytes are, or NULL. */
const struct store_part *store_part_shown(const struct store_secret *, const char *, size_t n);
/* store_holds(s, p, n): is it a value of ours? The secret, or NULL.
 * store_holds_next(s, last, p, n): the next after ${last} (NULL: the first) that has it. */
struct store_secret *store_holds(struct store *, const uint8_t *, size_t n);
struct store_secret *store_holds_next(struct store *, const struct store_secret *last,
                                      const uint8_t *, size_t n);
/* store_local(secret, p, n, is_local): where the part of this value is looked for. True: that has
 * changed. */
bool store_local(struct store_secret *, const uint8_t *, size_t n, bool is_local);

/* store_wipe(secret, state): overwrite all its values and drop its cache. */
void store_wipe(struct store_secret *, enum store_state);

/* store_alloc(n), store_drop(p): locked memory for whatever else must not be swapped out. NULL
 * when there is none left. store_drop wipes. */
void *store_alloc(size_t n);
void store_drop(void *);

#endif
