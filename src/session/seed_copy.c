/* seed_copy.c - copy a file or a directory of the host's home into the box's, within bounds.
 *
 * Links are followed as long as they stay in the home, because people keep their settings in a
 * repository and link to it. Whatever is a credential by its name is left out. */
#include "base/beneath.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/cred_list.h"
#include "session/seed_int.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_MAX = 8 << 20, DEPTH_MAX = 12 };

static int copy_at(struct seed_run *run, const char *path, int depth, struct err *err);

static int copy_dir(struct seed_run *run, const char *path, int fd, int depth, struct err *err)
{
        if (depth >= DEPTH_MAX) {
                seed_note(run, path, "it is too deep, or links to itself");
                return 0;
        }
        int made = seed_dir(run, path, err);
        if (made < 0)
                return -1;
        close(made);
        _cleanup_closedir_ DIR *d = fdio_opendir(fd);
        if (!d) {
                seed_note(run, path, "it cannot be read");
                return 0;
        }
        for (struct dirent *e; (e = readdir(d));) {
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
                    strcmp(e->d_name, ".git") == 0 || strcmp(e->d_name, "node_modules") == 0)
                        continue;
                _cleanup_free_ char *sub = str_fmt("%s/%s", path, e->d_name);
                if (copy_at(run, sub, depth + 1, err) < 0)
                        return -1;
        }
        return 0;
}

static int copy_at(struct seed_run *run, const char *path, int depth, struct err *err)
{
        const char *secret = cred_list_why(strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
        if (secret) {
                _cleanup_free_ char *why = str_fmt("it may hold %s", secret);
                seed_note(run, path, why);
                return 0;
        }
        _cleanup_close_ int fd = beneath_open(run->host_fd, path, O_PATH, 0, NULL);
        struct stat st;
        if (fd < 0) {
                if (errno != ENOENT && errno != ENOTDIR)
                        seed_note(run, path,
                                  "it is a link that leads out of your home, or private");
                return 0;
        }
        if (fstat(fd, &st) < 0)
                return err_sys(err, "look at ~/%s", path);
        if (S_ISDIR(st.st_mode))
                return copy_dir(run, path, fd, depth, err);
        if (!S_ISREG(st.st_mode)) {
                seed_note(run, path, "it is neither a file nor a directory");
                return 0;
        }
        if (run->files_left == 0) {
                seed_note(run, path, "there are too many files");
                return 0;
        }
        run->files_left--;
        size_t len;
        _cleanup_free_ char *data = seed_read(run, path, FILE_MAX, &len);
        if (!data)
                return 0;
        return seed_file(run, path, data, len, (st.st_mode & 0100) | 0600, err);
}

int seed_copy(struct seed_run *run, const char *path, struct err *err)
{
        return run->host_fd < 0 ? 0 : copy_at(run, path, 0, err);
}
