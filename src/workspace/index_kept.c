/* index_kept.c - see index_kept.h. Called by session when a box has started, and by apply and undo.
 * Nothing here fails: what is not known is judged by the file's times. */
#include "workspace/index_kept.h"

#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/kv.h"
#include "base/str.h"
#include "workspace/git_index.h"
#include "workspace/objects.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define FILE_NAME "indexes"
enum { FILE_MAX = 1 << 20, INDEX_MAX = 64 << 20 };

/* index_of(root_name): where the index of a root is, or NULL. */
static const char *index_of(const char *root_name)
{
        if (strcmp(root_name, "ws") == 0)
                return ".git/index";
        return str_starts(root_name, "git") ? "index" : NULL;
}

bool index_kept_is_index(const char *root_name, const char *path)
{
        const char *want = index_of(root_name);
        return want && strcmp(want, path) == 0;
}

static int meaning_of(int fd, char hex[SHA256_HEX_LEN + 1])
{
        _cleanup_buf_ struct buf b = {.max = INDEX_MAX};
        if (fd < 0 || lseek(fd, 0, SEEK_SET) < 0 || fdio_read_all(fd, &b, INDEX_MAX) < 0)
                return -1;
        return git_index_meaning(b.data, b.len, hex);
}

static int host_index(int root_fd, const char *path)
{
        return beneath_open_nosym(root_fd, path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0, NULL);
}

static void put_line(struct buf *b, const char *name, const char *meaning)
{
        _cleanup_free_ char *line = str_fmt("%s\t%s", name, meaning);
        kv_put(b, "index", line);
}

void index_kept_begin(int box_dir_fd)
{
        struct stat st;
        _cleanup_roots_ struct ws_roots r = {0};
        _cleanup_free_ char *text = fdio_read_file(box_dir_fd, "roots", FILE_MAX, NULL);
        if (!text || ws_roots_parse(&r, text, NULL) < 0 ||
            fstatat(box_dir_fd, FILE_NAME, &st, AT_SYMLINK_NOFOLLOW) == 0)
                return;
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < r.n; i++) {
                const struct ws_root *root = &r.v[i];
                const char *path = index_of(root->name);
                char hex[SHA256_HEX_LEN + 1];
                if (root->kind != WS_ROOT_COW || !path)
                        continue;
                _cleanup_close_ int dir = open(root->host, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
                _cleanup_close_ int fd = dir < 0 ? -1 : host_index(dir, path);
                if (fd < 0 || fstat(fd, &st) < 0 ||
                    (int64_t)st.st_ctim.tv_sec * 1000000000 + st.st_ctim.tv_nsec >= root->since_ns)
                        continue;
                if (meaning_of(fd, hex) == 0)
                        put_line(&b, root->name, hex);
        }
        if (b.len)
                fdio_write_file(box_dir_fd, FILE_NAME, buf_cstr(&b), 0600, NULL);
}

void index_kept_load(int box_dir_fd, struct ws_roots *r)
{
        _cleanup_free_ char *text = fdio_read_file(box_dir_fd, FILE_NAME, FILE_MAX, NULL);
        char *at = text, *key, *value;
        while (at && kv_next(&at, &key, &value)) {
                char *meaning = strchr(value, '\t');
                if (strcmp(key, "index") != 0 || !meaning || strlen(meaning + 1) != SHA256_HEX_LEN)
                        continue;
                *meaning++ = 0;
                for (size_t i = 0; i < r->n; i++)
                        if (strcmp(r->v[i].name, value) == 0)
                                memcpy(r->v[i].index_meaning, meaning, SHA256_HEX_LEN + 1);
        }
}

bool index_kept_is_same(const struct ws_root *root, const char *path)
{
        char hex[SHA256_HEX_LEN + 1];
        if (!root->index_meaning[0] || root->host_fd < 0 || !index_kept_is_index(root->name, path))
                return false;
        _cleanup_close_ int fd = host_index(root->host_fd, path);
        return meaning_of(fd, hex) == 0 && strcmp(hex, root->index_meaning) == 0;
}

void index_kept_landed(int box_dir_fd, const char *root_name, int root_fd, const char *path)
{
        char hex[SHA256_HEX_LEN + 1];
        if (root_fd < 0 || !index_kept_is_index(root_name, path))
                return;
        _cleanup_close_ int fd = host_index(root_fd, path);
        _cleanup_close_ int out =
                openat(box_dir_fd, FILE_NAME,
                       O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0600);
        _cleanup_buf_ struct buf b = {0};
        if (out < 0 || meaning_of(fd, hex) < 0)
                return;
        put_line(&b, root_name, hex);
        fdio_write_all(out, b.data, b.len);
}

bool index_kept_is_object(int objects_fd, const char *hex, const char *root_name, int root_fd,
                          const char *path)
{
        char now[SHA256_HEX_LEN + 1], then[SHA256_HEX_LEN + 1];
        if (!index_kept_is_index(root_name, path) || !objects_has(objects_fd, hex))
                return false;
        _cleanup_close_ int host = host_index(root_fd, path);
        _cleanup_close_ int kept = memfd_create("index", MFD_CLOEXEC);
        return kept >= 0 && objects_get(objects_fd, hex, kept, NULL) == 0 &&
               meaning_of(kept, then) == 0 && meaning_of(host, now) == 0 && strcmp(now, then) == 0;
}
