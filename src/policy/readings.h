/* readings.h - every way in which a common server may read a path, a value or the name of a field
 * that came from the box: the one place where doubt about spelling is listed.
 *
 * For refusals and questions alone (match.h): they hold if any reading fits. A grant is held
 * against the text itself and the readings of path_canon.h, never against these. Every reading is
 * folded (fold.h), so it is compared with the folded form of a pattern. Pure. */
#ifndef POLICY_READINGS_H
#define POLICY_READINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
        READINGS_MAX = 512,             /* of one text */
        READINGS_BYTES_MAX = 512 << 10, /* of all readings of a path together */
        READINGS_LONG = 256 << 10,      /* a value beyond ASCII that is not read any more */
};

/* Called with each reading, until it returns false. */
typedef bool readings_visit(void *ctx, const char *text, size_t len);

/* readings_path(plain, len, visit, ctx): ${plain} is a path decoded once, as path_canon has it. The
 * readings differ in: a second decoding, ; parameters, encoded slashes and backslashes, dots and
 * blanks and NTFS streams at the end of a segment, double slashes, a slash at the end, an encoded ?
 * or # that ends it, a host behind two slashes. False when
 * the bounds were met before all were seen: the caller then has to assume the worst. */
bool readings_path(const char *plain, size_t len, readings_visit *, void *ctx);

/* All readings of one path, for many patterns: made when they are first wanted. Zeroed is ready;
 * release it with readings_kept_free. */
struct readings_kept {
        bool is_made, is_whole; /* all were seen within the bounds */
        size_t n;
        uint32_t ends[READINGS_MAX];
        char *texts;
        size_t texts_len, texts_cap;
};
bool readings_path_kept(struct readings_kept *, const char *plain, size_t len, readings_visit *,
                        void *ctx);
void readings_kept_free(struct readings_kept *);

/* readings_value(value, len, visit, ctx): a decoded value of a query, form, header or body: with
 * and without a second decoding, with and without blanks around it. False as above. */
bool readings_value(const char *value, size_t len, readings_visit *, void *ctx);

/* readings_name_is(name, len, want): may the field ${name} be taken for ${want}? In any spelling of
 * its letters, as an array (Action[]=, Action[0]=), with brackets too many or too few ([Action]=,
 * Action]=, user[id= for user_id=) or text behind them, with the marks that PHP makes one of. */
bool readings_name_is(const char *name, size_t len, const char *want);

/* The same for many names: each is read once and held against all that are looked for. At most
 * READINGS_NAMES readings of a name differ; of a long one the beginning is kept. */
enum { READINGS_NAMES = 4, READINGS_NAME = 128, READINGS_NAME_LOOK = 1024 };
struct readings_name {
        const char *text;
        size_t len;
        bool is_open; /* more may follow */
};
struct readings_names {
        struct readings_name at[READINGS_NAMES];
        size_t n;
        char room[READINGS_NAMES][READINGS_NAME];
};
/* readings_names(name, len, is_whole, out): ${is_whole}: else these bytes are its beginning. */
void readings_names(const char *name, size_t len, bool is_whole, struct readings_names *);
/* readings_want(want, out): the one reading of a name that a rule has. */
void readings_want(const char *want, struct readings_names *);
bool readings_is(const struct readings_name *name, const struct readings_name *want);
/* readings_may_begin(name, len, want): a glance; false: ${name} has no reading that is ${want}. */
bool readings_may_begin(const char *name, size_t len, const struct readings_name *want);

/* readings_header_is(name, want): the same for the name of a header: CGI and its descendants take
 * _, . and other marks for -. Both in small letters. */
bool readings_header_is(const char *name, const char *want);

#endif
