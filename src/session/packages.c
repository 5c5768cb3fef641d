/* packages.c - see packages.h. Called by the planner, on the host, before a box is built. What a
 * manager prints is searched for URLs and nothing else; what it is asked is a const table. */
#include "session/packages.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/door_packages.h"
#include "session/errand.h"
#include "session/store.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEPT_MAX = 64 << 10, SETTINGS_MAX = 8 };

/* Beside the answers of managers: MANAGER, a tab and a line for each that a person gave. */
static const char answers[] = "answers", reads[] = "allow GET,HEAD ";

/* ${ask}: for sh; $0 is the program, the current directory is /. ${keys}: what a line of the answer must
 * hold, as in door_packages.h. ${agent}: how its User-Agent begins; NULL: as others' do. ${settings}: files
 * of the user's, below the home, that it may read. */
static const struct manager {
        const char *name, *program, *agent, *keys, *ask;
        const char *settings[SETTINGS_MAX];
} managers[] = {
        {"npm",
         "npm",
         "npm/",
         "registry",
         "npm_config_cache=/tmp/npm npm_config_update_notifier=false \"$0\" config list --json",
         {".npmrc"}},
        {"pnpm", "pnpm", "pnpm/", "", "\"$0\" config get registry", {".npmrc", ".config/pnpm/rc"}},
        {"yarn",
         "yarn",
         "yarn/",
         "",
         "\"$0\" config get registry; \"$0\" config get npmRegistryServer",
         {".npmrc", ".yarnrc", ".yarnrc.yml"}},
        {"pip",
         "python3",
         "pip/",
         "",
         "exec \"$0\" -I -c '\n"
         "from pip._internal.configuration import Configuration\n"
         "from pip._internal.models.index import PyPI\n"
         "c = Configuration(isolated=False)\n"
         "c.load()\n"
         "said = {k.split(\".\")[-1]: v for k, v in c.items()}\n"
         "for key in (\"index-url\", \"extra-index-url\", \"find-links\"):\n"
         "    print(said.get(key, \"\"))\n"
         "if \"index-url\" not in said:\n"
         "    print(PyPI.simple_url, \"https://\" + PyPI.file_storage_domain + \"/\")'",
         {".config/pip/pip.conf", ".pip/pip.conf"}},
        {"go",
         "go",
         NULL,
         "",
         "\"$0\" env GOPROXY; s=$(\"$0\" env GOSUMDB); case $s in *.*) echo \"https://${s%% *}/\" ;; esac",
         {".config/go/env"}},
        /* cargo tells only when it fails: the index it could not reach. */
        {"cargo",
         "cargo",
         "cargo",
         "",
         "mkdir -p /tmp/c /tmp/p/src && cd /tmp/p && : >src/lib.rs && for f in config config.toml; do "
         "[ ! -e \"$HOME/.cargo/$f\" ] || cp \"$HOME/.cargo/$f\" /tmp/c/; done; "
         "printf '[package]\\nname = \"p\"\\nversion = \"0.1.0\"\\nedition = \"2021\"\\n"
         "[dependencies]\\nlibc = \"0.2\"\\n' >Cargo.toml; "
         "CARGO_HOME=/tmp/c CARGO_NET_RETRY=0 \"$0\" fetch 2>&1; true",
         {".cargo/config", ".cargo/config.toml"}},
        /* bun tells where it would publish to, which is where it reads from. The token is none. */
        {"bun",
         "bun",
         "Bun/",
         "Registry",
         "mkdir -p /tmp/p && cd /tmp/p && printf '{\"name\":\"p\",\"version\":\"1.0.0\"}' >package.json && "
         "NPM_CONFIG_TOKEN=none \"$0\" publish --dry-run 2>&1",
         {".npmrc", ".bunfig.toml", ".config/.bunfig.toml"}},
        /* Nothing is to be compiled, so nothing is fetched; where its files lie only the index tells. */
        {"uv",
         "uv",
         "uv/",
         "",
         "cd /tmp && UV_CACHE_DIR=/tmp/uv UV_PYTHON_DOWNLOADS=never \"$0\" pip compile "
         "--no-header --emit-index-url --emit-find-links - </dev/null",
         {".config/uv/uv.toml"}},
};

enum packages_mode packages_mode(void)
{
        const char *said = getenv("OSTIARY_PACKAGES");
        if (!said || !*said || strcmp(said, "ask") == 0)
                return PACKAGES_ASK;
        /* What is no word of ours opens nothing. */
        return strcmp(said, "files") == 0 ? PACKAGES_FILES : PACKAGES_OFF;
}

static bool is_ours(const char *path, const char *workspace)
{
        char real[PATH_MAX];
        return realpath(path, real) &&
               !(workspace && (str_is_beneath(real, workspace) || str_is_beneath(path, workspace)));
}

/* on_path(program, workspace): of absolute places only, and none of the workspace's. */
static char *on_path(const char *program, const char *workspace)
{
        const char *path = getenv("PATH");
        for (const char *p = path ? path : "/usr/local/bin:/usr/bin:/bin"; *p;) {
                size_t n = strcspn(p, ":");
                _cleanup_free_ char *full = str_fmt("%.*s/%s", (int)n, p, program);
                struct stat st;
                if (n && *p == '/' && stat(full, &st) == 0 && S_ISREG(st.st_mode) &&
                    access(full, X_OK) == 0 && is_ours(full, workspace))
                        return take_ptr(&full);
                p += n + (p[n] == ':');
        }
        return NULL;
}

static void put_mark(struct buf *b, const char *path)
{
        struct stat st;
        if (stat(path, &st) == 0)
                buf_put_fmt(b, " %s %lld.%09ld %lld", path, (long long)st.st_mtim.tv_sec,
                            st.st_mtim.tv_nsec, (long long)st.st_size);
}

/* mark_of(m, program, home): one line that changes when the program, its question or its settings do. */
static char *mark_of(const struct manager *m, const char *program, const char *home)
{
        _cleanup_buf_ struct buf b = {0};
        char real[PATH_MAX];
        buf_put_fmt(&b, "%s %zu", m->name, strlen(m->ask));
        put_mark(&b, program);
        put_mark(&b, realpath(program, real) ? real : program);
        for (size_t i = 0; i < SETTINGS_MAX && m->settings[i]; i++) {
                _cleanup_free_ char *path = str_fmt("%s/%s", home, m->settings[i]);
                put_mark(&b, path);
        }
        for (char *c = b.data ? (char *)b.data : NULL; c && c < (char *)b.data + b.len; c++)
                if (*c == '\n')
                        *c = '?';
        return str_dup(buf_cstr(&b));
}

/* ask(m, ...): what it named, as rules. 1 with a story when it names nothing, -1 when it could not be
 * asked now. */
static int ask(const struct manager *m, const struct store *store, const char *program,
               const char *home, struct strs *lines, struct err *err)
{
        _cleanup_strs_ struct strs files = {0}, env = {0};
        _cleanup_buf_ struct buf out = {.max = 1 << 20};
        for (size_t i = 0; i < SETTINGS_MAX && m->settings[i]; i++)
                strs_addf(&files, "%s/%s", home, m->settings[i]);
        strs_addf(&env, "HOME=%s", home);
        strs_add(&env, "LC_ALL=C");
        int status = errand_ask(store, program, m->ask, &files, &env, &out, err);
        if (status < 0)
                return -1;
        door_packages_urls(buf_cstr(&out), m->keys, lines);
        if (lines->n == 0 && status == 0)
                err_set(err, E_ABSENT, "it named no host");
        return lines->n == 0;
}

/* kept(dir_fd, m, mark, lines): the answer of last time, if it is still of this program. */
static bool kept(int dir_fd, const struct manager *m, const char *mark, struct strs *lines)
{
        _cleanup_free_ char *text = fdio_read_file(dir_fd, m->name, KEPT_MAX, NULL);
        char *rest = text, *line = rest ? strsep(&rest, "\n") : NULL;
        if (!line || strcmp(line, mark) != 0)
                return false;
        while ((line = strsep(&rest, "\n")))
                if (*line)
                        strs_add(lines, line);
        return true;
}

static void keep(int dir_fd, const struct manager *m, const char *mark, const struct strs *lines)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b, "%s\n", mark);
        for (size_t i = 0; i < lines->n; i++)
                buf_put_fmt(&b, "%s\n", lines->v[i]);
        fdio_write_file(dir_fd, m->name, buf_cstr(&b), 0600, NULL);
}

/* answered(dir_fd, lines): what a person said once. */
static void answered(int dir_fd, struct strs *lines)
{
        _cleanup_free_ char *text = fdio_read_file(dir_fd, answers, KEPT_MAX, NULL);
        for (char *rest = text, *line; rest && (line = strsep(&rest, "\n"));) {
                const char *tab = strchr(line, '\t');
                if (!tab || !str_starts(tab + 1, reads))
                        continue;
                /* As if a manager had named it: one line that is no rule would cost all of them. */
                _cleanup_free_ char *url = str_fmt("https://%s/", tab + 1 + strlen(reads));
                door_packages_urls(url, "", lines);
        }
}

const char *packages_asker(const char *agent)
{
        for (size_t i = 0; i < sizeof managers / sizeof *managers; i++) {
                const char *begin = managers[i].agent;
                if (begin && strncasecmp(agent, begin, strlen(begin)) == 0)
                        return managers[i].name;
        }
        return NULL;
}

char *packages_line(const char *what)
{
        _cleanup_strs_ struct strs lines = {0};
        size_t n = strcspn(what, " ");
        bool is_read = str_starts(what, "GET ") || str_starts(what, "HEAD ");
        const char *url = what + n + (what[n] == ' ');
        _cleanup_free_ char *only = str_fmt("%.*s", (int)strcspn(url, " \t"), url);
        if (!is_read || (!str_starts(only, "http://") && !str_starts(only, "https://")))
                return NULL;
        door_packages_urls(only, "", &lines);
        if (lines.n == 0)
                return NULL;
        /* The first is the host; another would be one that its path speaks of. An address is no name:
         * it means another machine elsewhere. */
        const char *host = lines.v[0] + strlen(reads);
        size_t host_n = strcspn(host, ":");
        bool is_name = false;
        for (size_t i = host_n; i > 0 && host[i - 1] != '.'; i--)
                is_name |= isalpha((unsigned char)host[i - 1]) != 0;
        return is_name ? str_dup(lines.v[0]) : NULL;
}

int packages_keep(const struct store *store, const char *manager, const char *line, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/packages/%s", store->state, answers);
        _cleanup_free_ char *text = str_fmt("%s\t%s\n", manager, line);
        _cleanup_close_ int fd =
                open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        /* One write: two boxes may be answered at the same time. */
        if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
                return err_sys(err, "write %s", path);
        return 0;
}

static void one(const struct manager *m, const struct store *store, int dir_fd, const char *home,
                const char *workspace, struct strs *lines, struct strs *notes)
{
        struct err err = {0};
        _cleanup_strs_ struct strs found = {0};
        _cleanup_free_ char *program = on_path(m->program, workspace);
        if (!program)
                return;
        _cleanup_free_ char *mark = mark_of(m, program, home);
        /* That it does not tell is kept as well; what went wrong once is tried again. */
        if (!kept(dir_fd, m, mark, &found) && ask(m, store, program, home, &found, &err) >= 0)
                keep(dir_fd, m, mark, &found);
        if (found.n == 0)
                strs_addf(
                        notes,
                        "packages: %s\nit could not be asked where it reads from (%s); you are "
                        "asked at its first request, and Ctrl-] a keeps the answer for every box; "
                        "or allow it: --allow 'GET,HEAD HOST'",
                        m->name, *err.text ? err.text : "as before");
        for (size_t i = 0; i < found.n; i++)
                if (!strs_has(lines, found.v[i]))
                        strs_add(lines, found.v[i]);
}

void packages_ask(const struct store *store, const char *home, const char *workspace,
                  struct packages *p, struct strs *notes)
{
        p->mode = packages_mode();
        if (p->mode != PACKAGES_ASK)
                return;
        _cleanup_free_ char *place = str_fmt("%s/packages", store->state);
        if (mkdir(place, 0700) < 0 && errno != EEXIST) {
                /* explain before the first box: it makes nothing. */
                strs_add(notes,
                         "packages\ninstalled package managers are asked where they read from "
                         "when the first box starts");
                return;
        }
        _cleanup_close_ int dir = open(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        for (size_t i = 0; dir >= 0 && i < sizeof managers / sizeof *managers; i++)
                one(&managers[i], store, dir, home, workspace, &p->lines, notes);
        answered(dir, &p->lines);
}
