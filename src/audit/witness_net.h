/* witness_net.h - the calls about sockets: where to, from where, over what. */
#ifndef AUDIT_WITNESS_NET_H
#define AUDIT_WITNESS_NET_H

#include <sys/types.h>

struct buf;
struct door_record;
struct peek;
struct seccomp_notif;
struct witness_call;

/* witness_net_read(q, peek, record, text, call): of connect, bind and listen. ${text} holds the
 * record's strings. */
void witness_net_read(const struct seccomp_notif *, struct peek *, struct door_record *,
                      struct buf *text, struct witness_call *);

/* witness_net_take(tid, fd): a copy of a descriptor of that thread, or -1. */
int witness_net_take(pid_t tid, int fd);

/* witness_net_pidfd(tid, fd): which process the pidfd ${fd} of that thread stands for, as the host
 * counts; 0 when this kernel does not say. */
pid_t witness_net_pidfd(pid_t tid, int fd);

#endif
