/* aside.c - what a box has in its index and in its configuration, which never lands: it is told,
 * and the configuration as commands that the user may type. The text is git's in the box: hostile,
 * checked, and quoted so that it can be shown as it is. */
#include "git/fetch_int.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/blob.h"
#include "git/config_list.h"
#include "policy/git_config.h"

#include <stdlib.h>
#include <string.h>

enum { ASIDE_PATIENCE_MS = 15 * 1000 };
enum { ASIDE_OUT_MAX = 64 << 20, ASIDE_STAGED_MAX = 10000, ASIDE_COMMANDS_MAX = 200 };

#define ASIDE_EMPTY_SHA1   "4b825dc642cb6eb9a060e54bf8d69288fbee4904"
#define ASIDE_EMPTY_SHA256 "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"

/* aside_raws(f, out, v, &n): entries of ${out}; what makes no sense ends the list. */
static void aside_raws(const struct fetch *f, struct buf *out, struct git_raw **v, size_t *n)
{
        (void)buf_cstr(out);
        char *at = (char *)out->data;
        const char *end = at + out->len;
        struct git_raw r;
        *n = 0;
        *v = calloc(ASIDE_STAGED_MAX, sizeof **v);
        if (!*v)
                str_no_memory();
        while (*n < ASIDE_STAGED_MAX && git_raw_next(&at, end, f->id_len, &r) > 0)
                (*v)[(*n)++] = r;
}

/* aside_sizes(f): how large its blobs are, which only the box has: a larger file need not be read then to
 * find that it is another one. */
static void aside_sizes(struct fetch *f)
{
        _cleanup_buf_ struct buf in = {0}, out = {.max = ASIDE_OUT_MAX};
        struct err none = {0};
        git_blob_sizes_in(&f->repo->staged, &in);
        if (in.len &&
            fetch_inside(f, FETCH_ARGV("cat-file", GIT_BLOB_SIZES), &in, &out, &none) == 0)
                f->repo->staged_sizes = git_blob_sizes_out(&f->repo->staged, &out);
}

/* All that is staged, whatever the work tree has: to compare that, git would run filters that the
 * box named. The caller leaves out what lies in the box's tree as it is staged. */
int aside_staged(struct fetch *f)
{
        _cleanup_buf_ struct buf out = {.max = ASIDE_OUT_MAX};
        _cleanup_free_ struct git_raw *raws = NULL;
        _cleanup_git_bag_ struct git_bag bag = {0};
        struct err none = {0};
        const char *empty = f->id_len == 64 ? ASIDE_EMPTY_SHA256 : ASIDE_EMPTY_SHA1;
        const char *with = f->repo->head_id[0] ? f->repo->head_id : empty;
        size_t n;
        f->patience_ms = ASIDE_PATIENCE_MS;
        if (fetch_inside(f,
                         FETCH_ARGV("diff-index", "--cached", "--raw", "-z", "--no-abbrev",
                                    "--no-renames", with, "--"),
                         NULL, &out, &none) != 0)
                return -1;
        aside_raws(f, &out, &raws, &n);
        for (size_t i = 0; i < n; i++)
                git_bag_add(&bag, &raws[i], NULL);
        /* Its blobs are the box's word: the class of the name alone. */
        _cleanup_fetch_classes_ struct fetch_classes classes = {.table = f->want->classes,
                                                                .top = f->repo->path};
        git_bag_settle(&bag, &classes, &f->repo->staged);
        aside_sizes(f);
        return 0;
}

/* aside_ask(f, is_host, list): the repository's own file, without what it includes. */
static int aside_ask(struct fetch *f, bool is_host, struct git_config_list *list)
{
        static const char *const fresh[] = {"core.repositoryformatversion\n0",
                                            "core.filemode\ntrue", "core.bare\nfalse",
                                            "core.logallrefupdates\ntrue"};
        _cleanup_buf_ struct buf out = {.max = 4 << 20};
        struct err none = {0};
        const char *const *argv = FETCH_ARGV("config", "--local", "--no-includes", "-z", "--list");
        if (is_host && !f->repo->host_git) {
                for (size_t i = 0; i < sizeof fresh / sizeof *fresh; i++)
                        buf_put(&out, fresh[i], strlen(fresh[i]) + 1);
        } else if ((is_host ? fetch_host : fetch_inside)(f, argv, NULL, &out, &none) != 0) {
                return -1;
        }
        return git_config_list_parse((const char *)out.data, out.len, list);
}

/* aside_added(list, host, box): a command for each pair that only the box has. */
static void aside_added(struct strs *commands, const struct git_config_list *host,
                        const struct git_config_list *box)
{
        for (size_t i = 0; i < box->n && commands->n < ASIDE_COMMANDS_MAX; i++) {
                const struct git_config_pair *p = &box->v[i];
                if (git_config_list_has(host, p->key, p->value))
                        continue;
                _cleanup_free_ char *key = str_shell(p->key), *value = str_shell(p->value);
                bool is_more = git_config_list_count(box, p->key) > 1;
                struct git_config_entry entry = {.key = p->key, .value = p->value};
                strs_addf(commands, "%sgit config %s%s %s",
                          git_config_is_plain(&entry) ? "" : "(runs on commit) ",
                          is_more ? "--add " : "", key, value);
        }
}

void aside_config(struct fetch *f)
{
        _cleanup_git_config_list_ struct git_config_list host = {0}, box = {0};
        if (f->repo->shares || aside_ask(f, true, &host) < 0 || aside_ask(f, false, &box) < 0)
                return;
        struct strs *commands = &f->repo->config;
        aside_added(commands, &host, &box);
        for (size_t i = 0; i < host.n && commands->n < ASIDE_COMMANDS_MAX; i++) {
                if (git_config_list_count(&box, host.v[i].key))
                        continue;
                _cleanup_free_ char *key = str_shell(host.v[i].key);
                _cleanup_free_ char *line = str_fmt("git config --unset-all %s", key);
                if (!strs_has(commands, line))
                        strs_add(commands, line);
        }
}
