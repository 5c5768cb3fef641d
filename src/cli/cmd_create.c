/* cmd_create.c - `ostiary create`: a box that waits for `exec`. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "cli/boxjson.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/runargs.h"
#include "session/start.h"
#include "wire/msg.h"

#include <stdio.h>
#include <stdlib.h>

static int create(struct runargs *r)
{
        struct err err = {0};
        _cleanup_free_ char *id = NULL;
        int sock = -1;
        r->opts.is_waiting = true;
        if (session_run(&r->opts, &r->store, &id, &sock, &err) < 0)
                return out_error(&err);
        struct msg_started started;
        int got = stream_started(sock, &started, &err);
        msg_started_free(&started);
        close(sock);
        if (got < 0)
                return out_error(&err);
        return boxjson_made(&r->store, id, r->is_json);
}

static int run(int argc, char **argv)
{
        struct runargs r;
        runargs_init(&r, &cmd_create, RUNARGS_WAIT, NULL, argc, argv);
        int code;
        if (runargs_parse(&r) < 0)
                code = r.args.exit_code;
        else if (r.opts.argv.n || r.opts.extra_args.n)
                code = args_bad(&r.args,
                                "a box that waits runs no command; use: ostiary exec BOX -- "
                                "COMMAND");
        else
                code = create(&r);
        runargs_free(&r);
        return code;
}

const struct cmd cmd_create = {
        .name = "create",
        .group = CMD_BOX,
        .args = "[AGENT | --profile NAME] [flags]",
        .summary = "make a box that waits for exec",
        .help = "Starts a box without a command and prints its name. It lives until `ostiary "
                "stop`, its "
                "time limit, or the end of the machine.\n"
                "\n"
                "Example:\n"
                "  box=$(ostiary create)\n"
                "  ostiary exec $box -- make test\n"
                "  ostiary rm --force $box\n",
        .run = run,
};
