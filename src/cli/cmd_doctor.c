/* cmd_doctor.c - `ostiary doctor`: ask every question, print every answer with its cure. */
#include "base/buf.h"
#include "base/exitcode.h"
#include "base/json.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/doctor.h"
#include "cli/out.h"

#include <stdio.h>
#include <string.h>

enum { WORDS_COLUMN = 24 };

static void print(const struct doctor_check *c, const struct doctor_answer *a)
{
        printf("%s  %-16s  ", out_mark(a->mark), c->name);
        out_wrap(WORDS_COLUMN, WORDS_COLUMN, a->words);
        if (a->fix[0]) {
                printf("%*sfix: ", WORDS_COLUMN, "");
                out_wrap(WORDS_COLUMN + 5, WORDS_COLUMN + 5, a->fix);
        }
        fflush(stdout);
}

static int run(int argc, char **argv)
{
        static const char *const marks[] = {"ok", "bad", "warn", "info"};
        bool is_json = false;
        const struct arg flags[] = {ARG_BOOL(0, "json", &is_json, "as JSON"), ARG_END};
        struct args a = args_of(&cmd_doctor, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 0) < 0)
                return a.exit_code;

        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        int bad = 0, warned = 0;
        json_open(&j, NULL, '{');
        json_open(&j, "checks", '[');
        for (const struct doctor_check *c = doctor_checks; c->name; c++) {
                struct doctor_answer answer = {.mark = OUT_INFO};
                c->ask(&answer);
                bad += answer.mark == OUT_BAD;
                warned += answer.mark == OUT_WARN;
                if (!is_json)
                        print(c, &answer);
                json_open(&j, NULL, '{');
                json_str(&j, "name", c->name);
                json_str(&j, "result", marks[answer.mark]);
                json_str(&j, "words", answer.words);
                json_str(&j, "fix", answer.fix[0] ? answer.fix : NULL);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_bool(&j, "can_build_boxes", bad == 0);
        json_close(&j, '}');
        if (is_json) {
                out_json("doctor", &b);
        } else if (bad) {
                puts("\nNo box can be built here until what is marked BAD is fixed.");
        } else {
                printf("\nBoxes can be built here%s. Next: ostiary run bash\n",
                       warned ? "; see the warnings" : ", with every wall");
        }
        return bad ? EXIT_NEGATIVE : EXIT_OK;
}

const struct cmd cmd_doctor = {
        .name = "doctor",
        .group = CMD_FIRST,
        .args = "[--json]",
        .summary = "what this machine can enforce, and how to fix what is missing",
        .help = "Tries everything that a box needs, in a child process, and says what works, what "
                "does "
                "not, and the exact cure. The exit code is 1 when no box can be built.\n"
                "\n"
                "Example:\n"
                "  ostiary doctor\n",
        .run = run,
};
