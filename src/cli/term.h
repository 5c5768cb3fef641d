/* term.h - the user's terminal: raw while a box has it, and put back on every way out.
 *
 * Called by stream.c. What is put back: the line settings that were found, and whatever modes the
 * box left on (alternate screen, mouse, paste, keyboard). It happens at return, at exit, and when a
 * signal ends us, crashes included; only SIGKILL leaves a raw terminal. */
#ifndef CLI_TERM_H
#define CLI_TERM_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct filter_modes;
struct screen;

/* term_is_ours(): are stdin and stdout a terminal whose foreground we are? */
bool term_is_ours(void);
/* term_is_background(fd): a terminal where another job is in front: reading it would stop us. */
bool term_is_background(int fd);

/* term_size(&cols, &rows): of stdout, stdin or stderr; 80x24 when none knows. */
void term_size(uint32_t *cols, uint32_t *rows);

/* term_raw(err): keys go through as they are typed. Call again after SIGCONT. */
int term_raw(struct err *);

/* term_pause(): the terminal's settings as before, until term_raw; for a client that is stopped. */
void term_pause(void);

/* term_watch(fd, modes, screen): what the box does to the terminal behind ${fd}, and which of its
 * rows are ours (or NULL); at most two terminals. Both must live until the end. */
void term_watch(int fd, const struct filter_modes *, const struct screen *);

/* term_restore(): everything back as it was. Harmless when nothing was changed. */
void term_restore(void);

#endif
