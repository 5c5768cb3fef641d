/* head.c - see head.h: the store, the fields in it, and what may be written in them. Pure; called
 * by every parser and writer of a message. It never keeps a pointer to the bytes it was given. */
#include "egress/head.h"

#include "base/err.h"
#include "egress/head_chars.h"

#include <string.h>

/* RFC 9110, 5.6.2. */
const uint8_t head_token_char[256] = {
        ['!'] = '!', ['#'] = '#', ['$'] = '$', ['%'] = '%', ['&'] = '&', ['\''] = '\'', ['*'] = '*',
        ['+'] = '+', ['-'] = '-', ['.'] = '.', ['^'] = '^', ['_'] = '_', ['`'] = '`',   ['|'] = '|',
        ['~'] = '~', ['0'] = '0', ['1'] = '1', ['2'] = '2', ['3'] = '3', ['4'] = '4',   ['5'] = '5',
        ['6'] = '6', ['7'] = '7', ['8'] = '8', ['9'] = '9', ['A'] = 'a', ['B'] = 'b',   ['C'] = 'c',
        ['D'] = 'd', ['E'] = 'e', ['F'] = 'f', ['G'] = 'g', ['H'] = 'h', ['I'] = 'i',   ['J'] = 'j',
        ['K'] = 'k', ['L'] = 'l', ['M'] = 'm', ['N'] = 'n', ['O'] = 'o', ['P'] = 'p',   ['Q'] = 'q',
        ['R'] = 'r', ['S'] = 's', ['T'] = 't', ['U'] = 'u', ['V'] = 'v', ['W'] = 'w',   ['X'] = 'x',
        ['Y'] = 'y', ['Z'] = 'z', ['a'] = 'a', ['b'] = 'b', ['c'] = 'c', ['d'] = 'd',   ['e'] = 'e',
        ['f'] = 'f', ['g'] = 'g', ['h'] = 'h', ['i'] = 'i', ['j'] = 'j', ['k'] = 'k',   ['l'] = 'l',
        ['m'] = 'm', ['n'] = 'n', ['o'] = 'o', ['p'] = 'p', ['q'] = 'q', ['r'] = 'r',   ['s'] = 's',
        ['t'] = 't', ['u'] = 'u', ['v'] = 'v', ['w'] = 'w', ['x'] = 'x', ['y'] = 'y',   ['z'] = 'z',
};

/* Twice what fields may take: the target is there as it came and perhaps once more, encoded. */
enum { STORE_MAX = 2 * HEAD_BYTES_MAX };

void head_init(struct head *h)
{
        memset(h, 0, offsetof(struct head, fields));
        h->fields_n = 0;
        h->store = (struct buf){.max = STORE_MAX};
}

void head_free(struct head *h)
{
        if (h->has_secrets) {
                if (h->store.data)
                        explicit_bzero(h->store.data, h->store.cap);
                if (h->path.text)
                        explicit_bzero(h->path.text, h->path.len);
                if (h->path.plain)
                        explicit_bzero(h->path.plain, h->path.plain_len);
        }
        path_canon_free(&h->path);
        buf_free(&h->store);
        head_init(h);
}

void head_clear(struct head *h)
{
        struct buf store = h->store;
        path_canon_free(&h->path);
        head_init(h);
        store.len = 0;
        store.is_broken = false;
        h->store = store;
}

void head_move(struct head *to, struct head *from)
{
        memcpy(to, from, offsetof(struct head, fields) + from->fields_n * sizeof *from->fields);
        to->fields_n = from->fields_n;
        to->store = from->store;
        head_init(from);
}

/* What is copied may be in the store itself, which moves when it grows. */
struct source {
        const char *p;
        size_t offset; /* in the store, or SIZE_MAX */
};

static struct source source_of(const struct head *h, const void *p)
{
        const uint8_t *at = p, *data = h->store.data;
        bool is_own = data && at >= data && at < data + h->store.len;
        return (struct source){p, is_own ? (size_t)(at - data) : SIZE_MAX};
}

static const char *source_bytes(const struct head *h, struct source s)
{
        return s.offset == SIZE_MAX ? s.p : (const char *)h->store.data + s.offset;
}

/* Room for ${n} bytes and a NUL each for ${parts}; the first byte of a store is never used, so that
 * offset 0 can mean: nothing. */
static uint8_t *store_room(struct head *h, size_t n, size_t parts)
{
        struct buf *b = &h->store;
        size_t need = n + parts;
        if (b->len == 0) {
                uint8_t *first = buf_room(b, 1);
                if (!first)
                        return NULL;
                *first = 0;
        }
        if (b->cap - b->len < need || b->is_broken)
                return buf_room(b, need);
        uint8_t *at = b->data + b->len;
        b->len += need;
        return at;
}

uint32_t head_put(struct head *h, const void *p, size_t n)
{
        struct source from = source_of(h, p);
        uint8_t *at = n > STORE_MAX ? NULL : store_room(h, n, 1);
        if (!at)
                return 0;
        if (n)
                memcpy(at, source_bytes(h, from), n);
        at[n] = 0;
        return (uint32_t)(at - h->store.data);
}

int head_add(struct head *h, const char *name, size_t name_len, const char *value, size_t value_len,
             struct err *err)
{
        if (h->fields_n == HEAD_FIELDS_MAX)
                return err_set(err, E_PROTO, "a message has at most %d header fields",
                               HEAD_FIELDS_MAX);
        if (name_len > HEAD_LINE_MAX || value_len > HEAD_LINE_MAX - name_len)
                return err_set(err, E_PROTO, "a header field has at most %d bytes", HEAD_LINE_MAX);
        struct source name_from = source_of(h, name), value_from = source_of(h, value);
        uint8_t *at = h->store.len + name_len + value_len + 2 > HEAD_BYTES_MAX
                              ? NULL
                              : store_room(h, name_len + value_len, 2);
        if (!at)
                return err_set(err, E_PROTO, "the header fields of a message have at most %d bytes",
                               HEAD_BYTES_MAX);

        name = source_bytes(h, name_from);
        value = source_bytes(h, value_from);
        struct field *f = &h->fields[h->fields_n++];
        f->name = (uint32_t)(at - h->store.data);
        f->name_len = (uint32_t)name_len;
        for (size_t i = 0; i < name_len; i++)
                at[i] = head_token_char[(uint8_t)name[i]];
        at[name_len] = 0;
        at += name_len + 1;
        f->is_secret = false;
        f->value = f->name + f->name_len + 1;
        f->value_len = (uint32_t)value_len;
        if (value_len)
                memcpy(at, value, value_len);
        at[value_len] = 0;
        return 0;
}

static bool is_named(const struct head *h, const struct field *f, const char *name, size_t n)
{
        return f->name_len == n && memcmp(head_str(h, f->name), name, n) == 0;
}

const struct field *head_find(const struct head *h, const char *name)
{
        size_t n = strlen(name);
        for (size_t i = 0; i < h->fields_n; i++)
                if (is_named(h, &h->fields[i], name, n))
                        return &h->fields[i];
        return NULL;
}

size_t head_count(const struct head *h, const char *name)
{
        size_t n = strlen(name), count = 0;
        for (size_t i = 0; i < h->fields_n; i++)
                count += is_named(h, &h->fields[i], name, n);
        return count;
}

void head_drop(struct head *h, const char *name)
{
        size_t n = strlen(name), kept = 0;
        for (size_t i = 0; i < h->fields_n; i++)
                if (!is_named(h, &h->fields[i], name, n))
                        h->fields[kept++] = h->fields[i];
        h->fields_n = kept;
}

bool head_is_token(const char *p, size_t n)
{
        return n && head_token_end(p, p + n) == p + n;
}

bool head_is_value(const char *p, size_t n)
{
        if (n == 0)
                return true;
        return !head_is_blank(p[0]) && !head_is_blank(p[n - 1]) &&
               head_value_end(p, p + n) == p + n;
}

bool head_is_grpc_type(const char *p, size_t n)
{
        static const char word[] = "application/grpc";
        const size_t len = sizeof word - 1;
        if (n < len)
                return false;
        for (size_t i = 0; i < len; i++)
                if ((p[i] >= 'A' && p[i] <= 'Z' ? p[i] + 32 : p[i]) != word[i])
                        return false;
        return n == len || strchr("+; \t", p[len]);
}
