/* secret_list.h - `ostiary secret ls`: the names in the vault as a table or as JSON. */
#ifndef CLI_SECRET_LIST_H
#define CLI_SECRET_LIST_H

#include <stdbool.h>

/* secret_list(data_dir, argv, is_json): run `ostiary-door vault ARGV...` (its ls) and print what it
 * says. Returns the exit code. */
int secret_list(const char *data_dir, char *const argv[], bool is_json);

/* secret_said(data_dir, argv, verb, name): start the vault's program for ${verb} and tell as JSON what
 * it printed. The exit code. */
int secret_said(const char *data_dir, char *const argv[], const char *verb, const char *name);

#endif
