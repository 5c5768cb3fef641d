/* h1_chunks.c - see h1.h: a body in chunks, byte by byte where it frames and by whole runs where it
 * is data. Pure; both engines use it. Nothing but 1*HEXDIG CR LF, bounded extensions and exact line
 * ends is taken (case E3). */
#include "egress/h1.h"

#include "base/err.h"
#include "egress/h1_fields.h"
#include "egress/head_chars.h"

#include <string.h>

enum {
        SIZE,    /* digits of a chunk's size */
        EXT,     /* an extension, dropped */
        SIZE_LF, /* the LF after the size */
        DATA,
        DATA_CR,
        DATA_LF,
        TRAILER, /* at the beginning of a trailer line */
        TRAILER_LINE,
        TRAILER_LF,
        LAST_LF,
};

enum { DIGITS_MAX = 16, EXT_MAX = 256, TRAILER_MAX = HEAD_LINE_MAX };

static int bad(struct err *err, const char *why)
{
        err_set(err, E_PROTO, "%s", why);
        return -1;
}

static int hex(char c)
{
        if (c >= '0' && c <= '9')
                return c - '0';
        c = (char)(c | 0x20);
        return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int feed_size(struct h1_chunks *c, char byte, struct err *err)
{
        int digit = hex(byte);
        if (digit >= 0) {
                if (++c->line > DIGITS_MAX || c->left >> 59)
                        return bad(err, "a chunk's size is too large");
                c->left = c->left << 4 | (uint64_t)digit;
                return 0;
        }
        if (c->line == 0)
                return bad(err, "a chunk does not begin with its size");
        if (byte != '\r' && byte != ';')
                return bad(err, "a chunk's size is followed by something that does not belong "
                                "there");
        c->state = byte == ';' ? EXT : SIZE_LF;
        c->line = 0;
        return 0;
}

static int feed_ext(struct h1_chunks *c, char byte, struct err *err)
{
        if (byte == '\r') {
                c->state = SIZE_LF;
                return 0;
        }
        if (!head_is_value_char((uint8_t)byte) || ++c->line > EXT_MAX)
                return bad(err, "a chunk's extension is too long or holds a control character");
        return 0;
}

static int feed_trailer(struct h1_chunks *c, char byte, struct err *err)
{
        if (c->state == TRAILER && byte == '\r') {
                c->state = LAST_LF;
                return 0;
        }
        if (byte == '\r')
                c->state = TRAILER_LF;
        else if (!head_is_value_char((uint8_t)byte))
                return bad(err, "a trailer holds a control character");
        else
                c->state = TRAILER_LINE;
        c->trailer.max = TRAILER_MAX;
        buf_put_u8(&c->trailer, (uint8_t)byte);
        return c->trailer.is_broken ? bad(err, "the trailers are too large") : 0;
}

/* One byte that is not data. */
static int feed_byte(struct h1_chunks *c, char byte, struct err *err)
{
        switch (c->state) {
        case SIZE:
                return feed_size(c, byte, err);
        case EXT:
                return feed_ext(c, byte, err);
        case DATA_CR:
                if (byte != '\r')
                        return bad(err, "a chunk is longer than its size");
                c->state = DATA_LF;
                return 0;
        case TRAILER:
        case TRAILER_LINE:
                return feed_trailer(c, byte, err);
        default:
                break;
        }

        if (byte != '\n')
                return bad(err, "a CR in a chunked body stands without its LF");
        switch (c->state) {
        case SIZE_LF:
                c->state = c->left ? DATA : TRAILER;
                return 0;
        case DATA_LF:
                c->state = SIZE;
                c->line = 0;
                return 0;
        case TRAILER_LF:
                buf_put_u8(&c->trailer, '\n');
                c->state = TRAILER;
                return 0;
        case LAST_LF:
                c->is_done = true;
                return 0;
        default:
                return bad(err, "a chunked body is read after its end");
        }
}

ssize_t h1_chunks_feed(struct h1_chunks *c, const char *p, size_t n, const char **data,
                       size_t *data_len, struct err *err)
{
        size_t used = 0;
        *data = NULL;
        *data_len = 0;
        while (used < n && !c->is_done) {
                if (c->state == DATA) {
                        size_t run = n - used;
                        if (run > c->left)
                                run = (size_t)c->left;
                        *data = p + used;
                        *data_len = run;
                        c->left -= run;
                        if (c->left == 0)
                                c->state = DATA_CR;
                        return (ssize_t)(used + run);
                }
                if (feed_byte(c, p[used++], err) < 0)
                        return -1;
        }
        return (ssize_t)used;
}

int h1_chunks_trailers(struct h1_chunks *c, struct head *h, struct err *err)
{
        struct h1_fields f = {0};
        int status = 0;
        if (c->trailer.len == 0)
                return 0;
        buf_put(&c->trailer, "\r\n", 2);
        ssize_t used =
                h1_fields_read((const char *)c->trailer.data, c->trailer.len, h, &f, &status, err);
        c->trailer.len -= c->trailer.is_broken ? 0 : 2;
        if (used <= 0)
                return used < 0 ? -1 : bad(err, "the trailers are too large");

        size_t kept = 0;
        for (size_t i = 0; i < h->fields_n; i++)
                if (head_may_trail(head_str(h, h->fields[i].name), h->fields[i].name_len))
                        h->fields[kept++] = h->fields[i];
        h->fields_n = kept;
        return 0;
}

size_t h1_chunks_more(const struct h1_chunks *c, size_t n)
{
        return c->trailer.len > 0 ? buf_more(&c->trailer, n) : 0;
}

void h1_chunks_free(struct h1_chunks *c)
{
        buf_free(&c->trailer);
        *c = (struct h1_chunks){0};
}
