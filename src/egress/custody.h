/* custody.h - what egress knows of the box's secrets: their lines and placeholders, never a value.
 *
 * custody.c hears the keeper (DOOR_GRANTED, _FINGERS, _GONE). A request that passed the gate goes
 * through custody_request before an upstream is looked for: placeholders in their declared slot are
 * exchanged by the keeper, one that is anywhere else raises the alarm. What comes back passes
 * scrub.h. */
#ifndef EGRESS_CUSTODY_H
#define EGRESS_CUSTODY_H

#include "egress/door.h"
#include "policy/rule.h"
#include "wire/door.h"

struct path_canon;
struct scan_set;

enum { CUSTODY_TOLD_MAX = 4 };

struct custody_secret {
        struct custody_secret *next;
        uint32_t number;
        struct rule_line line; /* kind RULE_LINE_SECRET */
        struct {
                char *name; /* "", "id", "key", "token", "access", "refresh" */
                char *placeholder;
        } parts[DOOR_PARTS_MAX];
        size_t parts_n;
        char *gone;      /* why it cannot be used any more, or NULL */
        bool is_flagged; /* it was seen in a conversation with a model, and that was told */
        /* Names that held it and were told of in this second: custody_alarm.c. */
        uint64_t told_s;
        size_t told_n;
        struct host_name told[CUSTODY_TOLD_MAX];
};

struct custody {
        struct custody_secret *secrets; /* by number */
        struct scan_set *placeholders;  /* tag: number; NULL when there are none */
        struct scan_set *values;        /* tag: number; fingers; NULL when there are none */
        uint8_t key[DOOR_FINGER_KEY];
        uint64_t generation; /* counts what the keeper tells of secrets */
        bool is_known;       /* the keeper's first list is whole: whoever waits may come in */
        struct keeper_call *calls, **calls_end;
        struct custody_fold *folds; /* custody_alarm.c */
        uint8_t fold_bits[8192];
        struct custody_host *alarmed; /* hosts toward which one was on its way */
        size_t alarmed_n;
};

/* custody_of(d): always there; without secrets it is empty and costs nothing. */
struct custody *custody_of(struct door *);
const struct custody_secret *custody_find(const struct custody *, uint32_t number);
/* custody_managed(d, host, port, path, next): the next secret after ${next} (NULL: the first) one
 * of whose places is this host and port. ${path} NULL: any. */
const struct custody_secret *custody_managed(const struct custody *, const struct host_name *,
                                             uint16_t port, const struct path_canon *,
                                             const struct custody_secret *next);

/* custody_may_show(secret, host, port, is_tls, path): does its line let it be shown there? The
 * keeper asks itself the same. */
bool custody_may_show(const struct custody_secret *, const struct host_name *, uint16_t port,
                      bool is_tls, const struct path_canon *);
/* custody_values_at(c, at, host): what is looked for in what ${host} sends: every value, and those
 * that were only guessed to be tokens where the host is one of their places. Fills ${at}, which
 * must live as long as what is returned, and so must ${host}; the caller frees that
 * (scan_set_free). */
struct custody_from {
        const struct custody *custody;
        const struct host_name *host;
};
struct scan_set *custody_values_at(struct custody *, struct custody_from *,
                                   const struct host_name *);
/* custody_name(secret): as its line calls it. */
const char *custody_name(const struct custody_secret *);

/* --- what the keeper says of itself, for link.c --- */
struct frame;
/* custody_hello(d, key, n): the key of fingers; the list of secrets follows. */
int custody_hello(struct door *, const uint8_t *key, size_t n);
/* custody_hear(d, frame): a message of the keeper that is custody's. False: it is none. */
bool custody_hear(struct door *, struct frame *);

/* --- calls to the keeper (custody_link.c) --- */
struct keeper_call;
/* Called once; ${type} is DOOR_PLACE_NO or the answer's. ${body} is behind the id. */
typedef void keeper_answer(void *ctx, uint32_t type, struct cur *body);
/* keeper_ask(d, type, body, fn, ctx): send u32 id and ${body}. Never calls back at once. */
struct keeper_call *keeper_ask(struct door *, uint32_t type, const struct buf *body,
                               keeper_answer *, void *ctx);
void keeper_cancel(struct door *, struct keeper_call *);
/* keeper_tell(d, type, body): what is not answered. */
void keeper_tell(struct door *, uint32_t type, const struct buf *body);
/* keeper_answered(d, frame): the answer to a call. False: its type is no answer. */
bool keeper_answered(struct door *, struct frame *);

/* --- the tripwire (custody_alarm.c) --- */
/* custody_alarm(d, hit, where, host, source_port): a placeholder where it has no business: record
 * kind "alarm", DOOR_ALARM to the supervisor. ${where} as "header user-agent". */
void custody_alarm(struct door *, uint32_t number, const char *where, const char *host,
                   uint16_t source_port);
/* custody_is_alarmed(d, host): was a placeholder ever on its way there? Then nobody is advised to
 * open that host. */
bool custody_is_alarmed(struct door *, const char *host);
/* custody_alarm_hit(d, hit, where, host, source_port): the same for each secret that was found. */
struct scan_hit;
void custody_alarm_hit(struct door *, const struct scan_hit *, const char *where, const char *host,
                       uint16_t source_port);
/* custody_bytes_leak(d, origin, p, n, where): is the placeholder of a secret that does not belong
 * to this host in bytes that are no request? Rings the alarm; the sentence (the caller frees), or
 * NULL. */
struct origin;
char *custody_bytes_leak(struct door *, const struct origin *, const void *, size_t,
                         const char *where);
/* custody_leak_words(d, number, where): the sentence for whoever is refused: which secret, where it
 * was found, where it belongs. The caller frees. */
char *custody_leak_words(struct door *, uint32_t number, const char *where);
/* custody_name_leaks(d, host): is one of the placeholders in this name, in any writing that names
 * can carry, also across its labels? Its number, or 0. */
uint32_t custody_name_leaks(struct door *, const struct host_name *);
/* custody_lookup_leaks(d, host): the same for a name that was looked up; rings the alarm of every
 * secret whose placeholder is in it. */
bool custody_lookup_leaks(struct door *, const struct host_name *);
/* custody_text_leaks(d, text, n): the same for a text whose letters lost their size: the name of a
 * header. */
uint32_t custody_text_leaks(struct door *, const char *, size_t);
/* custody_text_all(d, text, n, numbers): of all secrets whose placeholder is in it; how many. */
enum { CUSTODY_LEAKS_MAX = 16 };
size_t custody_text_all(struct door *, const char *, size_t, uint32_t numbers[CUSTODY_LEAKS_MAX]);
/* custody_folds_add(c, number, placeholder): remember how it looks in such a text. */
void custody_folds_add(struct custody *, uint32_t number, const char *placeholder);

#endif
