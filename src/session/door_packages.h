/* door_packages.h - the preset `packages`: hosts that package managers are configured to read from,
 * as rules that let them. */
#ifndef SESSION_DOOR_PACKAGES_H
#define SESSION_DOOR_PACKAGES_H

struct strs;

/* door_packages_find(home, lines, notes): look through the user's and the system's configuration of
 * npm, pip, apt, cargo and go, never the project's. Each host becomes "allow GET,HEAD HOST" in
 * ${lines}, once; a manager for which nothing is configured is named in ${notes} ("what\nwhy"). */
void door_packages_find(const char *home, struct strs *lines, struct strs *notes);

#endif
