/* secret_list.h - `ostiary secret ls`: the names in the vault as a table or as JSON. */
#ifndef CLI_SECRET_LIST_H
#define CLI_SECRET_LIST_H

#include <stdbool.h>

/* secret_list(data_dir, argv, is_json): run `ostiary-door vault ARGV...` (its ls) and print what it
 * says. Returns the exit code. */
int secret_list(const char *data_dir, char *const argv[], bool is_json);

#endif
