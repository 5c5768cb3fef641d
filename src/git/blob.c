/* blob.c - see blob.h. Contents as they are: where git would convert line ends or run a filter, the
 * id is another one, and the file counts as not committed. */
#include "git/blob.h"

#include "base/sha256.h"

#define OPENSSL_SUPPRESS_DEPRECATED /* the newer calls load providers, which a static file has not */
#include <errno.h>
#include <openssl/sha.h>
#include <stdio.h>
#include <unistd.h>

enum { BLOB_CHUNK = 1 << 16 };

/* Which of the two hashes a repository uses. */
struct blob {
        bool is_long;
        SHA_CTX sha1;
        struct sha256 sha256;
};

static void blob_add(struct blob *b, const void *bytes, size_t n)
{
        if (b->is_long)
                sha256_add(&b->sha256, bytes, n);
        else
                SHA1_Update(&b->sha1, bytes, n);
}

static void blob_begin(struct blob *b, uint64_t size, size_t id_len)
{
        char head[40];
        int n = snprintf(head, sizeof head, "blob %llu", (unsigned long long)size) + 1;
        b->is_long = id_len == SHA256_HEX_LEN;
        if (b->is_long)
                sha256_begin(&b->sha256);
        else
                SHA1_Init(&b->sha1);
        blob_add(b, head, (size_t)n);
}

static void blob_end(struct blob *b, char id[GIT_ID_MAX + 1])
{
        unsigned char sum[SHA_DIGEST_LENGTH];
        if (b->is_long) {
                sha256_end(&b->sha256, id);
                return;
        }
        SHA1_Final(sum, &b->sha1);
        for (size_t i = 0; i < sizeof sum; i++)
                snprintf(id + 2 * i, 3, "%02x", sum[i]);
}

void git_blob_of(const void *bytes, size_t n, size_t id_len, char id[GIT_ID_MAX + 1])
{
        struct blob b;
        blob_begin(&b, n, id_len);
        blob_add(&b, bytes, n);
        blob_end(&b, id);
}

/* What all files together may cost: twice the largest pack that is taken. One blob of zeros can be
 * committed at any number of paths. */
#define BLOB_ALL_MAX ((uint64_t)4 << 30)
static uint64_t blob_left = BLOB_ALL_MAX;

bool git_blob_of_file(int fd, uint64_t size, size_t id_len, char id[GIT_ID_MAX + 1])
{
        char chunk[BLOB_CHUNK];
        struct blob b;
        if (size > blob_left)
                return false;
        blob_left -= size;
        blob_begin(&b, size, id_len);
        for (uint64_t at = 0; at <= size;) {
                ssize_t n = pread(fd, chunk, sizeof chunk, (off_t)at);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n <= 0) {
                        blob_end(&b, id);
                        return n == 0 && at == size;
                }
                blob_add(&b, chunk, (size_t)n);
                at += (uint64_t)n;
        }
        return false;
}
