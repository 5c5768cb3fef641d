/* story_text.h - one event of a box's story in words, for log, timeline and report. Everything that
 * came out of a box is quoted here (str_quote), so what is returned may go to a terminal. */
#ifndef CLI_STORY_TEXT_H
#define CLI_STORY_TEXT_H

#include <stdbool.h>
#include <stdint.h>

struct audit_record;
struct story_change;
struct story_event;
struct story_undo;

/* story_text_what(e): what happened, on one line: "npm install", "GET example.org/ 200, 4.1K got",
 * "modified src/app.js". The caller frees. */
char *story_text_what(const struct story_event *);
char *story_text_record(const struct audit_record *);
char *story_text_change(const struct story_change *);
char *story_text_undo(const struct story_undo *);

/* story_text_who(r): "node[34]", or "". The caller frees. */
char *story_text_who(const struct audit_record *);

/* story_text_command(r): the command line of an exec. The witness has quoted its words already, so
 * that a backslash is not quoted a second time; everything else is. The caller frees. */
char *story_text_command(const struct audit_record *);

/* story_text_target(r): "example.org:8443/path". The caller frees. */
char *story_text_target(const struct audit_record *);

/* story_text_size(n, buf): "0", "312", "4.1K", "23M": at most five characters. */
const char *story_text_size(uint64_t n, char buf[8]);

/* story_text_is_absent(r): a call that the box's kernel says it does not have (ENOSYS). Programs
 * try such calls all the time and do without: recorded as refused, and nothing to be alarmed about.
 */
bool story_text_is_absent(const struct audit_record *);

/* story_text_is_bad(e): refused (and not only absent), or an alarm: to be seen first. */
bool story_text_is_bad(const struct story_event *);

/* story_text_is_odd_time(c): does the file claim another time than the kernel noted? */
bool story_text_is_odd_time(const struct story_change *);

#endif
