/* boxjson.h - a box as programs see it: the same object from ps, create, run -d and resume -d. */
#ifndef CLI_BOXJSON_H
#define CLI_BOXJSON_H

#include <stdbool.h>

struct box_meta;
struct json;
struct store;

/* boxjson_put(j, store, m): one object. */
void boxjson_put(struct json *, const struct store *, const struct box_meta *);

/* boxjson_made(store, id): what a command that made or woke a box says: the object of kind "box"
 * with --json, else its name on a line. Returns the exit code. */
int boxjson_made(const struct store *, const char *id, bool is_json);

#endif
