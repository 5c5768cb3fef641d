/* secret_files.c - see secret_files.h. Called by the supervisor between the keeper's answer and the
 * box's first process. The home may have been written by the box at an earlier start, so everything
 * is opened beneath a descriptor, read within bounds and made anew. Placeholders only: nobody here
 * has a value. */
#include "session/secret_files.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/secret_files_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { OLD_MAX = 256 << 10, FILES_MAX = 64 };

static const char block_begin[] = "# Written by ostiary for this box:\n";
static const char block_end[] = "# End of what ostiary wrote.\n";

int secret_files_put(struct secret_files *f, const char *path, struct buf *b)
{
        struct err err = {0};
        if (b->is_broken)
                return err_set(f->err, E_SYSTEM, "~/%s would be too large", path);
        if (seed_file(&f->run, path, b->data, b->len, 0600, &err) == 0)
                return 0;
        if (err.sys != ELOOP && err.sys != ENOTDIR && err.sys != EXDEV) {
                *f->err = err;
                return -1;
        }
        /* The box itself made a link of a directory on the way. Its loss. */
        _cleanup_free_ char *what = str_fmt("~/%s", path);
        session_plan_note(f->plan, true, what, "the box has a link or a file on the way to it");
        return 0;
}

static char *read_below(int root, const char *path)
{
        _cleanup_close_ int fd =
                beneath_open_nosym(root, path, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0, NULL);
        struct stat st;
        struct buf b = {.max = OLD_MAX + 4096};
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) ||
            fdio_read_all(fd, &b, OLD_MAX) < 0 || (b.len && memchr(b.data, 0, b.len))) {
                buf_free(&b);
                return NULL;
        }
        buf_put_u8(&b, 0);
        return (char *)b.data;
}

char *secret_files_old(const struct secret_files *f, const char *path)
{
        struct stat st;
        if (fstatat(f->into.home_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0) {
                char *text = read_below(f->into.home_fd, path);
                return text ? text : str_dup("");
        }
        for (size_t i = 0; i < f->plan->box.mounts_n; i++) {
                const struct box_mount *m = &f->plan->box.mounts[i];
                if (m->kind != BOX_MOUNT_HOME || !m->source)
                        continue;
                _cleanup_close_ int lower = open(m->source, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                char *text = lower < 0 ? NULL : read_below(lower, path);
                return text ? text : str_dup("");
        }
        return str_dup("");
}

int secret_files_block(struct secret_files *f, const char *path, struct buf *block)
{
        _cleanup_free_ char *old = secret_files_old(f, path);
        _cleanup_buf_ struct buf out = {0};
        char *begin = strstr(old, block_begin), *end = begin ? strstr(begin, block_end) : NULL;
        if (block->len == 0 && !end)
                return 0;
        if (end) {
                buf_put(&out, old, (size_t)(begin - old));
                buf_put_str(&out, end + strlen(block_end));
        } else {
                buf_put_str(&out, old);
        }
        if (out.len && out.data[out.len - 1] != '\n')
                buf_put_u8(&out, '\n');
        if (block->len) {
                buf_put_str(&out, block_begin);
                buf_put(&out, block->data, block->len);
                buf_put_str(&out, block_end);
        }
        return secret_files_put(f, path, &out);
}

bool secret_files_has(const struct session_secret *s, enum rule_form form)
{
        const struct rule_secret *r = s->line.secret;
        for (size_t i = 0; i < r->forms_n; i++)
                if (r->forms[i].form == form)
                        return true;
        return false;
}

bool secret_files_is(const struct session_secret *s, const char *provider)
{
        if (s->provider && *s->provider)
                return str_starts(s->provider, provider);
        return strcasestr(s->line.secret->name, provider) != NULL;
}

bool secret_files_host(const struct rule_place *p, char out[300])
{
        if (p->host_kind != RULE_HOST_EXACT)
                return false;
        if (p->port > 0 && p->port != 443)
                snprintf(out, 300, "%s:%d", p->host.text, (int)p->port);
        else
                snprintf(out, 300, "%s", p->host.text);
        return true;
}

const char *secret_files_user(const struct session_secret *s)
{
        if (s->line.secret->user)
                return s->line.secret->user;
        if (secret_files_is(s, "pypi"))
                return "__token__";
        return secret_files_is(s, "gitlab") ? "oauth2" : "x-access-token";
}

const char *secret_files_value(const struct session_secret *s)
{
        const char *p = session_secret_part(s, "");
        if (!p && s->line.secret->source != RULE_FROM_LOGIN) /* exchanged for tokens */
                p = session_secret_part(s, "access");
        /* It stands on one line of a file that others parse. */
        return p && *p && !strpbrk(p, "\r\n\"\\ \t") ? p : NULL;
}

int secret_files_write(struct session_plan *plan, int dir_fd, struct err *err)
{
        static int (*const writers[])(struct secret_files *) = {
                secret_files_git,   secret_files_gh,  secret_files_registry, secret_files_cloud,
                secret_files_login, secret_files_ssh, secret_files_agent,
        };
        if (plan->secrets.n == 0)
                return 0;
        _cleanup_close_ int upper = openat(dir_fd, "layers/home/upper",
                                           O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (upper < 0)
                return errno == ENOENT ? 0 : err_sys(err, "open the box's home");
        _cleanup_close_ int host = open(plan->box.home, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        struct secret_files f = {.plan = plan,
                                 .into = {.home_fd = upper,
                                          .host_home = plan->box.home,
                                          .workspace = plan->workspace,
                                          .owner = plan->box.disk_uid,
                                          .group = plan->box.disk_gid},
                                 .err = err};
        f.run = (struct seed_run){.into = &f.into,
                                  .host_fd = host,
                                  .files_left = FILES_MAX,
                                  .bytes_left = OLD_MAX * 4};
        for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
                if (writers[i](&f) < 0)
                        return err_add(err, "write the box's credential files");
        return 0;
}
