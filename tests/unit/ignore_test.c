/* ignore_test.c - ignore files as git reads them: by example, and by asking git itself about random
 * patterns on trees that the test made; the index of a repository; what a box cannot hide.
 * suite: check=any test=any soak=root,user timeout=240
 * tier: both users read a tree in the same way */
#include "unit/liblayers.h"

#include "workspace/git_index.h"
#include "workspace/ignore.h"

#include <stdlib.h>
#include <sys/wait.h>

static bool says(const char *text, const char *path, enum ignore_says want)
{
        struct ignore *ig = ignore_parse(text, strlen(text));
        size_t n = strlen(path);
        bool is_dir = n && path[n - 1] == '/';
        _cleanup_free_ char *plain = strndup(path, n - is_dir);
        enum ignore_says got = ignore_match(ig, plain, is_dir);
        ignore_free(ig);
        return got == want;
}
#define YES(text, path)    one(text, path, IGNORE_YES, "takes")
#define NO(text, path)     one(text, path, IGNORE_NO, "gives back")
#define SILENT(text, path) one(text, path, IGNORE_SILENT, "leaves")
static void one(const char *text, const char *path, enum ignore_says want, const char *verb)
{
        _cleanup_free_ char *shown = str_quote(text);
        _cleanup_free_ char *name = str_fmt("%s %s %s", shown, verb, path);
        CHECK(name, says(text, path, want));
}

static void by_example(void)
{
        YES("*.o", "a.o");
        YES("*.o", "d/e/a.o");
        SILENT("*.o", "a.c");
        YES("build/", "build/");
        SILENT("build/", "build");
        YES("/build", "build");
        SILENT("/build", "d/build");
        YES("d/x", "d/x");
        SILENT("d/x", "e/d/x");
        YES("**/x", "x");
        YES("**/x", "a/b/x");
        YES("a/**", "a/b/c");
        SILENT("a/**", "a");
        YES("a/**/b", "a/b");
        YES("a/**/b", "a/x/y/b");
        SILENT("a/*/b", "a/x/y/b");
        NO("*.o\n!keep.o", "keep.o");
        YES("!keep.o\n*.o", "keep.o");
        SILENT("# x", "# x");
        YES("\\# x", "# x");
        YES("\\!x", "!x");
        YES("x  ", "x");
        YES("x\\ ", "x ");
        SILENT("x\\ ", "x");
        YES("x\r\ny", "x");
        YES("\xef\xbb\xbfx", "x");
        YES("[a-c]", "b");
        SILENT("[!a-c]", "b");
        YES("[]]", "]");
        YES("[[:digit:]]x", "4x");
        SILENT("[abc", "a");
        SILENT("x\\", "x\\");
        YES("a?c", "abc");
        SILENT("a?c/d", "a/c/d");
        SILENT("\n\n  \n/\n", "x");
        YES("*a*a*a*a*a*a*a*a*a*a*b", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaab");
        SILENT("*a*a*a*a*a*a*a*a*a*a*b",
               "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaac");
}

/* --- git itself ------------------------------------------------------------------------------- */

static bool has_git;

/* git(args...): run it in ./repo with nothing of the user's settings. */
static int git(char *const argv[], int in, int out)
{
        pid_t pid = fork();
        if (pid == 0) {
                if (chdir("repo") < 0)
                        _exit(127);
                if (in >= 0)
                        dup2(in, 0);
                if (out >= 0)
                        dup2(out, 1);
                _cleanup_free_ char *path = str_fmt("PATH=%s", getenv("PATH"));
                char *env[] = {path, (char *)(uintptr_t) "HOME=/nonexistent",
                               (char *)(uintptr_t) "GIT_CONFIG_NOSYSTEM=1",
                               (char *)(uintptr_t) "GIT_CONFIG_GLOBAL=/dev/null", NULL};
                execvpe("git", argv, env);
                _exit(127);
        }
        int status = -1;
        waitpid(pid, &status, 0);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}
#define GIT(...) git((char *const[]){(char *)(uintptr_t) "git", __VA_ARGS__, NULL}, -1, -1)
#define A(s)     ((char *)(uintptr_t)(s))

static unsigned long rng = 12345;
static unsigned pick(unsigned n)
{
        rng = rng * 6364136223846793005ul + 1442695040888963407ul;
        return (unsigned)(rng >> 33) % n;
}

static void random_line(struct buf *b)
{
        static const char *const bits[] = {"a", "b",   "c",     "a",   "b",   "*",          "**",
                                           "?", "/",   "/",     "**/", "/**", "*/",         "[ab]",
                                           "!", "\\",  "[!a]",  "[",   " ",   "#",          "ab",
                                           "c", "\\a", "[a-c]", "***", "\\/", "[[:alpha:]]"};
        for (unsigned n = 1 + pick(5); n > 0; n--)
                buf_put_str(b, bits[pick(sizeof bits / sizeof bits[0])]);
        if (pick(4) == 0)
                buf_put_str(b, "/");
        buf_put_str(b, pick(12) ? "\n" : "\r\n");
}

static void random_rules(const char *repo_path, const char *host_path)
{
        _cleanup_buf_ struct buf b = {0};
        for (unsigned n = 1 + pick(4); n > 0; n--)
                random_line(&b);
        put(repo_path, buf_cstr(&b));
        put(host_path, buf_cstr(&b));
}

/* keep_path(ctx, c): each path, with '+' before those that the walk calls ignored. */
static int keep_path(void *ctx, const struct ws_change *c)
{
        strs_addf(ctx, "%c%s", c->is_ignored ? '+' : '-', c->path);
        return 0;
}

/* One round: a random tree of short names and random ignore files. The same tree is an upper over a
 * host that has the ignore files alone. */
static bool round_agrees(size_t *ignored_n, size_t *told_n)
{
        static const char *const names[] = {"a", "b", "c", "ab", "ca"};
        static const char *const old[] = {"a", "b", "c", "ab", "ca", ".gitignore"};
        _cleanup_close_ int repo = dir_fd("repo");
        for (size_t i = 0; i < sizeof old / sizeof old[0]; i++)
                beneath_remove_tree(repo, old[i], NULL);
        unlink("repo/.git/info/exclude");
        beneath_remove_tree(AT_FDCWD, "ghost", NULL);
        beneath_remove_tree(AT_FDCWD, "gup", NULL);
        dirs("ghost/.git/info");
        dirs("gup");
        for (unsigned i = 0; i < 14; i++) {
                char path[64] = "";
                for (unsigned n = 1 + pick(4), k = 0; k < n; k++) {
                        if (k)
                                strcat(path, "/");
                        strcat(path, names[pick(5)]);
                }
                _cleanup_free_ char *in_repo = str_fmt("repo/%s", path);
                _cleanup_free_ char *in_up = str_fmt("gup/%s", path);
                struct stat st;
                char *slash = strrchr(in_repo, '/');
                *slash = 0;
                bool is_free = lstat(in_repo, &st) < 0 || S_ISDIR(st.st_mode);
                *slash = '/';
                if (!is_free || lstat(in_repo, &st) == 0)
                        continue;
                int fd = open(in_repo, O_PATH | O_CLOEXEC);
                if (fd >= 0)
                        close(fd);
                else if (errno == ENOTDIR)
                        continue;
                put(in_repo, "x");
                put(in_up, "x");
        }
        random_rules("repo/.gitignore", "ghost/.gitignore");
        if (pick(2))
                random_rules("repo/.git/info/exclude", "ghost/.git/info/exclude");
        for (unsigned i = 0; i < 2; i++) {
                const char *name = names[pick(5)];
                _cleanup_free_ char *dir = str_fmt("repo/%s", name);
                struct stat st;
                if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
                        continue;
                _cleanup_free_ char *ri = str_fmt("repo/%s/.gitignore", name);
                _cleanup_free_ char *hi = str_fmt("ghost/%s/.gitignore", name);
                random_rules(ri, hi);
        }

        struct ws_root r = root_of((const char *const[]){"gup", "ghost", NULL}, 1);
        r.host_fd = r.before.layers[0].fd;
        _cleanup_strs_ struct strs told = {0};
        struct ws_query q = {.with_ignored = true};
        int walked = ws_walk(&r, &q, keep_path, &told, NULL, NULL);
        root_end(&r);

        /* Ask git about the same paths. */
        FILE *in = tmpfile(), *out = tmpfile();
        for (size_t i = 0; i < told.n; i++)
                fwrite(told.v[i] + 1, 1, strlen(told.v[i]), in);
        fflush(in);
        lseek(fileno(in), 0, SEEK_SET);
        int code = git((char *const[]){A("git"), A("check-ignore"), A("--no-index"), A("-z"),
                                       A("--stdin"), NULL},
                       fileno(in), fileno(out));
        lseek(fileno(out), 0, SEEK_SET);
        _cleanup_buf_ struct buf got = {0};
        fdio_read_all(fileno(out), &got, 1 << 20);
        fclose(in);
        fclose(out);
        _cleanup_strs_ struct strs ignored = {0};
        for (size_t at = 0; at < got.len; at += strlen((char *)got.data + at) + 1)
                strs_add(&ignored, (char *)got.data + at);
        bool is_same = walked == 0 && code <= 1;
        for (size_t i = 0; i < told.n; i++) {
                bool ours = told.v[i][0] == '+', gits = strs_has(&ignored, told.v[i] + 1);
                *ignored_n += ours;
                *told_n += 1;
                if (ours != gits) {
                        printf("# %s: ours %d git %d\n", told.v[i] + 1, ours, gits);
                        is_same = false;
                }
        }
        return is_same;
}

static void against_git(void)
{
        enum { ROUNDS = 150 };
        int agreed = 0;
        size_t ignored_n = 0, told_n = 0;
        const char *from = getenv("IGNORE_SEED");
        if (from)
                rng = strtoul(from, NULL, 10);
        for (int i = 0; i < ROUNDS; i++) {
                unsigned long seed = rng;
                if (round_agrees(&ignored_n, &told_n)) {
                        agreed++;
                        continue;
                }
                _cleanup_free_ char *rules =
                        fdio_read_file(AT_FDCWD, "repo/.gitignore", 1 << 16, NULL);
                printf("# seed %lu, rules:\n%s\n", seed, rules ? rules : "");
                break;
        }
        check(agreed == ROUNDS, "git says the same of random trees", "after %d of %d rounds",
              agreed, ROUNDS);
        CHECK("of which many are ignored and many are not",
              ignored_n > told_n / 10 && ignored_n < told_n);
}

/* --- the index -------------------------------------------------------------------------------- */

static bool index_of(struct git_index *x)
{
        _cleanup_close_ int fd = open("repo/.git/index", O_RDONLY | O_CLOEXEC);
        _cleanup_buf_ struct buf b = {0};
        return fd >= 0 && fdio_read_all(fd, &b, 1 << 20) == 0 &&
               git_index_parse(x, b.data, b.len) == 0;
}

static void tracked(const char *version, const char *format)
{
        struct git_index x;
        _cleanup_free_ char *name = str_fmt("index version %s, %s", version, format);
        _cleanup_free_ char *as = str_fmt("--object-format=%s", format);
        beneath_remove_tree(AT_FDCWD, "repo", NULL);
        dirs("repo");
        if (GIT(A("init"), A("-q"), as, A(".")) != 0)
                return;
        put("repo/a/b/c", "x");
        put("repo/a/bb", "x");
        put("repo/z", "x");
        put("repo/a/not", "x");
        GIT(A("update-index"), A("--index-version"), A(version));
        GIT(A("add"), A("a/b/c"), A("a/bb"), A("z"));
        GIT(A("update-index"), A("--index-version"), A(version));
        if (!CHECK(name, index_of(&x)))
                return;
        CHECK("tracked files and their directories are known",
              git_index_has(&x, "a/b/c") && git_index_has(&x, "a/b") && git_index_has(&x, "a") &&
                      git_index_has(&x, "a/bb") && git_index_has(&x, "z"));
        CHECK("and others are not", !git_index_has(&x, "a/not") && !git_index_has(&x, "a/b/") &&
                                            !git_index_has(&x, "zz") && !git_index_has(&x, ""));
        git_index_free(&x);
}

static void damaged_index(void)
{
        _cleanup_close_ int fd = open("repo/.git/index", O_RDONLY | O_CLOEXEC);
        _cleanup_buf_ struct buf b = {0};
        struct git_index x;
        bool is_refused = fd >= 0 && fdio_read_all(fd, &b, 1 << 20) == 0;
        for (size_t n = 0; n < b.len; n++) {
                if (git_index_parse(&x, b.data, n) == 0) {
                        is_refused = false;
                        git_index_free(&x);
                }
        }
        CHECK("an index that is cut anywhere is not believed", is_refused && b.len > 100);
}

/* --- what is hidden, and what cannot be ------------------------------------------------------- */

static void hidden(const char *name, bool with_ignored, const char *want)
{
        struct ws_root r = root_of((const char *const[]){"iu", "repo", NULL}, 1);
        r.host_fd = r.before.layers[0].fd;
        struct ws_query q = {.with_ignored = with_ignored};
        _cleanup_free_ char *got = changes(&r, &q);
        check_str(name, got, want);
        root_end(&r);
}

static void what_is_hidden(void)
{
        beneath_remove_tree(AT_FDCWD, "repo", NULL);
        dirs("repo");
        GIT(A("init"), A("-q"), A("."));
        put("repo/.gitignore", "out/\n*.log\nforced\n");
        put("repo/out/old", "x");
        put("repo/forced", "x");
        put("repo/own.log", "x");
        put("repo/node_modules/p/index.js", "x");
        GIT(A("add"), A(".gitignore"));
        GIT(A("add"), A("-f"), A("forced"));

        put("iu/.gitignore", "*\n"); /* the box would like to hide everything */
        put("iu/src/new", "x");
        put("iu/src/a.log", "x");
        put("iu/src/.gitignore", "*\n");
        put("iu/out/old", "y");
        put("iu/out/deep/er", "xyz");
        put("iu/forced", "y");
        whiteout("iu/own.log");
        put("iu/node_modules/p/index.js", "y");
        put("iu/node_modules/q/.githooks/pre-commit", "x");
        put("iu/node_modules/q/main.js", "x");
        mkfifo("iu/out/fifo", 0600);
        symlink("/usr/bin/python3", "iu/out/python3");
        hidden("output is counted; hooks, FIFOs and what is tracked are told", false,
               "modified ff .gitignore\n"
               "modified ff forced\n"
               "added -f node_modules/q/.githooks/pre-commit\n"
               "added -s out/fifo refused\n"
               "added -d src\n"
               "added -f src/.gitignore\n"
               "added -f src/new\n"
               "hidden node_modules 2\n"
               "hidden out 3\n"
               "hidden . 1\n"
               "hidden src 1\n");

        struct strs paths = {0};
        strs_add(&paths, "out");
        struct ws_root r = root_of((const char *const[]){"iu", "repo", NULL}, 1);
        r.host_fd = r.before.layers[0].fd;
        struct ws_query q = {.with_ignored = true, .paths = &paths};
        _cleanup_free_ char *got = changes(&r, &q);
        check_str("asked for, each is told", got,
                  "added -d out/deep ignored\n"
                  "added -f out/deep/er ignored\n"
                  "added -s out/fifo refused\n"
                  "modified ff out/old ignored\n"
                  "added -l out/python3 refused ignored\n"
                  "hidden out 3\n");
        strs_free(&paths);

        /* Without an index nobody knows what is tracked: what the host has is shown. */
        put("repo/.git/index", "no index at all");
        _cleanup_free_ char *now = changes(&r, NULL);
        CHECK("an index that is not understood hides nothing of the host's",
              strstr(now, "modified ff out/old\n") && strstr(now, "deleted f- own.log\n") &&
                      !strstr(now, "out/deep"));
        root_end(&r);
}

int main(void)
{
        if (!scratch_make()) {
                printf("skip ignore: the temporary directory cannot hold attributes\n");
                return 0;
        }
        by_example();
        dirs("repo");
        has_git = GIT(A("init"), A("-q"), A(".")) == 0;
        if (has_git) {
                against_git();
                tracked("2", "sha1");
                damaged_index();
                tracked("4", "sha1");
                damaged_index();
                tracked("2", "sha256");
                what_is_hidden();
        } else {
                printf("skip ignore files against git: there is no git here\n");
        }
        scratch_end();
        return check_end();
}
