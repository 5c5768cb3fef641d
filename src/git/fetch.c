/* fetch.c - see fetch.h: the order in which a box's repositories are read, and what is given back.
 */
#include "git/beneath.h"
#include "git/fetch_int.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Files of a box can make git wait (a FIFO for an object): for one call, and for all calls together,
 * not longer than this. */
enum { FETCH_CALL_MS = 20 * 1000, FETCH_ALL_MS = 120 * 1000 };
/* To pack may take longer, once and not for each repository. */
uint32_t git_fetch_pack_ms = 180 * 1000;

/* What git on the host may take to tell what commits of a box change: for one call, and for all of
 * them. Two million paths, which is the most that is looked at, take a tenth of that. */
enum { FETCH_CPU_ALL_MS = 60 * 1000 };
uint32_t git_fetch_cpu_s = 20;
#define FETCH_MEMORY ((uint64_t)1 << 30)

int64_t fetch_now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* fetch_counted(f, call, left_ms, err): git over the box, for what is left of ${left_ms} at most. */
static int fetch_counted(struct fetch *f, struct git_call *call, int64_t *left_ms, struct err *err)
{
        if (*left_ms <= 0)
                return err_set(err, E_INPUT,
                               "reading the box's repositories took too long: not done in time");
        if (call->patience_ms > *left_ms)
                call->patience_ms = (uint32_t)*left_ms;
        int64_t began = fetch_now_ms();
        int r = f->want->inside->run(f->want->inside->arg, call, err);
        *left_ms -= fetch_now_ms() - began;
        return r;
}

int fetch_pack(struct fetch *f, struct git_call *call, struct err *err)
{
        call->patience_ms = git_fetch_pack_ms;
        return fetch_counted(f, call, &f->left->pack_ms, err);
}

int fetch_inside(struct fetch *f, const char *const *argv, const struct buf *in, struct buf *out,
                 struct err *err)
{
        struct git_call call = {.dir = f->repo->dir,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out,
                                .patience_ms = f->patience_ms ? f->patience_ms : FETCH_CALL_MS};
        return fetch_counted(f, &call, &f->left->inside_ms, err);
}

int fetch_host(struct fetch *f, const char *const *argv, const struct buf *in, struct buf *out,
               struct err *err)
{
        struct git_call call = {.dir = f->repo->dir,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out};
        _cleanup_strs_ struct strs env = {0};
        git_beneath_env(f->repo, &env);
        return git_call_host(&call, &env, err);
}

int fetch_ours(struct fetch *f, const char *const *argv, const struct buf *in, struct buf *out,
               struct err *err)
{
        /* Trees that contain each other many times make it search without an end. Processor time, not
         * the clock: a busy machine is nobody's fault. */
        bool is_endless = strcmp(argv[0], "diff-tree") == 0;
        uint64_t used_ms = 0;
        if (is_endless && f->left->cpu_ms <= 0)
                return err_set(err, E_INPUT,
                               "to read the commits of the box took more than %d s "
                               "of processor time already",
                               FETCH_CPU_ALL_MS / 1000);
        struct git_call call = {.dir = f->want->scratch,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out,
                                .cpu_s = is_endless ? git_fetch_cpu_s : 0,
                                .memory = is_endless ? FETCH_MEMORY : 0,
                                .cpu_ms = &used_ms,
                                .patience_ms = GIT_PATIENCE_LONG_MS};
        int r = git_call_host(&call, &f->env, err);
        if (is_endless)
                f->left->cpu_ms -= (int64_t)used_ms;
        return r;
}

int fetch_waits(struct git_repo *r, const char *fmt, ...)
{
        va_list ap;
        if (r->waits)
                return -1;
        va_start(ap, fmt);
        r->waits = str_vfmt(fmt, ap);
        va_end(ap);
        return -1;
}

static void fetch_work_free(struct fetch *f)
{
        free(f->box_common);
        git_tips_free(&f->box);
        git_tips_free(&f->host);
        strs_free(&f->known);
        strs_free(&f->detached);
        free(f->dir);
        strs_free(&f->env);
        fetch_classes_free(&f->classes);
}

/* fetch_repo(f): everything of one repository, after the one that it shares refs with. What goes
 * wrong is told in it. */
static void fetch_repo(struct fetch *f)
{
        struct git_repo *r = f->repo;
        if (f->is_done)
                return;
        f->is_done = true;
        if (f->owner != f)
                fetch_repo(f->owner);
        f->classes = (struct fetch_classes){.table = f->want->classes, .top = r->path, .from = f};
        if (r->waits || tips_list(f) < 0)
                return;
        if (!r->shares && (take_all(f) < 0 || read_all(f) < 0))
                return;
        if (f->owner->repo->waits && f->owner != f) {
                fetch_waits(r, "%s", f->owner->repo->waits);
                return;
        }
        if (r->shares && f->owner->repo->quarantine)
                r->quarantine = str_dup(f->owner->repo->quarantine);
        if (judge_head(f) < 0)
                return;
        held_find(f);
        (void)aside_staged(f);
        aside_config(f);
}

/* fetch_all(): what one box may cost. */
static struct fetch_left fetch_all(void)
{
        return (struct fetch_left){.inside_ms = FETCH_ALL_MS,
                                   .pack_ms = git_fetch_pack_ms,
                                   .cpu_ms = FETCH_CPU_ALL_MS};
}

int git_fetch(struct git_fetch *out, const struct git_want *want, struct err *err)
{
        *out = (struct git_fetch){0};
        if (!git_call_is_there()) {
                out->waits =
                        str_dup("there is no git on this machine: what the box committed waits "
                                "in it");
                return 0;
        }
        struct fetch *works = NULL;
        struct fetch_left left = fetch_all();
        int r = look_all(out, &works, want, &left, err);
        /* The outermost first: one that makes git wait is rather an inner one. */
        for (size_t i = out->n; r == 0 && i-- > 0;)
                fetch_repo(&works[i]);
        /* Last: what makes git wait here (a FIFO for attributes) keeps no commit from being told. */
        for (size_t i = out->n; r == 0 && want->wants_tree && i-- > 0;)
                if (!out->v[i].waits)
                        convert_find(&works[i]);
        for (size_t i = 0; i < out->n; i++)
                fetch_work_free(&works[i]);
        free(works);
        if (r < 0)
                git_fetch_free(out);
        return r;
}

/* fetch_has_staged(f): is there content in the box's index alone: neither in its work tree nor among
 * the host's objects? */
static bool fetch_has_staged(struct fetch *f)
{
        struct git_repo *r = f->repo;
        _cleanup_buf_ struct buf ids = {0}, out = {.max = 16 << 20};
        struct err none = {0};
        if (aside_staged(f) < 0)
                return true; /* nobody can tell */
        for (size_t i = 0; i < r->staged.n; i++) {
                const struct git_path *p = &r->staged.v[i];
                bool is_content = p->mode && p->mode != 0160000u;
                if (is_content && (!f->want->in_tree || f->want->in_tree(f->want->in_tree_arg, r,
                                                                         p) != GIT_IN_TREE_SAME))
                        buf_put_fmt(&ids, "%s\n", p->id);
        }
        if (ids.len == 0)
                return false;
        return !r->host_git ||
               fetch_host(f, FETCH_ARGV("cat-file", "--batch-check=there"), &ids, &out, &none) !=
                       0 ||
               strstr(buf_cstr(&out), " missing");
}

int git_fetch_pending(const struct git_want *want, struct err *err)
{
        struct git_fetch list = {0};
        struct fetch *works = NULL;
        struct fetch_left left = fetch_all();
        int is_some = 0;
        if (!git_call_is_there())
                return 0;
        bool is_noted = true;
        int r = look_all(&list, &works, want, &left, err);
        for (size_t i = 0; r == 0 && !is_some && i < list.n; i++) {
                struct git_repo *one = &list.v[i];
                if (want->landed && !one->waits)
                        landed_begin(&works[i]);
                if (!one->waits && tips_list(&works[i]) == 0)
                        is_some = (!one->shares && tips_pending(&works[i])) ||
                                  fetch_has_staged(&works[i]);
                /* What cannot be read now is in the box alone. */
                is_some |= one->waits && !one->is_spare;
                if (want->landed && !is_some && !one->waits)
                        is_noted = landed_put(&works[i], want->landed) && is_noted;
        }
        for (size_t i = 0; i < list.n; i++)
                fetch_work_free(&works[i]);
        free(works);
        git_fetch_free(&list);
        if (want->landed && (r < 0 || is_some || !is_noted))
                want->landed->is_broken = true;
        return r < 0 ? -1 : is_some;
}

void fetch_drop_commits(struct git_ref *ref)
{
        for (size_t i = 0; ref->commits && i < ref->commits_n; i++) {
                free(ref->commits[i].subject);
                free(ref->commits[i].author);
        }
        free(ref->commits);
        git_paths_free(&ref->paths);
        ref->commits = NULL;
        ref->commits_n = ref->commits_all = 0;
}

static void fetch_free_ref(struct git_ref *ref)
{
        fetch_drop_commits(ref);
        free(ref->name);
        free(ref->local);
        free(ref->tree);
        free(ref->tag);
        free(ref->refused);
}

/* fetch_remove(dir): what is left of it goes with the box. */
static void fetch_remove(const char *dir)
{
        const char *slash = strrchr(dir, '/');
        _cleanup_free_ char *up = str_fmt("%.*s", (int)(slash - dir), dir);
        _cleanup_close_ int fd = open(up, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd >= 0)
                (void)beneath_remove_tree(fd, slash + 1, NULL);
}

void git_fetch_free(struct git_fetch *f)
{
        for (size_t i = 0; i < f->n; i++) {
                struct git_repo *r = &f->v[i];
                char *const strings[] = {r->path,  r->dir,        r->host_git, r->host_common,
                                         r->waits, r->quarantine, r->head,     r->host_head};
                for (size_t k = 0; k < sizeof strings / sizeof *strings; k++)
                        free(strings[k]);
                for (size_t k = 0; k < r->refs_n; k++)
                        fetch_free_ref(&r->refs[k]);
                free(r->refs);
                git_paths_free(&r->touched);
                git_paths_free(&r->head_tree);
                free(r->box_common);
                free(r->sizes);
                free(r->head_sizes);
                free(r->staged_sizes);
                git_paths_free(&r->staged);
                strs_free(&r->config);
        }
        free(f->v);
        free(f->waits);
        if (f->lock_fd > 0)
                close(f->lock_fd);
        if (f->private)
                fetch_remove(f->private);
        free(f->private);
        *f = (struct git_fetch){0};
}
