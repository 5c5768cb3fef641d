/* store_test.c - boxes on disk: what is made is found, what lives is not removed, what was killed
 * is known to be dead, and rubbish in the directory does no harm.
 *
 * suite: check=any test=root,user soak=root,user
 * tier: locks and modes of the state directory differ for root */
#include "base/beneath.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "session/store.h"
#include "unit/check.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char home[] = "/tmp/store-test.XXXXXX";
static struct err err;

static void paths(void)
{
        struct store s;
        setenv("HOME", "/h", 1);
        unsetenv("XDG_STATE_HOME");
        unsetenv("XDG_DATA_HOME");
        setenv("XDG_CONFIG_HOME", "/c", 1);
        CHECK("paths from HOME and XDG", store_paths(&s, &err) == 0 &&
                                                 !strcmp(s.state, "/h/.local/state/ostiary") &&
                                                 !strcmp(s.data, "/h/.local/share/ostiary") &&
                                                 !strcmp(s.config, "/c/ostiary"));
        store_free(&s);
        setenv("XDG_CONFIG_HOME", "relative", 1);
        CHECK("a relative path is refused", store_paths(&s, &err) < 0 && err.code == E_INPUT);
        unsetenv("XDG_CONFIG_HOME");
        setenv("HOME", "also/relative", 1);
        CHECK("a relative home is refused", store_paths(&s, &err) < 0);
        unsetenv("HOME");
        int r = store_paths(&s, &err);
        CHECK("without HOME the passwd file is asked", r < 0 || s.state[0] == '/');
        if (r == 0)
                store_free(&s);
        setenv("HOME", home, 1);
}

static void make_and_find(struct store *s)
{
        char *id = NULL, *found = NULL;
        int dir = -1, lock = -1;
        struct stat st;
        check(store_open(s, &err) == 0, "opened", "%s", err.text);
        CHECK("private", stat(s->state, &st) == 0 && (st.st_mode & 0777) == 0700);
        check(store_new_box(s, NULL, &id, &dir, &lock, &err) == 0, "made a box", "%s", err.text);
        CHECK("its name is a word and four digits",
              store_is_name(id) && strchr(id, '-') && strlen(strchr(id, '-')) == 5);
        CHECK("it is alive while its lock is held", store_box_is_alive(dir));
        CHECK("asking does not take the lock", store_box_is_alive(dir));
        errno = 0;
        CHECK("its lock cannot be had twice", store_box_lock(dir, &err) < 0 && errno == EAGAIN);
        CHECK("a living box is not removed",
              store_remove(s, id, &err) < 0 && err.code == E_REFUSED);
        CHECK("found by its name", store_find(s, id, &found, &err) == 0 && !strcmp(found, id));
        free(found);
        char prefix[32];
        snprintf(prefix, sizeof prefix, "%.*s", (int)strlen(id) - 2, id);
        CHECK("found by a prefix", store_find(s, prefix, &found, &err) == 0 && !strcmp(found, id));
        free(found);
        CHECK("found without a name", store_find(s, NULL, &found, &err) == 0 && !strcmp(found, id));
        free(found);
        char *typo = str_fmt("%sx", id);
        CHECK("a typing mistake gets a suggestion", store_find(s, typo, &found, &err) < 0 &&
                                                            err.code == E_ABSENT &&
                                                            strstr(err.text, id));
        free(typo);
        CHECK("a path is no name", store_box_dir(s, "../../etc", &err) < 0 && err.code == E_ABSENT);

        struct box_meta m = {.name = (char[]){"n"},
                             .command = (char[]){"a\nb"},
                             .tier = (char[]){"ns"},
                             .state = BOX_RUNNING,
                             .supervisor_pid = 42,
                             .created_us = 1000,
                             .was_written = true},
                        got;
        check(store_meta_write(dir, &m, &err) == 0, "facts written", "%s", err.text);
        store_meta_read(dir, id, &got, &err);
        CHECK("facts read", got.state == BOX_RUNNING && got.supervisor_pid == 42 &&
                                    !strcmp(got.command, "a\nb") && got.was_written &&
                                    got.created_us == 1000 && !strcmp(got.workspace, ""));
        box_meta_free(&got);
        close(lock);
        CHECK("without the lock it is dead", !store_box_is_alive(dir));
        store_meta_read(dir, id, &got, &err);
        CHECK("a box that ran and lost its lock is dead",
              got.state == BOX_DEAD && got.supervisor_pid == 0);
        box_meta_free(&got);
        m.state = BOX_EXITED;
        m.exit_code = 3;
        store_meta_write(dir, &m, &err);
        store_meta_read(dir, id, &got, &err);
        CHECK("one that ended has its code", got.state == BOX_EXITED && got.exit_code == 3);
        box_meta_free(&got);
        fdio_write_file(dir, "meta", "state exited\ncreated 5\nended 7\n", 0600, &err);
        store_meta_read(dir, id, &got, &err);
        CHECK("an older box says whole seconds",
              got.created_us == 5000000 && got.ended_us == 7999999);
        box_meta_free(&got);
        close(dir);
        check(store_remove(s, id, &err) == 0, "removed", "%s", err.text);
        CHECK("and gone", store_box_dir(s, id, &err) < 0 && err.code == E_ABSENT);
        free(id);
}

static void names(struct store *s)
{
        char *id = NULL, *again = NULL;
        int dir, lock, d2, l2;
        CHECK("a chosen name is the id",
              store_new_box(s, "night", &id, &dir, &lock, &err) == 0 && !strcmp(id, "night"));
        CHECK("a name in use is refused",
              store_new_box(s, "night", &again, &d2, &l2, &err) < 0 && err.code == E_REFUSED);
        static const char *const bad[] = {
                "",    ".x",   "-x",   "a/b",
                "a b", "../x", "a\nb", "0123456789012345678901234567890123456789x"};
        bool is_refused = true;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
                is_refused &=
                        store_new_box(s, bad[i], &again, &d2, &l2, &err) < 0 && err.code == E_USAGE;
        CHECK("names that cannot be", is_refused);
        close(lock);
        close(dir);
        store_remove(s, id, NULL);
        free(id);
}

/* A supervisor that is killed: the kernel drops its lock, nobody cleans up. */
static void killed(struct store *s)
{
        char *id = NULL;
        int dir, lock;
        store_new_box(s, NULL, &id, &dir, &lock, &err);
        pid_t pid = fork();
        if (pid == 0) {
                pause();
                _exit(0);
        }
        close(lock);
        CHECK("the lock lives in the child", store_box_is_alive(dir));
        kill(pid, SIGKILL);
        waitpid(pid, NULL, 0);
        CHECK("killed with -9, it is dead", !store_box_is_alive(dir));
        CHECK("no changes in it", !store_box_has_changes(dir));
        mkdirat(dir, "layers", 0700);
        mkdirat(dir, "layers/home", 0700);
        mkdirat(dir, "layers/home/upper", 0700);
        mkdirat(dir, "layers/home/upper/x", 0700);
        CHECK("what the home holds is no change", !store_box_has_changes(dir));
        mkdirat(dir, "layers/ws", 0700);
        mkdirat(dir, "layers/ws/upper", 0700);
        mkdirat(dir, "layers/ws/upper/x", 0700);
        CHECK("what the workspace's layer holds is", store_box_has_changes(dir));
        close(dir);
        store_remove(s, id, NULL);
        free(id);
}

static void rubbish(struct store *s)
{
        char *boxes = str_fmt("%s/boxes", s->state);
        int fd = open(boxes, O_RDONLY | O_DIRECTORY);
        struct box_meta *all;
        size_t n;
        mkdirat(fd, "half-made", 0700);
        mkdirat(fd, "with-nul", 0700);
        close(openat(fd, "a-file", O_CREAT | O_WRONLY, 0600));
        CHECK("a link was made", symlinkat("/etc", fd, "a-link") == 0);
        mkdirat(fd, ".hidden", 0700);
        mkdirat(fd, ".gone-x-1", 0700);
        mkdirat(fd, ".gone-x-1/deep", 0700);
        mkdirat(fd, ".new-x-1", 0700);
        mkdirat(fd, ".new-x-2", 0700);
        int maker = openat(fd, ".new-x-2", O_RDONLY | O_DIRECTORY);
        int lock = store_box_lock(maker, &err);
        int meta = openat(fd, "with-nul/meta", O_CREAT | O_WRONLY, 0600);
        CHECK("a torn file was written", write(meta, "state exited\n\0\0\0", 16) == 16);
        close(meta);
        check(store_list(s, &all, &n, &err) == 0 && n == 2,
              "rubbish is listed as far as it is a box", "%zu listed", n);
        CHECK("a directory without a lock is dead", all[0].state == BOX_DEAD);
        store_list_free(all, n);
        CHECK("a link is no box", store_box_dir(s, "a-link", &err) < 0);
        CHECK("half-made can be removed", store_remove(s, "half-made", &err) == 0);
        CHECK("torn can be removed", store_remove(s, "with-nul", &err) == 0);
        CHECK("interrupted removals and beginnings are finished", store_sweep(s, &err) == 2);
        CHECK("one that is being made is left alone", faccessat(fd, ".new-x-2/lock", F_OK, 0) == 0);
        close(maker);
        close(lock);
        CHECK("until its maker is gone", store_sweep(s, &err) == 1);
        close(fd);
        free(boxes);
}

static void places(struct store *s)
{
        char *blocked = str_fmt("%s/file", home);
        struct store other;
        close(open(blocked, O_CREAT | O_WRONLY, 0600));
        setenv("XDG_STATE_HOME", blocked, 1);
        CHECK("a file in the way is one clear fault", store_open(&other, &err) < 0);
        setenv("XDG_STATE_HOME", "/proc", 1);
        CHECK("a place that cannot be written is one clear fault", store_open(&other, &err) < 0);
        unsetenv("XDG_STATE_HOME");
        int proc = open("/proc", O_RDONLY);
        CHECK("an ordinary directory is fit", store_unfit_fs(proc) == NULL);
        check_str("NFS is not", store_unfit_type(NFS_SUPER_MAGIC), "NFS");
        check_str("nor is an overlay", store_unfit_type(OVERLAYFS_SUPER_MAGIC), "overlay");
        check_str("nor is FUSE", store_unfit_type(FUSE_SUPER_MAGIC), "FUSE");
        CHECK("ext4, xfs, btrfs and tmpfs are",
              !store_unfit_type(EXT4_SUPER_MAGIC) && !store_unfit_type(XFS_SUPER_MAGIC) &&
                      !store_unfit_type(BTRFS_SUPER_MAGIC) && !store_unfit_type(TMPFS_MAGIC));
        close(proc);
        chmod(s->state, 0755);
        char *boxes = str_fmt("%s/boxes", s->state);
        struct stat st;
        chmod(boxes, 0777);
        CHECK("opening makes it private again", store_open(&other, &err) == 0 &&
                                                        stat(boxes, &st) == 0 &&
                                                        (st.st_mode & 0777) == 0700);
        store_free(&other);
        free(boxes);
        free(blocked);
}

int main(void)
{
        struct store s;
        if (!mkdtemp(home))
                return 1;
        paths();
        make_and_find(&s);
        names(&s);
        killed(&s);
        rubbish(&s);
        places(&s);
        store_free(&s);
        beneath_remove_tree(AT_FDCWD, home, NULL);
        return check_end();
}
