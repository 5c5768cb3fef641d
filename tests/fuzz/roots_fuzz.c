/* roots_fuzz.c - any bytes as a box's list of directories or of frozen layers: what is accepted
 * names single components and absolute paths, and no line is lost. */
#include "base/cleanup.h"
#include "base/err.h"
#include "wire/tree.h"
#include "workspace/box_roots.h"
#include "workspace/stack.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static size_t lines_in(const char *text)
{
        size_t n = 0;
        for (; (text = strchr(text, '\n')); text++)
                n++;
        return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err err = {0};
        struct ws_roots r = {0};
        struct stack s = {0};
        char *text = strndup((const char *)data, size), *copy = strdup(text);

        if (ws_roots_parse(&r, text, &err) == 0) {
                if (r.n != lines_in(copy))
                        abort();
                for (size_t i = 0; i < r.n; i++)
                        if (!tree_name_is_one(r.v[i].name) ||
                            (r.v[i].host[0] && r.v[i].host[0] != '/') || r.v[i].since_ns < 0)
                                abort();
        } else if (!err.text[0]) {
                abort();
        }
        ws_roots_free(&r);
        if (stack_parse(copy, &s, &err) == 0)
                for (size_t i = 0; i < s.n; i++)
                        if (strlen(s.v[i].id) != STACK_ID_LEN || !tree_name_is_one(s.v[i].id))
                                abort();
        stack_free(&s);
        free(copy);
        free(text);
        return 0;
}
