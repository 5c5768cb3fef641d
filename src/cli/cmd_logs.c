/* cmd_logs.c - `ostiary logs`: what a box's main command wrote, as far as it was kept.
 *
 * The bytes came out of a box: on a terminal they pass the filter for text (case 80), in a pipe
 * they are as they were. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/sink.h"
#include "cli/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { FOLLOW_MS = 200, PIECE = 65536 };

/* copy(fd, k): everything from here to the end as it is now. false when nobody reads on. */
static bool copy(int fd, struct sink *k)
{
        static char bytes[PIECE];
        ssize_t n;
        while ((n = read(fd, bytes, sizeof bytes)) > 0) {
                sink_put(k, bytes, (size_t)n);
                sink_close(k);
                if (k->is_gone)
                        return false;
        }
        return true;
}

/* tail_from(fd, lines): where the last ${lines} lines begin. */
static off_t tail_from(int fd, uint64_t lines)
{
        static char bytes[PIECE];
        off_t end = lseek(fd, 0, SEEK_END), at = end;
        bool is_last = true;
        while (at > 0) {
                size_t n = at < PIECE ? (size_t)at : PIECE;
                if (pread(fd, bytes, n, at - (off_t)n) != (ssize_t)n)
                        return 0;
                for (size_t i = n; i-- > 0;) {
                        bool is_end = bytes[i] == '\n';
                        if (is_end && !is_last && lines-- <= 1)
                                return at - (off_t)n + (off_t)i + 1;
                        is_last = false;
                }
                at -= (off_t)n;
        }
        return 0;
}

static int open_log(int dir, const char *name)
{
        return openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
}

/* is_rotated(dir, fd): has another file taken the name? */
static bool is_rotated(int dir, int fd)
{
        struct stat mine, now;
        return fstat(fd, &mine) == 0 && fstatat(dir, "output", &now, AT_SYMLINK_NOFOLLOW) == 0 &&
               mine.st_ino != now.st_ino;
}

static void follow(int dir, int *fd, struct sink *k)
{
        for (;;) {
                bool is_alive = store_box_is_alive(dir);
                bool is_moved = is_rotated(dir, *fd);
                if (!copy(*fd, k))
                        return;
                if (is_moved) {
                        close_fd(fd);
                        *fd = open_log(dir, "output");
                        if (*fd < 0)
                                return;
                        continue;
                }
                if (!is_alive)
                        return;
                poll(NULL, 0, FOLLOW_MS);
        }
}

static int show(int dir, uint64_t lines, bool is_following, const struct filter_policy *policy)
{
        static struct sink k;
        _cleanup_close_ int older = lines ? -1 : open_log(dir, "output.1");
        _cleanup_close_ int fd = open_log(dir, "output");
        int why = fd < 0 ? errno : 0; /* before another call sets it */
        sink_open(&k, STDOUT_FILENO, policy);
        signal(SIGPIPE, SIG_IGN);
        if (fd < 0 && why != ENOENT) {
                out_say("cannot open the box's log: %s", strerror(why));
                return EXIT_OURS;
        }
        if (older >= 0 && !copy(older, &k))
                return EXIT_OK;
        if (fd < 0)
                return EXIT_OK; /* it wrote nothing */
        lseek(fd, lines ? tail_from(fd, lines) : 0, SEEK_SET);
        if (is_following)
                follow(dir, &fd, &k);
        else
                copy(fd, &k);
        term_restore();
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        bool is_following = false, is_raw = false;
        uint64_t lines = 0;
        const struct arg flags[] = {
                ARG_BOOL('f', "follow", &is_following, "go on until the box ends"),
                ARG_U64(0, "tail", &lines, "N", "only the last N lines"),
                ARG_BOOL(0, "raw", &is_raw, "every byte as it was written, also to a terminal"),
                ARG_END,
        };
        struct args a = args_of(&cmd_logs, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        struct err err = {0};
        _cleanup_boxarg_ struct boxarg b;
        if (boxarg_find(&b, words.n ? words.v[0] : NULL, &err) < 0)
                return out_error(&err);
        _cleanup_close_ int dir = store_box_dir(&b.store, b.id, &err);
        if (dir < 0)
                return out_error(&err);
        struct filter_policy policy = filter_text();
        policy.is_raw = is_raw;
        return show(dir, lines, is_following, &policy);
}

const struct cmd cmd_logs = {
        .name = "logs",
        .group = CMD_BOX,
        .args = "[BOX] [-f] [--tail N] [--raw]",
        .summary = "what a box's command wrote",
        .help = "Prints the last megabytes that the main command of BOX wrote (the newest box if "
                "none is "
                "named). On a terminal only text and colours are shown; --raw shows everything, "
                "which "
                "may do things to the terminal.\n"
                "\n"
                "Example:\n"
                "  ostiary logs -f night\n",
        .run = run,
};
