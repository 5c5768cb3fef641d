/* policy_layers.c - see policy_layers.h. The supervisor has parsed the same text before, so a fault
 * here means that two of our processes disagree: it is told, and the old policy stays. */
#include "policy/policy_layers.h"

#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "policy/policy.h"
#include "policy/policy_index.h"

#include <string.h>

enum { LAYERS_MAX = 64, NAME_LEN_MAX = 4096, TEXT_LEN_MAX = 8 << 20 };

/* Rules from flags and from run time: a line each, without a number. */
static int add_each(struct policy_layer *layer, char *text, struct err *err)
{
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
                if (policy_layer_add(layer, line, err) < 0)
                        return -1;
        return 0;
}

static int add_layer(struct policy *p, uint32_t rank, const char *name, bool has_lines, char *text,
                     struct err *err)
{
        _cleanup_policy_layer_ struct policy_layer layer = {0};
        if (rank > POLICY_SYSTEM)
                return err_set(err, E_PROTO, "%s has no place among the layers (%u)", name, rank);
        if (policy_layer_parse((enum policy_rank)rank, name, text, has_lines ? strlen(text) : 0,
                               &layer, err) < 0)
                return -1;
        if (!has_lines && add_each(&layer, text, err) < 0)
                return -1;
        policy_put(p, &layer);
        return 0;
}

int policy_layers_parse(const void *bytes, size_t len, struct policy *p, struct err *err)
{
        struct cur c = cur_of(bytes, len);
        _cleanup_policy_ struct policy fresh = {0};
        memset(p, 0, sizeof *p);
        while (c.left) {
                uint32_t rank, has_lines;
                _cleanup_free_ char *name = NULL, *text = NULL;
                if (cur_u32(&c, &rank) < 0 || cur_lstr(&c, NAME_LEN_MAX, &name) < 0 ||
                    cur_u32(&c, &has_lines) < 0 || has_lines > 1 ||
                    cur_lstr(&c, TEXT_LEN_MAX, &text) < 0)
                        return err_set(err, E_PROTO, "the layers of the policy cannot be read");
                if (fresh.layers_n >= LAYERS_MAX)
                        return err_set(err, E_PROTO, "the policy has more than %d layers",
                                       LAYERS_MAX);
                if (add_layer(&fresh, rank, name, has_lines, text, err) < 0)
                        return -1;
        }
        policy_index_make(&fresh);
        *p = fresh;
        memset(&fresh, 0, sizeof fresh);
        return 0;
}
