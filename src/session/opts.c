/* opts.c - the user's wishes as data: freeing them, and keeping them beside the box so that it can
 * be started again the same way. Called by the CLI and by session_wake; decides nothing. */
#include "session/opts.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { OPTS_MAX = 16 << 20 };

void session_opts_free(struct session_opts *o)
{
        free(o->name);
        free(o->profile);
        free(o->workspace);
        free(o->cwd);
        free(o->force_reason);
        strs_free(&o->argv);
        strs_free(&o->once);
        strs_free(&o->once_args);
        free(o->from);
        strs_free(&o->extra_args);
        strs_free(&o->env);
        strs_free(&o->limits);
        strs_free(&o->publish);
        strs_free(&o->allow);
        strs_free(&o->deny);
        strs_free(&o->policy);
        strs_free(&o->secrets);
        free(o->identity);
        free(o->level);
        free(o->door_fault);
        free(o->audit);
        free(o->audit_full);
        free(o->proxy);
        for (size_t i = 0; i < o->binds_n; i++) {
                free(o->binds[i].path);
                free(o->binds[i].mode);
        }
        free(o->binds);
        *o = (struct session_opts){0};
}

void session_opts_bind(struct session_opts *o, const char *path, const char *mode)
{
        struct session_bind *v = realloc(o->binds, (o->binds_n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        o->binds = v;
        v[o->binds_n++] = (struct session_bind){.path = str_dup(path), .mode = str_dup(mode)};
}

/* The fields by name: one table serves writing and reading. */
#define FIELD(f) offsetof(struct session_opts, f)

static const struct {
        const char *key;
        size_t at;
} strings[] =
        {
                {"name", FIELD(name)},
                {"profile", FIELD(profile)},
                {"workspace", FIELD(workspace)},
                {"cwd", FIELD(cwd)},
                {"force", FIELD(force_reason)},
                {"level", FIELD(level)},
                {"door-fault", FIELD(door_fault)},
                {"audit", FIELD(audit)},
                {"audit-full", FIELD(audit_full)},
                {"proxy", FIELD(proxy)},
                {"identity", FIELD(identity)},
},
  bools[] =
          {
                  {"live", FIELD(is_live)},       {"unmasked", FIELD(is_unmasked)},
                  {"kept", FIELD(is_kept)},       {"removed", FIELD(is_removed)},
                  {"waiting", FIELD(is_waiting)}, {"tty", FIELD(is_tty)},
                  {"stdin", FIELD(has_stdin)},    {"turns", FIELD(is_turns)},
},
  lists[] = {
          {"arg", FIELD(argv)},      {"extra", FIELD(extra_args)}, {"env", FIELD(env)},
          {"limit", FIELD(limits)},  {"allow", FIELD(allow)},      {"deny", FIELD(deny)},
          {"policy", FIELD(policy)}, {"publish", FIELD(publish)},  {"secret", FIELD(secrets)},
};

#define N(table) (sizeof(table) / sizeof *(table))

static void *field(const struct session_opts *o, size_t at)
{
        return (char *)(uintptr_t)o + at;
}

int session_opts_save(const struct session_opts *o, int dir_fd, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < N(strings); i++)
                kv_put(&b, strings[i].key, *(char **)field(o, strings[i].at));
        for (size_t i = 0; i < N(bools); i++)
                kv_put_bool(&b, bools[i].key, *(bool *)field(o, bools[i].at));
        for (size_t i = 0; i < N(lists); i++) {
                const struct strs *l = field(o, lists[i].at);
                for (size_t k = 0; k < l->n; k++)
                        kv_put(&b, lists[i].key, l->v[k]);
        }
        kv_put_u64(&b, "cols", o->cols);
        kv_put_u64(&b, "rows", o->rows);
        for (size_t i = 0; i < o->binds_n; i++) {
                _cleanup_free_ char *v = str_fmt("%s:%s", o->binds[i].mode, o->binds[i].path);
                kv_put(&b, "bind", v);
        }
        if (b.is_broken || b.len > OPTS_MAX)
                return err_set(err, E_INPUT, "the command and its options are too long to keep");
        return fdio_write_file(dir_fd, "opts", buf_cstr(&b), 0600, err);
}

static void load_one(struct session_opts *o, const char *key, const char *value)
{
        uint64_t n;
        for (size_t i = 0; i < N(strings); i++) {
                if (strcmp(key, strings[i].key) == 0) {
                        char **s = field(o, strings[i].at);
                        free(*s);
                        *s = str_dup(value);
                        return;
                }
        }
        for (size_t i = 0; i < N(bools); i++) {
                if (strcmp(key, bools[i].key) == 0) {
                        *(bool *)field(o, bools[i].at) = strcmp(value, "1") == 0;
                        return;
                }
        }
        for (size_t i = 0; i < N(lists); i++) {
                if (strcmp(key, lists[i].key) == 0) {
                        strs_add(field(o, lists[i].at), value);
                        return;
                }
        }
        if (strcmp(key, "cols") == 0 && str_u64(value, &n) == 0)
                o->cols = (uint32_t)n;
        else if (strcmp(key, "rows") == 0 && str_u64(value, &n) == 0)
                o->rows = (uint32_t)n;
        else if (strcmp(key, "bind") == 0) {
                const char *colon = strchr(value, ':');
                if (!colon)
                        return;
                _cleanup_free_ char *mode = str_fmt("%.*s", (int)(colon - value), value);
                session_opts_bind(o, colon + 1, mode);
        }
}

void session_opts_parse(struct session_opts *o, const char *text)
{
        _cleanup_free_ char *copy = str_dup(text);
        char *at = copy, *key, *value;
        *o = (struct session_opts){0};
        while (kv_next(&at, &key, &value))
                load_one(o, key, value);
}

int session_opts_load(struct session_opts *o, int dir_fd, struct err *err)
{
        *o = (struct session_opts){0};
        _cleanup_free_ char *text = fdio_read_file(dir_fd, "opts", OPTS_MAX, err);
        if (!text)
                return -1;
        session_opts_parse(o, text);
        return 0;
}
