/* timeline.h - the parts of `ostiary timeline` that stand in files of their own. */
#ifndef CLI_TIMELINE_H
#define CLI_TIMELINE_H

#include <stdbool.h>

struct boxarg;
struct buf;
struct json;
struct story_change;
struct story_event;

/* timeline_json(out, e): one event as one object on one line, without the newline: time, kind,
 * group, and record (as the log has it), change or undo. */
void timeline_json(struct buf *out, const struct story_event *);
/* timeline_json_change(j, key, c): a changed file as an object of an outer one. */
void timeline_json_change(struct json *, const char *key, const struct story_change *);

/* timeline_before(b, workspace, path, is_json): print what led up to the change of ${path}. Returns
 * the exit code. */
int timeline_before(const struct boxarg *, const char *workspace, const char *path, bool is_json);

#endif
