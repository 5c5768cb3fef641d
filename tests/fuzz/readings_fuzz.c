/* readings_fuzz.c - any bytes as a path, a value and a name: readings are bounded and in small letters,
 * begin with a slash where they are paths, and hold the text itself; and whatever a grant's literal
 * reading fits, a refusal fits too. */
#include "base/err.h"
#include "policy/fold.h"
#include "policy/glob.h"
#include "policy/path_canon.h"
#include "policy/readings.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct seen {
        const char *want;
        size_t want_len, n, bytes;
        bool is_path, is_found;
};

static bool visit(void *ctx, const char *s, size_t n)
{
        struct seen *seen = ctx;
        if (seen->is_path && (n == 0 || s[0] != '/'))
                abort();
        seen->n++;
        seen->bytes += n;
        seen->is_found |= n == seen->want_len && memcmp(s, seen->want, n) == 0;
        for (size_t i = 0; i < n; i++)
                if (s[i] >= 'A' && s[i] <= 'Z')
                        abort();
        return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        const char *text = (const char *)data;
        struct err err = {0};
        char *folded = malloc(size * FOLD_GROWTH + 1);
        size_t n = fold_text(text, size, folded);
        struct seen v = {.want = folded, .want_len = n};
        if (n > size * FOLD_GROWTH || (readings_value(text, size, visit, &v) && !v.is_found))
                abort();
        free(folded);

        char *name = malloc(size + 1);
        memcpy(name, text, size);
        name[size] = 0;
        if (!memchr(name, 0, size) && !readings_name_is(text, size, name))
                abort();
        free(name);

        struct path_canon p;
        if (path_canon_parse(text, size, &p, &err) < 0)
                return 0;
        folded = malloc(p.plain_len * FOLD_GROWTH + 1);
        struct seen s = {.want = folded, .is_path = true};
        s.want_len = fold_text(p.plain, p.plain_len, folded);
        bool is_all = readings_path(p.plain, p.plain_len, visit, &s);
        if (s.n > READINGS_MAX || s.bytes > READINGS_BYTES_MAX || (is_all && !s.is_found))
                abort();
        /* The path as a pattern holds for itself in folded form, unless it has stars in it. */
        struct glob g;
        if (!memchr(p.text, '*', p.len) && glob_parse(GLOB_PATH, p.text, p.len, &g, &err) == 0) {
                if (!glob_matches_folded(&g, folded, s.want_len))
                        abort();
                glob_free(&g);
        }
        free(folded);
        path_canon_free(&p);
        return 0;
}
