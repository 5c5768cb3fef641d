/* story_filter.h - which part of a story is wanted: by time, kind, process, host, path. One filter
 * for timeline and log. Pure functions. */
#ifndef SESSION_STORY_FILTER_H
#define SESSION_STORY_FILTER_H

#include "base/strs.h"

#include <stdbool.h>
#include <stdint.h>

struct audit_record;
struct err;
struct story_change;
struct story_undo;

/* What a kind of record belongs to. */
enum story_group {
        STORY_PROCESS, /* exec, exit, kill */
        STORY_REQUEST, /* http, tcp, splice, dns, tls, ssh: what went to the door */
        STORY_SOCKET,  /* connect, bind, listen */
        STORY_CALL,    /* call: other system calls */
        STORY_FILES,   /* open; change: a file that the box left changed */
        STORY_SECRET,  /* secret */
        STORY_ALARM,   /* alarm */
        STORY_BOX,     /* box, door, rule: what the walls themselves did */
        STORY_REVIEW,  /* apply, undo, live */
        STORY_OTHER,   /* a kind this program does not know */
        STORY_GROUP_COUNT
};
const char *story_group_name(enum story_group); /* "process", "request", ... */
enum story_group story_group_of(const char *kind);

struct story_filter {
        int64_t since_us, until_us; /* both ends belong to it; INT64_MIN, INT64_MAX: open */
        struct strs kinds;          /* kinds and groups, "denied" and "approval"; none: all */
        uint64_t pid;               /* 0: any */
        const char *process;   /* name of the program, without its directory; may hold * and ? */
        const char *host;      /* a name and all below it, an address; may hold * and ? */
        const char *path;      /* it and all below it; may hold * and ? */
        bool is_denied;        /* only what was refused */
        const char *workspace; /* for absolute paths; may be NULL */
};
/* story_filter_init(f): everything. story_filter_free: of the kinds. */
void story_filter_init(struct story_filter *);
void story_filter_free(struct story_filter *);
#define _cleanup_story_filter_ __attribute__((cleanup(story_filter_free)))

/* story_filter_kinds(f, words, err): "exec,request": appended; a word that is neither a kind nor a
 * group is refused with a suggestion. */
int story_filter_kinds(struct story_filter *, const char *words, struct err *);
/* story_filter_kind_name(i): the words that may be written, one after the other; NULL at the end.
 */
const char *story_filter_kind_name(size_t i);

bool story_filter_time(const struct story_filter *, int64_t time_us);
/* Whether an event passes all but the time. */
bool story_filter_record(const struct story_filter *, const struct audit_record *);
bool story_filter_change(const struct story_filter *, const struct story_change *);
bool story_filter_undo(const struct story_filter *, const struct story_undo *);

/* story_filter_path(f, name): would a changed file of this name pass? */
bool story_filter_path(const struct story_filter *, const char *name);

/* story_filter_wants_changes/undos(f): can any pass at all? Saves looking. */
bool story_filter_wants_changes(const struct story_filter *);
bool story_filter_wants_undos(const struct story_filter *);

/* story_name_matches(pattern, text): * is any text, ? any byte; without recursion, at most the
 * product of both lengths. */
bool story_name_matches(const char *pattern, const char *text);

#endif
