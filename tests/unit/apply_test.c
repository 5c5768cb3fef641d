/* apply_test.c - changes made by hand, landed: over what the host has not touched, never over what
 * it has, in every order of kinds; and the host moving in the last moment. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "unit/check.h"
#include "workspace/apply.h"
#include "workspace/undo_int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char top[] = "/tmp/apply_test.XXXXXX";
static int host_fd, upper_fd, box_fd, undo_fd;
static struct ws_root root;

static void put(int dir_fd, const char *path, const char *text)
{
        struct err err = {0};
        if (fdio_write_file(dir_fd, path, text, 0644, &err) < 0)
                check(false, path, "%s", err.text);
}

static const char *get(const char *path)
{
        static char text[256];
        int fd = openat(host_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
        ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof text - 1);
        if (fd >= 0)
                close(fd);
        if (n < 0)
                return NULL;
        text[n] = 0;
        return text;
}

static int open_dir(const char *name)
{
        char path[64];
        snprintf(path, sizeof path, "%s/%s", top, name);
        mkdir(path, 0700);
        return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void fresh(void)
{
        static int n;
        char host[32], upper[32];
        snprintf(host, sizeof host, "host%d", ++n);
        snprintf(upper, sizeof upper, "upper%d", n);
        ws_view_free(&root.before);
        ws_view_free(&root.after);
        host_fd = open_dir(host);
        upper_fd = open_dir(upper);
        static char path[64];
        snprintf(path, sizeof path, "%s/%s", top, host);
        root = (struct ws_root){.name = "ws", .host = path, .host_fd = host_fd, .top_n = 1};
        ws_view_add(&root.before, host_fd, false);
        ws_view_add(&root.after, upper_fd, true);
        ws_view_add(&root.after, host_fd, false);
}

/* start(): what is on the host now was there before the box. */
static void start(void)
{
        struct timespec t, pause = {.tv_nsec = 30000000};
        nanosleep(&pause, NULL);
        clock_gettime(CLOCK_REALTIME, &t);
        root.since_ns = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct ws_change change(const char *path, enum ws_what what)
{
        struct ws_change c = {.root = &root, .path = (char *)path, .what = what};
        ws_view_look(&root.before, path, &c.before, NULL);
        ws_view_look(&root.after, path, &c.after, NULL);
        return c;
}

static enum apply_conflict seen;
static const char *refused;

static void on_conflict(void *arg, const struct ws_change *c, enum apply_conflict k)
{
        (void)arg, (void)c;
        seen = k;
}

static void on_refused(void *arg, const struct ws_change *c, const char *why)
{
        (void)arg, (void)c;
        refused = why;
}

static int run(struct ws_change *c, size_t n, struct apply_result *r, struct err *err)
{
        struct apply_choice v[8] = {0};
        struct apply_hooks hooks = {.on_conflict = on_conflict, .on_refused = on_refused};
        for (size_t i = 0; i < n; i++)
                v[i].change = &c[i];
        seen = APPLY_CLEAR;
        refused = NULL;
        return apply_run(box_fd, "amber", undo_fd, &root, v, n, &hooks, r, err);
}

static void plain(void)
{
        struct err err = {0};
        struct apply_result r;
        fresh();
        put(host_fd, "a", "one");
        start();
        put(upper_fd, "a", "two");
        mkdirat(upper_fd, "n", 0755);
        mkdirat(upper_fd, "n/m", 0750);
        put(upper_fd, "n/m/f", "deep");
        struct ws_change c[] = {change("a", WS_MODIFIED), change("n/m/f", WS_ADDED)};
        CHECK("apply", run(c, 2, &r, &err) == 0 && r.applied_n == 2 && r.record_n);
        check_str("content", get("a"), "two");
        check_str("parents are made", get("n/m/f"), "deep");
        struct stat st;
        CHECK("with the box's modes",
              fstatat(host_fd, "n/m", &st, 0) == 0 && (st.st_mode & 0777) == 0750);
        struct applied *a;
        CHECK("it is remembered", applied_read(box_fd, &a, &err) == 0 &&
                                          applied_has(a, "ws", "a", &c[0].after) &&
                                          !applied_has(a, "ws", "b", &c[0].after));
        applied_free(a);
        struct undo_result u;
        CHECK("undo", undo_run(undo_fd, r.record_n, &(struct undo_opts){0}, &u, &err) == 0);
        check_str("undo: content", get("a"), "one");
        CHECK("undo: the parents are gone", fstatat(host_fd, "n", &st, 0) < 0);
}

static void conflicts(void)
{
        struct err err = {0};
        struct apply_result r;
        fresh();
        put(host_fd, "a", "one");
        put(host_fd, "b", "one");
        start();
        put(upper_fd, "a", "two");
        put(upper_fd, "b", "two");
        put(upper_fd, "c", "two");
        struct ws_change c[] = {change("a", WS_MODIFIED), change("b", WS_MODIFIED),
                                change("c", WS_ADDED)};
        put(host_fd, "a", "mine");
        put(host_fd, "b", "two");
        put(host_fd, "c", "mine");
        CHECK("changed: told", run(&c[0], 1, &r, &err) == 0 && r.conflicts_n == 1 &&
                                       seen == APPLY_HOST_CHANGED && r.record_n == 0);
        check_str("changed: left", get("a"), "mine");
        CHECK("equal: no conflict", run(&c[1], 1, &r, &err) == 0 && r.conflicts_n == 0);
        CHECK("new: told", run(&c[2], 1, &r, &err) == 0 && seen == APPLY_HOST_NEW);
        check_str("new: left", get("c"), "mine");
        unlinkat(host_fd, "a", 0);
        CHECK("gone: told", run(&c[0], 1, &r, &err) == 0 && seen == APPLY_HOST_GONE);
        mkdirat(host_fd, "a", 0700);
        CHECK("a directory: told", run(&c[0], 1, &r, &err) == 0 && seen != APPLY_CLEAR);
        unlinkat(host_fd, "a", AT_REMOVEDIR);
        CHECK("symlink", symlinkat("/etc/passwd", host_fd, "a") == 0);
        CHECK("case 71: a link in its place is left",
              run(&c[0], 1, &r, &err) == 0 && seen != APPLY_CLEAR);
}

static void hostile(void)
{
        struct err err = {0};
        struct apply_result r;
        fresh();
        put(host_fd, "a", "one");
        start();
        put(upper_fd, "a", "two");
        struct ws_change c = change("a", WS_MODIFIED);
        put(upper_fd, "a", "evil");
        CHECK("what the box changed after it was shown is left",
              run(&c, 1, &r, &err) == 0 && r.refused_n == 1 && refused);
        check_str("and the host is as it was", get("a"), "one");
        put(upper_fd, "a", "two");
        c = change("a", WS_MODIFIED);
        c.is_masked = true;
        CHECK("a stand-in is never applied", run(&c, 1, &r, &err) == 0 && r.refused_n == 1);
        c.is_masked = false;
        static const char *const paths[] = {"../x", "/etc/x", "a/../b", ""};
        for (size_t i = 0; i < 4; i++) {
                struct ws_change bad = c;
                bad.path = (char *)paths[i];
                CHECK("a path that leads outside is refused",
                      run(&bad, 1, &r, &err) == 0 && r.applied_n == 0 && r.refused_n == 1);
        }
        CHECK("the control", run(&c, 1, &r, &err) == 0 && r.applied_n == 1);
        check_str("the control: content", get("a"), "two");
        root.gone = "was deleted";
        CHECK("a root that is gone", run(&c, 1, &r, &err) < 0 && strstr(err.text, "was deleted"));
}

/* A file without a name is given one only over what was judged. */
/* put_deep(dir_fd, path): a file, with the directories above it. */
static void put_deep(int dir_fd, const char *path)
{
        char part[128];
        for (const char *p = strchr(path, '/'); p; p = strchr(p + 1, '/')) {
                snprintf(part, sizeof part, "%.*s", (int)(p - path), path);
                mkdirat(dir_fd, part, 0755);
        }
        put(dir_fd, path, "box");
}

/* lands(path): would the box's file land, whatever the walk says of it? */
static bool lands(const char *path)
{
        struct err err = {0};
        struct apply_result r;
        put_deep(upper_fd, path);
        struct ws_change c = change(path, WS_ADDED);
        bool is_done = run(&c, 1, &r, &err) == 0 && r.applied_n == 1;
        return is_done || r.refused_n != 1;
}

/* Nothing of a git directory lands, whoever chooses it (cases 60 to 62, 75). */
static void git_ground(void)
{
        static const char *const never[] = {"p/.git",     ".git/config",  "d/.git/hooks/post-merge",
                                            "d/.GIT/x",   "git~1/config", ".g\u200cit/config",
                                            "x\\.git\\y", "d/.git./x"};
        struct err err = {0};
        struct apply_result r;
        fresh();
        put_deep(host_fd, "bare/HEAD");
        put_deep(host_fd, "bare/objects/x");
        put_deep(host_fd, "bare/refs/x");
        put_deep(host_fd, "data/own");
        start();
        for (size_t i = 0; i < sizeof never / sizeof never[0]; i++)
                CHECK(never[i], !lands(never[i]) && !get(never[i]));
        CHECK("what belongs to a bare repository of the host's", !lands("bare/hooks/post-update"));
        CHECK("at any depth", !lands("bare/objects/pack/deeper/still"));
        CHECK("control: beside it", lands("bare.txt") && lands("bar/e") && lands("dot.git"));
        struct ws_change gone = change("bare", WS_DELETED);
        gone.after = (struct ws_node){0};
        CHECK("nor does it go", run(&gone, 1, &r, &err) == 0 && r.refused_n == 1 && refused);

        /* Over several applies, and as parents of something that lands. */
        CHECK("a part alone", lands("data/HEAD") && lands("data/refs/heads/note"));
        CHECK("the one that completes it is refused", !lands("data/objects/pack/x"));
        CHECK("in any spelling", !lands("data/Objects/pack/x"));
        CHECK("and by commondir", !lands("data/commondir"));
        CHECK("control: the rest of it lands", lands("data/more") && lands("data/objects.txt"));
        put_deep(upper_fd, "new/HEAD");
        put_deep(upper_fd, "new/objects/x");
        put_deep(upper_fd, "new/refs/x");
        put_deep(upper_fd, "new/text");
        struct ws_change c[] = {change("new/HEAD", WS_ADDED), change("new/objects/x", WS_ADDED),
                                change("new/refs/x", WS_ADDED), change("new/text", WS_ADDED)};
        CHECK("all at once: only what makes none of it one",
              run(c, 4, &r, &err) == 0 && r.refused_n == 3 && r.applied_n == 1 && get("new/text"));

        root.name = "git0";
        CHECK("a root that is a git directory", !lands("packed-refs"));
}

static void last_moment(void)
{
        struct err err = {0};
        fresh();
        put(host_fd, "a", "one");
        struct undo_op op = {.path = (char *)"a", .after = {.kind = 'f', .mode = 0644}};
        CHECK("judged", undo_state_of(host_fd, "a", -1, &op.before, &op.ident, &err) == 0);
        put(host_fd, "a", "swapped");
        bool is_named;
        int fd = undo_place_open(&op, host_fd, ".t", &is_named, &err);
        CHECK("case 72: another file in its place is left",
              fd >= 0 && undo_place_file(&op, host_fd, "a", ".t", fd, is_named, &err) == 0 &&
                      op.landing == UNDO_LEFT);
        close(fd);
        check_str("case 72: with its content", get("a"), "swapped");
        op.landing = UNDO_WAITS;
        CHECK("case 72: nor is it removed",
              undo_place_remove(&op, host_fd, "a", ".t", &err) == 0 && op.landing == UNDO_LEFT);
        CHECK("the control", undo_state_of(host_fd, "a", -1, &op.before, &op.ident, &err) == 0);
        op.landing = UNDO_WAITS;
        CHECK("the control: removed", undo_place_remove(&op, host_fd, "a", ".t", &err) == 0 &&
                                              op.landing == UNDO_LANDED && !get("a"));
}

int main(void)
{
        struct err err = {0};
        if (!mkdtemp(top))
                return 1;
        box_fd = open_dir("box");
        undo_fd = undo_store_open(top, &err);
        plain();
        conflicts();
        hostile();
        git_ground();
        last_moment();
        ws_view_free(&root.before);
        ws_view_free(&root.after);
        char cmd[80];
        snprintf(cmd, sizeof cmd, "rm -rf %s", top);
        return system(cmd) ? 1 : check_end();
}
