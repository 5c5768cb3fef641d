/* conf.h - what resolv.conf and hosts say, out of their text. Pure; the text was read by files.c.
 */
#ifndef DIAL_CONF_H
#define DIAL_CONF_H

#include <stdbool.h>

struct addr_list;

enum { CONF_SERVERS_MAX = 6 };

struct conf {
        char servers[CONF_SERVERS_MAX * 72]; /* "192.0.2.1,[2001:db8::1]:5353" as c-ares wants it */
        int timeout_ms, tries;
        bool is_rotated, is_tcp;
};

/* conf_resolv(text, c): nameserver lines (also in the form [ADDR]:PORT) and the options timeout,
 * attempts, rotate and use-vc. Search lists are ignored: a box gets the name that the rule is about
 * and no other. Without a server the one on this machine is asked, as libc does. */
void conf_resolv(const char *text, struct conf *);
bool conf_equal(const struct conf *, const struct conf *);

/* conf_hosts(text, name, l): the addresses that a line of a hosts file (in small letters) gives
 * ${name}. */
void conf_hosts(const char *text, const char *name, struct addr_list *);

#endif
