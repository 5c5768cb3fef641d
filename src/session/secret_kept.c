/* secret_kept.c - see secret_kept.h. One line for each part: NAME, part, placeholder, separated by
 * tabs. Called by sup_secrets.c. */
#include "session/secret_kept.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

#define FILE_NAME "placeholders"
enum { FILE_MAX_BYTES = 4 << 20 };

int secret_kept_write(int dir_fd, const struct session_secrets *all, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < all->n; i++) {
                const struct session_secret *s = &all->v[i];
                for (size_t k = 0; k < s->parts_n; k++)
                        /* A service account's file is not one line, and is written anew each time.
                         */
                        if (!strpbrk(s->parts[k].placeholder, "\t\r\n"))
                                buf_put_fmt(&b, "%s\t%s\t%s\n", s->line.secret->name,
                                            s->parts[k].name, s->parts[k].placeholder);
        }
        if (b.is_broken)
                return err_set(err, E_SYSTEM, "out of memory");
        return fdio_write_file(dir_fd, FILE_NAME, buf_cstr(&b), 0600, err);
}

int secret_kept_each(int dir_fd, const char *name,
                     int (*fn)(void *ctx, const char *part, const char *text), void *ctx)
{
        struct err none = {0};
        _cleanup_free_ char *all = fdio_read_file(dir_fd, FILE_NAME, FILE_MAX_BYTES, &none);
        size_t n = strlen(name);
        for (char *line = all, *next; line && *line; line = next) {
                char *end = line + strcspn(line, "\n");
                next = *end ? end + 1 : end;
                *end = 0;
                char *part = strncmp(line, name, n) == 0 && line[n] == '\t' ? line + n + 1 : NULL;
                char *text = part ? strchr(part, '\t') : NULL;
                if (!text)
                        continue;
                *text++ = 0;
                if (fn(ctx, part, text) != 0)
                        return -1;
        }
        return 0;
}
