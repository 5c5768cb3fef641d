/* witness_call.h - one notification made into one record. Reads what belongs to it (the caller's
 * memory, its socket, its links in /proc), decides nothing, answers nothing. */
#ifndef AUDIT_WITNESS_CALL_H
#define AUDIT_WITNESS_CALL_H

#include "base/strs.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct door_record;
struct seccomp_notif;

/* A command that pid 1 is about to execute, as the supervisor told it: pid 1's own memory is closed
 * to everybody. */
struct witness_spawn {
        uint32_t id;
        char *path, *cwd; /* the box's PATH, and where the command starts */
        struct strs argv;
};

struct witness_scene {
        int root_fd; /* the box's root */
        bool is_all; /* every call is told */
        /* find(id): the command of that number, or NULL. */
        const struct witness_spawn *(*find)(uint32_t id);
        const char *(*name)(int nr); /* of a system call, or NULL */
};

struct witness_call {
        bool is_told;  /* there is something to record */
        int sock;      /* a copy of the socket of a connect() over TCP; else -1. The caller's */
        pid_t leaving; /* the process that is about to end by this call; else 0 */
};

/* witness_call_read(scene, q, error, record, call): ${error} is what the caller will get, 0 when
 * its call goes on. The record's strings live until the next one. */
void witness_call_read(const struct witness_scene *, const struct seccomp_notif *, int error,
                       struct door_record *, struct witness_call *);

#endif
