/* store_meta.c - what a box's directory says of it: the lock that tells whether it lives, and the
 * file of facts. The lock is the truth; the file is what was last known. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "session/frozen.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { META_MAX = 1 << 20 };

static const char *const state_name[] = {"starting", "running", "paused", "exited", "dead"};

const char *box_state_name(enum box_state s)
{
        return state_name[s];
}

bool box_state_is_alive(enum box_state s)
{
        return s == BOX_STARTING || s == BOX_RUNNING || s == BOX_PAUSED;
}

void box_meta_free(struct box_meta *m)
{
        free(m->id);
        free(m->name);
        free(m->profile);
        free(m->workspace);
        free(m->command);
        free(m->tier);
        free(m->grants);
        free(m->end_words);
        *m = (struct box_meta){0};
}

/* lock_at(dir_fd, flags, err): with O_CREAT for a box that is being made or mended. */
static int lock_at(int dir_fd, int flags, struct err *err)
{
        _cleanup_close_ int fd = openat(dir_fd, "lock", O_RDWR | O_CLOEXEC | flags, 0600);
        if (fd < 0)
                return err_sys(err, "open the lock of the box");
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        if (fcntl(fd, F_OFD_SETLK, &all) < 0) {
                if (errno == EACCES)
                        errno = EAGAIN;
                return err_sys(err, "lock the box");
        }
        struct stat st;
        if (fstat(fd, &st) < 0 || st.st_nlink == 0) {
                errno = ENOENT;
                return err_sys(err, "lock the box"); /* it was being removed */
        }
        return take_fd(&fd);
}

int store_box_lock(int dir_fd, struct err *err)
{
        return lock_at(dir_fd, O_CREAT, err);
}

int store_box_lock_there(int dir_fd, struct err *err)
{
        return lock_at(dir_fd, 0, err);
}

bool store_box_is_alive(int dir_fd)
{
        _cleanup_close_ int fd = openat(dir_fd, "lock", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0)
                return false;
        struct flock all = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        return fcntl(fd, F_OFD_GETLK, &all) == 0 && all.l_type != F_UNLCK;
}

int store_meta_write(int dir_fd, const struct box_meta *m, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        kv_put(&b, "name", m->name);
        kv_put(&b, "profile", m->profile);
        kv_put(&b, "workspace", m->workspace);
        kv_put(&b, "command", m->command);
        kv_put(&b, "tier", m->tier);
        kv_put(&b, "grants", m->grants);
        kv_put(&b, "state", state_name[m->state]);
        kv_put(&b, "why", m->end_words);
        kv_put_u64(&b, "pid", (uint64_t)m->supervisor_pid);
        kv_put_u64(&b, "created_us", (uint64_t)m->created_us);
        kv_put_u64(&b, "ended_us", (uint64_t)m->ended_us);
        kv_put_u64(&b, "exit", (uint64_t)m->exit_code);
        kv_put_bool(&b, "live", m->is_live);
        kv_put_bool(&b, "kept", m->is_kept);
        kv_put_bool(&b, "changes", m->was_written);
        if (b.is_broken || b.len > META_MAX)
                return err_set(err, E_SYSTEM, "the facts about the box are too long to keep");
        return fdio_write_file(dir_fd, "meta", buf_cstr(&b), 0600, err);
}

/* meta_time(m, key, n): an older box says whole seconds, and ended within its last. */
static bool meta_time(struct box_meta *m, const char *key, uint64_t n)
{
        enum { SECOND_US = 1000000 };
        int64_t us = n > INT64_MAX / SECOND_US ? 0 : (int64_t)n * SECOND_US;
        if (strcmp(key, "created_us") == 0)
                m->created_us = (int64_t)(n & INT64_MAX);
        else if (strcmp(key, "ended_us") == 0)
                m->ended_us = (int64_t)(n & INT64_MAX);
        else if (strcmp(key, "created") == 0)
                m->created_us = us;
        else if (strcmp(key, "ended") == 0)
                m->ended_us = us ? us + SECOND_US - 1 : 0;
        else
                return false;
        return true;
}

static void meta_one(struct box_meta *m, const char *key, const char *value)
{
        const struct {
                const char *key;
                char **to;
        } text[] = {
                {"name", &m->name},       {"profile", &m->profile}, {"workspace", &m->workspace},
                {"command", &m->command}, {"tier", &m->tier},       {"grants", &m->grants},
                {"why", &m->end_words},
        };
        for (size_t i = 0; i < sizeof text / sizeof *text; i++) {
                if (strcmp(key, text[i].key) == 0) {
                        free(*text[i].to);
                        *text[i].to = str_dup(value);
                        return;
                }
        }
        if (strcmp(key, "state") == 0) {
                for (int i = BOX_STARTING; i <= BOX_DEAD; i++)
                        if (strcmp(value, state_name[i]) == 0)
                                m->state = (enum box_state)i;
                return;
        }
        uint64_t n;
        if (str_u64(value, &n) < 0 || meta_time(m, key, n))
                return;
        if (strcmp(key, "pid") == 0)
                m->supervisor_pid = (pid_t)n;
        else if (strcmp(key, "exit") == 0)
                m->exit_code = (int)n;
        else if (strcmp(key, "live") == 0)
                m->is_live = n;
        else if (strcmp(key, "kept") == 0)
                m->is_kept = n;
        else if (strcmp(key, "changes") == 0)
                m->was_written = n;
}

int store_meta_read(int dir_fd, const char *id, struct box_meta *m, struct err *err)
{
        *m = (struct box_meta){.state = BOX_STARTING};
        struct stat st;
        if (fstat(dir_fd, &st) < 0)
                return err_sys(err, "look at box %s", id);
        m->id = str_dup(id);
        bool is_alive = store_box_is_alive(dir_fd);
        /* No file, or one that a crash of the machine left unreadable: then nothing is known, and
         * the box can still be listed and removed. */
        _cleanup_free_ char *text = fdio_read_file(dir_fd, "meta", META_MAX, NULL);
        char *at = text, *key, *value;
        while (text && kv_next(&at, &key, &value))
                meta_one(m, key, value);

        if (!is_alive) {
                m->supervisor_pid = 0;
                if (m->state != BOX_EXITED)
                        m->state = BOX_DEAD;
        } else if (m->state != BOX_RUNNING && m->state != BOX_PAUSED) {
                m->state = BOX_STARTING;
        }
        if (!m->created_us)
                m->created_us = (int64_t)st.st_mtim.tv_sec * 1000000 + st.st_mtim.tv_nsec / 1000;
        if (!m->name)
                m->name = str_dup(id);
        char **rest[] = {&m->profile, &m->workspace, &m->command,
                         &m->tier,    &m->grants,    &m->end_words};
        for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
                if (!*rest[i])
                        *rest[i] = str_dup("");
        return 0;
}

static bool is_empty(int dir_fd, const char *path)
{
        int fd = openat(dir_fd, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        if (!d)
                return true;
        for (struct dirent *e; (e = readdir(d));)
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        return false;
        return true;
}

bool store_box_has_changes(int dir_fd)
{
        int fd = openat(dir_fd, "layers", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fd >= 0 ? fdopendir(fd) : NULL;
        for (struct dirent *e; d && (e = readdir(d));) {
                char upper[300];
                if (e->d_name[0] == '.' || strcmp(e->d_name, "home") == 0)
                        continue;
                snprintf(upper, sizeof upper, "%s/upper", e->d_name);
                if (!is_empty(fd, upper))
                        return true;
        }
        return frozen_have_changes(dir_fd);
}
