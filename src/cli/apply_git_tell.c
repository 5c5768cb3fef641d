/* apply_git_tell.c - what became of the commits of a box, in words and as JSON: which refs arrived
 * and what to do with them, which wait and why. Names are the box's: quoted (cases 76, 80). */
#include "base/cleanup.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/apply.h"
#include "cli/out.h"
#include "cli/refwords.h"
#include "workspace/print.h"

#include <stdio.h>
#include <string.h>

enum { LISTED_MAX = 30 };

void apply_git_list(const struct git_repo *r, const struct git_ref *ref)
{
        _cleanup_free_ char *words = refwords(ref), *in = refwords_in(r);
        fprintf(stderr, "%zu new commit%s on %s%s:\n", ref->commits_all,
                ref->commits_all == 1 ? "" : "s", words, in);
        for (size_t i = 0; i < ref->commits_n && i < LISTED_MAX; i++) {
                _cleanup_free_ char *subject = str_quote(ref->commits[i].subject);
                fprintf(stderr, "  %.12s %s\n", ref->commits[i].id, subject);
        }
        if (ref->commits_all > LISTED_MAX)
                fprintf(stderr, "  and %zu more\n", ref->commits_all - LISTED_MAX);
        for (size_t i = 0; i < ref->paths.n; i++) {
                const struct git_path *p = &ref->paths.v[i];
                if (p->class.class == FILE_PLAIN)
                        continue;
                _cleanup_free_ char *path = str_quote(p->path);
                fprintf(stderr, "  committed: %s%s%s (%s)\n", r->path, *r->path ? "/" : "", path,
                        file_class_words(p->class.class));
        }
}

bool apply_git_has_news(const struct apply_job *j)
{
        for (size_t i = 0; j->l.units && i < j->l.fetch.n; i++) {
                if (j->l.fetch.v[i].waits)
                        return true;
                for (size_t k = 0; k < j->l.fetch.v[i].refs_n; k++)
                        if (j->l.units[i].refs[k] != FATE_WAITS)
                                return true;
        }
        return j->l.fetch.waits != NULL;
}

/* how_to_use(r, ref): the words that bring a ref that has arrived into the user's own branch, as a
 * shell takes them. */
static char *how_to_use(const struct git_repo *r, const struct git_ref *ref)
{
        _cleanup_free_ char *name = str_shell(ref->local + strlen("refs/"));
        const char *verb = ref->kind == GIT_REF_STASH ? "stash apply"
                           : ref->kind == GIT_REF_TAG ? "show"
                                                      : "merge";
        if (!*r->path)
                return str_fmt("git %s %s", verb, name);
        _cleanup_free_ char *path = str_shell(r->path);
        return str_fmt("git -C %s %s %s", path, verb, name);
}

/* is_moved(j, u, ref): does a work tree of the repository move its branch to it? */
static bool is_moved(const struct apply_job *j, const struct landing_unit *u,
                     const struct git_ref *ref)
{
        for (size_t i = 0; i < j->l.fetch.n; i++) {
                const struct git_repo *r = &j->l.fetch.v[i];
                if (r->owner == (size_t)(u - j->l.units) && j->l.units[i].takes_head && r->head &&
                    strcmp(r->head, ref->name) == 0)
                        return true;
        }
        return false;
}

/* tell_taken(j, u, k): a ref that arrived, or would. */
static void tell_taken(const struct apply_job *j, const struct landing_unit *u, size_t k)
{
        const struct git_repo *r = u->repo;
        const struct git_ref *ref = &r->refs[k];
        _cleanup_free_ char *words = refwords(ref), *in = refwords_in(r);
        _cleanup_free_ char *local = str_quote(ref->local);
        const char *plural = ref->commits_all == 1 ? "" : "s";
        const char *would = j->l.is_dry ? "would take" : "took";
        if (is_moved(j, u, ref)) {
                out_say("%s %zu commit%s on %s%s: the branch is at %.12s%s", would,
                        ref->commits_all, plural, words, in, ref->tip,
                        j->l.is_dry ? " then" : " now");
                return;
        }
        _cleanup_free_ char *use = how_to_use(r, ref);
        if (strcmp(ref->landed, ref->tip) == 0) {
                out_say("the commits on %s%s are here already, as %s: %s", words, in, local, use);
                return;
        }
        out_say("%s %zu commit%s on %s%s as %s: %s%s", would, ref->commits_all, plural, words, in,
                local, use, ref->kind == GIT_REF_HEAD ? " (or git cherry-pick)" : "");
}

static void tell_classes(const struct git_ref *ref)
{
        for (size_t i = 0, n = 0; i < ref->paths.n && n < LISTED_MAX; i++) {
                const struct git_path *p = &ref->paths.v[i];
                if (p->class.class == FILE_PLAIN)
                        continue;
                _cleanup_free_ char *path = str_quote(p->path);
                fprintf(stderr, "  committed: %s (%s)\n", path, file_class_words(p->class.class));
                n++;
        }
}

static void tell_ref(const struct apply_job *j, const struct landing_unit *u, size_t k)
{
        const struct git_ref *ref = &u->repo->refs[k];
        _cleanup_free_ char *words = refwords(ref), *in = refwords_in(u->repo);
        switch (u->refs[k]) {
        case FATE_TAKE:
        case FATE_APPLIED:
                tell_taken(j, u, k);
                return;
        case FATE_REFUSED:
                out_say("%s%s stays in the box: %s", words, in,
                        ref->refused     ? ref->refused
                        : u->repo->waits ? u->repo->waits
                                         : "");
                return;
        case FATE_UNASKED:
                if (!u->repo->host_git) {
                        out_say("only the box has the repository%s of %s: to have the host's git "
                                "make it, run ostiary apply %s on a terminal, without --yes",
                                in, words, j->l.c->id);
                        return;
                }
                out_say("the commits on %s%s stay in the box, because --yes alone does not take "
                        "them (ostiary diff %s, then ostiary apply %s --yes=%s):",
                        words, in, j->l.c->id, j->l.c->id, file_class_name(ref->worst));
                tell_classes(ref);
                return;
        case FATE_DECLINED:
        case FATE_OPEN:
        case FATE_CONFLICT:
        case FATE_IMPLIED:
        case FATE_MASKED:
        case FATE_HELD:
        case FATE_UNIT:
        case FATE_WAITS:
                break;
        }
}

/* tell_head(j, u): why the branch did not move although its commits are here. */
static void tell_head(const struct landing_unit *u)
{
        if (!u->waits || !u->repo->is_ff)
                return;
        _cleanup_free_ char *in = refwords_in(u->repo);
        out_say("the branch%s does not move: %s", in, u->waits);
}

void apply_git_tell(const struct apply_job *j)
{
        if (j->l.fetch.waits)
                out_say("%s", j->l.fetch.waits);
        for (size_t i = 0; j->l.units && i < j->l.fetch.n; i++) {
                const struct landing_unit *u = &j->l.units[i];
                for (size_t k = 0; k < u->repo->refs_n && !u->repo->waits; k++)
                        tell_ref(j, u, k);
                if (u->repo->waits && !u->repo->is_spare) {
                        _cleanup_free_ char *in = refwords_in(u->repo);
                        out_say("what the box committed%s stays in it: %s", in, u->repo->waits);
                }
                for (size_t k = 0; k < u->kept.n && u->is_done; k++)
                        out_say("what a ref of the box was before is kept as %s", u->kept.v[k]);
                tell_head(u);
                if (u->stuck)
                        out_say("%s", u->stuck);
        }
}

/* is_stuck(u): the branch stays although its commits are here, and nobody said that it should. */
static bool is_stuck(const struct landing_unit *u)
{
        return u->stuck || (u->waits && u->repo->is_ff && !u->is_declined);
}

bool apply_git_left(const struct apply_job *j)
{
        for (size_t i = 0; j->l.units && i < j->l.fetch.n; i++) {
                if (j->l.fetch.v[i].waits && !j->l.fetch.v[i].is_spare)
                        return true;
                if (is_stuck(&j->l.units[i]))
                        return true;
                for (size_t k = 0; k < j->l.fetch.v[i].refs_n; k++)
                        if (j->l.units[i].refs[k] == FATE_REFUSED ||
                            j->l.units[i].refs[k] == FATE_UNASKED)
                                return true;
        }
        return j->l.fetch.waits != NULL;
}

void apply_git_json(const struct apply_job *j, struct json *w)
{
        json_open(w, "refs", '[');
        for (size_t i = 0; j->l.units && i < j->l.fetch.n; i++) {
                const struct landing_unit *u = &j->l.units[i];
                for (size_t k = 0; k < u->repo->refs_n; k++) {
                        const struct git_ref *ref = &u->repo->refs[k];
                        const char *fate = apply_fate_name(j, u->refs[k]);
                        if (!fate || u->refs[k] == FATE_WAITS)
                                continue;
                        json_open(w, NULL, '{');
                        json_str(w, "repository", u->repo->path);
                        json_str(w, "ref", ref->name);
                        json_str(w, "lands_as", ref->local);
                        json_str(w, "tip", ref->tip);
                        json_u64(w, "commits", ref->commits_all);
                        json_str(w, "class", file_class_name(ref->worst));
                        json_bool(w, "moves_branch", is_moved(j, u, ref));
                        json_str(w, "fate", fate);
                        json_str(w, "why", ref->refused ? ref->refused : u->repo->waits);
                        json_close(w, '}');
                }
        }
        json_close(w, ']');
}
