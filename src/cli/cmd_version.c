/* cmd_version.c - `ostiary version`. */
#include "base/buf.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "box/seccomp.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <stdio.h>

static int run(int argc, char **argv)
{
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_version, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 0) < 0)
                return a.exit_code;
        if (!is_json) {
                puts("ostiary " OSTIARY_VERSION);
                return EXIT_OK;
        }
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "version", OSTIARY_VERSION);
        json_u64(&j, "filter_instructions", box_seccomp_size());
        json_close(&j, '}');
        return out_json("version", &b);
}

const struct cmd cmd_version = {
        .name = "version",
        .group = CMD_RECORD,
        .args = "[--json]",
        .summary = "print the version",
        .help = "Prints the version of this program.",
        .run = run,
};
