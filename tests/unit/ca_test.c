/* ca_test.c - the pool of authorities: each is taken once however many ask, its key leaves no trace
 * in files, only what fits this host and this boot is taken, and what a living box uses is not
 * swept.
 *
 * suite: check=any test=root,user soak=root,user
 * tier: keys of root's boxes lie in another place, with other owners */
#include "unit/check.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/ca.h"
#include "session/ca_int.h"
#include "session/store.h"
#include "wire/door.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char home[] = "/tmp/ostiary-ca.XXXXXX";
static struct store store;
static struct ca_host host;
static struct err err;
static int pool = -1;

static void put(int dir, const char *name, const char *text)
{
        _cleanup_close_ int fd = openat(dir, name, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd >= 0 && *text && fdio_write_all(fd, text, strlen(text)) < 0)
                perror(name);
}

/* add(key, made, id, key_text): one more in the pool. */
static void add(const char *key, time_t made, unsigned id, const char *key_text)
{
        char name[80];
        snprintf(name, sizeof name, "%s.%llx.%016x", key, (unsigned long long)made, id);
        _cleanup_close_ int dir = beneath_mkdirs(pool, name, 0700, NULL);
        close(beneath_mkdirs(dir, "etc", 0755, NULL));
        put(dir, "cert", "certificate");
        if (key_text)
                put(dir, "key", key_text);
}

static size_t count(const char *prefix)
{
        size_t n = 0;
        int copy = openat(pool, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fdopendir(copy);
        struct dirent *e;
        while (d && (e = readdir(d)))
                n += e->d_name[0] != '.' && str_starts(e->d_name, prefix);
        return n;
}

static void once(void)
{
        struct ca ca;
        add(host.key, time(NULL), 1, "a private key");
        CHECK("one is taken", ca_take(&store, &ca, &err) == 0 && !ca.is_none && ca.dir_fd >= 0);
        CHECK("the pool wants filling", ca.is_low);
        struct stat st;
        CHECK("its layer is where it says", ca.etc && stat(ca.etc, &st) == 0);
        CHECK("its key is in no file any more",
              ca.dir_fd >= 0 && faccessat(ca.dir_fd, "key", F_OK, 0) < 0);
        int seals = fcntl(ca.key_fd, F_GET_SEALS);
        CHECK("its key cannot be changed",
              seals == (F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE));
        _cleanup_buf_ struct buf b = {0};
        static const char want[] = "\0\0\0\x0d"
                                   "a private key"
                                   "\0\0\0\x0b"
                                   "certificate";
        CHECK("the keeper's beginning holds both", ca_begin(&ca, &b, &err) == 0 &&
                                                           b.len == sizeof want - 1 &&
                                                           memcmp(b.data, want, b.len) == 0);

        struct ca next;
        CHECK("nobody takes it again: without ostiary-door there is none",
              ca_take(&store, &next, &err) == 0 && next.is_none);
        CHECK("which says so", ca_begin(&next, &b, &err) < 0 && err.code == E_ABSENT);
        unsigned long removed = 0;
        CHECK("a living box's is not swept",
              ca_gc(&store, &removed, &err) == 0 && removed == 0 && count("used.") == 1);
        ca_close(&ca);
        CHECK("a dead one's is",
              ca_gc(&store, &removed, &err) == 0 && removed == 1 && count("") == 0);
}

static void fitting(void)
{
        struct ca ca;
        unsigned long removed = 0;
        struct timespec up;
        clock_gettime(CLOCK_BOOTTIME, &up);
        add("0123456789abcdef", time(NULL), 2, "key");
        add(host.key, time(NULL) - up.tv_sec - 100, 3, "key");
        CHECK("not one of other roots, not one from before the boot",
              ca_take(&store, &ca, &err) == 0 && ca.is_none);
        add(host.key, time(NULL), 4, NULL);
        add(host.key, time(NULL), 5, "");
        CHECK("not one whose key is missing or empty",
              ca_take(&store, &ca, &err) == 0 && ca.is_none);
        add(host.key, time(NULL), 6, "key");
        ca_close(&ca);
        CHECK("sweeping takes what fits no more",
              ca_gc(&store, &removed, &err) == 0 && removed == 4 && count("") == 1);
        CHECK("and leaves what does", ca_take(&store, &ca, &err) == 0 && !ca.is_none);
        ca_close(&ca);
        ca_gc(&store, &removed, &err);
        put(pool, "lock", "");
        close(beneath_mkdirs(pool, "new.1", 0700, NULL));
        ca_gc(&store, &removed, &err);
        CHECK("one that is being made stays", count("new.1") == 1 && count("lock") == 1);
        beneath_remove_tree(pool, "new.1", NULL);
}

/* Twelve processes, eight authorities: eight get one each, four none. */
static void race(void)
{
        enum { READY = 8, ASKING = 12 };
        int got[2];
        pid_t pids[ASKING];
        for (unsigned i = 0; i < READY; i++) {
                char key[20];
                snprintf(key, sizeof key, "key %u", i);
                add(host.key, time(NULL), 100 + i, key);
        }
        if (pipe(got) < 0)
                return;
        for (size_t i = 0; i < ASKING; i++) {
                if ((pids[i] = fork()) != 0)
                        continue;
                struct ca ca;
                char key[8] = "?";
                if (ca_take(&store, &ca, &err) == 0 && !ca.is_none &&
                    pread(ca.key_fd, key, 5, 0) != 5)
                        _exit(2);
                _exit(write(got[1], key + (key[0] == 'k') * 4, 1) != 1);
        }
        close(got[1]);
        for (size_t i = 0; i < ASKING; i++)
                waitpid(pids[i], NULL, 0);
        unsigned seen[READY] = {0}, none = 0;
        char c;
        while (read(got[0], &c, 1) == 1)
                if (c >= '0' && c < '0' + READY)
                        seen[c - '0']++;
                else
                        none++;
        close(got[0]);
        bool is_once = true;
        for (size_t i = 0; i < READY; i++)
                is_once = is_once && seen[i] == 1;
        check(is_once && none == ASKING - READY, "each is taken by one alone",
              "%u %u %u %u %u %u %u %u, none %u", seen[0], seen[1], seen[2], seen[3], seen[4],
              seen[5], seen[6], seen[7], none);
}

static void browsers(void)
{
        struct ca ca;
        add(host.key, time(NULL), 200, "key");
        CHECK("one more", ca_take(&store, &ca, &err) == 0 && !ca.is_none);
        close(beneath_mkdirs(ca.dir_fd, "nssdb", 0700, NULL));
        _cleanup_close_ int db = openat(ca.dir_fd, "nssdb", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        put(db, "cert9.db", "new");
        put(db, "key4.db", "new");
        put(db, "pkcs11.txt", "new");
        _cleanup_close_ int upper = beneath_mkdirs(pool, "upper", 0700, NULL);
        _cleanup_close_ int old = beneath_mkdirs(upper, ".pki/nssdb", 0700, NULL);
        put(old, "cert9.db", "old");
        put(old, "more", "old");
        CHECK("the browsers' database is the new one",
              ca_seed_home(&ca, upper, geteuid(), getegid(), &err) == 0 &&
                      faccessat(upper, ".pki/nssdb/cert9.db", F_OK, 0) == 0 &&
                      faccessat(upper, ".pki/nssdb/more", F_OK, 0) < 0);
        beneath_remove_tree(upper, ".pki", NULL);
        close(beneath_mkdirs(ca.dir_fd, "nssdb", 0700, NULL));
        if (symlinkat("/tmp", upper, ".pki") == 0)
                CHECK("a link that a box left is not followed",
                      ca_seed_home(&ca, upper, geteuid(), getegid(), &err) < 0 &&
                              access("/tmp/nssdb", F_OK) < 0);
        ca_close(&ca);
}

static void files(void)
{
        char path[80];
        snprintf(path, sizeof path, "%s/ca.pem", home);
        CHECK("a ca= file that is missing", ca_file("~/ca.pem", home, &err) < 0 &&
                                                    err.code == E_INPUT &&
                                                    strstr(err.text, "ca=~/ca.pem"));
        put(AT_FDCWD, path, "");
        CHECK("or empty", ca_file(path, home, &err) < 0 && strstr(err.text, "empty"));
        put(AT_FDCWD, path, "certificate");
        int fd = ca_file("~/ca.pem", home, &err);
        char text[16] = "";
        CHECK("or there",
              fd >= 0 && pread(fd, text, 15, 0) == 11 && strcmp(text, "certificate") == 0);
        close(fd);
        CHECK("or too large", truncate(path, DOOR_CA_FILE_MAX + 1) == 0 &&
                                      ca_file(path, home, &err) < 0 && strstr(err.text, "larger"));
        CHECK("or no file", ca_file(home, home, &err) < 0 && strstr(err.text, "not a file"));
        unlink(path);
        CHECK("or a pipe that nobody writes to",
              mkfifo(path, 0600) == 0 && ca_file(path, home, &err) < 0);
}

static void environment(void)
{
        _cleanup_strs_ struct strs env = {0};
        ca_env(&env);
        CHECK("programs are led to the box's files",
              strs_get_env(&env, "NODE_EXTRA_CA_CERTS") && strs_get_env(&env, "SSL_CERT_FILE"));
        strs_set_env(&env, "SSL_CERT_FILE", "/mine");
        ca_env_drop(&env);
        CHECK("what the user said stays",
              env.n == 1 && strcmp(strs_get_env(&env, "SSL_CERT_FILE"), "/mine") == 0);
}

int main(void)
{
        if (!mkdtemp(home) || setenv("HOME", home, 1) < 0)
                return 1;
        unsetenv("XDG_STATE_HOME");
        unsetenv("XDG_DATA_HOME");
        unsetenv("XDG_CONFIG_HOME");
        if (store_open(&store, &err) < 0 || (pool = ca_pool_open(&store, &err)) < 0) {
                printf("not ok a place for the pool: %s\n", err.text);
                return 1;
        }
        ca_host_look(&host);
        once();
        fitting();
        race();
        browsers();
        files();
        environment();
        store_free(&store);
        CHECK("everything is cleaned up", beneath_remove_tree(AT_FDCWD, home, NULL) == 0);
        return check_end();
}
