/* envelope.h - one shape for machines. With --json a command prints exactly one document, whatever
 * happens:
 *
 *     {"ostiary":1,"kind":"boxes","data":[...],"errors":[]}
 *     {"ostiary":1,"kind":"error","data":null,"errors":[{"kind":"absent","message":"...",
 *      "hint":"...","exit_code":121}]}
 *
 * A command that prints one object a line (log, timeline) has an envelope only for a fault, as the
 * last line. args.c turns it on when it meets --json; out.c hands over data and errors; main.c closes it. Off,
 * every function here does nothing. docs/json.md is the page about it. */
#ifndef CLI_ENVELOPE_H
#define CLI_ENVELOPE_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct json;

enum { ENVELOPE_VERSION = 1 };

/* envelope_on(): JSON was asked for. */
void envelope_on(void);
bool envelope_is_on(void);

/* envelope_data(kind, b): what the command was asked for; a whole JSON value in ${b}, which is
 * copied. Off, it is printed at once and bare. Returns the exit code. */
int envelope_data(const char *kind, struct buf *b);

/* envelope_words(kind, key, value, ..., NULL): an object of strings as data; a NULL value is null. */
int envelope_words(const char *kind, ...) __attribute__((sentinel));

/* envelope_head(kind, b): for data that is written while it is found: put the head of the document
 * into ${b}, before the data; envelope_tail(): the data is whole, so that envelope_close ends the
 * document. Without it the document stays open, which no reader of JSON takes for the whole. */
void envelope_head(const char *kind, struct buf *b);
void envelope_tail(void);

/* envelope_error(exit_code, sentence): one more fault. */
void envelope_error(int exit_code, const char *sentence);
/* envelope_said(sentence): what was said to people; it becomes the fault when the command fails
 * without another. */
void envelope_said(const char *sentence);

/* envelope_close(code): print the document. Returns the status to leave with. */
int envelope_close(int code);

/* envelope_time(j, key, us): a time as ISO 8601 in UTC, null when ${us} is 0 or less. */
void envelope_time(struct json *, const char *key, int64_t us);

#endif
