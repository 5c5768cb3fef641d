/* path_canon.h - the path of a request, in one form that is forwarded and in every form in which
 * a server may read it.
 *
 * The same path can be spelled in many ways, and servers disagree about four of them: // may be /,
 * %2F may be /, %25XX may be decoded twice, and ;x may be cut off. Spellings that all servers agree
 * on are made one here. For the rest the path keeps its bytes and gets several *readings*; a rule
 * that grants must hold in all of them, one that refuses needs only one (case E4, match.h). What
 * nobody needs is refused: control bytes, backslashes, broken escapes, bytes that are not UTF-8,
 * and dot segments that show only after a second decoding. */
#ifndef POLICY_PATH_CANON_H
#define POLICY_PATH_CANON_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum { PATH_MAX_LEN = 16 << 10 };

/* In a reading an encoded slash that stays data is this byte; no path holds it otherwise. */
#define PATH_ENC_SLASH '\001'

struct path_canon {
        char *text; /* what is forwarded and logged; NUL-terminated, owned */
        size_t len;
        char *plain; /* decoded once, PATH_ENC_SLASH for %2F; the first reading; owned */
        size_t plain_len;
        unsigned odd; /* which disagreements apply; 0 means there is only one reading */
};

/* path_canon_parse(bytes, len, p, err): ${bytes} is the path of a request target, from its first
 * slash to before "?". Unreserved letters are decoded, hexadecimal digits made large, bytes that
 * must be encoded are, dot segments are resolved. Parsing p->text again gives p->text. On failure
 * -1, a sentence, and ${p} is empty. Release it with path_canon_free. */
int path_canon_parse(const char *bytes, size_t len, struct path_canon *, struct err *);
void path_canon_free(struct path_canon *);
#define _cleanup_path_canon_ __attribute__((cleanup(path_canon_free)))

/* path_canon_each(p, visit, ctx): call ${visit} with every reading, the plain one first, until it
 * returns false. */
void path_canon_each(const struct path_canon *, bool (*visit)(void *, const char *, size_t),
                     void *ctx);

/* path_canon_decode(bytes, len, out): percent-decode once into ${out} (at least ${len} bytes), for
 * parts of a path that a rule writes. An encoded slash becomes PATH_ENC_SLASH, a bare one stays.
 * Returns the new length, or -1 for what a path may not hold; ${why} then says what. */
long path_canon_decode(const char *bytes, size_t len, char *out, const char **why);

/* path_canon_put_encoded(c, out): how byte ${c} of a reading is spelled in canonical text, at most
 * three bytes into ${out}; returns how many. */
size_t path_canon_put_encoded(unsigned char c, char out[3]);

#endif
