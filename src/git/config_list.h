/* config_list.h - what `git config -z --list` prints, as pairs. The text may be hostile: bounded,
 * and a key that is none ends it. */
#ifndef GIT_CONFIG_LIST_H
#define GIT_CONFIG_LIST_H

#include <stdbool.h>
#include <stddef.h>

enum { GIT_CONFIG_PAIRS_MAX = 5000 };

struct git_config_pair {
        char *key, *value; /* without a value: "true", as git takes it */
};
struct git_config_list {
        struct git_config_pair *v;
        size_t n, cap;
};
void git_config_list_free(struct git_config_list *);
#define _cleanup_git_config_list_ __attribute__((cleanup(git_config_list_free)))

/* git_config_list_parse(text, len, list): 0, or -1 when it makes no sense. */
int git_config_list_parse(const char *text, size_t len, struct git_config_list *);
bool git_config_list_has(const struct git_config_list *, const char *key, const char *value);
size_t git_config_list_count(const struct git_config_list *, const char *key);

#endif
