/* exitcodes.c - see exitcodes.h. The manual page and docs/json.md repeat the table; tests/exit.sh
 * compares them with it. */
#include "cli/exitcodes.h"

#include "base/exitcode.h"
#include "cli/out.h"

#include <stdio.h>

static const struct {
        int code;
        const char *kind;
        const char *words;
} table[] = {
        {EXIT_OK, "ok", "done"},
        {EXIT_NEGATIVE, "no",
         "the answer is no: a wall is open, a request would be refused, something was left over"},
        {EXIT_BAD_USAGE, "usage", "the words of the command line are wrong"},
        {EXIT_INPUT, "input", "a file or a value that was given cannot be used"},
        {EXIT_BY_LIMIT, "limit", "the box was ended by its memory, disk or process limit"},
        {EXIT_ABSENT, "absent",
         "what was named is not there: box, snapshot, profile, secret, record"},
        {EXIT_REFUSED, "refused", "a rule, or the state of the box, does not permit it"},
        {EXIT_MACHINE, "machine", "this machine cannot build a box (ostiary doctor)"},
        {EXIT_BY_TIME, "time", "the box was ended by its time limit"},
        {EXIT_OURS, "failed", "ostiary could not do it: the system refused, or a part of it died"},
        {EXIT_NOEXEC, "not-executable", "the command is there and cannot be executed"},
        {EXIT_NOCMD, "no-command", "the command is not there"},
};

enum { ROWS = sizeof table / sizeof *table, WORDS_COLUMN = 24 };

const char *exitcodes_kind(int code)
{
        for (size_t i = 0; i < ROWS; i++)
                if (table[i].code == code)
                        return table[i].kind;
        return "failed";
}

void exitcodes_print(void)
{
        puts("Exit codes of ostiary. The kind is what \"errors\" says with --json.\n");
        for (size_t i = 0; i < ROWS; i++) {
                printf("  %-3d  %-16s ", table[i].code, table[i].kind);
                out_wrap(WORDS_COLUMN, WORDS_COLUMN, table[i].words);
        }
        puts("\nrun, exec, shell, resume and attach end with the status of the command, and with\n"
             "128+N when signal N ended it.");
}
