/* door_packages.c - see door_packages.h. Called by door_policy.c when a box is planned.
 *
 * No host is written down here: what a manager uses when nothing is configured only it knows, and a
 * project's own configuration came with a clone, so neither counts. Files are searched for URLs at
 * the keys that name a source; nothing else of them is understood, and nothing of them is run. */
#include "session/door_packages.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "policy/rule.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 256 << 10, HOSTS_MAX = 64 };

/* A place of configuration: "~/" is the home; a path that ends in a slash is a directory of files.
 * ${keys}: what a line must hold before its URLs count, separated by spaces; "" for any line. */
static const struct place {
        const char *manager;
        const char *path;
        const char *keys;
} places[] = {
        {"npm", "~/.npmrc", "registry"},
        {"npm", "/etc/npmrc", "registry"},
        {"npm", "/usr/etc/npmrc", "registry"},
        {"npm", "/usr/local/etc/npmrc", "registry"},
        {"bun", "~/.bunfig.toml", "registry url"},
        {"bun", "~/.config/.bunfig.toml", "registry url"},
        {"pip", "~/.config/pip/pip.conf", "index-url find-links"},
        {"pip", "~/.pip/pip.conf", "index-url find-links"},
        {"pip", "/etc/pip.conf", "index-url find-links"},
        {"pip", "/etc/xdg/pip/pip.conf", "index-url find-links"},
        {"uv", "~/.config/uv/uv.toml", "url find-links"},
        {"uv", "/etc/uv/uv.toml", "url find-links"},
        {"apt", "/etc/apt/sources.list", "deb"},
        {"apt", "/etc/apt/sources.list.d/", "deb URIs"},
        {"cargo", "~/.cargo/config.toml", "registry index"},
        {"cargo", "~/.cargo/config", "registry index"},
        {"go", "~/.config/go/env", "GOPROXY GOSUMDB"},
        {"go", "/usr/lib/go/go.env", "GOPROXY"},
        {"go", "/usr/local/go/go.env", "GOPROXY"},
};

static bool has_key(const char *line, const char *keys)
{
        if (!*keys)
                return true;
        for (const char *k = keys; *k;) {
                size_t n = strcspn(k, " ");
                for (const char *at = line; *at; at++)
                        if (strncmp(at, k, n) == 0)
                                return true;
                k += n + (k[n] == ' ');
        }
        return false;
}

/* add_host(s, n, is_tls, lines): HOST[:PORT] of a URL, after any user and password. */
static bool add_host(const char *s, size_t n, bool is_tls, struct strs *lines)
{
        for (size_t i = n; i > 0; i--) {
                if (s[i - 1] == '@') {
                        s += i;
                        n -= i;
                        break;
                }
        }
        _cleanup_free_ char *host = str_fmt("%.*s", (int)n, s);
        const char *usual = is_tls ? ":443" : ":80";
        if (str_ends(host, usual))
                host[strlen(host) - strlen(usual)] = 0;
        _cleanup_free_ char *line = str_fmt("allow GET,HEAD %s", host);
        _cleanup_rule_line_ struct rule_line parsed = {0};
        size_t column;
        /* Whatever is no place by our own grammar is no host for us either. */
        if (strpbrk(host, " /\t*#'\"") ||
            rule_line_parse(line, strlen(line), &parsed, &column, NULL) != 1)
                return false;
        if (lines->n < HOSTS_MAX && !strs_has(lines, line))
                strs_add(lines, line);
        return true;
}

static bool read_line(const char *line, const char *keys, struct strs *lines)
{
        bool is_found = false;
        line += strspn(line, " \t");
        if (*line == '#' || *line == ';' || !has_key(line, keys))
                return false;
        for (const char *at = line; (at = strstr(at, "://"));) {
                bool is_tls = at - line >= 5 && strncmp(at - 5, "https", 5) == 0;
                bool is_plain = at - line >= 4 && strncmp(at - 4, "http", 4) == 0;
                at += 3;
                size_t n = strcspn(at, "/ \t\"',|)]>?#\r");
                if (is_tls || is_plain)
                        is_found |= add_host(at, n, is_tls, lines);
        }
        return is_found;
}

static bool read_text(char *text, const char *keys, struct strs *lines)
{
        bool is_found = false;
        for (char *rest = text, *line; rest && (line = strsep(&rest, "\n"));)
                is_found |= read_line(line, keys, lines);
        return is_found;
}

void door_packages_urls(const char *text, const char *keys, struct strs *lines)
{
        _cleanup_free_ char *copy = str_dup(text);
        read_text(copy, keys, lines);
}

static bool read_file(const char *path, const char *keys, struct strs *lines)
{
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, FILE_MAX, NULL);
        return read_text(text, keys, lines);
}

static bool read_place(const struct place *p, const char *home, struct strs *lines)
{
        _cleanup_free_ char *path =
                p->path[0] == '~' ? str_fmt("%s%s", home, p->path + 1) : str_dup(p->path);
        if (!str_ends(path, "/"))
                return read_file(path, p->keys, lines);
        bool is_found = false;
        _cleanup_closedir_ DIR *d = opendir(path);
        for (struct dirent *e; d && (e = readdir(d));) {
                if (!str_ends(e->d_name, ".list") && !str_ends(e->d_name, ".sources"))
                        continue;
                _cleanup_free_ char *file = str_fmt("%s%s", path, e->d_name);
                is_found |= read_file(file, p->keys, lines);
        }
        return is_found;
}

void door_packages_find(const char *home, struct strs *lines, struct strs *notes)
{
        const char *manager = NULL;
        bool is_found = false;
        for (size_t i = 0; i <= sizeof places / sizeof *places; i++) {
                bool is_end = i == sizeof places / sizeof *places;
                if (is_end || !manager || strcmp(manager, places[i].manager) != 0) {
                        if (manager && !is_found)
                                strs_addf(notes,
                                          "packages: %s\nneither you nor the system configured a "
                                          "source for it; allow its hosts with: --allow 'GET,HEAD "
                                          "HOST'",
                                          manager);
                        is_found = false;
                }
                if (is_end)
                        break;
                manager = places[i].manager;
                is_found |= read_place(&places[i], home, lines);
        }
}
