/* awschunk_plain.c - see awschunk.h: the data of a body in chunks, signed or not, for whoever looks
 * for something in it: a text must not be hidden by the heads of chunks that it is cut up by.
 * Called by undo.c; what is sent stays as it came. Pure. */
#include "egress/awschunk.h"

#include "base/err.h"

#include <string.h>

enum state { LINE, DATA, DATA_END, REST };

/* on_line(c, err): the head of a chunk is here: a size, perhaps with something behind a semicolon.
 */
static int on_line(struct awschunk_plain *c, struct err *err)
{
        uint64_t size = 0;
        size_t i = 0;
        for (; i < c->line_n && i < 15; i++) {
                char ch = c->line[i];
                int d = ch >= '0' && ch <= '9'   ? ch - '0'
                        : ch >= 'a' && ch <= 'f' ? ch - 'a' + 10
                        : ch >= 'A' && ch <= 'F' ? ch - 'A' + 10
                                                 : -1;
                if (d < 0)
                        break;
                size = size * 16 + (uint64_t)d;
        }
        bool is_end = i + 1 == c->line_n && c->line[i] == '\r';
        if (i == 0 ||
            !(is_end || (i < c->line_n && c->line[i] == ';' && c->line[c->line_n - 1] == '\r')))
                return err_set(err, E_PROTO,
                               "its chunks (Content-Encoding: aws-chunked) cannot be read");
        c->left = size;
        c->state = size ? DATA : REST;
        c->line_n = 0;
        return 0;
}

/* take(c, p, n, to, room, &used, err): from a line or from what separates data and line. */
static int take_line(struct awschunk_plain *c, uint8_t byte, struct err *err)
{
        if (c->state == DATA_END) {
                if (byte != (c->left == 2 ? '\r' : '\n'))
                        return err_set(err, E_PROTO,
                                       "its chunks (Content-Encoding: aws-chunked) are longer than "
                                       "they say");
                if (--c->left == 0)
                        c->state = LINE;
                return 0;
        }
        if (byte == '\n')
                return on_line(c, err);
        if (c->line_n == sizeof c->line)
                return err_set(err, E_PROTO,
                               "its chunks (Content-Encoding: aws-chunked) have heads that are too "
                               "long");
        c->line[c->line_n++] = (char)byte;
        return 0;
}

ssize_t awschunk_plain_step(struct awschunk_plain *c, const uint8_t *p, size_t n, size_t *used,
                            uint8_t *to, size_t room, struct err *err)
{
        size_t put = 0;
        *used = 0;
        while (*used < n && put < room) {
                if (c->state == LINE || c->state == DATA_END) {
                        if (take_line(c, p[(*used)++], err) < 0)
                                return -1;
                        continue;
                }
                /* Behind the last chunk everything is looked at: it is the trailer. */
                size_t some = n - *used < room - put ? n - *used : room - put;
                if (c->state == DATA && some > c->left)
                        some = (size_t)c->left;
                memcpy(to + put, p + *used, some);
                *used += some;
                put += some;
                if (c->state == DATA && (c->left -= some) == 0) {
                        c->state = DATA_END;
                        c->left = 2;
                }
        }
        return (ssize_t)put;
}

bool awschunk_plain_is_over(const struct awschunk_plain *c)
{
        return c->state == REST;
}
