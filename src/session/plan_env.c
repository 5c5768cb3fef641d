/* plan_env.c - the box's environment: a named list from the caller's, what the profile and the user
 * say, and a few variables of our own. No key of the caller's can be in it by accident. */
#include "session/plan.h"

#include "base/str.h"
#include "box/open_url.h"
#include "box/weak.h"
#include "policy/env_list.h"
#include "policy/profile.h"
#include "session/ca.h"
#include "session/toolchain.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

static void set_pair(struct strs *env, const char *pair)
{
        const char *eq = strchr(pair, '=');
        if (!eq)
                return;
        char *name = str_fmt("%.*s", (int)(eq - pair), pair);
        strs_set_env(env, name, eq + 1);
        free(name);
}

static void take_listed(struct session_plan *plan)
{
        size_t hidden = 0;
        for (char **e = environ; e && *e; e++) {
                const char *eq = strchr(*e, '=');
                if (!eq)
                        continue;
                char *name = str_fmt("%.*s", (int)(eq - *e), *e);
                if (box_weak(WEAK_ENV) || env_list_allows(name))
                        strs_set_env(&plan->box.env, name, eq + 1);
                else
                        hidden++;
                free(name);
        }
        if (hidden) {
                char *what = str_fmt("%zu environment variables", hidden);
                session_plan_note(plan, true, what,
                                  "only a named list is passed on; add one with --env NAME");
                free(what);
        }
}

/* is_described(term): is there a terminfo entry that the box will see? Terminals that bring their
 * own often keep it in the home or beside themselves. */
static bool is_described(const char *term)
{
        const char *const dirs[] = {getenv("TERMINFO"), "/etc/terminfo", "/usr/lib/terminfo",
                                    "/lib/terminfo", "/usr/share/terminfo"};
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                if (!dirs[i] || (i == 0 && !toolchain_is_visible(dirs[i])))
                        continue;
                char *by_letter = str_fmt("%s/%c/%s", dirs[i], term[0], term);
                char *by_number = str_fmt("%s/%02x/%s", dirs[i], (unsigned char)term[0], term);
                bool is_there = access(by_letter, R_OK) == 0 || access(by_number, R_OK) == 0;
                free(by_letter);
                free(by_number);
                if (is_there)
                        return true;
        }
        return false;
}

/* settle_term(plan): a terminal that nothing in the box knows makes vim, less and tmux refuse to
 * start; nearly all of them understand what xterm does. */
static void settle_term(struct session_plan *plan)
{
        static const char usual[] = "xterm-256color";
        const char *term = strs_get_env(&plan->box.env, "TERM");
        if (!term || !*term || strchr(term, '/') || is_described(term) || !is_described(usual))
                return;
        char *what = str_fmt("TERM=%.100s", term);
        session_plan_note(plan, true, what,
                          "nothing in the box describes that terminal; xterm-256color is close");
        free(what);
        strs_set_env(&plan->box.env, "TERM", usual);
}

void plan_env(const struct session_opts *opts, const struct profile *profile,
              const struct toolchain_set *tools, struct session_plan *plan)
{
        struct strs *env = &plan->box.env;
        take_listed(plan);
        ca_env(env);
        for (size_t i = 0; i < tools->env.n; i++)
                set_pair(env, tools->env.v[i]);
        ca_env_java(env);
        for (size_t i = 0; i < profile->pass.n; i++) {
                const char *v = getenv(profile->pass.v[i]);
                if (v)
                        strs_set_env(env, profile->pass.v[i], v);
        }
        for (size_t i = 0; i < profile->env.n; i++) {
                char *filled = profile_fill(profile->env.v[i], plan->box.home, plan->workspace);
                set_pair(env, filled);
                free(filled);
        }

        char *path = toolchain_path_env(tools);
        strs_set_env(env, "PATH", path);
        free(path);
        strs_set_env(env, "HOME", plan->box.home);
        strs_set_env(env, "USER", plan->box.user);
        strs_set_env(env, "LOGNAME", plan->box.user);
        strs_set_env(env, "SHELL", plan->box.shell);
        strs_set_env(env, "TMPDIR", "/tmp");
        strs_set_env(env, "BROWSER", OPEN_URL_PROGRAM);
        strs_set_env(env, "OSTIARY_BOX", plan->box.id);
        if (!strs_get_env(env, "LANG") && !strs_get_env(env, "LC_ALL"))
                strs_set_env(env, "LANG", "C.UTF-8");
        if (opts->is_tty && !strs_get_env(env, "TERM"))
                strs_set_env(env, "TERM", "xterm-256color");
        settle_term(plan);

        for (size_t i = 0; i < opts->env.n; i++) {
                const char *v = strchr(opts->env.v[i], '=') ? NULL : getenv(opts->env.v[i]);
                if (strchr(opts->env.v[i], '='))
                        set_pair(env, opts->env.v[i]);
                else if (v)
                        strs_set_env(env, opts->env.v[i], v);
        }
}
