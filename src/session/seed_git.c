/* seed_git.c - who commits: a ~/.gitconfig made from three values of the host's.
 *
 * A small reader of our own, because running git on the host's settings would run what they name,
 * and copying them would carry credential helpers, aliases and commands into the box. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/gitconf.h"
#include "session/seed_int.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_MAX = 1 << 20 };

static const struct {
        const char *section, *key;
} wanted[] = {{"user", "name"}, {"user", "email"}, {"init", "defaultBranch"}};
enum { WANTED_N = 3 };

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
                for (size_t k = 0; text && k < WANTED_N; k++) {
                        char *value = gitconf_get(text, wanted[k].section, wanted[k].key);
                        if (!value)
                                continue;
                        free(values[k]);
                        values[k] = value;
                }
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
        /* The libcurl that git has in Debian 12 (7.88.1 with GnuTLS) sends parts of a large push
         * twice over HTTP/2, or stops, when the other side makes it wait: any proxy, not only ours.
         */
        buf_put_str(&b, "[http]\n\tversion = HTTP/1.1\n");
        return seed_file(run, ".gitconfig", b.data, b.len, 0600, err);
}
