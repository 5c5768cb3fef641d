/* take.c - from the box into a quarantine: a pack made by git in a box, received by a confined
 * `index-pack --strict` in a bare repository of ours whose only other objects are the host's, as an
 * alternate; then the host's git proves that everything is there that the tips need.
 *
 *   SCRATCH/KEY/            the repository; objects/ is the quarantine
 *   SCRATCH/KEY.new, .pack  while it is made
 *
 * A quarantine takes its final name when it was proved. A bad object refuses the refs that need
 * it: when all of them together fail, each is tried alone. */
#include "git/fetch_int.h"

#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/sha256.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { TAKE_TRIES_MS = 180 * 1000 };
enum { TAKE_TRIES_MAX = 64, TAKE_ALTERNATES_MAX = 64, TAKE_FILE_MAX = 16 << 20 };
#define TAKE_PACK_MAX ((uint64_t)2 << 30)

uint64_t git_take_max = TAKE_PACK_MAX;

/* What index-pack refuses, but for faults that old programs left in honest histories and that change
 * neither what is checked out nor what a path is called: a file mode with a zero in front, and lines
 * for author and committer whose name, address or date is written in another way. Whoever reads them
 * sees odd words. Everything else stays an error, above all whatever is wrong with a name in a tree. */
static const char take_strict[] =
        "--strict=zeroPaddedFilemode=ignore,badTimezone=ignore,zeroPaddedDate=ignore,"
        "missingSpaceBeforeDate=ignore,missingEmail=ignore,badEmail=ignore,badName=ignore,"
        "missingNameBeforeEmail=ignore,missingSpaceBeforeEmail=ignore";

/* take_put(dir, name, text, err): a small file of ours. */
static int take_put(const char *dir, const char *name, const char *text, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        return fdio_write_file(AT_FDCWD, path, text, 0600, err);
}

static int take_mkdir(const char *dir, const char *name, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        return mkdir(path, 0700) < 0 ? err_sys(err, "make %s", path) : 0;
}

static int take_remove(const char *dir, struct err *err)
{
        return beneath_remove_tree(AT_FDCWD, dir, err);
}

/* take_alternates(f): the text of objects/info/alternates; the caller frees. */
static char *take_alternates(const struct fetch *f)
{
        return f->repo->host_common ? str_fmt("%s/objects\n", f->repo->host_common) : str_dup("");
}

/* take_shallow(f, dir, err): where the host's own history ends. */
static int take_shallow(const struct fetch *f, const char *dir, struct err *err)
{
        if (!f->is_host_shallow)
                return 0;
        _cleanup_free_ char *path = str_fmt("%s/shallow", f->repo->host_common);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, TAKE_FILE_MAX, err);
        return text ? take_put(dir, "shallow", text, err) : -1;
}

/* take_make(f, dir, err): an empty repository of ours. */
static int take_make(const struct fetch *f, const char *dir, struct err *err)
{
        _cleanup_free_ char *alternates = take_alternates(f);
        if (take_remove(dir, err) < 0)
                return -1;
        if (mkdir(dir, 0700) < 0)
                return err_sys(err, "make %s", dir);
        if (take_mkdir(dir, "refs", err) < 0 || take_mkdir(dir, "objects", err) < 0 ||
            take_mkdir(dir, "objects/info", err) < 0 || take_mkdir(dir, "objects/pack", err) < 0)
                return -1;
        const char *config = f->id_len == 64 ? "[core]\n\trepositoryformatversion = 1\n\tbare = "
                                               "true\n[extensions]\n\tobjectformat = sha256\n"
                                             : "[core]\n\trepositoryformatversion = 0\n\tbare = "
                                               "true\n";
        if (take_put(dir, "HEAD", "ref: refs/heads/none\n", err) < 0 ||
            take_put(dir, "config", config, err) < 0)
                return -1;
        if (*alternates && take_put(dir, "objects/info/alternates", alternates, err) < 0)
                return -1;
        return take_shallow(f, dir, err);
}

/* take_use(f, dir): the host's git reads from there from now on. */
static void take_use(struct fetch *f, const char *dir)
{
        strs_free(&f->env);
        strs_addf(&f->env, "GIT_DIR=%s", dir);
        strs_add(&f->env, "GIT_CONFIG_GLOBAL=/dev/null");
        strs_add(&f->env, "GIT_CONFIG_NOSYSTEM=1");
        strs_add(&f->env, "GIT_ATTR_NOSYSTEM=1");
}

/* take_is_ours(f): is there a quarantine from before, over the same objects of the host? */
static bool take_is_ours(const struct fetch *f)
{
        struct stat st;
        if (lstat(f->dir, &st) < 0 || !S_ISDIR(st.st_mode))
                return false;
        _cleanup_free_ char *path = str_fmt("%s/objects/info/alternates", f->dir);
        _cleanup_free_ char *is = fdio_read_file(AT_FDCWD, path, TAKE_FILE_MAX, NULL);
        _cleanup_free_ char *want = take_alternates(f);
        return strcmp(is ? is : "", want) == 0;
}

/* take_where(f): SCRATCH/KEY. */
static void take_where(struct fetch *f)
{
        char key[SHA256_HEX_LEN + 1];
        if (f->dir)
                return;
        sha256_hex(f->repo->path, strlen(f->repo->path), key);
        f->dir = str_fmt("%s/%.16s", f->want->scratch, key);
}

int take_ready(struct fetch *f, struct err *err)
{
        take_where(f);
        if (f->is_ready)
                return 0;
        if (!take_is_ours(f) && take_make(f, f->dir, err) < 0)
                return -1;
        take_use(f, f->dir);
        f->is_ready = true;
        return 0;
}

/* take_reach(objects, out): the directory, and those that it borrows from, as git follows them. */
static void take_reach(const char *objects, struct strs *out)
{
        if (strs_has(out, objects) || out->n >= TAKE_ALTERNATES_MAX)
                return;
        strs_add(out, objects);
        _cleanup_free_ char *path = str_fmt("%s/info/alternates", objects);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, TAKE_FILE_MAX, NULL);
        for (char *p = text; p && *p;) {
                size_t n = strcspn(p, "\n");
                _cleanup_free_ char *line = p[0] == '/' ? str_fmt("%.*s", (int)n, p)
                                                        : str_fmt("%s/%.*s", objects, (int)n, p);
                _cleanup_free_ char *real = n && *p != '#' ? realpath(line, NULL) : NULL;
                if (real)
                        take_reach(real, out);
                p += n + (p[n] != 0);
        }
}

/* take_exclude(f, in): "^ID" for what the host has and the box has too. That the box says so is
 * no risk: what is missing then is missed by the proof. */
static int take_exclude(struct fetch *f, struct buf *in, struct err *err)
{
        _cleanup_buf_ struct buf ask = {0}, said = {0};
        for (size_t i = 0; i < f->known.n; i++)
                buf_put_fmt(&ask, "%s\n", f->known.v[i]);
        if (ask.len == 0)
                return 0;
        if (fetch_inside(f, FETCH_ARGV("cat-file", "--batch-check=%(objectname) there"), &ask,
                         &said, err) != 0)
                return -1;
        for (const char *p = buf_cstr(&said); *p;) {
                char id[GIT_ID_MAX + 1];
                size_t n = strcspn(p, "\n");
                if (n == f->id_len + 6 && git_names_id(p, f->id_len, f->id_len, id) &&
                    strncmp(p + f->id_len, " there", 6) == 0 && tips_is_known(f, id))
                        buf_put_fmt(in, "^%s\n", id);
                p += n + (p[n] != 0);
        }
        return 0;
}

/* take_pack(f, tips, file, err): the box's side. */
static int take_pack(struct fetch *f, const struct strs *tips, const char *file, struct err *err)
{
        _cleanup_buf_ struct buf in = {0};
        unlink(file);
        _cleanup_close_ int fd =
                open(file, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return err_sys(err, "make %s", file);
        for (size_t i = 0; i < tips->n; i++)
                buf_put_fmt(&in, "%s\n", tips->v[i]);
        if (take_exclude(f, &in, err) < 0)
                return -1;
        struct git_call call = {.dir = f->repo->dir,
                                .argv = FETCH_ARGV("pack-objects", "--revs", "--stdout", "-q",
                                                   "--delta-base-offset"),
                                .in = in.data,
                                .in_len = in.len,
                                .out_fd = fd,
                                .out_max = git_take_max};
        return fetch_pack(f, &call, err) == 0 ? 0 : -1;
}

/* take_receive(f, file, dir, err): our side. Confined, because it takes hostile bytes apart. */
static int take_receive(struct fetch *f, const char *file, const char *dir, struct err *err)
{
        _cleanup_strs_ struct strs readable = {0};
        _cleanup_buf_ struct buf out = {.max = 1 << 20};
        _cleanup_free_ char *most =
                str_fmt("--max-input-size=%llu", (unsigned long long)git_take_max);
        if (f->repo->host_common) {
                _cleanup_free_ char *objects = str_fmt("%s/objects", f->repo->host_common);
                take_reach(objects, &readable);
        }
        struct git_call call = {.dir = dir,
                                .argv = FETCH_ARGV("index-pack", take_strict, "--stdin", most),
                                .in_file = file,
                                .out = &out,
                                .patience_ms = GIT_PATIENCE_LONG_MS};
        return f->want->confine(f->want->confine_arg, &call, dir, &readable, err) == 0 ? 0 : -1;
}

/* take_prove(f, tips, err): is every object there that the tips need and the host does not have? */
static int take_prove(struct fetch *f, const struct strs *tips, struct err *err)
{
        _cleanup_buf_ struct buf in = {0}, ids = {0}, said = {0};
        for (size_t i = 0; i < tips->n; i++)
                buf_put_fmt(&in, "%s\n", tips->v[i]);
        buf_put(&ids, in.data, in.len);
        if (fetch_ours(f, FETCH_ARGV("cat-file", "--batch-check=there"), &ids, &said, err) != 0)
                return -1;
        const char *missing = strstr(buf_cstr(&said), " missing");
        if (missing)
                return err_set(err, E_INPUT, "%.*s is not in what the box sent", (int)f->id_len,
                               (size_t)(missing - buf_cstr(&said)) >= f->id_len
                                       ? missing - f->id_len
                                       : "an object");
        for (size_t i = 0; i < f->known.n; i++)
                buf_put_fmt(&in, "^%s\n", f->known.v[i]);
        _cleanup_buf_ struct buf none = {0};
        return fetch_ours(f, FETCH_ARGV("rev-list", "--objects", "--quiet", "--stdin"), &in, &none,
                          err) == 0
                       ? 0
                       : -1;
}

/* take_try(f, tips, err): a quarantine with these tips, or none. */
static int take_try(struct fetch *f, const struct strs *tips, struct err *err)
{
        _cleanup_free_ char *made = str_fmt("%s.new", f->dir);
        _cleanup_free_ char *file = str_fmt("%s.pack", f->dir);
        f->is_ready = false;
        int r = take_make(f, made, err);
        if (r == 0 && (r = take_pack(f, tips, file, err)) < 0)
                err_add(err, "git in the box could not pack it");
        if (r == 0 && (r = take_receive(f, file, made, err)) < 0)
                err_add(err, "it was refused");
        unlink(file);
        take_use(f, made);
        if (r == 0 && (r = take_prove(f, tips, err)) < 0)
                err_add(err, "it is not whole");
        if (r == 0 && (r = take_remove(f->dir, err)) == 0 && rename(made, f->dir) < 0)
                r = err_sys(err, "rename %s", made);
        if (r < 0) {
                take_remove(made, NULL);
                return -1;
        }
        take_use(f, f->dir);
        f->is_ready = true;
        return 0;
}

/* take_wanted(f, tips): what the host does not have yet, each once. */
static void take_wanted(const struct fetch *f, struct strs *tips)
{
        const struct git_repo *r = f->repo;
        for (size_t i = 0; i < r->refs_n; i++)
                if (!r->refs[i].refused && !tips_is_known(f, r->refs[i].tip) &&
                    !strs_has(tips, r->refs[i].tip))
                        strs_add(tips, r->refs[i].tip);
}

static void take_refuse(struct fetch *f, const char *tip, const char *why)
{
        for (size_t i = 0; i < f->repo->refs_n; i++) {
                struct git_ref *ref = &f->repo->refs[i];
                if (!ref->refused && strcmp(ref->tip, tip) == 0)
                        ref->refused = str_dup(why);
        }
}

/* take_each(f, tips, err): all together failed: which of them can be had? */
static int take_each(struct fetch *f, const struct strs *tips, const struct err *all,
                     struct err *err)
{
        _cleanup_strs_ struct strs good = {0};
        int64_t until_ms = fetch_now_ms() + TAKE_TRIES_MS;
        for (size_t i = 0; i < tips->n; i++) {
                struct err why = *all;
                bool is_tried = tips->n > 1 && i < TAKE_TRIES_MAX && fetch_now_ms() < until_ms;
                if (is_tried && (why = (struct err){0},
                                 take_try(f, &(struct strs){.v = &tips->v[i], .n = 1}, &why)) == 0)
                        strs_add(&good, tips->v[i]);
                else
                        take_refuse(f, tips->v[i], why.text);
        }
        if (good.n == 0)
                return take_ready(f, err);
        if (take_try(f, &good, err) == 0)
                return 0;
        for (size_t i = 0; i < good.n; i++)
                take_refuse(f, good.v[i], err->text);
        *err = (struct err){0};
        return take_ready(f, err);
}

int take_all(struct fetch *f)
{
        _cleanup_strs_ struct strs tips = {0};
        struct err err = {0}, all = {0};
        take_where(f);
        take_wanted(f, &tips);
        if (tips.n == 0)
                return 0;
        if (take_is_ours(f)) {
                take_use(f, f->dir);
                f->is_ready = take_prove(f, &tips, &err) == 0;
        }
        int r = f->is_ready || take_try(f, &tips, &all) == 0 ? 0 : -1;
        /* One by one would not go better. */
        if (r < 0 && (strstr(all.text, "No space left") || strstr(all.text, "in time")))
                return fetch_waits(f->repo, "%s", all.text);
        if (r < 0)
                r = take_each(f, &tips, &all, &err);
        if (r < 0)
                return fetch_waits(f->repo, "%s", err.text);
        f->repo->quarantine = str_fmt("%s/objects", f->dir);
        return 0;
}
