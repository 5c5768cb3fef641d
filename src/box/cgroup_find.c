/* cgroup_find.c - where this process stands in each cgroup hierarchy.
 *
 * Called by cgroup.c, cgroup_v2.c and cgroup_sweep.c. Layouts are mixed in the wild (memory on v1
 * beside a v2 mount that offers nothing), so every controller is looked up for itself: its
 * hierarchy from /proc/self/cgroup, the mount that shows it from mountinfo. Reads only. */
#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "box/cgroup_int.h"

#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define USUAL "/sys/fs/cgroup"

const char *const cgroup_ctl_name[BOX_CTL_N] = {"memory", "pids", "cpu"};

/* Is ${word} one of the comma-separated words of ${list}? */
static bool list_has(const char *list, const char *word)
{
        size_t len = strlen(word);

        for (const char *p = list; p; p = strchr(p, ',')) {
                p += *p == ',';
                if (strncmp(p, word, len) == 0 && (p[len] == ',' || p[len] == '\0'))
                        return true;
        }
        return false;
}

/* Put mount point and our path below it together. ${root} is the part of the hierarchy that the
 * mount shows; a path outside of it (inside a container) cannot be named, so the mount is useless.
 */
static int place_set(char out[BOX_CGROUP_PATH_MAX], size_t *top, const char *point,
                     const char *root, const char *own)
{
        size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);

        if (!own || own[0] != '/' || strstr(own, "/..") || strchr(point, '\\'))
                return -1;
        if (strncmp(own, root, root_len) != 0 || (own[root_len] != '/' && own[root_len] != '\0'))
                return -1;
        own += root_len;
        if (strcmp(own, "/") == 0)
                own = "";
        if (strlen(point) + strlen(own) >= BOX_CGROUP_PATH_MAX)
                return -1;
        *top = strlen(point);
        memcpy(out, point, *top);
        memcpy(out + *top, own, strlen(own) + 1);
        return 0;
}

/* Our path in each hierarchy, as pointers into the text of /proc/self/cgroup. */
struct own {
        const char *v1[BOX_CTL_N];
        const char *v2;
};

/* "4:memory:/a/b" and "0::/c" lines. */
static void own_read(struct cgroup_map *map, struct own *own, char *text)
{
        char *rest = NULL;

        memset(map, 0, sizeof(*map));
        memset(own, 0, sizeof(*own));
        for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
                char *list = strchr(line, ':');
                char *path = list ? strchr(list + 1, ':') : NULL;
                if (!path)
                        continue;
                *list++ = '\0';
                *path++ = '\0';
                if (strcmp(line, "0") == 0 && *list == '\0')
                        own->v2 = path;
                for (int c = 0; c < BOX_CTL_N; c++) {
                        if (!list_has(list, cgroup_ctl_name[c]))
                                continue;
                        own->v1[c] = path;
                        map->on_v1 |= CGROUP_BIT(c);
                }
        }
}

/* One mountinfo line: id parent dev ROOT POINT options [optional...] - TYPE source SUPER_OPTIONS */
static void mount_line(struct cgroup_map *map, const struct own *own, char *line)
{
        char *tail = strstr(line, " - cgroup");
        char *rest = NULL, *word[5], *type, *super;

        if (!tail)
                return;
        *tail = '\0';
        word[0] = strtok_r(line, " ", &rest);
        for (int i = 1; i < 5; i++)
                word[i] = word[i - 1] ? strtok_r(NULL, " ", &rest) : NULL;
        type = strtok_r(tail + 3, " ", &rest);
        super = strtok_r(NULL, " ", &rest) ? strtok_r(NULL, " ", &rest) : NULL;
        if (!word[4] || !type || !super)
                return;
        if (strcmp(type, "cgroup2") == 0 && !map->v2[0]) {
                place_set(map->v2, &map->v2_top, word[4], word[3], own->v2);
                return;
        }
        for (int c = 0; c < BOX_CTL_N; c++)
                if (strcmp(type, "cgroup") == 0 && !map->v1[c][0] &&
                    list_has(super, cgroup_ctl_name[c]))
                        place_set(map->v1[c], &map->v1_top[c], word[4], word[3], own->v1[c]);
}

static void mounts_read(struct cgroup_map *map, const struct own *own, char *mounts)
{
        char *rest = NULL;

        for (char *line = strtok_r(mounts, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
                mount_line(map, own, line);
}

void cgroup_find_text(struct cgroup_map *map, char *own_text, char *mounts)
{
        struct own own;

        own_read(map, &own, own_text);
        mounts_read(map, &own, mounts);
}

/* The layout of nearly every machine today, known without reading all mounts: the whole of v2 (its
 * root is inode 1) at the usual place, seen from the first cgroup namespace, whose inode is fixed.
 */
static bool is_usual_v2(void)
{
        struct statfs fs;
        struct stat root, ns;

        return statfs(USUAL, &fs) == 0 && fs.f_type == CGROUP2_SUPER_MAGIC &&
               stat(USUAL, &root) == 0 && root.st_ino == 1 &&
               stat("/proc/self/ns/cgroup", &ns) == 0 && ns.st_ino == 0xEFFFFFFBu;
}

void cgroup_find(struct cgroup_map *map)
{
        _cleanup_free_ char *text = fdio_read_file(AT_FDCWD, "/proc/self/cgroup", 65536, NULL);
        _cleanup_free_ char *mounts = NULL;
        struct own own;

        memset(map, 0, sizeof(*map));
        if (!text)
                return;
        own_read(map, &own, text);
        if ((map->on_v1 & CGROUP_CORE) && geteuid() != 0)
                return; /* v1 is root's, so where it lies is of no use to us */
        if (!map->on_v1 && is_usual_v2()) {
                place_set(map->v2, &map->v2_top, USUAL, "/", own.v2);
                return;
        }
        mounts = fdio_read_file(AT_FDCWD, "/proc/self/mountinfo", 4u << 20, NULL);
        if (mounts)
                mounts_read(map, &own, mounts);
}

unsigned cgroup_asked(const struct box_limits *limits)
{
        return (limits->memory ? CGROUP_BIT(BOX_CTL_MEMORY) : 0) |
               (limits->pids ? CGROUP_BIT(BOX_CTL_PIDS) : 0) |
               (limits->cpu_milli ? CGROUP_BIT(BOX_CTL_CPU) : 0);
}

const char *cgroup_names(unsigned bits, char buf[32])
{
        unsigned left = bits & CGROUP_ALL;
        size_t len = 0;

        buf[0] = '\0';
        for (int c = 0; c < BOX_CTL_N; c++) {
                if (!(left & CGROUP_BIT(c)))
                        continue;
                left &= ~CGROUP_BIT(c);
                len += (size_t)snprintf(buf + len, 32 - len, "%s%s",
                                        len == 0 ? ""
                                        : left   ? ", "
                                                 : " and ",
                                        cgroup_ctl_name[c]);
        }
        return buf;
}
