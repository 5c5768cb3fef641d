/* ended.h - endings in words: why a command or a box ended, and what a supervisor refused. */
#ifndef CLI_ENDED_H
#define CLI_ENDED_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct cur;
struct err;
struct msg_ended;

/* ended_say(e): one line on stderr when there is something to say that the exit code does not. */
void ended_say(const struct msg_ended *);

/* ended_refused(body, box, is_kept): the body of MSG_REFUSED: hosts that were refused, the first
 * with what would allow it next time; two lines at most. ${box} counts only if it was kept. */
void ended_refused(const struct buf *body, const char *box, bool is_kept);

/* ended_failure(body, err): the body of MSG_FAILED as an error. */
void ended_failure(struct cur *body, struct err *);

/* ended_notice(is_raw, words): a notice while the box runs, on a line of its own. */
void ended_notice(bool is_raw, const char *words);

/* ended_url(is_raw, box, url, port, key): the box wants ${url} opened; ${port} of the box is where
 * it leads back to, or 0; ${key} is the one before f that forwards it, or 0 when there is none. */
void ended_url(bool is_raw, const char *box, const char *url, uint32_t port, uint32_t key);

#endif
