/* door.h - what the door's roles say to each other: supervisor, egress, dial, keeper, audit.
 *
 * Every role begins with one SOCK_SEQPACKET socket to the supervisor as descriptor 3 and gets
 * everything else through it. Bodies are written and read field by field as in msg.h; strings are
 * lstr, which hold no NUL; "bytes" is a u32 length and any bytes. */
#ifndef WIRE_DOOR_H
#define WIRE_DOOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { DOOR_CONTROL_FD = 3 };
enum { DOOR_CA_FILE_MAX = 1 << 20 };

enum door_msg {
        /* pid 1 -> supervisor, before MSG_BUILT: sockets made in the door's network namespace */
        DOOR_SOCKETS = 400, /* list of u32 port + fds in that order: DOOR_PORT_* or a port that is
                               bound and listening already; may come several times */

        /* supervisor -> role */
        DOOR_BEGIN = 410, /* egress: lstr box id, u64 bytes of memory that it may hold
                             (0: any); + fds dial, keeper, audit.
                             dial: lstr upstream proxy or ""; + fd egress.
                             keeper: bytes CA key DER, bytes CA certificate DER, lstr box id; + fds
                             egress, audit (a writer of its own: every answer is logged).
                             audit: lstr box id; + fd of the log, then egress (more writers may come
                             with DOOR_WRITER) */
        DOOR_LISTEN,      /* egress: as DOOR_SOCKETS, the same descriptors passed on */
        DOOR_POLICY,      /* egress, dial: u64 generation, u32 enum door_level; + sealed memfd of
                             layers (door_layers_put). dial hears of a change first. Answered by
                             DOOR_POLICY_OK or DOOR_POLICY_BAD */
        DOOR_ANSWER,      /* egress: u64 question, u32 enum door_answer */
        DOOR_TRUST,       /* egress: + fd of the index of system roots (egress/trust.h) */
        DOOR_WRITER,      /* audit: + fd of one more socket that brings DOOR_RECORD */
        DOOR_CA_FILE,     /* egress, before the DOOR_POLICY that names it: lstr FILE as ca=FILE has
                             it; + sealed memfd of its PEM, at most DOOR_CA_FILE_MAX */

        /* role -> supervisor */
        DOOR_READY = 430, /* empty: BEGIN was taken, confinement is up */
        DOOR_POLICY_OK,   /* u64 generation: in force, also on everything that was open */
        DOOR_POLICY_BAD,  /* u64 generation, lstr sentence: the old one stays */
        DOOR_QUESTION,    /* egress: u64 question, u32 seconds left, lstr what, lstr rule that asks
                             ("" by level), lstr line that would allow it for good, lstr User-Agent of
                             the request or "" (the box's own word) */
        DOOR_SETTLED,     /* egress: u64 question: answered, timed out or its client is gone */
        DOOR_FAULT,       /* lstr sentence: the role cannot go on */

        /* egress -> dial, and back */
        DOOR_DIAL = 440,  /* u32 id, u32 enum request_kind, lstr host, u32 port */
        DOOR_DIAL_CANCEL, /* u32 id */
        DOOR_DIALED,      /* u32 id, lstr "addr:port"; + the connected socket, non-blocking */
        DOOR_DIAL_FAILED, /* u32 id, u32 enum door_dial_fault, lstr sentence */

        /* egress -> keeper, and back */
        DOOR_LEAF = 460,  /* u32 id, lstr host (canonical text) */
        DOOR_LEAF_OK,     /* u32 id, bytes certificate DER; made for the key of DOOR_KEEPER_HELLO */
        DOOR_LEAF_FAILED, /* u32 id, lstr sentence */
        DOOR_KEEPER_HELLO, /* keeper -> egress, first: bytes leaf private key DER, bytes CA DER,
                              bytes key of fingers (DOOR_FINGER_KEY) */

        /* egress, keeper -> audit */
        DOOR_RECORD = 480, /* one or more records one after the other, see door_record_put */

        /* Custody: supervisor -> keeper. A secret has a number from 1 and one or more parts (most
         * have one, whose name is ""; keys of AWS have "id", "key" and perhaps "token"; a login has
         * "access" and "refresh"). Each part has a placeholder for as long as the box lives. */
        DOOR_SECRET = 500, /* u32 number, lstr secret line (canonical, rule.h); + fd: the value is
                           what can be read from it to its end. The same number again brings a
                           fresh value; placeholders stay. Answered by _OK or _BAD, in any order */
        DOOR_STAND_IN,  /* u32 number, lstr part, lstr placeholder: what stood for that part in an
                           earlier life of the box, or in the one it was made of; before the first
                           DOOR_SECRET of this number, and used again if it still can be. Not
                           answered */
        DOOR_REVOKE,    /* u32 number, or DOOR_SECRET_ALL. Answered by DOOR_REVOKED once neither
                           keeper nor egress can use it any more */
        DOOR_KEPT,      /* u32 number, u32 is_ok: the answer to DOOR_ROTATED */
        DOOR_SSH_HOSTS, /* u32 number, u32 n, n x (lstr host, u32 port, bytes host key): by which
                           keys the places of an `as ssh` secret are known; before its DOOR_SECRET
                         */
        DOOR_SSH_HELD,  /* u32 n, n x bytes public key: what the user's own ssh agent holds, for
                           secrets whose private half only that has; before DOOR_SECRET */
        DOOR_LINE,      /* u32 number, lstr secret line: another line for a value that stays as it
                           is. Answered as DOOR_SECRET is */
        DOOR_HOLD,      /* u32 is_held: the box is paused, and nothing is placed or signed until it
                           goes on. Not answered */
        DOOR_SSH_ASKED, /* u32 id, bytes signature, empty when the agent did not: to DOOR_SSH_ASK */

        /* keeper -> supervisor */
        DOOR_SECRET_OK = 510, /* u32 number, lstr provider or "", lstr warning or "", u32 n,
                                 n x (lstr part, lstr placeholder) */
        DOOR_SECRET_BAD,      /* u32 number, lstr sentence: the value cannot be used */
        DOOR_REVOKED,         /* u32 number, as asked */
        DOOR_REFRESH,         /* u32 number: ask the source again (DOOR_SECRET). For a login: lock
                                 what the host keeps until DOOR_ROTATED or a new DOOR_REFRESH */
        DOOR_ROTATED, /* u32 number, bytes JSON with access, refresh, expires: to be kept where the
                         host keeps it, before anybody uses it; empty: there is nothing to keep. The
                         lock of DOOR_REFRESH is let go. Answered by DOOR_KEPT */
        DOOR_SSH_ASK, /* u32 id, bytes public key, bytes what is to be signed, u32 flags: have the
                         user's own agent sign it; it was judged already */

        /* keeper -> egress */
        DOOR_GRANTED = 520, /* u32 number, lstr secret line, u32 n, n x (lstr part, lstr
                               placeholder); never the value. After DOOR_GRANTS, and whenever one is
                               new or its line is: the number may come again */
        DOOR_FINGERS, /* u32 number, u32 part, u32 is_local, then to the end struct door_finger
                               (door_finger_get): how to know the value again in what comes back,
                               where ${is_local} only in what comes from its places. They add to
                               those of the values before */
        DOOR_GONE,    /* u32 number, lstr sentence: revoked or expired; cut what uses it, then
                               answer DOOR_GONE_OK */
        DOOR_FETCH,   /* u32 id, lstr method, lstr host, u32 port, lstr target, u32 n,
                               n x (lstr name, lstr value), bytes body, u32 m, m x lstr JSON pointers
                               that are wanted of the answer: a call that custody itself needs */
        DOOR_SSH_KEY, /* u32 number, bytes public key, lstr comment, then as in DOOR_SSH_HOSTS from
                         u32 n on: one more key of the box's agent socket. After the DOOR_GRANTED
                         of this number, which names no placeholder: a public key is no secret */
        DOOR_GRANTED_END, /* empty: the list that DOOR_GRANTS asked for is whole, also when it is
                             empty. egress lets nobody in before */

        /* egress -> keeper, each with its answer */
        DOOR_PLACE = 530, /* u32 id, u32 number, u32 form (index in the line), struct door_toward,
                             lstr slot: what stands in the slot now, "" to inject. A slot is: of
                             bearer, basic and header the field's whole value ("Bearer x", "token
                             x", "Basic eDp5"; the scheme stays as it is written, an injected one is
                             "Bearer"); of query, cookie, form, json and ws the value, decoded; of
                             path a whole segment, decoded ("botX": what stands before the
                             placeholder stays) */
        DOOR_PLACED,   /* u32 id, lstr what shall stand there, decoded likewise: egress encodes */
        DOOR_PLACE_NO, /* u32 id, u32 enum door_no, lstr sentence: also to DOOR_SIGN, _CAPTURE */
        DOOR_SIGN,     /* u32 id, u32 number, u32 form, struct door_toward, lstr raw target, u32 n,
                          n x (lstr header, lstr value) in wire order, bytes payload line (sigv4) or
                          body (hmac): see keeper/sign.h */
        DOOR_SIGNED,   /* u32 id, u32 chain (0: none), lstr target ("": unchanged), u32 n,
                          n x (lstr header, lstr value): replace; "" drops */
        DOOR_SIGN_CHUNK,   /* u32 id, u32 chain, u32 is_trailer, 32 bytes hash of its data */
        DOOR_CHUNK_SIGNED, /* u32 id, lstr hex signature */
        DOOR_SIGN_END,     /* u32 chain: no more chunks; not answered */
        DOOR_CAPTURE,  /* u32 id, u32 number (the secret that was shown in the request, or 0), lstr
                          host, lstr name ("access_token"), lstr value, u32 is_sure: a token that
                          came with an answer; not ${is_sure}: it was guessed to be one */
        DOOR_CAPTURED, /* u32 id, lstr placeholder; DOOR_GRANTED and DOOR_FINGERS came before */
        DOOR_GONE_OK,  /* u32 number */
        DOOR_FETCHED,  /* u32 id, u32 status (0: nothing came), lstr sentence, u32 m,
                          m x (u32 is_there, lstr value) */
        DOOR_TOKEN, /* u32 id, u32 number, u32 0, struct door_toward, bytes body: a call of the box
                       to the token endpoint of this secret (token= of its line). Answered by
                       DOOR_TOKEN_OK, or DOOR_PLACE_NO: with DOOR_NO_SLOT nothing in it is ours,
                       and it may go on like any other request */
        DOOR_TOKEN_OK,   /* u32 id, lstr the endpoint's answer in JSON, with placeholders */
        DOOR_SSH_SIGN,   /* u32 id, u32 number, then what the box's ssh showed of the server (the
                            extension session-bind@openssh.com): bytes host key, bytes session id,
                            bytes the server's signature of it; bytes what is to be signed, u32
                            flags. Everything is judged again: role/ssh_proof.h */
        DOOR_SSH_SIGNED, /* u32 id, bytes signature */
        DOOR_GRANTS, /* empty: egress is there (link_init says so, once). Answered by DOOR_GRANTED
                        and DOOR_FINGERS of every secret, then DOOR_GRANTED_END; until then the
                        keeper, which is older than egress, sends nothing but DOOR_KEEPER_HELLO */

        /* egress -> supervisor */
        DOOR_ALARM = 560, /* u32 number, lstr what happened: a placeholder was seen where it has no
                             business. The supervisor does what the secret's line says (leak=) */
};

enum { DOOR_SECRET_ALL = 0xffffffff };
enum {
        DOOR_SECRETS_MAX = 256,
        DOOR_PARTS_MAX = 4,
        DOOR_SECRET_MAX = 16 << 10,
        DOOR_SECRET_MIN = 8
};

/* Why the keeper says no. */
enum door_no {
        DOOR_NO_GRANT, /* the line does not speak of this place, form or protocol */
        DOOR_NO_REVOKED,
        DOOR_NO_EXPIRED, /* its ttl= is over */
        DOOR_NO_VALUE,   /* there is none: its source failed, or a refresh did */
        DOOR_NO_SLOT,    /* what stands in the slot is not what a placeholder looks like there */
        DOOR_NO_LIMIT,   /* the keeper is asked for too much at once */
};

/* Where a request goes, as the keeper judges it again. On the wire: lstr method, lstr host, u32
 * port, u32 is_tls, lstr path (canonical text, path_canon.h). */
struct door_toward {
        const char *method, *host, *path;
        uint16_t port;
        bool is_tls;
};

/* One writing of a value (policy/secret_forms.h), so that egress knows it again without having it:
 * hashes under the key of DOOR_KEEPER_HELLO, and none of its bytes. On the wire: u8 coding, u8
 * inner, u32 len, u16 hint, u64 tail, u64 whole. */
struct door_finger {
        uint8_t coding; /* enum secret_coding */
        uint8_t inner;  /* of the value, before that; SECRET_RAW: it is the value that is written */
        uint32_t len;
        uint16_t hint;  /* secret_finger_hint of its last 8 bytes: what a quick look goes by */
        uint64_t tail;  /* siphash of its last 8 bytes, letters made small */
        uint64_t whole; /* siphash of all of it; letters made small where the coding ignores case */
};
enum { DOOR_FINGER_SIZE = 1 + 1 + 4 + 2 + 8 + 8, DOOR_FINGER_KEY = 16 };

/* What becomes of a request that no line of any layer speaks of (POLICY_BY_DEFAULT). deny! and
 * every other line hold at each level; an address that is not public needs a rule at each level
 * too. */
enum door_level {
        DOOR_STRICT, /* denied */
        DOOR_EASY,   /* egress asks (DOOR_QUESTION with rule "": the supervisor says no at once when
                        nobody is there to answer); dial takes egress's word for it */
        DOOR_LEARN,  /* allowed, and its record says so in `rule`: "allowed while learning" */
};

/* Ports with a meaning of their own in DOOR_SOCKETS and DOOR_LISTEN. */
enum {
        DOOR_PORT_DNS_UDP = 0x10000,   /* UDP 53, bound, IP_PKTINFO on */
        DOOR_PORT_SPARE = 0x10001,     /* a TCP socket that is not bound yet */
        DOOR_PORT_WATCH = 0x10003,     /* raw: a copy of each first packet of a connection */
        DOOR_PORT_SSH_AGENT = 0x10002, /* listens at DOOR_SSH_AGENT_PATH in the box */
};

enum door_answer {
        DOOR_ANSWER_NO, /* a person said so */
        DOOR_ANSWER_YES,
        DOOR_ANSWER_FLOOD,  /* nobody was asked: the box asks too much */
        DOOR_ANSWER_NOBODY, /* nobody was asked: nobody is there to answer */
        DOOR_ANSWER_QUIET,  /* nobody was asked: who is there wants to see no questions */
};

enum door_dial_fault {
        DOOR_DIAL_DENIED,   /* policy or address: nothing was sent */
        DOOR_DIAL_NO_NAME,  /* the name does not resolve */
        DOOR_DIAL_NO_ROUTE, /* refused, unreachable, timed out */
        DOOR_DIAL_BUSY,     /* too many at once */
};

/* Where programs in the box find the ssh agent (SSH_AUTH_SOCK); there when a secret is `as ssh`. */
#define DOOR_SSH_AGENT_PATH "/run/ostiary/ssh-agent"
/* Keys of hosts, and bytes of a key: an rsa one of 8192 bits has 1047. All of them fit a frame. */
enum { DOOR_SSH_HOSTS_MAX = 40, DOOR_SSH_BLOB_MAX = 1100 };

/* The box's addresses. 198.18.0.0/15 is set aside for tests of network devices, so no name of the
 * real world lives there. */
#define DOOR_GATEWAY_ADDR "198.18.0.1" /* the door; the box's name server and default route */
#define DOOR_BOX_ADDR     "198.18.0.2"
#define DOOR_NAMES_NET    0xc6130000u /* 198.19.0.0/16: one address per name */

/* A layer of policy as it travels: u32 rank (enum policy_rank), lstr name, u32 has_lines,
 * lstr text. Layers follow each other to the end of the memfd. has_lines 1: text is a file, and
 * verdicts name its lines; 0: each line is one rule without a number. policy/policy_layers.h makes
 * a policy of the bytes. */
enum { DOOR_LAYERS_MAX = 16 << 20 }; /* of all layers together */
struct buf;
void door_layers_put(struct buf *, uint32_t rank, const char *name, bool has_lines,
                     const char *text);

struct err;
/* door_sealed_make(name, b, err): a memfd with the content of ${b} that nobody can change any more;
 * the caller's to close. -1 and a story otherwise. */
int door_sealed_make(const char *name, const struct buf *, struct err *);
/* door_sealed_read(fd, max, b, err): append all of such a memfd to ${b}. Refused when it is not
 * sealed against writing, growing and shrinking, or is larger than ${max}. 0 or -1. */
int door_sealed_read(int fd, size_t max, struct buf *, struct err *);

/* One line of the log, as egress tells it. Strings may be "" when there is nothing to say; nothing
 * in here is trusted by audit beyond its length. What stands below `cure` is the witness's to say
 * (audit/witness.h): of other writers the log ignores it. */
struct door_record {
        uint64_t time_us;     /* since the epoch, when the request or connection began */
        const char *kind;     /* "http", "tcp", "splice", "dns", "tls", "rule", "door", "secret",
                                 "alarm", "ssh"; of the witness "exec", "exit", "connect", "bind",
                                 "listen", "call", "kill", "open"; of the supervisor "box" */
        const char *verdict;  /* "allow", "deny", "ask-yes", "ask-no", "error" */
        const char *rule;     /* policy_words: "allowed by user policy:12" */
        const char *protocol; /* "http/1.1", "h2", "ws", "tcp", ... */
        const char *host;
        uint32_t port;
        const char *address;       /* what was dialled */
        const char *method, *path; /* query values redacted */
        uint32_t status;
        uint64_t bytes_up, bytes_down;
        uint64_t wait_us, total_us; /* until the first byte of the answer; until the end */
        uint32_t source_port;       /* of the box's side: finds the process that connected */
        const char *secrets;        /* names of those that were shown, separated by blanks */
        const char *note;           /* why it was refused or failed, and what was flagged */
        const char *cure;           /* the rule line that would allow it, or "" */
        uint32_t pid, ppid;         /* as the host counts them */
        const char *exe;            /* the program, as a path in the box */
        uint64_t cpu_us, peak_kib;  /* of a process that ended */
};

struct cur;
void door_toward_put(struct buf *, const struct door_toward *);
/* door_toward_get(c, t, strings): strings are copied into ${strings}, whose former content is
 * dropped. 0 or -1. */
int door_toward_get(struct cur *, struct door_toward *, struct buf *strings);
void door_finger_put(struct buf *, const struct door_finger *);
int door_finger_get(struct cur *, struct door_finger *);

/* door_record_put(b, r): NULL is the same as "". A string that is longer than its field holds is
 * cut and ends in "...", so that a record always fits one frame and can be read back. */
void door_record_put(struct buf *, const struct door_record *);
enum { DOOR_NOTE_MAX = 4096 };
enum { DOOR_RECORD_MAX = 48 << 10 }; /* no record takes more bytes than this */
/* door_record_get(c, r, strings): the next record; its strings are copied into ${strings}, whose
 * former content is dropped, and which the caller frees after use. 0 or -1. */
int door_record_get(struct cur *, struct door_record *, struct buf *strings);

#endif
