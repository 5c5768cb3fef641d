/* door_keeper.c - what the keeper makes is what clients accept: an authority, leaves for exactly
 * one name or address, stores for Java, a pool that is whole or not there. */
#include "unit/check.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "keeper/ca_cert.h"
#include "keeper/ca_roots.h"
#include "keeper/der.h"
#include "keeper/keeper.h"
#include "keeper/mint.h"
#include "policy/host_name.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

static struct ca_cert ca;
static struct mint *mint;

static struct host_name host(const char *text)
{
        struct host_name h;
        host_name_parse(text, strlen(text), &h, NULL);
        return h;
}

static X509 *leaf(const char *text)
{
        uint8_t der[MINT_LEAF_MAX];
        const uint8_t *p = der;
        size_t len = 0;
        struct err err = {0};
        struct host_name h = host(text);
        if (mint_leaf(mint, &h, der, &len, &err) < 0) {
                printf("# %s\n", err.text);
                return NULL;
        }
        X509 *x = d2i_X509(NULL, &p, (long)len);
        return x && p == der + len ? x : NULL;
}

/* verify(x, name): what a client of the box would say. */
static int verify(X509 *x)
{
        const uint8_t *p = ca.cert_der;
        X509 *root = d2i_X509(NULL, &p, (long)ca.cert_len);
        X509_STORE *store = X509_STORE_new();
        X509_STORE_CTX *ctx = X509_STORE_CTX_new();
        X509_STORE_add_cert(store, root);
        X509_STORE_CTX_init(ctx, store, x, NULL);
        X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_SSL_SERVER);
        X509_STORE_CTX_set_flags(ctx, X509_V_FLAG_X509_STRICT | X509_V_FLAG_CHECK_SS_SIGNATURE);
        X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(ctx), 2);
        X509_verify_cert(ctx);
        int why = X509_STORE_CTX_get_error(ctx);
        X509_STORE_CTX_free(ctx);
        X509_STORE_free(store);
        X509_free(root);
        return why;
}

static void authority(void)
{
        struct err err = {0};
        const uint8_t *p;
        CHECK("an authority is made", ca_cert_make(&ca, &err) == 0);
        p = ca.cert_der;
        X509 *x = d2i_X509(NULL, &p, (long)ca.cert_len);
        CHECK("it is one", x && X509_check_ca(x) == 1);
        CHECK("its chains end with the leaf", x && X509_get_pathlen(x) == 0);
        CHECK("it signs certificates",
              x && X509_get_key_usage(x) == (X509v3_KU_KEY_CERT_SIGN | X509v3_KU_CRL_SIGN));
        CHECK("it was valid an hour ago",
              x && X509_cmp_time(X509_get0_notBefore(x), &(time_t){time(NULL) - 3600}) < 0);
        CHECK("it is valid in a year",
              x && X509_cmp_time(X509_get0_notAfter(x), &(time_t){time(NULL) + 31622400}) > 0);
        char hash[16];
        snprintf(hash, sizeof hash, "%08lx.0", x ? X509_subject_name_hash(x) : 0);
        check_str("OpenSSL finds it in a directory", ca.hash, hash);

        struct ca_cert other;
        CHECK("the next has another key and another name",
              ca_cert_make(&other, &err) == 0 && strcmp(other.hash, ca.hash) != 0);
        CHECK("a key that is not the authority's is refused",
              !mint_new(other.key_der, other.key_len, ca.cert_der, ca.cert_len, &err));
        CHECK("half a key is refused",
              !mint_new(ca.key_der, ca.key_len / 2, ca.cert_der, ca.cert_len, &err));
        ca_cert_free(&other);
        X509_free(x);
        mint = mint_new(ca.key_der, ca.key_len, ca.cert_der, ca.cert_len, &err);
        CHECK("the mint opens", mint != NULL);
}

static void leaves(void)
{
        X509 *x = leaf("api.example.org");
        CHECK("a leaf is a certificate", x != NULL);
        check(x && verify(x) == X509_V_OK, "its chain holds in strict mode", "%s",
              x ? X509_verify_cert_error_string(verify(x)) : "none");
        CHECK("it is for its name", x && X509_check_host(x, "api.example.org", 0, 0, NULL) == 1);
        CHECK("it is for no other name",
              x && X509_check_host(x, "example.org", 0, 0, NULL) == 0 &&
                      X509_check_host(x, "b.api.example.org", 0, 0, NULL) == 0);
        CHECK("it is for a server", x && X509_get_extended_key_usage(x) == XKU_SSL_SERVER);
        CHECK("it is no authority", x && X509_check_ca(x) == 0);
        X509 *y = leaf("api.example.org");
        CHECK("no serial number comes twice",
              x && y && ASN1_INTEGER_cmp(X509_get0_serialNumber(x), X509_get0_serialNumber(y)));
        uint8_t key[MINT_KEY_MAX];
        size_t key_len = 0;
        CHECK("the leaf's key is told", mint_leaf_key(mint, key, &key_len) == 0);
        const uint8_t *p = key;
        EVP_PKEY *k = d2i_AutoPrivateKey(NULL, &p, (long)key_len);
        CHECK("and fits the leaf", x && k && X509_check_private_key(x, k) == 1);
        EVP_PKEY_free(k);
        X509_free(x);
        X509_free(y);

        x = leaf("198.51.100.7");
        CHECK("an address", x && verify(x) == X509_V_OK &&
                                    X509_check_ip_asc(x, "198.51.100.7", 0) == 1 &&
                                    X509_check_ip_asc(x, "198.51.100.8", 0) == 0);
        X509_free(x);
        x = leaf("[2001:db8::7]");
        CHECK("an address of version 6",
              x && verify(x) == X509_V_OK && X509_check_ip_asc(x, "2001:db8::7", 0) == 1);
        X509_free(x);

        char longest[254];
        for (int i = 0; i < 253; i++)
                longest[i] = i % 50 == 49 ? '.' : 'a';
        longest[253] = 0;
        x = leaf(longest);
        CHECK("the longest name",
              x && verify(x) == X509_V_OK && X509_check_host(x, longest, 0, 0, NULL) == 1);
        X509_free(x);

        struct host_name none = {0};
        uint8_t der[MINT_LEAF_MAX];
        size_t len;
        CHECK("a name that nobody parsed gets none", mint_leaf(mint, &none, der, &len, NULL) < 0);
        CHECK("a wildcard is no name", host_name_parse("*.example.org", 13, &none, NULL) < 0);
}

static void times(void)
{
        static const struct {
                time_t t;
                const char *want;
        } table[] = {{0, "700101000000Z"},          {951782399, "000228235959Z"},
                     {951782400, "000229000000Z"},  {1794787200, "261116000000Z"},
                     {2524607999, "491231235959Z"}, {2524608000, "20500101000000Z"}};
        for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
                uint8_t room[32];
                struct der d = der_in(room, sizeof room);
                der_time(&d, table[i].t);
                CHECK("a time",
                      der_len(&d) == strlen(table[i].want) + 2 &&
                              memcmp(d.at + 2, table[i].want, strlen(table[i].want)) == 0);
        }
        uint8_t small[4];
        struct der d = der_in(small, sizeof small);
        der_put(&d, DER_OCTETS, "12345", 5);
        der_put(&d, DER_OCTETS, "", 0);
        CHECK("no room is noticed and stays so", der_len(&d) == 0);
}

/* Java is not in every machine; the format is checked by reading it back. */
static void java(void)
{
        struct err err = {0};
        struct ca_roots r;
        _cleanup_buf_ struct buf tail = {0};
        CHECK("a store without any root", ca_roots_read(&r, NULL, true, &err) == 0);
        CHECK("with ours", ca_roots_java(&r, &ca, &tail, &err) == 0 &&
                                   tail.len == 4 + 2 + 7 + 8 + 2 + 5 + 4 + ca.cert_len + 20);
        CHECK("counts one", r.jks.len == 12 && r.jks.data[11] == 1);
        ca_roots_free(&r);
}

static size_t entries(const char *dir, char name[256])
{
        size_t n = 0;
        _cleanup_closedir_ DIR *d = opendir(dir);
        struct dirent *e;
        while (d && (e = readdir(d)))
                if (e->d_name[0] != '.') {
                        snprintf(name, 256, "%s", e->d_name);
                        n++;
                }
        return n;
}

/* again(dir, name): what a box has left is turned into the next authority. */
static void again(const char *dir, const char *name)
{
        char from[600], to[600], fresh[256] = "";
        struct stat old, st;
        char *argv[] = {"make-ca", (char *)(uintptr_t)dir, "k3", "1", "-", "java", "-", NULL};
        snprintf(from, sizeof from, "%s/%s", dir, name);
        snprintf(to, sizeof to, "%s/used.k3.1", dir);
        _cleanup_free_ char *before = NULL, *key = NULL;
        snprintf(fresh, sizeof fresh, "%s/etc/ssl/certs/ca-certificates.crt", name);
        int top = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        before = fdio_read_file(top, fresh, 1 << 20, NULL);
        stat(from, &old);
        CHECK("a box took one and is over", rename(from, to) == 0);
        int lock = open(to, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        flock(lock, LOCK_SH);
        CHECK("while it lives nobody touches it",
              keeper_make_ca_main(7, argv) == 0 && stat(to, &st) == 0);
        close(lock);
        argv[3] = "2";
        CHECK("afterwards it is used again",
              keeper_make_ca_main(7, argv) == 0 && stat(to, &st) < 0 && errno == ENOENT);
        bool is_found = false;
        _cleanup_closedir_ DIR *d = opendir(dir);
        struct dirent *e;
        while (d && (e = readdir(d))) {
                if (strncmp(e->d_name, "k3.", 3) != 0 || e->d_ino != old.st_ino)
                        continue;
                is_found = true;
                snprintf(fresh, sizeof fresh, "%.200s/etc/ssl/certs/ca-certificates.crt",
                         e->d_name);
                char *now = fdio_read_file(top, fresh, 1 << 20, NULL);
                CHECK("with another certificate", now && before && strcmp(now, before) != 0);
                snprintf(fresh, sizeof fresh, "%.200s/etc/ssl/certs/ostiary-box-ca.pem", e->d_name);
                char *alone = fdio_read_file(top, fresh, 1 << 20, NULL);
                check_str("which is the whole bundle", alone, now);
                free(now);
                free(alone);
                snprintf(fresh, sizeof fresh, "%.200s/etc/ssl/certs", e->d_name);
                int certs = openat(top, fresh, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                DIR *c = fdopendir(certs);
                int links = 0;
                struct dirent *l;
                while (c && (l = readdir(c)))
                        links += l->d_type == DT_LNK;
                closedir(c);
                CHECK("and one hashed name", links == 1);
                snprintf(fresh, sizeof fresh, "%.200s/key", e->d_name);
                CHECK("and a key", faccessat(top, fresh, R_OK, 0) == 0);
        }
        CHECK("it is the same directory", is_found);
        close(top);
}

static void pool(void)
{
        char dir[] = "/tmp/ostiary-pool.XXXXXX", name[256] = "", path[600];
        struct stat st;
        if (!CHECK("a place for a pool", mkdtemp(dir) != NULL))
                return;
        char *argv[] = {"make-ca", dir, "k1", "2", "-", "java,browsers", "-", NULL};
        CHECK("two authorities", keeper_make_ca_main(7, argv) == 0 && entries(dir, name) == 2);
        CHECK("not more", keeper_make_ca_main(7, argv) == 0 && entries(dir, name) == 2);
        CHECK("none is half made", strncmp(name, "k1.", 3) == 0);
        snprintf(path, sizeof path, "%s/%s/key", dir, name);
        CHECK("the key is ours alone", stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
        snprintf(path, sizeof path, "%s/%s/etc/ssl/certs/ca-certificates.crt", dir, name);
        FILE *f = fopen(path, "re");
        X509 *x = f ? PEM_read_X509(f, NULL, NULL, NULL) : NULL;
        CHECK("a host without roots gets a bundle of one", x && X509_check_ca(x) == 1);
        X509_free(x);
        if (f)
                fclose(f);
        snprintf(path, sizeof path, "%s/%s/etc/ssl/certs/java/cacerts", dir, name);
        CHECK("and a store for Java", stat(path, &st) == 0);
        snprintf(path, sizeof path, "%s/%s/etc/chromium/policies/managed/ostiary.json", dir, name);
        _cleanup_free_ char *policy = fdio_read_file(AT_FDCWD, path, 1 << 16, NULL);
        CHECK("and a policy for browsers",
              policy && strncmp(policy, "{\"CACertificates\": [\"MII", 24) == 0 &&
                      strcmp(policy + strlen(policy) - 4, "\"]}\n") == 0);
        again(dir, name);
        argv[3] = "65";
        CHECK("too many are refused", keeper_make_ca_main(7, argv) == 64);
        argv[2] = "../up";
        CHECK("a key is no path", keeper_make_ca_main(7, argv) == 64);
        argv[2] = "k2", argv[3] = "1", argv[4] = "/nonexistent";
        CHECK("a bundle that is gone is an error and leaves nothing",
              keeper_make_ca_main(7, argv) == 1 && entries(dir, name) == 3);
        beneath_remove_tree(AT_FDCWD, dir, NULL);
}

/* The role itself, confined as in life. */
static int ctl, egress, audit;
static struct frame f;

static pid_t begin_role(bool is_key_good)
{
        int c[2], e[2], a[2];
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, c);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, a);
        socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, e);
        fflush(stdout);
        pid_t pid = fork();
        if (pid == 0) {
                dup2(c[1], DOOR_CONTROL_FD);
                _exit(keeper_main(1, (char *[]){"keeper", NULL}));
        }
        close(c[1]);
        ctl = c[0], egress = e[0], audit = a[0];
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, (uint32_t)ca.key_len);
        buf_put(&b, is_key_good ? ca.key_der : ca.cert_der, ca.key_len);
        buf_put_u32(&b, (uint32_t)ca.cert_len);
        buf_put(&b, ca.cert_der, ca.cert_len);
        buf_put_lstr(&b, "box");
        frame_send(ctl, DOOR_BEGIN, &b, (const int[]){e[1], a[1]}, 2);
        close(e[1]);
        close(a[1]);
        return pid;
}

static int end_role(pid_t pid)
{
        int status = -1;
        close(ctl);
        waitpid(pid, &status, 0);
        close(egress);
        close(audit);
        return status;
}

static uint32_t ask(uint32_t id, const char *name)
{
        _cleanup_buf_ struct buf b = {0};
        uint32_t got = 0;
        buf_put_u32(&b, id);
        buf_put_lstr(&b, name);
        frame_release(&f);
        if (frame_send(egress, DOOR_LEAF, &b, NULL, 0) < 0 || frame_recv(egress, &f, false) != 1 ||
            cur_u32(&f.body, &got) < 0 || got != id)
                return 0;
        return f.type;
}

static void role(void)
{
        uint32_t len;
        const uint8_t *p;
        pid_t pid = begin_role(true);
        CHECK("the keeper is ready", frame_recv(ctl, &f, false) == 1 && f.type == DOOR_READY);
        frame_release(&f);
        CHECK("it greets egress with the leaf's key and the authority",
              frame_recv(egress, &f, false) == 1 && f.type == DOOR_KEEPER_HELLO &&
                      cur_u32(&f.body, &len) == 0 && cur_bytes(&f.body, len, &p) == 0 &&
                      cur_u32(&f.body, &len) == 0 && len == ca.cert_len &&
                      cur_bytes(&f.body, len, &p) == 0 && !memcmp(p, ca.cert_der, len));
        CHECK("and the key of fingers", cur_u32(&f.body, &len) == 0 && len == DOOR_FINGER_KEY &&
                                                cur_bytes(&f.body, len, &p) == 0 && !f.body.left);
        CHECK("a leaf for a name", ask(7, "api.example.org") == DOOR_LEAF_OK);
        X509 *x = NULL;
        if (cur_u32(&f.body, &len) == 0 && cur_bytes(&f.body, len, &p) == 0)
                x = d2i_X509(NULL, &p, (long)len);
        CHECK("is good", x && verify(x) == X509_V_OK);
        X509_free(x);
        CHECK("a wildcard gets none", ask(8, "*.example.org") == DOOR_LEAF_FAILED);
        CHECK("nor a number in disguise", ask(9, "0x7f000001") == DOOR_LEAF_FAILED);
        CHECK("nor an empty name", ask(10, "") == DOOR_LEAF_FAILED);
        int good = 0;
        for (uint32_t i = 0; i < 500; i++) {
                char name[40];
                snprintf(name, sizeof name, "n%u.example.org", i);
                good += ask(100 + i, name) == DOOR_LEAF_OK;
        }
        CHECK("five hundred names", good == 500);
        frame_release(&f);
        CHECK("it ends with the supervisor", end_role(pid) == 0);

        pid = begin_role(true);
        frame_send_data(egress, DOOR_DIAL, "x", 1);
        int status = 0;
        waitpid(pid, &status, 0);
        CHECK("what egress may not ask ends it", WIFEXITED(status));
        close(ctl), close(egress), close(audit);
        pid = begin_role(false);
        CHECK("a beginning without sense ends it", end_role(pid) != 0);
}

static void speed(void)
{
        struct timespec a, b;
        uint8_t der[MINT_LEAF_MAX];
        size_t len;
        struct host_name h = host("api.example.org");
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &a);
        for (int i = 0; i < 200; i++)
                mint_leaf(mint, &h, der, &len, NULL);
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &b);
        printf("# one leaf takes %.1f us\n",
               ((double)(b.tv_sec - a.tv_sec) * 1e6 + (double)(b.tv_nsec - a.tv_nsec) / 1e3) / 200);
}

int main(void)
{
        times();
        authority();
        if (mint) {
                leaves();
                java();
                role();
                speed();
        }
        pool();
        mint_free(mint);
        ca_cert_free(&ca);
        return check_end();
}
