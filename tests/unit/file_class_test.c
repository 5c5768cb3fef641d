/* file_class_test.c - rows of paths with the class each must have: the attacks 60 to 69 and 75 by
 * name, what an ordinary project is made of, and a user's own rows. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/file_class.h"
#include "policy/file_class_table.h"
#include "policy/file_class_trail.h"
#include "unit/check.h"

#include <stdlib.h>

#define P FILE_PLAIN
#define C FILE_RUNS_ON_COMMIT
#define O FILE_RUNS_ON_OPEN
#define B FILE_RUNS_ON_BUILD
#define I FILE_RUNS_IN_CI
#define A FILE_STEERS_AGENT
#define W FILE_CONFIGURES_OSTIARY

static const struct {
        const char *path;
        enum file_class class;
        bool is_odd;
} rows[] = {
        /* case 60: hooks, wherever git keeps them */
        {".git/hooks/pre-commit", C, 0},
        {".git/hooks/post-checkout", C, 0},
        {".git/hooks/lib/common.sh", C, 0},
        {".git/hooks", C, 0},
        {".git/hooks/pre-commit.sample", P, 0},
        {".git/hooks/pre-commit.sample:x", C, 0},
        {".git/hooks/sub/pre-commit.sample", C, 0},
        {"a/b/c/.git/hooks/pre-push", C, 0},
        {".git/modules/lib/hooks/post-checkout", C, 0},
        {".git/modules/a/b/c/hooks/pre-commit", C, 0},
        {".git/modules/a/modules/b/hooks/pre-commit", C, 0},
        {".git/modules/a/hooks/pre-commit.sample", P, 0},
        {".git/worktrees/w/hooks/pre-commit", C, 0},
        {".husky/pre-commit", C, 0},
        {".husky", C, 0},
        {"web/.husky/_/husky.sh", C, 0},
        {".githooks/pre-commit", C, 0},
        {".pre-commit-config.yaml", C, 0},
        {".pre-commit-config.yml", C, 0},
        {"lefthook.yml", C, 0},
        {"lefthook.toml", C, 0},
        {".lefthook/pre-commit/x.sh", C, 0},
        {".overcommit.yml", C, 0},
        {".lintstagedrc.js", C, 0},
        {"lint-staged.config.mjs", C, 0},
        {"commitlint.config.js", C, 0},
        {".hg/hgrc", C, 0},
        {"captainhook.json", C, 0},
        {"grumphp.yml.dist", C, 0},
        {"cog.toml", C, 0},
        {"hk.pkl", C, 0},
        {".trunk/trunk.yaml", C, 0},
        {".hooks/pre-commit", C, 0},
        {"home/gitconfig", C, 0},
        {"dot_gitconfig.tmpl", C, 0},
        {".jj/repo/store/git_target", C, 0},
        {"_darcs/prefs/defaults", C, 0},
        /* files of this kind that came up since */
        {"docs/conf.py", B, 0},
        {"mkdocs.yml", B, 0},
        {"book.toml", B, 0},
        {"_plugins/x.rb", B, 0},
        {"Doxyfile", B, 0},
        {".latexmkrc", B, 0},
        {"main.tf", B, 0},
        {"ansible.cfg", B, 0},
        {"kustomization.yaml", B, 0},
        {".golangci.yml", B, 0},
        {"phpstan.neon", B, 0},
        {"dprint.json", B, 0},
        {"buf.gen.yaml", B, 0},
        {".proverc", B, 0},
        {"nodemon.json", B, 0},
        {"tools/bazel", B, 0},
        {"pylock.toml", B, 0},
        {".config/dotnet-tools.json", B, 0},
        {"src/app.pro", B, 0},
        {"config/runtime.exs", B, 0},
        {"lib/app.ex", P, 0},
        {"Kconfig", B, 0},
        {"nix/pkgs.nix", B, 0},
        {"dub.json", B, 0},
        {"=DEPS", P, 0},
        {"DEPS", B, 0},
        {"deps", P, 0},
        {"hie.yaml", O, 0},
        {".merlin", O, 0},
        {".bsp/sbt.json", O, 0},
        {"omnisharp.json", O, 0},
        {"rust-analyzer.toml", O, 0},
        {"analysis_options.yaml", O, 0},
        {".formatter.exs", O, 0},
        {".luarc.json", O, 0},
        {"Session.vim", O, 0},
        {"dot_zshrc.tmpl", O, 0},
        {"run_once_install.sh", O, 0},
        {".kube/config", O, 0},
        {".aws/config", O, 0},
        {".github/settings.yml", I, 0},
        {".github/ISSUE_TEMPLATE/bug.md", P, 0},
        {".mergify.yml", I, 0},
        {"wrangler.toml", I, 0},
        {".changeset/config.json", I, 0},
        {".changeset/brave-cats.md", P, 0},
        {".specify/memory/constitution.md", A, 0},
        {".aiassistant/rules/x.md", A, 0},
        {".rovodev/config.yml", A, 0},
        {"docs/review.prompt.md", A, 0},
        {"src/x.instructions.md", A, 0},
        {"gemini-extension.json", A, 0},
        {".geminiignore", A, 0},
        {".coderabbit.yaml", A, 0},
        {"replit.md", A, 0},
        /* case 61, 62: configuration and pointers */
        {".git/config", C, 0},
        {".git/config.worktree", C, 0},
        {".git/commondir", C, 0},
        {".git/gitdir", C, 0},
        {".git", C, 0},
        {"sub/.git", C, 0},
        {".git/worktrees/w/gitdir", C, 0},
        {".git/worktrees/w/commondir", C, 0},
        {".git/worktrees/w/config.worktree", C, 0},
        {".git/modules/x/config", C, 0},
        {".git/modules/x/y/config", C, 0},
        {".git/modules/x/info/attributes", C, 0},
        {".git/info/attributes", C, 0},
        {".git/objects/info/alternates", C, 0},
        {".git/remotes/origin", C, 0},
        {".git/branches/x", C, 0},
        {".git/rebase-merge/git-rebase-todo", C, 0},
        {".git/rebase-apply/patch", C, 0},
        {".git/sequencer/todo", C, 0},
        {".git/safe", O, 0},
        {"deep/1/2/3/4/5/6/7/8/9/.git/config", C, 0},
        {".gitconfig", C, 0},
        {".config/git/config", C, 0},
        /* case 63 */
        {".gitattributes", C, 0},
        {"src/.gitattributes", C, 0},
        {".gitmodules", C, 0},
        {".lfsconfig", C, 0},
        /* what git writes all day */
        {".git/HEAD", P, 0},
        {".git/index", P, 0},
        {".git/refs/heads/main", P, 0},
        {".git/refs/heads/hooks/x", P, 0},
        {".git/refs/heads/Makefile", P, 0},
        {".git/logs/refs/heads/config", P, 0},
        {".git/logs/HEAD", P, 0},
        {".git/objects/ab/cdef", P, 0},
        {".git/objects/pack/pack-1.idx", P, 0},
        {".git/objects/info/packs", P, 0},
        {".git/packed-refs", P, 0},
        {".git/COMMIT_EDITMSG", P, 0},
        {".git/FETCH_HEAD", P, 0},
        {".git/ORIG_HEAD", P, 0},
        {".git/info/exclude", P, 0},
        {".git/description", P, 0},
        {".git/MERGE_MSG", P, 0},
        {".gitignore", P, 0},
        {".gitkeep", P, 0},
        {".mailmap", P, 0},
        {".git-blame-ignore-revs", P, 0},
        {".git/wt/x/.envrc", O, 0},
        /* case 64, 65, 66: opened, at any depth, existing or not */
        {".vscode/tasks.json", O, 0},
        {".vscode/settings.json", O, 0},
        {".vscode/launch.json", O, 0},
        {".vscode/extensions.json", O, 0},
        {".vscode", O, 0},
        {"a/b/c/d/e/f/g/.vscode/tasks.json", O, 0},
        {"x.code-workspace", O, 0},
        {".idea/workspace.xml", O, 0},
        {".idea/runConfigurations/x.xml", O, 0},
        {".zed/tasks.json", O, 0},
        {".fleet/run.json", O, 0},
        {".nvim.lua", O, 0},
        {".nvimrc", O, 0},
        {".exrc", O, 0},
        {".vimrc", O, 0},
        {".dir-locals.el", O, 0},
        {"sub/.dir-locals.el", O, 0},
        {".envrc", O, 0},
        {"a/.envrc", O, 0},
        {"mise.toml", O, 0},
        {".mise.toml", O, 0},
        {".mise/config.toml", O, 0},
        {".tool-versions", O, 0},
        {".autoenv.zsh", O, 0},
        {".devcontainer/devcontainer.json", O, 0},
        {".devcontainer.json", O, 0},
        {"x.sublime-project", O, 0},
        {".bashrc", O, 0},
        {".profile", O, 0},
        {".zshenv", O, 0},
        {".zshrc", O, 0},
        {".config/fish/config.fish", O, 0},
        {".config/autostart/x.desktop", O, 0},
        {".config/systemd/user/x.service", O, 0},
        {".ssh/config", O, 0},
        {".ssh/authorized_keys", O, 0},
        {".gdbinit", O, 0},
        {".Rprofile", O, 0},
        {"flake.nix", O, 0},
        {".editorconfig", P, 0},
        /* names that were plain once (E6) */
        {".storybook/main.ts", B, 0},
        {".ycm_extra_conf.py", O, 0},
        {".rvmrc", O, 0},
        {".gclient", C, 0},
        {".terraform/providers/x", B, 0},
        {"jupyter_server_config.py", O, 0},
        {"gunicorn.conf.py", B, 0},
        {"knexfile.ts", B, 0},
        {"gatsby-node.js", B, 0},
        {"config.ru", B, 0},
        {".chef/config.rb", B, 0},
        {".kitchen.yml", B, 0},
        {"_targets.R", B, 0},
        {"src/Makevars", B, 0},
        {"nbproject/project.xml", O, 0},
        {".local.vimrc", O, 0},
        {".pdbrc.py", O, 0},
        {"irb.rc", O, 0},
        {"libx.so-gdb.py", O, 0},
        {"x-gdb.gdb", O, 0},
        {".ddev/config.yaml", B, 0},
        {".lando.yml", B, 0},
        {"platformio.ini", B, 0},
        {"west.yml", C, 0},
        {".repo/manifest.xml", C, 0},
        {".arcconfig", C, 0},
        {".bzr/branch/branch.conf", C, 0},
        {"CVS/Root", C, 0},
        {".flaskenv", B, 0},
        {".envrc.d/x", O, 0},
        {"a.gyp", B, 0},
        {"env/bin/activate", O, 0},
        {".pixi/env/x", O, 0},
        {"celeryconfig.py", B, 0},
        {"dbt_project.yml", B, 0},
        {"profile.ps1", O, 0},
        {".bash_enter", O, 0},
        {".tmuxp.yaml", O, 0},
        {".env", B, 0},
        {".env.local", B, 0},
        {".vscodeignore", P, 0},
        {"vscode/tasks.json", P, 0},
        {"src/profile", P, 0},
        {"src/bashrc", P, 0},
        /* case 67 */
        {"package.json", B, 0},
        {"packages/a/package.json", B, 0},
        {"package-lock.json", B, 0},
        {".npmrc", B, 0},
        {".yarnrc", B, 0},
        {".yarnrc.yml", B, 0},
        {".pnp.cjs", B, 0},
        {".pnpmfile.cjs", B, 0},
        {"setup.py", B, 0},
        {"setup.cfg", B, 0},
        {"pyproject.toml", B, 0},
        {"conftest.py", B, 0},
        {"tests/conftest.py", B, 0},
        {"tox.ini", B, 0},
        {"noxfile.py", B, 0},
        {"requirements.txt", B, 0},
        {"requirements-dev.txt", B, 0},
        {"sitecustomize.py", B, 0},
        {"x/y.pth", B, 0},
        {"Makefile", B, 0},
        {"makefile", B, 1},
        {"src/Makefile.am", B, 0},
        {"rules.mk", B, 0},
        {"GNUmakefile", B, 0},
        {"CMakeLists.txt", B, 0},
        {"CMakePresets.json", B, 0},
        {"cmake/x.cmake", B, 0},
        {"meson.build", B, 0},
        {"configure", B, 0},
        {"configure.ac", B, 0},
        {"build.rs", B, 0},
        {"crates/x/build.rs", B, 0},
        {"Cargo.toml", B, 0},
        {".cargo/config.toml", B, 0},
        {".cargo/config", B, 0},
        {"build.gradle", B, 0},
        {"build.gradle.kts", B, 0},
        {"gradlew", B, 0},
        {"gradle/wrapper/gradle-wrapper.properties", B, 0},
        {"pom.xml", B, 0},
        {".mvn/extensions.xml", B, 0},
        {"Rakefile", B, 0},
        {"Gemfile", B, 0},
        {"Gemfile.lock", B, 0},
        {"justfile", B, 0},
        {"Taskfile.yml", B, 0},
        {"WORKSPACE", B, 0},
        {"BUILD", B, 0},
        {"BUILD.bazel", B, 0},
        {"go.mod", B, 0},
        {"Dockerfile", B, 0},
        {"Dockerfile.dev", B, 0},
        {"docker-compose.yml", B, 0},
        {"compose.yaml", B, 0},
        {"jest.config.js", B, 0},
        {"vite.config.ts", B, 0},
        {"webpack.config.js", B, 0},
        {"eslint.config.mjs", B, 0},
        {".eslintrc.cjs", B, 0},
        {"babel.config.js", B, 0},
        {".babelrc", B, 0},
        {".prettierrc.js", B, 0},
        {"prettier.config.js", B, 0},
        {"tsconfig.json", B, 0},
        {"node_modules/x/index.js", B, 0},
        {"node_modules/x/.travis.yml", B, 0},
        {".venv/bin/python", B, 0},
        {"app.csproj", B, 0},
        {"debian/rules", B, 0},
        {"build", P, 0},
        {"workspace", P, 0},
        {"build/out.o", P, 0},
        {"go.sum", P, 0},
        /* case 68 */
        {".github/workflows/ci.yml", I, 0},
        {".github/actions/x/action.yml", I, 0},
        {"action.yml", I, 0},
        {".gitlab-ci.yml", I, 0},
        {"Jenkinsfile", I, 0},
        {".circleci/config.yml", I, 0},
        {"azure-pipelines.yml", I, 0},
        {".travis.yml", I, 0},
        {".drone.yml", I, 0},
        {".buildkite/pipeline.yml", I, 0},
        {"bitbucket-pipelines.yml", I, 0},
        {".forgejo/workflows/x.yml", I, 0},
        {".gitea/workflows/x.yml", I, 0},
        {".woodpecker.yml", I, 0},
        {".woodpecker/x.yml", I, 0},
        {".cirrus.yml", I, 0},
        {".github/CODEOWNERS", I, 0},
        {".github/ISSUE_TEMPLATE/bug.md", P, 0},
        {".github/FUNDING.yml", P, 0},
        /* case 69 */
        {"AGENTS.md", A, 0},
        {"src/deep/AGENTS.md", A, 0},
        {"CLAUDE.md", A, 0},
        {"CLAUDE.local.md", A, 0},
        {"GEMINI.md", A, 0},
        {".claude/settings.json", A, 0},
        {".claude/settings.local.json", A, 0},
        {".claude", A, 0},
        {".codex/config.toml", A, 0},
        {".cursor/rules/x.mdc", A, 0},
        {".cursor/mcp.json", A, 0},
        {".cursorrules", A, 0},
        {".gemini/settings.json", A, 0},
        {".opencode/agent/x.md", A, 0},
        {"opencode.json", A, 0},
        {".kiro/steering/x.md", A, 0},
        {".goosehints", A, 0},
        {".aider.conf.yml", A, 0},
        {".windsurfrules", A, 0},
        {".windsurf/rules/x.md", A, 0},
        {".clinerules", A, 0},
        {".clinerules/x.md", A, 0},
        {".roo/rules/x.md", A, 0},
        {".roomodes", A, 0},
        {".continue/config.yaml", A, 0},
        {".github/copilot-instructions.md", A, 0},
        {".github/prompts/x.prompt.md", A, 0},
        {".mcp.json", A, 0},
        {"mcp.json", A, 0},
        {".vscode/mcp.json", A, 0},
        {"skills/x/SKILL.md", A, 0},
        {"SKILL.md", A, 0},
        {"README.md", P, 0},
        {"agents.py", P, 0},
        {"docs/claude.txt", P, 0},
        {".ostiary", W, 0},
        {".ostiary/policy", W, 0},
        {"a/.ostiary/x", W, 0},
        {".config/ostiary/config", W, 0},
        /* case 75 */
        {".GIT/hooks/pre-commit", C, 1},
        {".Git/config", C, 1},
        {".git/Hooks/pre-commit", C, 1},
        {".git./config", C, 1},
        {".git /config", C, 1},
        {".git. . /hooks/pre-commit", C, 1},
        {"git~1/config", C, 1},
        {"GIT~1/hooks/x", C, 1},
        {"GI7EBA~1/config", C, 1},
        {".git::$INDEX_ALLOCATION/config", C, 1},
        {".git:x/config", C, 1},
        {".g\xe2\x80\x8cit/config", C, 1},                      /* U+200C */
        {".gi\xef\xbb\xbft/hooks/pre-commit", C, 1},            /* U+FEFF */
        {".\xe2\x80\xaegit/config", C, 1},                      /* U+202E */
        {".g\xc4\xb1t/config", C, 1},                           /* dotless i */
        {".g\xd1\x96t/config", C, 1},                           /* Cyrillic i */
        {"\xef\xbc\x8egit/config", C, 1},                       /* full-width dot */
        {"\xe2\x80\xa4git/config", C, 1},                       /* one dot leader */
        {".\xef\xbd\x87\xef\xbd\x89\xef\xbd\x94/config", C, 1}, /* full width */
        {".git\\hooks\\pre-commit", C, 1},
        {"a\\.git\\config", C, 1},
        {".git\r/config", C, 1},
        {".git\n/config", C, 1},
        {".GIT/anything", C, 1},
        {".VSCODE/tasks.json", O, 1},
        {"vscode~1/tasks.json", O, 1},
        {"PACKAG~1.JSO", B, 1},
        {"package.json.", B, 1},
        {"package.json ", B, 1},
        {"package.json::$DATA", B, 1},
        {"Package.JSON", B, 1},
        {"claude.md", A, 1},
        {"CLAUDE~1/settings.json", A, 1},
        {"\xd0\xa1LAUDE.md", A, 1}, /* Cyrillic C */
        {".\xe2\x80\x8d"
         "claude/settings.json",
         A, 1},
        {".gitmodule\xc5\xbf", C, 1}, /* long s */
        {"GITMOD~1", C, 1},
        {".env\xe2\x80\x8brc", O, 1},
        {"ma\xe2\x84\xaa"
         "efile",
         B, 1}, /* Kelvin sign */
        {".mcp.json\xe2\x80\x8e", A, 1},
        {"notgit~1/config", P, 0},
        {"git~x/config", P, 0},
        {"...", P, 0},
        {"\xff\xfe/x", P, 0},
        {"", P, 0},
        /* ordinary work */
        {"src/main.c", P, 0},
        {"src/hooks/useThing.ts", P, 0},
        {"config", P, 0},
        {"src/config", P, 0},
        {"config/settings.py", P, 0},
        {"lib/objects/x.rb", P, 0},
        {"docs/index.md", P, 0},
        {"tests/test_x.py", P, 0},
        {"LICENSE", P, 0},
        {"a b/c d", P, 0},
        {"src/git/hooks/x", P, 0},
        {"info/attributes", P, 0},
        {"gitdir", P, 0},
};

static void check_user(void)
{
        struct err err = {0};
        struct file_class_verdict v;
        struct file_classes *t = file_classes_new();
        const char *text = "# mine\n"
                           "plain tsconfig*.json\n"
                           "  runs-on-build\tscripts/\r\n"
                           "\n"
                           "runs-in-ci /deploy/**/run.sh\n"
                           "plain .git/hooks/\n"
                           "plain .git/config\n"
                           "steers-agent docs/*.prompt\n"
                           "plain docs/ok.prompt\n";
        CHECK("user rows", file_classes_add_text(t, text, "classes", &err) == 0);
        CHECK("user rows n", file_classes_user_n(t) == 7);
        file_class_of(t, "tsconfig.base.json", &v);
        CHECK("taken back", v.class == P && !v.why[0]);
        file_class_of(t, "TSCONFIG.json", &v);
        CHECK("an odd name is not taken back", v.class == B && v.is_odd);
        file_class_of(t, "a/scripts/x/y", &v);
        CHECK("added", v.class == B && strstr(v.why, "classes"));
        file_class_of(t, "deploy/a/b/run.sh", &v);
        CHECK("anchored with **", v.class == I);
        file_class_of(t, "deploy/run.sh", &v);
        CHECK("** is also nothing", v.class == I);
        file_class_of(t, "x/deploy/a/run.sh", &v);
        CHECK("anchored", v.class == P);
        file_class_of(t, ".git/hooks/pre-commit", &v);
        CHECK("git directories are not taken back", v.class == C);
        file_class_of(t, "x/.git/config", &v);
        CHECK("git config is not taken back", v.class == C);
        file_class_of(t, "docs/a.prompt", &v);
        CHECK("glob", v.class == A);
        file_class_of(t, "docs/ok.prompt", &v);
        CHECK("the later row decides", v.class == P);

        static const char *const bad[] = {
                "nonsense x",           "plain",        "plain ",
                "plain a//b",           "plain ../x",   "plain a/./b",
                "plain **/a/**/b/**/c", "plain a\001b", "plain a\\b",
                "runs-on-build /",
        };
        for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
                err.text[0] = '\0';
                int r = file_classes_add_text(t, bad[i], "classes", &err);
                check(r < 0 && strstr(err.text, "line 1"), "bad user row", "%s: %s", bad[i],
                      err.text);
        }
        CHECK("bad rows add nothing", file_classes_user_n(t) == 7);
        _cleanup_buf_ struct buf out = {0};
        file_class_print(t, &out);
        CHECK("print shows them", strstr(buf_cstr(&out), "scripts/") != NULL);
        file_classes_free(t);
}

/* docs/classes.md ends with the tables, word for word. */
static void check_page(void)
{
        _cleanup_buf_ struct buf out = {0}, page = {0};
        FILE *f = fopen("docs/classes.md", "re");
        if (!f) {
                puts("skip: docs/classes.md is not here: started from another directory");
                return;
        }
        for (int c; (c = getc(f)) != EOF;)
                buf_put_u8(&page, (uint8_t)c);
        fclose(f);
        buf_put_str(&out, "```\n");
        file_class_print(NULL, &out);
        buf_put_str(&out, "```\n");
        CHECK("the page shows the tables", str_ends(buf_cstr(&page), buf_cstr(&out)));
}

/* A path that a row's own pattern fits, with something in the place of its stars. */
static char *example(const char *pattern)
{
        _cleanup_buf_ struct buf b = {0};
        pattern += *pattern == '=';
        pattern += *pattern == '/';
        for (; *pattern; pattern++)
                buf_put_str(&b, *pattern == '*' ? "a" : (const char[2]){*pattern, 0});
        size_t len = strlen(buf_cstr(&b));
        return str_fmt("deep/in/%s%s", buf_cstr(&b),
                       len && buf_cstr(&b)[len - 1] == '/' ? "some-file" : "");
}

/* Every row is asked, whatever their number, and none is written twice. */
static void check_rows(void)
{
        size_t n = 0;
        for (const struct file_class_row *r; (r = file_class_row_at(n)); n++) {
                struct file_class_verdict v;
                char *path = example(r->pattern);
                file_class_of(NULL, path, &v);
                if (v.class == FILE_PLAIN)
                        check(false, "a row holds", "%s does not fit %s", path, r->pattern);
                free(path);
                for (size_t k = 0; k < n; k++)
                        if (strcmp(file_class_row_at(k)->pattern, r->pattern) == 0)
                                check(false, "rows are there once", "%s", r->pattern);
        }
        check(n > 800, "rows", "only %zu", n);
}

/* A chain of ${n} directories, each with a file, judged in the order of a walk. */
static uint64_t steps_of(size_t n)
{
        struct file_trail *f = file_trail_new(NULL);
        struct file_class_verdict v;
        char *path = calloc(n + 1, 6);
        for (size_t i = 0; path && i < n; i++) {
                memcpy(path + strlen(path), "refs/", 6);
                file_trail_judge(f, path, &v);
        }
        uint64_t steps = file_trail_steps(f);
        free(path);
        file_trail_free(f);
        return steps;
}

static void check_deep(void)
{
        uint64_t some = steps_of(500), more = steps_of(5000);
        CHECK("a row is held against each component of a deep tree once",
              some > 0 && more <= some * 10);
}

int main(void)
{
        size_t wrong_n = 0, n = sizeof rows / sizeof rows[0];
        for (size_t i = 0; i < n; i++) {
                struct file_class_verdict v;
                file_class_of(NULL, rows[i].path, &v);
                bool is_good = v.class == rows[i].class && v.is_odd == rows[i].is_odd &&
                               (v.class == FILE_PLAIN) == (v.why[0] == '\0');
                wrong_n += !is_good;
                if (!is_good)
                        check(false, "row", "\"%s\" is %s (%s)%s, wanted %s%s", rows[i].path,
                              file_class_name(v.class), v.why, v.is_odd ? " odd" : "",
                              file_class_name(rows[i].class), rows[i].is_odd ? " odd" : "");
        }
        check(wrong_n == 0 && n > 200, "paths", "%zu of %zu are wrong", wrong_n, n);
        for (int c = 0; c < FILE_CLASS_COUNT; c++)
                CHECK("names", file_class_by_name(file_class_name((enum file_class)c)) ==
                                       (enum file_class)c);
        CHECK("no such class", file_class_by_name("all") == FILE_CLASS_COUNT);
        struct file_class_verdict v[6];
        static const char *const paths[] = {"a/.git/config", ".gitmodules",      "config",
                                            ".GIT/config",   "x/.gitattributes", "attributes"};
        for (size_t i = 0; i < 6; i++)
                file_class_of(NULL, paths[i], &v[i]);
        CHECK("config", file_class_is_git_config(&v[0]) && file_class_is_git_config(&v[1]) &&
                                !file_class_is_git_config(&v[2]) &&
                                !file_class_is_git_config(&v[3]));
        CHECK("attributes", file_class_is_attributes(&v[4]) && !file_class_is_attributes(&v[5]));
        CHECK("ignored", file_class_is_ignored_name("node_modules") &&
                                 !file_class_is_ignored_name("src") &&
                                 !file_class_is_ignored_name("Node_Modules"));
        check_rows();
        check_user();
        check_page();
        check_deep();
        return check_end();
}
