/* value_aws.c - keys of AWS, which have two parts or three: as lines, or as the JSON that
 * credential_process prints. JSON is read in locked memory, which is wiped when it is given back.
 * Called by value.c; sentences never show the value. */
#include "keeper/keeper_int.h"

#include "base/err.h"
#include "base/str.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void free_json(json_t **j)
{
        json_decref(*j);
}
#define _cleanup_json_ __attribute__((cleanup(free_json)))

static json_t *read_object(const uint8_t *p, size_t n)
{
        json_t *j = json_loadb((const char *)p, n, JSON_REJECT_DUPLICATES, NULL);
        if (json_is_object(j))
                return j;
        json_decref(j);
        return NULL;
}

struct piece {
        const char *part, *words;
        const uint8_t *p;
        size_t n;
        bool is_optional;
};

static void from_json(const json_t *j, const char *key, struct piece *x)
{
        const json_t *v = json_object_get(j, key);
        if (json_is_string(v)) {
                x->p = (const uint8_t *)json_string_value(v);
                x->n = json_string_length(v);
        }
}

/* set_all(k, x, pieces, n, err): all are looked at before the first is kept. */
static int set_all(struct keeper *k, struct store_secret *x, const struct piece *v, size_t n,
                   struct err *err)
{
        const char *name = x->line.secret->name;
        for (size_t i = 0; i < n; i++) {
                if (v[i].n == 0 && v[i].is_optional)
                        continue;
                char *what = str_fmt("%s of %s", v[i].words, name);
                int r = v[i].n ? value_check(what, v[i].p, v[i].n, err)
                               : err_set(err, E_INPUT, "%s is missing", what);
                free(what);
                if (r < 0)
                        return -1;
        }
        for (size_t i = 0; i < n; i++) {
                if (v[i].n == 0)
                        store_clear(x, v[i].part);
                else if (store_set(k->store, x, v[i].part, v[i].p, v[i].n, STORE_SHAPED, err) < 0)
                        return -1;
        }
        return 0;
}

/* "id\nkey\ntoken\n"; a line more than that is no key of AWS. */
static int split_lines(const uint8_t *p, size_t n, struct piece v[3])
{
        size_t i = 0;
        for (; n > 0 && i < 3; i++) {
                const uint8_t *end = memchr(p, '\n', n);
                size_t len = end ? (size_t)(end - p) : n;
                v[i].p = p;
                v[i].n = len && p[len - 1] == '\r' ? len - 1 : len;
                p += end ? len + 1 : len;
                n -= end ? len + 1 : len;
        }
        return n == 0 && i >= 2 ? 0 : -1;
}

int value_aws(struct keeper *k, struct store_secret *x, const uint8_t *p, size_t n, struct err *err)
{
        struct piece v[] = {{.part = "id", .words = "the access key id"},
                            {.part = "key", .words = "the secret access key"},
                            {.part = "token", .words = "the session token", .is_optional = true}};
        _cleanup_json_ json_t *j = n && p[0] == '{' ? read_object(p, n) : NULL;
        if (j) {
                from_json(j, "AccessKeyId", &v[0]);
                from_json(j, "SecretAccessKey", &v[1]);
                from_json(j, "SessionToken", &v[2]);
        } else if (split_lines(p, n, v) < 0) {
                return err_set(err, E_INPUT,
                               "%s must be the access key id and the secret access key of AWS, "
                               "each on a line, then perhaps the session token; or what "
                               "credential_process prints",
                               x->line.secret->name);
        }
        return set_all(k, x, v, 3, err);
}
