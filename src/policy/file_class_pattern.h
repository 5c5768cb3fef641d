/* file_class_pattern.h - the patterns of file_class_table.h and of a user's rows. */
#ifndef POLICY_FILE_CLASS_PATTERN_H
#define POLICY_FILE_CLASS_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

enum { PATTERN_PARTS_MAX = 16, PATTERN_STARS_MAX = 2 };

/* A pattern cut into its parts, which point into its text. */
struct file_pattern {
        const char *part[PATTERN_PARTS_MAX];
        unsigned char len[PATTERN_PARTS_MAX], is_stars[PATTERN_PARTS_MAX];
        unsigned char n, stars_n, stars_at; /* ${stars_at}: where the last ** is */
        bool is_anchored, is_dir, is_cased;
};

/* file_pattern_cut(text, p): false when it is none; see file_pattern_wrong. */
bool file_pattern_cut(const char *text, struct file_pattern *);

/* file_pattern_ends(p, raw, folded, n, is_odd): does it hold for a path of these ${n} components, and
 * end with the last of them? What holds for a directory (is_dir) holds for all below: who goes down a
 * tree asks once for each component. ${is_odd}: only the folded names are right. Work is bounded by
 * the pattern, but for one with two ** or with ** in the middle of a pattern for any depth. */
bool file_pattern_ends(const struct file_pattern *, char *const *raw, char *const *folded, size_t n,
                       bool *is_odd);

/* file_pattern_wrong(pattern): why it cannot be one, as words that follow "line 3", or NULL. */
const char *file_pattern_wrong(const char *pattern);

#endif
