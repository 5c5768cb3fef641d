/* plan.c - the order of decisions that make a box: profile, ids, workspace, tools, mounts,
 * environment, limits. Reads the host, creates nothing; `explain` prints the result. */
#include "session/plan.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "box/weak.h"
#include "policy/profile.h"
#include "session/home.h"
#include "session/packages.h"
#include "session/profiles.h"
#include "session/seed.h"
#include "session/slots.h"
#include "session/sup_ssh.h"
#include "session/talk.h"
#include "session/toolchain.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <sys/vfs.h>

extern char **environ;

void session_plan_note(struct session_plan *p, bool is_left_out, const char *what, const char *why)
{
        struct session_note *v = realloc(p->notes, (p->notes_n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        p->notes = v;
        v[p->notes_n++] = (struct session_note){
                .what = str_dup(what), .why = str_dup(why), .is_left_out = is_left_out};
}

void session_plan_free(struct session_plan *p)
{
        box_plan_free(&p->box);
        strs_free(&p->argv);
        strs_free(&p->packages.lines);
        strs_free(&p->rules);
        door_policy_free(&p->door);
        session_secrets_free(&p->secrets);
        strs_free(&p->persist);
        strs_free(&p->home_links);
        free(p->profile);
        free(p->workspace);
        free(p->layers_dir);
        for (size_t i = 0; i < p->notes_n; i++) {
                free(p->notes[i].what);
                free(p->notes[i].why);
        }
        free(p->notes);
        close_fd(&p->slot_fd);
        *p = (struct session_plan){.slot_fd = -1};
}

/* is_mapped(id): is this kernel id ours to give away? Not in a container that has only a few. */
static bool is_mapped(unsigned id)
{
        unsigned from, to, n;
        _cleanup_fclose_ FILE *f = fopen("/proc/self/uid_map", "re");
        while (f && fscanf(f, "%u %u %u", &from, &to, &n) == 3)
                if (id >= from && id - from < n)
                        return true;
        return false;
}

/* can_idmap(dir): may a mount of the layers show other owners than are on the disk? */
static bool can_idmap(const char *dir)
{
        static const unsigned known[] = {EXT4_SUPER_MAGIC, XFS_SUPER_MAGIC, BTRFS_SUPER_MAGIC,
                                         F2FS_SUPER_MAGIC};
        struct statfs fs;
        struct utsname kernel;
        int major = 0, minor = 0;
        if (statfs(dir, &fs) < 0 || uname(&kernel) < 0)
                return false;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if ((unsigned)fs.f_type == known[i])
                        return true;
        return (unsigned)fs.f_type == TMPFS_MAGIC &&
               sscanf(kernel.release, "%d.%d", &major, &minor) == 2 &&
               (major > 6 || (major == 6 && minor >= 3));
}

static void plan_ids(const struct store *store, struct session_plan *plan)
{
        struct box_plan *b = &plan->box;
        b->uid = b->kuid = b->disk_uid = geteuid();
        b->gid = b->kgid = b->disk_gid = getegid();
        if (geteuid() != 0) {
                const char *name = getenv("USER");
                b->user = str_dup(name && name[0] && !strpbrk(name, ":\n/") ? name : "user");
                return;
        }
        /* Agents refuse to run as root, and kernel uid 0 reads /etc/shadow without any capability.
         */
        b->uid = b->gid = 1000;
        b->user = str_dup("agent");
        if (is_mapped(BOX_HIGH_ID) && is_mapped(BOX_HIGH_ID + BOX_HIGH_N)) {
                b->is_by_root = true;
                unsigned own = plan->slot < BOX_HIGH_N && can_idmap(store->state) ? plan->slot : 0;
                b->disk_uid = b->disk_gid = box_weak(WEAK_HIGHUID) ? 0 : BOX_HIGH_ID;
                b->kuid = b->kgid = box_weak(WEAK_HIGHUID) ? 0 : BOX_HIGH_ID + own;
        }
}

/* plan_is_image(word): is it what other tools call an image? */
static bool plan_is_image(const char *word)
{
        static const char *const images[] = {"ubuntu", "debian",    "alpine", "fedora",
                                             "centos", "archlinux", "busybox"};
        bool is_one = strchr(word, ':') && word[0] != '/' && word[0] != '.';
        for (size_t i = 0; i < sizeof images / sizeof *images; i++)
                is_one = is_one || strcmp(word, images[i]) == 0;
        return is_one;
}

/* plan_hint(argv, err): no program has that name: what its user may have meant, as a line to type.
 * Returns -1. */
static int plan_hint(const struct strs *argv, struct err *err)
{
        const char *word = argv->v[0];
        _cleanup_free_ char *line = str_shell(word);
        if (err->code != E_NOCMD)
                return -1;
        if (argv->n == 1 && strpbrk(word, " \t\n"))
                return err_hint(err, "a line for a shell: ostiary run -- sh -c %s", line);
        if (!plan_is_image(word))
                return -1;
        _cleanup_free_ char *then = str_quote(argv->n > 1 ? argv->v[1] : "bash");
        return err_hint(err,
                        "a box has no image, it sees the tools of this machine: ostiary run %s%s",
                        then, argv->n > 2 ? " ..." : "");
}

/* plan_go_on(opts, profile, store, plan): an agent that goes on and is told nothing goes on with its
 * conversation, where it left one. */
static void plan_go_on(const struct session_opts *opts, const struct profile *profile,
                       const struct store *store, struct session_plan *plan)
{
        if (!opts->is_once_agent || opts->once_args.n || !profile->resume_path)
                return;
        _cleanup_free_ char *talk = talk_left(store, plan->box.id, profile->resume_path);
        bool is_named = strs_has(&profile->resume, "%TALK%");
        if (!talk || (is_named && !*talk))
                return;
        for (size_t i = 0; i < profile->resume.n; i++) {
                const char *word = profile->resume.v[i];
                strs_add(&plan->argv, strcmp(word, "%TALK%") == 0 ? talk : word);
        }
}

static int plan_command(const struct session_opts *opts, const struct profile *profile,
                        const struct store *store, const struct toolchain_query *q,
                        struct toolchain_set *tools, struct session_plan *plan, struct err *err)
{
        /* An agent that something else will start (exec later, a script now) must be there too; one
         * that is not installed is not missed until then. */
        if (!opts->is_errand && profile->command &&
            (opts->is_waiting || opts->argv.n || opts->once.n)) {
                struct err unheard = {0};
                toolchain_resolve(q, profile->command, tools, &unheard);
        }
        if (opts->is_waiting)
                return 0;
        const struct strs *argv = opts->once.n ? &opts->once : &opts->argv;
        const struct strs *extra = opts->is_once_agent ? &opts->once_args : &opts->extra_args;
        if (argv->n && !opts->is_once_agent) {
                for (size_t i = 0; i < argv->n; i++)
                        strs_add(&plan->argv, argv->v[i]);
        } else if (profile->command) {
                strs_add(&plan->argv, profile->command);
                for (size_t i = 0; i < profile->args.n; i++)
                        strs_add(&plan->argv, profile->args.v[i]);
                plan_go_on(opts, profile, store, plan);
        } else {
                return err_set(
                        err, E_USAGE,
                        "there is no command to run: name an agent (ostiary run claude) or a "
                        "command (ostiary run -- CMD)");
        }
        for (size_t i = 0; !opts->once.n && i < extra->n; i++)
                strs_add(&plan->argv, extra->v[i]);
        if (toolchain_resolve(q, plan->argv.v[0], tools, err) < 0)
                return plan_hint(&plan->argv, err);
        if (tools->is_moved) {
                free(plan->argv.v[0]);
                plan->argv.v[0] = str_dup(tools->exe);
        }
        return 0;
}

static char *visible_shell(void)
{
        const char *s = getenv("SHELL");
        if (s && toolchain_is_visible(s) && access(s, X_OK) == 0)
                return str_dup(s);
        return str_dup(access("/bin/bash", X_OK) == 0 ? "/bin/bash" : "/bin/sh");
}

static void plan_cwd(const struct session_opts *opts, struct session_plan *plan)
{
        char cwd[4096];
        if (opts->cwd) {
                const char *base = plan->workspace ? plan->workspace : plan->box.home;
                plan->box.cwd = opts->cwd[0] == '/' ? str_dup(opts->cwd)
                                                    : str_fmt("%s/%s", base, opts->cwd);
                return;
        }
        if (plan->workspace && getcwd(cwd, sizeof cwd) && str_is_beneath(cwd, plan->workspace))
                plan->box.cwd = str_dup(cwd);
        else
                plan->box.cwd = str_dup(plan->workspace ? plan->workspace : plan->box.home);
}

int session_plan_make(const struct session_opts *opts, const struct store *store, const char *id,
                      struct session_plan *plan, struct err *err)
{
        _cleanup_profile_ struct profile profile = {0};
        _cleanup_toolchain_ struct toolchain_set tools = {0};
        *plan = (struct session_plan){.is_live = opts->is_live};
        plan->slot_fd = slots_take(store, &plan->slot);
        struct box_plan *b = &plan->box;

        if (profiles_find(store->config, opts->profile, &profile, err) < 0 ||
            !(b->home = plan_home(err)))
                goto fail;
        plan->profile = str_dup(profile.name);
        b->id = str_dup(id);
        b->hostname = str_dup(id);
        b->root_dir = str_fmt("%s/boxes/%s/root", store->state, id);
        b->shell = visible_shell();
        plan->layers_dir = str_fmt("%s/boxes/%s/layers", store->state, id);
        for (size_t i = 0; i < profile.rules.n; i++)
                strs_add(&plan->rules, profile.rules.v[i]);
        for (size_t i = 0; i < profile.persist.n; i++)
                strs_add(&plan->persist, profile.persist.v[i]);

        if (access("/proc/self/uid_map", R_OK) < 0) {
                err_set(err, E_MACHINE,
                        "/proc is not there, and no box can be built without it (as root: mount -t "
                        "proc proc /proc)");
                goto fail;
        }
        plan_ids(store, plan);
        if (plan_workspace(opts, store, b->home, plan, err) < 0)
                goto fail;
        plan_cwd(opts, plan);
        const char *const ours[] = {store->state, store->data, store->config, NULL};
        struct toolchain_query q = {.path_env = getenv("PATH"),
                                    .home = b->home,
                                    .workspace = plan->workspace,
                                    .cwd = plan->box.cwd,
                                    .env = environ,
                                    .never = ours};
        if (toolchain_path(&q, &tools, err) < 0 ||
            plan_command(opts, &profile, store, &q, &tools, plan, err) < 0)
                goto fail;

        /* The rules first: binds and limits are among their lines. An errand has no door. */
        if ((!opts->is_errand && plan_door(opts, store, plan, err) < 0) ||
            plan_mounts(opts, &profile, &tools, store, plan, err) < 0 ||
            plan_limits(&profile, opts, plan, err) < 0 ||
            (!opts->is_errand && plan_secrets(plan, err) < 0))
                goto fail;
        plan_env(opts, &profile, &tools, plan);
        plan_ssh(plan);
        if (!opts->is_errand && plan->door.level != DOOR_STRICT)
                packages_ask(store, b->home, plan->workspace, &plan->packages, &plan->door.notes);
        return 0;
fail:
        session_plan_free(plan);
        return -1;
}

int session_plan_seed(const struct session_plan *plan, const struct session_opts *opts,
                      const struct store *store, int dir_fd, struct err *err)
{
        _cleanup_profile_ struct profile profile = {0};
        _cleanup_strs_ struct strs notes = {0};
        if (box_weak(WEAK_HOME_MASK))
                return 0;
        if (profiles_find(store->config, opts->profile, &profile, err) < 0)
                return -1;
        _cleanup_close_ int upper = openat(dir_fd, "layers/home/upper",
                                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (upper < 0)
                return err_sys(err, "open the box's home");
        struct seed_into into = {.home_fd = upper,
                                 .host_home = plan->box.home,
                                 .workspace = plan->workspace,
                                 .owner = plan->box.disk_uid,
                                 .group = plan->box.disk_gid};
        if (seed_home(&into, &profile, &notes, err) < 0)
                return -1;
        return seed_links(&into, &plan->home_links, err);
}
