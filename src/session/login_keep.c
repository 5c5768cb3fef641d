/* login_keep.c - see login_keep.h. Runs with the user's rights, on the user's own files, and on
 * what the keeper sent: strings that go into JSON as strings. Everything is wiped after use. */
#include "session/login_keep.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/source.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { FILE_MAX_BYTES = 1 << 20, FORGOTTEN_S = 15 };

/* --- the lock ----------------------------------------------------------------------------------
 */

/* lock_agent(l, home, name): 1 ours, 0 the agent's own. */
static int lock_agent(struct login_lock *l, const char *home, const char *name)
{
        const struct source_login *at = source_login(name);
        struct stat st;
        if (!at || strcmp(name, "claude") != 0) /* the others have none */
                return 1;
        l->dir = str_fmt("%s/%s.lock", home, at->dir);
        for (int again = 0; again < 2; again++) {
                if (mkdir(l->dir, 0700) == 0)
                        return 1;
                if (errno != EEXIST || stat(l->dir, &st) < 0 ||
                    time(NULL) - st.st_mtime < FORGOTTEN_S)
                        break;
                rmdir(l->dir); /* who made it was killed */
        }
        bool is_held = errno == EEXIST;
        free(l->dir);
        l->dir = NULL;
        return is_held ? 0 : 1;
}

int login_lock_try(struct login_lock *l, const char *state_dir, const char *home, const char *name,
                   struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/login-%s.lock", state_dir, name);
        for (char *p = path + strlen(state_dir) + 1; *p; p++)
                if (*p == '/')
                        *p = '_';
        login_unlock(l);
        l->fd = open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (l->fd < 0)
                return err_sys(err, "make the lock %s", path);
        if (flock(l->fd, LOCK_EX | LOCK_NB) == 0 && lock_agent(l, home, name))
                return 1;
        login_unlock(l);
        return 0;
}

void login_lock_touch(const struct login_lock *l)
{
        if (l->dir)
                utimensat(AT_FDCWD, l->dir, NULL, 0);
}

void login_unlock(struct login_lock *l)
{
        if (l->dir)
                rmdir(l->dir);
        free(l->dir);
        l->dir = NULL;
        close_fd(&l->fd);
}

/* --- the file ----------------------------------------------------------------------------------
 */

/* replace(path, text, err): beside it, then over it; its rights stay. A link is followed: people
 * keep such files elsewhere. */
static int replace(const char *path, const char *text, struct err *err)
{
        struct stat st;
        _cleanup_free_ char *real = realpath(path, NULL);
        if (!real || stat(real, &st) < 0)
                return err_sys(err, "find %s", path);
        _cleanup_free_ char *fresh = str_fmt("%s.ostiary-%d", real, (int)getpid());
        _cleanup_close_ int fd =
                open(fresh, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (fd < 0)
                return err_sys(err, "write beside %s", path);
        if (fchmod(fd, st.st_mode & 0777) < 0 || fdio_write_all(fd, text, strlen(text)) < 0 ||
            fsync(fd) < 0 || rename(fresh, real) < 0) {
                err_sys(err, "replace %s", path);
                unlink(fresh);
                return -1;
        }
        return 0;
}

static json_t *read_json(const char *path, bool *is_json, struct err *err)
{
        char *text = fdio_read_file(AT_FDCWD, path, FILE_MAX_BYTES, err);
        json_t *j = text ? json_loads(text, 0, NULL) : NULL;
        *is_json = json_is_object(j);
        if (text)
                explicit_bzero(text, strlen(text));
        free(text);
        return j;
}

static int write_json(const char *path, json_t *j, size_t flags, struct err *err)
{
        char *text = json_dumps(j, flags);
        int r = text ? replace(path, text, err)
                     : err_set(err, E_SYSTEM, "%s cannot be written", path);
        if (text)
                explicit_bzero(text, strlen(text));
        free(text);
        return r;
}

static void copy(json_t *to, const char *key, const json_t *from, const char *name)
{
        json_t *v = json_object_get(from, name);
        if (json_is_string(v) && json_string_length(v))
                json_object_set(to, key, v);
}

int login_keep(const char *home, const char *name, const char *json, size_t n, struct err *err)
{
        const struct source_login *at = source_login(name);
        _cleanup_free_ char *path = source_login_path(name, home);
        bool is_json = false;
        if (!at)
                return err_set(err, E_INPUT, "there is no login named \"%s\"", name);
        json_t *fresh = json_loadb(json, n, 0, NULL), *all = read_json(path, &is_json, err);
        json_t *o = is_json ? json_object_get(all, at->object) : NULL;
        int r = -1;
        if (!json_is_object(fresh) || !json_is_object(o)) {
                err_set(err, E_INPUT, "%s does not hold a login any more", path);
        } else {
                copy(o, at->access, fresh, "access");
                copy(o, at->refresh, fresh, "refresh");
                json_int_t expires = json_integer_value(json_object_get(fresh, "expires"));
                if (at->expires_ms && expires > 0)
                        json_object_set_new(o, at->expires_ms, json_integer(expires * 1000));
                r = write_json(path, all,
                               strcmp(name, "codex") == 0 ? JSON_INDENT(2) : JSON_COMPACT, err);
        }
        json_decref(all);
        json_decref(fresh);
        return r;
}

int login_keep_file(const char *path, const char *json, size_t n, struct err *err)
{
        bool is_json = false;
        struct err none = {0};
        json_t *fresh = json_loadb(json, n, 0, NULL), *all = read_json(path, &is_json, &none);
        const char *refresh = json_string_value(json_object_get(fresh, "refresh"));
        int r;
        if (!refresh) {
                r = err_set(err, E_INPUT, "the keeper sent no refresh token");
        } else if (is_json) {
                copy(all, json_object_get(all, "refresh") ? "refresh" : "refresh_token", fresh,
                     "refresh");
                r = write_json(path, all, JSON_INDENT(2), err);
        } else {
                char *text = str_fmt("%s\n", refresh);
                r = replace(path, text, err);
                explicit_bzero(text, strlen(text));
                free(text);
        }
        json_decref(all);
        json_decref(fresh);
        return r;
}
