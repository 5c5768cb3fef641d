/* head_chars.h - which bytes may stand where in a head, as tables and inline loops. For head.c and
 * the HTTP/1 files, which look at every byte that comes in. */
#ifndef EGRESS_HEAD_CHARS_H
#define EGRESS_HEAD_CHARS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The byte as it stands in a token, letters made small; 0 for what no token holds. */
extern const uint8_t head_token_char[256];

/* head_is_value_char(c): blanks, printable bytes and bytes beyond ASCII. */
static inline bool head_is_value_char(uint8_t c)
{
        return (c >= 0x20 && c != 0x7f) || c == '\t';
}

/* head_value_end(p, end): the first byte that no field value holds, or ${end}. Eight at a time:
 * values are most of what is read. */
static inline const char *head_value_end(const char *p, const char *end)
{
        const uint64_t ones = 0x0101010101010101u, tops = ones << 7;
        while (end - p >= 8) {
                uint64_t w;
                memcpy(&w, p, 8);
                uint64_t del = w ^ (ones * 0x7f);
                uint64_t low = (w - ones * 0x20) & ~w;
                if ((low | ((del - ones) & ~del)) & tops) {
                        for (int i = 0; i < 8; i++)
                                if (!head_is_value_char((uint8_t)p[i]))
                                        return p + i;
                }
                p += 8;
        }
        while (p < end && head_is_value_char((uint8_t)*p))
                p++;
        return p;
}

/* head_token_end(p, end): the first byte that no token holds, or ${end}. */
static inline const char *head_token_end(const char *p, const char *end)
{
        while (p < end && head_token_char[(uint8_t)*p])
                p++;
        return p;
}

/* head_same(p, n, word): is this ${word}, which is in small letters, in any case? */
static inline bool head_same(const char *p, size_t n, const char *word)
{
        if (strlen(word) != n)
                return false;
        for (size_t i = 0; i < n; i++)
                if (head_token_char[(uint8_t)p[i]] != (uint8_t)word[i])
                        return false;
        return true;
}

static inline bool head_is_blank(char c)
{
        return c == ' ' || c == '\t';
}

/* head_trim(&p, &n): without the blanks at both ends. */
static inline void head_trim(const char **p, size_t *n)
{
        while (*n && head_is_blank((*p)[0])) {
                (*p)++;
                (*n)--;
        }
        while (*n && head_is_blank((*p)[*n - 1]))
                (*n)--;
}

#endif
