/* secret_shape_int.h - the table of keys that the files of secret_shape share; nobody else includes
 * it. */
#ifndef POLICY_SECRET_SHAPE_INT_H
#define POLICY_SECRET_SHAPE_INT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DIGITS "0123456789"
#define LARGE  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SMALL  "abcdefghijklmnopqrstuvwxyz"
#define HEX    DIGITS "abcdef"
#define ALNUM  DIGITS LARGE SMALL

/* Letters of a key behind its prefix. */
enum shape_letters {
        SHAPE_URL,
        SHAPE_WORD,
        SHAPE_PLAIN,
        SHAPE_LOWHEX,
        SHAPE_BASE32,
        SHAPE_DOTTED,
        SHAPE_BASE64
};

/* ${least} and ${most} are of what follows the prefix in keys that providers really give out;
 * ${most} 0: any length. */
struct shape {
        const char *prefix;
        const char *name;
        enum shape_letters letters;
        uint16_t least, most;
        bool has_crc; /* the last six letters are a checksum, as GitHub makes it */
};

extern const struct shape secret_shapes[]; /* ends with a prefix of NULL */

/* shape_draw(l): what a letter or digit is drawn from. */
const char *shape_draw(enum shape_letters);
/* shape_span(p, n, l): how many of the bytes may stand in such a key. */
size_t shape_span(const char *, size_t n, enum shape_letters);
bool shape_is_alnum(char);

/* shape_telegram(p, n): the length of "123456:ABC-..." at ${p}, 0 when it is none. */
size_t shape_telegram(const char *, size_t n);

/* A JWT: three parts in base64url, of which the first two begin as JSON objects do. */
struct shape_jwt {
        size_t head, claims, sign; /* lengths */
};
/* shape_jwt_take(p, n, j): is there one at ${p}? shape_jwt_len(j): all of it. */
bool shape_jwt_take(const char *, size_t n, struct shape_jwt *);
size_t shape_jwt_len(const struct shape_jwt *);

#endif
