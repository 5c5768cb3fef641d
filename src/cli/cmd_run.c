/* cmd_run.c - `ostiary run` and `ostiary shell`: start a box and be attached to its command. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/banner.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/pending.h"
#include "cli/runargs.h"
#include "session/start.h"
#include "session/toolchain.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* choose(r, &note, &code): what of an earlier box that still holds changes: its id to go on in, the
 * caller's to free; NULL for a new box, or to leave with ${code} >= 0. ${note}, the caller's too,
 * is the id of a box to tell of once the new one is there. */
static char *choose(struct runargs *r, char **note, int *code)
{
        *code = -1;
        if (r->is_fresh || r->opts.from || (r->stream.is_quiet && !r->is_resumed))
                return NULL;
        _cleanup_free_ char *id = pending_box(&r->store, &r->opts);
        if (!id)
                return NULL;
        if (r->is_resumed)
                return take_ptr(&id);
        if (!r->is_detached && isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
                enum pending_choice c = pending_ask(id);
                if (c == PENDING_CONTINUE)
                        return take_ptr(&id);
                if (c == PENDING_QUIT)
                        *code = EXIT_OK;
                return NULL;
        }
        *note = take_ptr(&id);
        return NULL;
}

/* begin(r, &id, &sock, err): a new box, or the one that ${id} names. */
static int begin(struct runargs *r, char **id, int *sock, struct err *err)
{
        if (!*id)
                return session_run(&r->opts, &r->store, id, sock, err);
        for (size_t i = 0; i < r->opts.argv.n; i++)
                strs_add(&r->opts.once, r->opts.argv.v[i]);
        return session_resume(&r->store, *id, &r->opts, sock, err);
}

/* start(r): from understood flags to an exit code. */
static int start(struct runargs *r)
{
        struct err err = {0};
        int sock = -1, leave;
        _cleanup_free_ char *note = NULL;
        _cleanup_free_ char *id = choose(r, &note, &leave);
        if (leave >= 0)
                return leave;
        runargs_attach(r);
        /* Nobody watches a detached box end: what it wrote must still be there afterwards. */
        if (r->is_detached && !r->opts.is_removed)
                r->opts.is_kept = true;
        if (begin(r, &id, &sock, &err) < 0)
                return out_error(&err);
        if (note)
                out_say("box %s holds changes of this workspace that were not applied (ostiary "
                        "diff %s); this is a new box; to go on in that one: ostiary resume %s",
                        note, note, note);
        r->stream.id = id;
        if (!r->is_detached) {
                r->stream.on_started = banner_before;
                r->stream.ctx = &r->store;
                int code = stream_run(&r->stream, sock);
                banner_after(&r->stream);
                return code;
        }
        int got = stream_started(sock, &err);
        close(sock);
        if (got < 0)
                return out_error(&err);
        banner_before(&r->stream, &r->store);
        puts(id);
        return EXIT_OK;
}

static int run(int argc, char **argv)
{
        struct runargs r;
        runargs_init(&r, &cmd_run, RUNARGS_RUN, NULL, argc, argv);
        int code;
        if (runargs_parse(&r) < 0)
                code = r.args.exit_code;
        else if (r.opts.argv.n == 0 && !r.opts.profile)
                code = args_bad(&r.args,
                                "say what to run: an agent (ostiary profile ls lists them), or "
                                "a command");
        else
                code = start(&r);
        runargs_free(&r);
        return code;
}

static int shell(int argc, char **argv)
{
        struct runargs r;
        runargs_init(&r, &cmd_shell, RUNARGS_RUN, NULL, argc, argv);
        r.profile = "shell";
        int code;
        if (runargs_parse(&r) < 0) {
                code = r.args.exit_code;
        } else {
                /* The user's own shell, if the box can see it; words after -- are its arguments. */
                const char *mine = getenv("SHELL");
                bool is_usable = mine && mine[0] == '/' && toolchain_is_visible(mine) &&
                                 access(mine, X_OK) == 0;
                _cleanup_strs_ struct strs words = r.opts.argv;
                r.opts.argv = (struct strs){0};
                strs_add(&r.opts.argv, is_usable ? mine : "/bin/bash");
                for (size_t i = 0; i < words.n; i++)
                        strs_add(&r.opts.argv, words.v[i]);
                code = start(&r);
        }
        runargs_free(&r);
        return code;
}

const struct cmd cmd_run = {
        .name = "run",
        .args = "[AGENT | --profile NAME] [flags] [-d] [--] [COMMAND...]",
        .summary = "start an agent or a command in a box of its own",
        .help = "Starts a box and runs AGENT (a profile: claude, codex, ...) or COMMAND in it. The "
                "box "
                "sees the tools of this machine, a home of its own, and the workspace; what it "
                "writes "
                "there stays in the box, unless --live. It reaches what its rules allow (ostiary "
                "help "
                "allow) and nothing else. The exit code is the "
                "command's own.\n"
                "\n"
                "What an earlier box changed in the same workspace and was not applied is not "
                "forgotten: you are asked whether to go on in that box (without a terminal, told "
                "of "
                "it); --resume goes on, --new does not ask.\n"
                "\n"
                "Words after AGENT and -- are passed to the agent. Ctrl-] d detaches; the box goes "
                "on.\n"
                "\n"
                "Exit codes of our own: 64 wrong usage, 120 ended by a limit, 124 by the time "
                "limit, 125 "
                "ostiary could not do it, 126 the command cannot be executed, 127 it was not "
                "found.\n"
                "\n"
                "Examples:\n"
                "  ostiary run claude\n"
                "  ostiary run claude -- -p \"fix the tests\"\n"
                "  ostiary run --limit memory=2G --limit time=10m make test\n"
                "  ostiary run -d -n night codex\n"
                "  ostiary run --from before-refactoring claude\n"
                "  ostiary run --secret STRIPE_KEY@api.stripe.com -- ./agent.sh\n"
                "  ostiary run --level strict --allow 'GET api.github.com/repos/**' -- make\n",
        .run = run,
};

const struct cmd cmd_shell = {
        .name = "shell",
        .args = "[flags] [-- ARGUMENT...]",
        .summary = "a shell in a box of its own",
        .help = "The same as `ostiary run` with your shell (or bash, if the box cannot see "
                "yours).\n"
                "\n"
                "Example:\n"
                "  ostiary shell -w ~/project\n",
        .run = shell,
};
