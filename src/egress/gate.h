/* gate.h - policy's verdict on one request, with everything around it: names that must agree,
 * levels, and the words for whoever is refused. */
#ifndef EGRESS_GATE_H
#define EGRESS_GATE_H

#include "egress/exchange.h"
#include "policy/policy.h"

struct body;
struct door;

enum gate_answer {
        GATE_REFUSE,
        GATE_PASS,
        GATE_ASK,
        GATE_NEEDS_BODY,
};

struct gate {
        enum gate_answer answer;
        int status;              /* of the refusal: 403, 421 */
        const struct rule *rule; /* of a pass; NULL when the level let it through */
        char *words;             /* "denied by default"; owned */
        char *cure;              /* the line that would allow it, or NULL; owned */
        char *why;               /* more than the words say, or NULL; owned */
};

/* gate_names(origin, head, &host, why): the one host this request is for: Host or :authority, and
 * what the connection was made to, must agree. False and a sentence when they do not. */
bool gate_names(const struct origin *, const struct head *, struct host_name *, const char **why);

/* gate_judge(d, host, origin, head, state, body, g): ${g} is overwritten; gate_free it. */
void gate_judge(struct door *, const struct host_name *, const struct origin *, const struct head *,
                enum request_body, struct body *, struct gate *);
void gate_free(struct gate *);

/* gate_tcp_cure(host, port): the line that lets raw bytes pass there; the caller frees. */
char *gate_tcp_cure(const struct host_name *, uint16_t port);

/* gate_port_cure(host, port, is_raw): the line that opens a port that no rule names; ${is_raw}: to raw
 * bytes, else to HTTP. The caller frees. */
char *gate_port_cure(const struct host_name *, uint16_t port, bool is_raw);

/* gate_url(host, origin, head): "https://host:port/path?a=*", query values hidden; the caller
 * frees.
 */
char *gate_url(const struct host_name *, const struct origin *, const struct head *);
/* gate_path(head): the same, the path alone. */
char *gate_path(const struct head *);

#endif
