/* pack.c - see pack.h. Called by scrub.c for answers and by custody_body.c for requests, with the
 * bytes of a body as its reader sees them, its content coding undone.
 *
 * A level is a stream of bytes in which magic is looked for: level 0 is the body, level 1 what is
 * unpacked from it. Each member that is unpacked is a stream of its own, which begins and ends. */
#include "egress/pack.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/account.h"
#include "egress/undo.h"
#include "egress/work.h"

#include <stdlib.h>
#include <string.h>

enum {
        STEP = WORK_PIECE,
        MAGIC = 4,     /* the longest, all others are shorter */
        ZIP_HEAD = 30, /* of a member, without its name and extra fields */
        ZIP_STORED = 0,
        ZIP_DEFLATE = 8,
        ZIP_ZSTD = 93,
        ZIP_ENCRYPTED = 1,
        ZIP_LATE = 8,     /* its sizes stand behind it */
        FIRST = 64,       /* bytes that a decoder is given before it has shown that it reads on */
        SPARE = 64 << 10, /* a decoder that was given no more waits for the next member */
        KINDS = UNDO_ZSTD + 1,
};

/* What begins a member, wherever it stands. A stream of zlib has too little of its own to be looked
 * for anywhere but at a beginning. */
static const struct pack_magic {
        const char *bytes;
        size_t n;
        bool is_zip;
        enum undo_kind kind;
} pack_magics[] = {
        {"\x1f\x8b\x08", 3, false, UNDO_GZIP},
        {"\x28\xb5\x2f\xfd", 4, false, UNDO_ZSTD},
        {"PK\x03\x04", 4, true, UNDO_DEFLATE},
};
enum { MAGICS = sizeof pack_magics / sizeof *pack_magics };

/* Where the search for one magic stands: none begins before ${at}, and at ${at} one does or not. */
struct pack_next {
        uint64_t at; /* of the stream */
        bool is_here;
};

struct level {
        struct buf in;
        size_t at;     /* of ${in}: looked at */
        uint64_t base; /* of the stream: where ${in} begins */
        uint64_t past; /* of the stream: no member begins before, whatever became of the last one */
        struct pack_next next[MAGICS];
        bool is_begun; /* bytes of this stream were looked at */
        bool is_ended; /* nothing follows */
        struct undo *undo;
        enum undo_kind kind; /* of it */
        bool is_stored;      /* a member that is not compressed */
        uint64_t left;       /* of the member, where its length is known */
        uint64_t given;      /* to its decoder */
        struct scan scan;    /* of the member, unpacked */
        uint64_t fed;        /* to it */
        size_t charged;
};

struct pack {
        struct work_budget *work;
        struct account *account;
        struct level levels[PACK_DEPTH];
        uint64_t members[PACK_DEPTH]; /* that were closed, at each level */
        /* A body of nothing but magic begins a member every few bytes, and a decoder costs more
         * than what it is given: it is made once. */
        struct undo *spares[PACK_DEPTH][KINDS];
        uint64_t put,
                made[PACK_DEPTH]; /* bytes of the body; what was unpacked of it, all members */
        bool is_used;             /* a member came to its end */
        bool is_short;            /* the account had no room for what was put */
        size_t charged;           /* for itself */
};

struct pack *pack_new(struct work_budget *work, struct account *account)
{
        struct pack *pk = calloc(1, sizeof *pk);
        if (!pk)
                str_no_memory();
        pk->work = work;
        pk->account = account;
        account_set(account, &pk->charged, sizeof *pk);
        return pk;
}

static void pack_wipe(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_free(b);
}

void pack_free(struct pack *pk)
{
        if (!pk)
                return;
        for (size_t i = 0; i < PACK_DEPTH; i++) {
                struct level *l = &pk->levels[i];
                pack_wipe(&l->in);
                undo_free(l->undo);
                scan_free(&l->scan);
                account_set(pk->account, &l->charged, 0);
                for (size_t k = 0; k < KINDS; k++)
                        undo_free(pk->spares[i][k]);
        }
        account_set(pk->account, &pk->charged, 0);
        free(pk);
}

/* pack_kept(l): of ${in}: what stands before is not needed again. A member may turn out to be none
 * within its first bytes: then all behind its magic is looked at anew, wherever it was cut. */
static size_t pack_kept(const struct level *l)
{
        bool is_young = l->undo && l->given <= FIRST;
        bool is_behind = l->past >= l->base && l->past - l->base < l->at;
        return is_young && is_behind ? (size_t)(l->past - l->base) : l->at;
}

/* pack_forget(l): what is not needed again. */
static void pack_forget(struct level *l)
{
        size_t kept = pack_kept(l);
        buf_drop(&l->in, kept);
        l->base += kept;
        l->at -= kept;
}

static void pack_add(struct pack *pk, struct level *l, const void *p, size_t n)
{
        pack_forget(l);
        if (!account_put(pk->account, &l->charged, &l->in, p, n))
                pk->is_short = true;
}

/* pack_fit(pk, l): all but a little was looked at: nothing larger is kept until more comes. */
static void pack_fit(struct pack *pk, struct level *l)
{
        enum { LITTLE = 64, LARGE = 1 << 10 };
        if (l->in.cap <= LARGE || l->in.len - pack_kept(l) > LITTLE)
                return;
        struct buf fit = {0};
        pack_forget(l);
        buf_put(&fit, l->in.data, l->in.len);
        pack_wipe(&l->in);
        l->in = fit;
        account_set(pk->account, &l->charged, l->in.cap);
}

void pack_put(struct pack *pk, const void *p, size_t n)
{
        pk->put += n;
        pack_add(pk, &pk->levels[0], p, n);
}

static bool pack_is_member(const struct level *l)
{
        return l->undo || l->is_stored;
}

bool pack_is_open(const struct pack *pk)
{
        return pk->is_used || pack_is_member(&pk->levels[0]);
}

struct pack_mark pack_mark(const struct pack *pk)
{
        struct pack_mark m;
        for (size_t i = 0; i < PACK_DEPTH; i++) {
                m.member[i] = pk->members[i];
                m.fed[i] = pk->levels[i].fed;
        }
        return m;
}

bool pack_is_past(const struct pack *pk, const struct pack_mark *m)
{
        for (size_t i = 0; i < PACK_DEPTH; i++)
                if (pk->members[i] == m->member[i] && pk->levels[i].scan.at < m->fed[i])
                        return false;
        return true;
}

size_t pack_lag_free(struct pack_lag *lag, const struct pack *pk, size_t len, size_t most)
{
        size_t n = 0;
        if (lag->is_marked && pack_is_past(pk, &lag->mark)) {
                n = len > most ? len - most : 0;
                n = n < lag->marked ? n : lag->marked;
                lag->marked -= n;
                lag->is_marked = lag->marked > 0;
        }
        if (!lag->is_marked && len > n) {
                lag->is_marked = true;
                lag->mark = pack_mark(pk);
                lag->marked = len - n;
        }
        return n;
}

/* --- magic ----------------------------------------------------------------------------------- */

static size_t pack_u16(const uint8_t *p)
{
        return (size_t)p[0] | (size_t)p[1] << 8;
}

static uint64_t pack_u32(const uint8_t *p)
{
        return pack_u16(p) | (uint64_t)pack_u16(p + 2) << 16;
}

/* pack_open(pk, l, kind, skip): the next member begins ${skip} bytes from here. */
static void pack_open(struct pack *pk, struct level *l, enum undo_kind kind, size_t skip)
{
        struct undo **spare = &pk->spares[l - pk->levels][kind];
        l->undo = *spare ? *spare : undo_one(kind, pk->work, pk->account);
        *spare = NULL;
        l->kind = kind;
        l->left = UINT64_MAX;
        l->given = 0;
        l->at += skip;
}

/* pack_put_off(pk, l): its member is over. What has read much may have a large window, and goes. */
static void pack_put_off(struct pack *pk, struct level *l)
{
        struct undo **spare = &pk->spares[l - pk->levels][l->kind];
        if (!l->undo)
                return;
        if (l->given <= SPARE && !*spare) {
                undo_again(l->undo);
                *spare = l->undo;
        } else {
                undo_free(l->undo);
        }
        l->undo = NULL;
}

/* pack_no_zip(l): here is none that is read; the next member is found by its magic. */
static bool pack_no_zip(struct level *l)
{
        l->at += MAGIC;
        return true;
}

/* pack_open_zip(pk, l): a member of a zip. False: its head is not whole yet. */
static bool pack_open_zip(struct pack *pk, struct level *l)
{
        const uint8_t *p = l->in.data + l->at;
        size_t have = l->in.len - l->at;
        if (have < ZIP_HEAD)
                return l->is_ended && pack_no_zip(l);
        size_t flags = pack_u16(p + 6), method = pack_u16(p + 8);
        uint64_t size = pack_u32(p + 18);
        size_t skip = ZIP_HEAD + pack_u16(p + 26) + pack_u16(p + 28);
        bool is_known = !(flags & ZIP_LATE) && size != UINT32_MAX;
        bool is_read = !(flags & ZIP_ENCRYPTED) && (method == ZIP_DEFLATE || method == ZIP_ZSTD ||
                                                    (method == ZIP_STORED && is_known && size > 0));
        if (!is_read)
                return pack_no_zip(l);
        if (have < skip)
                return l->is_ended && pack_no_zip(l);
        if (method == ZIP_STORED) {
                l->is_stored = true;
                l->at += skip;
        } else {
                pack_open(pk, l, method == ZIP_ZSTD ? UNDO_ZSTD : UNDO_DEFLATE, skip);
        }
        l->left = is_known && size > 0 ? size : UINT64_MAX;
        return true;
}

/* pack_is_zlib(p): its two bytes, with any window and level. */
static bool pack_is_zlib(const uint8_t *p)
{
        return (p[0] & 15) == 8 && p[0] >> 4 <= 7 && !(p[1] & 0x20) &&
               ((unsigned)p[0] << 8 | p[1]) % 31 == 0;
}

/* pack_find(l, i): the next magic ${i} from here on. Bytes that were searched once are not searched
 * again: how many were is returned. */
static size_t pack_find(struct level *l, size_t i)
{
        const struct pack_magic *m = &pack_magics[i];
        struct pack_next *next = &l->next[i];
        if (next->at < l->base + l->at)
                *next = (struct pack_next){.at = l->base + l->at};
        size_t from = (size_t)(next->at - l->base), have = l->in.len - from;
        if (next->is_here || have < m->n)
                return 0;
        const uint8_t *p = l->in.data + from, *at = memmem(p, have, m->bytes, m->n);
        size_t used = at ? (size_t)(at - p) : have - (m->n - 1);
        next->at += used;
        next->is_here = at != NULL;
        return used;
}

/* pack_seek(pk, l): to the next member. False: there is none in what has come. Each one begins behind
 * the last, also when that was broken and its decoder took nothing of it. */
static bool pack_seek(struct pack *pk, struct level *l)
{
        if (l->base + l->at < l->past)
                l->at = (size_t)(l->past - l->base);
        const uint8_t *p = l->in.data + l->at;
        size_t have = l->in.len - l->at, searched = 0, found = MAGICS;
        if (!l->is_begun && have < 2 && !l->is_ended)
                return false;
        bool is_zlib = !l->is_begun && have >= 2 && pack_is_zlib(p);
        l->is_begun = true;
        if (is_zlib) {
                l->past = l->base + l->at + 1;
                work_step(pk->work, 0);
                pack_open(pk, l, UNDO_ZLIB, 0);
                return true;
        }
        for (size_t i = 0; i < MAGICS; i++) {
                size_t n = pack_find(l, i);
                searched = n > searched ? n : searched;
                if (l->next[i].is_here && (found == MAGICS || l->next[i].at < l->next[found].at))
                        found = i;
        }
        work_step(pk->work, searched);
        if (found == MAGICS) {
                size_t keep = l->is_ended ? 0 : MAGIC - 1;
                l->at = l->in.len - (have < keep ? have : keep);
                return false;
        }
        l->at = (size_t)(l->next[found].at - l->base);
        if (!pack_magics[found].is_zip)
                pack_open(pk, l, pack_magics[found].kind, 0);
        else if (!pack_open_zip(pk, l))
                return false;
        l->past = l->next[found].at + pack_magics[found].n;
        return true;
}

/* --- members --------------------------------------------------------------------------------- */

/* pack_give(pk, d, p, n, set, hit): bytes of a member of level ${d}, unpacked. True: a text is in
 * them. */
static bool pack_give(struct pack *pk, size_t d, const void *p, size_t n,
                      const struct scan_set *set, struct scan_hit *hit)
{
        _cleanup_buf_ struct buf out = {0};
        work_step(pk->work, n);
        bool is_found = scan_feed(&pk->levels[d].scan, set, p, n, n == 0, &out, hit) > 0;
        pk->levels[d].fed += n;
        pk->made[d] += n;
        if (out.data)
                explicit_bzero(out.data, out.cap);
        if (d + 1 < PACK_DEPTH)
                pack_add(pk, &pk->levels[d + 1], p, n);
        return is_found;
}

/* pack_close(pk, d, rest, set, hit): the member is over, and ${rest} of what it was given is not its
 * own. The level above may have more to do with what it has. */
static bool pack_close(struct pack *pk, size_t d, size_t rest, const struct scan_set *set,
                       struct scan_hit *hit)
{
        struct level *l = &pk->levels[d];
        bool is_found = pack_give(pk, d, NULL, 0, set, hit);
        pack_put_off(pk, l);
        l->is_stored = false;
        l->at -= rest < l->at ? rest : l->at;
        scan_free(&l->scan);
        l->fed = 0;
        pk->members[d]++;
        if (d + 1 < PACK_DEPTH)
                pk->levels[d + 1].is_ended = true;
        return is_found;
}

/* pack_part(l): how much of what has come belongs to the member and goes into its next step. What is
 * broken gives back what it did not read: so little is given at first, and then as much again. */
static size_t pack_part(const struct level *l)
{
        size_t have = l->in.len - l->at, most = STEP;
        if (!l->is_stored && l->given < STEP)
                most = l->given > FIRST ? (size_t)l->given : FIRST;
        have = have < most ? have : most;
        return l->left < have ? (size_t)l->left : have;
}

static enum pack_said pack_stored(struct pack *pk, size_t d, const struct scan_set *set,
                                  struct scan_hit *hit, bool *is_idle)
{
        struct level *l = &pk->levels[d];
        size_t part = pack_part(l);
        bool is_found = part && pack_give(pk, d, l->in.data + l->at, part, set, hit);
        l->at += part;
        l->left -= part;
        pk->is_used = true;
        if (l->left == 0 || (part == 0 && l->is_ended))
                is_found |= pack_close(pk, d, 0, set, hit);
        else
                *is_idle = part == 0;
        return is_found ? PACK_FOUND : PACK_READY;
}

/* pack_is_bomb(pk, d): all members together have a measure, as one has (undo.h): a body may have as
 * many as it likes. */
static bool pack_is_bomb(const struct pack *pk, size_t d)
{
        uint64_t made = pk->made[d];
        return made > UNDO_TOTAL || (made > UNDO_FREE && made / UNDO_RATIO > pk->put);
}

/* pack_coded(...): one step of the member's decoder. */
static enum pack_said pack_coded(struct pack *pk, size_t d, const struct scan_set *set,
                                 struct scan_hit *hit, bool *is_idle)
{
        struct level *l = &pk->levels[d];
        struct err err = {0};
        uint8_t plain[STEP];
        size_t part = pack_part(l), rest = 0;
        ssize_t n = undo_take(l->undo, part == 0 && (l->left == 0 || l->is_ended), plain,
                              sizeof plain, &err);
        if (n == UNDO_LATER)
                return PACK_LATER;
        if (n > 0) {
                bool is_found = pack_give(pk, d, plain, (size_t)n, set, hit);
                explicit_bzero(plain, (size_t)n);
                return is_found ? PACK_FOUND : pack_is_bomb(pk, d) ? PACK_BOMB : PACK_READY;
        }
        if (n < 0 && undo_is_short(l->undo))
                return PACK_SHORT;
        if (n < 0 && undo_is_bomb(l->undo))
                return PACK_BOMB;
        bool is_over = undo_is_over(l->undo, &rest);
        pk->is_used |= is_over;
        if (!is_over && pack_kept(l) < l->at)
                rest = l->at - pack_kept(l);
        if (is_over || n < 0) /* broken: it was none, or nobody reads on */
                return pack_close(pk, d, rest, set, hit) ? PACK_FOUND : PACK_READY;
        if (part == 0) {
                *is_idle = true;
                return PACK_READY;
        }
        undo_put(l->undo, l->in.data + l->at, part);
        l->at += part;
        l->given += part;
        if (l->left != UINT64_MAX)
                l->left -= part;
        return PACK_READY;
}

/* pack_reset(pk, l): the stream of a level is over, and the next one begins. */
static void pack_reset(struct pack *pk, struct level *l)
{
        pack_wipe(&l->in);
        account_set(pk->account, &l->charged, 0);
        pack_put_off(pk, l);
        scan_free(&l->scan);
        pk->members[l - pk->levels]++;
        *l = (struct level){0};
}

static enum pack_said pack_level(struct pack *pk, size_t d, const struct scan_set *set,
                                 struct scan_hit *hit)
{
        struct level *l = &pk->levels[d];
        for (;;) {
                enum pack_said said = PACK_READY;
                bool is_idle = false;
                if (pk->is_short)
                        return PACK_SHORT;
                /* What was unpacked is looked at before more is. */
                if (d + 1 < PACK_DEPTH)
                        said = pack_level(pk, d + 1, set, hit);
                if (said != PACK_READY)
                        return said;
                if (d + 1 < PACK_DEPTH && pk->levels[d + 1].is_ended)
                        pack_reset(pk, &pk->levels[d + 1]);
                bool is_more = l->at < l->in.len;
                if (is_more && work_is_spent(pk->work))
                        return PACK_LATER;
                if (!pack_is_member(l)) {
                        if (!is_more || !pack_seek(pk, l))
                                return PACK_READY;
                        continue;
                }
                said = l->is_stored ? pack_stored(pk, d, set, hit, &is_idle)
                                    : pack_coded(pk, d, set, hit, &is_idle);
                if (said != PACK_READY || is_idle)
                        return said;
        }
}

enum pack_said pack_run(struct pack *pk, const struct scan_set *set, bool is_end,
                        struct scan_hit *hit)
{
        pk->levels[0].is_ended |= is_end;
        enum pack_said said = pack_level(pk, 0, set, hit);
        for (size_t d = 0; d < PACK_DEPTH; d++)
                pack_fit(pk, &pk->levels[d]);
        return said;
}
