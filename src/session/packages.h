/* packages.h - where the package managers of this machine read from by their own defaults: each that is
 * installed is asked, in a box without network, workspace and home, and what it said is kept until the
 * program or its settings change. No host is written down here. The variable OSTIARY_PACKAGES is the
 * switch: off, or files (only configuration files are read, nothing is asked). */
#ifndef SESSION_PACKAGES_H
#define SESSION_PACKAGES_H

#include "base/strs.h"

struct err;
struct store;

/* The switch, and what was said: the supervisor has no environment of the user's any more. */
enum packages_mode { PACKAGES_ASK, PACKAGES_FILES, PACKAGES_OFF };
struct packages {
        enum packages_mode mode;
        struct strs lines; /* "allow GET,HEAD HOST" */
};

/* packages_ask(store, home, workspace, p, notes): as the switch says, a line for each host that an
 * installed manager named, once. A program that lies in ${workspace} (may be NULL) is not one of this
 * machine. A manager that could not be asked is named in ${notes} ("what\nwhy"). */
void packages_ask(const struct store *, const char *home, const char *workspace, struct packages *,
                  struct strs *notes);

/* What a manager cannot tell, a person is asked for once:
 * packages_asker(agent): the manager whose requests carry this User-Agent, or NULL. Anything in a box can
 * say so; it decides what is offered to the person, never what is allowed.
 * packages_line(what): the line that lets a manager read from the host of "GET https://HOST/...". The
 * caller frees; NULL when it does not read, or from no name.
 * packages_keep(store, manager, line, err): a person said that every box may. 0 or -1. */
const char *packages_asker(const char *agent);
char *packages_line(const char *what);
int packages_keep(const struct store *, const char *manager, const char *line, struct err *);

/* packages_mode(): the switch as it is in our environment now. */
enum packages_mode packages_mode(void);

#endif
