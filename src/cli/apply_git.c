/* apply_git.c - questions about the commits of a box, on a terminal. Who is asked for what, and what
 * lands when, is decided in session/landing.h. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/apply.h"
#include "cli/out.h"
#include "git/show.h"
#include "workspace/print.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { SHOW_MAX = 64 << 20, LISTED_MAX = 30 };

/* show_ref(r, ref): its commits with their patches, safe for a terminal. */
static void show_ref(const struct git_repo *r, const struct git_ref *ref)
{
        struct err err = {0};
        _cleanup_buf_ struct buf log = {.max = SHOW_MAX}, safe = {.max = SHOW_MAX};
        struct git_show_left left = git_show_all();
        struct git_show_seen seen = {0};
        _cleanup_strs_ struct strs ids = {0};
        git_show_new(ref, &seen, &ids);
        git_show_seen_free(&seen);
        if (ids.n && git_show_log(r, &ids, true, &left, &log, &err) < 0) {
                out_say("%s", err.text);
                return;
        }
        if (ref->tag)
                ws_print_shown(&safe, ref->tag, strlen(ref->tag), out_has_colour(2));
        ws_print_shown(&safe, buf_cstr(&log), log.len, out_has_colour(2));
        fputs(buf_cstr(&safe), stderr);
        if (ref->commits_all > ref->commits_n)
                out_say("%zu older commits are not shown", ref->commits_all - ref->commits_n);
}

/* ask_ref(arg, l, u, k): somebody at a terminal decides. */
static bool ask_ref(void *arg, struct landing *l, struct landing_unit *u, size_t k)
{
        (void)arg;
        const struct git_repo *r = u->repo;
        const struct git_ref *ref = &r->refs[k];
        apply_git_list(r, ref);
        const char *what = !r->host_git ? "Make the repository with the host's git, and take them?"
                                        : "Take them?";
        _cleanup_free_ char *question =
                str_fmt("%s (%s) [y/N, d shows, q ends]", what, file_class_words(ref->worst));
        for (;;) {
                char got = apply_answer(question, "nydq");
                if (got == 'd') {
                        show_ref(r, ref);
                        continue;
                }
                l->is_over = got == 'q';
                return got == 'y';
        }
}

/* list_head(l, u): what is not plain of that, by name, and how much is; and by name everything that no
 * commit has: the question about the commits did not show it. */
static void list_head(const struct landing *l, const struct landing_unit *u)
{
        size_t plain_n = 0, on_top_n = 0;
        for (size_t i = 0; i < u->repo->touched.n; i++) {
                const struct git_path *p = &u->repo->touched.v[i];
                _cleanup_free_ char *name = str_quote(p->path);
                plain_n += p->class.class == FILE_PLAIN;
                if (p->class.class != FILE_PLAIN)
                        fprintf(stderr, "  committed: %s (%s)\n", name,
                                file_class_words(p->class.class));
        }
        if (plain_n)
                fprintf(stderr, "  %zu plain file%s\n", plain_n, plain_n == 1 ? "" : "s");
        for (size_t i = 0; i < l->n; i++) {
                const struct landing_item *it = &l->v[i];
                bool is_plain = it->change->class.class == FILE_PLAIN;
                if (landing_unit_of(l, it) != u || (is_plain && !it->is_on_top))
                        continue;
                if (is_plain && ++on_top_n > LISTED_MAX)
                        continue;
                _cleanup_free_ char *name = landing_name(l, it);
                fprintf(stderr, "  %-8s %s (%s)%s\n", ws_what_name(it->change->what), name,
                        file_class_words(it->change->class.class),
                        it->is_on_top ? ", not committed" : "");
        }
        if (on_top_n > LISTED_MAX)
                fprintf(stderr, "  and %zu more plain ones that are not committed\n",
                        on_top_n - LISTED_MAX);
}

static int put_head(void *arg, const void *bytes, size_t n)
{
        (void)arg;
        return fdio_write_all(STDERR_FILENO, bytes, n);
}

/* show_head(l, u): the files that land with the branch against the host's, safe for a terminal: what is
 * on top of the commits; when there is none, all of them. */
static void show_head(const struct landing *l, const struct landing_unit *u)
{
        bool has_on_top = false;
        struct ws_print p = {.put = put_head,
                             .is_safe = true,
                             .wants_shown = true,
                             .has_colour = out_has_colour(STDERR_FILENO),
                             .context = 3};
        for (size_t i = 0; i < l->n; i++)
                has_on_top |= landing_unit_of(l, &l->v[i]) == u && l->v[i].is_on_top;
        for (size_t i = 0; i < l->n; i++) {
                struct landing_item *it = &l->v[i];
                if (landing_unit_of(l, it) != u || (has_on_top && !it->is_on_top))
                        continue;
                if (ws_print_change(&p, it->change, NULL) < 0)
                        return;
                memcpy(it->shown, p.shown, sizeof p.shown);
        }
}

/* ask_head(l, u): the work tree gets what the branch's commits and the files on top of them bring;
 * that is asked for by its own classes, which the ref's may not have named, and by what is on top. */
static bool ask_head(void *arg, struct landing *l, const struct landing_unit *u)
{
        (void)arg;
        _cleanup_free_ char *branch = str_quote(u->repo->head);
        fprintf(stderr, "To move the host's %s to them brings into its work tree:\n", branch);
        list_head(l, u);
        for (;;) {
                char got = apply_answer("Move it, with its files? [y/N, d shows, q ends]", "nydq");
                if (got == 'd') {
                        show_head(l, u);
                        continue;
                }
                l->is_over = got == 'q';
                return got == 'y';
        }
}

void apply_git_asks(struct apply_job *j)
{
        j->l.asks = (struct landing_asks){.ref = ask_ref, .head = ask_head};
}
