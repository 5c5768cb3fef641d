/* undo_record.c - records of undo, read. They are ours, and yet read like anybody's: a torn or
 * damaged file yields what is whole in it. Called by undo, history, apply and the timeline. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "workspace/objects.h"
#include "workspace/undo.h"
#include "workspace/undo_int.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Times below this can be counted in nanoseconds too; a damaged line says more. */
#define WHEN_MAX_US ((uint64_t)INT64_MAX / 2000)

void undo_record_free(struct undo_record *r)
{
        for (size_t i = 0; r->v && i < r->entries_n; i++) {
                free(r->v[i].path);
                undo_state_free(&r->v[i].before);
                undo_state_free(&r->v[i].after);
        }
        for (size_t i = 0; i < r->shut_n; i++)
                free(r->shut[i].path);
        for (size_t i = 0; i < r->refs_n; i++) {
                free(r->refs[i].tree);
                free(r->refs[i].name);
                free(r->refs[i].from);
                free(r->refs[i].to);
        }
        free(r->refs);
        free(r->shut);
        free(r->v);
        free(r->what);
        free(r->box);
        free(r->layer);
        free(r->root);
        free(r->temp);
        *r = (struct undo_record){0};
}

bool undo_path_is_fit(const char *path)
{
        if (!*path || *path == '/' || strlen(path) >= PATH_MAX)
                return false;
        for (const char *p = path;; p++) {
                size_t n = strcspn(p, "/");
                if (n == 0 || n > NAME_MAX || (n == 1 && p[0] == '.') ||
                    (n == 2 && p[0] == '.' && p[1] == '.'))
                        return false;
                p += n;
                if (!*p)
                        return true;
        }
}

char *undo_field(char **rest)
{
        char *field = strsep(rest, "\t"), *o = field;
        if (!field)
                return NULL;
        for (char *p = field; *p; p++) {
                if (*p == '\\' && p[1]) {
                        p++;
                        *o++ = *p == 't' ? '\t' : *p;
                } else {
                        *o++ = *p;
                }
        }
        *o = 0;
        return field;
}

/* The reader's own: which paths it has, to let the last line of a path count. */
struct reader {
        struct undo_record *r;
        size_t cap;
        size_t *slots; /* open addressing; index + 1 */
        size_t slots_n;
};

static size_t hash_of(const char *s)
{
        uint64_t h = 1469598103934665603u;
        for (; *s; s++)
                h = (h ^ (unsigned char)*s) * 1099511628211u;
        return (size_t)h;
}

static size_t *slot_of(const struct reader *d, const char *path)
{
        size_t i = hash_of(path) % d->slots_n;
        while (d->slots[i] && strcmp(d->r->v[d->slots[i] - 1].path, path) != 0)
                i = (i + 1) % d->slots_n;
        return &d->slots[i];
}

static struct undo_entry *find(const struct reader *d, const char *path)
{
        size_t at = d->slots_n ? *slot_of(d, path) : 0;
        return at ? &d->r->v[at - 1] : NULL;
}

static void grow(struct reader *d)
{
        struct undo_record *r = d->r;
        d->cap = d->cap ? d->cap * 2 : 64;
        r->v = reallocarray(r->v, d->cap, sizeof *r->v);
        free(d->slots);
        d->slots_n = d->cap * 2;
        d->slots = calloc(d->slots_n, sizeof *d->slots);
        if (!r->v || !d->slots)
                str_no_memory();
        for (size_t i = 0; i < r->entries_n; i++)
                *slot_of(d, r->v[i].path) = i + 1;
}

static void read_path(struct reader *d, char *value, bool with_entries)
{
        char *path = undo_field(&value), *before = undo_field(&value), *after = undo_field(&value);
        struct undo_entry e = {0};
        if (!path || !before || !after || value || !undo_path_is_fit(path))
                return;
        if (!with_entries) {
                d->r->entries_n++;
                return;
        }
        if (undo_state_parse(before, &e.before) == 0 && undo_state_parse(after, &e.after) == 0) {
                struct undo_entry *old = find(d, path);
                e.path = str_dup(path);
                if (old) {
                        free(old->path);
                        undo_state_free(&old->before);
                        undo_state_free(&old->after);
                        *old = e;
                        return;
                }
                if (d->r->entries_n == d->cap)
                        grow(d);
                *slot_of(d, path) = d->r->entries_n + 1;
                d->r->v[d->r->entries_n++] = e;
                return;
        }
        undo_state_free(&e.before);
        undo_state_free(&e.after);
}

static void read_undone(struct reader *d, char *value)
{
        char *by = undo_field(&value), *path = undo_field(&value);
        struct undo_entry *e = path ? find(d, path) : NULL;
        if (!by || str_u64(by, &d->r->undone_by) < 0)
                return;
        if (!path)
                d->r->is_undone = true;
        else if (e)
                e->is_undone = true;
}

static void read_open(struct undo_record *r, char *value)
{
        char *mode = undo_field(&value), *ino = undo_field(&value), *path = undo_field(&value);
        char *end = NULL;
        unsigned long m = mode && *mode >= '0' && *mode <= '7' ? strtoul(mode, &end, 8) : 0;
        uint64_t n;
        if (!path || value || !end || *end || m > 07777 || str_u64(ino, &n) < 0 ||
            (strcmp(path, ".") != 0 && !undo_path_is_fit(path)))
                return;
        if ((r->shut_n & (r->shut_n - 1)) == 0) {
                struct undo_shut *v =
                        reallocarray(r->shut, r->shut_n ? 2 * r->shut_n : 1, sizeof *v);
                if (!v)
                        str_no_memory();
                r->shut = v;
        }
        r->shut[r->shut_n++] =
                (struct undo_shut){.path = str_dup(path), .mode = (mode_t)m, .ino = n};
}

/* is_id(text): hexadecimal as git writes an id, or "-" for none. */
static bool is_id(const char *text)
{
        size_t n = strspn(text, "0123456789abcdef");
        return strcmp(text, "-") == 0 || ((n == 40 || n == 64) && text[n] == 0);
}

static void read_ref(struct undo_record *r, char *value)
{
        char *tree = undo_field(&value), *name = undo_field(&value);
        char *from = undo_field(&value), *to = undo_field(&value);
        if (!to || value || tree[0] != '/' || !str_starts(name, "refs/") || !is_id(from) ||
            !is_id(to))
                return;
        if ((r->refs_n & (r->refs_n - 1)) == 0) {
                struct undo_ref *v =
                        reallocarray(r->refs, r->refs_n ? 2 * r->refs_n : 1, sizeof *v);
                if (!v)
                        str_no_memory();
                r->refs = v;
        }
        r->refs[r->refs_n++] = (struct undo_ref){.tree = str_dup(tree),
                                                 .name = str_dup(name),
                                                 .from = str_dup(*from == '-' ? "" : from),
                                                 .to = str_dup(*to == '-' ? "" : to)};
}

static void set(char **to, const char *value)
{
        free(*to);
        *to = str_dup(value);
}

static void read_line(struct reader *d, char *key, char *value, bool with_entries)
{
        struct undo_record *r = d->r;
        uint64_t n;
        if (strcmp(key, "path") == 0) {
                read_path(d, value, with_entries);
        } else if (strcmp(key, "skip") == 0) {
                struct undo_entry *e = with_entries ? find(d, value) : NULL;
                if (e)
                        e->is_skipped = true;
                else if (!with_entries && r->entries_n)
                        r->entries_n--;
        } else if (strcmp(key, "open") == 0) {
                if (with_entries)
                        read_open(r, value);
        } else if (strcmp(key, "ref") == 0) {
                read_ref(r, value);
        } else if (strcmp(key, "undone") == 0) {
                read_undone(d, value);
        } else if (strcmp(key, "done") == 0) {
                r->is_done = true;
        } else if (strcmp(key, "swept") == 0) {
                r->is_swept = true;
        } else if (strcmp(key, "what") == 0) {
                set(&r->what, value);
        } else if (strcmp(key, "box") == 0) {
                set(&r->box, value);
        } else if (strcmp(key, "layer") == 0) {
                set(&r->layer, value);
        } else if (strcmp(key, "root") == 0) {
                set(&r->root, value);
        } else if (strcmp(key, "temp") == 0) {
                set(&r->temp, value);
        } else if (strcmp(key, "when_us") == 0 && str_u64(value, &n) == 0) {
                r->when_us = n < WHEN_MAX_US ? (int64_t)n : 0;
        } else if (strcmp(key, "when") == 0 && str_u64(value, &n) == 0) {
                /* an older record: within this second */
                r->when_us = n < WHEN_MAX_US / 1000000 ? (int64_t)n * 1000000 + 999999 : 0;
        } else if (strcmp(key, "of") == 0 && str_u64(value, &n) == 0) {
                r->of = n;
        } else if (strcmp(key, "id") == 0) {
                char *colon = strchr(value, ':');
                if (colon)
                        *colon++ = 0;
                if (!colon || str_u64(value, &r->dev) < 0 || str_u64(colon, &r->ino) < 0)
                        r->dev = r->ino = 0;
        }
}

int undo_parse(int text_fd, bool with_entries, struct undo_record *r, struct err *err)
{
        int fd = dup(text_fd);
        _cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
        if (!f) {
                close_fd(&fd);
                return err_sys(err, "read a record of undo");
        }
        *r = (struct undo_record){0};
        struct reader d = {.r = r};
        _cleanup_free_ char *line = NULL;
        size_t cap = 0;
        ssize_t n;
        while ((n = getline(&line, &cap, f)) > 0) {
                char *text = line, *key, *value;
                if (memchr(line, 0, (size_t)n) == NULL && kv_next(&text, &key, &value))
                        read_line(&d, key, value, with_entries);
        }
        free(d.slots);
        char **const all[] = {&r->what, &r->box, &r->layer, &r->root, &r->temp};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                if (!*all[i])
                        *all[i] = str_dup("");
        if (with_entries && !r->is_undone && r->entries_n) {
                size_t left = 0;
                for (size_t i = 0; i < r->entries_n; i++)
                        left += !r->v[i].is_undone && !r->v[i].is_skipped;
                r->is_undone = left == 0;
        }
        return ferror(f) ? err_set(err, E_SYSTEM, "a record of undo cannot be read") : 0;
}

static int read_record(int undo_fd, uint64_t n, bool with_entries, struct undo_record *r,
                       struct err *err)
{
        char path[48];
        snprintf(path, sizeof path, "%" PRIu64 "/record", n);
        *r = (struct undo_record){0};
        _cleanup_close_ int fd = openat(undo_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
                return err_set(err, E_ABSENT,
                               "there is no record %" PRIu64
                               " of undo; `ostiary history` lists those that are",
                               n);
        if (fd < 0)
                return err_sys(err, "open record %" PRIu64 " of undo", n);
        if (undo_parse(fd, with_entries, r, err) < 0) {
                undo_record_free(r);
                return -1;
        }
        r->n = n;
        return 0;
}

int undo_read(int undo_fd, uint64_t n, struct undo_record *r, struct err *err)
{
        return read_record(undo_fd, n, true, r, err);
}

static int down(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return (x < y) - (x > y);
}

int undo_numbers(int undo_fd, uint64_t **numbers, size_t *numbers_n, struct err *err)
{
        *numbers = NULL;
        *numbers_n = 0;
        _cleanup_closedir_ DIR *d = fdio_opendir(undo_fd);
        if (!d)
                return err_sys(err, "read the undo directory");
        size_t cap = 0;
        struct dirent *e;
        while ((e = readdir(d))) {
                uint64_t n;
                if (str_u64(e->d_name, &n) < 0 || n == 0)
                        continue;
                if (*numbers_n == cap) {
                        cap = cap ? cap * 2 : 64;
                        *numbers = reallocarray(*numbers, cap, sizeof **numbers);
                        if (!*numbers)
                                str_no_memory();
                }
                (*numbers)[(*numbers_n)++] = n;
        }
        if (*numbers_n)
                qsort(*numbers, *numbers_n, sizeof **numbers, down);
        return 0;
}

int undo_list(int undo_fd, bool with_entries, int (*fn)(void *ctx, const struct undo_record *),
              void *ctx, struct err *err)
{
        _cleanup_free_ uint64_t *numbers = NULL;
        size_t n;
        if (undo_numbers(undo_fd, &numbers, &n, err) < 0)
                return -1;
        for (size_t i = 0; i < n; i++) {
                _cleanup_record_ struct undo_record r = {0};
                if (read_record(undo_fd, numbers[i], with_entries, &r, NULL) < 0)
                        continue;
                int stop = fn(ctx, &r);
                if (stop)
                        return stop;
        }
        return 0;
}
