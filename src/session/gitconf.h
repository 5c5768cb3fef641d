/* gitconf.h - one value out of a git configuration file, read by ourselves: running git on a file
 * that somebody else may have written would run what it names. Includes are not followed. */
#ifndef SESSION_GITCONF_H
#define SESSION_GITCONF_H

/* gitconf_get(text, section, key): the last value of section.key (no subsection) in ${text}, as git
 * would read it; the caller frees. NULL when there is none. */
char *gitconf_get(const char *text, const char *section, const char *key);

#endif
