/* frozen.c - see frozen.h: what lies between a box's upper and the host's directory, for the plan
 * and for `roots`. Called by start.c before the supervisor is forked. Decides nothing about content
 * and follows no link. */
#include "session/frozen.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/start.h"
#include "workspace/box_roots.h"
#include "workspace/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { ROOTS_MAX = 16 << 20, WAKE_SQUASH_AT = 64, KEEP_N = 4 };

int frozen_open(const struct store *store, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/frozen", store->state);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make %s", path);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "open %s", path) : fd;
}

/* below(store, frozen_fd, s, m, err): the trees of one mount's layer, topmost first. */
static int below(const struct store *store, int frozen_fd, const struct stack *s,
                 struct box_mount *m, struct err *err)
{
        const char *name = strrchr(m->layer, '/') + 1;
        for (size_t i = s->n; i-- > 0;) {
                struct err why = {0};
                _cleanup_close_ int fd = stack_open(frozen_fd, s->v[i].id, name, &why);
                if (fd >= 0) {
                        strs_addf(&m->lowers, "%s/frozen/%s/%s", store->state, s->v[i].id, name);
                } else if (why.code == E_INPUT || why.sys != ENOENT) {
                        *err = why;
                        return -1;
                }
        }
        return 0;
}

static int damaged(const char *id, struct err *err)
{
        err_add(err, "box %s cannot be started over what it wrote before", id);
        return err_hint(err, "other boxes are not concerned; ostiary rm %s removes this one", id);
}

/* fewer(frozen, dir_fd, s, err): squash. When that fails, many layers are only slower. */
static int fewer(int frozen, int dir_fd, struct stack *s, struct err *err)
{
        _cleanup_close_ int hold = stack_hold(frozen, false, err);
        if (hold < 0)
                return -1;
        if (stack_squash(frozen, s, KEEP_N, NULL) == 0 &&
            stack_write(dir_fd, "stack", s, NULL) == 0)
                return 0;
        stack_free(s);
        return stack_read(dir_fd, "stack", s, err);
}

static int lowers(struct session_plan *plan, const struct store *store, const char *id, int dir_fd,
                  bool may_squash, struct err *err)
{
        _cleanup_stack_ struct stack s = {0};
        if (stack_read(dir_fd, "stack", &s, err) < 0)
                return damaged(id, err);
        if (s.n == 0)
                return 0;
        _cleanup_close_ int frozen = frozen_open(store, err);
        if (frozen < 0)
                return -1;
        if (may_squash && s.n > WAKE_SQUASH_AT && fewer(frozen, dir_fd, &s, err) < 0)
                return damaged(id, err);
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                struct box_mount *m = &plan->box.mounts[i];
                if (m->layer && below(store, frozen, &s, m, err) < 0)
                        return damaged(id, err);
        }
        return 0;
}

int frozen_lowers(struct session_plan *plan, const struct store *store, const char *id, int dir_fd,
                  struct err *err)
{
        return lowers(plan, store, id, dir_fd, true, err);
}

int frozen_view(struct session_plan *plan, const struct store *store, const char *id, int dir_fd,
                struct err *err)
{
        return lowers(plan, store, id, dir_fd, false, err);
}

/* root_add(r, name, kind, host, now): dev and ino as they are. */
static void root_add(struct ws_roots *r, const char *name, enum ws_root_kind kind, const char *host,
                     int64_t now)
{
        struct stat st = {0};
        for (size_t i = 0; i < r->n; i++)
                if (strcmp(r->v[i].name, name) == 0)
                        return;
        if (host && (stat(host, &st) < 0 || !S_ISDIR(st.st_mode)))
                return;
        struct ws_root *v = realloc(r->v, (r->n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        r->v = v;
        v[r->n++] = (struct ws_root){.name = str_dup(name),
                                     .kind = kind,
                                     .host = str_dup(host ? host : ""),
                                     .dev = st.st_dev,
                                     .ino = st.st_ino,
                                     .since_ns = now,
                                     .host_fd = -1};
}

int frozen_roots(const struct session_plan *plan, int dir_fd, struct err *err)
{
        _cleanup_roots_ struct ws_roots r = {0};
        struct err none = {0};
        _cleanup_free_ char *text = fdio_read_file(dir_fd, "roots", ROOTS_MAX, &none);
        if (text && ws_roots_parse(&r, text, err) < 0)
                return -1;
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
        size_t was_n = r.n, git_n = 0, rw_n = 0;
        for (size_t i = 0; i < plan->box.mounts_n; i++) {
                const struct box_mount *m = &plan->box.mounts[i];
                char name[32];
                if (m->layer) {
                        root_add(&r, strrchr(m->layer, '/') + 1,
                                 m->kind == BOX_MOUNT_HOME ? WS_ROOT_HOME : WS_ROOT_COW, m->source,
                                 now);
                } else if (m->kind == BOX_MOUNT_LIVE && strcmp(m->target, plan->box.home) != 0) {
                        bool is_ws = plan->workspace && strcmp(m->source, plan->workspace) == 0;
                        bool is_git = str_starts(m->why, "git directory");
                        if (is_ws)
                                snprintf(name, sizeof name, "ws");
                        else
                                snprintf(name, sizeof name, "%s%zu", is_git ? "git" : "rw",
                                         is_git ? git_n++ : rw_n++);
                        root_add(&r, name, WS_ROOT_LIVE, m->source, now);
                }
        }
        return text && r.n == was_n ? 0 : ws_roots_write(dir_fd, &r, err);
}

/* has_work(entry_fd): a tree other than the home's. */
static bool has_work(int entry_fd)
{
        _cleanup_closedir_ DIR *d = fdopendir(entry_fd);
        if (!d)
                close(entry_fd);
        for (struct dirent *e; d && (e = readdir(d));)
                if (e->d_name[0] != '.' && strcmp(e->d_name, "home") != 0 &&
                    strcmp(e->d_name, "info") != 0)
                        return true;
        return false;
}

bool frozen_have_changes(int dir_fd)
{
        _cleanup_stack_ struct stack s = {0};
        if (stack_read(dir_fd, "stack", &s, NULL) < 0)
                return true; /* nobody knows; so it is kept */
        _cleanup_close_ int frozen =
                openat(dir_fd, "../../frozen", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        for (size_t i = 0; i < s.n; i++) {
                int fd = openat(frozen, s.v[i].id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (fd < 0 || has_work(fd))
                        return true;
        }
        return false;
}
