/* seed_git.c - who commits: a ~/.gitconfig made from three values of the host's.
 *
 * A small reader of our own, because running git on the host's settings would run what they name,
 * and copying them would carry credential helpers, aliases and commands into the box. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/seed_int.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_MAX = 1 << 20, VALUE_MAX = 512 };

static const struct {
        const char *section, *key;
} wanted[] = {{"user", "name"}, {"user", "email"}, {"init", "defaultBranch"}};
enum { WANTED_N = 3 };

/* The value after "=": quotes, escapes and comments as git reads them. Ends at the end of the line;
 * returns where reading goes on. */
static const char *read_value(const char *p, char out[VALUE_MAX])
{
        size_t n = 0, end = 0; /* end: behind the last byte that is not a trailing blank */
        bool is_quoted = false;
        p += strspn(p, " \t");
        for (; *p && *p != '\n'; p++) {
                char c = *p;
                if (c == '"') {
                        is_quoted = !is_quoted;
                        continue;
                }
                if (!is_quoted && (c == '#' || c == ';'))
                        break;
                if (c == '\\' && p[1]) {
                        p++;
                        if (*p == '\n')
                                continue;
                        c = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
                }
                if (n < VALUE_MAX - 1)
                        out[n++] = c;
                if (is_quoted || !strchr(" \t\r", c))
                        end = n;
        }
        out[end] = 0;
        return p + strcspn(p, "\n");
}

static void read_config(const char *text, char *values[WANTED_N])
{
        char section[64] = "";
        for (const char *p = text; *p;) {
                p += strspn(p, " \t\r\n");
                if (*p == '[') {
                        size_t n = strcspn(++p, "]\n");
                        snprintf(section, sizeof section, "%.*s", (int)n, p);
                        p += n + (p[n] == ']');
                        continue;
                }
                size_t n = strspn(
                        p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
                const char *key = p;
                p += n;
                p += strspn(p, " \t");
                if (n == 0 || *p != '=') {
                        p += strcspn(p, "\n");
                        continue;
                }
                char value[VALUE_MAX];
                p = read_value(p + 1, value);
                for (size_t i = 0; i < WANTED_N; i++) {
                        if (strcasecmp(section, wanted[i].section) != 0 ||
                            strlen(wanted[i].key) != n || strncasecmp(key, wanted[i].key, n) != 0)
                                continue;
                        free(values[i]);
                        values[i] = str_dup(value);
                }
        }
}

static void put_value(struct buf *b, const char *value)
{
        buf_put_u8(b, '"');
        for (; *value; value++) {
                if (*value == '"' || *value == '\\')
                        buf_put_u8(b, '\\');
                if ((unsigned char)*value >= 0x20 && *value != 0x7f)
                        buf_put_u8(b, (uint8_t)*value);
        }
        buf_put_str(b, "\"\n");
}

int seed_git(struct seed_run *run, struct err *err)
{
        /* In the order git reads them: the later one wins. */
        static const char *const files[] = {".config/git/config", ".gitconfig"};
        char *values[WANTED_N] = {NULL};
        for (size_t i = 0; i < 2 && run->host_fd >= 0; i++) {
                size_t len;
                _cleanup_free_ char *text = seed_read(run, files[i], FILE_MAX, &len);
                if (text)
                        read_config(text, values);
        }

        _cleanup_buf_ struct buf b = {0};
        const char *section = "";
        for (size_t i = 0; i < WANTED_N; i++) {
                if (!values[i] || !*values[i])
                        continue;
                if (strcmp(section, wanted[i].section) != 0)
                        buf_put_fmt(&b, "[%s]\n", wanted[i].section);
                section = wanted[i].section;
                buf_put_fmt(&b, "\t%s = ", wanted[i].key);
                put_value(&b, values[i]);
        }
        for (size_t i = 0; i < WANTED_N; i++)
                free(values[i]);
        /* Everything a box sees is as foreign or as much its own as the workspace; an owner that
         * looks different through a mount must not stop git. */
        buf_put_str(&b, "[safe]\n\tdirectory = *\n");
        return seed_file(run, ".gitconfig", b.data, b.len, 0600, err);
}
