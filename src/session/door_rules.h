/* door_rules.h - what was said about the door while a box runs: kept beside the box as a journal,
 * so that a box that is started again still refuses what it was told to refuse. */
#ifndef SESSION_DOOR_RULES_H
#define SESSION_DOOR_RULES_H

#include "base/strs.h"

#include <stdbool.h>

struct err;

enum { DOOR_RULES_MAX = 1000 }; /* of one box; more belong into a file */

/* door_rules_load(dir_fd, rules, err): what the journal comes to, the newest first. A torn last
 * line is ignored: its change was never confirmed. One that is there and cannot be read is -1: a
 * rule that forbids something may stand in it. */
int door_rules_load(int dir_fd, struct strs *rules, struct err *);

/* door_rules_apply(rules, is_added, line): put ${line} first, or take it out. A line is there at
 * most once. False when there was nothing to take out. */
bool door_rules_apply(struct strs *, bool is_added, const char *line);

/* door_rules_note(dir_fd, is_added, line, err): write the change down. */
int door_rules_note(int dir_fd, bool is_added, const char *line, struct err *);

#endif
