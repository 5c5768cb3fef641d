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

struct scan_set;

struct custody_secret {
        struct custody_secret *next;
        uint32_t number;
        struct rule_line line; /* kind RULE_LINE_SECRET */
        struct {
                char *name; /* "", "id", "key", "token", "access", "refresh" */
                char *placeholder;
        } parts[DOOR_PARTS_MAX];
        size_t parts_n;
        char *gone; /* why it cannot be used any more, or NULL */
};

struct custody {
        struct custody_secret *secrets; /* by number */
        struct scan_set *placeholders;  /* tag: number */
        struct scan_set *values;        /* tag: number; fingers */
        uint8_t key[DOOR_FINGER_KEY];
};

/* custody_of(d): always there; without secrets it is empty and costs nothing. */
struct custody *custody_of(struct door *);
const struct custody_secret *custody_find(const struct custody *, uint32_t number);
/* custody_managed(d, host, port, path, next): the next secret after ${next} (NULL: the first) one
 * of whose places is this host and port. ${path} NULL: any. */
const struct custody_secret *custody_managed(const struct custody *, const struct host_name *,
                                             uint16_t port, const struct path_canon *,
                                             const struct custody_secret *next);

/* --- calls to the keeper (custody_link.c) --- */
struct keeper_call;
/* Called once; ${type} is DOOR_PLACE_NO or the answer's. ${body} is behind the id. */
typedef void keeper_answer(void *ctx, uint32_t type, struct cur *body);
/* keeper_ask(d, type, body, fn, ctx): send u32 id and ${body}. Never calls back at once. */
struct keeper_call *keeper_ask(struct door *, uint32_t type, const struct buf *body,
                               keeper_answer *, void *ctx);
void keeper_cancel(struct door *, struct keeper_call *);

/* --- the tripwire (custody_alarm.c) --- */
/* custody_alarm(d, hit, where, host, source_port): a placeholder where it has no business: record
 * kind "alarm", DOOR_ALARM to the supervisor. ${where} as "header user-agent". */
void custody_alarm(struct door *, uint32_t number, const char *where, const char *host,
                   uint16_t source_port);

#endif
