/* toolchain_resolve.c - from a word to everything that must be visible for it to run: symlinks are
 * followed one by one, scripts to their interpreters, wrappers to what they execute.
 *
 * Called once per start by the planner. What it finds is shown only through toolchain_show, which
 * asks the table of what may never be seen. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/profile.h"
#include "policy/profile_builtin.h"
#include "session/toolchain_int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEPTH_MAX = 6, UP_MAX = 12, COMPANIONS_MAX = 16 };

static bool in_workspace(const struct toolchain_finder *f, const char *path)
{
        return f->q->workspace && str_is_beneath(path, f->q->workspace);
}

static bool is_dir(const char *dir, const char *name)
{
        char path[PATH_MAX];
        struct stat st;
        return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path &&
               stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static bool is_file(const char *dir, const char *name)
{
        char path[PATH_MAX];
        return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path &&
               access(path, F_OK) == 0;
}

/* The directory above ${path}; false at the top. */
static bool up(char *path)
{
        char *slash = strrchr(path, '/');
        if (!slash || slash == path)
                return false;
        *slash = 0;
        return true;
}

/* A program that no row knows: the nearest directory above it that is a package by its looks. */
static bool by_package(struct toolchain_finder *f, const char *real)
{
        char modules[PATH_MAX] = "", unnamed[PATH_MAX] = "", dir[PATH_MAX];
        _cleanup_free_ char *package = toolchain_node_package(real);
        if (package && toolchain_node(f, package))
                return true;
        snprintf(dir, sizeof dir, "%s", real);
        for (int i = 0; i < UP_MAX && up(dir); i++) {
                if (toolchain_refused(f, dir))
                        break;
                const char *base = strrchr(dir, '/') + 1;
                if (strcmp(base, "node_modules") == 0)
                        snprintf(modules, sizeof modules, "%s", dir);
                else if (is_file(dir, "pyvenv.cfg"))
                        return toolchain_venv(f, dir);
                else if (!modules[0] && toolchain_node_is_named(dir))
                        return toolchain_node(f, dir);
                else if (!modules[0] && !unnamed[0] && is_file(dir, "package.json"))
                        snprintf(unnamed, sizeof unnamed, "%s", dir);
                else if (i == 1 && is_dir(dir, "bin") &&
                         (is_dir(dir, "lib") || is_dir(dir, "lib64") || is_dir(dir, "libexec") ||
                          is_dir(dir, "share"))) {
                        /* PREFIX/bin/x beside PREFIX/lib: only if x really lies in that bin. */
                        char bin[PATH_MAX + 8];
                        snprintf(bin, sizeof bin, "%s/bin", dir);
                        if (str_is_beneath(real, bin))
                                return toolchain_show(f, dir, "package of the command");
                }
        }
        if (unnamed[0])
                return toolchain_show(f, unnamed, "package of the command");
        return modules[0] && toolchain_show(f, modules, "packages of the command");
}

/* kiro-cli needs kiro-cli-chat: programs beside it that carry its name and a dash. */
static void companions(struct toolchain_finder *f, const char *path)
{
        _cleanup_free_ char *dir = str_dup(path);
        const char *base = strrchr(path, '/') + 1;
        if (!up(dir))
                return;
        _cleanup_free_ char *prefix = str_fmt("%s-", base);
        _cleanup_closedir_ DIR *d = opendir(dir);
        int left = COMPANIONS_MAX;
        for (struct dirent *e; d && left > 0 && (e = readdir(d));) {
                if (!str_starts(e->d_name, prefix))
                        continue;
                _cleanup_free_ char *other = str_fmt("%s/%s", dir, e->d_name);
                if (access(other, X_OK) == 0) {
                        toolchain_program(f, other);
                        left--;
                }
        }
}

/* pyvenv.cfg names where the interpreter came from; a venv made with --copies has no link to it. */
bool toolchain_venv(struct toolchain_finder *f, const char *venv)
{
        if (f->is_by_workspace ? !toolchain_is_shown(f, venv)
                               : !toolchain_show(f, venv, "virtual environment"))
                return false;
        bool was_by_workspace = f->is_by_workspace;
        f->is_by_workspace |= in_workspace(f, venv);
        _cleanup_free_ char *path = str_fmt("%s/pyvenv.cfg", venv);
        _cleanup_fclose_ FILE *file = fopen(path, "re");
        char line[PATH_MAX + 64];
        while (file && fgets(line, sizeof line, file)) {
                char *eq = strchr(line, '=');
                if (!str_starts(line, "home") || !eq ||
                    strspn(line + 4, " \t") != (size_t)(eq - line - 4))
                        continue;
                eq += 1 + strspn(eq + 1, " \t");
                eq[strcspn(eq, "\r\n")] = 0;
                if (eq[0] != '/')
                        break;
                _cleanup_free_ char *python = str_fmt("%s/python3", eq);
                toolchain_program(f, python);
                break;
        }
        f->is_by_workspace = was_by_workspace;
        return true;
}

/* A script of Python's in PREFIX/bin that pip installed there imports from PREFIX/lib/pythonN/
 * site-packages; with `pip install --user` PREFIX is ~/.local, which holds more than that. */
static void python_needs(struct toolchain_finder *f, const char *real)
{
        _cleanup_free_ char *dir = str_dup(real);
        if (!up(dir) || !str_ends(dir, "/bin") || !up(dir))
                return;
        _cleanup_free_ char *lib = str_fmt("%s/lib", dir);
        _cleanup_closedir_ DIR *d = opendir(lib);
        for (struct dirent *e; d && (e = readdir(d));) {
                _cleanup_free_ char *path = str_fmt("%s/%s/site-packages", lib, e->d_name);
                if (str_starts(e->d_name, "python"))
                        toolchain_show(f, path, "packages of the command");
        }
}

static char *on_path(const struct toolchain_finder *f, const char *word, bool *is_noexec);

static void script_needs(struct toolchain_finder *f, const char *real)
{
        _cleanup_script_ struct toolchain_script s;
        toolchain_script_read(real, f->home, &s);
        if (!s.interpreter)
                return;
        toolchain_program(f, s.interpreter);
        const char *runs = s.word ? s.word : s.interpreter;
        if (strstr(runs, "python"))
                python_needs(f, real);
        if (s.word && strchr(s.word, '/')) {
                toolchain_program(f, s.word);
        } else if (s.word) {
                _cleanup_free_ char *found = on_path(f, s.word, NULL);
                if (found)
                        toolchain_program(f, found);
        }
        for (size_t i = 0; i < s.execs.n; i++)
                if (!toolchain_is_visible(s.execs.v[i]))
                        toolchain_program(f, s.execs.v[i]);
        _cleanup_free_ char *dir = str_dup(real);
        for (size_t i = 0; up(dir) && i < s.beside.n; i++) {
                _cleanup_free_ char *path = str_fmt("%s/%s", dir, s.beside.v[i]);
                toolchain_program(f, path);
        }
}

/* ENV/bin/python is a link to another python, which knows by the name it was called by that it
 * belongs to ENV: so ENV must be there as well. */
static void venv_of(struct toolchain_finder *f, const char *path)
{
        _cleanup_free_ char *dir = str_dup(path);
        char real[PATH_MAX];
        if (!up(dir) || !str_ends(dir, "/bin") || !up(dir) || !is_file(dir, "pyvenv.cfg"))
                return;
        if (realpath(dir, real) && (in_workspace(f, real) || !toolchain_is_shown(f, real)))
                toolchain_venv(f, real);
}

/* Everything that ${path} needs, one level down. */
static bool program_at(struct toolchain_finder *f, const char *path)
{
        f->is_by_workspace |= in_workspace(f, path);
        venv_of(f, path);
        _cleanup_free_ char *real = toolchain_follow(f, path);
        struct stat st;
        if (!real || stat(real, &st) < 0 || !S_ISREG(st.st_mode))
                return false;
        f->is_by_workspace |= in_workspace(f, real);
        bool is_shown = toolchain_is_shown(f, real) || toolchain_by_row(f, real);
        /* A link or first line in a clone must not be able to name any file of the user's. */
        if (!is_shown && f->is_by_workspace)
                return false;
        if (!is_shown)
                is_shown = by_package(f, real);
        if (!is_shown && access(real, X_OK) == 0) {
                is_shown = toolchain_show(f, real, "command: a program by itself");
                if (is_shown)
                        companions(f, real);
        }
        if (is_shown)
                script_needs(f, real);
        return is_shown;
}

bool toolchain_program(struct toolchain_finder *f, const char *path)
{
        if (f->depth >= DEPTH_MAX)
                return false;
        bool was_by_workspace = f->is_by_workspace;
        f->depth++;
        bool is_shown = program_at(f, path);
        f->depth--;
        f->is_by_workspace = was_by_workspace;
        return is_shown;
}

static bool is_program(const char *path, bool *is_noexec)
{
        struct stat st;
        if (stat(path, &st) < 0)
                return false;
        if (S_ISREG(st.st_mode) && access(path, X_OK) == 0)
                return true;
        if (is_noexec)
                *is_noexec = true;
        return false;
}

/* The first program of that name on the caller's PATH, by the directory's name inside. */
static char *on_path(const struct toolchain_finder *f, const char *word, bool *is_noexec)
{
        const char *p =
                f->q->path_env && *f->q->path_env ? f->q->path_env : "/usr/local/bin:/usr/bin:/bin";
        while (*p) {
                size_t n = strcspn(p, ":");
                char path[PATH_MAX], real[PATH_MAX];
                if (n && p[0] == '/' &&
                    (size_t)snprintf(path, sizeof path, "%.*s/%s", (int)n, p, word) < sizeof path &&
                    is_program(path, is_noexec)) {
                        path[n] = 0;
                        /* An entry may be a link that a shell made (fnm): PATH inside has the
                         * directory itself. */
                        if (toolchain_is_visible(path) || !realpath(path, real) ||
                            !strs_has(&f->set->path, real))
                                return str_fmt("%s/%s", path, word);
                        return str_fmt("%s/%s", real, word);
                }
                p += n + (p[n] == ':');
        }
        return NULL;
}

static int not_found(const char *word, struct err *err)
{
        _cleanup_free_ char *shown = str_quote(word);
        err_set(err, E_NOCMD, "%.128s is not on your PATH", shown);
        for (const struct profile_builtin *b = profile_builtins; b->name; b++) {
                _cleanup_profile_ struct profile p = {0};
                if (profile_parse(b->name, b->text, &p, NULL) == 0 && p.command && p.install &&
                    strcmp(p.command, word) == 0)
                        return err_hint(err, "install it: %s", p.install);
        }
        return -1;
}

/* Links outside of the home are not made again inside: what was reached through one is executed by
 * its own name. And what was found in a directory that PATH inside lacks shall be found there. */
static void settle_exe(const struct toolchain_finder *f, const char *word)
{
        struct toolchain_set *set = f->set;
        for (size_t i = 0; i < set->items_n; i++) {
                const struct toolchain_item *it = &set->items[i];
                char real[PATH_MAX];
                if (it->kind != TOOLCHAIN_LINK || (f->home && str_is_beneath(it->path, f->home)) ||
                    !str_is_beneath(set->exe, it->path) || !realpath(set->exe, real))
                        continue;
                free(set->exe);
                set->exe = str_dup(real);
                set->is_moved = true;
                return;
        }
        _cleanup_free_ char *dir = str_dup(set->exe);
        if (strchr(word, '/') || !up(dir) || strs_has(&set->path, dir))
                return;
        /* In front, as it was found before the others; only what is shown is in it. */
        struct strs path = {0};
        strs_add(&path, dir);
        for (size_t i = 0; i < set->path.n; i++)
                strs_add(&path, set->path.v[i]);
        strs_free(&set->path);
        set->path = path;
}

/* from_here(q, word): a word with a slash as an absolute path. "../x" was typed by the caller and is
 * not in the workspace, although it is written as if it were. */
static char *from_here(const struct toolchain_query *q, const char *word)
{
        const char *cwd = q->cwd ? q->cwd : q->workspace;
        _cleanup_free_ char *path =
                word[0] == '/' || !cwd ? str_dup(word) : str_fmt("%s/%s", cwd, word);
        char *slash = strrchr(path, '/');
        if (!strstr(path, "/../") || !slash)
                return take_ptr(&path);
        *slash = 0;
        char real[PATH_MAX];
        bool is_there = realpath(path, real) != NULL;
        *slash = '/';
        return is_there ? str_fmt("%s%s", real, slash) : take_ptr(&path);
}

int toolchain_resolve(const struct toolchain_query *q, const char *word, struct toolchain_set *set,
                      struct err *err)
{
        if (!*word)
                return err_set(err, E_NOCMD, "the command is an empty word");
        struct toolchain_finder f;
        toolchain_finder_open(&f, q, set);
        bool is_noexec = false;
        char *exe = NULL;
        if (strchr(word, '/')) {
                exe = from_here(q, word);
                if (!is_program(exe, &is_noexec)) {
                        free(exe);
                        exe = NULL;
                }
        } else {
                exe = on_path(&f, word, &is_noexec);
        }

        int result = 0;
        _cleanup_free_ char *shown = str_quote(word);
        if (!exe && is_noexec)
                result = err_set(err, E_NOEXEC,
                                 "%.256s is there but is not a program that you may "
                                 "execute",
                                 shown);
        else if (!exe && strchr(word, '/'))
                result = err_set(err, E_NOCMD, "there is no %.256s", shown);
        else if (!exe)
                result = not_found(word, err);
        else if (!toolchain_program(&f, exe)) {
                const char *why = toolchain_refused(&f, exe);
                err_set(err, E_REFUSED, "%.256s cannot be shown in the box", shown);
                result = err_hint(
                        err, "%s",
                        why ? why : "it leads out of the workspace; show its place with --bind");
        }
        free(set->exe);
        set->exe = exe;
        set->is_moved = false;
        toolchain_tidy(set);
        if (result == 0)
                settle_exe(&f, word);
        toolchain_finder_close(&f);
        return result;
}
