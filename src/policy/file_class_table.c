/* file_class_table.c - see file_class_table.h. Each row is a file that somebody runs or obeys
 * without having been asked; a program that reads a file as data alone has no row here.
 * `ostiary diff --classes` and docs/classes.md print these tables. */
#include "policy/file_class_table.h"

#define COMMIT FILE_RUNS_ON_COMMIT
#define OPEN   FILE_RUNS_ON_OPEN
#define BUILD  FILE_RUNS_ON_BUILD
#define CI     FILE_RUNS_IN_CI
#define OWN    FILE_CONFIGURES_OSTIARY

static const struct file_class_row own_rows[] = {
        {OWN, ".ostiary/", "ostiary's own settings"},
        {OWN, ".ostiary.*", "ostiary's own settings"},
        {OWN, ".config/ostiary/", "ostiary's own settings"},
};

/* Git reads the first six wherever they are; keys and attributes decide (git_config_keys.c). */
static const struct file_class_row commit_rows[] = {
        {COMMIT, ".gitmodules", "submodules"},
        {COMMIT, ".gitattributes", "git attributes"},
        {COMMIT, ".gitconfig", "git config"},
        {COMMIT, ".lfsconfig", "git config"},
        {COMMIT, ".config/git/config", "git config"},
        {COMMIT, ".config/git/attributes", "git attributes"},
        {COMMIT, ".githooks/", "git hook"},
        {COMMIT, ".git-hooks/", "git hook"},
        {COMMIT, "githooks/", "git hook"},
        {COMMIT, "git-hooks/", "git hook"},
        {COMMIT, ".git-template/", "git template"},
        {COMMIT, ".git-templates/", "git template"},
        {COMMIT, ".husky/", "husky hook"},
        {COMMIT, ".huskyrc*", "husky hooks"},
        {COMMIT, "husky.config.*", "husky hooks"},
        {COMMIT, ".pre-commit-config.y*ml", "pre-commit hooks"},
        {COMMIT, ".pre-commit-hooks.y*ml", "pre-commit hooks"},
        {COMMIT, "lefthook.*", "lefthook hooks"},
        {COMMIT, ".lefthook.*", "lefthook hooks"},
        {COMMIT, "lefthook-local.*", "lefthook hooks"},
        {COMMIT, ".lefthook-local.*", "lefthook hooks"},
        {COMMIT, ".lefthook/", "lefthook hook"},
        {COMMIT, ".lefthook-local/", "lefthook hook"},
        {COMMIT, ".overcommit.yml", "overcommit hooks"},
        {COMMIT, ".lintstagedrc*", "lint-staged commands"},
        {COMMIT, "lint-staged.config.*", "lint-staged commands"},
        {COMMIT, ".simple-git-hooks.*", "git hooks"},
        {COMMIT, "simple-git-hooks.*", "git hooks"},
        {COMMIT, ".ghooksrc*", "git hooks"},
        {COMMIT, "commitlint.config.*", "commitlint program"},
        {COMMIT, ".commitlintrc*", "commitlint program"},
        {COMMIT, ".czrc", "commit program"},
        {COMMIT, ".cz.*", "commit program"},
        {COMMIT, ".hg/", "mercurial hooks"},
        {COMMIT, ".hgrc", "mercurial hooks"},
        {COMMIT, ".jj/repo/config.toml", "jj config"},
        {COMMIT, ".hooks/", "git hook"},
        {COMMIT, "captainhook.json", "PHP commit hooks"},
        {COMMIT, "grumphp.y*ml*", "PHP commit hooks"},
        {COMMIT, "cog.toml", "commit hooks"},
        {COMMIT, ".rusty-hook.toml", "commit hooks"},
        {COMMIT, "hk.pkl", "commit hooks"},
        {COMMIT, "hk.local.pkl", "commit hooks"},
        {COMMIT, "prek.toml", "commit hooks"},
        {COMMIT, ".nano-staged.*", "commit hooks"},
        {COMMIT, "nano-staged.*", "commit hooks"},
        {COMMIT, ".trunk/", "commit hooks"},
        {COMMIT, "cz.toml", "commit program"},
        {COMMIT, "cz.json", "commit program"},
        {COMMIT, "cz.yaml", "commit program"},
        {COMMIT, "gitconfig", "git config"},
        {COMMIT, "dot_gitconfig*", "git config"},
        {COMMIT, ".jj/repo/config*", "jj config"},
        {COMMIT, ".jj/repo/workspace-config*", "jj config"},
        {COMMIT, ".jj/repo/store/git_target", "jj config"},
        {COMMIT, ".sl/config", "sapling hooks"},
        {COMMIT, "_darcs/prefs/", "darcs hooks"},
        {COMMIT, ".pijul/config", "pijul hooks"},
};

/* Installed packages are programs that the next build or test runs; what they hold of other
 * projects' pipelines and build files means nothing more. */
static const struct file_class_row installed_rows[] = {
        {BUILD, "node_modules/", "installed packages"},
        {BUILD, "bower_components/", "installed packages"},
        {BUILD, "site-packages/", "installed packages"},
        {BUILD, ".venv/", "installed packages"},
        {BUILD, "venv/", "installed packages"},
        {BUILD, ".tox/", "installed packages"},
        {BUILD, ".nox/", "installed packages"},
        {BUILD, "Pods/", "installed packages"},
};

static const struct file_class_row ci_rows[] = {
        {CI, ".github/workflows/", "workflow"},
        {CI, ".github/actions/", "action"},
        {CI, ".github/dependabot.y*ml", "update bot"},
        {CI, ".github/CODEOWNERS", "who reviews"},
        {CI, "CODEOWNERS", "who reviews"},
        {CI, "action.yml", "action"},
        {CI, "action.yaml", "action"},
        {CI, ".gitlab-ci*", "GitLab pipeline"},
        {CI, ".gitlab/", "GitLab pipeline"},
        {CI, "*.gitlab-ci.y*ml", "GitLab pipeline"},
        {CI, "Jenkinsfile*", "Jenkins pipeline"},
        {CI, "*.jenkinsfile", "Jenkins pipeline"},
        {CI, ".circleci/", "CircleCI pipeline"},
        {CI, "azure-pipelines*", "Azure pipeline"},
        {CI, ".azure-pipelines/", "Azure pipeline"},
        {CI, ".azuredevops/", "Azure pipeline"},
        {CI, ".azure/", "Azure pipeline"},
        {CI, ".travis.y*ml", "Travis build"},
        {CI, ".drone.*", "Drone pipeline"},
        {CI, ".buildkite/", "Buildkite pipeline"},
        {CI, "buildkite.y*ml", "Buildkite pipeline"},
        {CI, "bitbucket-pipelines.y*ml", "Bitbucket pipeline"},
        {CI, ".forgejo/", "Forgejo workflow"},
        {CI, ".gitea/", "Gitea workflow"},
        {CI, ".woodpecker*/", "Woodpecker pipeline"},
        {CI, ".cirrus.*", "Cirrus task"},
        {CI, "appveyor.y*ml", "AppVeyor build"},
        {CI, ".appveyor.y*ml", "AppVeyor build"},
        {CI, "cloudbuild.*", "Cloud Build"},
        {CI, "buildspec*.y*ml", "CodeBuild"},
        {CI, "codemagic.yaml", "Codemagic build"},
        {CI, "bitrise.yml", "Bitrise build"},
        {CI, "wercker.yml", "Wercker build"},
        {CI, ".semaphore/", "Semaphore pipeline"},
        {CI, ".teamcity/", "TeamCity build"},
        {CI, ".builds/", "SourceHut build"},
        {CI, ".build.yml", "SourceHut build"},
        {CI, ".tekton/", "Tekton pipeline"},
        {CI, ".harness/", "Harness pipeline"},
        {CI, ".zuul.*", "Zuul job"},
        {CI, "zuul.d/", "Zuul job"},
        {CI, ".ci/", "CI script"},
        {CI, ".packit.y*ml", "Packit build"},
        {CI, ".goreleaser.y*ml", "release program"},
        {CI, ".releaserc*", "release program"},
        {CI, "release.config.*", "release program"},
        {CI, "renovate.json*", "update bot"},
        {CI, ".renovaterc*", "update bot"},
        {CI, "vercel.json", "deployment"},
        {CI, "netlify.toml", "deployment"},
        {CI, ".readthedocs.y*ml", "documentation build"},
        {CI, ".github/settings.y*ml", "settings of the forge"},
        {CI, ".mergify.y*ml", "merge bot"},
        {CI, "Dangerfile*", "review program"},
        {CI, "dangerfile.*", "review program"},
        {CI, "goreleaser.y*ml", "release program"},
        {CI, ".release-it.*", "release program"},
        {CI, ".versionrc*", "release program"},
        {CI, ".changeset/config.json", "release program"},
        {CI, "screwdriver.yaml", "pipeline"},
        {CI, ".vela.y*ml", "pipeline"},
        {CI, "*.gocd.y*ml", "pipeline"},
        {CI, ".prow.yaml", "pipeline"},
        {CI, ".prow/", "pipeline"},
        {CI, "dagger.json", "pipeline"},
        {CI, ".dagger/", "pipeline"},
        {CI, "fly.toml", "deployment"},
        {CI, "render.yaml", "deployment"},
        {CI, "heroku.yml", "deployment"},
        {CI, "firebase.json", "deployment"},
        {CI, "amplify.yml", "deployment"},
        {CI, "wrangler.toml", "deployment"},
        {CI, "wrangler.json*", "deployment"},
        {CI, "serverless.y*ml", "deployment"},
        {CI, "serverless.ts", "deployment"},
        {CI, "serverless.js", "deployment"},
        {CI, ".do/", "deployment"},
};

/* Agents come before editors, because .vscode/mcp.json is more than an editor's file. */
static const struct {
        const struct file_class_row *v;
        const size_t *n;
} tables[] = {
#define ROWS(r)                                                                                    \
        {                                                                                          \
                r, &(const size_t)                                                                 \
                {                                                                                  \
                        sizeof r / sizeof r[0]                                                     \
                }                                                                                  \
        }
        ROWS(own_rows),
        ROWS(commit_rows),
        {file_class_agent_rows, &file_class_agent_rows_n},
        {file_class_open_rows, &file_class_open_rows_n},
        ROWS(installed_rows),
        ROWS(ci_rows),
        {file_class_build_rows, &file_class_build_rows_n},
        {file_class_tools_rows, &file_class_tools_rows_n},
#undef ROWS
};

const struct file_class_row *file_class_row_at(size_t i)
{
        for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++) {
                if (i < *tables[t].n)
                        return &tables[t].v[i];
                i -= *tables[t].n;
        }
        return NULL;
}

const struct file_class_row file_class_git_rows[] = {
        {FILE_PLAIN, "/hooks/*.sample", ""},
        {COMMIT, "/hooks/", "git hook"},
        {COMMIT, "/config", "git config"},
        {COMMIT, "/config.worktree", "git config"},
        {COMMIT, "/info/attributes", "git attributes"},
        {COMMIT, "/commondir", "worktree pointer"},
        {COMMIT, "/gitdir", "worktree pointer"},
        {COMMIT, "/objects/info/alternates", "objects from elsewhere"},
        {COMMIT, "/objects/info/http-alternates", "objects from elsewhere"},
        {COMMIT, "/remotes/", "where git fetches from"},
        {COMMIT, "/branches/", "where git fetches from"},
        {COMMIT, "/rebase-merge/", "commands of a rebase in progress"},
        {COMMIT, "/rebase-apply/", "commands of a rebase in progress"},
        {COMMIT, "/sequencer/", "commands of a rebase in progress"},
        {OPEN, "/safe/", "makes ./bin trusted"},
        /* Git directories of submodules and linked worktrees; their names may hold slashes, so any
         * depth. A branch that is called hooks/x there is asked about too. */
        {FILE_PLAIN, "/modules/**/hooks/*.sample", ""},
        {COMMIT, "/modules/**/hooks/", "git hook of a submodule"},
        {COMMIT, "/modules/**/config", "git config of a submodule"},
        {COMMIT, "/modules/**/config.worktree", "git config of a submodule"},
        {COMMIT, "/modules/**/info/attributes", "git attributes of a submodule"},
        {COMMIT, "/modules/**/commondir", "worktree pointer"},
        {COMMIT, "/modules/**/gitdir", "worktree pointer"},
        {COMMIT, "/modules/**/alternates", "objects from elsewhere"},
        {COMMIT, "/modules/**/rebase-merge/", "commands of a rebase in progress"},
        {COMMIT, "/modules/**/rebase-apply/", "commands of a rebase in progress"},
        {COMMIT, "/modules/**/sequencer/", "commands of a rebase in progress"},
        {COMMIT, "/worktrees/*/hooks/", "git hook of a worktree"},
        {COMMIT, "/worktrees/*/config", "git config of a worktree"},
        {COMMIT, "/worktrees/*/config.worktree", "git config of a worktree"},
        {COMMIT, "/worktrees/*/info/attributes", "git attributes of a worktree"},
        {COMMIT, "/worktrees/*/commondir", "worktree pointer"},
        {COMMIT, "/worktrees/*/gitdir", "worktree pointer"},
        {COMMIT, "/worktrees/*/rebase-merge/", "commands of a rebase in progress"},
        {COMMIT, "/worktrees/*/rebase-apply/", "commands of a rebase in progress"},
        {COMMIT, "/worktrees/*/sequencer/", "commands of a rebase in progress"},
        {COMMIT, "/modules/**/.git", "git pointer"},
};
const size_t file_class_git_rows_n = sizeof file_class_git_rows / sizeof file_class_git_rows[0];

const char *const file_class_ignored[] = {
        "node_modules",
        "__pycache__",
        ".venv",
        "venv",
        ".tox",
        ".nox",
        ".mypy_cache",
        ".pytest_cache",
        ".ruff_cache",
        ".eggs",
        "*.egg-info",
        "target",
        "build",
        "dist",
        "out",
        ".gradle",
        ".next",
        ".nuxt",
        ".svelte-kit",
        ".turbo",
        ".parcel-cache",
        ".cache",
        "bower_components",
        "vendor",
        "Pods",
        "DerivedData",
        ".terraform",
        ".stack-work",
        "dist-newstyle",
        "_build",
        "zig-cache",
        ".zig-cache",
        "zig-out",
        "cmake-build-*",
        "coverage",
        ".nyc_output",
        ".dart_tool",
        ".ccls-cache",
        ".ipynb_checkpoints",
};
const size_t file_class_ignored_n = sizeof file_class_ignored / sizeof file_class_ignored[0];
