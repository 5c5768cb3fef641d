/* story_args.h - the flags with which log and timeline are asked for a part of the story; the same
 * words mean the same in both. */
#ifndef CLI_STORY_ARGS_H
#define CLI_STORY_ARGS_H

#include "cli/args.h"
#include "session/story_filter.h"

struct err;
struct store;

struct story_args {
        const char *since, *until, *process, *host, *path;
        struct strs kinds;
        uint64_t pid;
};
void story_args_free(struct story_args *);
#define _cleanup_story_args_ __attribute__((cleanup(story_args_free)))

/* STORY_FLAGS(a): rows for a command's table of flags. */
#define STORY_FLAGS(a)                                                                             \
        ARG_STR(0, "since", &(a)->since, "TIME", "from this time on: 02:10, 10m ago as 10m"),      \
                ARG_STR(0, "until", &(a)->until, "TIME", "up to this time"),                       \
                ARG_LIST('k', "kind", &(a)->kinds, "KIND,...", "only these: exec, request, ..."),  \
                ARG_U64(0, "pid", &(a)->pid, "PID", "only this process"),                          \
                ARG_STR(0, "process", &(a)->process, "NAME", "only programs of this name"),        \
                ARG_STR(0, "host", &(a)->host, "HOST", "only this host and those below it"),       \
                ARG_STR(0, "path", &(a)->path, "PATH", "only this path and those below it")

/* story_args_has(a): was any of them given? */
bool story_args_has(const struct story_args *);

/* story_args_filter(a, store, id, f, err): as a filter, initialised here, which borrows from
 * ${a}. Without a box (${id} NULL) only the words are checked. */
int story_args_filter(const struct story_args *, const struct store *, const char *id,
                      struct story_filter *, struct err *);

#endif
