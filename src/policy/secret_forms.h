/* secret_forms.h - the ways in which one text can be written, so that it is found again: as it is,
 * in base64 at each alignment, in hexadecimal, percent-encoded, escaped for JSON and HTML.
 *
 * The keeper makes fingers of a value's writings, egress of a placeholder's; both must agree, so
 * they are made here. Pure. What escapes any letter at will (%73, \u0073, &#115;) is not a writing
 * of its own: egress undoes such escapes and looks for the text itself. */
#ifndef POLICY_SECRET_FORMS_H
#define POLICY_SECRET_FORMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct buf;

enum secret_coding {
        SECRET_RAW,
        SECRET_BASE64_0, /* the text begins at a group of three; only letters that it alone decides
                          */
        SECRET_BASE64_1, /* one byte stands before it in its group */
        SECRET_BASE64_2,
        SECRET_BASE64URL_0, /* only where it differs from the one above */
        SECRET_BASE64URL_1,
        SECRET_BASE64URL_2,
        SECRET_HEX,      /* small letters; found in any case */
        SECRET_BASE32_0, /* as DNS labels carry it: small letters, no padding; at each alignment */
        SECRET_BASE32_1,
        SECRET_BASE32_2,
        SECRET_BASE32_3,
        SECRET_BASE32_4,
        SECRET_PERCENT, /* what encodeURIComponent makes of it; only where it differs from RAW */
        SECRET_JSON,    /* with \" \\ \/; only where it differs */
        SECRET_HTML,    /* with &amp; &lt; &gt; &quot; &#39;; only where it differs */
        SECRET_HEAD,    /* the beginning of a long one, as a page that cuts it shows it */
        SECRET_TAIL,    /* its end */
        SECRET_PLUS,    /* with + for blanks, as forms have it; only where there are blanks */
        /* Lists of its bytes, as programs print them: */
        SECRET_BYTES_JSON,  /* 115,107 */
        SECRET_BYTES,       /* 115, 107 */
        SECRET_BYTES_BLANK, /* 115 107 */
        SECRET_PAIRS_COLON, /* 73:6b */
        SECRET_PAIRS_BLANK, /* 73 6b */
        SECRET_CODINGS,
};

/* So long must a text be that its ends count, and so long are they. A beginning is longer where
 * there is room, because the first letters of a key are the maker's and known to everybody: who can
 * guess the rest of an end may not be told that he was right. */
enum {
        SECRET_ENDS_MIN = 32,
        SECRET_TAIL_LEN = 16,
        SECRET_HEAD_LEN = 20,
        SECRET_LONG_MIN = 40,
        SECRET_HEAD_LONG = 32,
};

/* secret_form_is_nested(inner, coding): is a text in one writing, written again in the other, looked
 * for? Base64 or hexadecimal of base64 or hexadecimal. */
static inline bool secret_form_is_nested(enum secret_coding inner, enum secret_coding coding)
{
        return ((inner >= SECRET_BASE64_0 && inner <= SECRET_BASE64_2) || inner == SECRET_HEX) &&
               coding >= SECRET_BASE64_0 && coding <= SECRET_HEX;
}

/* secret_form_is_list(coding): are its letters numbers of ten digits? */
static inline bool secret_form_is_list(enum secret_coding coding)
{
        return coding >= SECRET_BYTES_JSON && coding <= SECRET_BYTES_BLANK;
}

/* secret_form_put(coding, text, n, out): append that writing. False when the coding has none of its
 * own for this text (it would be the same as RAW, or shorter than 8 bytes). */
bool secret_form_put(enum secret_coding, const char *text, size_t n, struct buf *out);

/* secret_form_ignores_case(coding): may its letters be large or small? All but base64: who has a
 * key in other letters has most of it, and all of it when it is hexadecimal. */
bool secret_form_ignores_case(enum secret_coding);

/* secret_form_replace(coding, stand_in, n, len, out): the writing of ${stand_in} that takes the
 * place of one with ${len} bytes: cut, or filled with 'x', when it has another length. */
void secret_form_replace(enum secret_coding, const char *stand_in, size_t n, size_t len,
                         struct buf *out);

/* secret_siphash(key, p, n, fold): SipHash-2-4; ${fold}: of the bytes with letters made small. */
uint64_t secret_siphash(const uint8_t key[16], const void *, size_t, bool fold);

/* secret_finger_hint(last): 16 bits of a writing's last 8 bytes, quick to make at each position of
 * a stream. Folds case by setting bit 5 of every byte, so it may take two texts for one: what it
 * finds is checked by the hashes. */
enum { SECRET_HINT_BYTES = 8 };
static inline uint16_t secret_finger_hint(const void *last)
{
        uint64_t v;

        memcpy(&v, last, SECRET_HINT_BYTES);
        v |= 0x2020202020202020u;
        return (uint16_t)((v * 0x9e3779b97f4a7c15u) >> 48);
}

#endif
