/* profiles.c - see profiles.h. Called by the planner and by `ostiary profile`. Reads the user's own
 * profile directory and nothing of the project: a project's files came with a clone. */
#include "session/profiles.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/profile.h"
#include "policy/profile_builtin.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEPTH_MAX = 8, FILE_MAX = 256 << 10 };

static char *user_file(const char *config_dir, const char *name)
{
        return str_fmt("%s/profiles/%s.profile", config_dir, name);
}

static int by_name(const void *a, const void *b)
{
        return strcmp(*(char *const *)a, *(char *const *)b);
}

void profiles_names(const char *config_dir, struct strs *names)
{
        for (const struct profile_builtin *b = profile_builtins; b->name; b++)
                strs_add(names, b->name);
        if (config_dir) {
                _cleanup_free_ char *path = str_fmt("%s/profiles", config_dir);
                _cleanup_closedir_ DIR *d = opendir(path);
                for (struct dirent *e; d && (e = readdir(d));) {
                        if (!str_ends(e->d_name, ".profile"))
                                continue;
                        _cleanup_free_ char *name = str_dup(e->d_name);
                        name[strlen(name) - strlen(".profile")] = 0;
                        if (profile_name_ok(name) && !strs_has(names, name))
                                strs_add(names, name);
                }
        }
        if (names->n)
                qsort(names->v, names->n, sizeof *names->v, by_name);
}

static int absent(const char *config_dir, const char *name, struct err *err)
{
        _cleanup_strs_ struct strs names = {0};
        profiles_names(config_dir, &names);
        const char *near = str_suggest(name, (const char *const *)names.v, names.n);
        _cleanup_free_ char *shown = str_quote(name);
        err_set(err, E_ABSENT, "there is no profile \"%.64s\"", shown);
        if (near)
                return err_hint(err, "did you mean \"%s\"?", near);
        return err_hint(err,
                        "\"ostiary profile ls\" lists them, \"ostiary profile new\" makes one");
}

/* The text of one profile. ${skip_user} when the user's own file is the one that extends it. */
static char *text_of(const char *config_dir, const char *name, bool skip_user, bool *is_builtin,
                     struct err *err)
{
        if (!profile_name_ok(name)) {
                absent(config_dir, name, err);
                return NULL;
        }
        if (config_dir && !skip_user) {
                _cleanup_free_ char *path = user_file(config_dir, name);
                if (access(path, F_OK) == 0 || errno != ENOENT) {
                        if (is_builtin)
                                *is_builtin = false;
                        return fdio_read_file(AT_FDCWD, path, FILE_MAX, err);
                }
        }
        const char *text = profile_builtin_text(name);
        if (!text) {
                absent(config_dir, name, err);
                return NULL;
        }
        if (is_builtin)
                *is_builtin = true;
        return str_dup(text);
}

char *profiles_text(const char *config_dir, const char *name, bool *is_builtin, struct err *err)
{
        return text_of(config_dir, name, false, is_builtin, err);
}

static int find_at(const char *config_dir, const char *name, bool skip_user, int depth,
                   struct profile *p, struct err *err)
{
        bool is_builtin = false;
        _cleanup_free_ char *text = text_of(config_dir, name, skip_user, &is_builtin, err);
        if (!text)
                return -1;
        if (profile_parse(name, text, p, err) < 0)
                return -1;
        if (!p->extends)
                return 0;
        if (depth >= DEPTH_MAX) {
                profile_free(p);
                return err_set(
                        err, E_INPUT,
                        "profile %s extends another, which extends another, more than %d times"
                        " (do they extend each other?)",
                        name, DEPTH_MAX);
        }
        /* A user's `claude` that extends `claude` means the built-in one, and built-in profiles
         * build on built-in ones: changing `default` for yourself must not break `claude`. */
        bool same = is_builtin || strcmp(p->extends, name) == 0;
        _cleanup_profile_ struct profile base = {0};
        if (find_at(config_dir, p->extends, same, depth + 1, &base, err) < 0) {
                bool is_absent = err && err->code == E_ABSENT;
                if (is_absent && strcmp(p->extends, name) == 0)
                        err_set(err, E_INPUT,
                                "profile %s extends itself, and no profile of that name comes with "
                                "ostiary",
                                name);
                else
                        err_add(err, "profile %s extends %s", name, p->extends);
                if (is_absent)
                        err->code = E_INPUT; /* the file's words, not the user's */
                profile_free(p);
                return -1;
        }
        profile_extend(p, &base);
        return 0;
}

int profiles_find(const char *config_dir, const char *name, struct profile *p, struct err *err)
{
        return find_at(config_dir, name ? name : "default", false, 0, p, err);
}
