/* secret_scan_fuzz.c - any file of a workspace: spans lie inside it, in order and without overlap;
 * a masked copy without grants is as long as its original, and differs from it only inside spans.
 */
#include "session/secret_mask_int.h"
#include "session/secret_scan.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        if (size < 1)
                return 0;
        static const enum secret_scan_kind kinds[] = {SECRET_SCAN_TEXT, SECRET_SCAN_SHAPES,
                                                      SECRET_SCAN_NETRC};
        enum secret_scan_kind kind = kinds[data[0] % 3];
        size_t n = size - 1, at = 0;
        char *text = malloc(n + 1);
        memcpy(text, data + 1, n);
        text[n] = 0;
        struct secret_spans spans = {0};
        struct secret_mask_copy copy = {0};
        secret_scan_text(kind, text, n, NULL, &spans);
        secret_mask_copy_make(kind, text, n, NULL, &copy);
        if (copy.text.len != n || copy.count != spans.n)
                abort();
        for (size_t i = 0; i < spans.n; i++) {
                const struct secret_span *s = &spans.v[i];
                if (s->at < at || s->at > n || s->len > n - s->at || s->len == 0)
                        abort();
                if (memcmp(copy.text.data + at, text + at, s->at - at) != 0)
                        abort();
                at = s->at + s->len;
        }
        if (n > at && memcmp(copy.text.data + at, text + at, n - at) != 0)
                abort();
        secret_spans_free(&spans);
        secret_mask_copy_free(&copy);
        free(text);
        return 0;
}
