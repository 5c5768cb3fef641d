/* seed_packages.c - where the user's package managers read from, told to those in the box: of their
 * settings files only the lines that name a source, with any password taken out of the address. The
 * files themselves hold tokens and are never copied. Called once, when a box's home is made. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/packages.h"
#include "session/seed_int.h"

#include <string.h>

enum { SETTINGS_MAX = 256 << 10 };

/* ${keys}: whole names, separated by spaces; ":name" fits what ends so. ${ends}: what ends a name. */
static const struct settings {
        const char *path, *ends, *keys;
} files[] = {
        {".npmrc", "=", "registry :registry"},
        {".config/pnpm/rc", "=", "registry :registry"},
        {".yarnrc", " \t", "registry"},
        {".yarnrc.yml", ":", "npmRegistryServer unsafeHttpWhitelist"},
        {".config/pip/pip.conf", "=:", "index-url extra-index-url find-links trusted-host"},
        {".pip/pip.conf", "=:", "index-url extra-index-url find-links trusted-host"},
        {".config/uv/uv.toml", "=",
         "index-url extra-index-url find-links url name default explicit"},
        {".bunfig.toml", "=", "registry"},
        {".config/.bunfig.toml", "=", "registry"},
        {".config/go/env", "=", "GOPROXY GOSUMDB GOPRIVATE GONOPROXY GONOSUMDB"},
        {".cargo/config.toml", "=", "registry index replace-with protocol"},
};

static bool is_key(const char *line, size_t n, const char *keys)
{
        for (const char *k = keys; *k;) {
                size_t len = strcspn(k, " ");
                bool is_end = *k == ':' && n > len && strncmp(line + n - len, k, len) == 0;
                if (is_end || (n == len && strncmp(line, k, len) == 0))
                        return true;
                k += len + (k[len] == ' ');
        }
        return false;
}

/* put_plain(b, line): without USER:PASSWORD@ in its addresses. */
static void put_plain(struct buf *b, const char *line)
{
        for (const char *at; (at = strstr(line, "://"));) {
                at += 3;
                size_t n = strcspn(at, "/ \t\"',|?#");
                buf_put_fmt(b, "%.*s", (int)(at - line), line);
                for (size_t i = n; i > 0; i--) {
                        if (at[i - 1] == '@') {
                                at += i;
                                n -= i;
                                break;
                        }
                }
                buf_put_fmt(b, "%.*s", (int)n, at);
                line = at + n;
        }
        buf_put_fmt(b, "%s\n", line);
}

static int one(struct seed_run *run, const struct settings *f, struct err *err)
{
        _cleanup_free_ char *text = fdio_read_file(run->host_fd, f->path, SETTINGS_MAX, NULL);
        _cleanup_buf_ struct buf b = {0};
        bool has_key = false;
        for (char *rest = text, *line; rest && (line = strsep(&rest, "\n"));) {
                line[strcspn(line, "\r")] = 0;
                const char *p = line + strspn(line, " \t");
                size_t n = strcspn(p, f->ends);
                while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
                        n--;
                /* A table on one line may hold a token beside the address. */
                bool is_fit =
                        is_key(p, n, f->keys) && !(strchr(p, '{') && str_ends(f->path, "toml"));
                has_key |= is_fit;
                if (is_fit || (*p == '[' && !strchr(p, '=')))
                        put_plain(&b, p);
        }
        return has_key ? seed_file(run, f->path, b.data, b.len, 0600, err) : 0;
}

int seed_packages(struct seed_run *run, struct err *err)
{
        for (size_t i = 0; packages_mode() != PACKAGES_OFF && i < sizeof files / sizeof *files; i++)
                if (one(run, &files[i], err) < 0)
                        return -1;
        return 0;
}
