/* keeper_int.h - what the keeper's files share: the process's one struct, how a message is
 * answered, how a request is judged, how it is recorded. Included by this room only.
 *
 * A new kind of question is one handler, and one line in serve_table.c. */
#ifndef KEEPER_KEEPER_INT_H
#define KEEPER_KEEPER_INT_H

#include "base/buf.h"
#include "base/cur.h"
#include "keeper/store.h"
#include "policy/host_name.h"
#include "policy/path_canon.h"
#include "wire/door.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct frame;
struct keeper_sending;
struct mint;
struct serve_reading;
struct serve_revoking;

/* Messages for which a socket had no room, in order. */
struct serve_queue {
        struct keeper_sending *first, **end;
        size_t size;
};

/* Numbers of tokens that came with answers; those of the policy are smaller. */
enum { KEEPER_CAPTURED_FIRST = 1000, KEEPER_CAPTURED_MAX = 128 };

struct keeper {
        struct mint *mint;
        struct store *store;
        int control_fd, egress_fd, audit_fd;
        char box[64];
        uint8_t finger_key[DOOR_FINGER_KEY];
        bool is_egress_here; /* it has said DOOR_GRANTS */
        bool is_all_revoked; /* DOOR_REVOKE of everything: nothing new is taken in either */
        bool is_held;        /* DOOR_HOLD: the box is paused */
        uint32_t captured_n; /* numbers given so far */
        struct buf out;      /* the message that is being written; locked, wiped when sent */
        struct buf scratch;  /* one writing of a value; locked, keeper_scratch_wipe after use */
        size_t scratch_n;    /* how much of it may have been written */
        struct serve_queue to_egress, to_supervisor;
        struct serve_reading *readings;  /* values that are on their way from their source */
        struct serve_revoking *revoking; /* DOOR_REVOKE that egress has not confirmed */
        struct buf records;
        uint64_t records_ms; /* when the first of them was put there */
        /* What other files keep between two messages; each owns its own. */
        struct sign_state *sign;
        struct ssh_state *ssh;
        struct token_state *token;
};

/* A handler reads f->body (behind the type) to its end. -1: the message makes no sense, and the
 * keeper ends; a question that is only refused is answered and is 0. The frame is wiped after it.
 */
typedef int keeper_handler(struct keeper *, struct frame *);

struct keeper_entry {
        uint32_t type;
        keeper_handler *fn;
};
extern const struct keeper_entry keeper_from_egress[];     /* ends with type 0 */
extern const struct keeper_entry keeper_from_supervisor[]; /* ends with type 0 */

/* --- clock --- */
uint64_t keeper_now_ms(void); /* since boot, sleep included */

/* --- reading (serve_io.c) --- */
/* keeper_get_bytes(c, max, &p, &n): "bytes"; they stay in the frame. Also for an lstr that need not
 * be copied: it has no NUL in it then. 0 or -1. */
int keeper_get_bytes(struct cur *, size_t max, const uint8_t **, size_t *n);
int keeper_get_text(struct cur *, size_t max, const char **, size_t *n);
void keeper_put_bytes(struct buf *, const void *, size_t);

/* --- writing: one message at a time (serve_io.c) ---
 * struct buf *b = keeper_message(k, DOOR_PLACED);
 * buf_put_u32(b, id); ...
 * return keeper_to_egress(k);
 * Nothing blocks: what the socket does not take waits in order. -1 when the peer is gone. */
struct buf *keeper_message(struct keeper *, uint32_t type);
int keeper_to_egress(struct keeper *);
int keeper_to_supervisor(struct keeper *);

/* --- judging a question of egress (serve_ask.c) --- */
struct keeper_ask {
        uint32_t id, number, form_at;
        struct door_toward to;
        struct buf strings; /* of ${to} */
        struct host_name host;
        struct path_canon path;
        struct store_secret *secret;
        const struct rule_secret_form *form;
        const char *what; /* for the record: "place", "sign" */
        bool is_injected; /* nothing stood there */
};
/* keeper_ask_get(c, a): u32 id, u32 number, u32 form, struct door_toward. 0 or -1. Free it. */
int keeper_ask_get(struct cur *, struct keeper_ask *);
void keeper_ask_free(struct keeper_ask *);
#define _cleanup_keeper_ask_ __attribute__((cleanup(keeper_ask_free)))

/* keeper_ask_judge(k, a, forms): may this secret be used there, in a form of the set ${forms} (bits
 * 1 << RULE_AS_...)? Everything that egress said is parsed again. True: a->secret, a->form, a->host
 * and a->path are set. False: DOOR_PLACE_NO was sent and recorded; the handler returns 0. */
bool keeper_ask_judge(struct keeper *, struct keeper_ask *, unsigned forms);
/* keeper_ask_is_held(k, a, &sent): is the box paused? Then that was the answer, ${sent} as of
 * keeper_ask_no. */
bool keeper_ask_is_held(struct keeper *, struct keeper_ask *, int *sent);
/* keeper_ask_no(k, a, why, fmt...): refuse: DOOR_PLACE_NO and its record. 0, or -1 when egress is
 * gone. */
int keeper_ask_no(struct keeper *, struct keeper_ask *, enum door_no, const char *fmt, ...)
        __attribute__((format(printf, 4, 5)));
/* keeper_ask_yes(k, a, note): record that it was used. The caller has sent, or sends, the answer.
 */
void keeper_ask_yes(struct keeper *, const struct keeper_ask *, const char *note);

/* --- the log (record.c) --- */
/* keeper_record(k, r): ${r} needs no time and no kind. Several go out together. */
void keeper_record(struct keeper *, const struct door_record *);
/* keeper_record_flush(k): now. keeper_record_wait_ms(k): in how many ms it is due; -1: nothing. */
void keeper_record_flush(struct keeper *);
int keeper_record_wait_ms(const struct keeper *);

/* --- telling egress of a secret (fingers.c) --- */
/* keeper_grant(k, secret): DOOR_GRANTED and DOOR_FINGERS, if egress is there. */
int keeper_grant(struct keeper *, const struct store_secret *);
int keeper_fingers(struct keeper *, const struct store_secret *);
/* keeper_tell_ok(k, secret, provider, warning): DOOR_SECRET_OK. */
int keeper_tell_ok(struct keeper *, const struct store_secret *, const char *provider,
                   const char *warning);
void keeper_scratch_wipe(struct keeper *);

/* --- values (value.c) --- */
/* value_take(k, secret, bytes, n, err): check what a source printed and make parts of it. -1 and
 * one sentence with the secret's name and nothing of the value; what the secret had before is then
 * what it has. */
int value_take(struct keeper *, struct store_secret *, const uint8_t *, size_t n, struct err *);
/* value_aws: the same for keys of AWS (value_aws.c). */
int value_aws(struct keeper *, struct store_secret *, const uint8_t *, size_t n, struct err *);
/* value_is_plain(secret): by its line: is the value one word that nothing is made of? */
bool value_is_plain(const struct store_secret *);
/* value_check(what, bytes, n, err): may it stand in a header? ${what} begins the sentence. */
int value_check(const char *what, const uint8_t *, size_t n, struct err *);
/* value_has_form(secret, form): does its line name the form? */
bool value_has_form(const struct store_secret *, enum rule_form);
/* value_provider(secret): "github", ... or "". value_warn(secret, b): a sentence when the value
 * looks like a key for another place. */
const char *value_provider(const struct store_secret *);
void value_warn(const struct store_secret *, struct buf *);

/* --- end of a secret (serve_revoke.c) --- */
/* keeper_gone(k, secret): tell egress that it is over. */
int keeper_gone(struct keeper *, struct store_secret *);
/* keeper_expire(k): whatever has passed its ttl goes. Returns ms until the next does; -1: none. */
int keeper_expire(struct keeper *);

/* capture_line(parent, host, name, n, is_aws, line, err): the line of a token that an answer of
 * ${host} brought as ${name}; ${parent} may be NULL (capture_line.c). 0 or -1. */
int capture_line(const struct store_secret *parent, const struct host_name *, const char *name,
                 size_t n, bool is_aws, struct rule_line *, struct err *);

/* --- handlers, see serve_table.c --- */
keeper_handler serve_leaf, serve_grants, serve_revoke, serve_gone_ok, serve_secret, serve_stand_in;
keeper_handler serve_line;
keeper_handler serve_hold;
keeper_handler place_serve, capture_serve;

#endif
