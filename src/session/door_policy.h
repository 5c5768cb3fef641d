/* door_policy.h - the rules of one box as text, layer by layer: where they come from, what of them
 * can be used, and how they travel to the door's roles.
 *
 * Read once when a box is planned, and again by `ostiary policy reload`. Whole or not at all: a
 * file that is broken, half-written or gone changes nothing. What was said while the box runs is
 * kept beside the box (door_rules.h) and is a layer of its own here. */
#ifndef SESSION_DOOR_POLICY_H
#define SESSION_DOOR_POLICY_H

#include "base/buf.h"
#include "base/strs.h"
#include "policy/policy.h"
#include "wire/door.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct session_opts;
struct packages;
struct store;

struct door_layer {
        enum policy_rank rank;
        char *name;
        char *text;
        bool has_lines; /* a file, whose lines have numbers */
};

struct door_policy {
        enum door_level level;
        struct door_layer *layers; /* everything but what was said at run time */
        size_t layers_n;
        struct policy parsed; /* the same, as rules */
        struct strs run_time; /* rule lines, the newest first: they win */
        struct strs notes;    /* "what\nwhy": what was left out, for explain */
        char *untrusted;      /* a project's file that does not count, in a sentence; or NULL */
};

/* What decides where rules are looked for. */
struct door_policy_from {
        const struct session_opts *opts;
        const struct store *store;
        const char *home;
        const char *workspace; /* NULL: no project */
        const char *profile;   /* its name */
        const struct strs *profile_rules;
};

/* door_policy_collect(from, p, err): read every layer. On failure -1, one sentence with file, line
 * and column, and ${p} is empty. */
int door_policy_collect(const struct door_policy_from *, struct door_policy *, struct err *);
/* door_policy_packages(p, home, asked): add the preset `packages`, as the level allows: what
 * configuration files name, and what the managers said themselves. Apart, because it looks at many files
 * and nobody waits for them: a box is built without, its door has them. */
void door_policy_packages(struct door_policy *, const char *home, const struct packages *asked);
void door_policy_free(struct door_policy *);
#define _cleanup_door_policy_ __attribute__((cleanup(door_policy_free)))

/* door_policy_put(p, b): all layers, as DOOR_POLICY carries them. */
void door_policy_put(const struct door_policy *, struct buf *);

/* door_policy_cas(p, home, names, err): add every file that a ca= names and ${names} lacks (for
 * ca_file). One that cannot be read or holds no certificate is an error: a rule that trusts nobody
 * is not what was meant. */
int door_policy_cas(const struct door_policy *, const char *home, struct strs *names, struct err *);

/* door_policy_ports(p, &ports): TCP ports that any line grants, and 80 and 443; sorted, the
 * caller's to free. Returns how many. */
size_t door_policy_ports(const struct door_policy *, uint16_t **);

/* door_policy_hosts(p): how many different places the lines grant, for the banner. */
size_t door_policy_hosts(const struct door_policy *);

/* door_policy_is_blocked(p, rule, words): does a deny! make this grant useless as a whole? ${words}
 * then say which, as "user policy:3". */
bool door_policy_is_blocked(const struct door_policy *, const struct rule *, char words[256]);

/* door_policy_line(verb, words): the rule line that `allow WORDS` or `deny WORDS` means: "GET
 * example.org/x", a bare host, or a line with its own verdict ("tcp db:5432"). The caller frees;
 * NULL and a story when the verdict contradicts the verb. */
char *door_policy_line(const char *verb, const char *words, struct err *);

/* door_policy_level_word(level): "easy" and so on. */
const char *door_policy_level_word(enum door_level);

#endif
