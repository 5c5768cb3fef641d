/* path_fuzz.c - any bytes as a path: the canonical form is its own, no reading climbs or holds a
 * control byte, and the way a plain server would read it is among the readings (case E4). */
#include "base/err.h"
#include "base/str.h"
#include "policy/glob.h"
#include "policy/match.h"
#include "policy/path_canon.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct want {
        const char *text;
        size_t len;
        bool is_found;
};

static bool reading(void *ctx, const char *s, size_t len)
{
        struct want *w = ctx;
        if (len == 0 || s[0] != '/')
                abort();
        for (size_t i = 0; i < len; i++) {
                unsigned char c = (unsigned char)s[i];
                if ((c < 0x20 && c != PATH_ENC_SLASH) || c == 0x7f || c == '\\')
                        abort();
                if (c != '/')
                        continue;
                size_t n = 0;
                while (i + 1 + n < len && s[i + 1 + n] != '/')
                        n++;
                if ((n == 1 && s[i + 1] == '.') || (n == 2 && memcmp(s + i + 1, "..", 2) == 0))
                        abort();
        }
        w->is_found |= w->len == len && memcmp(w->text, s, len) == 0;
        return true;
}

static int hex(char c)
{
        return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* A server that decodes everything once and merges slashes, given what we would forward. */
static size_t naive(const char *s, size_t len, char *out)
{
        size_t n = 0;
        for (size_t i = 0; i < len; i++) {
                char c = s[i];
                if (c == '%') {
                        c = (char)(hex(s[i + 1]) * 16 + hex(s[i + 2]));
                        i += 2;
                }
                if (c != '/' || n == 0 || out[n - 1] != '/')
                        out[n++] = c;
        }
        return n;
}

static void ignore(void *ctx, const char *value, size_t len)
{
        *(size_t *)ctx += len && value[len - 1] == 'x';
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct err err = {0};
        struct path_canon p, q;
        size_t count = 0;
        (void)match_query_each((const char *)data, size, "a", true, ignore, &count);
        if (path_canon_parse((const char *)data, size, &p, &err) < 0) {
                if (!err.text[0] || p.text || p.plain)
                        abort();
                return 0;
        }
        if (strlen(p.text) != p.len || path_canon_parse(p.text, p.len, &q, &err) < 0 ||
            strcmp(p.text, q.text) != 0 || p.plain_len != q.plain_len ||
            memcmp(p.plain, q.plain, p.plain_len) != 0 || p.odd != q.odd)
                abort();

        char *out = malloc(p.len + 1);
        struct want w = {.text = out, .len = naive(p.text, p.len, out)};
        path_canon_each(&p, reading, &w);
        if (!w.is_found)
                abort();
        free(out);

        /* The path itself as a pattern fits its plain reading, unless it has stars in it. */
        struct glob g;
        if (!memchr(p.text, '*', p.len) && glob_parse(GLOB_PATH, p.text, p.len, &g, &err) == 0) {
                if (!glob_matches(&g, p.plain, p.plain_len))
                        abort();
                glob_free(&g);
        }
        path_canon_free(&p);
        path_canon_free(&q);
        return 0;
}
