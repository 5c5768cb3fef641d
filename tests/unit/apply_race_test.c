/* apply_race_test.c - a box that goes on writing while its changes are judged and applied: what was
 * judged by its content lands as it was judged or not at all; links are looked at again (case 72).
 * suite: check=any test=root,user soak=root,user timeout=60
 * tier: an ordinary user may not make every owner, mode and device that root makes */
#include "unit/liblayers.h"

#include "workspace/apply.h"

#include <sys/mman.h>
#include <time.h>

static int box = -1, undo_fd = -1;
static unsigned refused_n;

static void on_refused(void *arg, const struct ws_change *c, const char *why)
{
        (void)arg;
        refused_n++;
        printf("# %s: %s\n", c->path, why);
}

/* apply_all(r, l): everything that was found, whatever its class. */
static uint64_t apply_all(const struct ws_root *r, const struct ws_changes *l)
{
        struct apply_choice *choices = calloc(l->n + 1, sizeof *choices);
        struct apply_hooks hooks = {.on_refused = on_refused};
        struct apply_result result = {0};
        struct err err = {0};
        refused_n = 0;
        for (size_t i = 0; i < l->n; i++)
                choices[i].change = &l->v[i];
        if (apply_run(box, "box", undo_fd, r, choices, l->n, &hooks, &result, &err) < 0)
                printf("# %s\n", err.text);
        free(choices);
        return result.applied_n;
}

static bool holds(const char *path, const char *text)
{
        _cleanup_free_ char *got = fdio_read_file(AT_FDCWD, path, 1 << 16, NULL);
        return got && strcmp(got, text) == 0;
}

static const struct ws_change *find(const struct ws_changes *l, const char *path)
{
        for (size_t i = 0; i < l->n; i++)
                if (strcmp(l->v[i].path, path) == 0)
                        return &l->v[i];
        return NULL;
}

static struct ws_root open_root(void)
{
        struct timespec now;
        struct ws_root r = root_of((const char *const[]){"up", "host", NULL}, 1);
        clock_gettime(CLOCK_REALTIME, &now);
        r.host_fd = r.before.layers[0].fd;
        r.since_ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + 1000000000;
        free(r.host);
        r.host = str_fmt("%s/host", scratch);
        return r;
}

/* A page that is dirty already is written to without a fault, so no time moves. */
static void mapped_config(void)
{
        static const char good[] = "[core]\n\tbare = false\n[user]\n\tname = aaaaaaaaaaaaaaaaaaa\n";
        static const char evil[] = "[core]\n\tbare = false\n\tfsmonitor = touch /tmp/xxxxxxxx;\n\n";
        struct stat before, after;
        put("host/.gitmodules", "[core]\n\tbare = false\n");
        put("up/.gitmodules", good);
        _cleanup_close_ int fd = open("up/.gitmodules", O_RDWR | O_CLOEXEC);
        char *map = mmap(NULL, strlen(good), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (!CHECK("both texts are of one length", strlen(good) == strlen(evil)) ||
            !CHECK("the file is mapped", map != MAP_FAILED))
                return;
        map[0] = '['; /* dirty from here on */

        struct ws_root r = open_root();
        struct ws_query q = {0};
        struct ws_changes l;
        struct ws_tally t = {0};
        fstat(fd, &before);
        bool is_found = ws_changes_of(&r, &q, &l, &t, NULL) == 0;
        const struct ws_change *c = is_found ? find(&l, ".gitmodules") : NULL;
        CHECK("a harmless configuration is plain", c && c->class.class == FILE_PLAIN);
        memcpy(map, evil, strlen(evil));
        fstat(fd, &after);
        CHECK("control: the box changed it and no time shows it",
              before.st_ctim.tv_nsec == after.st_ctim.tv_nsec &&
                      before.st_mtim.tv_nsec == after.st_mtim.tv_nsec &&
                      holds("up/.gitmodules", evil));
        CHECK("what was judged harmless does not land as something else",
              apply_all(&r, &l) == 0 && refused_n == 1 &&
                      holds("host/.gitmodules", "[core]\n\tbare = false\n"));
        ws_changes_free(&l);
        ws_tally_free(&t);

        memcpy(map, good, strlen(good));
        CHECK("control: as it was judged, it lands", ws_changes_of(&r, &q, &l, &t, NULL) == 0 &&
                                                             apply_all(&r, &l) == 1 &&
                                                             holds("host/.gitmodules", good));
        ws_changes_free(&l);
        ws_tally_free(&t);
        munmap(map, strlen(good));
        root_end(&r);
}

/* What was shown, and what was told as another mode alone. */
static void mapped_hook(void)
{
        struct ws_root r;
        struct ws_query q = {0};
        struct ws_changes l;
        struct apply_hooks hooks = {.on_refused = on_refused};
        struct apply_result result;
        char shown[SHA256_HEX_LEN + 1];
        beneath_remove_tree(AT_FDCWD, "up", NULL);
        put("host/tool", "#!/bin/sh\necho good\n");
        put("up/tool", "#!/bin/sh\necho good\n");
        chmod("up/tool", 0755);
        put("up/new", "#!/bin/sh\necho good\n");
        _cleanup_close_ int tool = open("up/tool", O_RDWR | O_CLOEXEC);
        _cleanup_close_ int new = open("up/new", O_RDWR | O_CLOEXEC);
        char *a = mmap(NULL, 20, PROT_READ | PROT_WRITE, MAP_SHARED, tool, 0);
        char *b = mmap(NULL, 20, PROT_READ | PROT_WRITE, MAP_SHARED, new, 0);
        a[0] = b[0] = '#';
        r = open_root();
        bool is_found = ws_changes_of(&r, &q, &l, NULL, NULL) == 0 && l.n == 2;
        CHECK("an addition and another mode",
              is_found && l.v[0].what == WS_ADDED && l.v[1].what == WS_MODE);
        sha256_hex("#!/bin/sh\necho good\n", 20, shown);
        struct apply_choice choices[2] = {{.change = &l.v[0], .shown = shown}, {.change = &l.v[1]}};
        memcpy(a + 15, "evil", 4);
        memcpy(b + 15, "evil", 4);
        refused_n = 0;
        struct stat st;
        CHECK("another content than the one that was shown does not land",
              apply_run(box, "box", undo_fd, &r, choices, 2, &hooks, &result, NULL) == 0 &&
                      result.applied_n == 0 && refused_n == 2 && stat("host/new", &st) < 0 &&
                      holds("host/tool", "#!/bin/sh\necho good\n"));
        memcpy(a + 15, "good", 4);
        memcpy(b + 15, "good", 4);
        CHECK("control: the one that was shown does",
              apply_run(box, "box", undo_fd, &r, choices, 2, &hooks, &result, NULL) == 0 &&
                      result.applied_n == 2 && holds("host/new", "#!/bin/sh\necho good\n"));
        munmap(a, 20);
        munmap(b, 20);
        ws_changes_free(&l);
        root_end(&r);
}

/* The walk saw a link that stays inside; what is there now has the same looks and leads out. */
static void swapped_link(void)
{
        struct ws_root r;
        struct ws_query q = {0};
        struct ws_changes l;
        beneath_remove_tree(AT_FDCWD, "up", NULL);
        dirs("up");
        symlink("inside/x", "up/link");
        symlink("inside/y", "up/other");
        r = open_root();
        bool is_found = ws_changes_of(&r, &q, &l, NULL, NULL) == 0 && l.n == 2;
        unlink("up/link");
        symlink("/etc/pas", "up/link");
        struct ws_node now;
        if (is_found && ws_view_look(&r.after, "link", &now, NULL) == 0)
                for (size_t i = 0; i < l.n; i++)
                        if (strcmp(l.v[i].path, "link") == 0)
                                l.v[i].after = now;
        CHECK("a link that leads out by now does not land, the one beside it does",
              is_found && apply_all(&r, &l) == 1 && refused_n == 1);
        struct stat st;
        CHECK("it is not there", lstat("host/link", &st) < 0 && lstat("host/other", &st) == 0);
        ws_changes_free(&l);
        root_end(&r);
}

int main(void)
{
        struct err err = {0};
        if (!scratch_make()) {
                printf("skip apply_race: the temporary directory cannot hold attributes\n");
                return 0;
        }
        dirs("box");
        dirs("host");
        dirs("up");
        box = dir_fd("box");
        undo_fd = undo_store_open(scratch, &err);
        check(undo_fd >= 0, "a place for undo", "%s", err.text);
        mapped_config();
        mapped_hook();
        swapped_link();
        close(box);
        close(undo_fd);
        scratch_end();
        return check_end();
}
