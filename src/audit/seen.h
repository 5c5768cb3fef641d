/* seen.h - which process began a connection, by its source port: what the witness told, kept until
 * the records of that connection come. Bounded: the oldest are forgotten. */
#ifndef AUDIT_SEEN_H
#define AUDIT_SEEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chain_process;

enum { SEEN_MAX = 4096 };
#define SEEN_NOBODY UINT32_MAX /* a pid: it was looked for in vain */

struct seen_one {
        uint32_t pid;
        uint16_t port;
        uint16_t next; /* of the same slot: index + 1, 0 ends */
        char *exe;
};

struct seen {
        struct seen_one *v; /* a ring of SEEN_MAX, made when the first comes */
        uint16_t *slots;    /* SEEN_MAX of them: index + 1 */
        size_t at;          /* where the next goes */
};

/* seen_put(s, port, pid, exe): a port that is used anew belongs to the new process. */
void seen_put(struct seen *, uint32_t port, uint32_t pid, const char *exe);
/* seen_find(s, port, &who): false when nobody was seen. ${who}'s string lives until the next put.
 */
bool seen_find(const struct seen *, uint32_t port, struct chain_process *who);

#endif
