/* secret_scan.c - see secret_scan.h: which files of a workspace are worth a look, by name alone, so
 * that a tree without such files costs a few directory reads and not one open. Called before a box
 * starts and by explain. */
#include "session/secret_scan.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "base/strs.h"

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
        ALWAYS_DEPTH = 2,   /* directories below the top that are always looked through */
        DEPTH_MAX = 6,      /* and of small trees */
        SMALL_NAMES = 1500, /* what counts as small */
        NAMES_MAX = 20000,
        HITS_MAX = 256,
        TIME_MS = 2000,
};

static const struct {
        const char *pattern; /* of the last component */
        enum secret_scan_kind kind;
} names[] = {
        {".env.example", SECRET_SCAN_NOT},
        {".env.sample", SECRET_SCAN_NOT},
        {".env.template", SECRET_SCAN_NOT},
        {".env.dist", SECRET_SCAN_NOT},
        {".env", SECRET_SCAN_TEXT},
        {".env.*", SECRET_SCAN_TEXT},
        {".env-*", SECRET_SCAN_TEXT},
        {".envrc", SECRET_SCAN_TEXT},
        {"*.env", SECRET_SCAN_TEXT},
        {".npmrc", SECRET_SCAN_TEXT},
        {".yarnrc.yml", SECRET_SCAN_TEXT},
        {".pypirc", SECRET_SCAN_TEXT},
        {".netrc", SECRET_SCAN_NETRC},
        {".git-credentials", SECRET_SCAN_TEXT},
        {".gitmodules", SECRET_SCAN_SHAPES},
        {"*.tfstate", SECRET_SCAN_TEXT},
        {"*.tfstate.backup", SECRET_SCAN_TEXT},
        {"*.tfvars", SECRET_SCAN_TEXT},
        {"*.tfvars.json", SECRET_SCAN_TEXT},
        {".mcp.json", SECRET_SCAN_TEXT},
        {"mcp*.json", SECRET_SCAN_TEXT},
        {"docker-compose*.y*ml", SECRET_SCAN_SHAPES},
        {"compose*.y*ml", SECRET_SCAN_SHAPES},
        /* Not secrets.c, secrets.py or secrets.md: a program that was changed fails. */
        {"secrets.@(json|yml|yaml|toml|ini|conf|cfg|properties|txt)", SECRET_SCAN_TEXT},
        {"credentials", SECRET_SCAN_TEXT},
        {"credentials.@(json|yml|yaml|toml|ini|conf|cfg|properties|txt|csv)", SECRET_SCAN_TEXT},
        {"*service*account*.json", SECRET_SCAN_TEXT},
        {"*credential*.json", SECRET_SCAN_SHAPES},
        {"*secret*.json", SECRET_SCAN_SHAPES},
        {"*key*.json", SECRET_SCAN_SHAPES},
        {"*firebase*.json", SECRET_SCAN_SHAPES},
        {"*gcp*.json", SECRET_SCAN_SHAPES},
        {"*.pub", SECRET_SCAN_NOT},
        {"*.pem", SECRET_SCAN_KEY},
        {"*.key", SECRET_SCAN_KEY},
        {"id_*", SECRET_SCAN_KEY},
};

/* Files that count only in their directory. */
static const char *const placed[] = {".git/config",           ".claude/settings*.json",
                                     ".gemini/settings.json", ".codex/config.toml",
                                     ".cursor/mcp.json",      ".vscode/settings.json"};

static const char *const skipped[] = {"node_modules", ".venv", "venv",   "__pycache__", "target",
                                      ".cache",       ".tox",  ".cargo", "vendor"};

/* may_match(base): a quick look that lets every name of the tables through and few others: a
 * pattern is asked of each file in a workspace. */
static bool may_match(const char *base)
{
        static const char *const ends[] = {"env",  "json", "pem",     "key",    "yml",
                                           "yaml", "toml", "tfstate", "tfvars", "backup"};
        static const char *const begins[] = {".", "id_", "secrets.", "credentials", "config"};
        const char *dot = strrchr(base, '.');
        for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
                if (strncasecmp(base, begins[i], strlen(begins[i])) == 0)
                        return true;
        for (size_t i = 0; dot && i < sizeof ends / sizeof *ends; i++)
                if (strcasecmp(dot + 1, ends[i]) == 0)
                        return true;
        return false;
}

enum secret_scan_kind secret_scan_kind(const char *path)
{
        const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
        if (!may_match(base))
                return SECRET_SCAN_NOT;
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                if (fnmatch(names[i].pattern, base, FNM_CASEFOLD | FNM_EXTMATCH) == 0)
                        return names[i].kind;
        for (size_t i = 0; slash && i < sizeof placed / sizeof *placed; i++) {
                const char *at = slash;
                while (at > path && at[-1] != '/')
                        at--;
                if (fnmatch(placed[i], at, FNM_PATHNAME) == 0)
                        return SECRET_SCAN_TEXT;
        }
        return SECRET_SCAN_NOT;
}

static int64_t now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
        return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

static bool is_skipped(const char *name)
{
        for (size_t i = 0; i < sizeof skipped / sizeof *skipped; i++)
                if (strcmp(name, skipped[i]) == 0)
                        return true;
        return false;
}

struct walk {
        int root;
        struct strs *paths;
        struct strs next; /* directories of the level below */
        size_t names_n;
        int64_t until;
};

static void take_config(struct walk *w, const char *git_dir)
{
        struct stat st;
        _cleanup_free_ char *config = str_fmt("%s/config", git_dir);
        if (fstatat(w->root, config, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(st.st_mode))
                strs_add(w->paths, config);
}

/* take_git(w, path): the settings of a repository and of its submodules name their remotes. */
static void take_git(struct walk *w, const char *path)
{
        _cleanup_free_ char *modules = str_fmt("%s/modules", path);
        take_config(w, path);
        int fd = openat(w->root, modules,
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d && fd >= 0)
                close(fd);
        for (struct dirent *e; d && (e = readdir(d)) && w->paths->n < HITS_MAX;) {
                _cleanup_free_ char *module = str_fmt("%s/%s", modules, e->d_name);
                if (strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0)
                        take_config(w, module);
        }
}

/* path_of(fd, path): where it really is. */
static bool path_of(int fd, char path[PATH_MAX])
{
        char link[32];
        snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
        ssize_t n = readlink(link, path, PATH_MAX - 1);
        path[n > 0 ? n : 0] = '\0';
        return n > 0;
}

/* take_link(w, path): a link of such a name leads to such a file, whatever that is called. What
 * lies outside of the tree is none of its files. */
static void take_link(struct walk *w, const char *path)
{
        char root[PATH_MAX], real[PATH_MAX];
        struct stat st;
        _cleanup_close_ int fd = openat(w->root, path, O_PATH | O_CLOEXEC);
        if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || !path_of(w->root, root) ||
            !path_of(fd, real))
                return;
        size_t n = strlen(root);
        if (strncmp(real, root, n) == 0 && real[n] == '/' && !strs_has(w->paths, real + n + 1))
                strs_add(w->paths, real + n + 1);
}

static void take(struct walk *w, const char *dir, const struct dirent *e)
{
        const char *name = e->d_name;
        unsigned char type = e->d_type;
        if ((type == DT_REG && !may_match(name)) || (type == DT_DIR && is_skipped(name)))
                return;
        _cleanup_free_ char *path = *dir ? str_fmt("%s/%s", dir, name) : str_dup(name);
        struct stat st;
        if (type == DT_UNKNOWN && fstatat(w->root, path, &st, AT_SYMLINK_NOFOLLOW) == 0)
                type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISREG(st.st_mode) ? DT_REG : DT_LNK;
        if (type == DT_DIR && strcmp(name, ".git") == 0) {
                take_git(w, path);
        } else if (type == DT_DIR) {
                strs_add(&w->next, path);
        } else if (type == DT_REG && secret_scan_kind(path) != SECRET_SCAN_NOT) {
                if (!strs_has(w->paths, path))
                        strs_add(w->paths, path);
        } else if (type == DT_LNK && secret_scan_kind(path) != SECRET_SCAN_NOT) {
                take_link(w, path);
        }
}

static void read_dir(struct walk *w, const char *dir)
{
        int fd = openat(w->root, *dir ? dir : ".",
                        O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        _cleanup_closedir_ DIR *d = fd < 0 ? NULL : fdopendir(fd);
        if (!d && fd >= 0)
                close(fd);
        for (struct dirent *e; d && (e = readdir(d)) && w->paths->n < HITS_MAX;) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (++w->names_n >= NAMES_MAX)
                        return;
                take(w, dir, e);
        }
}

void secret_scan_walk(int dir_fd, struct strs *paths)
{
        struct walk w = {.root = dir_fd, .paths = paths, .until = now_ms() + TIME_MS};
        _cleanup_strs_ struct strs level = {0};
        strs_add(&level, "");
        for (int depth = 0; level.n && depth <= DEPTH_MAX; depth++) {
                if (depth >= ALWAYS_DEPTH && w.names_n > SMALL_NAMES)
                        break;
                for (size_t i = 0; i < level.n; i++) {
                        if (w.names_n >= NAMES_MAX || now_ms() > w.until)
                                break;
                        read_dir(&w, level.v[i]);
                }
                strs_free(&level);
                level = w.next;
                w.next = (struct strs){0};
        }
        strs_free(&w.next);
}
