/* secret_spec.h - the short way to write a secret line, as --secret takes it:
 *
 *   NAME[=SOURCE][@PLACE[,PLACE][:FORM[,FORM]]][+inject][+plain]
 *
 *   STRIPE_KEY@api.stripe.com            GITHUB_TOKEN@github.com,api.github.com:basic,bearer+inject
 *   X@api.example.org:header:x-foo       X=vault:work-key@api.example.org:8443:query:key
 *   ANTHROPIC_API_KEY                    (the place and form of a name that everybody uses)
 *
 * SOURCE is env[:VARIABLE] (when not said), vault[:ENTRY], file:PATH, aws[:PROFILE] or login:AGENT.
 * FORM is a form of rule.h, with ":" before its name. Without one, the place's usual form counts,
 * and bearer where none is known. What has more to say (cmd, hmac, oauth, ttl=) is written as in a
 * file, from the name on: "X from cmd 'pass x' at api.example.org as bearer ttl=1h". Pure. */
#ifndef POLICY_SECRET_SPEC_H
#define POLICY_SECRET_SPEC_H

#include <stddef.h>

struct err;

/* secret_spec_line(spec, err): the canonical secret line, the caller's to free; NULL with a
 * sentence that never repeats more of ${spec} than the name. */
char *secret_spec_line(const char *spec, struct err *);

/* What is known of names that many programs use: where their values belong, and how they are shown
 * there, in the words of a line. */
struct secret_known {
        const char *name;
        const char *places; /* "github.com,api.github.com" */
        const char *forms;  /* "basic,bearer", perhaps with options */
};
/* secret_known_name(name): NULL when the name says nothing. */
const struct secret_known *secret_known_name(const char *name);
/* secret_known_near(name): the known name that may have been meant, or NULL. */
const char *secret_known_near(const char *name);
/* secret_known_forms(host, name): the usual form of a secret of that name at ${host}, in the words
 * of a line; never NULL. */
const char *secret_known_forms(const char *host, const char *name);

#endif
