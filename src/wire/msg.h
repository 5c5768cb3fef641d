/* msg.h - every message that crosses between our processes, who may send it, and its body.
 *
 * Bodies are written with buf_put_* and read with cur_*: u32 and u64 big-endian, "lstr" a u32
 * length and bytes, "list" a u32 count and that many lstr. A client connection is one conversation:
 * it asks for one thing first (EXEC, ATTACH, STATUS, STOP, COPY) and what follows belongs to it.
 * What concerns the door (RULE to ROTATE) may be asked any number of times, one after the other.
 */
#ifndef WIRE_MSG_H
#define WIRE_MSG_H

#include "base/cur.h"
#include "base/strs.h"

struct buf;

enum msg_type {
        /* client -> supervisor */
        MSG_EXEC = 1,  /* struct msg_spawn: run this in the box; the client is attached to it */
        MSG_ATTACH,    /* u32 cols, u32 rows: attach to the box's main command */
        MSG_STATUS,    /* empty */
        MSG_STOP,      /* u32 grace in ms: TERM, then KILL; answered by MSG_ENDED */
        MSG_COPY_OUT,  /* lstr path in the box, u32 follow; + fd of a tree stream to write to */
        MSG_COPY_IN,   /* lstr directory in the box, lstr name; + fd of a tree stream to read */
        MSG_STDIN,     /* bytes; an empty body closes the command's input */
        MSG_RESIZE,    /* u32 cols, u32 rows */
        MSG_SIGNAL,    /* u32 signal number, to the command's process group */
        MSG_CLOSE_OUT, /* u32 1 or 2: the client's side of stdout or stderr is gone */
        MSG_PUBLISH,   /* lstr [HOST:]PORT[:BOXPORT], u32 1: only as long as this conversation */
        MSG_PORTS,     /* empty: what is published? */
        MSG_FORWARD,   /* u32 port that MSG_SHOW_URL offered: yes; answered by MSG_NOTICE */
        MSG_RULE,  /* u32 1 to add, 0 to take back, lstr line: answered by MSG_DONE when in force */
        MSG_RULES, /* empty: answered by MSG_RULES_ARE */
        MSG_RELOAD,    /* empty: read the files of rules again; answered by MSG_DONE */
        MSG_APPROVALS, /* empty: answered by MSG_APPROVALS_ARE */
        MSG_APPROVE,   /* u64 question, u32 yes, u32 1 to keep the rule: answered by MSG_DONE */
        MSG_SECRETS,   /* empty: answered by MSG_SECRETS_ARE */
        MSG_REVOKE,    /* lstr name, or "" for all: answered by MSG_DONE (u64 how many) when nobody
                          can use it any more */
        MSG_ROTATE,    /* lstr name; + fd of a pipe with the new value, or none to ask its source:
                          answered by MSG_DONE when the next request uses it */
        MSG_SNAPSHOT,  /* lstr name of the snapshot or "", lstr kind and lstr label of the frozen
                          layer: answered by MSG_SNAPSHOT_IS. A box in which nothing runs sleeps
                          afterwards */
        MSG_SETTLE,    /* empty; + end of a pipe: closed when everything that was told to the log
                          until now is written */
        MSG_CONTINUE,  /* empty: a box that is paused goes on; answered by MSG_DONE */
        MSG_ANSWER,    /* u64 question, u32 yes, u32 1 to keep the rule: by the key of an attached
                          client; MSG_NOTICE says why when it could not be done */
        MSG_QUIET, /* empty: this client shows no questions (--quiet), so nobody sees them there */

        /* supervisor -> client */
        MSG_STARTED = 100, /* struct msg_started: the command runs, or the box waits for one */
        MSG_STDOUT,        /* bytes */
        MSG_STDERR,        /* bytes */
        MSG_ENDED,         /* struct msg_ended: the command, or the box, is over */
        MSG_FAILED,        /* u32 err_code, lstr sentence: it could not be done */
        MSG_NOTICE,        /* lstr sentence for the user (a limit is near, disk is low) */
        MSG_INFO,          /* struct msg_info: answer to STATUS */
        MSG_PUBLISHED,     /* lstr address and port on the host, u32 port in the box */
        MSG_SHOW_URL,      /* lstr address that the box wants opened, u32 port of the box it leads
                              back to, or 0 */
        MSG_PORTS_ARE, /* u32 pid of the box's first process, u32 count, then as MSG_PUBLISHED */
        MSG_REPLAY,    /* bytes: output from before the attach */
        MSG_DONE,      /* u64 generation of the policy that is in force now */
        MSG_RULES_ARE, /* u64 generation, u32 enum door_level; + sealed memfd of layers (door.h) */
        MSG_REFUSED, /* before MSG_ENDED: hosts that were refused, and their cures (audit/refused.h)
                      */
        MSG_APPROVALS_ARE, /* u32 count, each: u64 question, u32 seconds left, lstr what, lstr rule
                              that asks, lstr line that would allow it for good, lstr package
                              manager for which the line would be kept in every box or "" */
        MSG_SECRETS_ARE,   /* u32 count, each: lstr secret line, lstr who says so, lstr provider or
                              "", lstr state ("held", "asked", "expired", "revoked", "left out"), lstr
                              why the last refresh failed or "". Never a value */
        MSG_ALARM,         /* lstr sentence: a placeholder was seen where it has no business; shown
                              also to those who want no notices */
        MSG_SNAPSHOT_IS,   /* u32 1: copied, and the box goes on; u64 us that it stood still, lstr
                              list of layers as in stack.h */
        MSG_AGAIN,   /* empty: the box went to sleep before it could answer; connect again, which
                      wakes it */
        MSG_WAITING, /* to clients with a terminal, whenever it changes: u32 how many questions
                        wait; if any, of the oldest: u64 question, u32 seconds left, lstr what, lstr
                        rule that asks, lstr line that would allow it for good, lstr package
                        manager or "" */

        /* supervisor -> pid 1 */
        MSG_SPAWN = 200, /* u32 exec id, struct msg_spawn; + stdin, stdout, stderr unless tty */
        MSG_KILL,        /* u32 exec id or 0 for all, u32 signal */
        MSG_TREE_OUT,    /* u32 exec id, lstr path, u32 follow; + fd */
        MSG_TREE_IN,     /* u32 exec id, lstr directory, lstr name; + fd */
        MSG_CONNECT,     /* u32 connection, u32 port of the box's own loopback */

        /* pid 1 -> supervisor */
        MSG_BUILT = 300, /* the walls are up and read back; + what hears of the box's calls and
                            the box's root, if calls are recorded */
        MSG_BROKEN,      /* u32 err_code, u32 errno, lstr sentence: the box could not be built */
        MSG_SPAWNED,     /* u32 exec id, u32 pid; + pty master if tty */
        MSG_SPAWN_ERR,   /* u32 exec id, u32 err_code, lstr sentence */
        MSG_EXITED,      /* u32 exec id, u32 wait status, u64 cpu us, u64 peak memory KiB */
        MSG_CONNECTED,   /* u32 connection, u32 errno or 0; + the socket */
        MSG_OPEN_URL,    /* lstr address that a program in the box wants opened */
        MSG_KILLED,      /* u32 signal of a MSG_KILL with exec id 0: everything in the box has it */
        MSG_WATCHED,     /* empty; + MSG_WATCHED_N descriptors that show what the box uses */
};

/* The descriptors of MSG_WATCHED; one that cannot be had is the null device. */
enum {
        MSG_WATCHED_PROC, /* /proc, a directory */
        MSG_WATCHED_TMP,  /* the file system of /tmp, /dev/shm, /run and /var/tmp */
        MSG_WATCHED_SHM,  /* /proc/sysvipc/shm, msg, sem */
        MSG_WATCHED_MSG,
        MSG_WATCHED_SEM,
        MSG_WATCHED_SOCKETS, /* NETLINK_SOCK_DIAG */
        MSG_WATCHED_PIDNS,   /* the namespace of the box's processes */
        MSG_WATCHED_N
};

enum { MSG_URL_MAX = 3072 };

/* What to run. */
struct msg_spawn {
        bool is_tty;
        bool has_stdin; /* otherwise its input is /dev/null */
        uint32_t cols, rows;
        char *cwd; /* "" means the box's own */
        struct strs argv;
        struct strs env; /* added to, or replacing parts of, the box's own */
};

void msg_spawn_free(struct msg_spawn *);
void msg_spawn_put(struct buf *, const struct msg_spawn *);
int msg_spawn_get(struct cur *, struct msg_spawn *); /* 0 or -1 */

/* What runs now. The box may be gone, with its directory, when this is read: so whatever is told of a
 * start is in it. */
struct msg_started {
        uint32_t pid; /* in the box; 0: nothing runs yet, or it has for long */
        /* What the box is; "" in all of them when the client did not start it: */
        char *workspace, *tier, *grants; /* as in struct box_meta */
        bool is_live;
        struct strs masked; /* files with secrets, a line for each */
};
enum { MSG_STARTED_WORDS_MAX = 8192, MSG_STARTED_MASKED_MAX = 16, MSG_STARTED_LINE_MAX = 2048 };

void msg_started_free(struct msg_started *);
/* msg_started_put(b, s): what is longer than the bounds above is cut, and so it always fits a frame. */
void msg_started_put(struct buf *, const struct msg_started *);
int msg_started_get(struct cur *, struct msg_started *);

/* How something ended. */
enum msg_end {
        MSG_END_EXIT,    /* value: exit status */
        MSG_END_SIGNAL,  /* value: signal number */
        MSG_END_TIME,    /* the time limit */
        MSG_END_MEMORY,  /* the memory limit */
        MSG_END_DISK,    /* the disk limit or the free-space floor */
        MSG_END_STOPPED, /* somebody asked for it */
        MSG_END_FAULT,   /* one of our processes died; the box was closed */
        MSG_END_COUNT
};

struct msg_ended {
        uint32_t how; /* enum msg_end */
        uint32_t value;
        char *words;  /* one sentence when a limit or a fault ended it, else "" */
        bool is_kept; /* the box's layers were kept, because they hold changes or were asked for */
        uint64_t cpu_us;
        uint64_t peak_kib;
};

void msg_ended_free(struct msg_ended *);
void msg_ended_put(struct buf *, const struct msg_ended *);
int msg_ended_get(struct cur *, struct msg_ended *);
/* msg_ended_exit_code(e): what the CLI exits with. */
int msg_ended_exit_code(const struct msg_ended *);

/* What a living box says of itself. */
struct msg_info {
        uint32_t supervisor_pid, init_pid;
        uint32_t execs_n, clients_n;
        uint64_t memory, memory_peak, cpu_us, pids, disk;
        char *limits_words; /* what enforces the limits */
};

void msg_info_free(struct msg_info *);
void msg_info_put(struct buf *, const struct msg_info *);
int msg_info_get(struct cur *, struct msg_info *);

/* msg_list_put/get: a list of strings, at most ${max_n} of at most ${max_len} bytes. */
void msg_list_put(struct buf *, const struct strs *);
int msg_list_get(struct cur *, struct strs *, size_t max_n, size_t max_len);

#endif
