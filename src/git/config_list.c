/* config_list.c - see config_list.h. */
#include "git/config_list.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

void git_config_list_free(struct git_config_list *l)
{
        for (size_t i = 0; i < l->n; i++) {
                free(l->v[i].key);
                free(l->v[i].value);
        }
        free(l->v);
        *l = (struct git_config_list){0};
}

/* config_is_key(s, n): a section that begins with a letter or digit, and a dot. */
static bool config_is_key(const char *s, size_t n)
{
        const char *ok = "abcdefghijklmnopqrstuvwxyz0123456789";
        return n >= 3 && strchr(ok, s[0]) && s[0] && memchr(s, '.', n) != NULL && s[n - 1] != '.';
}

int git_config_list_parse(const char *text, size_t len, struct git_config_list *l)
{
        for (const char *end = text + len; text < end;) {
                size_t n = strnlen(text, (size_t)(end - text));
                const char *nl = memchr(text, '\n', n);
                size_t key_len = nl ? (size_t)(nl - text) : n;
                if (text + n == end || !config_is_key(text, key_len) ||
                    l->n == GIT_CONFIG_PAIRS_MAX)
                        return -1;
                if (l->n == l->cap) {
                        l->cap = l->cap ? l->cap * 2 : 32;
                        l->v = realloc(l->v, l->cap * sizeof *l->v);
                        if (!l->v)
                                str_no_memory();
                }
                l->v[l->n++] = (struct git_config_pair){
                        .key = str_fmt("%.*s", (int)key_len, text),
                        .value = nl ? str_fmt("%.*s", (int)(n - key_len - 1), nl + 1)
                                    : str_dup("true")};
                text += n + 1;
        }
        return 0;
}

bool git_config_list_has(const struct git_config_list *l, const char *key, const char *value)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->v[i].key, key) == 0 && strcmp(l->v[i].value, value) == 0)
                        return true;
        return false;
}

size_t git_config_list_count(const struct git_config_list *l, const char *key)
{
        size_t n = 0;
        for (size_t i = 0; i < l->n; i++)
                n += strcmp(l->v[i].key, key) == 0;
        return n;
}
