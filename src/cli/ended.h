/* ended.h - endings in words: why a command or a box ended, and what a supervisor refused. */
#ifndef CLI_ENDED_H
#define CLI_ENDED_H

#include <stdbool.h>

struct buf;
struct cur;
struct err;
struct msg_ended;

/* ended_say(e): one line on stderr when there is something to say that the exit code does not. */
void ended_say(const struct msg_ended *);

/* ended_refused(body, box, is_kept): the body of MSG_REFUSED: hosts that were refused, each with
 * what would allow it next time. ${box} counts only if it was kept. */
void ended_refused(const struct buf *body, const char *box, bool is_kept);

/* ended_failure(body, err): the body of MSG_FAILED as an error. */
void ended_failure(struct cur *body, struct err *);

/* ended_notice(is_raw, words): a notice while the box runs, on a line of its own. */
void ended_notice(bool is_raw, const char *words);

#endif
