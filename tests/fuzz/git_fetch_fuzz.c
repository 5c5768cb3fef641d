/* git_fetch_fuzz.c - any bytes as what git in a box prints: lists of refs, entries of a comparison,
 * settings, a commit. Nothing that comes out may be a name, a path or an id that is none. */
#include "git/config_list.h"
#include "git/graph.h"
#include "git/names.h"
#include "git/raw.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void entries(const uint8_t *data, size_t size, size_t id_len)
{
        char *copy = malloc(size + 1), *at = copy;
        struct git_raw r;
        char id[GIT_ID_MAX + 1];
        memcpy(copy, data, size);
        copy[size] = 0;
        while (git_raw_next(&at, copy + size, id_len, &r) > 0)
                if (strlen(r.id) != id_len || strlen(r.id_was) != id_len || *r.path == '/' ||
                    !*r.path || strstr(r.path, "/../") || strncmp(r.path, "../", 3) == 0)
                        abort();
        if (git_raw_head(&at, copy + size, id_len, id) == 0 && strlen(id) != id_len)
                abort();
        free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;
        struct git_tips tips = {0};
        (void)git_names_parse(text, size, 40, &tips);
        for (size_t i = 0; i < tips.n; i++)
                if (git_names_is_good(tips.v[i].name) &&
                    (strstr(tips.v[i].name, "..") ||
                     strpbrk(tips.v[i].name, " \t\n\x1b\x7f~^:?*[\\")))
                        abort();
        git_tips_free(&tips);
        struct strs ids = {0};
        (void)git_names_ids(text, size, 64, &ids);
        strs_free(&ids);
        entries(data, size, 40);
        entries(data, size, 64);
        struct git_config_list list = {0};
        (void)git_config_list_parse(text, size, &list);
        git_config_list_free(&list);
        struct git_node node = {0};
        graph_commit(text, size, &node);
        free(node.author);
        free(node.subject);
        return 0;
}
