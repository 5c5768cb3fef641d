/* door_trust.c - see door_trust.h. Called when a box is planned and by `ostiary trust`. One line
 * per file, "HASH PATH"; the path is escaped as in the other small files of ours. */
#include "session/door_trust.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/sha256.h"
#include "base/str.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

enum { FILE_MAX = 1 << 20, LIST_MAX = 4 << 20 };

static char *list_path(const struct store *s)
{
        return str_fmt("%s/trust", s->data);
}

static bool is_listed(const struct store *s, const char *hash, const char *path)
{
        _cleanup_free_ char *file = list_path(s);
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, file, LIST_MAX, NULL);
        char *at = text, *key, *value;
        while (at && kv_next(&at, &key, &value))
                if (strcmp(key, hash) == 0 && strcmp(value, path) == 0)
                        return true;
        return false;
}

enum door_trust door_trust_read(const struct store *s, const char *path, char **text,
                                struct err *err)
{
        struct stat st;
        char hash[SHA256_HEX_LEN + 1];
        *text = NULL;
        /* Not through a link, and never waiting for a FIFO: a live workspace is the box's to write.
         */
        _cleanup_close_ int fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (fd < 0 && errno != EACCES && errno != EMFILE && errno != ENFILE)
                return DOOR_TRUST_ABSENT;
        if (fd < 0 || fstat(fd, &st) < 0) {
                err_sys(err, "read %s", path);
                return DOOR_TRUST_BROKEN;
        }
        if (!S_ISREG(st.st_mode))
                return DOOR_TRUST_ABSENT;
        _cleanup_buf_ struct buf b = {0};
        if (fdio_read_all(fd, &b, FILE_MAX) < 0) {
                err_sys(err, "read %s", path);
                return DOOR_TRUST_BROKEN;
        }
        if (b.len && memchr(b.data, 0, b.len)) {
                err_set(err, E_INPUT, "%s is no text", path);
                return DOOR_TRUST_BROKEN;
        }
        *text = str_dup(buf_cstr(&b));
        sha256_hex(*text, strlen(*text), hash);
        return is_listed(s, hash, path) ? DOOR_TRUST_YES : DOOR_TRUST_NO;
}

int door_trust_set(const struct store *s, const char *path, const char *text, bool is_trusted,
                   struct err *err)
{
        _cleanup_free_ char *file = list_path(s);
        _cleanup_free_ char *lock_path = str_fmt("%s.lock", file);
        /* Two terminals may do this at once; the lock goes with the descriptor. */
        _cleanup_close_ int lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        if (lock < 0 || flock(lock, LOCK_EX) < 0)
                return err_sys(err, "lock %s", lock_path);
        _cleanup_free_ char *old = fdio_read_file(AT_FDCWD, file, LIST_MAX, NULL);
        _cleanup_buf_ struct buf b = {0};
        char *at = old, *key, *value;
        while (at && kv_next(&at, &key, &value))
                if (strcmp(value, path) != 0)
                        kv_put(&b, key, value);
        if (is_trusted) {
                char hash[SHA256_HEX_LEN + 1];
                sha256_hex(text, strlen(text), hash);
                kv_put(&b, hash, path);
        }
        if (b.is_broken)
                return err_set(err, E_SYSTEM, "out of memory");
        return fdio_write_file(AT_FDCWD, file, buf_cstr(&b), 0600, err);
}
