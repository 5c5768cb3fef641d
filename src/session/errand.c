/* errand.c - see errand.h: what a box for git sees. Everything of the box whose repositories are
 * read is there, its layers as lowers of read-only overlays, so that nothing can be written and
 * nothing has to be cleared away; the git that runs is the host's. */
#include "session/errand.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/errand_box.h"
#include "session/errand_mask.h"
#include "session/etcmask.h"
#include "session/frozen.h"
#include "session/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Bounds for a program that reads hostile files. */
#define ERRAND_MEMORY ((uint64_t)2 << 30)
enum { ERRAND_PIDS = 256, ERRAND_FILES = 4096, ASK_MS = 20 * 1000 };

struct errand {
        const struct store *store;
        struct session_plan plan; /* over the box's layers */
        struct errand_box box;
        int mask_fd; /* keeps the mask of /etc */
        struct errand_mask mask;
        struct strs env;
};

/* What git is told, whatever the repository's configuration says. */
static void errand_env(struct strs *env)
{
        static const char *const fixed[] = {"LC_ALL=C",
                                            "HOME=/tmp",
                                            "GIT_CONFIG_NOSYSTEM=1",
                                            "GIT_CONFIG_GLOBAL=/dev/null",
                                            "GIT_OPTIONAL_LOCKS=0",
                                            "GIT_TERMINAL_PROMPT=0",
                                            "GIT_NO_REPLACE_OBJECTS=1",
                                            "GIT_GRAFT_FILE=/dev/null",
                                            "GIT_NO_LAZY_FETCH=1",
                                            "GIT_ALLOW_PROTOCOL=", /* no promisor's command */
                                            "GIT_PAGER=cat",
                                            "GIT_ATTR_NOSYSTEM=1"};
        static const char *const settings[][2] = {{"safe.directory", "*"},
                                                  {"core.fsmonitor", "false"},
                                                  {"core.hooksPath", "/dev/null"},
                                                  {"core.bigFileThreshold", "32m"},
                                                  {"core.packedGitWindowSize", "32m"},
                                                  {"core.packedGitLimit", "512m"},
                                                  {"pack.threads", "1"},
                                                  {"pack.windowMemory", "256m"},
                                                  {"pack.deltaCacheSize", "64m"}};
        for (size_t i = 0; i < sizeof fixed / sizeof *fixed; i++)
                strs_add(env, fixed[i]);
        strs_addf(env, "GIT_CONFIG_COUNT=%zu", sizeof settings / sizeof *settings);
        for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
                strs_addf(env, "GIT_CONFIG_KEY_%zu=%s", i, settings[i][0]);
                strs_addf(env, "GIT_CONFIG_VALUE_%zu=%s", i, settings[i][1]);
        }
}

/* errand_owner(path, err): only the owner of the files may run git over them: what is made in
 * between, and later on the host, would belong to somebody else. */
static int errand_owner(const char *path, struct err *err)
{
        struct stat st;
        if (!path || lstat(path, &st) < 0 || st.st_uid == geteuid())
                return 0;
        return err_set(err, E_REFUSED,
                       "%s belongs to uid %u: run ostiary as its owner to take over its commits",
                       path, st.st_uid);
}

/* errand_show(m): a mount of the box as something to read. false: it is not shown. */
static bool errand_show(struct box_mount *m)
{
        struct stat st;
        if (m->kind == BOX_MOUNT_LIVE) {
                bool is_dir = stat(m->source, &st) == 0 && S_ISDIR(st.st_mode);
                m->kind = is_dir ? BOX_MOUNT_COW : BOX_MOUNT_FILE;
        }
        if (m->kind == BOX_MOUNT_HOME)
                return false;
        if (!m->layer)
                return true;
        _cleanup_free_ char *upper = str_fmt("%s/upper", m->layer);
        if (lstat(upper, &st) == 0 && S_ISDIR(st.st_mode)) {
                struct strs all = {0};
                strs_add(&all, upper);
                for (size_t i = 0; i < m->lowers.n; i++)
                        strs_add(&all, m->lowers.v[i]);
                strs_free(&m->lowers);
                m->lowers = all;
        }
        free(take_ptr(&m->layer));
        return true;
}

/* errand_bound(e, plan, name, err): what is the same in every errand. */
static void errand_bound(struct errand *e, struct session_plan *plan, const char *mask)
{
        struct box_plan *b = &plan->box;
        size_t n = 0;
        for (size_t i = 0; i < b->mounts_n; i++) {
                struct box_mount m = b->mounts[i];
                if (errand_show(&m))
                        b->mounts[n++] = m;
                else
                        box_mount_free(&m);
        }
        b->mounts_n = n;
        const char *path = strs_get_env(&b->env, "PATH");
        _cleanup_free_ char *kept = str_dup(path ? path : "/usr/bin:/bin");
        strs_free(&b->env);
        strs_set_env(&b->env, "PATH", kept);
        free(b->id);
        b->id = str_fmt("errand-%d", (int)getpid());
        free(b->hostname);
        b->hostname = str_dup("errand");
        free(b->cwd);
        b->cwd = str_dup("/");
        free(b->root_dir);
        b->root_dir = str_fmt("%s/errand", e->store->state);
        free(b->etc_mask);
        b->etc_mask = str_dup(mask);
        b->audit = BOX_AUDIT_OFF;
        b->has_door = false;
        b->limits = (struct box_limits){.memory = ERRAND_MEMORY,
                                        .pids = ERRAND_PIDS,
                                        .files = ERRAND_FILES,
                                        .inotify_watches = 64,
                                        .inotify_instances = 4};
}

/* errand_opts(from, to): of what the box was started with, only what says where things are. */
static void errand_opts(struct session_opts *to, const struct session_opts *from)
{
        to->workspace = from->workspace ? str_dup(from->workspace) : NULL;
        to->profile = from->profile ? str_dup(from->profile) : NULL;
        to->force_reason = str_dup("read only");
        to->is_live = from->is_live;
        for (size_t i = 0; i < from->binds_n; i++)
                session_opts_bind(to, from->binds[i].path, from->binds[i].mode);
}

/* errand_plan(e, opts, id, dir_fd, err): ${dir_fd} -1: no box's layers. */
static int errand_plan(struct errand *e, struct session_opts *opts, const char *id, int dir_fd,
                       struct session_plan *plan, struct err *err)
{
        opts->is_errand = true;
        opts->audit = str_dup("off");
        if (!opts->argv.n)
                strs_add(&opts->argv, "git");
        _cleanup_free_ char *mask = NULL;
        if (e->mask_fd < 0 && (e->mask_fd = etcmask_take(e->store, &mask, err)) < 0)
                return -1;
        if (!mask)
                mask = str_dup(e->plan.box.etc_mask);
        if (session_plan_make(opts, e->store, id, plan, err) < 0)
                return -1;
        if (dir_fd >= 0 && (frozen_view(plan, e->store, id, dir_fd, err) < 0 ||
                            errand_mask_make(&e->mask, plan, e->store, id, dir_fd, err) < 0))
                return -1;
        errand_bound(e, plan, mask);
        if (dir_fd >= 0)
                errand_mask_show(&e->mask, plan);
        if (mkdir(plan->box.root_dir, 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make %s", plan->box.root_dir);
        return 0;
}

struct errand *errand_open(const struct store *store, const char *id, struct err *err)
{
        struct session_opts kept = {0}, opts = {0};
        struct errand *e = calloc(1, sizeof *e);
        if (!e)
                str_no_memory();
        *e = (struct errand){.store = store, .mask_fd = -1};
        errand_env(&e->env);
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        int r = dir < 0 || session_opts_load(&kept, dir, err) < 0 ? -1 : 0;
        if (r == 0) {
                errand_opts(&opts, &kept);
                r = errand_plan(e, &opts, id, dir, &e->plan, err);
        }
        if (r == 0)
                r = errand_owner(e->plan.workspace, err);
        session_opts_free(&kept);
        session_opts_free(&opts);
        if (r == 0)
                return e;
        errand_close(e);
        return NULL;
}

void errand_close(struct errand *e)
{
        if (!e)
                return;
        errand_box_end(&e->box);
        errand_mask_drop(&e->mask);
        session_plan_free(&e->plan);
        close_fd(&e->mask_fd);
        strs_free(&e->env);
        free(e);
}

int errand_inside(void *arg, const struct git_call *call, struct err *err)
{
        struct errand *e = arg;
        if (e->box.keeper_pid <= 0 && errand_box_start(&e->box, &e->plan.box, err) < 0)
                return err_add(err, "start a box for git");
        return errand_box_run(&e->box, call, &e->env, err);
}

/* errand_reach(plan, path, kind): a directory of the host's at its own place. One that contains or
 * lies in another that is shown comes out right, because mounts are ordered by their targets. */
static void errand_reach(struct session_plan *plan, const char *path, enum box_mount_kind kind)
{
        _cleanup_free_ char *real = realpath(path, NULL);
        struct box_plan *b = &plan->box;
        for (size_t i = 0; real && i < b->mounts_n; i++)
                if (strcmp(b->mounts[i].target, real) == 0)
                        return;
        if (!real)
                return;
        box_plan_mount(b, kind, real, real, NULL, "for git");
        struct box_mount m = b->mounts[b->mounts_n - 1];
        size_t at = b->mounts_n - 1;
        for (; at > 0 && strcmp(b->mounts[at - 1].target, m.target) > 0; at--)
                b->mounts[at] = b->mounts[at - 1];
        b->mounts[at] = m;
}

int errand_confined(void *arg, const struct git_call *call, const char *writable,
                    const struct strs *readable, struct err *err)
{
        struct errand *e = arg;
        struct session_opts opts = {.workspace = str_dup("none")};
        struct session_plan plan = {0};
        struct errand_box box = {.hold_fd = -1, .ctl_fd = -1};
        int r = errand_plan(e, &opts, "errand", -1, &plan, err);
        for (size_t i = 0; r == 0 && readable && i < readable->n; i++)
                errand_reach(&plan, readable->v[i], BOX_MOUNT_COW);
        if (r == 0)
                errand_reach(&plan, writable, BOX_MOUNT_LIVE);
        if (r == 0 && (r = errand_box_start(&box, &plan.box, err)) < 0)
                err_add(err, "start a box for git");
        if (r == 0)
                r = errand_box_run(&box, call, &e->env, err);
        errand_box_end(&box);
        session_plan_free(&plan);
        session_opts_free(&opts);
        return r;
}

int errand_ask(const struct store *store, const char *program, const char *script,
               const struct strs *readable, const struct strs *env, struct buf *out,
               struct err *err)
{
        struct errand e = {.store = store, .mask_fd = -1};
        struct session_opts opts = {.workspace = str_dup("none")};
        struct errand_box box = {.hold_fd = -1, .ctl_fd = -1};
        const char *argv[] = {"-c", script, program, NULL};
        const struct git_call call = {.program = "/bin/sh",
                                      .dir = "/",
                                      .argv = argv,
                                      .out = out,
                                      .out_fd = -1,
                                      .patience_ms = ASK_MS};
        strs_add(&opts.argv, program);
        int r = errand_plan(&e, &opts, "errand", -1, &e.plan, err);
        for (size_t i = 0; r == 0 && i < readable->n; i++)
                errand_reach(&e.plan, readable->v[i], BOX_MOUNT_FILE);
        if (r == 0)
                r = errand_box_start(&box, &e.plan.box, err);
        if (r == 0)
                r = errand_box_run(&box, &call, env, err);
        errand_box_end(&box);
        session_plan_free(&e.plan);
        session_opts_free(&opts);
        close_fd(&e.mask_fd);
        return r;
}
