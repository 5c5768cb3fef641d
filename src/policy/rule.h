/* rule.h - one line of policy as a struct: the same grammar in a file, a profile, a flag and at run
 * time. docs/policy.md teaches it.
 *
 *   allow|ask   METHODS HOST[:PORT][/PATH] [OPTION...]
 *   deny|deny!  METHODS HOST[:PORT][/PATH] [OPTION...]
 *   tcp         HOST:PORT [OPTION...]
 *   splice      HOST[:PORT] [OPTION...]
 *   secret      NAME from SOURCE at PLACE[,PLACE] as FORM[,FORM] [inject] [OPTION...]
 *               SOURCE: env [NAME], cmd 'COMMAND', file PATH, aws [PROFILE], vault [NAME],
 *               login claude|codex
 *               FORM: bearer, basic, header NAME, query NAME, path, cookie NAME, json /POINTER,
 *               form NAME, ws /POINTER; gcp, github-app, oauth, whose tokens may be shown in other
 *               forms besides; or alone: sigv4, hmac HEADER, ssh
 *   bind        PATH [ro|rw|cow]
 *   limit       KEY=VALUE...
 *
 * Text in, struct out; no file is opened, no name resolved. Whoever matches is match.h, whoever
 * orders is policy.h. */
#ifndef POLICY_RULE_H
#define POLICY_RULE_H

#include "base/strs.h"
#include "policy/glob.h"
#include "policy/host_name.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct err;
struct words;

enum rule_verdict { RULE_ALLOW, RULE_DENY, RULE_DENY_HARD, RULE_ASK, RULE_TCP, RULE_SPLICE };

enum rule_host_kind {
        RULE_HOST_EXACT, /* api.github.com, 192.168.1.5, [fd00::1] */
        RULE_HOST_BELOW, /* *.example.org: everything below, at any depth, and not example.org */
        RULE_HOST_ANY,   /* *: only where something is refused */
};

enum {
        RULE_PORT_USUAL = 0, /* not written: 80 and 443 for a grant, any for a refusal */
        RULE_PORT_ANY = -1,  /* :* */
};

struct rule_place {
        enum rule_host_kind host_kind;
        struct host_name host; /* the name below which, for BELOW; nothing for ANY */
        int32_t port;
        bool has_path;
        struct glob path;
        bool is_shared; /* a wildcard whose names belong to strangers: worth a warning */
};

enum rule_where { RULE_HEADER, RULE_QUERY, RULE_JSON, RULE_FORM, RULE_BODY };

/* h:NAME=GLOB, q:NAME=GLOB, json:/POINTER=GLOB, form:NAME=GLOB, body:text=GLOB, body:graphql=GLOB,
 * body:xml/NAME=GLOB; all of a rule must hold. */
struct rule_cond {
        enum rule_where where;
        char *name; /* a header's in small letters */
        struct glob value;
};

#define RULE_METHODS_ALL UINT64_MAX

struct rule {
        enum rule_verdict verdict;
        uint64_t methods; /* bits of rule_method_bit, or RULE_METHODS_ALL; 0 for tcp and splice */
        struct rule_place place;
        struct rule_cond *conds;
        size_t conds_n;
        uint64_t rate_n, rate_per_s; /* rate=60/m is 60 and 60; 0 means no limit */
        uint64_t bytes;              /* bytes=50M, both ways together; 0 means no limit */
        uint64_t hosts;              /* hosts=20: so many distinct names; 0 means no limit */
        struct host_name to;         /* to=ADDR: dial this and nothing else; len 0 when not said */
        uint16_t to_port;            /* 0: the port that was asked for */
        char *ca;                    /* ca=FILE: NULL, "/..." or "~/..." */
        char *reason;                /* reason="...": NULL or words for whoever is refused */
};

enum rule_source {
        RULE_FROM_ENV,
        RULE_FROM_CMD,
        RULE_FROM_FILE,
        RULE_FROM_AWS,
        RULE_FROM_VAULT,
        RULE_FROM_LOGIN,   /* the host's login of an agent: claude, codex */
        RULE_FROM_ANY,     /* the variable if it is set, else the vault */
        RULE_FROM_KEYRING, /* the desktop's, by D-Bus */
};
enum rule_form {
        RULE_AS_BEARER,
        RULE_AS_BASIC,
        RULE_AS_HEADER,
        RULE_AS_QUERY,
        RULE_AS_PATH, /* a segment of the path, or the end of one ("/botTOKEN/") */
        RULE_AS_COOKIE,
        RULE_AS_JSON, /* a JSON pointer in the body */
        RULE_AS_FORM, /* a field of a form body */
        RULE_AS_WS,   /* a JSON pointer in a WebSocket message */
        RULE_AS_SIGV4,
        RULE_AS_HMAC,       /* the name is the header that gets the signature */
        RULE_AS_GCP,        /* a service account's JSON; its tokens are bearers */
        RULE_AS_GITHUB_APP, /* an app's private key; installation tokens are bearers */
        RULE_AS_OAUTH,      /* a refresh token or client secret; access tokens are bearers */
        RULE_AS_SSH,        /* a private key behind the box's agent socket */
};

/* What happens when a placeholder is seen where it has no business; refused it is in any case. */
enum rule_leak { RULE_LEAK_ALARM, RULE_LEAK_PAUSE, RULE_LEAK_REVOKE, RULE_LEAK_KILL };

struct rule_secret_form {
        enum rule_form form;
        char *name; /* of the header, parameter, cookie or field, or the pointer; else NULL */
};

enum { RULE_PLACES_MAX = 16, RULE_FORMS_MAX = 8 };

struct rule_secret {
        char *name;
        enum rule_source source;
        char *source_arg; /* variable, command, file, profile; NULL when not said */
        struct rule_place places[RULE_PLACES_MAX];
        size_t places_n;
        struct rule_secret_form forms[RULE_FORMS_MAX];
        size_t forms_n;
        bool is_injected;       /* also into requests that carry no credential at all */
        bool is_plain;          /* plain: also where there is no TLS */
        uint64_t ttl_s;         /* ttl=: so long after the start of the box it expires; 0: never */
        uint64_t refresh_s;     /* refresh=: ask the source again that often; 0: never */
        enum rule_leak leak;    /* leak= */
        char *service, *region; /* sigv4 */
        char *user;             /* basic: the user's name when it is injected */
        /* hmac: what is signed, a text with {method} {host} {path} {query} {target} {body}
         * {body_sha256} {time} {time_ms} {header:NAME}; and how it is written: "sha256" (also when
         * NULL), "sha512", "sha1"; "hex" (also when NULL), "base64"; what stands before it, or NULL
         */
        char *message, *hash, *encoding, *prefix;
        char *time_header; /* hmac: gets the {time} or {time_ms} that was signed; small letters */
        char *app;         /* github-app: its id; oauth and login: the client's id */
        char *installation, *repos; /* github-app */
        char *token; /* oauth, login: the token endpoint, https://...; a login always has it */
};

/* rule_source_word(k), rule_form_word(k): as a line has it. */
const char *rule_source_word(enum rule_source);
const char *rule_form_word(enum rule_form);

struct rule_bind {
        char *path; /* "/..." or "~/..." */
        char *mode; /* "ro", "rw" or "cow" */
};

enum rule_line_kind { RULE_LINE_RULE, RULE_LINE_SECRET, RULE_LINE_BIND, RULE_LINE_LIMIT };

struct rule_line {
        enum rule_line_kind kind;
        size_t line_no; /* set by whoever reads a file; 0 when there is none */
        union {
                struct rule rule;
                struct rule_secret *secret;
                struct rule_bind bind;
                struct strs limits; /* "memory=4G": checked */
        };
};

/* rule_line_parse(text, len, line, &column, err): one line, which may end in a comment. 1 when
 * ${line} was filled (release it with rule_line_free), 0 when the line is empty, -1 with a sentence
 * and the ${column} (from 1) where it goes wrong. */
int rule_line_parse(const char *text, size_t len, struct rule_line *, size_t *column, struct err *);

/* rule_line_of_words(w, line, &bad, err): the same for a line that is cut already and not empty. 0
 * or -1; ${bad} is then the index of the word that is wrong, w->n for the end of the line. */
int rule_line_of_words(const struct words *, struct rule_line *, size_t *bad, struct err *);

void rule_line_free(struct rule_line *);
#define _cleanup_rule_line_ __attribute__((cleanup(rule_line_free)))

bool rule_line_equal(const struct rule_line *, const struct rule_line *);

/* rule_line_print(line, b): the canonical text, without newline. Parsing it gives an equal line. */
void rule_line_print(const struct rule_line *, struct buf *);
void rule_print(const struct rule *, struct buf *);
void rule_place_print(const struct rule_place *, struct buf *);

/* rule_verdict_word(v): "allow", "deny!", ... */
const char *rule_verdict_word(enum rule_verdict);
/* rule_is_grant(v): does the verdict let something through, at once or after a question? */
bool rule_is_grant(enum rule_verdict);

/* rule_method_bit(method): its bit in rule.methods, 0 for one that only * covers. */
uint64_t rule_method_bit(const char *method);

/* rule_place_parse(s, len, is_grant, place, err): HOST[:PORT][/PATH]. A grant may not have the host
 * "*" nor a wildcard above a public suffix. On failure -1 and ${place} is empty. */
int rule_place_parse(const char *, size_t len, bool is_grant, struct rule_place *, struct err *);
void rule_place_free(struct rule_place *);

#endif
