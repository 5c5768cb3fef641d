/* layers.c - see layers.h. The uppers are written by the box and therefore hostile: looked into by
 * descriptor only, never followed. */
#include "session/layers.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/str.h"
#include "session/home.h"
#include "session/plan.h"
#include "session/start.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* make_owned(dir_fd, name, mode, plan, err): 1 made, 0 was there, -1. */
static int make_owned(int dir_fd, const char *name, mode_t mode, const struct box_plan *p,
                      struct err *err)
{
        if (mkdirat(dir_fd, name, mode) < 0) {
                if (errno == EEXIST)
                        return 0;
                err_sys(err, "make the directory %s", name);
                if (err->sys == ENOSPC || err->sys == EDQUOT)
                        err_hint(err, "the disk that holds the state directory is full");
                return -1;
        }
        if (fchmodat(dir_fd, name, mode, 0) < 0) /* past the umask */
                return err_sys(err, "set the mode of %s", name);
        if (p->is_by_root &&
            fchownat(dir_fd, name, p->disk_uid, p->disk_gid, AT_SYMLINK_NOFOLLOW) < 0)
                return err_sys(err, "give %s to the box", name);
        return 1;
}

static int make_layer(const struct box_plan *p, const struct box_mount *m, int layers_fd,
                      struct err *err)
{
        const char *name = strrchr(m->layer, '/') + 1;
        struct stat st = {.st_mode = 0755};
        if (m->lowers.n) { /* the root's mode is the upper's, whatever lies below */
                if (lstat(m->lowers.v[0], &st) < 0)
                        return err_sys(err, "look at %s", m->lowers.v[0]);
        } else if (m->kind == BOX_MOUNT_HOME)
                st.st_mode = 0700;
        else if (m->source && stat(m->source, &st) < 0)
                return err_sys(err, "look at %s", m->source);
        if (mkdirat(layers_fd, name, 0711) < 0 && errno != EEXIST)
                return err_sys(err, "make the layer %s", name);
        _cleanup_close_ int layer =
                openat(layers_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (layer < 0)
                return err_sys(err, "open the layer %s", name);
        int is_new = make_owned(layer, "upper", st.st_mode & 0777, p, err);
        if (is_new < 0)
                return -1;
        if (!is_new && beneath_remove_tree(layer, "work", err) < 0)
                return -1;
        return make_owned(layer, "work", 0700, p, err) < 0 ? -1 : is_new;
}

int layers_make(const struct session_plan *plan, int dir_fd, struct err *err)
{
        const struct box_plan *p = &plan->box;
        int wants_seed = 0;
        if ((mkdirat(dir_fd, "root", 0700) < 0 && errno != EEXIST) ||
            (mkdirat(dir_fd, "layers", 0711) < 0 && errno != EEXIST))
                return err_sys(err, "make the box's directories");
        _cleanup_close_ int layers =
                openat(dir_fd, "layers", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (layers < 0)
                return err_sys(err, "open the box's layers");
        for (size_t i = 0; i < p->mounts_n; i++) {
                if (!p->mounts[i].layer)
                        continue;
                int is_new = make_layer(p, &p->mounts[i], layers, err);
                if (is_new < 0)
                        return -1;
                if (is_new && p->mounts[i].kind == BOX_MOUNT_HOME && !p->mounts[i].lowers.n)
                        wants_seed = 1;
        }
        return wants_seed;
}

static bool has_entries(const char *layer)
{
        char path[4096];
        snprintf(path, sizeof path, "%s/upper", layer);
        _cleanup_closedir_ DIR *d = opendir(path);
        struct dirent *e;
        while (d && (e = readdir(d)))
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        return true;
        return false;
}

bool layers_were_written(const struct session_plan *plan)
{
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                const struct box_mount *m = &plan->box.mounts[i];
                if (m->kind == BOX_MOUNT_COW && has_entries(m->layer))
                        return true;
        }
        return false;
}

bool layers_have_changes(const struct session_plan *plan)
{
        for (size_t i = 0; i < plan->box.mounts_n; i++)
                if (plan->box.mounts[i].kind == BOX_MOUNT_COW && plan->box.mounts[i].lowers.n)
                        return true;
        return layers_were_written(plan);
}

int layers_accept_home(const struct session_plan *plan, const struct store *store, struct err *err)
{
        if (plan->persist.n == 0)
                return 0;
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                const struct box_mount *m = &plan->box.mounts[i];
                char path[4096];
                if (m->kind != BOX_MOUNT_HOME)
                        continue;
                snprintf(path, sizeof path, "%s/upper", m->layer);
                _cleanup_close_ int upper =
                        open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (upper < 0)
                        return err_sys(err, "open the box's home");
                struct home_accept a = {.data_dir = store->data,
                                        .profile = plan->profile,
                                        .persist = &plan->persist,
                                        .upper_fd = upper,
                                        .owner = plan->box.disk_uid,
                                        .group = plan->box.disk_gid};
                _cleanup_strs_ struct strs notes = {0};
                return home_accept(&a, &notes, err);
        }
        return 0;
}

void layers_fill_meta(struct box_meta *m, const struct session_plan *plan,
                      const struct session_opts *opts, const char *id)
{
        _cleanup_buf_ struct buf words = {.max = 4096};
        for (size_t i = 0; i < plan->argv.n && words.len < 512; i++)
                buf_put_fmt(&words, "%s%s", i ? " " : "", plan->argv.v[i]);
        char memory[16];
        bool has_memory = plan->box.limits.memory != 0;
        _cleanup_free_ char *reach = plan_door_words(plan), *secrets = plan_secrets_words(plan);
        _cleanup_free_ char *network = secrets ? str_fmt("%s, %s", reach, secrets) : str_dup(reach);
        *m = (struct box_meta){
                .id = str_dup(id),
                .name = str_dup(opts->name ? opts->name : id),
                .profile = str_dup(plan->profile),
                .workspace = str_dup(plan->workspace ? plan->workspace : ""),
                .command = str_dup(words.is_broken ? "..." : buf_cstr(&words)),
                .tier = str_dup("ns"),
                .grants = has_memory ? str_fmt("%s, memory %s", network,
                                               str_size_words(plan->box.limits.memory, memory))
                                     : str_dup(network),
                .state = BOX_STARTING,
                .supervisor_pid = getpid(),
                .created_us = (int64_t)clock_real_us(),
                .is_live = plan->is_live,
                .is_kept = opts->is_kept || opts->is_waiting};
}
