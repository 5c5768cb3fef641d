/* git_blob.c - see git_blob.h: the index, and objects that lie alone. Packs are git_pack.c. */
#include "workspace/git_blob.h"

#define OPENSSL_SUPPRESS_DEPRECATED
#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/fdio.h"
#include "base/str.h"
#include "workspace/git_index.h"
#include "workspace/git_pack.h"

#include <fcntl.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <zlib.h>

enum { INDEX_MAX = 256 << 20, LOOSE_HEAD = 64 };

static void hex_of(const uint8_t *sha, char hex[41])
{
        for (size_t i = 0; i < 20; i++)
                snprintf(hex + 2 * i, 3, "%02x", sha[i]);
}

/* is_named(hex, head, body): does this content have that name? */
static bool is_named(const char *hex, const char *head, size_t head_len, const struct buf *body)
{
        uint8_t sum[SHA_DIGEST_LENGTH];
        char found[41];
        SHA_CTX c;
        SHA1_Init(&c);
        SHA1_Update(&c, head, head_len);
        SHA1_Update(&c, body->data, body->len);
        SHA1_Final(sum, &c);
        hex_of(sum, found);
        return strcmp(found, hex) == 0;
}

/* The fields of an entry that matter here. */
struct entry {
        uint32_t ctime_s, ctime_ns, mtime_s, mtime_ns;
        const uint8_t *sha;
        uint16_t flags;
};

static int read_fixed(struct cur *c, struct entry *e)
{
        uint32_t skipped;
        if (cur_u32(c, &e->ctime_s) < 0 || cur_u32(c, &e->ctime_ns) < 0 ||
            cur_u32(c, &e->mtime_s) < 0 || cur_u32(c, &e->mtime_ns) < 0)
                return -1;
        for (int i = 0; i < 6; i++)
                if (cur_u32(c, &skipped) < 0)
                        return -1;
        uint8_t hi, lo;
        if (cur_bytes(c, 20, &e->sha) < 0 || cur_u8(c, &hi) < 0 || cur_u8(c, &lo) < 0)
                return -1;
        e->flags = (uint16_t)(hi << 8 | lo);
        const uint8_t *more;
        return e->flags & 0x4000 ? cur_bytes(c, 2, &more) : 0;
}

/* read_path(c, version, start, last): the path of an entry into ${last}. */
static int read_path(struct cur *c, uint32_t version, size_t start_left, struct buf *last)
{
        if (version == 4) {
                uint64_t drop;
                if (git_index_varint(c, &drop) < 0 || drop > last->len)
                        return -1;
                last->len -= (size_t)drop;
        } else {
                last->len = 0;
        }
        uint8_t ch;
        do {
                if (cur_u8(c, &ch) < 0)
                        return -1;
                buf_put_u8(last, ch);
        } while (ch);
        last->len--;
        if (version == 4)
                return last->is_broken ? -1 : 0;
        /* padded with NULs to a multiple of eight */
        while ((start_left - c->left) % 8)
                if (cur_u8(c, &ch) < 0 || ch)
                        return -1;
        return last->is_broken ? -1 : 0;
}

static int64_t ns_of(uint32_t s, uint32_t ns)
{
        return (int64_t)s * 1000000000 + (ns < 1000000000 ? ns : 999999999);
}

bool git_blob_entry(const void *index, size_t len, const char *path, char hex[41],
                    int64_t *changed_ns)
{
        struct cur c = cur_of(index, len);
        uint32_t version, n;
        const uint8_t *magic;
        if (cur_bytes(&c, 4, &magic) < 0 || memcmp(magic, "DIRC", 4) != 0 ||
            cur_u32(&c, &version) < 0 || cur_u32(&c, &n) < 0 || version < 2 || version > 4)
                return false;
        _cleanup_buf_ struct buf last = {.max = 1 << 16};
        size_t path_len = strlen(path);
        for (uint32_t i = 0; i < n; i++) {
                struct entry e;
                size_t start = c.left;
                if (read_fixed(&c, &e) < 0 || read_path(&c, version, start, &last) < 0)
                        return false;
                if (last.len != path_len || memcmp(last.data, path, path_len) != 0)
                        continue;
                /* in the middle of a merge, or never looked at: it says nothing about the file */
                if ((e.flags & 0x3000) || e.ctime_s == 0 || e.mtime_s == 0)
                        return false;
                int64_t changed = ns_of(e.ctime_s, e.ctime_ns), m = ns_of(e.mtime_s, e.mtime_ns);
                *changed_ns = m > changed ? m : changed;
                hex_of(e.sha, hex);
                return true;
        }
        return false;
}

/* inflate_all(in, out): a whole zlib stream, at most out->max bytes. */
static bool inflate_all(const struct buf *in, struct buf *out)
{
        z_stream z = {.next_in = in->data, .avail_in = (uInt)in->len};
        if (in->len > INDEX_MAX || inflateInit(&z) != Z_OK)
                return false;
        int r = Z_OK;
        while (r == Z_OK) {
                uint8_t *to = buf_room(out, 65536);
                if (!to)
                        break;
                z.next_out = to;
                z.avail_out = 65536;
                r = inflate(&z, Z_NO_FLUSH);
                out->len -= z.avail_out;
        }
        inflateEnd(&z);
        return r == Z_STREAM_END && !out->is_broken;
}

static bool read_loose(int git_fd, const char *hex, struct buf *out)
{
        char path[64];
        snprintf(path, sizeof path, "objects/%.2s/%s", hex, hex + 2);
        _cleanup_close_ int fd =
                beneath_open_nosym(git_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NULL);
        _cleanup_buf_ struct buf packed = {.max = out->max + 4096};
        _cleanup_buf_ struct buf whole = {.max = out->max + LOOSE_HEAD + 65536};
        if (fd < 0 || fdio_read_all(fd, &packed, out->max) < 0 || !inflate_all(&packed, &whole))
                return false;
        const uint8_t *end = memchr(whole.data, 0, whole.len < LOOSE_HEAD ? whole.len : LOOSE_HEAD);
        if (!end || whole.len < 5 || memcmp(whole.data, "blob ", 5) != 0)
                return false;
        size_t head = (size_t)(end - whole.data) + 1;
        if (whole.len - head >= out->max)
                return false;
        buf_put(out, whole.data + head, whole.len - head);
        return is_named(hex, (const char *)whole.data, head, out);
}

static bool read_packed(int git_fd, const char *hex, struct buf *out)
{
        char head[LOOSE_HEAD];
        if (!git_pack_blob(git_fd, hex, out))
                return false;
        int n = snprintf(head, sizeof head, "blob %zu", out->len) + 1;
        return is_named(hex, head, (size_t)n, out);
}

/* repository_of(root_fd, path, below): the nearest .git directory above; ${below} is the path from
 * there. */
static int repository_of(int root_fd, const char *path, const char **below)
{
        _cleanup_free_ char *dir = str_dup(path);
        for (;;) {
                char *slash = strrchr(dir, '/');
                *(slash ? slash : dir) = 0;
                _cleanup_free_ char *git = str_fmt("%s%s.git", dir, *dir ? "/" : "");
                int fd = beneath_open_nosym(root_fd, git, O_RDONLY | O_DIRECTORY, 0, NULL);
                *below = path + strlen(dir) + (*dir != 0);
                if (fd >= 0 || !*dir)
                        return fd;
        }
}

bool git_blob_before(int root_fd, const char *path, int64_t before_ns, struct buf *out)
{
        const char *below;
        char hex[41];
        int64_t changed_ns;
        struct stat st;
        _cleanup_close_ int git_fd = repository_of(root_fd, path, &below);
        if (git_fd < 0 || fstatat(git_fd, "objects/info/alternates", &st, AT_SYMLINK_NOFOLLOW) == 0)
                return false;
        _cleanup_close_ int fd =
                beneath_open_nosym(git_fd, "index", O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NULL);
        _cleanup_buf_ struct buf index = {.max = INDEX_MAX + 1};
        if (fd < 0 || fdio_read_all(fd, &index, INDEX_MAX) < 0 ||
            !git_blob_entry(index.data, index.len, below, hex, &changed_ns) ||
            changed_ns >= before_ns)
                return false;
        if (read_loose(git_fd, hex, out))
                return true;
        out->len = 0;
        return read_packed(git_fd, hex, out);
}
