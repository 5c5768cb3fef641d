/* seed.h - fill the box's home before its first start: the profile's seeds, a small ~/.gitconfig,
 * links to tools. Everything is written beneath a directory descriptor; no credential is copied. */
#ifndef SESSION_SEED_H
#define SESSION_SEED_H

#include <sys/types.h>

struct err;
struct profile;
struct strs;

struct seed_into {
        int home_fd;           /* the home layer's upper directory, on the host */
        const char *host_home; /* the caller's home: where seeds are read; also %HOME% */
        const char *box_home;  /* home inside, for %HOME%; NULL means the same as host_home */
        const char *workspace; /* resolved, or NULL */
        uid_t owner; /* who the files shall belong to (plan.disk_uid); chown only if we are not */
        gid_t group;
};

/* seed_home(into, profile, notes, err): write the seeds. A host file that does not exist is
 * skipped; one that is too large, not regular, a credential file or broken JSON is skipped with a
 * line in
 * ${notes} ("what\nwhy"). -1 only when the box's home itself cannot be written. */
int seed_home(const struct seed_into *, const struct profile *, struct strs *notes, struct err *);

/* seed_links(into, links, err): make symlinks below the home; each is "target\npath", ${path}
 * absolute and below the home inside. What the box had in their place goes. */
int seed_links(const struct seed_into *, const struct strs *links, struct err *);

#endif
