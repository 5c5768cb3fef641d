/* cmd_cp.c - `ostiary cp`: files out of a box, or into one.
 *
 * The box's half runs inside the box with the box's rights, at the other end of a socket pair; this
 * half has the user's rights and believes nothing it is told (wire/tree.h). Writes nowhere but to
 * the place the user named. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/boxarg.h"
#include "cli/cmd.h"
#include "cli/cp_judge.h"
#include "cli/cp_open.h"
#include "cli/cp_talk.h"
#include "cli/out.h"
#include "session/secret_mask.h"
#include "wire/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>

/* One copy, from the words of the user to the count at the end. */
struct copy {
        char *box;  /* its name */
        char *path; /* in the box */
        const char *host;
        bool is_out;
        bool is_follow;
        bool is_quiet;
        bool is_yes;
        uint64_t max_bytes;
        struct tree_count count;
        uint64_t notes_n;
        uint64_t taken_n; /* of what somebody runs or obeys by itself */
        struct cp_judge *judge;
        struct timespec began, shown;
        bool has_line;
};

enum { NOTES_SHOWN = 20 };

/* --- what the user sees ----------------------------------------------------------------------- */

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
        return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) / 1e9;
}

static void clear_line(struct copy *c)
{
        if (c->has_line)
                fputs("\r\033[K", stderr);
        c->has_line = false;
}

static void on_progress(void *arg, const struct tree_count *count)
{
        struct copy *c = arg;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (seconds_between(&c->began, &now) < 1 || seconds_between(&c->shown, &now) < 0.2)
                return;
        char size[16];
        c->shown = now;
        c->has_line = true;
        fprintf(stderr, "\r\033[K%s, %llu files", str_size_words(count->bytes, size),
                (unsigned long long)count->files);
        fflush(stderr);
}

static void on_note(void *arg, const char *sentence)
{
        struct copy *c = arg;
        clear_line(c);
        if (c->notes_n++ < NOTES_SHOWN)
                out_say("%s", sentence);
}

static void on_taken(void *arg, const char *sentence)
{
        struct copy *c = arg;
        clear_line(c);
        if (c->taken_n++ < NOTES_SHOWN)
                out_say("%s", sentence);
}

static int on_judge(void *arg, int dir_fd, const char *path, const struct tree_entry *e,
                    struct err *err)
{
        struct copy *c = arg;
        clear_line(c);
        return cp_judge_entry(c->judge, dir_fd, path, e, err);
}

static mode_t own_umask(void)
{
        mode_t mask = umask(022);
        (void)umask(mask);
        return mask;
}

/* --- an interrupted copy ends as a broken stream does, so its temporary file goes too -----------
 */

static volatile sig_atomic_t caught;
static int stream_of_signal = -1;

static void on_signal(int sig)
{
        caught = sig;
        shutdown(stream_of_signal, SHUT_RDWR);
}

static void watch_signals(int stream_fd)
{
        static const int all[] = {SIGINT, SIGTERM, SIGHUP};
        struct sigaction sa = {.sa_handler = on_signal};
        stream_of_signal = stream_fd;
        for (size_t i = 0; i < sizeof all / sizeof *all; i++)
                sigaction(all[i], &sa, NULL);
}

/* --- the two directions -------------------------------------------------------------------------
 */

/* open_host_end: before the box is asked, so that a wrong path costs nothing. */
static int open_host_end(struct copy *c, const struct cp_roots *roots, struct tree_place *place,
                         int *root_fd, struct err *err)
{
        if (c->is_out) {
                _cleanup_free_ char *base = tree_base(c->path);
                return tree_place_open(place, c->host, base, cp_open_dir, (void *)(uintptr_t)roots,
                                       err);
        }
        struct stat st;
        _cleanup_close_ int seen = cp_open(roots, c->host, O_PATH, err);
        if (seen < 0)
                return -1;
        if (fstat(seen, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
                return err_set(err, E_INPUT, "%s is neither a file nor a directory.", c->host);
        *root_fd = cp_open(roots, c->host, O_RDONLY | O_NONBLOCK | O_NOCTTY, err);
        return *root_fd < 0 ? -1 : 0;
}

static int transfer(struct copy *c, struct cp_talk *t, const struct tree_place *place, int root_fd,
                    struct err *err)
{
        struct tree_opts opts = {
                .is_follow = c->is_follow,
                .owner_uid = (uid_t)-1,
                .owner_gid = (gid_t)-1,
                .max_bytes = c->max_bytes,
                .mask = c->is_out ? own_umask() : 0,
                .judge = c->judge ? on_judge : NULL,
                .on_note = on_note,
                .on_progress = !c->is_quiet && isatty(2) ? on_progress : NULL,
                .arg = c,
        };
        watch_signals(t->mine);
        clock_gettime(CLOCK_MONOTONIC, &c->began);
        int r = c->is_out ? tree_host_out(t->mine, place, &opts, &c->count, err)
                          : tree_host_in(t->mine, root_fd, &opts, &c->count, err);
        clear_line(c);
        if (caught)
                return err_set(err, E_SYSTEM,
                               "The copy was interrupted; what was copied is whole.");

        /* A stream that broke is explained better by the supervisor, when it has something to say;
         * closing ours lets the box's half end. */
        close_fd(&t->mine);
        struct err said = {0};
        bool is_broken = r < 0 && err->code == E_PROTO;
        if ((r == 0 || is_broken) && cp_talk_end(t->client, &said) < 0) {
                *err = said;
                return -1;
        }
        return r;
}

/* judge_masked(c, box_dir, id, err): a copy of ours, with stand-ins for its secrets, must not come
 * to lie over the user's own file. */
static int judge_masked(const struct copy *c, int box_dir, const char *id, struct err *err)
{
        struct box_meta m = {0};
        _cleanup_strs_ struct strs masked = {0};
        if (store_meta_read(box_dir, id, &m, NULL) == 0)
                secret_mask_beneath(box_dir, m.workspace, c->path, &masked);
        _cleanup_free_ char *to = realpath(c->host, NULL);
        bool is_over = to && m.workspace && str_is_beneath(to, m.workspace);
        box_meta_free(&m);
        if (masked.n == 0)
                return 0;
        _cleanup_free_ char *shown = str_quote(masked.v[0]);
        if (!is_over) {
                out_say("%s in the box has stand-ins for its secrets, and so has what is copied",
                        shown);
                return 0;
        }
        return err_set(
                err, E_REFUSED,
                "%s in the box has stand-ins for its secrets and would come to lie over your "
                "own in the workspace; copy it somewhere else, or single files",
                shown);
}

/* copy_with(c, b, err): everything that is opened here is closed again before the box that was
 * woken for it is put to sleep. */
static int copy_with(struct copy *c, struct boxarg *b, struct err *err)
{
        _cleanup_cp_roots_ struct cp_roots roots = {0};
        _cleanup_tree_place_ struct tree_place place = {.dir_fd = -1, .parent_fd = -1};
        _cleanup_close_ int root_fd = -1;
        cp_roots_load(&roots, &b->store);
        if (open_host_end(c, &roots, &place, &root_fd, err) < 0)
                return -1;

        _cleanup_close_ int box_dir = store_box_dir(&b->store, b->id, err);
        if (box_dir < 0)
                return -1;
        if (c->is_out && judge_masked(c, box_dir, b->id, err) < 0)
                return -1;
        const struct cp_judge_how how = {.is_yes = c->is_yes,
                                         .has_terminal = isatty(0) && isatty(2),
                                         .on_left = on_note,
                                         .on_taken = on_taken,
                                         .arg = c};
        if (c->is_out && !(c->judge = cp_judge_new(&place, &roots, &b->store, &how, err)))
                return -1;
        _cleanup_free_ char *base = c->is_out ? NULL : tree_base(c->host);
        struct cp_ask ask = {
                .is_out = c->is_out, .is_follow = c->is_follow, .path = c->path, .base = base};
        struct cp_talk t = {.client = -1, .mine = -1};
        int r = cp_talk_begin(&t, &ask, b, box_dir, err);
        if (r == 0)
                r = transfer(c, &t, &place, root_fd, err);
        close_fd(&t.mine);
        close_fd(&t.client);
        if (t.was_asleep)
                cp_talk_stop(&b->store, b->id);
        return r;
}

static int copy_run(struct copy *c, struct err *err)
{
        _cleanup_boxarg_ struct boxarg b;
        return boxarg_find(&b, c->box, err) < 0 ? -1 : copy_with(c, &b, err);
}

/* --- words
 * ---------------------------------------------------------------------------------------- */

/* box_word(word, &box, &path): "BOX:PATH"; a "/" before the colon makes it a host path. */
static bool box_word(const char *word, char **box, char **path)
{
        size_t n = strcspn(word, ":/");
        if (word[n] != ':')
                return false;
        *box = str_fmt("%.*s", (int)n, word);
        *path = str_dup(word + n + 1);
        return true;
}

static int read_words(struct args *a, struct copy *c, const struct strs *words, const char *max)
{
        char *box = NULL, *path = NULL;
        bool is_from = box_word(words->v[0], &c->box, &c->path);
        bool is_to = box_word(words->v[1], is_from ? &box : &c->box, is_from ? &path : &c->path);
        free(box);
        free(path);
        if (is_from && is_to)
                return args_bad(a, "one of the two must be on this machine; copy in two steps");
        if (!is_from && !is_to)
                return args_bad(a, "one of the two must be BOX:PATH");
        c->is_out = is_from;
        c->host = words->v[is_from ? 1 : 0];
        if (strcmp(c->host, "-") == 0)
                return args_bad(a, "\"-\" is not a stream here; a file of that name is ./-");
        if (!*c->host)
                return args_bad(a, "the path on this machine is empty");
        if (max && (str_size(max, &c->max_bytes) < 0 || c->max_bytes == 0))
                return args_bad(a, "--max wants a size like 500M or 2G, not \"%s\"", max);
        return 0;
}

static void tell_json(const struct copy *c)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "box", c->box);
        json_str(&j, "path", c->path);
        json_str(&j, "host", c->host);
        json_str(&j, "direction", c->is_out ? "out" : "in");
        json_u64(&j, "files", c->count.files);
        json_u64(&j, "bytes", c->count.bytes);
        json_u64(&j, "left_out", c->notes_n);
        json_close(&j, '}');
        out_json("copied", &b);
}

static int run(int argc, char **argv)
{
        struct copy c = {0};
        const char *max = NULL;
        bool is_json = false;
        const struct arg flags[] = {
                ARG_BOOL('L', "follow", &c.is_follow, "copy what links point at, not the links"),
                ARG_BOOL('y', "yes", &c.is_yes, "copy also what somebody runs or obeys by itself"),
                ARG_STR(0, "max", &max, "SIZE", "end the copy when it gets larger than this"),
                ARG_BOOL('q', "quiet", &c.is_quiet, "no progress on the terminal"),
                ARG_BOOL(0, "json", &is_json, "how much was copied, as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_cp, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        struct err err = {0};
        if (args_only(&a, &words, 2, 2) < 0)
                return a.exit_code;
        int code = read_words(&a, &c, &words, max);
        if (code == 0 && copy_run(&c, &err) < 0)
                code = caught ? 128 + (out_error(&err), caught) : out_error(&err);
        cp_judge_free(c.judge);
        if (c.taken_n > NOTES_SHOWN)
                out_say("%llu more that somebody runs or obeys were copied.",
                        (unsigned long long)(c.taken_n - NOTES_SHOWN));
        if (c.notes_n > NOTES_SHOWN)
                out_say("%llu more were left out.", (unsigned long long)(c.notes_n - NOTES_SHOWN));
        if (code == 0 && is_json)
                tell_json(&c);
        free(c.box);
        free(c.path);
        return code ? code : c.notes_n ? EXIT_NEGATIVE : EXIT_OK;
}

const struct cmd cmd_cp = {
        .name = "cp",
        .group = CMD_BOX,
        .args = "[flags] BOX:PATH DEST | SRC BOX:PATH",
        .summary = "copy files out of a box, or into one",
        .help = "Copies a file or a whole directory. If the destination is a directory that "
                "exists, "
                "the copy goes into it; otherwise the copy gets that name. A source that ends in "
                "\"/.\" means the content of the directory. Relative paths in a box start at its "
                "workspace; \":PATH\" means the newest box.\n"
                "\n"
                "A git directory is never copied out of a box, in part or whole, and nothing is "
                "written into one of yours: commits come with \"ostiary apply\". A file that "
                "somebody "
                "runs or obeys without being asked (a hook, CI, an editor's task, a build script, "
                "settings of an agent) is named; it is copied with --yes or when you agree on the "
                "terminal, and otherwise left out.\n"
                "\n"
                "Modes (without setuid, setgid and sticky, and as far as your umask allows) and "
                "times are kept; the copy belongs to "
                "you. Links inside the copied tree stay links. A link that leads out of it, and "
                "sockets, FIFOs and devices, are left out and named, and the exit status is 1. "
                "Files "
                "appear whole or not at all; nothing is ever written through a link.\n"
                "\n"
                "A box that has ended is woken for the copy and sleeps again afterwards.\n"
                "\n"
                "Examples:\n"
                "  ostiary cp amber-3f2a:dist ./dist\n"
                "  ostiary cp notes.txt amber-3f2a:/tmp/\n",
        .run = run,
};
