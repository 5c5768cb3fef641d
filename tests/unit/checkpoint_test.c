/* checkpoint_test.c - a directory as it was before a run: everything is kept once, what nobody
 * touched is not read again, the record says what changed and nothing else, and what is left out is
 * told. */
#include "base/err.h"
#include "unit/check.h"
#include "workspace/checkpoint.h"
#include "workspace/undo.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char top[] = "/tmp/ostiary-checkpoint.XXXXXX";
static char root[64], state[64];
static uint64_t read_bytes;

static char *at(const char *path)
{
        static char full[512];
        snprintf(full, sizeof full, "%s/%s", root, path);
        return full;
}

static void put(const char *path, const char *text)
{
        FILE *f = fopen(at(path), "we");
        if (!f)
                abort();
        fputs(text, f);
        fclose(f);
}

static void on_progress(void *arg, uint64_t files_n, uint64_t bytes)
{
        (void)arg;
        (void)files_n;
        read_bytes = bytes;
}

static struct checkpoint *take(struct strs *left)
{
        struct err err = {0};
        struct checkpoint_ask ask = {.state = state,
                                     .box = "b",
                                     .layer = "ws",
                                     .root = root,
                                     .on_progress = on_progress};
        read_bytes = 0;
        struct checkpoint *c = checkpoint_take(&ask, left, &err);
        check(c != NULL, "taken", "%s", err.text);
        if (!c)
                exit(1);
        return c;
}

static uint64_t close_it(struct checkpoint *c)
{
        struct err err = {0};
        uint64_t n = 0;
        check(checkpoint_close(c, &n, &err) == 0, "closed", "%s", err.text);
        checkpoint_free(c);
        return n;
}

static const struct undo_entry *entry(const struct undo_record *r, const char *path)
{
        for (size_t i = 0; i < r->entries_n; i++)
                if (strcmp(r->v[i].path, path) == 0 && !r->v[i].is_skipped)
                        return &r->v[i];
        return NULL;
}

static void check_record(uint64_t number)
{
        struct err err = {0};
        int fd = undo_store_open(state, &err);
        _cleanup_record_ struct undo_record r = {0};
        check(undo_read(fd, number, &r, &err) == 0, "the record is there", "%s", err.text);
        CHECK("it is a live run's", strcmp(r.what, "live") == 0 && r.is_done);
        const struct undo_entry *e = entry(&r, "a");
        CHECK("changed", e && e->before.kind == 'f' && e->before.size == 3 && e->after.size == 5);
        e = entry(&r, "d/new");
        CHECK("added", e && e->before.kind == '-' && e->after.kind == 'f');
        e = entry(&r, "d/gone");
        CHECK("deleted", e && e->before.kind == 'f' && e->after.kind == '-');
        e = entry(&r, "mode");
        CHECK("mode", e && e->before.mode == 0644 && e->after.mode == 0755);
        e = entry(&r, "l");
        CHECK("link", e && e->before.kind == 'l' && strcmp(e->before.target, "a") == 0 &&
                              strcmp(e->after.target, "b") == 0);
        CHECK("touched and equal", !entry(&r, "same"));
        CHECK("not touched", !entry(&r, "b") && !entry(&r, "d"));

        struct undo_opts o = {0};
        struct undo_result result = {0};
        check(undo_run(fd, number, &o, &result, &err) == 0, "undone", "%s", err.text);
        struct stat st;
        char target[16] = "";
        CHECK("the tree is back",
              access(at("d/new"), F_OK) < 0 && access(at("d/gone"), F_OK) == 0 &&
                      stat(at("mode"), &st) == 0 && (st.st_mode & 0777) == 0644 &&
                      readlink(at("l"), target, sizeof target - 1) == 1 && target[0] == 'a');
        close(fd);
}

int main(void)
{
        struct strs left = {0};
        umask(022);
        if (!mkdtemp(top))
                return 1;
        snprintf(root, sizeof root, "%s/w", top);
        snprintf(state, sizeof state, "%s/s", top);
        mkdir(root, 0755);
        mkdir(state, 0700);
        mkdir(at("d"), 0755);
        mkdir(at("empty"), 0700);
        put("a", "one");
        put("b", "two");
        put("same", "same");
        put("mode", "mode");
        put("d/gone", "gone");
        if (symlink("a", at("l")) < 0 || mkfifo(at("pipe"), 0600) < 0)
                return 1;

        struct checkpoint *c = take(&left);
        CHECK("everything is covered", left.n == 0);
        CHECK("and was read", read_bytes > 0);
        CHECK("nothing changed", close_it(c) == 0);

        c = take(&left);
        CHECK("what nobody touched is not read again", read_bytes == 0);
        uint64_t number = checkpoint_number(c);
        put("a", "three");
        put("same", "same");
        put("d/new", "new");
        unlink(at("d/gone"));
        chmod(at("mode"), 0755);
        unlink(at("l"));
        if (symlink("b", at("l")) < 0)
                return 1;
        uint64_t changed = close_it(c);
        check(changed == 5, "changes are counted", "%llu", (unsigned long long)changed);
        check_record(number);

        mkdir(at("node_modules"), 0755);
        put("node_modules/x", "x");
        c = take(&left);
        CHECK("small output is covered", left.n == 0);
        checkpoint_free(c);
        int fd = open(at("node_modules/big"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        CHECK("a large file", fd >= 0 && ftruncate(fd, (off_t)40 << 20) == 0);
        close(fd);
        fd = open(at("huge"), O_CREAT | O_WRONLY | O_CLOEXEC, 0644);
        CHECK("a huge file", fd >= 0 && ftruncate(fd, (off_t)(CHECKPOINT_FILE_MIB + 1) << 20) == 0);
        close(fd);
        c = take(&left);
        CHECK("large output and huge files are left out, and told",
              left.n == 2 && (strstr(left.v[0], "node_modules\t") || strstr(left.v[0], "huge\t")));
        put("node_modules/x", "changed");
        put("huge", "small now");
        CHECK("and stay so at the end", close_it(c) == 0);
        strs_free(&left);

        struct err err = {0};
        struct checkpoint_ask ask = {.state = state, .root = "/nonexistent/x"};
        CHECK("no such directory", !checkpoint_take(&ask, NULL, &err) && err.text[0]);
        char cmd[128];
        snprintf(cmd, sizeof cmd, "rm -rf %s", top);
        return system(cmd) == 0 ? check_end() : 1;
}
