/* scan.h - finding many texts, in every writing, in a stream that comes in pieces.
 *
 * Two uses: placeholders in what leaves the box (the tripwire), and real values in what comes back
 * (the scrubber, which writes the placeholder in their place, of the same length). Values are known
 * by their fingers only (wire/door.h), so egress does not hold them. Texts of any length from 8
 * bytes, split anywhere. Besides the writings of policy/secret_forms.h, the text itself is found
 * when any of its letters are escaped: %XX, \uXXXX, \xXX, &#N;, &#xN;, also twice over.
 *
 * The end of a stream is held back as far as it consists of letters that a text can have, whatever
 * they are, so that nobody learns from it how a text begins: an event that ends in a line end passes
 * at once. Pure but for memory; no I/O. */
#ifndef EGRESS_SCAN_H
#define EGRESS_SCAN_H

#include "policy/secret_forms.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct buf;
struct door_finger;
struct scan_set;

struct scan_set *scan_set_new(const uint8_t key[16]);
void scan_set_free(struct scan_set *);
/* scan_set_text(set, tag, text, n): all writings of a text that we have. */
void scan_set_text(struct scan_set *, uint32_t tag, const char *text, size_t n);
/* scan_set_finger(set, tag, finger, stand_in, n): one writing of a text that we do not have; when
 * it is found, the same writing of ${stand_in} takes its place. */
void scan_set_finger(struct scan_set *, uint32_t tag, const struct door_finger *,
                     const char *stand_in, size_t n);
/* scan_set_local(set, tag, finger, stand_in, n): the same for a text that may stand by chance, or
 * by somebody's will, where it means something else: it is found through a lens only, where ${may}
 * says yes to its tag. */
void scan_set_local(struct scan_set *, uint32_t tag, const struct door_finger *,
                    const char *stand_in, size_t n);
/* scan_set_lens(set, may, ctx): the same set, all that comes into it later too, as it is seen from
 * one place. ${set} and ${ctx} must live longer; scan_set_free when it is no more needed. */
typedef bool scan_may(const void *ctx, uint32_t tag);
struct scan_set *scan_set_lens(const struct scan_set *, scan_may *, const void *ctx);
bool scan_set_is_empty(const struct scan_set *);

enum { SCAN_OTHERS = 15 };
struct scan_hit {
        uint32_t tag;
        enum secret_coding coding;
        uint64_t at; /* offset in the stream */
        uint32_t len;
        uint32_t others_n;
        uint32_t others[SCAN_OTHERS]; /* tags of what else was found with it */
};

/* One stream. Zeroed is ready. A set that grows in the middle counts from then on. */
struct scan {
        struct scan_state *state;
        uint64_t at;
};
void scan_free(struct scan *);
size_t scan_held(const struct scan *); /* bytes of memory */

/* scan_feed(s, set, p, n, is_end, out, hit): more of the stream. Appends to ${out} what may pass,
 * with replacements made (texts without a stand-in stay as they are). Returns how many were found
 * (the ends of a long text are found beside it), the first of them in ${hit} (may be NULL), which has the tags of
 * all. ${is_end}: nothing follows, so nothing is held back.
 */
size_t scan_feed(struct scan *, const struct scan_set *, const void *, size_t, bool is_end,
                 struct buf *out, struct scan_hit *hit);

/* scan_release(s, set, is_all, out): nothing has come for a moment, and the other end may be waiting for
 * the last letters: let them go. Should it be a text after all, the rest of it is still found.
 * ${is_all}: also when there are four or more; not where somebody can make an origin that knows a
 * text stop in the middle of it. */
void scan_release(struct scan *, const struct scan_set *, bool is_all, struct buf *out);
/* scan_may_release(s, is_all): would it let anything go? */
bool scan_may_release(const struct scan *, bool is_all);

/* scan_look(set, p, n, hit): is any of the texts in these bytes? */
bool scan_look(const struct scan_set *, const void *, size_t, struct scan_hit *hit);

/* scan_is_clean(set, p, n): a quick look that allocates nothing: certainly none of them. */
bool scan_is_clean(const struct scan_set *, const void *, size_t);

#endif
