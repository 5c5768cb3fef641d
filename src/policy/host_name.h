/* host_name.h - the one type a host's name may have once it is past the border.
 *
 * A name from DNS, SNI, Host, :authority, a URL or a rule is bytes from elsewhere until
 * host_name_parse has made a struct host_name of it. Policy, dial and certificates take only this
 * type, so that nobody ever checks one spelling and uses another (cases 83, 86, 90). Nothing else
 * may fill the struct. */
#ifndef POLICY_HOST_NAME_H
#define POLICY_HOST_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum host_kind { HOST_NAME, HOST_IPV4, HOST_IPV6 };

enum { HOST_TEXT_MAX = 253, HOST_LABEL_MAX = 63 };

struct host_name {
        enum host_kind kind;
        uint8_t len;                  /* of text */
        uint8_t addr[16];             /* IPV4: the first four bytes; zero for a NAME */
        char text[HOST_TEXT_MAX + 1]; /* canonical and NUL-terminated; IPv6 in its brackets */
};

/* host_name_parse(bytes, len, h, err): the only way to make one. ${bytes} is a host alone, without
 * port. Accepted are names of letters, digits, hyphens and underscores (international ones in their
 * xn-- form), four decimal numbers with dots, and IPv6 in brackets. Letters become small, one dot
 * at the end is dropped, IPv6 gets its shortest form. Everything else is refused: NUL, spaces,
 * control bytes, percent, @, backslash, zone ids, and every other spelling of an address (decimal,
 * octal, hexadecimal, short, IPv4 inside IPv6). On failure -1, ${err} is a sentence, and ${h} is
 * all zero, which equals no parsed name. */
int host_name_parse(const char *bytes, size_t len, struct host_name *, struct err *);

bool host_name_equal(const struct host_name *, const struct host_name *);

/* host_name_is_below(h, base): does ${h} lie strictly below ${base}, by whole labels? a.example.org
 * is below example.org; example.org and evil-example.org are not. Addresses are below nothing. */
bool host_name_is_below(const struct host_name *, const struct host_name *base);

/* host_name_addr_len(h): 4, 16, or 0 for a NAME. */
size_t host_name_addr_len(const struct host_name *);

#endif
