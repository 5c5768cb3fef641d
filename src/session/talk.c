/* talk.c - see talk.h. Called by the planner when a box goes on. The trees are the box's own and
 * hostile: of a name only a UUID is taken, and nothing is read. */
#include "session/talk.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "session/frozen.h"
#include "session/store.h"
#include "workspace/stack.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TALK_DEPTH = 6, TALK_NAMES = 4096, UUID_LEN = 36 };

struct talk {
        bool is_left;
        char uuid[UUID_LEN + 1]; /* "": none yet */
        struct timespec when;    /* of the file whose name has it */
        int names_left;          /* to look at */
};

static bool talk_is_uuid(const char *s)
{
        for (int i = 0; i < UUID_LEN; i++) {
                bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
                if (is_dash ? s[i] != '-' : !isxdigit((unsigned char)s[i]))
                        return false;
        }
        return true;
}

/* talk_file(t, name, st): one more. */
static void talk_file(struct talk *t, const char *name, const struct stat *st)
{
        if (st->st_size == 0)
                return;
        t->is_left = true;
        size_t n = strlen(name);
        bool is_newer =
                !t->uuid[0] || st->st_mtim.tv_sec > t->when.tv_sec ||
                (st->st_mtim.tv_sec == t->when.tv_sec && st->st_mtim.tv_nsec > t->when.tv_nsec);
        for (size_t i = 0; is_newer && i + UUID_LEN <= n; i++) {
                if (!talk_is_uuid(name + i))
                        continue;
                memcpy(t->uuid, name + i, UUID_LEN);
                t->when = st->st_mtim;
                return;
        }
}

/* talk_walk(t, fd, name, depth): here and below. ${fd} is an O_PATH descriptor: nothing but directories is
 * ever opened, so no FIFO is waited for. It stays the caller's. */
static void talk_walk(struct talk *t, int fd, const char *name, int depth)
{
        struct stat st;
        if (fstat(fd, &st) < 0)
                return;
        if (S_ISREG(st.st_mode)) {
                talk_file(t, name, &st);
                return;
        }
        int copy = depth > 0 && S_ISDIR(st.st_mode)
                           ? openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
                           : -1;
        _cleanup_closedir_ DIR *d = copy >= 0 ? fdopendir(copy) : NULL;
        if (!d && copy >= 0)
                close(copy);
        for (struct dirent *e; d && t->names_left-- > 0 && (e = readdir(d));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                _cleanup_close_ int below = openat(fd, e->d_name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
                if (below >= 0)
                        talk_walk(t, below, e->d_name, depth - 1);
        }
}

static void talk_in(struct talk *t, int root_fd, const char *path);

/* talk_each(t, root_fd, dir, rest): ${rest} in every directory of ${dir}. */
static void talk_each(struct talk *t, int root_fd, const char *dir, const char *rest)
{
        int fd = beneath_open_nosym(root_fd, dir, O_RDONLY | O_DIRECTORY, 0, NULL);
        _cleanup_closedir_ DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        if (!d && fd >= 0)
                close(fd);
        for (struct dirent *e; d && t->names_left-- > 0 && (e = readdir(d));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                _cleanup_close_ int below =
                        openat(dirfd(d), e->d_name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
                talk_in(t, below, rest);
        }
}

/* talk_in(t, root_fd, path): one tree of the home; a part of ${path} that is * is any directory. */
static void talk_in(struct talk *t, int root_fd, const char *path)
{
        const char *star = strstr(path, "/*/"), *slash = strrchr(path, '/');
        if (root_fd < 0)
                return;
        if (star) {
                _cleanup_free_ char *dir = str_fmt("%.*s", (int)(star - path), path);
                talk_each(t, root_fd, dir, star + 3);
                return;
        }
        _cleanup_close_ int fd = beneath_open_nosym(root_fd, path, O_PATH, 0, NULL);
        if (fd >= 0)
                talk_walk(t, fd, slash ? slash + 1 : path, TALK_DEPTH);
}

char *talk_left(const struct store *store, const char *id, const char *path)
{
        struct talk t = {.names_left = TALK_NAMES};
        _cleanup_close_ int dir = store_box_dir(store, id, NULL);
        if (dir < 0)
                return NULL;
        _cleanup_close_ int upper =
                openat(dir, "layers/home/upper", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        talk_in(&t, upper, path);
        _cleanup_stack_ struct stack s = {0};
        if (!t.is_left && stack_read(dir, "stack", &s, NULL) == 0 && s.n) {
                _cleanup_close_ int frozen = frozen_open(store, NULL);
                for (size_t i = s.n; frozen >= 0 && !t.is_left && i-- > 0;) {
                        _cleanup_close_ int tree = stack_open(frozen, s.v[i].id, "home", NULL);
                        talk_in(&t, tree, path);
                }
        }
        return t.is_left ? str_dup(t.uuid) : NULL;
}
