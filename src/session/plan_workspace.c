/* plan_workspace.c - which directory the agent works on, and which it never may: not the whole
 * disk, not the home directory with its keys, not our own state (B12). Also where the home is. */
#include "session/plan.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *plan_home(struct err *err)
{
        const char *env = getenv("HOME");
        _cleanup_free_ char *found = NULL;
        found = env && env[0] == '/' ? str_dup(env) : store_passwd_home(getuid());
        if (!found) {
                err_set(err, E_INPUT,
                        "HOME is not set to an absolute path, and /etc/passwd names none either");
                return NULL;
        }
        char *real = realpath(found, NULL);
        if (real && strcmp(real, "/") == 0) {
                free(real);
                err_set(err, E_INPUT,
                        "HOME is /, which cannot be a home of its own in the box; set "
                        "HOME to a directory");
                return NULL;
        }
        return real ? real : take_ptr(&found); /* a home that does not exist is fine: ours is new */
}

/* Directories that the box has of its own, or that belong to the machine. */
static const char *const never[] = {
        "/proc", "/sys", "/dev",   "/run", "/tmp",  "/var",  "/var/tmp", "/usr", "/etc",   "/bin",
        "/sbin", "/lib", "/lib64", "/opt", "/boot", "/home", "/root",    "/mnt", "/media", "/srv"};

/* Where even a part is the machine's: what looks like a file there is a switch. */
static const char *const never_below[] = {"/proc", "/sys", "/boot"};

static int judge(const char *ws, const char *home, const struct store *store, struct err *err)
{
        const struct {
                const char *dir, *what;
        } ours[] = {
                {store->state, "state"}, {store->data, "data"}, {store->config, "configuration"}};

        if (str_is_beneath(home, ws))
                return err_set(err, E_REFUSED, "%s %s, and would show the agent every key in it",
                               ws,
                               strcmp(ws, home) == 0 ? "is your home directory"
                                                     : "contains your home directory");
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
                if (!ours[i].dir)
                        continue;
                /* The user may write it through a symlink. */
                _cleanup_free_ char *real = realpath(ours[i].dir, NULL);
                const char *dir = real ? real : ours[i].dir;
                if (str_is_beneath(dir, ws) || str_is_beneath(ws, dir))
                        return err_set(err, E_REFUSED, "%s overlaps ostiary's own %s directory %s",
                                       ws, ours[i].what, dir);
        }
        for (size_t i = 0; i < sizeof never / sizeof *never; i++)
                if (strcmp(ws, never[i]) == 0)
                        return err_set(err, E_REFUSED, "%s belongs to the system", ws);
        for (size_t i = 0; i < sizeof never_below / sizeof *never_below; i++)
                if (str_is_beneath(ws, never_below[i]))
                        return err_set(err, E_REFUSED, "%s belongs to the system", ws);
        return 0;
}

int plan_workspace(const struct session_opts *opts, const struct store *store, const char *home,
                   struct session_plan *plan, struct err *err)
{
        const char *asked = opts->workspace ? opts->workspace : ".";
        if (strcmp(asked, "none") == 0)
                return 0;
        struct stat st;
        char *ws = realpath(asked, NULL);
        if (!ws) {
                int e = errno;
                if (e == ENOENT && lstat(asked, &st) == 0 && S_ISLNK(st.st_mode))
                        return err_set(err, E_INPUT,
                                       "the workspace %s is a symbolic link to something that does "
                                       "not exist",
                                       asked);
                errno = e;
                err_sys(err, "the workspace %s cannot be used", asked);
                err->code = E_INPUT;
                return -1;
        }
        plan->workspace = ws;
        if (stat(ws, &st) < 0 || !S_ISDIR(st.st_mode))
                return err_set(err, E_INPUT, "the workspace %s is not a directory", ws);
        if (faccessat(AT_FDCWD, ws, R_OK | X_OK, AT_EACCESS) < 0)
                return err_set(err, E_INPUT, "you may not read the workspace %s", ws);
        if (strcmp(ws, "/") == 0)
                return err_set(err, E_REFUSED,
                               "the workspace may not be /: choose a project "
                               "directory with --workspace DIR");
        if (judge(ws, home, store, err) < 0) {
                if (opts->force_reason) {
                        session_plan_note(plan, false, err->text, opts->force_reason);
                        *err = (struct err){0};
                } else {
                        return err_hint(err,
                                        "choose a project directory with --workspace DIR, none "
                                        "with --workspace none, or insist with --force REASON");
                }
        }
        return 0;
}
