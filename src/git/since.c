/* since.c - see since.h. Runs the host's git over the host's repository, as its user does next; no
 * hook and no fsmonitor runs (call.h). */
#include "git/since.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/fetch_int.h"

#include <stdlib.h>
#include <string.h>

enum { SINCE_MAX = 256 << 20 };

static int since_ask(const char *tree, const char *const *argv, const struct buf *in,
                     struct buf *out, struct err *err)
{
        struct git_call call = {.dir = tree,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out,
                                .out_fd = -1};
        return git_call_host(&call, NULL, err);
}

int git_since_tips(const char *tree, struct strs *ids, struct err *err)
{
        _cleanup_buf_ struct buf refs = {.max = SINCE_MAX}, head = {0};
        struct err unheard = {0}; /* no commit yet, or no repository */
        if (since_ask(tree, FETCH_ARGV("rev-parse", "--verify", "-q", "HEAD"), NULL, &head,
                      &unheard) == 0)
                strs_addf(ids, "%.*s", (int)strcspn(buf_cstr(&head), "\n"), buf_cstr(&head));
        int status = since_ask(tree, FETCH_ARGV("for-each-ref", "--format=%(objectname)"), NULL,
                               &refs, &unheard);
        if (status < 0 && err)
                *err = unheard;
        if (status != 0)
                return status < 0 ? -1 : 0;
        _cleanup_free_ char *text = str_dup(buf_cstr(&refs));
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
                if (*line)
                        strs_add(ids, line);
        return 0;
}

/* since_commits(tree, ids, list, err): one id a line. */
static int since_commits(const char *tree, const struct strs *ids, struct buf *list,
                         struct err *err)
{
        _cleanup_buf_ struct buf in = {.max = SINCE_MAX};
        for (size_t i = 0; i < ids->n; i++)
                buf_put_fmt(&in, "^%s\n", ids->v[i]);
        int status = since_ask(
                tree, FETCH_ARGV("rev-list", "--ignore-missing", "--all", "HEAD", "--stdin"), &in,
                list, err);
        return status > 0 ? err_add(err, "read the commits of %s", tree) : status;
}

/* since_paths(text, end, id_len, bag): heads and entries in turn. */
static int since_paths(char *text, const char *end, size_t id_len, struct git_raw *raws,
                       size_t *raws_n, size_t max)
{
        char id[GIT_ID_MAX + 1];
        while (text < end) {
                if (git_raw_head(&text, end, id_len, id) < 0)
                        return -1;
                int got;
                while (*raws_n < max &&
                       (got = git_raw_next(&text, end, id_len, &raws[*raws_n])) != 0) {
                        if (got < 0)
                                return -1;
                        ++*raws_n;
                }
                if (*raws_n == max)
                        return -1;
        }
        return 0;
}

int git_since(const char *tree, const struct strs *ids, const struct file_classes *table,
              size_t *commits_n, struct git_paths *paths, struct err *err)
{
        _cleanup_buf_ struct buf list = {.max = SINCE_MAX}, raw = {.max = SINCE_MAX};
        *commits_n = 0;
        if (since_commits(tree, ids, &list, err) < 0)
                return -1;
        for (size_t i = 0; i < list.len; i++)
                *commits_n += list.data[i] == '\n';
        if (*commits_n == 0)
                return 0;
        size_t id_len = strcspn(buf_cstr(&list), "\n");
        int status = since_ask(tree,
                               FETCH_ARGV("diff-tree", "--stdin", "-r", "-m", "--root",
                                          "--no-renames", "--full-index", "-z", "--raw"),
                               &list, &raw, err);
        buf_put_u8(&raw, 0);
        if (status != 0 || raw.is_broken)
                return status < 0 ? -1 : err_add(err, "read what was committed in %s", tree);
        size_t max = raw.len / (2 * id_len) + 2, n = 0;
        _cleanup_free_ struct git_raw *raws = calloc(max, sizeof *raws);
        if (!raws)
                str_no_memory();
        if (since_paths((char *)raw.data, (char *)raw.data + raw.len - 1, id_len, raws, &n, max) <
            0)
                return err_set(err, E_PROTO, "git told the commits of %s in words of its own",
                               tree);
        _cleanup_fetch_classes_ struct fetch_classes classes = {.table = table};
        _cleanup_git_bag_ struct git_bag bag = {0};
        for (size_t i = 0; i < n; i++)
                git_bag_add(&bag, &raws[i], NULL);
        git_bag_settle(&bag, &classes, paths);
        return 0;
}
