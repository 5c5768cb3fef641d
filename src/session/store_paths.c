/* store_paths.c - where our state lies, and whether the filesystem there can carry a box.
 *
 * Called at the start of every command, so the usual case is a handful of system calls. Makes only
 * directories of ours, 0700, and refuses places that would fail later in a less clear way. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>

/* Field six of our line in /etc/passwd. By hand: getpwuid would load name services, which a static
 * program cannot and a fast one does not want. */
char *store_passwd_home(uid_t uid)
{
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, "/etc/passwd", 4 << 20, NULL);
        for (char *line = text; line && *line;) {
                char *next = strchr(line, '\n');
                if (next)
                        *next++ = 0;
                char *field[7] = {0};
                size_t n = 0;
                for (char *f; n < 7 && (f = strsep(&line, ":"));)
                        field[n++] = f;
                uint64_t id;
                if (n >= 6 && str_u64(field[2], &id) == 0 && id == uid && field[5][0] == '/')
                        return str_dup(field[5]);
                line = next;
        }
        return NULL;
}

static int one_path(const char *variable, const char *home, const char *below, char **out,
                    struct err *err)
{
        const char *base = getenv(variable);
        if (base && *base) {
                if (base[0] != '/')
                        return err_set(err, E_INPUT, "%s is \"%s\", which is not an absolute path",
                                       variable, base);
                *out = str_fmt("%s/ostiary", base);
                return 0;
        }
        if (!home)
                return err_set(err, E_INPUT,
                               "HOME is not set and /etc/passwd names no home directory for uid %u"
                               " (set HOME or %s)",
                               (unsigned)geteuid(), variable);
        *out = str_fmt("%s/%s/ostiary", home, below);
        return 0;
}

int store_paths(struct store *s, struct err *err)
{
        *s = (struct store){0};
        _cleanup_free_ char *looked_up = NULL;
        const char *home = getenv("HOME");
        if (home && *home && home[0] != '/')
                return err_set(err, E_INPUT, "HOME is \"%s\", which is not an absolute path", home);
        if (!home || !*home)
                home = looked_up = store_passwd_home(geteuid());

        if (one_path("XDG_STATE_HOME", home, ".local/state", &s->state, err) < 0 ||
            one_path("XDG_DATA_HOME", home, ".local/share", &s->data, err) < 0 ||
            one_path("XDG_CONFIG_HOME", home, ".config", &s->config, err) < 0) {
                store_free(s);
                return -1;
        }
        return 0;
}

void store_free(struct store *s)
{
        free(s->state);
        free(s->data);
        free(s->config);
        *s = (struct store){0};
}

/* Filesystems whose directories the kernel refuses as an overlay's upper, or that lose the
 * attributes a copy-on-write layer needs. */
static const struct {
        uint32_t magic;
        const char *name;
} unfit[] = {
        {0x6969, "NFS"},          {0x01021997, "9p"},     {0xff534d42, "CIFS"},
        {0xfe534d42, "SMB"},      {0x517b, "SMB"},        {0x00c36400, "Ceph"},
        {0x5346414f, "AFS"},      {0x65735546, "FUSE"},   {0x794c7630, "overlay"},
        {0xf15f, "eCryptfs"},     {0x4d44, "FAT"},        {0x2011bab0, "exFAT"},
        {0x7366746e, "NTFS"},     {0x5346544e, "NTFS"},   {0x858458f6, "ramfs"},
        {0x73717368, "squashfs"}, {0x786f4256, "vboxsf"}, {0x47504653, "GPFS"},
        {0x0bd00bd0, "Lustre"},   {0x19830326, "BeeGFS"}, {0x4244, "HFS"},
        {0x482b, "HFS+"},         {0x9660, "ISO 9660"},
};

const char *store_unfit_type(uint32_t magic)
{
        for (size_t i = 0; i < sizeof unfit / sizeof *unfit; i++)
                if (magic == unfit[i].magic)
                        return unfit[i].name;
        return NULL;
}

const char *store_unfit_fs(int fd)
{
        struct statfs fs;
        return fstatfs(fd, &fs) < 0 ? NULL : store_unfit_type((uint32_t)fs.f_type);
}

/* make_dirs(path): every missing directory of an absolute path, 0700. Components that exist are
 * followed, symlinks too: they are the user's own arrangement. */
static int make_dirs(const char *path, struct err *err)
{
        if (mkdir(path, 0700) == 0 || errno == EEXIST)
                return 0;
        if (errno != ENOENT)
                return err_sys(err, "make the directory %s", path);
        _cleanup_free_ char *part = str_dup(path);
        for (char *p = part + 1; *p; p++) {
                if (*p != '/')
                        continue;
                *p = 0;
                if (mkdir(part, 0700) < 0 && errno != EEXIST) {
                        int why = errno;
                        struct stat st;
                        /* "/home" may be read-only to us and there all the same. */
                        if (stat(part, &st) < 0) {
                                errno = why;
                                return err_sys(err, "make the directory %s", part);
                        }
                }
                *p = '/';
        }
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
                return err_sys(err, "make the directory %s", path);
        return 0;
}

static int check_state(const struct store *s, int fd, struct err *err)
{
        struct stat st;
        if (fstat(fd, &st) < 0)
                return err_sys(err, "look at %s/boxes", s->state);
        if (st.st_uid != geteuid())
                return err_set(err, E_INPUT,
                               "the state directory %s belongs to uid %u and not to you (set HOME "
                               "or XDG_STATE_HOME to a place of your own)",
                               s->state, (unsigned)st.st_uid);
        if ((st.st_mode & 077) && fchmod(fd, 0700) < 0)
                return err_sys(err, "make %s/boxes private", s->state);
        const char *fs = store_unfit_fs(fd);
        if (fs)
                return err_set(err, E_MACHINE,
                               "the state directory %s is on %s, which cannot hold a "
                               "copy-on-write layer (set XDG_STATE_HOME to a directory on ext4, "
                               "xfs, btrfs or tmpfs)",
                               s->state, fs);
        return 0;
}

int store_open(struct store *s, struct err *err)
{
        if (store_paths(s, err) < 0)
                return -1;
        _cleanup_free_ char *boxes = str_fmt("%s/boxes", s->state);
        _cleanup_close_ int fd = open(boxes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno == ENOENT) {
                if (make_dirs(boxes, err) < 0) {
                        err_hint(err, "XDG_STATE_HOME can name another place");
                        goto bad;
                }
                fd = open(boxes, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        }
        if (fd < 0) {
                err_sys(err, "open the state directory %s", boxes);
                err_hint(err, "XDG_STATE_HOME can name another place");
                goto bad;
        }
        if (check_state(s, fd, err) < 0 || make_dirs(s->data, err) < 0)
                goto bad;
        return 0;
bad:
        store_free(s);
        return -1;
}
