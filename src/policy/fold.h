/* fold.h - one text for all spellings that servers take for the same: small letters, compatibility
 * forms (full-width, circled, ligatures) as what they stand for, no accents, no invisible marks.
 *
 * For refusals alone (readings.h): two texts that fold alike may still be two places to one server,
 * so nothing is ever granted by it. Pure. */
#ifndef POLICY_FOLD_H
#define POLICY_FOLD_H

#include <stdbool.h>
#include <stddef.h>

/* One byte of text becomes at most so many. */
enum { FOLD_GROWTH = 6 };

/* fold_text(s, n, out): ${out} has room for FOLD_GROWTH * n bytes and does not overlap ${s}; the
 * length that was written. Bytes that are not UTF-8 and control bytes stay as they are. Folding
 * again changes nothing. */
size_t fold_text(const char *s, size_t n, char *out);

/* fold_is_plain(s, n): folding would change nothing, seen at a glance. */
bool fold_is_plain(const char *s, size_t n);

#endif
