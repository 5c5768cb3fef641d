/* git_land_test.c - commits of another repository landed by real git: branch, index and refs follow,
 * locks and moved refs are respected, an older box's refs go, and undo leads back. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "git/land.h"
#include "unit/check.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char top[] = "/tmp/git_land_test.XXXXXX";
static int made_n;

/* out(fmt, ...): what a shell command prints, without its last newline; the next call reuses it. */
static const char *out(const char *fmt, ...)
{
        static char text[1 << 16];
        va_list ap;
        va_start(ap, fmt);
        _cleanup_free_ char *command = str_vfmt(fmt, ap);
        va_end(ap);
        FILE *f = popen(command, "r");
        size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
        int status = f ? pclose(f) : -1;
        text[n] = 0;
        while (n && text[n - 1] == '\n')
                text[--n] = 0;
        if (status != 0)
                check(false, "a command of the test works", "%s: %s", command, text);
        return text;
}

/* One host repository, one box that cloned it, and what fetching would say of them. */
struct pair {
        char host[64], box[64], quarantine[80];
        struct git_repo repo;
        struct git_ref ref;
};

static void touch_paths(struct pair *p, const char *from)
{
        _cleanup_free_ char *text = str_dup(
                out("cd %s && git diff-tree -r --no-renames --full-index %s HEAD", p->box, from));
        char *rest = text;
        p->repo.touched.v = calloc(100, sizeof *p->repo.touched.v);
        for (char *line; (line = strsep(&rest, "\n")) && p->repo.touched.v;) {
                struct git_path *one = &p->repo.touched.v[p->repo.touched.n];
                char path[100], old[65];
                unsigned was;
                if (sscanf(line, ":%o %o %64s %64s %c\t%99s", &was, &one->mode, old, one->id,
                           &one->what, path) != 6)
                        continue;
                one->path = str_dup(path);
                p->repo.touched.n++;
        }
}

static void pair_make(struct pair *p, const char *host_script, const char *box_script)
{
        *p = (struct pair){0};
        snprintf(p->host, sizeof p->host, "%s/h%d", top, ++made_n);
        snprintf(p->box, sizeof p->box, "%s/b%d", top, made_n);
        snprintf(p->quarantine, sizeof p->quarantine, "%s/q%d/objects", top, made_n);
        out("git init -q -b main %s && cd %s && echo 1 > a && echo k > keep && git add . && "
            "git commit -qm one && git clone -q . %s && cd %s && %s && git add -A && "
            "git commit -qm two && mkdir -p %s && cp -r .git/objects/. %s",
            p->host, p->host, p->box, p->box, box_script, p->quarantine, p->quarantine);
        _cleanup_free_ char *base = str_dup(out("git -C %s rev-parse HEAD", p->host));
        if (*host_script)
                out("cd %s && %s", p->host, host_script);
        p->repo = (struct git_repo){.path = str_dup(""),
                                    .dir = str_dup(p->host),
                                    .host_git = str_fmt("%s/.git", p->host),
                                    .host_common = str_fmt("%s/.git", p->host),
                                    .quarantine = str_dup(p->quarantine),
                                    .refs = &p->ref,
                                    .refs_n = 1,
                                    .head = str_dup("refs/heads/main"),
                                    .host_head = str_dup("refs/heads/main"),
                                    .is_ff = true};
        snprintf(p->repo.host_head_id, sizeof p->repo.host_head_id, "%s", base);
        snprintf(p->repo.head_id, sizeof p->repo.head_id, "%s",
                 out("git -C %s rev-parse HEAD", p->box));
        p->ref = (struct git_ref){.name = str_dup("refs/heads/main"),
                                  .local = str_dup("refs/ostiary/b/heads/main"),
                                  .is_new = true};
        memcpy(p->ref.tip, p->repo.head_id, sizeof p->ref.tip);
        touch_paths(p, base);
}

static void pair_free(struct pair *p)
{
        git_paths_free(&p->repo.touched);
        char *const all[] = {p->repo.path,        p->repo.dir,        p->repo.host_git,
                             p->repo.host_common, p->repo.quarantine, p->repo.head,
                             p->repo.host_head,   p->ref.name,        p->ref.local};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                free(all[i]);
}

/* land(p, takes_head, err): with the files copied by hand in between. */
static int land(struct pair *p, bool takes_head, struct err *err)
{
        bool takes[] = {true};
        struct git_land *l = git_land_begin(&p->repo, "b", takes, takes_head, NULL, err);
        if (!l)
                return -1;
        if (takes_head)
                out("cd %s && tar cf - --exclude=.git . | tar xf - -C %s", p->box, p->host);
        int rc = git_land_commit(l, err);
        git_land_end(l);
        return rc;
}

static enum git_land_box box_file(void *arg, const char *path)
{
        (void)path;
        return *(enum git_land_box *)arg;
}

static void fast_forward(void)
{
        struct pair p;
        struct err err = {0};
        pair_make(&p, "", "echo 2 > a && mkdir d && echo n > d/new && rm keep");
        check(land(&p, true, &err) == 0, "a fast-forward lands", "%s", err.text);
        out("rm -f %s/keep", p.host);
        check(strcmp(out("git -C %s rev-parse main", p.host), p.ref.tip) == 0,
              "the branch is there", "%s", "");
        check(strcmp(out("git -C %s rev-parse refs/ostiary/b/heads/main", p.host), p.ref.tip) == 0,
              "and the fetched ref", "%s", "");
        check(*out("git -C %s status --porcelain", p.host) == 0, "git status is clean", "%s",
              out("git -C %s status --porcelain", p.host));
        check(*out("git -C %s fsck --full 2>&1", p.host) == 0, "git fsck finds nothing", "%s", "");
        check(access(out("echo %s/.git/index.lock", p.host), F_OK) < 0, "the index is unlocked",
              "%s", "");

        struct git_move back = {.ref = p.repo.head};
        char *why = NULL;
        memcpy(back.from, p.repo.host_head_id, sizeof back.from);
        memcpy(back.to, p.ref.tip, sizeof back.to);
        check(git_land_back(p.host, &back, false, &why, &err) == 1, "undo moves the branch back",
              "%s %s", err.text, why ? why : "");
        out("cd %s && echo 1 > a && echo k > keep && rm -r d", p.host);
        check(*out("git -C %s status --porcelain", p.host) == 0, "and the index with it", "%s",
              out("git -C %s status --porcelain", p.host));
        check(git_land_back(p.host, &back, false, &why, &err) == 0 && why,
              "a branch that is not there any more is left, with a sentence", "%s", err.text);
        free(why);
        pair_free(&p);
}

static void locks(void)
{
        struct pair p;
        struct err err = {0};
        pair_make(&p, "", "echo 2 > a");
        out("touch %s/.git/index.lock", p.host);
        check(land(&p, true, &err) < 0 && strstr(err.text, "index.lock"),
              "a lock of the user's own git is respected", "%s", err.text);
        check(strcmp(out("git -C %s rev-parse main", p.host), p.repo.host_head_id) == 0 &&
                      access(out("echo %s/.git/index.lock", p.host), F_OK) == 0,
              "and nothing has moved", "%s", "");
        out("printf 'ostiary\\n' > %s/.git/index.lock", p.host);
        err = (struct err){0};
        check(land(&p, true, &err) == 0, "a lock that a killed run of ours left is taken over",
              "%s", err.text);
        pair_free(&p);

        pair_make(&p, "echo 9 > keep && git commit -qam mine", "echo 2 > a");
        err = (struct err){0};
        _cleanup_free_ char *before = str_dup(out("git -C %s ls-files -s", p.host));
        check(land(&p, true, &err) < 0, "a branch that moved meanwhile is refused", "%s", "");
        check(strcmp(out("git -C %s ls-files -s", p.host), before) == 0,
              "and the index is as it was", "%s", err.text);
        pair_free(&p);
}

static void old_refs(void)
{
        struct pair p;
        struct err err = {0};
        pair_make(&p, "git update-ref refs/ostiary/b/heads HEAD", "echo 2 > a");
        check(land(&p, false, &err) == 0,
              "refs of an older box of that name make room, also where a name is a directory now",
              "%s", err.text);
        check(strcmp(out("git -C %s for-each-ref --format='%%(refname)' refs/ostiary", p.host),
                     "refs/ostiary/b/heads/main") == 0,
              "and are gone", "%s", "");
        check(strcmp(out("git -C %s rev-parse main", p.host), p.repo.host_head_id) == 0,
              "without a fast-forward no branch of the user's moves", "%s", "");
        pair_free(&p);
}

/* obstacle(script, box, words): what is said of a host in that state. */
static void obstacle(const char *script, enum git_land_box box, const char *words)
{
        struct pair p;
        struct err err = {0};
        char *why = NULL;
        pair_make(&p, script, "echo 2 > a");
        int rc = git_land_obstacle(&p.repo, box_file, &box, &why, &err);
        if (words)
                check(rc == 0 && why && strstr(why, words), words, "%d %s %s", rc, why ? why : "-",
                      err.text);
        else
                check(rc == 0 && !why, script, "%d %s %s", rc, why ? why : "-", err.text);
        free(why);
        pair_free(&p);
}

static void made(void)
{
        struct pair p;
        struct err err = {0};
        pair_make(&p, "", "echo 2 > a");
        free(p.repo.host_git);
        free(p.repo.host_common);
        free(p.repo.dir);
        free(p.repo.path);
        p.repo.path = str_dup("made");
        p.repo.host_git = p.repo.host_common = NULL;
        p.repo.host_head_id[0] = 0;
        snprintf(p.host, sizeof p.host, "%s/made", top);
        p.repo.dir = str_dup(p.host);
        git_paths_free(&p.repo.touched);
        p.repo.touched = (struct git_paths){0};
        touch_paths(&p, "4b825dc642cb6eb9a060e54bf8d69288fbee4904");
        check(land(&p, true, &err) == 0, "a repository that only the box has is made", "%s",
              err.text);
        check(*out("git -C %s status --porcelain", p.host) == 0, "with its branch and files", "%s",
              out("git -C %s status --porcelain", p.host));
        pair_free(&p);
}

int main(void)
{
        if (!mkdtemp(top))
                return 1;
        setenv("HOME", top, 1);
        unsetenv("XDG_CONFIG_HOME");
        if (!git_call_is_there())
                return puts("skip git lands: there is no git on this machine"), 0;
        out("git config --global user.name T && git config --global user.email t@example.net && "
            "git config --global init.defaultBranch main");
        fast_forward();
        locks();
        old_refs();
        obstacle("true", GIT_LAND_BOX_OTHER, NULL);
        obstacle("echo 5 > a", GIT_LAND_BOX_OTHER, "is changed on the host");
        obstacle("echo 2 > a", GIT_LAND_BOX_SAME, NULL);
        obstacle("echo 5 > a; git add a", GIT_LAND_BOX_OTHER, "is staged on the host");
        obstacle("echo 2 > a; git add a", GIT_LAND_BOX_SAME, NULL);
        obstacle("echo 5 > keep; git add keep; echo u > other", GIT_LAND_BOX_OTHER, NULL);
        obstacle("git rev-parse HEAD > .git/MERGE_HEAD", GIT_LAND_BOX_OTHER,
                 "a merge is under way");
        obstacle("mkdir .git/rebase-merge", GIT_LAND_BOX_OTHER, "a rebase is under way");
        obstacle("git worktree add -q -f ../w-main main", GIT_LAND_BOX_OTHER, "is checked out in");
        obstacle("echo 5 > a", GIT_LAND_BOX_NONE, "is changed on the host");
        obstacle("echo 5 > a", GIT_LAND_BOX_SAME, NULL);
        obstacle("echo 5 > a; git update-index --skip-worktree a", GIT_LAND_BOX_NONE,
                 "is changed on the host");
        obstacle("git update-index --assume-unchanged a; echo 5 > a", GIT_LAND_BOX_NONE,
                 "is changed on the host");
        obstacle("git update-index --skip-worktree a", GIT_LAND_BOX_NONE, NULL);
        made();
        out("rm -rf %s", top);
        return check_end();
}
