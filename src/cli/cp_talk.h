/* cp_talk.h - the conversation of `ostiary cp` with a box's supervisor. */
#ifndef CLI_CP_TALK_H
#define CLI_CP_TALK_H

#include <stdbool.h>

struct boxarg;
struct err;
struct store;

struct cp_ask {
        bool is_out, is_follow;
        const char *path; /* in the box */
        const char *base; /* into the box: what the source is called */
};

/* The supervisor, our end of the stream, and whether the box was woken for it. Both are closed by
 * whoever asked, and -1 before. */
struct cp_talk {
        int client, mine;
        bool was_asleep;
};

/* cp_talk_begin(t, ask, b, box_dir, err): until the box's half runs. A box that is on its way to
 * sleep when it is asked is woken and asked again, as exec does: nothing of the copy has begun. */
int cp_talk_begin(struct cp_talk *, const struct cp_ask *, struct boxarg *, int box_dir,
                  struct err *);
/* cp_talk_end(client, err): how the box's half ended. Its own reasons came through the stream
 * already, so only what the supervisor says counts here. */
int cp_talk_end(int client, struct err *);
/* cp_talk_stop(store, id): a box that slept before the copy sleeps after it. */
void cp_talk_stop(const struct store *, const char *id);

#endif
