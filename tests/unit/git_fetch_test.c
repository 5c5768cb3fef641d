/* git_fetch_test.c - what comes out of a box's repository: honest work is listed with its commits,
 * paths and classes, and of a hostile one nothing is taken that git would refuse from a remote that
 * is not trusted. The box is a directory beside the host's, over which git runs directly: what git
 * prints there is as hostile as the directory. Runs git on directories of its own. */
#include "base/beneath.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "git/fetch_int.h"
#include "git/show.h"
#include "unit/check.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char top[64];

/* sh(script): in the directory of the test; $H is the host's work tree, $B the box's. */
static void sh(const char *script)
{
        char *line = str_fmt("set -e; cd %s; H=%s/ws; B=%s/box; export HOME=%s/home "
                             "GIT_CONFIG_NOSYSTEM=1; unset XDG_CONFIG_HOME; %s",
                             top, top, top, top, script);
        int r = system(line);
        if (r != 0)
                check(false, "set up", "status %d: %s", r, script);
        free(line);
}

/* said(script): what it prints, without the last line's end. The caller frees. */
static char *said(const char *script)
{
        char *all = str_fmt("%s > said", script), *path = str_fmt("%s/said", top);
        sh(all);
        char text[8192] = "";
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);
        close(fd);
        while (n > 0 && text[n - 1] == '\n')
                n--;
        text[n > 0 ? n : 0] = 0;
        free(all);
        free(path);
        return str_dup(text);
}

/* Packs that never end: they wait as long as they may, and it is counted how long that was. */
static bool is_pack_stuck;
static uint64_t stuck_ms;

/* inside(arg, call, err): git over the box's directory. */
static int inside(void *arg, const struct git_call *call, struct err *err)
{
        char *ws = str_fmt("%s/ws", top);
        char *dir = str_fmt("%s/box%s", top, call->dir + strlen(ws));
        struct git_call moved = *call;
        struct stat st;
        (void)arg;
        moved.dir = dir;
        if (is_pack_stuck && strcmp(call->argv[0], "pack-objects") == 0) {
                stuck_ms += call->patience_ms;
                poll(NULL, 0, (int)call->patience_ms);
                free(dir);
                free(ws);
                return err_set(err, E_INPUT, "git pack-objects did not finish in time");
        }
        int r = stat(dir, &st) < 0 ? err_set(err, E_INPUT, "enter %s in the box", dir)
                                   : git_call_host(&moved, NULL, err);
        free(dir);
        free(ws);
        return r;
}

static int confined(void *arg, const struct git_call *call, const char *writable,
                    const struct strs *readable, struct err *err)
{
        (void)arg;
        (void)readable;
        check(strcmp(call->dir, writable) == 0, "a pack is received where it may be written", "%s",
              writable);
        return git_call_host(call, NULL, err);
}

/* begin(script): a new host and a box that is its copy. */
static void begin(const char *host)
{
        sh("rm -rf ws box scratch; mkdir ws scratch; git init -q ws; cd ws; echo a > a; git add a; "
           "git commit -qm init; git branch -M main");
        sh(host);
        sh("cp -a ws box");
}

static struct git_fetch got;

/* pending_as_fetched(): what git_fetch_pending should say. */
static int pending_as_fetched(void)
{
        int is_new = 0;
        for (size_t i = 0; i < got.n; i++)
                for (size_t k = 0; k < got.v[i].refs_n; k++)
                        is_new |= got.v[i].refs[k].is_new;
        /* Nobody says here what the work tree has: content in the index counts. */
        for (size_t i = 0; i < got.n; i++)
                for (size_t k = 0; k < got.v[i].staged.n; k++)
                        is_new |= got.v[i].staged.v[k].mode && !got.v[i].waits;
        return is_new;
}

static void fetch(const char *tree)
{
        static const struct git_inside where = {.run = inside};
        struct strs trees = {0};
        strs_add(&trees, tree);
        strs_add(&trees, "nowhere");
        char *ws = str_fmt("%s/ws", top), *scratch = str_fmt("%s/scratch", top);
        struct git_want want = {.inside = &where,
                                .box = "b",
                                .workspace = ws,
                                .trees = &trees,
                                .scratch = scratch,
                                .confine = confined};
        struct err err = {0};
        git_fetch_free(&got);
        int r = git_fetch(&got, &want, &err);
        check(r == 0, "the box's repositories are read", "%s", err.text);
        int pends = git_fetch_pending(&want, &err), is_bad = 0, is_new = pending_as_fetched();
        for (size_t i = 0; i < got.n; i++) {
                is_bad |= got.v[i].waits != NULL;
                for (size_t k = 0; k < got.v[i].refs_n; k++)
                        is_bad |= got.v[i].refs[k].refused != NULL;
        }
        /* What cannot be read, and what is refused only when it is fetched, is said to pend. */
        check(pends == is_new || (is_bad && pends), "what pends is told without fetching",
              "%d, and %d is new", pends, is_new);
        strs_free(&trees);
        free(ws);
        free(scratch);
}

/* ref(name): of the last repository, which is the outermost. */
static const struct git_ref *ref(const char *name)
{
        static const struct git_ref none = {.name = (char *)""};
        const struct git_repo *r = got.n ? &got.v[got.n - 1] : NULL;
        for (size_t i = 0; r && i < r->refs_n; i++)
                if (strcmp(r->refs[i].name, name) == 0)
                        return &r->refs[i];
        return &none;
}

static const struct git_repo *repo(void)
{
        static const struct git_repo none;
        return got.n ? &got.v[got.n - 1] : &none;
}

/* refused(name, ref, word): it is, with that word in its sentence, and nothing is told of it. */
static void refused(const char *name, const struct git_ref *r, const char *word)
{
        check(r->refused && strstr(r->refused, word), name, "%s: %s", r->name,
              r->refused ? r->refused : "not refused");
        CHECK("what is refused is not new", !r->is_new && r->commits_n == 0);
}

static void plain_work(void)
{
        begin("true");
        fetch("");
        CHECK("an untouched box has nothing new", got.n == 1 && !ref("refs/heads/main")->is_new);
        CHECK("and nothing was fetched", repo()->quarantine == NULL);

        sh("cd box; echo b >> a; git commit -qam 'second; \"quoted\"'; echo c > c; git add c; git "
           "commit -qm third");
        char *before = said("find ws/.git -type f | sort | xargs sha256sum");
        fetch("");
        char *after = said("find ws/.git -type f | sort | xargs sha256sum");
        check_str("nothing of the host's repository is written", after, before);
        free(before);
        free(after);
        const struct git_ref *m = ref("refs/heads/main");
        CHECK("two commits are new", m->is_new && m->commits_n == 2 && m->commits_all == 2);
        check_str("the newest is first", m->commits ? m->commits[0].subject : NULL, "third");
        check_str("a subject is as it is", m->commits_n > 1 ? m->commits[1].subject : NULL,
                  "second; \"quoted\"");
        check_str("where it lands", m->local, "refs/ostiary/b/heads/main");
        CHECK("all of it is plain", m->worst == FILE_PLAIN && m->paths.n == 2);
        CHECK("the branch can simply go on", repo()->is_ff && repo()->touched.n == 2);
        CHECK("a path is found", git_paths_find(&repo()->touched, "c") != NULL);
        char *tip = said("git -C box rev-parse main");
        check_str("the tip is pinned", m->tip, tip);
        free(tip);
        CHECK("it was fetched into a quarantine", repo()->quarantine != NULL);

        /* Landed, it is not new any more. */
        sh("GIT_ALTERNATE_OBJECT_DIRECTORIES=$(echo scratch/*/objects) true; git -C ws fetch -q "
           "../box main:refs/ostiary/b/heads/main");
        fetch("");
        CHECK("what landed is not new", !ref("refs/heads/main")->is_new);
        CHECK("and is known to have landed",
              strcmp(ref("refs/heads/main")->landed, ref("refs/heads/main")->tip) == 0);
        CHECK("HEAD is still judged", repo()->is_ff && repo()->touched.n == 2);
}

static void carried(void)
{
        begin("true");
        sh("cd box; mkdir -p .github/workflows; echo 'on: push' > .github/workflows/x.yml; git add "
           ".; git commit -qm in; git rm -qr .github; git commit -qm out");
        fetch("");
        const struct git_ref *m = ref("refs/heads/main");
        CHECK("a path that came and went has its class", m->worst == FILE_RUNS_IN_CI);
        CHECK("and is listed", git_paths_find(&m->paths, ".github/workflows/x.yml") != NULL);
        CHECK("though HEAD does not bring it", repo()->touched.n == 0);

        begin("true");
        sh("cd box; echo x > Makefile; git add .; git commit -qm tagged; git tag -a v1 -m v1; git "
           "tag light; git reset -q --hard HEAD~1; echo y > .envrc; git add .; git stash -q; "
           "echo z > .gitlab-ci.yml; git stash -qu");
        fetch("");
        CHECK("a tag brings its commits", ref("refs/tags/v1")->worst == FILE_RUNS_ON_BUILD);
        CHECK("a light one too", ref("refs/tags/light")->commits_n == 1);
        CHECK("a stash brings what was staged", ref("stash@{1}")->worst == FILE_RUNS_ON_OPEN);
        CHECK("and what was not tracked", ref("stash@{0}")->worst == FILE_RUNS_IN_CI);
        check_str("where a stash lands", ref("stash@{1}")->local, "refs/ostiary/b/stash/1");
        CHECK("the branch has nothing new", !ref("refs/heads/main")->is_new);

        begin("true");
        sh("cd box; git tag -a old -m old");
        fetch("");
        CHECK("a tag's object is new without commits",
              ref("refs/tags/old")->is_new && ref("refs/tags/old")->commits_all == 0);
}

static void merges(void)
{
        /* The host has a branch with a workflow that nobody reviewed; the box merges it. */
        begin("cd ws; git checkout -qb pr; mkdir -p .github/workflows; echo x > "
              ".github/workflows/p.yml; git add .; git commit -qm pr; git checkout -q main");
        sh("cd box; echo b > b; git add b; git commit -qm b; git merge -q --no-edit pr");
        fetch("");
        CHECK("a merge brings what the branch did not have",
              ref("refs/heads/main")->worst == FILE_RUNS_IN_CI);
        CHECK("also as a new branch's",
              git_paths_find(&repo()->touched, ".github/workflows/p.yml") != NULL);

        begin("true");
        sh("cd ws; mkdir -p .github/workflows; echo x > .github/workflows/mine.yml; git add .; git "
           "commit -qm mine");
        sh("cd box; echo b > b; git add b; git commit -qm b; git pull -q --no-rebase --no-edit ../ws main");
        fetch("");
        CHECK("what the host's branch has already is no news",
              ref("refs/heads/main")->worst == FILE_PLAIN && repo()->is_ff);

        begin("true");
        sh("cd box; git checkout -qb x; echo 1 > x; git add x; git commit -qm x; git checkout -q "
           "main; echo 2 > y; git add y; git commit -qm y; git merge -q --no-commit x 2>/dev/null; echo e > "
           ".pre-commit-config.yaml; git add .; git commit -qm merged");
        fetch("");
        CHECK("what only the merge brings is seen", ref("refs/heads/main")->worst != FILE_PLAIN);
}

static void diverged(void)
{
        begin("true");
        sh("cd box; echo b > b; git add b; git commit -qm b");
        sh("cd ws; echo c > c; git add c; git commit -qm c");
        fetch("");
        CHECK("both went on", !repo()->is_ff && repo()->base_id[0] &&
                                      git_paths_find(&repo()->touched, "b") &&
                                      git_paths_find(&repo()->touched, "c"));

        begin("true");
        sh("cd box; git checkout -q --detach; echo b > b; git add b; git commit -qm b");
        fetch("");
        CHECK("a detached HEAD is a ref of its own", ref("HEAD")->is_new && repo()->head == NULL);
        check_str("with a place to land", ref("HEAD")->local, "refs/ostiary/b/HEAD");

        begin("true");
        sh("rm -rf box; mkdir box; git init -q box; git -C box symbolic-ref HEAD refs/heads/main");
        fetch("");
        CHECK("an empty repository has nothing", got.n == 1 && repo()->refs_n == 0);
        sh("rm -rf ws; cp -a box ws; cd box; echo a > a; git add a; git commit -qm first");
        fetch("");
        CHECK("the first commit of all", ref("refs/heads/main")->commits_n == 1 && repo()->is_ff);
        CHECK("brings its files", repo()->touched.n == 1);
}

/* tree(script): a commit in the box whose tree is what the script prints for mktree. */
static void tree(const char *branch, const char *entries)
{
        char *line = str_fmt("cd box; F=$(echo x | git hash-object -w --stdin); T=$(git rev-parse "
                             "'HEAD^{tree}'); W=$(printf \"%s\" | git mktree); git update-ref "
                             "refs/heads/%s $(git commit-tree -p HEAD -m bad $W)",
                             entries, branch);
        sh(line);
        free(line);
}

static void bad_objects(void)
{
        begin("true");
        tree("dotgit", "040000 tree $T\\t.git\\n");
        tree("dotdot", "040000 tree $T\\t..\\n");
        tree("caps", "040000 tree $T\\t.GIT\\n");
        tree("twice", "100644 blob $F\\tx\\n100644 blob $F\\tx\\n");
        tree("modules", "120000 blob $F\\t.gitmodules\\n");
        sh("cd box; echo good > good; git add .; git commit -qm good");
        sh("cd box; mkdir m; printf '[submodule \"x\"]\\n\\turl = -u./evil\\n\\tpath = x\\n' > "
           ".gitmodules; git add .; git commit -qm url; git branch url; git reset -q --hard "
           "HEAD~1");
        sh("cd box; C=$(printf 'tree %s\\nauthor x\\n\\nbad\\n' $(git rev-parse 'HEAD^{tree}') | git "
           "hash-object --literally -t commit -w --stdin); echo $C > .git/refs/heads/commit");
        sh("cd box; C=$(printf 'object %s\\ntyp commit\\ntag x\\n\\nx\\n' $(git rev-parse HEAD) | git "
           "hash-object --literally -t tag -w --stdin); echo $C > .git/refs/tags/bad");
        sh("cd box; echo 1234567890123456789012345678901234567890 > .git/refs/heads/absent");
        sh("cd box; git update-ref refs/tags/tree 'HEAD^{tree}'");
        fetch("");
        refused("a tree with .git is refused", ref("refs/heads/dotgit"), "hasDotgit");
        refused("a tree with .. is refused", ref("refs/heads/dotdot"), "hasDotdot");
        refused("a tree with .GIT is refused", ref("refs/heads/caps"), "hasDotgit");
        refused("a tree with two of a name is refused", ref("refs/heads/twice"),
                "duplicateEntries");
        refused("a .gitmodules that is a link is refused", ref("refs/heads/modules"),
                "gitmodulesSymlink");
        refused("a .gitmodules that is an option is refused", ref("refs/heads/url"), "refused");
        refused("a malformed commit is refused", ref("refs/heads/commit"), "");
        refused("a malformed tag is refused", ref("refs/tags/bad"), "");
        refused("a tip that is not there is refused", ref("refs/heads/absent"), "bad object");
        refused("a tag of a tree is refused", ref("refs/tags/tree"), "does not name a commit");
        CHECK("the others still work",
              ref("refs/heads/main")->is_new && ref("refs/heads/main")->commits_n == 1);

        begin("true");
        sh("cd box; echo b > b; git add b; git commit -qm b; O=$(git rev-parse HEAD:b); P=.git/"
           "objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-); E=$(echo evil | git hash-object "
           "-w --stdin); chmod 600 $P; cp .git/objects/$(echo $E | cut -c1-2)/$(echo $E | cut "
           "-c3-) $P");
        fetch("");
        refused("an object with other content than its name says is refused",
                ref("refs/heads/main"), "");

        begin("true");
        sh("cd box; echo b > b; git add b; git commit -qm b; O=$(git rev-parse HEAD:b); rm -f .git/"
           "objects/$(echo $O | cut -c1-2)/$(echo $O | cut -c3-)");
        fetch("");
        refused("a commit without one of its files is refused", ref("refs/heads/main"), "");
}

static void bad_names(void)
{
        begin("true");
        sh("cd box; echo b > b; git add b; git commit -qm b; git update-ref refs/heads/-x HEAD; git "
           "update-ref refs/heads/x.LOCK HEAD; git update-ref refs/notes/n HEAD; git update-ref "
           "refs/remotes/o/main HEAD; cp .git/refs/heads/main '.git/refs/heads/a b'; git replace "
           "-f HEAD~1 HEAD; git update-ref refs/weird/x HEAD");
        fetch("");
        refused("a name like an option is refused", ref("refs/heads/-x"), "its name");
        refused("a name like a lock is refused", ref("refs/heads/x.LOCK"), "its name");
        CHECK("such a name has no place to land", ref("refs/heads/-x")->local == NULL);
        CHECK("notes, replacements, remotes and others never land",
              repo()->refs_n == 3 && repo()->notes_n == 4);
        CHECK("a replacement changes nothing", ref("refs/heads/main")->commits_n == 1);

        begin("true");
        sh("cd box; git pack-refs --all; echo \"$(git rev-parse HEAD) refs/heads/../../x\" >> "
           ".git/packed-refs");
        fetch("");
        CHECK("a list of refs that git refuses makes the repository wait",
              repo()->waits && strstr(repo()->waits, "refs"));

        begin("true");
        sh("cd box; echo '[core' >> .git/config");
        fetch("");
        CHECK("a configuration that git refuses does too", got.n == 1 && repo()->waits);
}

static void large(void)
{
        begin("true");
        sh("cd box; head -c 300000 /dev/urandom > big; git add big; git commit -qm big; git branch "
           "big; git reset -q --hard HEAD~1; echo b > b; git add b; git commit -qm b");
        git_take_max = 100000;
        fetch("");
        git_take_max = (uint64_t)2 << 30;
        refused("a pack beyond the limit is refused", ref("refs/heads/big"), "more than");
        CHECK("a small one beside it is taken", ref("refs/heads/main")->commits_n == 1);
}

static void bomb(void)
{
        begin("true");
        sh("cd box; T=$(git rev-parse 'HEAD^{tree}'); for l in 1 2 3 4 5; do T=$(for n in a b c "
           "d e f g h i j; do printf '040000 tree %s\\t%s\\n' $T $n; done | git mktree); done; git "
           "update-ref refs/heads/bomb $(git commit-tree -p HEAD -m bomb $T); echo b > b; git add "
           "b; git commit -qm b");
        git_graph_max = 1 << 20;
        fetch("");
        git_graph_max = (size_t)512 << 20;
        refused("trees that are millions of paths are refused", ref("refs/heads/bomb"),
                "more than");
        CHECK("a branch beside them is read", ref("refs/heads/main")->commits_n == 1);

        begin("true");
        sh("cd box; T=$(git rev-parse 'HEAD^{tree}'); for l in 1 2 3 4 5 6 7 8 9; do T=$(for n in a "
           "b c d e f g h i j; do printf '040000 tree %s\\t%s\\n' $T $n; done | git mktree); done; "
           "git update-ref refs/heads/bomb $(git commit-tree -p HEAD -m bomb $T); echo b > b; git "
           "add b; git commit -qm b");
        git_fetch_cpu_s = 1;
        fetch("");
        git_fetch_cpu_s = 20;
        refused("trees that take git too long are refused", ref("refs/heads/bomb"),
                "processor time");
        CHECK("and a branch beside them is read", ref("refs/heads/main")->commits_n == 1);
}

static void kinds(void)
{
        begin("true");
        sh("rm -rf ws box; git init -q --object-format=sha256 ws; cd ws; echo a > a; git add a; git "
           "commit -qm a; cd ..; cp -a ws box; cd box; echo b > b; git add b; git commit -qm b");
        fetch("");
        CHECK("SHA-256 works", repo()->refs_n == 1 && repo()->refs[0].commits_n == 1);
        sh("rm -rf ws; git init -q ws");
        fetch("");
        CHECK("two hashes do not", repo()->waits && strstr(repo()->waits, "SHA-256"));

        begin("cd ws; echo b > b; git add b; git commit -qm b; cd ..; mv ws full; git clone -q "
              "--depth 1 file://$PWD/full ws");
        sh("cd box; echo c > c; git add c; git commit -qm c");
        fetch("");
        CHECK("a shallow clone works", ref("refs/heads/main")->commits_n == 1 && repo()->is_ff);
        sh("rm -rf full");

        begin("mv ws full; git clone -q --shared full ws");
        sh("cd box; echo c > c; git add c; git commit -qm c");
        fetch("");
        CHECK("borrowed objects work", ref("refs/heads/main")->commits_n == 1 && repo()->is_ff);
        sh("rm -rf full");

        begin("git -C ws config uploadpack.allowFilter true; mv ws full; git clone -q "
              "--filter=blob:none file://$PWD/full ws");
        sh("cd box; echo c > c; git add c; git commit -qm c");
        fetch("");
        CHECK("a partial clone works", ref("refs/heads/main")->commits_n == 1 && repo()->is_ff);
        sh("rm -rf full");

        begin("true");
        sh("rm -rf box ws; git init -q --bare box; mkdir ws");
        fetch("");
        CHECK("a bare repository waits", repo()->waits && strstr(repo()->waits, "bare"));

        begin("true");
        sh("rm -rf ws/.git; cd box; echo b > b; git add b; git commit -qm b");
        fetch("");
        CHECK("a repository that only the box has",
              !repo()->host_git && ref("refs/heads/main")->commits_n == 2);
}

static void several(void)
{
        begin("git init -q lib; cd lib; echo l > l; git add l; git commit -qm l; cd ../ws; git -c "
              "protocol.file.allow=always submodule -q add ../lib sub 2>/dev/null; git commit -qm "
              "sub");
        sh("cd box/sub; echo m > m; git add m; git commit -qm m; cd ..; git add sub; git commit -qm "
           "bump");
        fetch("");
        CHECK("a submodule comes before what contains it",
              got.n == 2 && strcmp(got.v[0].path, "sub") == 0 && got.v[0].is_module);
        CHECK("with its own commits", got.v[0].refs_n && got.v[0].refs[0].commits_n == 1);
        const struct git_path *p = git_paths_find(&repo()->touched, "sub");
        CHECK("the link to it is a path", p && p->mode == 0160000);
        sh("rm -rf lib");

        begin("true");
        sh("cd box; printf '[submodule \"x\"]\\n\\tpath = ../../etc\\n[submodule \"y\"]\\n\\tpath = "
           "/etc\\n' > .gitmodules");
        fetch("");
        CHECK("a submodule elsewhere is none", got.n == 1);
}

static void aside(void)
{
        begin("true");
        sh("cd box; mkdir .github .github/workflows; echo w > "
           ".github/workflows/w.yml; git add .; git update-index --assume-unchanged "
           ".github/workflows/w.yml; rm -r .github; echo t > t; git add t; "
           "echo s > s; git add s; rm s");
        fetch("");
        CHECK("the index alone has it", git_paths_find(&repo()->staged, "s") != NULL);
        const struct git_path *w = git_paths_find(&repo()->staged, ".github/workflows/w.yml");
        CHECK("also when git was told not to look", w && w->class.class == FILE_RUNS_IN_CI);

        begin("cd ws; git config my.old 1");
        sh("cd box; git config --unset my.old; git config alias.x \"!it's\"; git config core.x "
           "\"$(printf 'a\\033[2Jb')\"");
        fetch("");
        CHECK("a setting is told as a command, and that it runs something",
              strs_has(&repo()->config, "(runs on commit) git config alias.x '!it'\\''s'"));
        CHECK("control characters are not",
              strs_has(&repo()->config, "(runs on commit) git config core.x $'a\\x1b[2Jb'"));
        CHECK("nor is one that is gone",
              strs_has(&repo()->config, "git config --unset-all my.old"));
}

static void linked(void)
{
        begin("cd ws; mkdir conf; echo '{}' > conf/tasks.json; ln -s conf .vscode; git add .; git "
              "commit -qm l");
        sh("cd box; echo '{ }' > conf/tasks.json; git commit -qam t");
        fetch("");
        CHECK("a class follows a link of the tree",
              ref("refs/heads/main")->worst == FILE_RUNS_ON_OPEN);
        begin("true");
        sh("cd box; echo x > rules; ln -s rules Makefile; git add .; git commit -qm l");
        fetch("");
        const struct git_path *p = git_paths_find(&repo()->touched, "rules");
        CHECK("a new link classes what it leads to", p && p->class.class == FILE_RUNS_ON_BUILD);

        begin("true");
        sh("cd box; printf '*.txt text\\n' > .gitattributes; git add .; git commit -qm a");
        fetch("");
        CHECK("attributes that run nothing are plain", ref("refs/heads/main")->worst == FILE_PLAIN);
        sh("cd box; printf '*.txt filter=x\\n' > .gitattributes; git add .; git commit -qm b");
        fetch("");
        CHECK("attributes that name a filter are not", ref("refs/heads/main")->worst != FILE_PLAIN);
}

static void elsewhere(void)
{
        begin("git init -q other; cd other; echo o > o; git add o; git commit -qm o; cd ..; ln -s "
              "../other ws/link");
        sh("cd box; rm link; git init -q link; cd link; echo e > e; git add e; git commit -qm e");
        fetch("link");
        CHECK("a repository behind a link of the host is left alone",
              got.n == 1 && repo()->waits && !repo()->host_git);
        sh("rm -rf other");

        begin("true");
        sh("cd box; git checkout -qb old; git checkout -q main; echo b > b; git add b; git commit "
           "-qm b; git tag t; git reset -q --hard HEAD~1; git tag -d t >/dev/null");
        fetch("");
        CHECK("a new name for what the host has is new",
              ref("refs/heads/old")->is_new && ref("refs/heads/old")->commits_all == 0);
        begin("cd ws; echo b > b; git add b; git commit -qm b");
        sh("cd box; git reset -q --hard HEAD~1");
        fetch("");
        CHECK("a branch that is behind is not", !ref("refs/heads/main")->is_new);
}

static void again(void)
{
        begin("true");
        sh("cd box; echo b > b; git add b; git commit -qm b");
        fetch("");
        char *first = said("ls -i scratch/*/objects/pack/*.pack");
        fetch("");
        char *second = said("ls -i scratch/*/objects/pack/*.pack");
        check_str("a quarantine that fits is used again", second, first);
        free(first);
        free(second);
        sh("chmod -R u+w scratch; for f in scratch/*/objects/pack/*.pack; do echo x > $f; done");
        fetch("");
        CHECK("a broken one is made anew", ref("refs/heads/main")->commits_n == 1);
        sh("cd box; echo c > c; git add c; git commit -qm c");
        fetch("");
        CHECK("a tip that moved is fetched", ref("refs/heads/main")->commits_n == 2);
        char *left = said("ls scratch | wc -l");
        check_str("nothing half done is left", left, "1");
        free(left);
}

/* Three repositories whose packs are never done cost the time of one. */
static void stuck(void)
{
        begin("");
        sh("cd box; echo b > b; git add b; git commit -qm b; for d in n1 n2; do git init -q $d; (cd $d; "
           "echo x > x; git add x; git commit -qm x); done");
        uint32_t was = git_fetch_pack_ms;
        git_fetch_pack_ms = 300;
        is_pack_stuck = true;
        struct strs trees = {0};
        static const struct git_inside where = {.run = inside};
        char *ws = str_fmt("%s/ws", top), *scratch = str_fmt("%s/scratch", top);
        strs_add(&trees, "");
        strs_add(&trees, "n1");
        strs_add(&trees, "n2");
        struct git_want want = {.inside = &where,
                                .box = "b",
                                .workspace = ws,
                                .trees = &trees,
                                .scratch = scratch,
                                .confine = confined};
        struct err err = {0};
        git_fetch_free(&got);
        int r = git_fetch(&got, &want, &err);
        is_pack_stuck = false;
        git_fetch_pack_ms = was;
        size_t waits_n = 0;
        for (size_t i = 0; i < got.n; i++)
                waits_n += got.v[i].waits != NULL;
        check(r == 0 && got.n == 3 && waits_n == 3, "packs that are never done are said of each",
              "%zu of %zu", waits_n, got.n);
        check(stuck_ms > 0 && stuck_ms <= 300, "and cost the time of one", "%llu ms",
              (unsigned long long)stuck_ms);
        strs_free(&trees);
        free(ws);
        free(scratch);
}

/* What cannot be told is not taken unseen, and many refs are told by few calls. */
static void shown(void)
{
        begin("");
        sh("cd box; for i in 1 2 3 4 5; do git checkout -q -b b$i main; echo $i > f$i; git add .; git commit "
           "-qm c$i; done; git checkout -q main");
        fetch("");
        struct git_show_left left = git_show_all();
        struct git_show_seen seen = {0};
        struct strs ids = {0};
        struct buf log = {.max = 1 << 20};
        struct err err = {0};
        for (size_t i = 0; i < got.v[0].refs_n; i++)
                git_show_new(&got.v[0].refs[i], &seen, &ids);
        git_show_seen_free(&seen);
        CHECK("each commit once", ids.n == 5);
        CHECK("five refs are told by one call",
              git_show_log(&got.v[0], &ids, false, &left, &log, &err) == 0 &&
                      str_starts(buf_cstr(&log), "commit ") &&
                      strncmp(buf_cstr(&log) + 7, ids.v[0], strlen(ids.v[0])) == 0 &&
                      strstr(buf_cstr(&log), " f5 "));
        buf_free(&log);
        strs_free(&ids);
        git_show_prove(&got);
        CHECK("what can be told is not refused", !ref("refs/heads/b1")->refused);
        int64_t was = git_show_cpu_ms;
        git_show_cpu_ms = 0;
        git_show_prove(&got);
        git_show_cpu_ms = was;
        CHECK("what cannot is", ref("refs/heads/b1")->refused && ref("refs/heads/b5")->refused);
}

int main(void)
{
        snprintf(top, sizeof top, "/tmp/git_fetch.XXXXXX");
        if (!mkdtemp(top) || !git_call_is_there()) {
                printf("skip git_fetch: there is no git here\n");
                return 0;
        }
        char *home = str_fmt("%s/home", top);
        setenv("HOME", home, 1);
        unsetenv("XDG_CONFIG_HOME");
        mkdir(home, 0700);
        sh("git config --global user.name n; git config --global user.email a@b; git config "
           "--global init.defaultBranch main; git config --global protocol.file.allow always");
        plain_work();
        carried();
        merges();
        diverged();
        bad_objects();
        bad_names();
        large();
        bomb();
        kinds();
        several();
        aside();
        linked();
        elsewhere();
        again();
        stuck();
        shown();
        git_fetch_free(&got);
        free(home);
        if (!check_failed_n)
                beneath_remove_tree(AT_FDCWD, top, NULL);
        return check_end();
}
