/* store.c - the list of the box's secrets and the locked memory in which their values lie. See
 * store.h. Called by the keeper's handlers; it must never print or copy a value. */
#include "keeper/store.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/secret_shape.h"

#include <jansson.h>
#include <openssl/crypto.h>
#include <openssl/rand.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { ARENA_MAX = 4 << 20, ARENA_MIN = 256 << 10, ARENA_BLOCK = 32 };

/* A placeholder from before, until its part has a value. */
struct old_stand_in {
        struct old_stand_in *next;
        uint32_t number;
        char part[12];
        char *text;
};

struct store {
        struct store_secret *first;
        struct old_stand_in *old;
};

/* What may be locked is less for some users; the messages' buffers want their part of it. Pages are
 * locked when they are touched, so a box with one key has one page. */
void store_memory(void)
{
        size_t size = ARENA_MAX;
        struct rlimit may;
        if (getrlimit(RLIMIT_MEMLOCK, &may) == 0)
                while (size > ARENA_MIN && size + (512 << 10) > may.rlim_cur)
                        size /= 2;
        CRYPTO_secure_malloc_init(size, ARENA_BLOCK);
        json_set_alloc_funcs(store_alloc, store_drop);
}

void *store_alloc(size_t n)
{
        return OPENSSL_secure_zalloc(n);
}

void store_drop(void *p)
{
        OPENSSL_secure_free(p); /* wipes the whole block */
}

struct store *store_new(void)
{
        struct store *s = calloc(1, sizeof *s);
        if (!s)
                str_no_memory();
        return s;
}

static void wipe_part(struct store_part *p)
{
        store_drop(p->value);
        p->value = NULL;
        p->len = 0;
}

static void drop_cache(struct store_secret *x)
{
        if (x->cache && x->cache_free)
                x->cache_free(x->cache);
        x->cache = NULL;
}

void store_wipe(struct store_secret *x, enum store_state state)
{
        for (size_t i = 0; i < x->parts_n; i++)
                wipe_part(&x->parts[i]);
        drop_cache(x);
        x->state = state;
}

static void free_secret(struct store_secret *x)
{
        store_wipe(x, STORE_REVOKED);
        for (size_t i = 0; i < x->parts_n; i++)
                free(x->parts[i].placeholder);
        rule_line_free(&x->line);
        free(x->line_text);
        free(x);
}

void store_free(struct store *s)
{
        if (!s)
                return;
        while (s->first)
                store_remove(s, s->first);
        for (struct old_stand_in *o = s->old, *next; o; o = next) {
                next = o->next;
                free(o->text);
                free(o);
        }
        free(s);
}

struct store_secret *store_find(struct store *s, uint32_t number)
{
        for (struct store_secret *x = s->first; x; x = x->next)
                if (x->number == number)
                        return x;
        return NULL;
}

struct store_secret *store_each(struct store *s, const struct store_secret *last)
{
        return last ? last->next : s->first;
}

size_t store_count(const struct store *s, bool is_captured)
{
        size_t n = 0;
        for (const struct store_secret *x = s->first; x; x = x->next)
                n += x->is_captured == is_captured;
        return n;
}

void store_line(struct store_secret *x, struct rule_line *line)
{
        _cleanup_buf_ struct buf text = {0};
        rule_line_print(line, &text);
        rule_line_free(&x->line);
        free(x->line_text);
        x->line = *line;
        x->line_text = str_dup(buf_cstr(&text));
        *line = (struct rule_line){.kind = RULE_LINE_LIMIT};
}

struct store_secret *store_add(struct store *s, uint32_t number, struct rule_line *line,
                               struct err *err)
{
        if (line->kind != RULE_LINE_SECRET || number == 0 || number == DOOR_SECRET_ALL ||
            store_find(s, number)) {
                err_set(err, E_PROTO, "this is no new secret");
                return NULL;
        }
        if (store_count(s, false) + store_count(s, true) >= 2 * DOOR_SECRETS_MAX) {
                err_set(err, E_INPUT, "a box can have at most %d secrets", DOOR_SECRETS_MAX);
                return NULL;
        }
        struct store_secret *x = calloc(1, sizeof *x);
        if (!x)
                str_no_memory();
        x->number = number;
        x->line.kind = RULE_LINE_LIMIT; /* nothing to free yet */
        store_line(x, line);
        struct store_secret **at = &s->first;
        while (*at && (*at)->number < number)
                at = &(*at)->next;
        x->next = *at;
        *at = x;
        return x;
}

void store_remove(struct store *s, struct store_secret *x)
{
        struct store_secret **at = &s->first;
        while (*at && *at != x)
                at = &(*at)->next;
        if (*at)
                *at = x->next;
        free_secret(x);
}

static bool is_same(const char *text, const uint8_t *p, size_t n)
{
        return text && strlen(text) == n && memcmp(text, p, n) == 0;
}

/* has_value(part, p, n): in the time that its length takes. */
static bool has_value(const struct store_part *part, const uint8_t *p, size_t n)
{
        return part->value && part->len == n && CRYPTO_memcmp(part->value, p, n) == 0;
}

struct store_secret *store_holds_next(struct store *s, const struct store_secret *last,
                                      const uint8_t *p, size_t n)
{
        for (struct store_secret *x = last ? last->next : s->first; x; x = x->next)
                for (size_t i = 0; i < x->parts_n; i++)
                        if (has_value(&x->parts[i], p, n))
                                return x;
        return NULL;
}

struct store_secret *store_holds(struct store *s, const uint8_t *p, size_t n)
{
        return store_holds_next(s, NULL, p, n);
}

bool store_local(struct store_secret *x, const uint8_t *p, size_t n, bool is_local)
{
        bool is_changed = false;
        for (size_t i = 0; i < x->parts_n; i++)
                if (has_value(&x->parts[i], p, n) && x->parts[i].is_local != is_local) {
                        x->parts[i].is_local = is_local;
                        is_changed = true;
                }
        return is_changed;
}

static bool is_taken(struct store *s, const char *text)
{
        const uint8_t *p = (const uint8_t *)text;
        size_t n = strlen(text);
        for (struct store_secret *x = s->first; x; x = x->next)
                for (size_t i = 0; i < x->parts_n; i++)
                        if (is_same(x->parts[i].placeholder, p, n))
                                return true;
        return store_holds(s, p, n) != NULL;
}

static char *make_token(void)
{
        uint8_t random[20];
        struct buf b = {0};
        if (RAND_bytes(random, sizeof random) != 1)
                return NULL;
        for (size_t i = 0; i < sizeof random; i++)
                buf_put_fmt(&b, "%02x", random[i]);
        buf_cstr(&b);
        return (char *)b.data;
}

static char *make_shaped(const uint8_t *value, size_t n)
{
        struct buf b = {0};
        uint8_t *random = malloc(n + 1);
        if (!random)
                str_no_memory();
        int r = RAND_bytes(random, (int)n) == 1 ? 0 : -1;
        if (r == 0)
                r = secret_shape_stand_in((const char *)value, n, random, n, &b);
        free(random);
        if (r < 0 || b.is_broken || b.len != n) {
                buf_free(&b);
                return NULL;
        }
        buf_cstr(&b);
        return (char *)b.data;
}

/* A stand-in that another secret has already, or that is somebody's value, is drawn again. */
static char *make_placeholder(struct store *s, const uint8_t *value, size_t n,
                              enum store_stand_in how)
{
        for (int i = 0; i < 16; i++) {
                char *text = how == STORE_TOKEN ? make_token() : make_shaped(value, n);
                if (!text || !is_taken(s, text))
                        return text;
                free(text);
        }
        return NULL;
}

void store_stand_in(struct store *s, uint32_t number, const char *part, const char *text)
{
        struct old_stand_in *o = calloc(1, sizeof *o);
        if (!o)
                str_no_memory();
        *o = (struct old_stand_in){.next = s->old, .number = number, .text = str_dup(text)};
        snprintf(o->part, sizeof o->part, "%.11s", part);
        s->old = o;
}

/* take_old(s, number, part, value, n): what stood there before, if nobody else has it by now; it is
 * the caller's. */
static char *take_old(struct store *s, uint32_t number, const char *part, const uint8_t *value,
                      size_t n)
{
        for (struct old_stand_in **at = &s->old; *at; at = &(*at)->next) {
                struct old_stand_in *o = *at;
                if (o->number != number || strcmp(o->part, part) != 0)
                        continue;
                char *text = o->text;
                *at = o->next;
                free(o);
                bool is_value = strlen(text) == n && memcmp(text, value, n) == 0;
                if (!is_value && !is_taken(s, text))
                        return text;
                free(text);
                return NULL;
        }
        return NULL;
}

static struct store_part *find_part(struct store_secret *x, const char *name)
{
        for (size_t i = 0; i < x->parts_n; i++)
                if (strcmp(x->parts[i].name, name) == 0)
                        return &x->parts[i];
        return NULL;
}

int store_set(struct store *s, struct store_secret *x, const char *name, const uint8_t *value,
              size_t n, enum store_stand_in how, struct err *err)
{
        const char *secret = x->line.secret->name;
        struct store_part *p = find_part(x, name);
        if (!p && (x->parts_n == DOOR_PARTS_MAX || strlen(name) >= sizeof p->name))
                return err_set(err, E_INPUT, "%s has too many parts", secret);
        uint8_t *copy = store_alloc(n + 1);
        if (!copy)
                return err_set(err, E_SYSTEM, "there is no locked memory left for %s", secret);
        memcpy(copy, value, n);
        char *placeholder = NULL;
        if (!p && how != STORE_OPEN) {
                placeholder = take_old(s, x->number, name, value, n);
                if (!placeholder)
                        placeholder = make_placeholder(s, value, n, how);
                if (!placeholder) {
                        store_drop(copy);
                        return err_set(err, E_INPUT,
                                       "nothing can stand in for %s: too little of it is random, "
                                       "so that a stand-in could be guessed",
                                       secret);
                }
        }
        if (!p) {
                p = &x->parts[x->parts_n++];
                *p = (struct store_part){.placeholder = placeholder};
                memcpy(p->name, name, strlen(name) + 1);
        }
        wipe_part(p);
        p->value = copy;
        p->len = n;
        drop_cache(x);
        return 0;
}

void store_clear(struct store_secret *x, const char *name)
{
        struct store_part *p = find_part(x, name);
        if (!p)
                return;
        wipe_part(p);
        drop_cache(x);
}

const struct store_part *store_part(const struct store_secret *x, const char *name)
{
        for (size_t i = 0; i < x->parts_n; i++)
                if (strcmp(x->parts[i].name, name) == 0)
                        return x->parts[i].value ? &x->parts[i] : NULL;
        return NULL;
}

const struct store_part *store_part_shown(const struct store_secret *x, const char *text, size_t n)
{
        for (size_t i = 0; i < x->parts_n; i++)
                if (is_same(x->parts[i].placeholder, (const uint8_t *)text, n))
                        return &x->parts[i];
        return NULL;
}
