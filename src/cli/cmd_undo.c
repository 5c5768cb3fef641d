/* cmd_undo.c - `ostiary undo`: take back what an apply, a live run or another undo did. A file that
 * changed since is the user's: asked for on a terminal, left alone elsewhere. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/apply.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/undo_find.h"
#include "cli/undo_turn.h"
#include "session/store.h"
#include "session/undo_refs.h"
#include "workspace/undo.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What is told to programs: three lists, each written as it is found. */
struct undo_json {
        struct buf text[3];
        struct json list[3];
};
enum { CHANGES, REFS, RECORDS };

struct job {
        struct store store;
        int undo_fd;
        bool is_dry, is_json, is_yes, has_terminal;
        bool is_all_yes, is_all_no; /* answered for every further one */
        struct undo_json *json;     /* NULL unless --json */
        struct undo_record of;      /* head of the record at hand */
        size_t told_n;
        uint64_t done_n, left_n, refs_n;
};

enum { TOLD_MAX = 200 };

static char *name_of(const struct job *j, const char *path)
{
        _cleanup_free_ char *whole = str_fmt("%s/%s", j->of.root, path);
        _cleanup_free_ char *told = out_path(whole);
        return str_quote(told);
}

static bool may_replace(void *arg, const char *path, const char *why)
{
        struct job *j = arg;
        if (j->is_yes || j->is_all_yes || j->is_dry)
                return !j->is_dry || j->is_yes;
        if (!j->has_terminal || j->is_all_no)
                return false;
        _cleanup_free_ char *name = name_of(j, path);
        _cleanup_free_ char *question =
                str_fmt("%s: %s. Put back what was there before? [y/N, a all, d none]", name, why);
        char got = apply_answer(question, "nyad");
        j->is_all_yes = got == 'a';
        j->is_all_no = got == 'd';
        return got == 'y' || got == 'a';
}

static void tell(struct job *j, const char *path, const char *words, bool is_done)
{
        if (j->json) {
                struct json *l = &j->json->list[CHANGES];
                json_open(l, NULL, '{');
                json_str(l, "path", path);
                json_str(l, "root", j->of.root);
                json_str(l, "fate", is_done ? "done" : "left");
                json_str(l, "words", words);
                json_close(l, '}');
                return;
        }
        if (++j->told_n > TOLD_MAX)
                return;
        _cleanup_free_ char *name = name_of(j, path);
        if (is_done)
                printf("%-8s %s\n", words, name);
        else
                out_say("%s is left as it is: %s", name, words);
}

static void on_done(void *arg, const char *path, const char *words)
{
        tell(arg, path, words, true);
}

static void on_left(void *arg, const char *path, const char *why)
{
        tell(arg, path, why, false);
}

static void ref_json(struct job *j, const struct undo_ref *r, const char *fate, const char *words)
{
        struct json *l = &j->json->list[REFS];
        json_open(l, NULL, '{');
        json_str(l, "ref", r->name);
        json_str(l, "repository", r->tree);
        json_str(l, "fate", fate);
        json_str(l, "words", words);
        json_close(l, '}');
}

static void on_ref(void *arg, const struct undo_ref *r, bool is_removed)
{
        struct job *j = arg;
        j->done_n++;
        j->refs_n++;
        if (j->json) {
                ref_json(j, r, "done", is_removed ? "removed" : "moved back");
                return;
        }
        _cleanup_free_ char *name = str_quote(r->name);
        printf("%-8s %s\n", is_removed ? "removed" : "restored", name);
}

static void on_ref_left(void *arg, const struct undo_ref *r, const char *why)
{
        struct job *j = arg;
        j->left_n++;
        if (j->json) {
                ref_json(j, r, "left", why);
                return;
        }
        _cleanup_free_ char *name = str_quote(r->name);
        out_say("%s is left where it is: %s", name, why);
}

/* undo_refs(j, one, by, err): git refs that the record moved, after its files; not when only some
 * paths are asked for. */
static int undo_refs(struct job *j, const struct undo_find_one *one, uint64_t *by, struct err *err)
{
        struct undo_refs_hooks hooks = {.on_done = on_ref, .on_left = on_ref_left, .arg = j};
        return one->paths.n ? 0 : undo_refs_back(j->undo_fd, &j->of, j->is_dry, &hooks, by, err);
}

static int undo_one(struct job *j, const struct undo_find_one *one, struct err *err)
{
        struct undo_opts o = {.is_dry = j->is_dry,
                              .paths = one->paths.n ? &one->paths : NULL,
                              .may_replace = may_replace,
                              .on_done = on_done,
                              .on_left = on_left,
                              .arg = j};
        struct undo_result r = {0};
        if (undo_read(j->undo_fd, one->n, &j->of, err) < 0)
                return -1;
        struct err unheard = {0}; /* a box that was removed has nothing pending */
        _cleanup_close_ int box_fd =
                *j->of.box && *j->of.layer ? store_box_dir(&j->store, j->of.box, &unheard) : -1;
        o.has_box = box_fd >= 0;
        o.box_dir_fd = box_fd;
        /* Whether the refs can go back is known before a file is touched. */
        const struct undo_refs_hooks quiet = {0};
        uint64_t none = 0;
        int rc = one->paths.n ? 0 : undo_refs_back(j->undo_fd, &j->of, true, &quiet, &none, err);
        if (rc == 0)
                rc = undo_run(j->undo_fd, one->n, &o, &r, err);
        if (rc == 0)
                rc = undo_refs(j, one, &r.record_n, err);
        j->done_n += r.done_n;
        j->left_n += r.left_n;
        if (j->told_n > TOLD_MAX && !j->json)
                out_say("and %zu more", j->told_n - TOLD_MAX);
        if (!j->json && rc == 0 && r.done_n == 0 && r.left_n == 0 && j->refs_n == 0)
                out_say("there is nothing to take back: everything is as it was before record "
                        "%" PRIu64,
                        one->n);
        if (!j->json && r.record_n)
                out_say("took back %" PRIu64 " change%s of record %" PRIu64
                        " (do them again: ostiary undo %" PRIu64 ")",
                        r.done_n, r.done_n == 1 ? "" : "s", one->n, r.record_n);
        if (j->json && r.record_n) {
                struct json *l = &j->json->list[RECORDS];
                json_open(l, NULL, '{');
                json_u64(l, "undone", one->n);
                json_u64(l, "record", r.record_n);
                json_close(l, '}');
        }
        undo_record_free(&j->of);
        return rc;
}

static void json_begin(struct job *j, struct undo_json *lists)
{
        static const char *const names[] = {"changes", "refs", "records"};
        for (int i = CHANGES; i <= RECORDS; i++) {
                struct buf *b = &lists->text[i];
                b->max = (size_t)1 << 30;
                buf_put_fmt(b, "\"%s\":", names[i]);
                lists->list[i] = json_of(b);
                json_open(&lists->list[i], NULL, '[');
        }
        j->json = lists;
}

/* json_end(j): the three lists as one object. */
static int json_end(struct job *j)
{
        _cleanup_buf_ struct buf all = {.max = (size_t)1 << 31};
        buf_put_fmt(&all, "{\"dry_run\":%s", j->is_dry ? "true" : "false");
        for (int i = CHANGES; i <= RECORDS; i++) {
                struct buf *b = &j->json->text[i];
                json_close(&j->json->list[i], ']');
                buf_put_u8(&all, ',');
                buf_put(&all, b->data, b->len);
                all.is_broken = all.is_broken || b->is_broken;
                buf_free(b);
        }
        buf_put_u8(&all, '}');
        return out_json("undo", &all);
}

static int work(struct job *j, const struct strs *words, struct err *err)
{
        struct undo_find found = {0};
        if (!j->is_dry)
                undo_refs_recover(j->undo_fd);
        int rc = undo_find(j->undo_fd, &j->store, words, &found, err);
        struct undo_json lists = {0};
        if (rc == 0 && j->is_json)
                json_begin(j, &lists);
        if (rc == 0 && found.said && !j->is_json)
                out_say("%s", found.said);
        for (size_t i = 0; rc == 0 && i < found.n; i++)
                rc = undo_one(j, &found.v[i], err);
        undo_find_free(&found);
        int code = j->json ? json_end(j) : EXIT_OK;
        j->json = NULL;
        if (rc == 0 && code != EXIT_OK)
                return code;
        if (rc < 0)
                return out_error(err);
        return j->left_n ? EXIT_NEGATIVE : EXIT_OK;
}

static int run(int argc, char **argv)
{
        struct job j = {.undo_fd = -1};
        uint64_t turn = 0;
        const struct arg flags[] = {
                ARG_U64(0, "turn", &turn, "N",
                        "take one turn of a box back, in the box: undo --turn N BOX"),
                ARG_BOOL(0, "dry-run", &j.is_dry, "only tell what would be done"),
                ARG_OLD('n', "dry-run"),
                ARG_BOOL('y', "yes", &j.is_yes, "also what changed since, without asking"),
                ARG_BOOL(0, "json", &j.is_json, "as JSON"),
                ARG_END,
        };
        struct args a = args_of(&cmd_undo, flags, argc, argv);
        struct err err = {0};
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 10000) < 0)
                return a.exit_code;
        if (turn && words.n > 1)
                return args_bad(&a, "--turn wants one box: ostiary undo --turn N BOX");
        if (turn)
                return undo_turn(words.n ? words.v[0] : NULL, turn, j.is_dry, j.is_json);
        if (store_open(&j.store, &err) < 0)
                return out_error(&err);
        j.has_terminal = isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
        j.undo_fd = undo_store_open(j.store.state, &err);
        int code = j.undo_fd < 0 ? out_error(&err) : work(&j, &words, &err);
        close_fd(&j.undo_fd);
        store_free(&j.store);
        return code;
}

const struct cmd cmd_undo = {
        .name = "undo",
        .group = CMD_FIRST,
        .args = "[N | PATH... | --turn N [BOX]] [--dry-run] [--yes] [--json]",
        .summary = "take back what apply or a live run did",
        .help = "Puts back what an apply, or a run with --live, replaced: contents, modes, links, "
                "directories and deletions. Without an argument it is the newest record that is "
                "not undone of the workspace that the current directory lies in, and never one of "
                "another directory; it is said which. When several boxes were applied there, they "
                "are named with their records, and nothing is done. N is a "
                "record of `ostiary history`; PATHs are taken back from the newest record that "
                "touched each (write ./7 for a file called 7).\n"
                "\n"
                "A file that changed since is asked for on a terminal, and left as it is without "
                "one unless --yes is given; the exit status is 1 then. An undo is a record itself: "
                "undoing it does the changes again, and a box that still has them shows them as "
                "pending in between.\n"
                "\n"
                "Records are kept for 30 days and 2 GiB together, the newest of each directory "
                "always; lines \"days 90\" and \"size 10G\" in ~/.config/ostiary/undo change "
                "that.\n"
                "\n"
                "With --turn N it takes one turn of BOX back in the box itself (ostiary turns), "
                "but for paths that a later turn changed too; the host is not touched.\n"
                "\n"
                "Examples:\n"
                "  ostiary undo --dry-run\n"
                "  ostiary undo 7\n"
                "  ostiary undo src/main.c\n",
        .run = run,
};
