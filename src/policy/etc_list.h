/* etc_list.h - which entries of the host's /etc a box may see. Everything else is absent; passwd,
 * group, hosts, hostname and resolv.conf are synthesised by the box and not in this list. */
#ifndef POLICY_ETC_LIST_H
#define POLICY_ETC_LIST_H

#include <stdbool.h>

enum etc_kind { ETC_FILE, ETC_DIR };

struct etc_entry {
        const char
                *name; /* below /etc; may have a folder ("ssl/certs"); a * in the last part only */
        enum etc_kind kind;
        const char *why;
};

extern const struct etc_entry etc_list[]; /* sorted by name, ends with a NULL name */

/* etc_list_matches(pattern, name): does ${name} (one component) fit ${pattern}? */
bool etc_list_matches(const char *pattern, const char *name);

/* etc_list_allows(path): is ${path} (below /etc, "ssl/certs/x.pem") an entry of the list or below a
 * directory entry? For tests and explain. */
bool etc_list_allows(const char *path);

/* etc_list_holds(dir): is something below this directory (below /etc, "ssl") on the list? */
bool etc_list_holds(const char *dir);

#endif
