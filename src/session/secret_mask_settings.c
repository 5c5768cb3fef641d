/* secret_mask_settings.c - secrets in settings that were copied into a box's fresh home (an MCP
 * server's key in a config.toml): the copy is changed in its place, since the host's file is
 * another one. Called by start.c right after seeding, and for granted names when the keeper has
 * answered; never on a home that a box has written to. */
#include "session/secret_mask.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/secret_mask_int.h"
#include "session/start.h"

#include <fcntl.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FILES_MAX = 2048, DEPTH_MAX = 8 };

struct settings {
        const struct session_plan *plan;
        struct secret_mask_list list;
        int home_fd;
        size_t left;
        struct err *err;
};

static bool is_settings(const char *name)
{
        static const char *const patterns[] = {"*.json", "*.toml", "*.yml",  "*.yaml",
                                               "*.env",  "*.ini",  "*.conf", "*.cfg"};
        for (size_t i = 0; i < sizeof patterns / sizeof *patterns; i++)
                if (fnmatch(patterns[i], name, 0) == 0)
                        return true;
        return false;
}

/* mask_at(s, path, entry): hide what is in one file; ${entry} NULL makes one. A file that is not as
 * we left it is not ours any more. */
static int mask_at(struct settings *s, const char *path, struct secret_mask_entry *e)
{
        _cleanup_close_ int fd =
                beneath_open_nosym(s->home_fd, path, O_RDWR | O_NONBLOCK | O_NOCTTY, 0, NULL);
        _cleanup_buf_ struct buf b = {.max = SECRET_SCAN_FILE_MAX + 4096};
        _cleanup_copy_ struct secret_mask_copy copy = {0};
        char sha[SHA256_HEX_LEN + 1];
        struct stat st;
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_nlink != 1 ||
            st.st_size > SECRET_SCAN_FILE_MAX || fdio_read_all(fd, &b, SECRET_SCAN_FILE_MAX) < 0)
                return 0;
        sha256_hex(b.data, b.len, sha);
        buf_put_u8(&b, 0);
        if (b.is_broken || (e && strcmp(sha, e->sha) != 0))
                return 0;
        secret_mask_copy_make(SECRET_SCAN_TEXT, (const char *)b.data, b.len - 1, &s->plan->secrets,
                              &copy);
        if (copy.count == 0)
                return 0;
        if (copy.text.is_broken || ftruncate(fd, 0) < 0 || lseek(fd, 0, SEEK_SET) < 0 ||
            fdio_write_all(fd, copy.text.data, copy.text.len) < 0)
                return err_sys(s->err, "hide the secrets in ~/%s", path);
        if (!e)
                e = secret_mask_list_add(&s->list, "home", path);
        sha256_hex(copy.text.data, copy.text.len, e->sha);
        e->count = copy.count;
        free(e->names);
        e->names = str_dup(copy.names.n ? copy.names.v[0] : "");
        return 0;
}

static int walk(struct settings *s, const char *dir, int depth)
{
        int fd = beneath_open_nosym(s->home_fd, dir, O_RDONLY | O_DIRECTORY, 0, NULL);
        _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d && fd >= 0)
                close(fd);
        for (struct dirent *e; d && (e = readdir(d));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (s->left == 0)
                        return 0;
                s->left--;
                _cleanup_free_ char *path =
                        *dir ? str_fmt("%s/%s", dir, e->d_name) : str_dup(e->d_name);
                struct stat st;
                if (fstatat(s->home_fd, path, &st, AT_SYMLINK_NOFOLLOW) < 0)
                        continue;
                if (S_ISDIR(st.st_mode) && depth < DEPTH_MAX && walk(s, path, depth + 1) < 0)
                        return -1;
                if (S_ISREG(st.st_mode) && is_settings(e->d_name) && mask_at(s, path, NULL) < 0)
                        return -1;
        }
        return 0;
}

/* begin(s, plan, dir_fd): false when the box has no home of its own. */
static bool begin(struct settings *s, const struct session_plan *plan, int dir_fd, struct err *err)
{
        *s = (struct settings){.plan = plan, .left = FILES_MAX, .err = err};
        s->home_fd = openat(dir_fd, "layers/home/upper",
                            O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (s->home_fd < 0)
                return false;
        secret_mask_list_read(dir_fd, &s->list);
        return true;
}

static int end(struct settings *s, int dir_fd, bool is_changed, int r)
{
        if (r == 0 && is_changed)
                r = secret_mask_list_write(dir_fd, &s->list, s->err);
        close_fd(&s->home_fd);
        secret_mask_list_free(&s->list);
        return r;
}

int secret_mask_settings(struct session_plan *plan, int dir_fd, struct err *err)
{
        struct settings s;
        if (!begin(&s, plan, dir_fd, err))
                return 0;
        size_t before = s.list.n;
        int r = walk(&s, "", 0);
        return end(&s, dir_fd, s.list.n != before, r);
}

int secret_mask_settings_grant(struct session_plan *plan, int dir_fd, struct err *err)
{
        struct settings s;
        bool is_changed = false;
        int r = 0;
        if (!begin(&s, plan, dir_fd, err))
                return 0;
        for (size_t i = 0; r == 0 && i < s.list.n; i++) {
                struct secret_mask_entry *e = &s.list.v[i];
                if (strcmp(e->layer, "home") != 0 || !e->names[0])
                        continue;
                is_changed = true;
                r = mask_at(&s, e->path, e);
        }
        return end(&s, dir_fd, is_changed, r);
}
