/* trust.c - see trust.h: the mapped index as a lookup of OpenSSL's, and the stores of ca= files.
 *
 * Called by egress alone. The index came from the supervisor, sealed; it is still read as bytes
 * from elsewhere. What a lookup finds is put into the store, so each root is parsed once. */
#include "egress/trust.h"

#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/trust_index.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct ca_file {
        struct ca_file *next;
        char *name;
        X509_STORE *store;
};

struct trust {
        const uint8_t *map; /* NULL without roots */
        size_t map_len;
        uint32_t roots_n;
        X509_LOOKUP_METHOD *method;
        X509_STORE *system;
        struct ca_file *files;
};

static uint32_t u32_at(const uint8_t *p)
{
        return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static const uint8_t *entry(const struct trust *t, uint32_t i)
{
        return t->map + TRUST_MAGIC_LEN + 4 + (size_t)i * TRUST_ENTRY_LEN;
}

/* first_with(t, hash): the first entry whose hash is not smaller. */
static uint32_t first_with(const struct trust *t, uint32_t hash)
{
        uint32_t low = 0, high = t->roots_n;
        while (low < high) {
                uint32_t mid = low + (high - low) / 2;
                if (u32_at(entry(t, mid)) < hash)
                        low = mid + 1;
                else
                        high = mid;
        }
        return low;
}

static X509 *root_at(const struct trust *t, uint32_t i)
{
        const uint8_t *e = entry(t, i);
        uint32_t offset = u32_at(e + 4), len = u32_at(e + 8);
        if (offset > t->map_len || len > t->map_len - offset)
                return NULL;
        const uint8_t *der = t->map + offset;
        return d2i_X509(NULL, &der, (long)len);
}

/* The verifier asks for an issuer by its name. All roots of that name go into the store, because
 * the verifier looks there for the others; one is the answer. */
static int by_subject(X509_LOOKUP *lu, X509_LOOKUP_TYPE type, const X509_NAME *name,
                      X509_OBJECT *ret)
{
        const struct trust *t = X509_LOOKUP_get_method_data(lu);
        X509_STORE *store = X509_LOOKUP_get_store(lu);
        int found = 0;
        if (type != X509_LU_X509 || !t || !store)
                return 0;
        uint32_t hash = (uint32_t)X509_NAME_hash_ex(name, NULL, NULL, NULL);
        for (uint32_t i = first_with(t, hash); i < t->roots_n && u32_at(entry(t, i)) == hash; i++) {
                X509 *x = root_at(t, i);
                if (x && X509_NAME_cmp(X509_get_subject_name(x), name) == 0 &&
                    X509_STORE_add_cert(store, x) == 1 && !found) {
                        /* The caller takes a reference of its own to what it gets here and drops
                         * only that one; ours is the store's. */
                        found = X509_OBJECT_set1_X509(ret, x);
                        if (found)
                                X509_free(x);
                }
                X509_free(x);
        }
        return found;
}

/* check(t, err): every number of the index that is used without looking again. */
static int check(struct trust *t, struct err *err)
{
        struct cur c = cur_of(t->map, t->map_len);
        const uint8_t *magic, *entries;
        if (cur_bytes(&c, TRUST_MAGIC_LEN, &magic) < 0 ||
            memcmp(magic, TRUST_MAGIC, TRUST_MAGIC_LEN) != 0 || cur_u32(&c, &t->roots_n) < 0 ||
            t->roots_n > TRUST_ROOTS_MAX ||
            cur_bytes(&c, (size_t)t->roots_n * TRUST_ENTRY_LEN, &entries) < 0)
                return err_set(err, E_PROTO, "the index of the system's roots is damaged");
        return 0;
}

static int map_index(struct trust *t, int fd, struct err *err)
{
        struct stat st;
        if (fstat(fd, &st) < 0)
                return err_sys(err, "look at the index of the system's roots");
        if (st.st_size <= 0 || (uint64_t)st.st_size > TRUST_INDEX_MAX)
                return err_set(err, E_PROTO, "the index of the system's roots has %lld bytes",
                               (long long)st.st_size);
        t->map_len = (size_t)st.st_size;
        void *map = mmap(NULL, t->map_len, PROT_READ, MAP_PRIVATE, fd, 0);
        if (map == MAP_FAILED)
                return err_sys(err, "map the index of the system's roots");
        t->map = map;
        return check(t, err);
}

struct trust *trust_open(int fd, struct err *err)
{
        struct trust *t = calloc(1, sizeof *t);
        if (!t)
                str_no_memory();
        if (fd >= 0 && map_index(t, fd, err) < 0) {
                trust_free(t);
                return NULL;
        }
        t->method = X509_LOOKUP_meth_new("roots of the system");
        t->system = X509_STORE_new();
        if (!t->method || !t->system ||
            !X509_LOOKUP_meth_set_get_by_subject(t->method, by_subject) ||
            trust_into(t, t->system) < 0) {
                err_set(err, E_SYSTEM, "no store for the system's roots could be made");
                trust_free(t);
                return NULL;
        }
        return t;
}

void trust_free(struct trust *t)
{
        if (!t)
                return;
        while (t->files) {
                struct ca_file *f = t->files;
                t->files = f->next;
                X509_STORE_free(f->store);
                free(f->name);
                free(f);
        }
        X509_STORE_free(t->system);
        X509_LOOKUP_meth_free(t->method);
        if (t->map)
                munmap((void *)(uintptr_t)t->map, t->map_len);
        free(t);
}

int trust_into(struct trust *t, X509_STORE *store)
{
        X509_LOOKUP *lu = X509_STORE_add_lookup(store, t->method);
        return lu && X509_LOOKUP_set_method_data(lu, t) ? 0 : -1;
}

/* store_of(pem, n, &count): a store that holds these certificates, and how many there are. */
static X509_STORE *store_of(const void *pem, size_t n, size_t *count)
{
        BIO *in = BIO_new_mem_buf(pem, (int)n);
        X509_STORE *store = X509_STORE_new();
        X509 *x;
        *count = 0;
        while (in && store && *count < TRUST_ROOTS_MAX &&
               (x = PEM_read_bio_X509_AUX(in, NULL, NULL, NULL))) {
                *count += X509_STORE_add_cert(store, x) == 1;
                X509_free(x);
        }
        /* Who names a certificate means it, whether or not it is a root: a server's own, self-made
         * one too. */
        if (store)
                X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
        BIO_free(in);
        ERR_clear_error();
        return store;
}

int trust_add_ca(struct trust *t, const char *name, const void *pem, size_t n, struct err *err)
{
        size_t count = 0;
        if (n > TRUST_INDEX_MAX)
                return err_set(err, E_INPUT, "the file %s that a rule names with ca= is too large",
                               name);
        X509_STORE *store = store_of(pem, n, &count);
        if (!store || count == 0) {
                X509_STORE_free(store);
                return err_set(err, E_INPUT,
                               "the file %s that a rule names with ca= holds no certificate in PEM "
                               "form (BEGIN CERTIFICATE)",
                               name);
        }
        struct ca_file *f = t->files;
        while (f && strcmp(f->name, name) != 0)
                f = f->next;
        if (!f) {
                f = calloc(1, sizeof *f);
                if (!f)
                        str_no_memory();
                f->name = str_dup(name);
                f->next = t->files;
                t->files = f;
        }
        X509_STORE_free(f->store); /* connections that use it hold a reference */
        f->store = store;
        return 0;
}

X509_STORE *trust_store(struct trust *t, const char *ca)
{
        if (!ca)
                return t->roots_n ? t->system : NULL;
        for (struct ca_file *f = t->files; f; f = f->next)
                if (strcmp(f->name, ca) == 0)
                        return f->store;
        return NULL;
}
