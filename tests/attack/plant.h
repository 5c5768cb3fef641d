/* plant.h - the two ways in which the harness starts a command; see plant_run.c. */
#ifndef PLANT_H
#define PLANT_H

/* plant_keys(env_path, secret, cmd): join a new session keyring, put ${secret} into it as the key
 * "ostiary-attack", append its number to ${env_path}, and become ${cmd}. Does not return. */
int plant_keys(const char *env_path, const char *secret, char **cmd);

/* plant_tty(env_path, cmd): run ${cmd} on a new controlling terminal, append HOST_TTY to
 * ${env_path}, copy what it prints to standard output. Returns its exit code, 124 after a minute.
 */
int plant_tty(const char *env_path, char **cmd);

/* plant_swap(one, two): exchange the two names without pause until standard input ends. */
int plant_swap(const char *one, const char *two);

/* plant_listener(): hold a listener of system calls, which never hears of one, from here on: what
 * case B7f looks for. Without a word where the kernel gives none. */
void plant_listener(void);

#endif
