/* submounts.c - see submounts.h. */
#include "box/submounts.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "box/mnt.h"
#include "box/step.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>

/* unescape(s): the fifth field of mountinfo has blanks, newlines and backslashes as \ooo. */
static void unescape(char *s)
{
        char *to = s;
        while (*s) {
                if (s[0] == '\\' && strspn(s + 1, "01234567") >= 3) {
                        *to++ = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
                        s += 4;
                } else {
                        *to++ = *s++;
                }
        }
        *to = 0;
}

/* mounted(dir, is_exact): is ${dir} itself a mount point (exact), or is one strictly below it? */
static bool mounted(const char *dir, bool is_exact)
{
        _cleanup_fclose_ FILE *f = fopen("/proc/self/mountinfo", "re");
        char line[8192], at[4096];
        while (f && fgets(line, sizeof line, f)) {
                if (sscanf(line, "%*s %*s %*s %*s %4095s", at) != 1)
                        continue;
                unescape(at);
                bool is_same = strcmp(at, dir) == 0;
                if (is_exact ? is_same : (!is_same && str_is_beneath(at, dir)))
                        return true;
        }
        return false;
}

bool submounts_below(const char *dir)
{
        return mounted(dir, false);
}

static int show_child_dir(struct build *b, const char *source, const char *target, struct err *err)
{
        if (mounted(source, true))
                return 0; /* another filesystem: left out */
        if (submounts_below(source))
                return submounts_tree(b, source, target, err);
        _cleanup_close_ int src = open(source, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (src < 0)
                return errno == EACCES ? 0 : err_sys(err, "open %s", source);
        _cleanup_close_ int mnt = mnt_overlay_ro(src, b->empty_fd, err);
        if (mnt < 0)
                return -1;
        _cleanup_close_ int to = step_target(b, target, true, err);
        return to < 0 ? -1 : mnt_attach(mnt, to, err);
}

static int show_child_file(struct build *b, const char *source, const char *target, struct err *err)
{
        _cleanup_close_ int mnt =
                mnt_clone(AT_FDCWD, source, false, MNT_SAFE | MOUNT_ATTR_RDONLY, err);
        struct stat st;
        if (mnt < 0)
                return -1;
        if (fstat(mnt, &st) < 0 || !S_ISREG(st.st_mode))
                return 0;
        _cleanup_close_ int to = step_target(b, target, false, err);
        return to < 0 ? -1 : mnt_attach(mnt, to, err);
}

static int show_child_link(struct build *b, const char *source, const char *target, struct err *err)
{
        char content[4096];
        ssize_t n = readlink(source, content, sizeof content - 1);
        if (n < 0)
                return err_sys(err, "read the link %s", source);
        content[n] = 0;
        if (symlinkat(content, b->root_fd, target + 1) < 0 && errno != EEXIST)
                return err_sys(err, "make the link %s", target);
        return 0;
}

int submounts_tree(struct build *b, const char *source, const char *target, struct err *err)
{
        _cleanup_closedir_ DIR *d = opendir(source);
        if (!d)
                return err_sys(err, "read %s", source);
        _cleanup_close_ int made = step_target(b, target, true, err);
        if (made < 0)
                return -1;
        struct dirent *e;
        while ((errno = 0, e = readdir(d))) {
                char from[4096], to[4096];
                if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
                        continue;
                if (snprintf(from, sizeof from, "%s/%s", source, e->d_name) >= (int)sizeof from ||
                    snprintf(to, sizeof to, "%s/%s", target, e->d_name) >= (int)sizeof to)
                        return err_set(err, E_INPUT, "a path below %s is too long", source);
                struct stat st;
                if (lstat(from, &st) < 0)
                        continue;
                int r = 0;
                if (S_ISDIR(st.st_mode))
                        r = show_child_dir(b, from, to, err);
                else if (S_ISLNK(st.st_mode))
                        r = show_child_link(b, from, to, err);
                else if (S_ISREG(st.st_mode))
                        r = show_child_file(b, from, to, err);
                if (r < 0)
                        return -1;
        }
        return errno ? err_sys(err, "read %s", source) : 0;
}
