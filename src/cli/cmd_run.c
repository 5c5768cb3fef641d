/* cmd_run.c - `ostiary run` and `ostiary shell`: start a box and be attached to its command. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/banner.h"
#include "cli/boxjson.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/pending.h"
#include "cli/runargs.h"
#include "session/start.h"
#include "session/toolchain.h"
#include "wire/msg.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* find(r, p): the box to go on in, or to be asked about. */
static bool find(struct runargs *r, struct pending *p)
{
        bool is_found = pending_box(&r->store, &r->opts, p);
        if (r->is_resumed && (!is_found || p->is_other))
                is_found |= pending_last(&r->store, &r->opts, p);
        if (r->is_resumed && !is_found && !r->stream.is_quiet)
                out_say("there is no box of this workspace to go on in (ostiary ps -a lists all); "
                        "this is a new one");
        return is_found;
}

/* may_resume(r, p): --resume: 0, or the exit code of why not. */
static int may_resume(const struct runargs *r, const struct pending *p)
{
        struct err err = {0};
        if (p->is_other)
                err_set(&err, E_USAGE,
                        "the only box that holds changes of this workspace, %s, is not one of %s "
                        "(%s); --new starts a new box, ostiary resume %s goes on in that one",
                        p->id, r->opts.profile, p->words, p->id);
        else if (p->is_alive)
                err_set(&err, E_REFUSED,
                        "box %s of this workspace is running (%s): ostiary attach %s joins it, "
                        "ostiary exec %s -- COMMAND runs something beside, --new starts a new box",
                        p->id, p->words, p->id, p->id);
        return p->is_other || p->is_alive ? out_error(&err) : 0;
}

/* choose(r, p, &note, &code): what of an earlier box that still holds changes: true to go on in
 * ${p}; else a new box, or to leave with ${code} >= 0. ${note}: tell of it once the new one is there. */
static bool choose(struct runargs *r, struct pending *p, bool *note, int *code)
{
        *code = -1;
        *note = false;
        if (r->is_fresh || r->opts.from || (r->stream.is_quiet && !r->is_resumed) || !find(r, p))
                return false;
        if (r->is_resumed) {
                int why = may_resume(r, p);
                *code = why ? why : -1;
                return why == 0;
        }
        if (!r->is_detached && isatty(STDIN_FILENO) && isatty(STDERR_FILENO)) {
                enum pending_choice c = pending_ask(p);
                if (c == PENDING_QUIT)
                        *code = EXIT_OK;
                return c == PENDING_CONTINUE;
        }
        *note = true;
        return false;
}

/* begin(r, &id, &sock, err): a new box, or the one that ${id} names: there the command that was asked
 * for, or the agent with the words that were said now. */
static int begin(struct runargs *r, char **id, int *sock, struct err *err)
{
        struct session_opts *o = &r->opts;
        if (!*id)
                return session_run(o, &r->store, id, sock, err);
        if (runargs_fixed(r, *id, err) < 0)
                return -1;
        for (size_t i = 0; i < o->argv.n; i++)
                strs_add(&o->once, o->argv.v[i]);
        o->is_once_agent = o->argv.n == 0;
        return session_resume(&r->store, *id, o, sock, err);
}

/* start(r): from understood flags to an exit code. */
static int start(struct runargs *r)
{
        struct err err = {0};
        int sock = -1, leave;
        bool note;
        _cleanup_pending_ struct pending old = {0};
        _cleanup_free_ char *id = choose(r, &old, &note, &leave) ? str_dup(old.id) : NULL;
        if (leave >= 0)
                return leave;
        runargs_attach(r);
        /* Nobody watches a detached box end: what it wrote must still be there afterwards. */
        if (r->is_detached && !r->opts.is_removed)
                r->opts.is_kept = true;
        if (begin(r, &id, &sock, &err) < 0)
                return out_error(&err);
        if (note)
                out_say("box %s holds changes of this workspace that were not applied (%s; ostiary "
                        "diff %s); this is a new box; to go on in that one: ostiary resume %s",
                        old.id, old.words, old.id, old.id);
        r->stream.id = id;
        if (!r->is_detached) {
                r->stream.on_started = banner_before;
                int code = stream_run(&r->stream, sock);
                banner_after(&r->stream);
                return code;
        }
        struct msg_started started;
        int got = stream_started(sock, &started, &err);
        close(sock);
        if (got == 0)
                banner_before(&r->stream, &started);
        msg_started_free(&started);
        if (got < 0)
                return out_error(&err);
        return boxjson_made(&r->store, id, r->is_json);
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
        .group = CMD_FIRST,
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
                "it); --resume goes on, also in the last box of this workspace that holds none, --new does "
                "not ask. Going on runs what you ask for now, with "
                "the words after -- that you say now; an agent that is told nothing goes on with its "
                "conversation. An agent goes on in a box of its own only. The "
                "box keeps the flags it was started with.\n"
                "\n"
                "Words after AGENT and -- are passed to the agent; before --, only long flags of ours may "
                "stand there. Ctrl-] d detaches; the box goes "
                "on. What waits for you stands in the last row of the terminal: Ctrl-] y allows "
                "it, n refuses it, a allows it for good, ? shows all of it.\n"
                "\n"
                "Exit codes of our own are 64 and 119 to 127 (ostiary help exit-codes).\n"
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
        .group = CMD_BOX,
        .args = "[flags] [-- ARGUMENT...]",
        .summary = "a shell in a box of its own",
        .help = "The same as `ostiary run` with your shell (or bash, if the box cannot see "
                "yours).\n"
                "\n"
                "Example:\n"
                "  ostiary shell -w ~/project\n",
        .run = shell,
};
