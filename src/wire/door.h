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
        DOOR_BEGIN = 410, /* egress: lstr box id; + fds dial, keeper, audit.
                             dial: lstr upstream proxy or ""; + fd egress.
                             keeper: bytes CA key DER, bytes CA certificate DER; + fd egress.
                             audit: lstr box id; + fd of the log, then egress (more writers may come
                             with DOOR_WRITER) */
        DOOR_LISTEN,      /* egress: as DOOR_SOCKETS, the same descriptors passed on */
        DOOR_POLICY,      /* egress, dial: u64 generation, u32 enum door_level; + sealed memfd of
                             layers (door_layers_put). dial hears of a change first. Answered by
                             DOOR_POLICY_OK or DOOR_POLICY_BAD */
        DOOR_ANSWER,      /* egress: u64 question, u32 yes */
        DOOR_TRUST,       /* egress: + fd of the index of system roots (egress/trust.h) */
        DOOR_WRITER,      /* audit: + fd of one more socket that brings DOOR_RECORD */
        DOOR_CA_FILE,     /* egress, before the DOOR_POLICY that names it: lstr FILE as ca=FILE has
                             it; + sealed memfd of its PEM, at most DOOR_CA_FILE_MAX */

        /* role -> supervisor */
        DOOR_READY = 430, /* empty: BEGIN was taken, confinement is up */
        DOOR_POLICY_OK,   /* u64 generation: in force, also on everything that was open */
        DOOR_POLICY_BAD,  /* u64 generation, lstr sentence: the old one stays */
        DOOR_QUESTION,    /* egress: u64 question, u32 seconds left, lstr what, lstr rule that asks
                             ("" by level), lstr line that would allow it for good */
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
        DOOR_KEEPER_HELLO, /* keeper -> egress, first: bytes leaf private key DER, bytes CA DER */

        /* egress -> audit */
        DOOR_RECORD = 480, /* one or more records one after the other, see door_record_put */
};

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
        DOOR_PORT_DNS_UDP = 0x10000, /* UDP 53, bound, IP_PKTINFO on */
        DOOR_PORT_SPARE = 0x10001,   /* a TCP socket that is not bound yet */
};

enum door_dial_fault {
        DOOR_DIAL_DENIED,   /* policy or address: nothing was sent */
        DOOR_DIAL_NO_NAME,  /* the name does not resolve */
        DOOR_DIAL_NO_ROUTE, /* refused, unreachable, timed out */
        DOOR_DIAL_BUSY,     /* too many at once */
};

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
 * in here is trusted by audit beyond its length. */
struct door_record {
        uint64_t time_us;     /* since the epoch, when the request or connection began */
        const char *kind;     /* "http", "tcp", "splice", "dns", "tls", "rule", "door" */
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
        const char *note;           /* why it was refused or failed, and what was flagged */
        const char *cure;           /* the rule line that would allow it, or "" */
};

struct cur;
/* door_record_put(b, r): NULL is the same as "". A string that is longer than its field holds is
 * cut and ends in "...", so that a record always fits one frame and can be read back. */
void door_record_put(struct buf *, const struct door_record *);
enum { DOOR_RECORD_MAX = 48 << 10 }; /* no record takes more bytes than this */
/* door_record_get(c, r, strings): the next record; its strings are copied into ${strings}, whose
 * former content is dropped, and which the caller frees after use. 0 or -1. */
int door_record_get(struct cur *, struct door_record *, struct buf *strings);

#endif
