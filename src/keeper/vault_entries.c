/* vault_entries.c - what a vault holds, in locked memory: finding, changing, and turning it into
 * bytes and back. Opens no file. The bytes are only read after their seal was found whole, and are
 * bounded all the same. */
#include "keeper/vault.h"

#include "base/cur.h"
#include "base/err.h"

#include <sodium.h>
#include <stdlib.h>
#include <string.h>

static void entry_free(struct vault_entry *e)
{
        sodium_free(e->value);
        sodium_memzero(e, sizeof *e);
}

void vault_free(struct vault *v)
{
        for (size_t i = 0; i < v->entries_n; i++)
                entry_free(&v->entries[i]);
        free(v->entries);
        v->entries = NULL;
        v->entries_n = 0;
}

int vault_name_check(const char *name, struct err *err)
{
        static const char may[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
        size_t n = strlen(name);
        bool is_ok = n > 0 && n <= VAULT_NAME_MAX && strchr(may, name[0]);
        for (size_t i = 0; i < n && is_ok; i++)
                is_ok = strchr(may, name[i]) || name[i] == '-' || name[i] == '.';
        if (is_ok)
                return 0;
        /* Whoever pastes a key here must not find it again in a log of errors. */
        return err_set(err, E_USAGE,
                       "a secret's name has letters, digits, \"_\", \"-\" and \".\", at most %d of "
                       "them, for example GITHUB_TOKEN",
                       VAULT_NAME_MAX);
}

int vault_value_check(const char *value, size_t n, struct err *err)
{
        if (n == 0)
                return err_set(err, E_INPUT, "the value is empty");
        if (n < 8)
                return err_set(
                        err, E_INPUT,
                        "the value has fewer than 8 characters, so it could not be told from "
                        "other text when it leaves a box");
        if (n > VAULT_VALUE_MAX)
                return err_set(err, E_INPUT, "the value is longer than %d bytes", VAULT_VALUE_MAX);
        if (memchr(value, 0, n))
                return err_set(err, E_INPUT, "the value has a NUL byte in it");
        return 0;
}

struct vault_entry *vault_find(const struct vault *v, const char *name)
{
        for (size_t i = 0; i < v->entries_n; i++)
                if (strcmp(v->entries[i].name, name) == 0)
                        return &v->entries[i];
        return NULL;
}

static int by_name(const void *a, const void *b)
{
        return strcmp(((const struct vault_entry *)a)->name, ((const struct vault_entry *)b)->name);
}

/* add(v, name): room for one more at the end, or NULL. */
static struct vault_entry *add(struct vault *v, const char *name)
{
        if (v->entries_n >= VAULT_ENTRIES_MAX)
                return NULL;
        struct vault_entry *e = realloc(v->entries, (v->entries_n + 1) * sizeof *e);
        if (!e)
                return NULL;
        v->entries = e;
        e += v->entries_n++;
        memset(e, 0, sizeof *e);
        memcpy(e->name, name, strlen(name));
        return e;
}

int vault_put(struct vault *v, const char *name, const char *value, size_t n, const char *note,
              uint64_t now, struct err *err)
{
        if (vault_name_check(name, err) < 0 || vault_value_check(value, n, err) < 0)
                return -1;
        if (note && strlen(note) > VAULT_NOTE_MAX)
                return err_set(err, E_INPUT, "the note is longer than %d bytes", VAULT_NOTE_MAX);
        char *copy = sodium_malloc(n);
        if (!copy)
                return err_sys(err, "get locked memory");
        struct vault_entry *e = vault_find(v, name);
        bool is_new = !e;
        if (is_new && !(e = add(v, name))) {
                sodium_free(copy);
                return err_set(err, E_INPUT, "the vault is full (%d secrets)", VAULT_ENTRIES_MAX);
        }
        memcpy(copy, value, n);
        sodium_free(e->value);
        e->value = copy;
        e->value_len = n;
        e->changed = now;
        if (is_new)
                e->created = now;
        if (note) {
                memset(e->note, 0, sizeof e->note);
                memcpy(e->note, note, strlen(note));
        }
        if (is_new)
                qsort(v->entries, v->entries_n, sizeof *v->entries, by_name);
        return 0;
}

bool vault_remove(struct vault *v, const char *name)
{
        struct vault_entry *e = vault_find(v, name);
        if (!e)
                return false;
        size_t at = (size_t)(e - v->entries);
        entry_free(e);
        memmove(e, e + 1, (v->entries_n - at - 1) * sizeof *e);
        v->entries_n--;
        return true;
}

static uint8_t *put_u32(uint8_t *p, uint32_t n)
{
        for (int i = 3; i >= 0; i--, n >>= 8)
                p[i] = (uint8_t)n;
        return p + 4;
}

static uint8_t *put_u64(uint8_t *p, uint64_t n)
{
        return put_u32(put_u32(p, (uint32_t)(n >> 32)), (uint32_t)n);
}

static uint8_t *put_text(uint8_t *p, const char *s, size_t n)
{
        p = put_u32(p, (uint32_t)n);
        memcpy(p, s, n);
        return p + n;
}

/* entries_n, then of each: name, value, created, changed, note; texts with their length before. */
uint8_t *vault_pack(const struct vault *v, size_t *n)
{
        size_t need = 4;
        for (size_t i = 0; i < v->entries_n; i++)
                need += strlen(v->entries[i].name) + v->entries[i].value_len +
                        strlen(v->entries[i].note) + 3 * 4 + 2 * 8;
        uint8_t *all = sodium_malloc(need), *p = all;
        if (!all)
                return NULL;
        p = put_u32(p, (uint32_t)v->entries_n);
        for (size_t i = 0; i < v->entries_n; i++) {
                const struct vault_entry *e = &v->entries[i];
                p = put_text(p, e->name, strlen(e->name));
                p = put_text(p, e->value, e->value_len);
                p = put_u64(p, e->created);
                p = put_u64(p, e->changed);
                p = put_text(p, e->note, strlen(e->note));
        }
        *n = need;
        return all;
}

static int get_text(struct cur *c, uint32_t max, const uint8_t **p, uint32_t *n)
{
        return cur_u32(c, n) < 0 || *n > max || cur_bytes(c, *n, p) < 0 || memchr(*p, 0, *n) ? -1
                                                                                             : 0;
}

static int unpack_one(struct vault *v, struct cur *c)
{
        const uint8_t *name, *value, *note;
        uint32_t name_n, value_n, note_n;
        uint64_t created, changed;
        char text[VAULT_NAME_MAX + 1] = "", words[VAULT_NOTE_MAX + 1] = "";
        if (get_text(c, VAULT_NAME_MAX, &name, &name_n) < 0 ||
            get_text(c, VAULT_VALUE_MAX, &value, &value_n) < 0 || cur_u64(c, &created) < 0 ||
            cur_u64(c, &changed) < 0 || get_text(c, VAULT_NOTE_MAX, &note, &note_n) < 0)
                return -1;
        memcpy(text, name, name_n);
        memcpy(words, note, note_n);
        if (vault_find(v, text) ||
            vault_put(v, text, (const char *)value, value_n, words, changed, NULL) < 0)
                return -1;
        vault_find(v, text)->created = created;
        return 0;
}

int vault_unpack(struct vault *v, const uint8_t *p, size_t n)
{
        struct cur c = cur_of(p, n);
        uint32_t count;
        if (cur_u32(&c, &count) < 0 || count > VAULT_ENTRIES_MAX)
                return -1;
        for (uint32_t i = 0; i < count; i++)
                if (unpack_one(v, &c) < 0) {
                        vault_free(v);
                        return -1;
                }
        if (c.left == 0)
                return 0;
        vault_free(v);
        return -1;
}
