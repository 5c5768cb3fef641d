/* landed.c - see landed.h. For each repository a note has "repo DIR", "git GIT-DIRECTORY", "sum SHA256"
 * (of the host's refs) and a line "ID NAME" for each ref of the box that counts. Names are the box's:
 * compared, and never given to git. */
#include "git/landed.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/sha256.h"
#include "base/str.h"
#include "git/beneath.h"
#include "git/fetch_int.h"

#include <stdlib.h>
#include <string.h>

enum { LANDED_REFS_MAX = 64 << 20, LANDED_CALLS_MAX = 64 };

/* One repository of a note, and what the host has there now. */
struct landed {
        const char *box;
        struct git_repo repo; /* dir and host_git alone; not its own */
        const char *sum;
        struct strs lines; /* "ID NAME" */
};

/* landed_ask(r, argv, in, out): the host's git; its exit status or -1. */
static int landed_ask(const struct git_repo *r, const char *const *argv, const struct buf *in,
                      struct buf *out)
{
        struct err none = {0};
        _cleanup_strs_ struct strs env = {0};
        struct git_call call = {.dir = r->dir,
                                .argv = argv,
                                .in = in ? in->data : NULL,
                                .in_len = in ? in->len : 0,
                                .out = out};
        git_beneath_env(r, &env);
        return git_call_host(&call, &env, &none);
}

/* landed_refs(r, out): the host's refs and its HEAD: "ID NAME" each. A ref to what is not there fails. */
static bool landed_refs(const struct git_repo *r, struct buf *out)
{
        int rc = landed_ask(r, FETCH_ARGV("show-ref", "--head"), NULL, out);
        return !out->is_broken && (rc == 0 || (rc == 1 && out->len == 0)); /* 1: there are none */
}

void landed_begin(struct fetch *f)
{
        _cleanup_buf_ struct buf out = {.max = LANDED_REFS_MAX};
        f->host_sum[0] = 0;
        if (f->repo->host_git && landed_refs(f->repo, &out))
                sha256_hex(buf_cstr(&out), out.len, f->host_sum);
}

/* landed_counts(name): is it a ref that could be lost with the box? */
static bool landed_counts(const char *name)
{
        return (str_starts(name, "refs/heads/") || str_starts(name, "refs/tags/") ||
                str_starts(name, "refs/notes/")) &&
               git_names_is_good(name);
}

bool landed_put(const struct fetch *f, struct buf *note)
{
        const struct git_repo *r = f->repo;
        if (!r->host_git)
                return true; /* had the box refs there, they would pend */
        if (!f->host_sum[0] || strchr(r->dir, '\n') || strchr(r->host_git, '\n'))
                return false;
        buf_put_fmt(note, "repo %s\ngit %s\nsum %s\n", r->dir, r->host_git, f->host_sum);
        if (f->is_detached)
                buf_put_fmt(note, "%s HEAD\n", r->head_id);
        if (r->shares)
                return true;
        bool has_stash = false;
        for (size_t i = 0; i < r->refs_n; i++) {
                has_stash |= r->refs[i].kind == GIT_REF_STASH;
                if (r->refs[i].kind == GIT_REF_STASH)
                        buf_put_fmt(note, "%s %s\n", r->refs[i].tip, r->refs[i].name);
        }
        for (size_t i = 0; i < f->detached.n; i++)
                buf_put_fmt(note, "%s HEAD\n", f->detached.v[i]);
        for (size_t i = 0; i < f->box.n; i++)
                if (landed_counts(f->box.v[i].name) ||
                    (!has_stash && strcmp(f->box.v[i].name, "refs/stash") == 0))
                        buf_put_fmt(note, "%s %s\n", f->box.v[i].id, f->box.v[i].name);
        return true;
}

/* landed_is_at(host, name, id): has the host a ref of that name, and is it that? */
static bool landed_is_at(const struct git_tips *host, const char *name, const char *id)
{
        const struct git_tip *t = git_tips_find(host, name);
        return t && strcmp(t->id, id) == 0;
}

/* landed_line(l, host, id, name, reach, calls): as tips_pending would say it. What may be reached from
 * any ref is left to ${reach}. */
static bool landed_line(const struct landed *l, const struct git_tips *host, const char *id,
                        const char *name, struct buf *reach, size_t *calls)
{
        _cleanup_free_ char *local =
                str_fmt("refs/ostiary/%s/%s", l->box, str_starts(name, "refs/") ? name + 5 : name);
        if (landed_is_at(host, name, id) || landed_is_at(host, local, id))
                return true;
        if (strcmp(name, "HEAD") == 0 || str_starts(name, "stash@{")) {
                buf_put_fmt(reach, "%s\n", id);
                return true;
        }
        const struct git_tip *t = git_tips_find(host, name);
        if (!str_starts(name, "refs/heads/") || !t || ++*calls > LANDED_CALLS_MAX)
                return false;
        _cleanup_buf_ struct buf out = {.max = 4096};
        return landed_ask(&l->repo, FETCH_ARGV("merge-base", "--is-ancestor", id, t->id), NULL,
                          &out) == 0;
}

/* landed_is_reached(l, host, reach): is every id of ${reach} in a ref of the host? */
static bool landed_is_reached(const struct landed *l, const struct git_tips *host,
                              struct buf *reach)
{
        _cleanup_buf_ struct buf out = {.max = 4096};
        if (reach->len == 0)
                return true;
        for (size_t i = 0; i < host->n; i++)
                buf_put_fmt(reach, "^%s\n", host->v[i].id);
        return landed_ask(&l->repo, FETCH_ARGV("rev-list", "--max-count=1", "--stdin"), reach,
                          &out) == 0 &&
               out.len == 0;
}

/* landed_repo(l): one repository of the note. */
static bool landed_repo(const struct landed *l)
{
        _cleanup_buf_ struct buf out = {.max = LANDED_REFS_MAX}, reach = {.max = LANDED_REFS_MAX};
        _cleanup_git_tips_ struct git_tips host = {0};
        char sum[SHA256_HEX_LEN + 1];
        size_t calls = 0;
        if (!l->repo.host_git || !l->sum || !landed_refs(&l->repo, &out))
                return false;
        sha256_hex(buf_cstr(&out), out.len, sum);
        if (strcmp(sum, l->sum) == 0)
                return true;
        if (l->lines.n == 0)
                return true;
        size_t id_len = strcspn(l->lines.v[0], " ");
        if (git_names_parse((const char *)out.data, out.len, id_len, &host) < 0)
                return false;
        for (size_t i = 0; i < l->lines.n; i++) {
                char id[GIT_ID_MAX + 1];
                const char *line = l->lines.v[i];
                if (strlen(line) <= id_len + 1 || !git_names_id(line, id_len, id_len, id) ||
                    !landed_line(l, &host, id, line + id_len + 1, &reach, &calls))
                        return false;
        }
        return !reach.is_broken && landed_is_reached(l, &host, &reach);
}

bool git_landed_holds(const char *note, const char *box)
{
        _cleanup_free_ char *text = str_dup(note);
        struct landed l = {.box = box};
        char *rest = text;
        bool holds = true;
        for (char *line; holds && (line = strsep(&rest, "\n"));) {
                if (str_starts(line, "repo ")) {
                        holds = !l.repo.dir || landed_repo(&l);
                        strs_free(&l.lines);
                        l = (struct landed){.box = box, .repo = {.dir = line + 5}};
                } else if (str_starts(line, "git ")) {
                        l.repo.host_git = line + 4;
                } else if (str_starts(line, "sum ")) {
                        l.sum = line + 4;
                } else if (*line) {
                        strs_add(&l.lines, line);
                }
        }
        holds = holds && l.repo.dir && landed_repo(&l);
        strs_free(&l.lines);
        return holds;
}
