/* door_packages.h - the preset `packages`: hosts that package managers are configured to read from,
 * as rules that let them. */
#ifndef SESSION_DOOR_PACKAGES_H
#define SESSION_DOOR_PACKAGES_H

struct strs;

/* door_packages_find(home, lines, notes): look through the user's and the system's configuration of
 * npm, pip, apt, cargo and go, never the project's. Each host becomes "allow GET,HEAD HOST" in
 * ${lines}, once; a manager for which nothing is configured is named in ${notes} ("what\nwhy"). */
void door_packages_find(const char *home, struct strs *lines, struct strs *notes);

/* door_packages_urls(text, keys, lines): "allow GET,HEAD HOST" for every URL in the lines of ${text} that
 * hold one of ${keys} (separated by spaces; "" for any line). */
void door_packages_urls(const char *text, const char *keys, struct strs *lines);

#endif
