/* undo_conf.c - see undo_conf.h. */
#include "cli/undo_conf.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/out.h"
#include "session/store.h"
#include "workspace/undo.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { DAY_S = 86400, CONF_MAX = 1 << 16 };
#define MUCH ((uint64_t)64 << 20)

struct rules {
        uint64_t days, bytes;
};

static int read_line(char *line, struct rules *r, struct err *err)
{
        char *hash = strchr(line, '#');
        if (hash)
                *hash = 0;
        char *rest = line, *words[3] = {0};
        size_t n = 0;
        for (char *w; (w = strsep(&rest, " \t\r"));)
                if (*w && n < 3)
                        words[n++] = w;
        if (n == 0)
                return 0;
        if (n == 2 && strcmp(words[0], "days") == 0 && str_u64(words[1], &r->days) == 0 &&
            r->days <= 100000)
                return 0;
        if (n == 2 && strcmp(words[0], "size") == 0 && str_size(words[1], &r->bytes) == 0)
                return 0;
        _cleanup_free_ char *shown = str_quote(words[0]);
        return err_set(err, E_INPUT,
                       "\"%s\" begins a line that is neither \"days NUMBER\" nor \"size 2G\"",
                       shown);
}

static int read_rules(const struct store *s, struct rules *r, struct err *err)
{
        struct err why = {0};
        *r = (struct rules){.days = 30, .bytes = (uint64_t)2 << 30};
        _cleanup_free_ char *path = str_fmt("%s/undo", s->config);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, path, CONF_MAX, &why);
        if (!text && why.sys == ENOENT)
                return 0;
        if (!text) {
                if (err)
                        *err = why;
                return -1;
        }
        char *rest = text;
        for (char *line; (line = strsep(&rest, "\n"));)
                if (read_line(line, r, err) < 0)
                        return err_add(err, "%s", path);
        return 0;
}

int undo_conf_prune(const struct store *s, int undo_fd, uint64_t *removed_n, uint64_t *freed,
                    struct err *err)
{
        struct rules r;
        *removed_n = *freed = 0;
        if (read_rules(s, &r, err) < 0 ||
            undo_prune(undo_fd, r.days * DAY_S, r.bytes, removed_n, freed, err) < 0)
                return -1;
        /* The file's time says when it was done last. */
        _cleanup_close_ int fd =
                openat(undo_fd, "pruned", O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0)
                (void)futimens(fd, NULL);
        return 0;
}

int undo_conf_gc(const struct store *s, uint64_t *removed_n, uint64_t *freed, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/undo", s->state);
        *removed_n = *freed = 0;
        if (access(path, F_OK) < 0)
                return 0;
        _cleanup_close_ int undo_fd = undo_store_open(s->state, err);
        return undo_fd < 0 ? -1 : undo_conf_prune(s, undo_fd, removed_n, freed, err);
}

void undo_conf_prune_now_and_then(const struct store *s, int undo_fd, uint64_t added_bytes)
{
        struct stat st;
        struct err err = {0};
        uint64_t removed_n, freed;
        bool is_due = fstatat(undo_fd, "pruned", &st, AT_SYMLINK_NOFOLLOW) < 0 ||
                      time(NULL) - st.st_mtime > DAY_S || time(NULL) < st.st_mtime;
        if ((is_due || added_bytes > MUCH) &&
            undo_conf_prune(s, undo_fd, &removed_n, &freed, &err) < 0)
                out_say("old records of undo were not removed: %s", err.text);
}
