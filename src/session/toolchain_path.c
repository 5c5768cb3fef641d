/* toolchain_path.c - PATH for the inside: every entry that belongs to something we know how to
 * show, in the caller's order. Called once per start by the planner. An entry that cannot be shown
 * is left out with its reason; a relative one always, because it would mean another place in the
 * box. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/toolchain_int.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void keep(struct toolchain_finder *f, const char *dir)
{
        if (!strs_has(&f->set->path, dir))
                strs_add(&f->set->path, dir);
}

static void leave_out(struct toolchain_finder *f, const char *entry, const char *why)
{
        strs_addf(&f->set->left_out, "%s\n%s", entry, why);
}

static bool is_there(const char *dir, const char *name)
{
        char path[PATH_MAX];
        return (size_t)snprintf(path, sizeof path, "%s/%s", dir, name) < sizeof path &&
               access(path, F_OK) == 0;
}

/* mise's shims ask its settings which version is meant, and those may hold keys, so they stay
 * outside: the newest of each tool takes their place. */
static void keep_mise(struct toolchain_finder *f, const char *shims)
{
        _cleanup_free_ char *installs =
                str_fmt("%.*s/installs", (int)(strlen(shims) - strlen("/shims")), shims);
        _cleanup_closedir_ DIR *d = opendir(installs);
        int left = 64;
        for (struct dirent *e; d && left > 0 && (e = readdir(d));) {
                if (e->d_name[0] == '.')
                        continue;
                _cleanup_free_ char *bin = str_fmt("%s/%s/latest/bin", installs, e->d_name);
                char real[PATH_MAX];
                if (realpath(bin, real) && toolchain_is_shown(f, real)) {
                        keep(f, real);
                        left--;
                }
        }
}

/* bin directories that show by what lies beside them what they are. */
static bool by_neighbours(struct toolchain_finder *f, const char *dir)
{
        if (!str_ends(dir, "/bin"))
                return false;
        _cleanup_free_ char *parent = str_fmt("%.*s", (int)(strlen(dir) - strlen("/bin")), dir);
        if (is_there(parent, "pyvenv.cfg")) {
                if (!toolchain_venv(f, parent))
                        return false;
                _cleanup_free_ char *python = str_fmt("%s/python", dir);
                toolchain_program(f, python);
                const char *active = toolchain_env(f->q, "VIRTUAL_ENV");
                char real[PATH_MAX];
                if (active && realpath(active, real) && strcmp(real, parent) == 0)
                        strs_set_env(&f->set->env, "VIRTUAL_ENV", parent);
                return true;
        }
        if (is_there(parent, "conda-meta"))
                return toolchain_show(f, parent, "toolchain: conda");
        if (is_there(parent, "lib/node_modules")) {
                _cleanup_free_ char *modules = str_fmt("%s/lib/node_modules", parent);
                return toolchain_show(f, modules, "toolchain: npm prefix") &&
                       toolchain_show(f, dir, "toolchain: npm prefix");
        }
        return false;
}

static bool is_home_bin(const struct toolchain_finder *f, const char *dir)
{
        const char *const homes[] = {f->home, f->home_real};
        for (size_t i = 0; i < 2; i++)
                if (homes[i] && str_is_beneath(dir, homes[i]) &&
                    (strcmp(dir + strlen(homes[i]), "/.local/bin") == 0 ||
                     strcmp(dir + strlen(homes[i]), "/bin") == 0))
                        return true;
        return false;
}

static void one_entry(struct toolchain_finder *f, const char *entry)
{
        if (entry[0] != '/') {
                leave_out(f, *entry ? entry : ".",
                          "a relative entry means another place in the box");
                return;
        }
        if (toolchain_is_visible(entry)) {
                keep(f, entry);
                return;
        }
        /* In the box's own home: the command's link will be there, and what the agent installs. */
        if (is_home_bin(f, entry)) {
                keep(f, entry);
                return;
        }
        char real[PATH_MAX];
        struct stat st;
        if (!realpath(entry, real) || stat(real, &st) < 0 || !S_ISDIR(st.st_mode)) {
                leave_out(f, entry, "it is not there or cannot be read");
                return;
        }
        if (str_is_beneath(real, "/snap") || str_is_beneath(real, "/var/lib/snapd")) {
                leave_out(f, entry, "snaps need a service of the host");
                return;
        }
        if (str_ends(real, "/mise/shims")) {
                toolchain_by_row(f, real);
                keep_mise(f, real);
                return;
        }
        /* Known by the name it has on PATH: that name shall lead there inside as well. */
        if (toolchain_by_row(f, entry) && strcmp(entry, real) != 0)
                free(toolchain_follow(f, entry));
        if (f->q->workspace && str_is_beneath(real, f->q->workspace))
                (void)by_neighbours(f, real); /* an active environment brings its python */
        if (toolchain_is_shown(f, real) || toolchain_by_row(f, real) || by_neighbours(f, real)) {
                keep(f, real);
                return;
        }
        const char *why = toolchain_refused(f, real);
        leave_out(f, entry, why ? why : "it is not a toolchain that is known; --bind shows it");
}

int toolchain_path(const struct toolchain_query *q, struct toolchain_set *set, struct err *err)
{
        (void)err;
        struct toolchain_finder f;
        toolchain_finder_open(&f, q, set);
        for (const char *p = q->path_env ? q->path_env : ""; *p;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *entry = str_fmt("%.*s", (int)n, p);
                for (size_t len = strlen(entry); len > 1 && entry[len - 1] == '/'; len--)
                        entry[len - 1] = 0;
                one_entry(&f, entry);
                p += n + (p[n] == ':');
        }
        /* An environment in the project works without being active; the python it was made from is
         * elsewhere. */
        static const char *const venvs[] = {".venv", "venv", "env"};
        for (size_t i = 0; q->workspace && i < 3; i++) {
                _cleanup_free_ char *venv = str_fmt("%s/%s", q->workspace, venvs[i]);
                _cleanup_free_ char *python = str_fmt("%s/bin/python", venv);
                if (is_there(venv, "pyvenv.cfg"))
                        toolchain_program(&f, python);
        }
        static const char *const always[] = {"/usr/local/bin", "/usr/bin", "/bin"};
        for (size_t i = 0; i < 3; i++)
                keep(&f, always[i]);
        toolchain_tidy(set);
        toolchain_finder_close(&f);
        return 0;
}
