/* walk_git_test.c - git directories in a copy-on-write root are neither told nor entered: .git of
 * any kind and depth, bare ones by their shape, roots that are one; names that other systems take
 * for .git, and directories that the box makes into one (cases 60 to 62, 75).
 * suite: check=any test=root,user soak=root,user timeout=60
 * tier: whiteouts are devices for root and marks for a user */
#include "unit/liblayers.h"

#define LAYERS(...)                                                                                \
        (const char *const[])                                                                      \
        {                                                                                          \
                __VA_ARGS__, NULL                                                                  \
        }

static void told(const char *name, const char *const *layers, size_t top_n,
                 const struct ws_query *q, const char *want)
{
        struct ws_root r = root_of(layers, top_n);
        _cleanup_free_ char *got = changes(&r, q);
        check_str(name, got, want);
        root_end(&r);
}

/* bare(dir): a git directory by its shape. */
static void bare(const char *dir)
{
        static const char *const files[] = {"HEAD", "config", "hooks/pre-commit", "objects/x",
                                            "refs/heads/main"};
        for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
                _cleanup_free_ char *path = str_fmt("%s/%s", dir, files[i]);
                put(path, "x");
        }
}

static void by_name(void)
{
        bare("h/.git");
        bare("h/quiet/.git");
        put("h/quiet/f", "x");
        put("h/link/.git", "gitdir: ../.git/worktrees/link\n");
        put("h/gone/.git/HEAD", "x");
        put("u/.git/hooks/post-checkout", "x");
        put("u/.git/index", "x");
        put("u/quiet/f", "other"); /* its .git is not touched */
        put("u/a/b/c/.git/HEAD", "x");
        put("u/a/b/c/file", "x");
        put("u/link/.git", "gitdir: /elsewhere\n");
        dirs("u/gone");
        whiteout("u/gone/.git");
        dirs("u/sym");
        symlink("../quiet/.git", "u/sym/.git");
        put("u/.gitignore", "x");
        put("u/.github/x", "x");
        told(".git is not told, whatever it is and wherever", LAYERS("u", "h"), 1, NULL,
             "added -d .github\n"
             "added -f .github/x\n"
             "added -f .gitignore\n"
             "added -d a\n"
             "added -d a/b\n"
             "added -d a/b/c\n"
             "added -f a/b/c/file\n"
             "modified ff quiet/f\n"
             "added -d sym\n"
             "git []\n"
             "git [a/b/c]\n"
             "git [gone]\n"
             "git [link]\n"
             "git [sym]\n");
        told("nor raw", LAYERS("u", "h"), 1,
             &(struct ws_query){.is_raw = true, .with_ignored = true},
             "added -d .github\n"
             "added -f .github/x\n"
             "added -f .gitignore\n"
             "added -d a\n"
             "added -d a/b\n"
             "added -d a/b/c\n"
             "added -f a/b/c/file\n"
             "mode dd gone\n"
             "mode dd link\n"
             "mode dd quiet\n"
             "modified ff quiet/f\n"
             "added -d sym\n"
             "git []\n"
             "git [a/b/c]\n"
             "git [gone]\n"
             "git [link]\n"
             "git [sym]\n");

        struct strs paths = {0};
        struct ws_query q = {.paths = &paths};
        strs_add(&paths, ".git/hooks");
        strs_add(&paths, "a/b");
        told("also when asked for by name, and the one above what is asked for is noted",
             LAYERS("u", "h"), 1, &q,
             "added -d a/b\nadded -d a/b/c\nadded -f a/b/c/file\ngit []\ngit [a/b/c]\n");
        strs_free(&paths);
}

static void by_shape(void)
{
        bare("sh/repo");
        bare("sh/touched.git");
        put("sh/tofile/HEAD", "x");
        put("sh/tofile/commondir", "..");
        put("sh/half/HEAD", "x");
        put("sh/data/own", "x");
        put("su/repo/README", "x"); /* new, in a git directory of the host's */
        whiteout("su/touched.git");
        bare("su/new/bare");
        put("su/tofile", "x");
        put("su/wt/HEAD", "x");
        put("su/wt/commondir", "../repo");
        told("bare ones, gone ones and new ones", LAYERS("su", "sh"), 1, NULL,
             "added -d new\n"
             "git [new/bare]\n"
             "git [repo]\n"
             "git [tofile]\n"
             "git [touched.git]\n"
             "git [wt]\n");

        bare("mu/data");
        put("mu/data/own", "work");
        dirs("mu/half");
        whiteout("mu/half/HEAD"); /* hidden in the box, and still there on the host */
        dirs("mu/half/objects");
        put("mu/half/refs/heads/x", "x");
        put("mu/half/text", "x");
        told("a directory of the host's that the box makes one: what makes it one is refused",
             LAYERS("mu", "sh"), 1, NULL,
             "added -f data/HEAD refused\n"
             "added -f data/config refused\n"
             "added -d data/hooks refused\n"
             "added -f data/hooks/pre-commit refused\n"
             "added -d data/objects refused\n"
             "added -f data/objects/x refused\n"
             "modified ff data/own\n"
             "added -d data/refs refused\n"
             "added -d data/refs/heads refused\n"
             "added -f data/refs/heads/main refused\n"
             "deleted f- half/HEAD refused\n"
             "added -d half/objects refused\n"
             "added -d half/refs refused\n"
             "added -d half/refs/heads refused\n"
             "added -f half/refs/heads/x refused\n"
             "added -f half/text\n"
             "git [data]\n"
             "git [half]\n");
}

/* What contains a git directory of the host's cannot go. */
static void deletions(void)
{
        put("dh/lib/sub/.git", "gitdir: x\n");
        put("dh/lib/sub/f", "x");
        put("dh/lib/other/f", "x");
        bare("dh/tolink/store");
        dirs("du");
        whiteout("du/lib");
        symlink("lib", "du/tolink");
        told("a directory stays when a git directory in it does", LAYERS("du", "dh"), 1, NULL,
             "deleted f- lib/other/f\n"
             "deleted d- lib/other\n"
             "deleted f- lib/sub/f\n"
             "deleted d- lib/sub refused\n"
             "deleted d- lib refused\n"
             "type dl tolink refused\n"
             "git [lib/sub]\n"
             "git [tolink/store]\n");
}

static void alike(void)
{
        static const char *const names[] = {".GIT",       "git~1",  ".git.",   ".git ",
                                            ".g\u200cit", ".git:x", "a\\.git", ".gi\u0307t"};
        dirs("ah");
        for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
                beneath_remove_tree(AT_FDCWD, "au", NULL);
                _cleanup_free_ char *path = str_fmt("au/%s/config", names[i]);
                _cleanup_free_ char *shown = str_quote(names[i]);
                _cleanup_free_ char *in = str_fmt("%s/config", names[i]), *in_shown = str_quote(in);
                _cleanup_free_ char *want =
                        str_fmt("added -d %s refused\nadded -f %s refused\n", shown, in_shown);
                put(path, "x");
                told("a name that other systems take for .git is refused", LAYERS("au", "ah"), 1,
                     NULL, want);
        }
        beneath_remove_tree(AT_FDCWD, "au", NULL);
        put("au/agit", "x");
        put("au/git", "x");
        put("au/.gitx", "x");
        put("au/x.git", "x");
        told("control: others are not", LAYERS("au", "ah"), 1, NULL,
             "added -f .gitx\nadded -f agit\nadded -f git\nadded -f x.git\n");
}

/* Roots that are git directories, and roots whose changes are not for the host's tree. */
static void roots(void)
{
        put("rh/HEAD", "x");
        put("ru/hooks/pre-commit", "x");
        dirs("none");
        struct ws_root r = root_of(LAYERS("ru", "rh"), 1);
        free(r.name);
        r.name = str_dup("git0");
        _cleanup_free_ char *all = changes(&r, NULL);
        check_str("nothing of a git directory outside of the workspace is told", all, "git []\n");
        r.kind = WS_ROOT_HOME;
        _cleanup_free_ char *home = changes(&r, NULL);
        check_str("control: of a home it is", home, "added -d hooks\nadded -f hooks/pre-commit\n");
        root_end(&r);

        r = root_of(LAYERS("none", "rh"), 1);
        free(r.name);
        r.name = str_dup("git0");
        _cleanup_free_ char *untouched = changes(&r, NULL);
        check_str("one that was not touched is not noted", untouched, "");
        root_end(&r);

        bare("bh");
        put("bu/packed-refs", "x");
        told("a workspace that is a bare repository", LAYERS("bu", "bh"), 1, NULL, "git []\n");
}

/* A build that fetches repositories does so in what is ignored. */
static void ignored(void)
{
        dirs("ih/.git");
        put("ih/.gitignore", "out/\n");
        put("ih/out/mine/.git/HEAD", "x");
        put("iu/out/mine/.git/HEAD", "y");
        put("iu/out/mine/work", "x");
        put("iu/out/dep/.git/HEAD", "x");
        put("iu/out/dep/code", "x");
        struct ws_root r = root_of(LAYERS("iu", "ih"), 1);
        r.host_fd = r.before.layers[0].fd;
        _cleanup_free_ char *got = changes(&r, NULL);
        check_str("of what is ignored only the host's own repositories are told", got,
                  "added -f out/mine/work\nhidden out 1\ngit [out/mine]\n");
        _cleanup_free_ char *all = changes(&r, &(struct ws_query){.with_ignored = true});
        check_str("and all of them when it is asked for", all,
                  "added -d out/dep ignored\n"
                  "added -f out/dep/code ignored\n"
                  "added -f out/mine/work\n"
                  "hidden out 1\n"
                  "git [out/dep]\n"
                  "git [out/mine]\n");
        root_end(&r);
}

static void many(void)
{
        struct ws_tally t = {0};
        dirs("nh");
        dirs("nu");
        for (int i = 0; i < WS_GIT_TREES_MAX + 5; i++) {
                _cleanup_free_ char *path = str_fmt("nu/%d/.git", i);
                dirs(path);
        }
        struct ws_root r = root_of(LAYERS("nu", "nh"), 1);
        CHECK("a box that makes many is counted, and holds no memory",
              ws_walk(&r, &(struct ws_query){0}, NULL, NULL, &t, NULL) == 0 &&
                      t.git_trees.n == WS_GIT_TREES_MAX && t.git_more_n == 5);
        ws_tally_free(&t);
        root_end(&r);
}

int main(void)
{
        if (!scratch_make()) {
                printf("skip walk_git: the temporary directory cannot hold attributes\n");
                return 0;
        }
        by_name();
        by_shape();
        deletions();
        alike();
        roots();
        ignored();
        many();
        scratch_end();
        return check_end();
}
