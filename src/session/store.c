/* store.c - the boxes of this user: making, finding, listing and removing them.
 *
 * Called by every command that names a box and by session_run. Removing happens only under the
 * box's own lock, so a living box cannot lose its directory, and beside nobody who applies it; what a
 * removal left half done is swept. */
#include "session/store.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>

enum { NAME_LEN_MAX = 40, USE_WAIT_MS = 3000, USE_STEP_MS = 20, REMOVE_TRIES = 100 };
#define FRESH ".new-"  /* a box that has no name yet */
#define GONE  ".gone-" /* a box on its way out */

/* Short words that are easy to say, type and tell apart. */
static const char *const words[] = {
        "amber", "apple", "aspen", "basil", "beech", "birch", "brook", "cedar", "cliff", "clove",
        "coral", "delta", "ember", "fern",  "fjord", "flint", "grove", "hazel", "heron", "holly",
        "iris",  "ivory", "jade",  "lark",  "lemon", "lilac", "linen", "lotus", "maple", "marsh",
        "mint",  "moss",  "olive", "opal",  "otter", "pearl", "pine",  "plum",  "quail", "reed",
        "river", "robin", "ruby",  "sage",  "slate", "stone", "tulip", "wren",
};

static int open_boxes(const struct store *s, struct err *err)
{
        char path[4096];
        if (snprintf(path, sizeof path, "%s/boxes", s->state) >= (int)sizeof path)
                return err_set(err, E_INPUT, "the state directory's path is too long");
        int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                err_sys(err, "open %s", path);
        return fd;
}

static int open_box(int boxes, const char *id)
{
        return openat(boxes, id, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

bool store_is_name(const char *s)
{
        size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.");
        return n > 0 && n <= NAME_LEN_MAX && s[n] == 0 && s[0] != '-' && s[0] != '.';
}

/* make_id(out): a word and four hex digits. */
static void make_id(char out[32])
{
        uint32_t r;
        if (getrandom(&r, sizeof r, 0) != sizeof r)
                r = (uint32_t)getpid() * 2654435761u ^ (uint32_t)time(NULL);
        snprintf(out, 32, "%s-%04x", words[(r >> 16) % (sizeof words / sizeof *words)],
                 r & 0xffffu);
}

/* claim(boxes, id): make a directory, take its lock, and only then give it its name: there is never
 * a box without a lock, whoever is killed when. 0, or -1 with errno: EEXIST when somebody has the
 * name, ENOENT or EAGAIN when a sweep came in between. */
static int claim(int boxes, const char *id, int *dir_fd, int *lock_fd)
{
        char fresh[128];
        snprintf(fresh, sizeof fresh, FRESH "%s-%d", id, (int)getpid());
        if (mkdirat(boxes, fresh, 0700) < 0)
                return -1;
        _cleanup_close_ int dir = open_box(boxes, fresh);
        _cleanup_close_ int lock = dir >= 0 ? store_box_lock(dir, NULL) : -1;
        /* Replaces an empty directory, which is no box; a box has its lock in it. */
        if (lock < 0 || renameat(boxes, fresh, boxes, id) < 0) {
                int e = errno;
                beneath_remove_tree(boxes, fresh, NULL);
                errno = e == ENOTEMPTY || e == ENOTDIR ? EEXIST : e;
                return -1;
        }
        *dir_fd = take_fd(&dir);
        *lock_fd = take_fd(&lock);
        return 0;
}

int store_new_box(const struct store *s, const char *name, char **id, int *dir_fd, int *lock_fd,
                  struct err *err)
{
        if (name && !store_is_name(name)) {
                _cleanup_free_ char *shown = str_quote(name);
                return err_set(err, E_USAGE,
                               "\"%s\" cannot be a box's name: use up to %d letters, digits, dots, "
                               "dashes and underscores, beginning with a letter or digit",
                               shown, NAME_LEN_MAX);
        }
        _cleanup_close_ int boxes = open_boxes(s, err);
        if (boxes < 0)
                return -1;

        for (int tries = 0; tries < 100; tries++) {
                char made[32];
                if (!name)
                        make_id(made);
                const char *want = name ? name : made;
                if (claim(boxes, want, dir_fd, lock_fd) == 0) {
                        *id = str_dup(want);
                        return 0;
                }
                if (name && errno == EEXIST)
                        return err_set(err, E_REFUSED,
                                       "there is a box named %s already (ostiary ps -a shows it, "
                                       "ostiary rm %s removes it)",
                                       name, name);
                if (errno != EEXIST && errno != ENOENT && errno != EAGAIN)
                        return err_sys(err, "make a box in %s/boxes", s->state);
        }
        return err_set(err, E_SYSTEM, "found no free name for a box in %s/boxes", s->state);
}

int store_box_dir(const struct store *s, const char *id, struct err *err)
{
        if (!store_is_name(id)) {
                _cleanup_free_ char *shown = str_quote(id);
                return err_set(err, E_ABSENT, "there is no box \"%s\"", shown);
        }
        _cleanup_close_ int boxes = open_boxes(s, err);
        if (boxes < 0)
                return -1;
        int fd = open_box(boxes, id);
        if (fd < 0 && errno == ENOENT)
                return err_set(err, E_ABSENT, "there is no box %s", id);
        if (fd < 0)
                err_sys(err, "open the directory of box %s", id);
        return fd;
}

/* each_box(s, ids): the names of all box directories, in no order. */
static int each_box(const struct store *s, struct strs *ids, struct err *err)
{
        int boxes = open_boxes(s, err);
        if (boxes < 0)
                return -1;
        _cleanup_closedir_ DIR *d = fdopendir(boxes);
        if (!d) {
                close(boxes);
                return err_sys(err, "list %s/boxes", s->state);
        }
        for (struct dirent *e; (e = readdir(d));)
                if (store_is_name(e->d_name) && (e->d_type == DT_DIR || e->d_type == DT_UNKNOWN))
                        strs_add(ids, e->d_name);
        return 0;
}

static int newest(const struct store *s, char **id, struct err *err)
{
        struct box_meta *all;
        size_t n;
        if (store_list(s, &all, &n, err) < 0)
                return -1;
        if (n)
                *id = str_dup(all[0].id);
        store_list_free(all, n);
        if (!n)
                return err_set(err, E_ABSENT, "there is no box (ostiary run starts one)");
        return 0;
}

int store_find(const struct store *s, const char *word, char **id, struct err *err)
{
        if (!word || !*word)
                return newest(s, id, err);
        _cleanup_close_ int dir = store_box_dir(s, word, NULL);
        if (dir >= 0) {
                *id = str_dup(word);
                return 0;
        }

        _cleanup_strs_ struct strs ids = {0};
        if (each_box(s, &ids, err) < 0)
                return -1;
        const char *only = NULL;
        size_t hits = 0;
        for (size_t i = 0; i < ids.n; i++) {
                if (str_starts(ids.v[i], word)) {
                        only = ids.v[i];
                        hits++;
                }
        }
        if (hits == 1) {
                *id = str_dup(only);
                return 0;
        }
        _cleanup_free_ char *shown = str_quote(word);
        if (hits > 1)
                return err_set(err, E_ABSENT,
                               "%zu boxes begin with \"%s\"; write more of the name (ostiary ps -a "
                               "lists them)",
                               hits, shown);
        const char *near = str_suggest(word, (const char *const *)ids.v, ids.n);
        if (near)
                return err_set(err, E_ABSENT, "there is no box \"%s\"; did you mean %s?", shown,
                               near);
        return err_set(err, E_ABSENT, "there is no box \"%s\" (ostiary ps -a lists them)", shown);
}

static int by_age(const void *a, const void *b)
{
        const struct box_meta *x = a, *y = b;
        if (x->created_us != y->created_us)
                return x->created_us < y->created_us ? 1 : -1;
        return strcmp(x->id, y->id);
}

int store_list(const struct store *s, struct box_meta **out, size_t *out_n, struct err *err)
{
        *out = NULL;
        *out_n = 0;
        _cleanup_strs_ struct strs ids = {0};
        if (each_box(s, &ids, err) < 0)
                return -1;
        _cleanup_close_ int boxes = open_boxes(s, err);
        if (boxes < 0)
                return -1;
        struct box_meta *all = calloc(ids.n + 1, sizeof *all);
        if (!all)
                str_no_memory();
        size_t n = 0;
        for (size_t i = 0; i < ids.n; i++) {
                _cleanup_close_ int dir = open_box(boxes, ids.v[i]);
                if (dir < 0)
                        continue; /* gone meanwhile, or no directory at all */
                if (store_meta_read(dir, ids.v[i], &all[n], NULL) == 0)
                        n++;
        }
        qsort(all, n, sizeof *all, by_age);
        *out = all;
        *out_n = n;
        return 0;
}

void store_list_free(struct box_meta *all, size_t n)
{
        for (size_t i = 0; i < n; i++)
                box_meta_free(&all[i]);
        free(all);
}

/* discard(boxes, id, err): out of sight first, so that whoever looks meanwhile finds no box rather
 * than half of one, and a sweep finds what could not be deleted. */
static int discard(int boxes, const char *id, struct err *err)
{
        char gone[128];
        snprintf(gone, sizeof gone, GONE "%s-%d", id, (int)getpid());
        if (renameat(boxes, id, boxes, gone) < 0)
                return errno == ENOENT ? 0 : err_sys(err, "remove box %s", id);
        /* Who was looking at it (diff, ps) may put a note into it meanwhile. */
        for (int i = 0; i < REMOVE_TRIES; i++) {
                struct err why = {0};
                if (beneath_remove_tree(boxes, gone, &why) == 0)
                        return 0;
                if (why.sys != ENOTEMPTY && why.sys != EEXIST)
                        break;
        }
        return beneath_remove_tree(boxes, gone, err);
}

int store_box_use(const struct store *s, const char *id, struct err *err)
{
        struct stat mine, there;
        _cleanup_close_ int fd = store_box_dir(s, id, err);
        if (fd < 0)
                return -1;
        if (flock(fd, LOCK_SH | LOCK_NB) < 0)
                return err_set(err, E_REFUSED, "box %s is being removed", id);
        /* Who removes has the lock until it is gone: so it may be now. */
        _cleanup_close_ int now = store_box_dir(s, id, err);
        if (now < 0)
                return -1;
        if (fstat(fd, &mine) < 0 || fstat(now, &there) < 0 || mine.st_ino != there.st_ino)
                return err_set(err, E_ABSENT, "box %s was removed", id);
        return take_fd(&fd);
}

/* shut_out(dir, id, err): nobody uses it, and from now on nobody does. The descriptor, or -1. */
static int shut_out(int dir, const char *id, struct err *err)
{
        const struct timespec step = {.tv_nsec = USE_STEP_MS * 1000000L};
        _cleanup_close_ int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return err_sys(err, "open the directory of box %s", id);
        for (int left_ms = USE_WAIT_MS; left_ms > 0; left_ms -= USE_STEP_MS) {
                if (flock(fd, LOCK_EX | LOCK_NB) == 0)
                        return take_fd(&fd);
                if (errno != EWOULDBLOCK && errno != EINTR)
                        return err_sys(err, "lock box %s", id);
                nanosleep(&step, NULL);
        }
        err_set(err, E_REFUSED,
                "box %s is being applied by another ostiary, and stays: come again when that has "
                "ended",
                id);
        if (err)
                err->sys = EBUSY;
        return -1;
}

int store_remove(const struct store *s, const char *id, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(s, id, err);
        if (dir < 0)
                return -1;
        _cleanup_close_ int boxes = open_boxes(s, err);
        if (boxes < 0)
                return -1;
        _cleanup_close_ int lock = store_box_lock(dir, err);
        if (lock < 0 && errno == EAGAIN)
                return err_set(err, E_REFUSED, "box %s is running (ostiary stop %s ends it)", id,
                               id);
        if (lock < 0 && errno != ENOENT)
                return -1;
        _cleanup_close_ int alone = shut_out(dir, id, err);
        return alone < 0 ? -1 : discard(boxes, id, err);
}

int store_discard(const struct store *s, const char *id, struct err *err)
{
        _cleanup_close_ int boxes = open_boxes(s, err);
        return boxes < 0 ? -1 : discard(boxes, id, err);
}

/* sweep_one(boxes, name): delete half a box. One on its way out may be deleted by several at once;
 * one that is being made has its lock, or its maker finds ours and tries again. */
static bool sweep_one(int boxes, const char *name)
{
        bool is_fresh = str_starts(name, FRESH);
        if (!is_fresh && !str_starts(name, GONE))
                return false;
        _cleanup_close_ int dir = is_fresh ? open_box(boxes, name) : -1;
        _cleanup_close_ int lock = dir >= 0 ? store_box_lock(dir, NULL) : -1;
        if (is_fresh && lock < 0)
                return false;
        return beneath_remove_tree(boxes, name, NULL) == 0;
}

int store_sweep(const struct store *s, struct err *err)
{
        _cleanup_close_ int boxes = open_boxes(s, err);
        if (boxes < 0)
                return -1;
        _cleanup_closedir_ DIR *d = fdio_opendir(boxes);
        if (!d)
                return err_sys(err, "list %s/boxes", s->state);
        int n = 0;
        for (struct dirent *e; (e = readdir(d));)
                n += sweep_one(boxes, e->d_name);
        return n;
}
