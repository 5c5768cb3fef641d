/* applied.c - what of a box was applied: so that it is not pending any more, and so that a file
 * that we wrote to the host is not taken for the user's own edit. One file in the box's directory,
 * only ever appended to:
 *
 *   will LAYER<TAB>PATH<TAB>STATE                               about to be put there
 *   put LAYER<TAB>PATH<TAB>INO SIZE MTIME CTIME<TAB>STATE       is there; of which upper file ("-"
 *                                                               when that has more to give)
 *   host LAYER<TAB>PATH<TAB>STATE                               undo made it so
 *   took LAYER<TAB>INO                                          a file of the host that is gone by
 *                                                               us
 *
 * The last line of each kind counts. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "workspace/apply_int.h"
#include "workspace/undo_int.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

struct entry {
        char *key; /* layer, tab, path; or layer, tab, slash, inode for what was taken */
        bool has_put, has_node;
        uint64_t ino, size;
        int64_t mtime_ns, ctime_ns;
        struct undo_state put, will, host;
};

struct applied {
        struct entry *v;
        size_t n, cap;
        size_t *slots;
        size_t slots_n;
        struct apply_origins **origins; /* a cell of its own: filled while the rest is only read */
};

static size_t *slot_of(const struct applied *a, const char *key)
{
        uint64_t h = 1469598103934665603u;
        for (const char *p = key; *p; p++)
                h = (h ^ (unsigned char)*p) * 1099511628211u;
        size_t i = (size_t)h % a->slots_n;
        while (a->slots[i] && strcmp(a->v[a->slots[i] - 1].key, key) != 0)
                i = (i + 1) % a->slots_n;
        return &a->slots[i];
}

static struct entry *find(const struct applied *a, const char *layer, const char *path)
{
        if (!a || !a->n)
                return NULL;
        _cleanup_free_ char *key = str_fmt("%s\t%s", layer, path);
        size_t at = *slot_of(a, key);
        return at ? &a->v[at - 1] : NULL;
}

static struct entry *entry_of(struct applied *a, const char *layer, const char *path)
{
        struct entry *e = find(a, layer, path);
        if (e)
                return e;
        if (a->n == a->cap) {
                a->cap = a->cap ? a->cap * 2 : 64;
                a->slots_n = a->cap * 2;
                a->v = reallocarray(a->v, a->cap, sizeof *a->v);
                free(a->slots);
                a->slots = calloc(a->slots_n, sizeof *a->slots);
                if (!a->v || !a->slots)
                        str_no_memory();
                for (size_t i = 0; i < a->n; i++)
                        *slot_of(a, a->v[i].key) = i + 1;
        }
        e = &a->v[a->n];
        *e = (struct entry){.key = str_fmt("%s\t%s", layer, path),
                            .put = {.kind = '?'},
                            .will = {.kind = '?'},
                            .host = {.kind = '?'}};
        *slot_of(a, e->key) = ++a->n;
        return e;
}

static void read_node(struct entry *e, const char *text)
{
        e->has_node = sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNd64 " %" SCNd64, &e->ino,
                             &e->size, &e->mtime_ns, &e->ctime_ns) == 4;
}

static void read_took(struct applied *a, char *value)
{
        char *layer = undo_field(&value), *ino = undo_field(&value);
        if (!layer || !ino || value)
                return;
        _cleanup_free_ char *path = str_fmt("/%s", ino);
        entry_of(a, layer, path);
}

static void read_line(struct applied *a, const char *key, char *value)
{
        bool is_put = strcmp(key, "put") == 0;
        char *layer = undo_field(&value), *path = undo_field(&value);
        char *node = is_put ? undo_field(&value) : "";
        char *text = undo_field(&value);
        struct undo_state s;
        if (!layer || !path || !node || !text || value || undo_state_parse(text, &s) < 0)
                return;
        struct entry *e = entry_of(a, layer, path);
        struct undo_state *to = is_put ? &e->put : strcmp(key, "will") == 0 ? &e->will : &e->host;
        undo_state_free(to);
        *to = s;
        if (!is_put)
                return;
        e->has_put = true;
        read_node(e, node);
        undo_state_free(&e->host);
        undo_state_copy(&e->host, &e->put);
}

int applied_read(int box_dir_fd, struct applied **out, struct err *err)
{
        *out = calloc(1, sizeof **out);
        if (!*out || !((*out)->origins = calloc(1, sizeof(void *))))
                str_no_memory();
        int fd = openat(box_dir_fd, "applied", O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT)
                return 0;
        _cleanup_fclose_ FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
        if (!f) {
                close_fd(&fd);
                applied_free(*out);
                *out = NULL;
                return err_sys(err, "read what was applied of the box");
        }
        _cleanup_free_ char *line = NULL;
        size_t cap = 0;
        ssize_t n;
        while ((n = getline(&line, &cap, f)) > 0) {
                char *text = line, *key, *value;
                if (memchr(line, 0, (size_t)n) != NULL || !kv_next(&text, &key, &value))
                        continue;
                if (strcmp(key, "took") == 0)
                        read_took(*out, value);
                else if (strcmp(key, "put") == 0 || strcmp(key, "will") == 0 ||
                         strcmp(key, "host") == 0)
                        read_line(*out, key, value);
        }
        return 0;
}

void applied_free(struct applied *a)
{
        if (!a)
                return;
        for (size_t i = 0; i < a->n; i++) {
                free(a->v[i].key);
                undo_state_free(&a->v[i].put);
                undo_state_free(&a->v[i].will);
                undo_state_free(&a->v[i].host);
        }
        apply_origins_free(*a->origins);
        free(a->origins);
        free(a->v);
        free(a->slots);
        free(a);
}

bool applied_has(void *arg, const char *layer, const char *path, const struct ws_node *node)
{
        const struct entry *e = find(arg, layer, path);
        if (!e || !e->has_put || !undo_state_same(&e->put, &e->host) || e->put.mode != e->host.mode)
                return false;
        if (node->kind == WS_NONE)
                return e->put.kind == '-';
        if (!e->has_node || e->ino != node->ino)
                return false;
        /* A directory's times move with every file in it, and each of those is an entry. */
        if (node->kind == WS_DIR)
                return e->put.kind == 'd' &&
                       (e->put.mode == (node->mode & 0777) || e->size == (node->mode & 0777));
        return e->size == node->size && e->mtime_ns == node->mtime_ns &&
               e->ctime_ns == node->ctime_ns;
}

bool applied_is_ours(const struct applied *a, const char *layer, const char *path,
                     const struct undo_state *s)
{
        const struct entry *e = find(a, layer, path);
        return e && (undo_state_same(&e->put, s) || undo_state_same(&e->will, s) ||
                     undo_state_same(&e->host, s));
}

bool applied_last(const struct applied *a, const char *layer, const char *path,
                  char sha[SHA256_HEX_LEN + 1])
{
        const struct entry *e = find(a, layer, path);
        /* What undo put back is the later of the two, and what both sides began with. */
        if (!e || !e->has_put || e->host.kind != 'f')
                return false;
        memcpy(sha, e->host.sha, SHA256_HEX_LEN + 1);
        return true;
}

bool applied_is_put(const struct applied *a, const char *layer, const char *path,
                    const struct undo_state *s)
{
        const struct entry *e = find(a, layer, path);
        return e && e->has_put && undo_state_same(&e->put, s) && e->put.mode == s->mode;
}

static void put_line(struct buf *b, const char *key, const char *layer, const char *path,
                     const char *node, const struct undo_state *s)
{
        _cleanup_buf_ struct buf f = {0}, state = {0};
        undo_field_put(&f, layer);
        buf_put_u8(&f, '\t');
        undo_field_put(&f, path);
        buf_put_u8(&f, '\t');
        if (node) {
                buf_put_str(&f, node);
                buf_put_u8(&f, '\t');
        }
        undo_state_put(&state, s);
        undo_field_put(&f, buf_cstr(&state));
        kv_put(b, key, buf_cstr(&f));
}

void applied_put_will(struct buf *b, const char *layer, const char *path,
                      const struct undo_state *s)
{
        put_line(b, "will", layer, path, NULL, s);
}

void applied_put_done(struct buf *b, const char *layer, const char *path, const struct ws_node *n,
                      const struct undo_state *s)
{
        char node[96] = "-";
        /* Of a directory the mode that the box gave it: the user's umask may have made another of
         * it on the host. Its size says nothing. */
        if (n)
                snprintf(node, sizeof node, "%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64, n->ino,
                         n->kind == WS_DIR ? (uint64_t)(n->mode & 0777) : n->size, n->mtime_ns,
                         n->ctime_ns);
        put_line(b, "put", layer, path, node, s);
}

void applied_put_took(struct buf *b, const char *layer, uint64_t ino)
{
        _cleanup_buf_ struct buf f = {0};
        undo_field_put(&f, layer);
        buf_put_fmt(&f, "\t%" PRIu64, ino);
        kv_put(b, "took", buf_cstr(&f));
}

bool applied_took(const struct applied *a, const char *layer, uint64_t ino)
{
        char path[32];
        snprintf(path, sizeof path, "/%" PRIu64, ino);
        return find(a, layer, path) != NULL;
}

struct apply_origins **applied_origins(const struct applied *a)
{
        return a ? a->origins : NULL;
}

void applied_put_host(struct buf *b, const char *layer, const char *path,
                      const struct undo_state *s)
{
        put_line(b, "host", layer, path, NULL, s);
}

int applied_append(int box_dir_fd, const struct buf *b, struct err *err)
{
        if (b->len == 0)
                return 0;
        _cleanup_close_ int fd = openat(box_dir_fd, "applied",
                                        O_RDWR | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        struct stat st;
        char last = '\n';
        if (fd < 0 || fstat(fd, &st) < 0)
                return err_sys(err, "write down what is applied of the box");
        if (st.st_size > 0 && pread(fd, &last, 1, st.st_size - 1) == 1 && last != '\n' &&
            fdio_write_all(fd, "\n", 1) < 0)
                return err_sys(err, "write down what is applied of the box");
        if (b->is_broken)
                return err_set(err, E_INPUT, "too much is applied at once; name fewer paths");
        if (fdio_write_all(fd, b->data, b->len) < 0)
                return err_sys(err, "write down what is applied of the box");
        return 0;
}
