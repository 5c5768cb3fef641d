/* snapshots_box.c - see snapshots.h: boxes made from a snapshot, or from another box. What a box
 * is made from stays as it is: layers are shared, and small files copied. The placeholders come
 * along, so that what the agent wrote down of them works in the new box too (secret_kept.h). */
#include "session/snapshots.h"

#include "base/cleanup.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/frozen.h"
#include "session/opts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* file_of(s, name): its content, or NULL. */
static const char *file_of(const struct snapshot *s, const char *name)
{
        size_t n = strlen(name);
        for (size_t i = 0; i < s->files.n; i++)
                if (strncmp(s->files.v[i], name, n) == 0 && s->files.v[i][n] == '\t')
                        return s->files.v[i] + n + 1;
        return NULL;
}

int snapshots_fill(const struct snapshot *s, int dir_fd, struct err *err)
{
        static const char *const names[] = {"roots", "masked", "placeholders", "applied"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                const char *text = file_of(s, names[i]);
                if (text && fdio_write_file(dir_fd, names[i], text, 0600, err) < 0)
                        return -1;
        }
        return stack_write(dir_fd, "stack", &s->stack, err);
}

/* fill_meta(m, s, opts, id): an ended box, as ps shows it. */
static void fill_meta(struct box_meta *m, const struct snapshot *s, const char *id, int dir_fd)
{
        int64_t now_us = (int64_t)clock_real_us();
        *m = (struct box_meta){.id = str_dup(id),
                               .name = str_dup(id),
                               .profile = str_dup(s->profile),
                               .workspace = str_dup(s->workspace),
                               .command = str_dup(s->command),
                               .tier = str_dup("ns"),
                               .grants = str_dup(""),
                               .end_words = str_dup(""),
                               .state = BOX_EXITED,
                               .created_us = now_us,
                               .ended_us = now_us,
                               .is_live = s->is_live,
                               .is_kept = true,
                               .was_written = frozen_have_changes(dir_fd)};
}

static int fill_box(const struct snapshot *s, const char *id, int dir_fd, struct err *err)
{
        const char *text = file_of(s, "opts");
        if (!text)
                return err_set(err, E_INPUT, "how the box was started is not known any more");
        if (fdio_write_file(dir_fd, "opts", text, 0600, err) < 0)
                return -1;
        struct session_opts o;
        if (session_opts_load(&o, dir_fd, err) < 0)
                return -1;
        free(o.name);
        o.name = str_dup(id);
        o.is_kept = true;
        o.is_removed = false;
        int r = session_opts_save(&o, dir_fd, err);
        session_opts_free(&o);
        if (r < 0 || snapshots_fill(s, dir_fd, err) < 0)
                return -1;
        struct box_meta m;
        fill_meta(&m, s, id, dir_fd);
        r = store_meta_write(dir_fd, &m, err);
        box_meta_free(&m);
        return r;
}

int snapshots_is_whole(const struct store *store, const struct snapshot *s, struct err *err)
{
        _cleanup_close_ int frozen = frozen_open(store, err);
        struct stat st;
        if (frozen < 0)
                return -1;
        for (size_t i = 0; i < s->stack.n; i++)
                if (fstatat(frozen, s->stack.v[i].id, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        return err_set(err, E_INPUT,
                                       "the frozen layer %s is missing from the state directory, "
                                       "so nothing can be made from it",
                                       s->stack.v[i].id);
        return 0;
}

int snapshots_box(const struct store *store, const struct snapshot *s, const char *name, char **id,
                  struct err *err)
{
        _cleanup_close_ int dir = -1;
        _cleanup_close_ int lock = -1;
        *id = NULL;
        if (snapshots_is_whole(store, s, err) < 0 ||
            store_new_box(store, name, id, &dir, &lock, err) < 0)
                return -1;
        if (fill_box(s, *id, dir, err) == 0)
                return 0;
        store_discard(store, *id, NULL);
        free(*id);
        *id = NULL;
        return -1;
}

/* is_same_place(a, b): do both name one directory? */
static bool is_same_place(const char *a, const char *b)
{
        _cleanup_free_ char *x = realpath(a, NULL), *y = realpath(b, NULL);
        return strcmp(x ? x : a, y ? y : b) == 0;
}

int snapshots_opts(const struct snapshot *s, struct session_opts *opts, struct err *err)
{
        const char *text = file_of(s, "opts");
        struct session_opts was = {0};
        if (text)
                session_opts_parse(&was, text);
        const char *place = *s->workspace ? s->workspace : "none";
        int r = 0;
        if (opts->workspace && !is_same_place(opts->workspace, place))
                r = err_set(err, E_USAGE,
                            "the snapshot %s is of the workspace %s, and is a layer over that "
                            "directory; --workspace cannot be another",
                            s->name, place);
        else if (opts->is_live && !s->is_live)
                r = err_set(err, E_USAGE,
                            "the snapshot %s holds copy-on-write layers, which --live would not "
                            "show",
                            s->name);
        if (r == 0) {
                free(opts->workspace);
                opts->workspace = str_dup(place);
                opts->is_live = s->is_live;
                if (!opts->profile && was.profile)
                        opts->profile = str_dup(was.profile);
                /* Layers are known by their number, so the snapshot's come first. */
                struct session_bind *mine = opts->binds;
                size_t mine_n = opts->binds_n;
                opts->binds = NULL;
                opts->binds_n = 0;
                for (size_t i = 0; i < was.binds_n; i++)
                        session_opts_bind(opts, was.binds[i].path, was.binds[i].mode);
                for (size_t i = 0; i < mine_n; i++) {
                        session_opts_bind(opts, mine[i].path, mine[i].mode);
                        free(mine[i].path);
                        free(mine[i].mode);
                }
                free(mine);
        }
        session_opts_free(&was);
        return r;
}
