/* cred_look.h - does a text look like a credential, whoever made it? Asked by egress of each string
 * in an answer of a place that lends credentials (lenders.h), so that what is taken out does not
 * depend on how the answer calls it. Pure. */
#ifndef POLICY_CRED_LOOK_H
#define POLICY_CRED_LOOK_H

#include <stdbool.h>
#include <stddef.h>

enum cred_look {
        CRED_NO,
        CRED_MAYBE, /* drawn at random: sixteen characters and more that are no words */
        CRED_SURE,  /* a JWT, a private key, or the shape of a known provider's key */
};

/* cred_look(text, n): the most certain of what is in it, in any word of it. Identifiers that are
 * known as such (a UUID, a date, an address without secrets, whatever its path) are none. */
enum cred_look cred_look(const char *, size_t);

/* cred_look_is_word(text, n): is all of it one word, which a placeholder can replace as a whole? */
bool cred_look_is_word(const char *, size_t);

/* cred_look_is_made(text, n): may a text that is called like a credential be one that a machine made?
 * Asks for less than cred_look does: a UUID and eight drawn characters are enough. Words and
 * sentences ("function", "This field is required.") are not: they stand in other answers, too. */
bool cred_look_is_made(const char *, size_t);

/* cred_look_is_published(text, n): may others have it, too, so that it stands in what they send? A
 * checksum or the name of a commit (hexadecimal digits alone, base64 of such a length), a UUID, a
 * number, and whatever has fewer than twenty characters. */
bool cred_look_is_published(const char *, size_t);

/* cred_look_params(text, n, is_name, ctx): the parameters of an address, behind "?" and "#", also
 * when they are escaped once more. True when ${is_name} says yes to the name of one that has a value
 * of eight characters and more, or when its value is CRED_SURE. */
bool cred_look_params(const char *, size_t, bool (*is_name)(const char *, size_t));

#endif
