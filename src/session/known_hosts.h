/* known_hosts.h - by which keys this user knows a server: the lines of ~/.ssh/known_hosts and
 * /etc/ssh/ssh_known_hosts that speak of one place. Pure: text in, keys out. Called by sup_ssh.c.
 *
 * Lines are read as ssh reads them: names, patterns with * ? and !, [host]:port, hashed names,
 * @revoked. A line of @cert-authority is passed over: the key of a server has to stand there
 * itself. */
#ifndef SESSION_KNOWN_HOSTS_H
#define SESSION_KNOWN_HOSTS_H

#include "policy/rule.h"

#include <stddef.h>
#include <stdint.h>

struct known_host {
        char *name; /* canonical */
        uint16_t port;
        char *type; /* "ssh-ed25519" */
        char *text; /* the key in base64, as the file has it */
        uint8_t *key;
        size_t key_len;
};

struct known_hosts {
        struct known_host *v;
        size_t n;
        char **revoked; /* keys in base64 that are nobody's any more */
        size_t revoked_n;
};

/* known_hosts_find(h, text, n, place): add the keys of ${place} that ${text} names. A place without
 * a port is on port 22; a wildcard is found by names that stand there in clear. Call it for each
 * file, then known_hosts_settle. */
void known_hosts_find(struct known_hosts *, const char *text, size_t n, const struct rule_place *);
/* known_hosts_settle(h): drop what was revoked, and what is there twice. */
void known_hosts_settle(struct known_hosts *);
/* known_hosts_name(host, port): as these files write it; the caller frees. */
char *known_hosts_name(const char *host, uint16_t port);
void known_hosts_free(struct known_hosts *);
#define _cleanup_known_hosts_ __attribute__((cleanup(known_hosts_free)))

#endif
