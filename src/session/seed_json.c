/* seed_json.c - a settings file of the host, with keys taken out and values put in.
 *
 * Reading is jansson's. A file that is not JSON counts as absent, with a note: an agent must start
 * even so, and what it gets then is what the profile sets. Any string under a key that is named
 * like a secret goes, however deep, whatever the profile keeps. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "policy/cred_list.h"
#include "policy/profile.h"
#include "session/seed_int.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 16 << 20, DEPTH_MAX = 64 };

static void json_free(json_t **j)
{
        json_decref(*j);
}
#define _cleanup_json_ __attribute__((cleanup(json_free)))

static void scrub(json_t *j, int depth)
{
        if (depth > DEPTH_MAX)
                return;
        for (size_t i = 0; i < json_array_size(j); i++)
                scrub(json_array_get(j, i), depth + 1);
        for (void *it = json_object_iter(j), *next; it; it = next) {
                const char *key = json_object_iter_key(it);
                json_t *value = json_object_iter_value(it);
                next = json_object_iter_next(j, it);
                if (json_is_string(value) && cred_list_is_secret_key(key))
                        json_object_del(j, key);
                else
                        scrub(value, depth + 1);
        }
}

/* One token of a JSON pointer: ~1 is /, ~0 is ~; marks are replaced after the cut, so that a path
 * with slashes is one key. The caller frees. */
static char *token(const struct seed_into *to, const char **at)
{
        const char *p = *at + (**at == '/');
        size_t n = strcspn(p, "/");
        _cleanup_free_ char *raw = str_fmt("%.*s", (int)n, p);
        *at = p + n;
        char *out = raw;
        for (const char *s = raw; *s; s++) {
                if (s[0] == '~' && (s[1] == '0' || s[1] == '1'))
                        *out++ = *++s == '1' ? '/' : '~';
                else
                        *out++ = *s;
        }
        *out = 0;
        return profile_fill(raw, to->box_home ? to->box_home : to->host_home, to->workspace);
}

static void drop(const struct seed_into *to, json_t *root, const char *what)
{
        json_t *j = root;
        const char *at = what;
        for (;;) {
                _cleanup_free_ char *key = token(to, &at);
                if (!*at) {
                        json_object_del(j, key);
                        return;
                }
                j = json_object_get(j, key);
                if (!j)
                        return;
        }
}

/* Replace the marks in every string of a value. */
static json_t *filled(const struct seed_into *to, json_t *j)
{
        if (json_is_string(j)) {
                _cleanup_free_ char *s =
                        profile_fill(json_string_value(j),
                                     to->box_home ? to->box_home : to->host_home, to->workspace);
                json_decref(j);
                return json_string(s) ?: json_string("");
        }
        for (size_t i = 0; i < json_array_size(j); i++)
                json_array_set_new(j, i, filled(to, json_incref(json_array_get(j, i))));
        for (void *it = json_object_iter(j); it; it = json_object_iter_next(j, it))
                json_object_iter_set_new(j, it,
                                         filled(to, json_incref(json_object_iter_value(it))));
        return j;
}

static void set(const struct seed_into *to, json_t *root, const char *line)
{
        const char *eq = strchr(line, '=');
        _cleanup_free_ char *pointer = str_fmt("%.*s", (int)(eq - line), line);
        json_t *value = json_loads(eq + 1, JSON_DECODE_ANY, NULL);
        if (!value)
                value = json_string(eq + 1);
        value = filled(to, value);

        json_t *j = root;
        const char *at = pointer;
        for (;;) {
                _cleanup_free_ char *key = token(to, &at);
                if (!*at) {
                        json_object_set_new(j, key, value);
                        return;
                }
                json_t *next = json_object_get(j, key);
                if (!json_is_object(next)) {
                        json_object_set_new(j, key, json_object());
                        next = json_object_get(j, key);
                }
                if (!next) { /* a path that is not UTF-8 cannot be a key */
                        json_decref(value);
                        return;
                }
                j = next;
        }
}

int seed_json(struct seed_run *run, const struct profile_seed *s, struct err *err)
{
        size_t len = 0;
        _cleanup_free_ char *text =
                run->host_fd < 0 ? NULL : seed_read(run, s->path, FILE_MAX, &len);
        _cleanup_json_ json_t *root = text ? json_loadb(text, len, 0, NULL) : NULL;
        if (text && !json_is_object(root))
                seed_note(run, s->path,
                          "it is not a JSON object, so only what the profile sets is in it");
        if (!json_is_object(root)) {
                if (s->set.n == 0)
                        return 0;
                json_decref(root);
                root = json_object();
        }

        for (void *it = json_object_iter(root), *next; it; it = next) {
                const char *key = json_object_iter_key(it);
                next = json_object_iter_next(root, it);
                if (s->has_keep && !strs_has(&s->keep, key))
                        json_object_del(root, key);
        }
        for (size_t i = 0; i < s->drop.n; i++)
                drop(run->into, root, s->drop.v[i]);
        scrub(root, 0);
        for (size_t i = 0; i < s->set.n; i++)
                set(run->into, root, s->set.v[i]);

        _cleanup_free_ char *out = json_dumps(root, JSON_INDENT(2));
        if (!out)
                return err_set(err, E_SYSTEM, "there is no memory left");
        return seed_file(run, s->path, out, strlen(out), 0600, err);
}
