/* title.h - what `ps` shows of a process, and what stays of its arguments and environment.
 *
 * /proc/PID/cmdline can be read by anybody in the same pid namespace, so a process that is forked
 * into a box must not carry the arguments it was started with, nor the environment block (case 30).
 */
#ifndef BASE_TITLE_H
#define BASE_TITLE_H

/* title_init(argc, argv): remember where the kernel put them. Called first in main. */
void title_init(int argc, char **argv);

/* title_set(words): wipe arguments and environment and show ${words} instead. getenv() finds
 * nothing afterwards, and pointers into argv are empty strings. */
void title_set(const char *words);

#endif
