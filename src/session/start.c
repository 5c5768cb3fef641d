/* start.c - from options to a living box, and how to reach one that lives. See start.h. */
#include "session/start.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/spread.h"
#include "base/str.h"
#include "box/box.h"
#include "policy/profile.h"
#include "session/ca.h"
#include "session/etcmask.h"
#include "session/frozen.h"
#include "session/home.h"
#include "session/layers.h"
#include "session/live.h"
#include "session/live_commits.h"
#include "session/plan.h"
#include "session/secret_mask.h"
#include "session/snapshots.h"
#include "session/supervisor.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { LISTEN_MS = 5000 }; /* how long a living box may take to answer its socket */

/* fork_supervisor(args, err): the child never comes back. */
static int fork_supervisor(const struct supervisor_args *a, struct err *err)
{
        fflush(NULL);
        pid_t pid = fork();
        if (pid < 0) {
                bool is_full = errno == EAGAIN;
                err_sys(err, "start the supervisor");
                return is_full ? err_hint(err, "the limit of processes is reached: ulimit -u") : -1;
        }
        if (pid == 0)
                supervisor_main(a);
        spread_off(0); /* from here on it is the one that is waited for */
        return 0;
}

/* hold_authority(plan, store, a, err): whom the box trusts lies over its /etc. Where the door's
 * program is missing there is none, and no network; everything else works. */
static int hold_authority(struct session_plan *plan, const struct store *store,
                          struct supervisor_args *a, struct err *err)
{
        if (ca_take(store, &a->ca, err) < 0)
                return -1;
        if (a->ca.is_none) {
                ca_env_drop(&plan->box.env);
                return 0;
        }
        plan->box.etc_trust = str_dup(a->ca.etc);
        return 0;
}

/* hold(plan, store, a, err): what the box is built over must stay while it lives: the mask of /etc,
 * whom it trusts, and the accepted layer of its home. The supervisor inherits the descriptors. */
static int hold(struct session_plan *plan, const struct store *store, struct supervisor_args *a,
                struct err *err)
{
        a->mask_fd = etcmask_take(store, &plan->box.etc_mask, err);
        if (a->mask_fd < 0 || hold_authority(plan, store, a, err) < 0)
                return -1;
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                const struct box_mount *m = &plan->box.mounts[i];
                if (m->kind == BOX_MOUNT_HOME && m->source &&
                    (a->home_fd = home_hold(m->source, err)) < 0)
                        return -1;
        }
        return 0;
}

/* seed_browsers(plan, a, err): also in a home that was there: it believed the authority of then. */
static int seed_browsers(const struct session_plan *plan, const struct supervisor_args *a,
                         struct err *err)
{
        _cleanup_close_ int upper = openat(a->dir_fd, "layers/home/upper",
                                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (upper < 0)
                return errno == ENOENT ? 0 : err_sys(err, "open the box's home");
        return ca_seed_home(&a->ca, upper, plan->box.disk_uid, plan->box.disk_gid, err);
}

/* launch(opts, store, plan, a, err): layers, seeds, fork. */
static int launch(struct session_opts *opts, const struct store *store, struct session_plan *plan,
                  struct supervisor_args *a, struct err *err)
{
        static struct live live; /* the forked supervisor goes on using it */
        a->mask_fd = a->home_fd = -1;
        a->live = &live;
        a->ca = CA_NONE;
        int is_new = frozen_lowers(plan, store, a->id, a->dir_fd, err) < 0
                             ? -1
                             : layers_make(plan, a->dir_fd, err);
        if (is_new >= 0 && frozen_roots(plan, a->dir_fd, err) < 0)
                is_new = -1;
        int r = is_new < 0 || hold(plan, store, a, err) < 0 ? -1 : 0;
        if (r == 0 && is_new && session_plan_seed(plan, opts, store, a->dir_fd, err) < 0)
                r = err_add(err, "prepare the box's home");
        if (r == 0 && is_new && secret_mask_settings(plan, a->dir_fd, err) < 0)
                r = -1;
        if (r == 0)
                r = secret_mask_prepare(plan, a->dir_fd, opts->is_unmasked, err);
        if (r == 0)
                r = live_prepare(plan, store, a->id, a->dir_fd, opts->is_quiet, &live, err);
        if (r == 0 && plan->is_live)
                r = live_commits_begin(plan->workspace, a->dir_fd, err);
        if (r == 0 && a->ca.has_nss)
                r = seed_browsers(plan, a, err);
        if (r == 0)
                r = session_secrets_capture(&plan->secrets, store->data, err);
        if (r == 0 && opts->is_turns && plan->argv.n)
                frozen_turn_note(a->dir_fd, &plan->argv);
        if (r == 0)
                r = fork_supervisor(a, err);
        session_secrets_close(&plan->secrets);
        close_fd(&a->mask_fd);
        close_fd(&a->home_fd);
        ca_close(&a->ca);
        if (r < 0)
                live_drop(&live);
        live_free(&live);
        return r;
}

static void settle(char **field, const char *path)
{
        char *copy = path ? str_dup(path) : NULL;
        free(*field);
        *field = copy;
}

/* settle_paths(opts, plan): what is kept of the options must not depend on where somebody stands
 * when the box is woken. */
static void settle_paths(struct session_opts *opts, const struct session_plan *plan)
{
        settle(&opts->workspace, plan->workspace ? plan->workspace : "none");
        for (size_t i = 0; i < opts->policy.n; i++) {
                _cleanup_free_ char *real = realpath(opts->policy.v[i], NULL);
                if (real)
                        settle(&opts->policy.v[i], real);
        }
        for (size_t i = 0; i < opts->binds_n; i++) {
                const char *path = opts->binds[i].path;
                _cleanup_free_ char *real = path[0] == '/' ? NULL : realpath(path, NULL);
                if (real)
                        settle(&opts->binds[i].path, real);
        }
}

/* start_from(opts, store, from, hold, err): --from: the options follow the snapshot. */
static int start_from(struct session_opts *opts, const struct store *store, struct snapshot *from,
                      int *hold, struct err *err)
{
        _cleanup_close_ int frozen = frozen_open(store, err);
        if (frozen < 0 || (*hold = stack_hold(frozen, false, err)) < 0 ||
            snapshots_load(store, opts->from, from, err) < 0 ||
            snapshots_is_whole(store, from, err) < 0)
                return -1;
        return snapshots_opts(from, opts, err);
}

int session_run(struct session_opts *opts, const struct store *store, char **id, int *client_fd,
                struct err *err)
{
        static struct session_plan plan = {.slot_fd = -1}; /* the supervisor goes on using it */
        _cleanup_close_ int dir = -1;
        _cleanup_close_ int lock = -1;
        _cleanup_net_ struct box_net net = {.maker_pid = -1, .fd = -1};
        _cleanup_snapshot_ struct snapshot from = {0};
        _cleanup_close_ int hold = -1; /* what the snapshot lists stays until the box lists it */
        *id = NULL;
        if (opts->from && start_from(opts, store, &from, &hold, err) < 0)
                return -1;
        if (box_net_begin(&net, true, err) < 0 ||
            store_new_box(store, opts->name, id, &dir, &lock, err) < 0)
                return -1;
        if (opts->from && snapshots_fill(&from, dir, err) < 0)
                goto fail;
        if (session_plan_make(opts, store, *id, &plan, err) < 0 ||
            plan_secrets_find(&plan, false, err) < 0 || box_net_map(&net, &plan.box, err) < 0)
                goto fail;

        plan_secrets_take(&plan, opts);
        settle_paths(opts, &plan);

        int pair[2];
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0) {
                err_sys(err, "make a socket");
                goto fail;
        }
        struct supervisor_args a = {.plan = &plan,
                                    .opts = opts,
                                    .store = store,
                                    .id = *id,
                                    .dir_fd = dir,
                                    .lock_fd = lock,
                                    .client_fd = pair[1],
                                    .net_fd = net.fd,
                                    .ready_fd = -1};
        int r = launch(opts, store, &plan, &a, err);
        close(pair[1]);
        if (r < 0) {
                close(pair[0]);
                goto fail;
        }
        *client_fd = pair[0];
        close_fd(&plan.slot_fd); /* the supervisor has it */
        box_net_end(&net);
        spread_back();
        return 0;
fail:
        close_fd(&plan.slot_fd);
        close_fd(&dir); /* what failed may have been the number of descriptors */
        store_discard(store, *id, NULL);
        free(*id);
        *id = NULL;
        return -1;
}

/* again(store, id, how, client_fd, err): start a box that was there before. ${how} NULL: waiting;
 * else its command, with the terminal and size that ${how} says. 1 when it is alive already. */
static int again(const struct store *store, const char *id, struct session_opts *how,
                 int *client_fd, struct err *err)
{
        static struct session_plan plan = {.slot_fd = -1};
        static struct session_opts opts;
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        if (dir < 0)
                return -1;
        _cleanup_close_ int lock = store_box_lock(dir, err);
        if (lock < 0)
                return errno == EWOULDBLOCK ? 1 : -1;
        if (session_opts_load(&opts, dir, err) < 0)
                return err_add(err, "read how box %s was started", id);
        if (!opts.workspace)
                return err_set(err, E_INPUT,
                               "what box %s was started with is not in its opts file any more; "
                               "ostiary rm %s removes it",
                               id, id);
        /* An agent goes on; what was said to it at first is not said again. */
        bool has_agent = opts.profile && strcmp(opts.profile, "default") != 0;
        bool is_agent = how && (how->is_once_agent || (!how->once.n && !opts.argv.n));
        if (is_agent && !has_agent && how->extra_args.n)
                return err_set(err, E_USAGE,
                               "box %s is not one of an agent that \"%s\" could be said to; a "
                               "command is named like this: ostiary resume %s -- COMMAND",
                               id, how->extra_args.v[0], id);
        if (is_agent && !has_agent)
                return err_set(err, E_USAGE,
                               "box %s was made to wait and has no command of its own; say one: "
                               "ostiary resume %s -- COMMAND",
                               id, id);
        opts.is_waiting = !how;
        opts.is_kept = true;
        opts.is_removed = false;
        if (how) {
                opts.is_tty = how->is_tty;
                opts.has_stdin = how->has_stdin;
                opts.cols = how->cols;
                opts.rows = how->rows;
                opts.is_quiet = how->is_quiet;
                for (size_t i = 0; i < how->once.n; i++)
                        strs_add(&opts.once, how->once.v[i]);
                opts.is_once_agent = is_agent;
                for (size_t i = 0; is_agent && i < how->extra_args.n; i++)
                        strs_add(&opts.once_args, how->extra_args.v[i]);
        }
        _cleanup_net_ struct box_net net = {.maker_pid = -1, .fd = -1};
        if (frozen_turn(store, dir, err) < 0 || box_net_begin(&net, true, err) < 0 ||
            session_plan_make(&opts, store, id, &plan, err) < 0 ||
            plan_secrets_find(&plan, false, err) < 0 || box_net_map(&net, &plan.box, err) < 0)
                return -1;
        plan_secrets_take(&plan, &opts);

        int pair[2] = {-1, -1}, ready[2] = {-1, -1};
        if (how ? socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0
                : pipe2(ready, O_CLOEXEC) < 0)
                return err_sys(err, "make a pipe");
        struct supervisor_args a = {.plan = &plan,
                                    .opts = &opts,
                                    .store = store,
                                    .id = id,
                                    .dir_fd = dir,
                                    .lock_fd = lock,
                                    .client_fd = pair[1],
                                    .net_fd = net.fd,
                                    .is_again = true,
                                    .ready_fd = ready[1]};
        int r = launch(&opts, store, &plan, &a, err);
        close_fd(&plan.slot_fd);
        box_net_end(&net);
        spread_back();
        close_fd(&ready[1]);
        close_fd(&pair[1]);
        if (how) {
                if (r == 0)
                        *client_fd = pair[0];
                else
                        close(pair[0]);
                return r;
        }
        char words[sizeof err->text] = "";
        ssize_t n = r == 0 ? read(ready[0], words, sizeof words - 1) : 0;
        if (r == 0 && n <= 0)
                r = err_set(err, E_SYSTEM, "box %s did not come up again", id);
        else if (r == 0 && words[0] != '\n')
                r = err_set(err, E_INPUT, "box %s did not come up again: %s", id, words);
        close(ready[0]);
        return r;
}

int session_wake(const struct store *store, const char *id, struct err *err)
{
        return again(store, id, NULL, NULL, err) < 0 ? -1 : 0;
}

int session_resume(const struct store *store, const char *id, struct session_opts *how,
                   int *client_fd, struct err *err)
{
        int r = again(store, id, how, client_fd, err);
        if (r <= 0)
                return r;
        return err_set(err, E_REFUSED,
                       "box %s is running (ostiary attach %s joins its agent, ostiary exec %s -- "
                       "COMMAND runs something in it; where only an exec woke it: ostiary stop %s, "
                       "then ostiary resume %s)",
                       id, id, id, id, id);
}

int session_connect(const struct store *store, const char *id, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(store, id, err);
        if (dir < 0)
                return -1;
        _cleanup_close_ int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        struct sockaddr_un a = {.sun_family = AF_UNIX};
        snprintf(a.sun_path, sizeof a.sun_path, "/proc/self/fd/%d/ctl", dir);
        if (fd < 0)
                return err_sys(err, "make a socket");
        /* A box has its lock before it listens: one that lives is worth waiting for. */
        for (int waited = 0; connect(fd, (struct sockaddr *)&a, sizeof a) < 0; waited++) {
                if (errno != ENOENT && errno != ECONNREFUSED)
                        return err_sys(err, "reach box %s", id);
                if (waited >= LISTEN_MS || !store_box_is_alive(dir))
                        return err_set(
                                err, E_ABSENT,
                                "box %s is not running (ostiary exec %s -- COMMAND wakes it)", id,
                                id);
                poll(NULL, 0, 1);
        }
        return take_fd(&fd);
}
