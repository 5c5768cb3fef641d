/* snapshots.c - see snapshots.h: the file that a snapshot is, written, read, listed and removed.
 * Called by the commands and, for a box that is alive, by its supervisor. A snapshot is there
 * whole or not at all; what it lists is held until it is written. */
#include "session/snapshots.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "session/frozen.h"
#include "session/secret_mask.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX = 64 << 20 };

/* What of a box's directory goes with its layers. */
static const char *const kept[] = {"opts", "roots", "masked", "placeholders", "applied"};

void snapshot_free(struct snapshot *s)
{
        free(s->name);
        free(s->box);
        free(s->workspace);
        free(s->profile);
        free(s->command);
        stack_free(&s->stack);
        strs_free(&s->files);
        *s = (struct snapshot){0};
}

static int open_dir(const struct store *store, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/snapshots", store->state);
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make %s", path);
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        return fd < 0 ? err_sys(err, "open %s", path) : fd;
}

static int check_name(int dir, const char *name, struct err *err)
{
        if (!store_is_name(name)) {
                _cleanup_free_ char *shown = str_quote(name);
                return err_set(err, E_USAGE,
                               "\"%s\" cannot be a snapshot's name: use up to 40 letters, digits, "
                               "dots, dashes and underscores, beginning with a letter or digit",
                               shown);
        }
        if (faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0)
                return err_set(err, E_REFUSED,
                               "there is a snapshot named %s already (ostiary snapshots rm %s "
                               "removes it)",
                               name, name);
        return 0;
}

char *snapshots_free_name(const struct store *store, const char *box)
{
        _cleanup_close_ int dir = open_dir(store, NULL);
        for (unsigned n = 1;; n++) {
                char *name = str_fmt("%.30s-%u", box, n);
                if (dir < 0 || n > 100000 || faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0)
                        return name;
                free(name);
        }
}

int snapshots_of_box(const struct store *store, const char *id, int dir_fd,
                     const struct stack *stack, struct snapshot *s, struct err *err)
{
        struct box_meta m;
        (void)store;
        *s = (struct snapshot){0};
        if (store_meta_read(dir_fd, id, &m, err) < 0)
                return -1;
        s->box = str_dup(id);
        s->workspace = str_dup(m.workspace);
        s->profile = str_dup(m.profile);
        s->command = str_dup(m.command);
        s->made = time(NULL);
        s->is_live = m.is_live;
        box_meta_free(&m);
        for (size_t i = 0; i < stack->n; i++)
                stack_add(&s->stack, stack->v[i].id, stack->v[i].kind, stack->v[i].label,
                          stack->v[i].when_s);
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
                struct err none = {0};
                _cleanup_free_ char *text = fdio_read_file(dir_fd, kept[i], FILE_MAX, &none);
                if (text)
                        strs_addf(&s->files, "%s\t%s", kept[i], text);
                else if (none.sys != ENOENT) {
                        if (err)
                                *err = none;
                        return err_add(err, "read what box %s was started with", id);
                }
        }
        return 0;
}

static int write_one(int dir, const char *name, const struct snapshot *s, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        kv_put(&b, "box", s->box);
        kv_put(&b, "workspace", s->workspace);
        kv_put(&b, "profile", s->profile);
        kv_put(&b, "command", s->command);
        kv_put_u64(&b, "made", (uint64_t)s->made);
        kv_put_bool(&b, "live", s->is_live);
        for (size_t i = 0; i < s->files.n; i++)
                kv_put(&b, "file", s->files.v[i]);
        stack_put(&b, &s->stack);
        if (b.is_broken)
                return err_set(err, E_INPUT, "the snapshot's description is too long to keep");
        return fdio_write_file(dir, name, buf_cstr(&b), 0600, err);
}

/* take(..., is_copy): freeze or copy, and write it down before anybody can sweep the layer. */
static int take(const struct store *store, const char *id, int dir_fd, const char *name,
                const char *kind, const char *label, bool is_copy, struct stack *stack,
                struct err *err)
{
        char fid[STACK_ID_LEN + 1];
        *stack = (struct stack){0};
        _cleanup_close_ int frozen = frozen_open(store, err);
        _cleanup_close_ int hold = frozen < 0 ? -1 : stack_hold(frozen, false, err);
        _cleanup_close_ int dir = hold < 0 ? -1 : open_dir(store, err);
        if (dir < 0 || (name && check_name(dir, name, err) < 0))
                return -1;
        if ((is_copy ? stack_copy : stack_freeze)(dir_fd, frozen, kind, label, fid, err) < 0 ||
            stack_read(dir_fd, "stack", stack, err) < 0)
                return -1;
        if (is_copy && fid[0]) {
                _cleanup_close_ int entry =
                        openat(frozen, fid, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                if (entry >= 0)
                        secret_mask_strip(dir_fd, entry);
                stack_add(stack, fid, kind, label, time(NULL));
        }
        if (!name)
                return 0;
        _cleanup_snapshot_ struct snapshot s = {0};
        if (snapshots_of_box(store, id, dir_fd, stack, &s, err) < 0)
                return -1;
        return write_one(dir, name, &s, err);
}

int snapshots_freeze(const struct store *store, const char *id, int dir_fd, const char *name,
                     const char *kind, const char *label, struct stack *stack, struct err *err)
{
        /* Of a box whose supervisor was killed, nobody took the masked copies off. */
        secret_mask_end(dir_fd);
        return take(store, id, dir_fd, name, kind, label, false, stack, err);
}

int snapshots_copy(const struct store *store, const char *id, int dir_fd, const char *name,
                   const char *kind, const char *label, struct stack *stack, struct err *err)
{
        return take(store, id, dir_fd, name, kind, label, true, stack, err);
}

static void read_one(struct snapshot *s, const char *key, const char *value)
{
        uint64_t n;
        const struct {
                const char *key;
                char **to;
        } text[] = {{"box", &s->box},
                    {"workspace", &s->workspace},
                    {"profile", &s->profile},
                    {"command", &s->command}};
        for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
                if (strcmp(key, text[i].key) == 0) {
                        free(*text[i].to);
                        *text[i].to = str_dup(value);
                }
        }
        if (strcmp(key, "file") == 0 && strchr(value, '\t'))
                strs_add(&s->files, value);
        else if (strcmp(key, "made") == 0 && str_u64(value, &n) == 0)
                s->made = (time_t)n;
        else if (strcmp(key, "live") == 0)
                s->is_live = strcmp(value, "1") == 0;
}

/* load(dir, name, s, err): all strings are set in any case. */
static int load(int dir, const char *name, struct snapshot *s, struct err *err)
{
        *s = (struct snapshot){.name = str_dup(name)};
        _cleanup_free_ char *text = fdio_read_file(dir, name, FILE_MAX, err);
        _cleanup_free_ char *copy = text ? str_dup(text) : NULL;
        char *at = text, *key, *value;
        while (text && kv_next(&at, &key, &value))
                read_one(s, key, value);
        char **rest[] = {&s->box, &s->workspace, &s->profile, &s->command};
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
                if (!*rest[i])
                        *rest[i] = str_dup("");
        return copy ? stack_parse(copy, &s->stack, err) : -1;
}

int snapshots_load(const struct store *store, const char *name, struct snapshot *s, struct err *err)
{
        *s = (struct snapshot){0};
        _cleanup_close_ int dir = open_dir(store, err);
        if (dir < 0)
                return -1;
        if (!store_is_name(name) || faccessat(dir, name, F_OK, AT_SYMLINK_NOFOLLOW) < 0) {
                struct snapshot *all;
                size_t n;
                _cleanup_strs_ struct strs names = {0};
                _cleanup_free_ char *shown = str_quote(name);
                if (snapshots_list(store, &all, &n, NULL) == 0) {
                        for (size_t i = 0; i < n; i++)
                                strs_add(&names, all[i].name);
                        snapshots_list_free(all, n);
                }
                const char *near = str_suggest(name, (const char *const *)names.v, names.n);
                if (near)
                        return err_set(err, E_ABSENT,
                                       "there is no snapshot \"%s\"; did you mean %s?", shown,
                                       near);
                return err_set(err, E_ABSENT,
                               "there is no snapshot \"%s\" (ostiary snapshots lists them)", shown);
        }
        if (load(dir, name, s, err) < 0) {
                err_add(err, "the snapshot %s cannot be used", name);
                return err_hint(err, "ostiary snapshots rm %s removes it", name);
        }
        return 0;
}

static int by_age(const void *a, const void *b)
{
        const struct snapshot *x = a, *y = b;
        if (x->made != y->made)
                return x->made < y->made ? 1 : -1;
        return strcmp(x->name, y->name);
}

int snapshots_list(const struct store *store, struct snapshot **out, size_t *out_n, struct err *err)
{
        *out = NULL;
        *out_n = 0;
        _cleanup_close_ int dir = open_dir(store, err);
        _cleanup_closedir_ DIR *d = fdio_opendir(dir);
        if (!d)
                return dir < 0 ? -1 : err_sys(err, "list the snapshots");
        for (struct dirent *e; (e = readdir(d));) {
                if (!store_is_name(e->d_name) || strstr(e->d_name, ".new."))
                        continue;
                struct snapshot *v = realloc(*out, (*out_n + 1) * sizeof *v);
                if (!v)
                        str_no_memory();
                *out = v;
                load(dir, e->d_name, &v[(*out_n)++], NULL);
        }
        if (*out_n)
                qsort(*out, *out_n, sizeof **out, by_age);
        return 0;
}

void snapshots_list_free(struct snapshot *v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                snapshot_free(&v[i]);
        free(v);
}

int snapshots_remove(const struct store *store, const char *name, struct err *err)
{
        _cleanup_close_ int dir = open_dir(store, err);
        if (dir < 0)
                return -1;
        _cleanup_free_ char *shown = str_quote(name);
        if (!store_is_name(name))
                return err_set(err, E_ABSENT, "there is no snapshot \"%s\"", shown);
        if (unlinkat(dir, name, 0) < 0)
                return errno == ENOENT ? err_set(err, E_ABSENT,
                                                 "there is no snapshot \"%s\" (ostiary snapshots "
                                                 "lists them)",
                                                 shown)
                                       : err_sys(err, "remove the snapshot %s", shown);
        return 0;
}
