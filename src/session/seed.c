/* seed.c - see seed.h. Called by the supervisor's start, before the box exists, with the caller's
 * own rights; so everything is opened beneath a descriptor, and nothing of the box's home is
 * trusted even if the box ran before. */
#include "session/seed.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "policy/profile.h"
#include "session/seed_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILES_MAX = 4096, BYTES_MAX = 64 << 20 };

void seed_note(struct seed_run *run, const char *path, const char *why)
{
        if (run->notes)
                strs_addf(run->notes, "~/%s\n%s", path, why);
}

/* The box's files belong to the box. Only root can and must say so. */
static int own(const struct seed_run *run, int fd, const char *path, struct err *err)
{
        if (geteuid() == run->into->owner)
                return 0;
        if (fchownat(fd, "", run->into->owner, run->into->group,
                     AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW) < 0)
                return err_sys(err, "give %s to the box", path);
        return 0;
}

int seed_dir(const struct seed_run *run, const char *path, struct err *err)
{
        _cleanup_close_ int dir = beneath_mkdirs(run->into->home_fd, "", 0700, err);
        if (dir < 0)
                return -1;
        for (const char *p = path; *p;) {
                size_t n = strcspn(p, "/");
                _cleanup_free_ char *name = str_fmt("%.*s", (int)n, p);
                p += n + (p[n] == '/');
                int next = beneath_mkdirs(dir, name, 0700, err);
                if (next < 0)
                        return -1;
                close(dir);
                dir = next;
                if (own(run, dir, name, err) < 0)
                        return -1;
        }
        return take_fd(&dir);
}

/* The directory of ${path} and, in ${base}, its last part. */
static int seed_parent(const struct seed_run *run, const char *path, const char **base,
                       struct err *err)
{
        const char *slash = strrchr(path, '/');
        _cleanup_free_ char *dir = str_fmt("%.*s", slash ? (int)(slash - path) : 0, path);
        *base = slash ? slash + 1 : path;
        return seed_dir(run, dir, err);
}

int seed_file(const struct seed_run *run, const char *path, const void *data, size_t len,
              mode_t mode, struct err *err)
{
        const char *base;
        _cleanup_close_ int dir = seed_parent(run, path, &base, err);
        if (dir < 0)
                return -1;
        /* Made anew, so that no link and no second name of a file is ever written through. */
        if (beneath_remove_tree(dir, base, err) < 0)
                return err_add(err, "replace %s in the box's home", path);
        _cleanup_close_ int fd = openat(
                dir, base, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode & 0777);
        if (fd < 0)
                return err_sys(err, "write %s in the box's home", path);
        if (fdio_write_all(fd, data, len) < 0 || fchmod(fd, mode & 0777) < 0)
                return err_sys(err, "write %s in the box's home", path);
        return own(run, fd, path, err);
}

char *seed_read(struct seed_run *run, const char *path, size_t max, size_t *len)
{
        _cleanup_close_ int fd =
                beneath_open(run->host_fd, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NULL);
        struct stat st;
        if (fd < 0) {
                if (errno != ENOENT && errno != ENOTDIR)
                        seed_note(run, path,
                                  errno == EXDEV ? "it is a link that leads out of your home"
                                                 : "it cannot be read");
                return NULL;
        }
        if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode)) {
                seed_note(run, path, "it is not a file");
                return NULL;
        }
        if ((uint64_t)st.st_size > max || (uint64_t)st.st_size > run->bytes_left) {
                seed_note(run, path, "it is too large");
                return NULL;
        }
        struct buf b = {.max = max + 4096};
        if (fdio_read_all(fd, &b, max) < 0) {
                buf_free(&b);
                seed_note(run, path, "it cannot be read");
                return NULL;
        }
        *len = b.len;
        buf_put_u8(&b, 0);
        run->bytes_left -= *len < run->bytes_left ? *len : run->bytes_left;
        if (b.is_broken)
                str_no_memory();
        return (char *)b.data;
}

/* A mark inside "..." of JSON, TOML or YAML: what a path may hold must not end the quotes. */
static char *escaped(const char *s)
{
        _cleanup_buf_ struct buf b = {0};
        for (; *s; s++) {
                if (*s == '"' || *s == '\\')
                        buf_put_u8(&b, '\\');
                if ((unsigned char)*s < 0x20)
                        buf_put_fmt(&b, "\\u%04x", (unsigned)*s);
                else
                        buf_put_u8(&b, (uint8_t)*s);
        }
        return str_dup(buf_cstr(&b));
}

static int seed_write(struct seed_run *run, const struct profile_seed *s, struct err *err)
{
        const struct seed_into *to = run->into;
        _cleanup_free_ char *home = escaped(to->box_home ? to->box_home : to->host_home);
        _cleanup_free_ char *workspace = escaped(to->workspace ? to->workspace : "/");
        _cleanup_free_ char *text = profile_fill(s->text, home, workspace);
        return seed_file(run, s->path, text, strlen(text), 0600, err);
}

int seed_home(const struct seed_into *into, const struct profile *profile, struct strs *notes,
              struct err *err)
{
        _cleanup_close_ int host =
                open(into->host_home, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NONBLOCK);
        struct seed_run run = {
                .into = into,
                .host_fd = host,
                .notes = notes,
                .files_left = FILES_MAX,
                .bytes_left = BYTES_MAX,
        };
        for (size_t i = 0; i < profile->seeds_n; i++) {
                const struct profile_seed *s = &profile->seeds[i];
                int r = 0;
                switch (s->kind) {
                case PROFILE_SEED_COPY:
                        r = seed_copy(&run, s->path, err);
                        break;
                case PROFILE_SEED_JSON:
                        r = seed_json(&run, s, err);
                        break;
                case PROFILE_SEED_WRITE:
                        r = seed_write(&run, s, err);
                        break;
                }
                if (r < 0)
                        return err_add(err, "seed the box's home with ~/%s", s->path);
        }
        return seed_packages(&run, err) < 0 ? -1 : seed_git(&run, err);
}

int seed_links(const struct seed_into *into, const struct strs *links, struct err *err)
{
        const char *home = into->box_home ? into->box_home : into->host_home;
        const struct seed_run run = {.into = into, .host_fd = -1};
        for (size_t i = 0; i < links->n; i++) {
                const char *cut = strchr(links->v[i], '\n'), *base;
                if (!cut || !str_is_beneath(cut + 1, home) || strcmp(cut + 1, home) == 0)
                        continue;
                _cleanup_free_ char *target =
                        str_fmt("%.*s", (int)(cut - links->v[i]), links->v[i]);
                const char *rel = cut + 1 + strlen(home) + 1;
                _cleanup_close_ int dir = seed_parent(&run, rel, &base, err);
                if (dir < 0 || beneath_remove_tree(dir, base, err) < 0)
                        return err_add(err, "link ~/%s", rel);
                if (symlinkat(target, dir, base) < 0)
                        return err_sys(err, "link ~/%s", rel);
                if (geteuid() != into->owner &&
                    fchownat(dir, base, into->owner, into->group, AT_SYMLINK_NOFOLLOW) < 0)
                        return err_sys(err, "give ~/%s to the box", rel);
        }
        return 0;
}
