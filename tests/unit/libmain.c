/* libmain.c - one program, many unit tests: the name it is started by says which.
 *
 * Linked into out/VARIANT/unit/all and unit/door, to which each test's name is a symbolic link. A
 * test runs alone in its process, as if it had been linked by itself. A fuzz target is started as
 * replay/NAME: it is fed every file of tests/fuzz/seeds/NAME, and the empty input; a fault ends the
 * process by abort(), with the input named on the line before. */
#include "unit/libmain.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { INPUT_MAX = 4 << 20 };

static const struct unit_entry *entry_of(const char *path, int is_replay)
{
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
        for (const struct unit_entry *e = unit_table; e->name; e++)
                if (strcmp(e->name, name) == 0 && (!e->run) == is_replay)
                        return e;
        return NULL;
}

/* replay_file(e, path): feed one file. Each input lies in memory of exactly its size, so that the
 * sanitizers see a read beyond it. */
static int replay_file(const struct unit_entry *e, const char *path)
{
        static uint8_t all[INPUT_MAX];
        FILE *f = fopen(path, "re");
        if (!f) {
                printf("not ok %s: %s: %s\n", e->name, path, strerror(errno));
                return -1;
        }
        size_t len = fread(all, 1, sizeof all, f);
        int is_whole = feof(f) && !ferror(f);
        fclose(f);
        uint8_t *data = malloc(len ? len : 1);
        if (!is_whole || !data) {
                printf("not ok %s: %s cannot be read whole\n", e->name, path);
                free(data);
                return -1;
        }
        memcpy(data, all, len);
        printf("# %s\n", path);
        fflush(stdout); /* it may be the last that we say */
        e->replay(data, len);
        free(data);
        return 0;
}

static int replay(const struct unit_entry *e)
{
        char dir[512], path[1024];
        snprintf(dir, sizeof dir, "tests/fuzz/seeds/%s", e->name);
        DIR *d = opendir(dir);
        if (!d) {
                printf("not ok %s: it has no seeds in %s\n", e->name, dir);
                return 1;
        }
        int bad = 0, seeds_n = 0;
        for (struct dirent *one; (one = readdir(d));) {
                if (one->d_name[0] == '.')
                        continue;
                snprintf(path, sizeof path, "%s/%s", dir, one->d_name);
                bad |= replay_file(e, path) < 0;
                seeds_n++;
        }
        closedir(d);
        uint8_t nothing = 0;
        e->replay(&nothing, 0);
        if (!seeds_n)
                printf("not ok %s: there is no file in %s\n", e->name, dir);
        else if (!bad)
                printf("ok %s: %d seeds\n", e->name, seeds_n);
        return bad || !seeds_n;
}

int main(int argc, char **argv)
{
        int is_replay = argc > 0 && strstr(argv[0], "replay/") != NULL;
        const struct unit_entry *e = argc > 0 ? entry_of(argv[0], is_replay) : NULL;
        if (!e) {
                fprintf(stderr, "%s: no unit test has this name\n", argc > 0 ? argv[0] : "unit");
                return 64;
        }
        return is_replay ? replay(e) : e->run(argc, argv);
}
