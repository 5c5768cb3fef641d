/* door_vault.c - any bytes as the opened body of a vault: refused, or packed again into the same
 * entries. Behind the seal nobody but us writes it, and still nothing in it is believed. */
#include "base/err.h"
#include "keeper/vault.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct vault v = {0}, again = {0};
        size_t n;
        if (sodium_init() < 0 || size > 4096 || vault_unpack(&v, data, size) < 0)
                return 0;
        uint8_t *p = vault_pack(&v, &n);
        if (!p || vault_unpack(&again, p, n) < 0 || again.entries_n != v.entries_n)
                abort();
        for (size_t i = 0; i < v.entries_n; i++) {
                const struct vault_entry *a = &v.entries[i], *b = vault_find(&again, a->name);
                if (!b || b->value_len != a->value_len || b->created != a->created ||
                    memcmp(a->value, b->value, a->value_len) != 0 || strcmp(a->note, b->note) != 0)
                        abort();
        }
        sodium_free(p);
        vault_free(&v);
        vault_free(&again);
        return 0;
}
