/* exitcodes.h - the one table of exit statuses: what each is called in JSON, and what it means. */
#ifndef CLI_EXITCODES_H
#define CLI_EXITCODES_H

/* exitcodes_kind(code): the word for it in the "kind" of an error: "usage", "absent". A status that
 * is not ours is "failed". */
const char *exitcodes_kind(int code);

/* exitcodes_print(): the table, on stdout. */
void exitcodes_print(void);

#endif
