/* boxrules.h - the rules of one box, and asking its supervisor about them: shared by allow, deny,
 * rules, why, learn, approvals and `policy check --box`. A box that does not run is answered for
 * from what it was started with. */
#ifndef CLI_BOXRULES_H
#define CLI_BOXRULES_H

#include "base/buf.h"
#include "policy/policy.h"
#include "wire/door.h"
#include "wire/frame.h"

struct boxarg;
struct err;

struct boxrules {
        struct policy policy;
        enum door_level level;
        uint64_t generation; /* 0 when the box does not run */
        bool is_running;
};

int boxrules_get(const struct boxarg *, struct boxrules *, struct err *);
void boxrules_free(struct boxrules *);
#define _cleanup_boxrules_ __attribute__((cleanup(boxrules_free)))

/* boxrules_ask(sock, type, body, want, f, err): send one message and wait for the answer ${want},
 * which is left in ${f} for the caller to release. -1 with what the supervisor said otherwise. */
int boxrules_ask(int sock, uint32_t type, const struct buf *body, uint32_t want, struct frame *,
                 struct err *);

/* boxrules_change(b, is_added, line, err): add the rule or take it back; in force on return. A box
 * that does not run gets it when it is started. */
int boxrules_change(const struct boxarg *, bool is_added, const char *line, struct err *);

#endif
