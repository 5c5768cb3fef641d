/* git_pack.c - see git_pack.h. A pack is mapped and read through offsets that are checked each
 * time; a file that is cut while it is mapped belongs to the user, who would end this command with
 * it and nothing else. */
#include "workspace/git_pack.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <zlib.h>

enum { DEPTH_MAX = 64, PACKS_MAX = 512, OBJ_BLOB = 3, OBJ_OFS = 6, OBJ_REF = 7 };

struct map {
        const uint8_t *p;
        size_t len;
};

struct pack {
        struct map idx, pack;
        size_t max; /* bytes of an object */
};

static bool map_file(int dir_fd, const char *name, struct map *m)
{
        struct stat st;
        _cleanup_close_ int fd =
                openat(dir_fd, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size <= 0)
                return false;
        void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        if (p == MAP_FAILED)
                return false;
        *m = (struct map){p, (size_t)st.st_size};
        return true;
}

static void unmap(struct map *m)
{
        if (m->p)
                munmap((void *)(uintptr_t)m->p, m->len);
        *m = (struct map){0};
}

static uint32_t u32(const uint8_t *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

/* find(k, sha, offset): where in the pack. */
static bool find(const struct pack *k, const uint8_t sha[20], uint64_t *offset)
{
        const uint8_t *p = k->idx.p;
        if (k->idx.len < 8 + 1024 || memcmp(p, "\377tOc\0\0\0\2", 8) != 0)
                return false;
        uint64_t n = u32(p + 8 + 255 * 4);
        uint64_t names = 8 + 1024, offsets = names + n * 24, large = offsets + n * 4;
        if (large > k->idx.len)
                return false;
        uint64_t lo = sha[0] ? u32(p + 8 + (sha[0] - 1) * 4) : 0, hi = u32(p + 8 + sha[0] * 4);
        if (hi > n || lo > hi)
                return false;
        while (lo < hi) {
                uint64_t mid = lo + (hi - lo) / 2;
                int c = memcmp(sha, p + names + mid * 20, 20);
                if (c == 0) {
                        uint64_t at = u32(p + offsets + mid * 4);
                        if (at & 0x80000000u) {
                                uint64_t where = large + (at & 0x7fffffffu) * 8;
                                if (where + 8 > k->idx.len)
                                        return false;
                                at = (uint64_t)u32(p + where) << 32 | u32(p + where + 4);
                        }
                        *offset = at;
                        return true;
                }
                if (c < 0)
                        hi = mid;
                else
                        lo = mid + 1;
        }
        return false;
}

/* unpack(k, at, size, out): exactly ${size} bytes of a zlib stream. */
static bool unpack(const struct pack *k, uint64_t at, uint64_t size, struct buf *out)
{
        if (size >= k->max || at >= k->pack.len)
                return false;
        out->max = k->max + 16;
        uint8_t *to = buf_room(out, (size_t)size + 1);
        size_t left = k->pack.len - (size_t)at;
        z_stream z = {.next_in = (Bytef *)(uintptr_t)(k->pack.p + at),
                      .avail_in = left > UINT32_MAX ? UINT32_MAX : (uInt)left,
                      .next_out = to,
                      .avail_out = (uInt)size + 1};
        if (!to || inflateInit(&z) != Z_OK)
                return false;
        int r = inflate(&z, Z_FINISH);
        uint64_t got = z.total_out;
        inflateEnd(&z);
        if (r != Z_STREAM_END || got != size)
                return false;
        out->len = (size_t)size;
        return true;
}

/* number(d, n, at, value): a size of a delta, seven bits at a time. */
static bool number(const uint8_t *d, size_t n, size_t *at, uint64_t *value)
{
        *value = 0;
        for (unsigned shift = 0; *at < n && shift < 56; shift += 7) {
                uint8_t b = d[(*at)++];
                *value |= (uint64_t)(b & 127) << shift;
                if (!(b & 128))
                        return true;
        }
        return false;
}

/* patch(base, delta, out): apply a delta; every copy and insert is checked. */
static bool patch(const struct buf *base, const struct buf *delta, size_t max, struct buf *out)
{
        const uint8_t *d = delta->data;
        size_t n = delta->len, at = 0;
        uint64_t from, to;
        if (!number(d, n, &at, &from) || !number(d, n, &at, &to) || from != base->len || to >= max)
                return false;
        out->max = max + 16;
        while (at < n) {
                uint8_t op = d[at++];
                if (op & 128) {
                        uint64_t off = 0, len = 0;
                        for (unsigned i = 0; i < 7; i++) {
                                if (!(op & 1u << i))
                                        continue;
                                if (at >= n)
                                        return false;
                                if (i < 4)
                                        off |= (uint64_t)d[at++] << (8 * i);
                                else
                                        len |= (uint64_t)d[at++] << (8 * (i - 4));
                        }
                        len = len ? len : 0x10000;
                        if (off > base->len || len > base->len - off || out->len + len > to)
                                return false;
                        buf_put(out, base->data + off, (size_t)len);
                } else if (op) {
                        if (op > n - at || out->len + op > to)
                                return false;
                        buf_put(out, d + at, op);
                        at += op;
                } else {
                        return false;
                }
        }
        return out->len == to && !out->is_broken;
}

/* object(k, at, depth, out): an object of the pack; true for a blob, or what a blob is a delta of.
 */
static bool object(const struct pack *k, uint64_t at, unsigned depth, struct buf *out)
{
        const uint8_t *p = k->pack.p;
        uint64_t start = at, len = k->pack.len, base_at = 0;
        if (depth > DEPTH_MAX || at >= len)
                return false;
        unsigned type = (p[at] >> 4) & 7, shift = 4;
        uint64_t size = p[at] & 15;
        while (p[at++] & 128) {
                if (at >= len || shift > 50)
                        return false;
                size |= (uint64_t)(p[at] & 127) << shift;
                shift += 7;
        }
        if (type == OBJ_BLOB)
                return unpack(k, at, size, out);
        if (type == OBJ_OFS) {
                uint64_t back = 0;
                for (bool is_first = true, more = true; more; is_first = false) {
                        if (at >= len || back > start)
                                return false;
                        more = p[at] & 128;
                        back = ((is_first ? 0 : back + 1) << 7) | (p[at++] & 127);
                }
                if (back == 0 || back > start)
                        return false;
                base_at = start - back;
        } else if (type == OBJ_REF) {
                if (len - at < 20 || !find(k, p + at, &base_at))
                        return false;
                at += 20;
        } else {
                return false;
        }
        _cleanup_buf_ struct buf base = {0}, delta = {0};
        return object(k, base_at, depth + 1, &base) && unpack(k, at, size, &delta) &&
               patch(&base, &delta, k->max, out);
}

static bool from_pack(int dir_fd, const char *idx, const uint8_t sha[20], struct buf *out)
{
        struct pack k = {.max = out->max};
        uint64_t at;
        _cleanup_free_ char *name = str_fmt("%.*s.pack", (int)strlen(idx) - 4, idx);
        _cleanup_buf_ struct buf got = {0};
        bool is_found = map_file(dir_fd, idx, &k.idx) && find(&k, sha, &at) &&
                        map_file(dir_fd, name, &k.pack) && object(&k, at, 0, &got);
        if (is_found)
                buf_put(out, got.data, got.len);
        unmap(&k.idx);
        unmap(&k.pack);
        return is_found && !out->is_broken;
}

bool git_pack_blob(int git_fd, const char *hex, struct buf *out)
{
        uint8_t sha[20];
        for (size_t i = 0; i < 20; i++) {
                unsigned byte;
                if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
                        return false;
                sha[i] = (uint8_t)byte;
        }
        int fd = beneath_open_nosym(git_fd, "objects/pack", O_RDONLY | O_DIRECTORY, 0, NULL);
        _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d) {
                close_fd(&fd);
                return false;
        }
        struct dirent *e;
        for (int n = 0; n < PACKS_MAX && (e = readdir(d)); n++)
                if (str_ends(e->d_name, ".idx") && from_pack(fd, e->d_name, sha, out))
                        return true;
        return false;
}
