/* git_index.c - see git_index.h. Called by the walk, for repositories of the host. The file is read
 * through a bounded cursor; what does not fit to the byte is refused as a whole. */
#include "workspace/git_index.h"

#include "base/buf.h"
#include "base/cur.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t seed = 0xcbf29ce484222325u;

/* FNV-1a, which can be carried on from a directory to what is in it. */
static uint64_t hash_on(uint64_t h, const char *s, size_t n)
{
        for (size_t i = 0; i < n; i++)
                h = (h ^ (uint8_t)s[i]) * 0x100000001b3u;
        return h;
}

static void put_hash(struct buf *b, uint64_t h)
{
        buf_put(b, &h, sizeof h);
}

/* put_path(b, path, len, last): the path and every directory above it that the path before did not
 * have: entries are sorted, so that is nearly each directory once. */
static void put_path(struct buf *b, const char *path, size_t len, const struct buf *last)
{
        uint64_t h = seed;
        bool is_same = true;
        size_t from = 0;
        for (size_t i = 0; i < len; i++) {
                is_same = is_same && i < last->len && last->data[i] == (uint8_t)path[i];
                if (path[i] != '/')
                        continue;
                h = hash_on(h, path + from, i - from);
                from = i;
                if (!is_same)
                        put_hash(b, h);
        }
        put_hash(b, hash_on(h, path + from, len - from));
}

int git_index_varint(struct cur *c, uint64_t *n)
{
        uint8_t b;
        if (cur_u8(c, &b) < 0)
                return -1;
        *n = b & 127;
        while (b & 128) {
                if (*n >= (uint64_t)1 << 32 || cur_u8(c, &b) < 0)
                        return -1;
                *n = ((*n + 1) << 7) + (b & 127);
        }
        return 0;
}

/* entry(c, version, id_len, name): one entry; ${name} holds the last path and becomes this one. */
static int entry(struct cur *c, uint32_t version, size_t id_len, struct buf *name)
{
        size_t before = c->left;
        const uint8_t *p, *end;
        uint64_t drop = name->len;
        if (cur_bytes(c, 40 + id_len, &p) < 0 || cur_bytes(c, 2, &p) < 0)
                return -1;
        bool is_extended = p[0] & 0x40;
        if (is_extended && (version < 3 || cur_bytes(c, 2, &p) < 0))
                return -1;
        if (version == 4 && (git_index_varint(c, &drop) < 0 || drop > name->len))
                return -1;
        end = memchr(c->p, 0, c->left);
        if (!end)
                return -1;
        name->len -= (size_t)drop;
        buf_put(name, c->p, (size_t)(end - c->p));
        size_t n = (size_t)(end - c->p) + 1;
        if (version < 4) { /* padded with NULs to a multiple of eight */
                size_t used = before - c->left + n - 1;
                n += 7 - used % 8;
        }
        return name->is_broken || name->len == 0 ? -1 : cur_bytes(c, n, &p);
}

/* extensions(c, id_len): nothing but extensions that can be left out, and the checksum. */
static int extensions(struct cur *c, size_t id_len)
{
        while (c->left > id_len) {
                const uint8_t *sig, *body;
                uint32_t size;
                if (cur_bytes(c, 4, &sig) < 0 || cur_u32(c, &size) < 0 ||
                    cur_bytes(c, size, &body) < 0)
                        return -1;
                if (sig[0] < 'A' || sig[0] > 'Z') /* must be understood: link, sdir */
                        return -1;
        }
        return c->left == id_len ? 0 : -1;
}

/* parse(data, len, id_len, hashes): of every path and directory. */
static int parse(const void *data, size_t len, size_t id_len, struct buf *hashes)
{
        struct cur c = cur_of(data, len);
        const uint8_t *sig;
        uint32_t version, n;
        _cleanup_buf_ struct buf name = {0}, last = {0};
        if (cur_bytes(&c, 4, &sig) < 0 || memcmp(sig, "DIRC", 4) != 0 ||
            cur_u32(&c, &version) < 0 || version < 2 || version > 4 || cur_u32(&c, &n) < 0)
                return -1;
        for (uint32_t i = 0; i < n; i++) {
                last.len = 0;
                buf_put(&last, name.data, name.len);
                name.len = version < 4 ? 0 : name.len;
                if (entry(&c, version, id_len, &name) < 0)
                        return -1;
                put_path(hashes, (const char *)name.data, name.len, &last);
        }
        return last.is_broken ? -1 : extensions(&c, id_len);
}

static int by_value(const void *a, const void *b)
{
        uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
        return x < y ? -1 : x > y;
}

int git_index_parse(struct git_index *x, const void *data, size_t len)
{
        *x = (struct git_index){0};
        _cleanup_buf_ struct buf hashes = {.max = (size_t)1 << 30};
        /* The file does not say which hash it uses; only one of them fits to the end. */
        if (parse(data, len, 20, &hashes) < 0) {
                hashes.len = 0;
                if (parse(data, len, 32, &hashes) < 0)
                        return -1;
        }
        if (hashes.is_broken)
                return -1;
        x->n = hashes.len / sizeof x->hashes[0];
        x->hashes = (uint64_t *)(void *)hashes.data;
        hashes.data = NULL;
        if (x->n)
                qsort(x->hashes, x->n, sizeof x->hashes[0], by_value);
        return 0;
}

void git_index_free(struct git_index *x)
{
        free(x->hashes);
        *x = (struct git_index){0};
}

bool git_index_has(const struct git_index *x, const char *path)
{
        uint64_t h = hash_on(seed, path, strlen(path));
        return x->n && bsearch(&h, x->hashes, x->n, sizeof h, by_value);
}
