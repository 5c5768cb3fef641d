/* ca_pool.c - the pool of authorities: which of them fit this host, who makes new ones, what is
 * swept. Shared by all boxes of a user, so everything here holds against others doing the same. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/loop.h"
#include "base/str.h"
#include "policy/trust_list.h"
#include "session/ca.h"
#include "session/ca_int.h"
#include "session/door_program.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

/* Changed when what make-ca writes changes. */
static const char version[] = "4";

enum { AGE_MAX = 60 * 86400, LEFT_OVER_S = 3600 };

static void mix(uint64_t *h, const void *p, size_t n)
{
        const unsigned char *b = p;
        while (n--)
                *h = (*h ^ *b++) * 0x100000001b3ull;
}

/* mix_file(h, path): the file's identity, or that there is none. */
static bool mix_file(uint64_t *h, const char *path)
{
        struct stat st = {0};
        bool is_there = stat(path, &st) == 0;
        mix(h, &st.st_dev, sizeof st.st_dev);
        mix(h, &st.st_ino, sizeof st.st_ino);
        mix(h, &st.st_size, sizeof st.st_size);
        mix(h, &st.st_mtim, sizeof st.st_mtim);
        return is_there;
}

/* has_any(list): is one of these places there? */
static bool has_any(const char *const *list)
{
        const char *home = getenv("HOME");
        char path[4096];
        for (size_t i = 0; list[i]; i++) {
                bool is_home = list[i][0] == '~';
                if (is_home && !home)
                        continue;
                snprintf(path, sizeof path, "%s%s", is_home ? home : "", list[i] + is_home);
                if (access(path, F_OK) == 0)
                        return true;
        }
        return false;
}

static uint64_t mix_roots(struct ca_host *host)
{
        uint64_t h = 0xcbf29ce484222325ull;
        *host = (struct ca_host){0};
        mix(&h, version, sizeof version);
        for (size_t i = 0; trust_list_bundles[i]; i++)
                if (mix_file(&h, trust_list_bundles[i]) && !host->bundle)
                        host->bundle = trust_list_bundles[i];
        snprintf(host->roots, sizeof host->roots, "%016" PRIx64, h);
        return h;
}

void ca_host_roots(struct ca_host *host)
{
        mix_roots(host);
}

void ca_host_look(struct ca_host *host)
{
        uint64_t h = mix_roots(host);
        host->has_java =
                has_any(trust_list_java) || getenv("JAVA_HOME") || has_any(trust_list_jdks);
        mix(&h, &host->has_java, sizeof host->has_java);
        host->has_browser = has_any(trust_list_browsers);
        mix(&h, &host->has_browser, sizeof host->has_browser);
        if (has_any(trust_list_nss) && access("/usr/bin/certutil", X_OK) == 0) {
                host->certutil = "/usr/bin/certutil";
                mix(&h, "nss", 3);
        }
        snprintf(host->key, sizeof host->key, "%016" PRIx64, h);
}

int ca_pool_open(const struct store *store, struct err *err)
{
        _cleanup_free_ char *dir = str_fmt("%s/ca", store->state);
        int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                if (mkdir(dir, 0700) < 0 && errno != EEXIST)
                        return err_sys(err, "make %s", dir);
                fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        return fd < 0 ? err_sys(err, "open %s", dir) : fd;
}

bool ca_pool_fits(const struct ca_host *host, const char *name)
{
        size_t len = strlen(host->key);
        struct timespec now, up;
        char *end;
        if (strncmp(name, host->key, len) != 0 || name[len] != '.')
                return false;
        long long made = strtoll(name + len + 1, &end, 16);
        if (*end != '.' || end[1] == 0)
                return false;
        clock_gettime(CLOCK_REALTIME, &now);
        clock_gettime(CLOCK_BOOTTIME, &up);
        return made >= now.tv_sec - up.tv_sec && made >= now.tv_sec - AGE_MAX;
}

/* errand(door_fd, argv, what, err): run it to its end; its complaint is part of ours. */
static int errand(int door, char *const argv[], const char *what, struct err *err)
{
        char words[400];
        int status = door_program_run(door, argv, words, sizeof words, err);
        if (status == 0)
                return 0;
        if (status < 0)
                return err_add(err, "%s could not be made", what);
        words[strcspn(words, "\n")] = 0;
        if (WIFSIGNALED(status))
                snprintf(words, sizeof words, "ostiary-door %s was ended by signal %d (%s)",
                         argv[1], WTERMSIG(status), strsignal(WTERMSIG(status)));
        return err_set(err, E_SYSTEM, "%s could not be made: %s", what,
                       words[0] ? words : "ostiary-door cannot be executed");
}

static const char *wants(const struct ca_host *host)
{
        static const char *const words[] = {"-", "java", "browsers", "java,browsers"};
        return words[host->has_java + 2 * host->has_browser];
}

/* The words of make-ca; the strings stay the caller's. */
#define MAKE_CA(dir, host, count, last)                                                            \
        {                                                                                          \
                (char *)"ostiary-door", (char *)"make-ca", (dir), (host)->key, (char *)(count),    \
                        (char *)(uintptr_t)((host)->bundle ? (host)->bundle : "-"),                \
                        (char *)wants(host),                                                       \
                        (char *)(uintptr_t)((host)->certutil ? (host)->certutil : "-"),            \
                        (char *)(last), NULL                                                       \
        }

int ca_pool_make(const struct store *store, const struct ca_host *host, struct err *err)
{
        struct err missing = {0};
        struct ca_host h = *host;
        _cleanup_close_ int door = door_program_open(&missing);
        if (door < 0)
                return 1;
        _cleanup_free_ char *dir = str_fmt("%s/ca", store->state);
        /* To read the roots takes as long as making ten of them: whoever comes next finds some. */
        char *argv[] = MAKE_CA(dir, &h, "4", NULL);
        return errand(door, argv, "a certificate authority for the box", err);
}

int ca_pool_index(const struct store *store, const struct ca_host *host, struct err *err)
{
        _cleanup_close_ int door = door_program_open(err);
        if (door < 0)
                return -1;
        _cleanup_free_ char *out = str_fmt("%s/ca/%s.roots", store->state, host->roots);
        char *argv[] = {(char *)"ostiary-door", (char *)"index-roots",
                        (char *)(uintptr_t)host->bundle, out, NULL};
        return errand(door, argv, "the index of trusted roots", err);
}

/* hold_over(pool, name): a descriptor that locks the directory, if nothing that lives uses or fills
 * it; -1 otherwise. Whoever sweeps at the same time, or makes one of it again, stays away. */
static int hold_over(int pool, const char *name)
{
        _cleanup_close_ int fd =
                openat(pool, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        struct stat st;
        if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) < 0 || fstat(fd, &st) < 0)
                return -1;
        /* Between the mkdir and the lock of one that is being made lies a moment. */
        if (str_starts(name, "new.") && st.st_mtime >= time(NULL) - 60)
                return -1;
        return take_fd(&fd);
}

/* sweep(pool, host, spare, &removed, err): remove what fits no more and what boxes that are over
 * have left, but for ${spare} that make-ca can use again. */
static int sweep(int pool, const struct ca_host *host, unsigned spare, unsigned long *removed,
                 struct err *err)
{
        _cleanup_free_ char *used = str_fmt("used.%s.", host->key);
        _cleanup_free_ char *index = str_fmt("%s.roots", host->roots);
        _cleanup_closedir_ DIR *d = fdio_opendir(pool);
        struct dirent *e;
        struct stat st;
        while (d && (e = readdir(d))) {
                if (e->d_name[0] == '.' || strcmp(e->d_name, "lock") == 0)
                        continue;
                if (e->d_type == DT_DIR) {
                        if (ca_pool_fits(host, e->d_name))
                                continue;
                        _cleanup_close_ int held = hold_over(pool, e->d_name);
                        if (held < 0)
                                continue;
                        if (spare && str_starts(e->d_name, used)) {
                                spare--;
                                continue;
                        }
                        if (beneath_remove_tree(pool, e->d_name, err) < 0)
                                return -1;
                        ++*removed;
                } else if (strcmp(e->d_name, index) != 0 &&
                           fstatat(pool, e->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
                           st.st_mtime < time(NULL) - LEFT_OVER_S) {
                        unlinkat(pool, e->d_name, 0);
                }
        }
        return 0;
}

int ca_gc(const struct store *store, unsigned long *removed, struct err *err)
{
        struct ca_host host;
        _cleanup_close_ int pool = ca_pool_open(store, err);
        if (pool < 0)
                return -1;
        ca_host_look(&host);
        return sweep(pool, &host, 0, removed, err);
}

/* tidy(store, host, door): in a child of the supervisor's: sweep, index, fill. */
_Noreturn static void tidy(const struct store *store, struct ca_host host, int door)
{
        unsigned long removed = 0;
        /* The box's lock above all: as long as a copy of it is open, the box counts as alive. */
        fdio_close_except(&door, 1);
        /* Behind the box that this follows, but not last of all: when many boxes are started, the
         * next one waits for it. */
        setpriority(PRIO_PROCESS, 0, 5);
        int pool = ca_pool_open(store, NULL);
        int lock = openat(pool, "lock", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        if (lock < 0 || flock(lock, LOCK_EX | LOCK_NB) < 0)
                _exit(0); /* somebody does it already */
        sweep(pool, &host, CA_WANT, &removed, NULL);
        char *index = str_fmt("%s/ca/%s.roots", store->state, host.roots);
        if (host.bundle && access(index, F_OK) < 0)
                ca_pool_index(store, &host, NULL);
        char *dir = str_fmt("%s/ca", store->state);
        char count[8];
        snprintf(count, sizeof count, "%d", CA_WANT);
        char *argv[] = MAKE_CA(dir, &host, count, "only");
        door_program_become(door, argv, -1);
}

struct refill {
        pid_t pid;
        int pidfd;
        struct loop_src *src;
};

static void on_refilled(void *ctx, uint32_t events)
{
        struct refill *r = ctx;
        (void)events;
        waitpid(r->pid, NULL, WNOHANG);
        loop_del(&r->src);
        close_fd(&r->pidfd);
        free(r);
}

void ca_refill(const struct store *store, const struct ca *ca, struct loop *loop)
{
        if (!ca->is_low || ca->is_none)
                return;
        _cleanup_close_ int door = door_program_open(NULL);
        if (door < 0)
                return;
        pid_t pid = fork();
        if (pid == 0)
                tidy(store, ca->host, door);
        struct refill *r = pid < 0 ? NULL : calloc(1, sizeof *r);
        if (!r)
                return;
        *r = (struct refill){.pid = pid, .pidfd = pidfd_open(pid, 0)};
        if (r->pidfd < 0 || !(r->src = loop_add(loop, r->pidfd, EPOLLIN, on_refilled, r))) {
                close_fd(&r->pidfd);
                free(r);
        }
}
