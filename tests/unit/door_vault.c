/* door_vault.c - the sealed file: what is written is read again; any byte that is changed, any cut
 * and any other key is refused and the file left as it is; a newer version says so; a writer that
 * fails leaves the old one. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "keeper/vault.h"
#include "keeper/vault_known.h"
#include "unit/check.h"

#include <fcntl.h>
#include <sodium.h>
#include <stdlib.h>
#include <sys/stat.h>

static uint8_t key[VAULT_KEY_LEN];
static int dir;

static bool is_full(const struct vault *v)
{
        const struct vault_entry *a = vault_find(v, "A_KEY"), *b = vault_find(v, "B.key-2");
        return v->entries_n == 2 && a && b && a->value_len == 12 &&
               memcmp(a->value, "fake-value-1", 12) == 0 && strcmp(a->note, "mine") == 0 &&
               a->created == 100 && a->changed == 300 && b->created == 200 && b->note[0] == 0;
}

static void check_round(void)
{
        _cleanup_vault_ struct vault v = {.head = {.lock = VAULT_BY_KEY}};
        _cleanup_vault_ struct vault got = {0};
        struct err err = {0};
        struct vault_head h;
        CHECK("no vault is no error", vault_file_head(dir, &h, &err) == 0);
        CHECK("put", vault_put(&v, "B.key-2", "fake-value-2", 12, NULL, 200, &err) == 0);
        CHECK("put another", vault_put(&v, "A_KEY", "fake-value-0", 12, "mine", 100, &err) == 0);
        CHECK("change", vault_put(&v, "A_KEY", "fake-value-1", 12, NULL, 300, &err) == 0);
        CHECK("write", vault_file_write(dir, key, &v, &err) == 0);
        CHECK("read", vault_file_read(dir, key, &got, &err) == 0 && is_full(&got));
        struct stat st;
        CHECK("only we can read it",
              fstatat(dir, "vault", &st, 0) == 0 && (st.st_mode & 0777) == 0600);
        CHECK("remove", vault_remove(&got, "A_KEY") && !vault_find(&got, "A_KEY") &&
                                got.entries_n == 1 && !vault_remove(&got, "A_KEY"));
}

/* A whole vault in memory, and what a reader says when ${at} has another byte or the end is cut. */
static enum err_code tried(const uint8_t *bytes, size_t n)
{
        struct err err = {0};
        _cleanup_vault_ struct vault v = {0};
        _cleanup_close_ int fd = openat(dir, "vault", O_WRONLY | O_TRUNC | O_CLOEXEC);
        if (fd < 0 || fdio_write_all(fd, bytes, n) < 0)
                return E_NONE;
        return vault_file_read(dir, key, &v, &err) == 0 ? E_NONE : err.code;
}

static void check_damage(void)
{
        uint8_t bytes[4096], was;
        _cleanup_close_ int fd = openat(dir, "vault", O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, bytes, sizeof bytes);
        size_t bad = 0, cuts = 0;
        if (!CHECK("a vault to damage", n > 100))
                return;
        for (ssize_t i = 0; i < n; i++) {
                was = bytes[i];
                bytes[i] ^= 1;
                bad += tried(bytes, (size_t)n) == E_NONE;
                bytes[i] = was;
        }
        CHECK("every changed byte is refused", bad == 0);
        for (ssize_t i = 0; i < n; i++)
                cuts += tried(bytes, (size_t)i) == E_NONE;
        CHECK("every cut is refused", cuts == 0);
        CHECK("the whole is read, so that the refusals mean something",
              tried(bytes, (size_t)n) == E_NONE);
        bytes[19] = 2;
        struct err err = {0};
        struct vault_head h;
        CHECK("a newer version is refused", tried(bytes, (size_t)n) == E_INPUT);
        CHECK("and named", vault_file_head(dir, &h, &err) < 0 && strstr(err.text, "newer"));
        bytes[19] = 1;
        tried(bytes, (size_t)n);
        key[0] ^= 1;
        _cleanup_vault_ struct vault v = {0};
        CHECK("another key is refused",
              vault_file_read(dir, key, &v, &err) < 0 && err.code == E_REFUSED);
        key[0] ^= 1;
}

static void check_bounds(void)
{
        _cleanup_vault_ struct vault v = {0};
        char *large = calloc(1, VAULT_VALUE_MAX + 2);
        memset(large, 'x', VAULT_VALUE_MAX + 1);
        CHECK("an empty value", vault_put(&v, "A", "", 0, NULL, 1, NULL) < 0);
        CHECK("a short one", vault_put(&v, "A", "1234567", 7, NULL, 1, NULL) < 0);
        CHECK("one with NUL", vault_put(&v, "A", "1234\0005678", 9, NULL, 1, NULL) < 0);
        CHECK("one that is too long",
              vault_put(&v, "A", large, VAULT_VALUE_MAX + 1, NULL, 1, NULL) < 0);
        CHECK("the longest", vault_put(&v, "A", large, VAULT_VALUE_MAX, NULL, 1, NULL) == 0);
        static const char *const names[] = {"", "-x", "a b", "a/b", "a\tb", "\xc3\xa9"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                check(vault_name_check(names[i], NULL) < 0, "a bad name", "\"%s\"", names[i]);
        CHECK("a good name", vault_name_check("GITHUB_TOKEN.2-x", NULL) == 0);
        CHECK("a hostile count", vault_unpack(&v, (const uint8_t *)"\xff\xff\xff\xff", 4) < 0);
        free(large);
}

static void check_known(void)
{
        check_str("a well-known name", vault_known_provider("GH_TOKEN"), "github");
        check_str("a part of a name", vault_known_provider("MY_STRIPE_KEY"), "stripe");
        check_str("a name that says nothing", vault_known_provider("DEPLOY"), NULL);
        CHECK("github's finer keys are github's", vault_known_is_same("github", "github-fine"));
        CHECK("stripe's are not", !vault_known_is_same("github", "stripe"));
}

int main(void)
{
        char name[] = "/tmp/door_vault.XXXXXX";
        if (sodium_init() < 0 || !CHECK("a place", mkdtemp(name) != NULL))
                return 1;
        dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        randombytes_buf(key, sizeof key);
        check_round();
        check_damage();
        check_bounds();
        check_known();
        unlinkat(dir, "vault", 0);
        rmdir(name);
        return check_end();
}
