/* cmd_help.c - `ostiary help [CMD]`: the overview, or the page of one command, which the command
 * prints itself so that its flags are never told twice. */
#include "base/cleanup.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <stdio.h>
#include <string.h>

static void example(const char *line, const char *words)
{
        printf("  %s%*s%s\n", out_bold(line), *words ? 24 - (int)strlen(line) : 0, "", words);
}

static void overview(void)
{
        puts("ostiary runs a coding agent, or any program, in a box on this machine: it sees the\n"
             "project and the tools, and not your home, your keys or your processes; it reaches "
             "what\n"
             "rules allow, and works with keys that it never has.\n");
        example("cd ~/project", "");
        example("ostiary run claude", "start an agent here; what it writes stays in the box");
        example("ostiary run make test", "the same for any command");
        example("ostiary explain", "what would be in the box, and why");
        example("ostiary doctor", "whether this machine can do it");
        puts("\nCommands:");
        for (size_t i = 0; cmd_table[i]; i++)
                printf("  %-9s %s\n", cmd_table[i]->name, cmd_table[i]->summary);
        puts("\n`ostiary help COMMAND` tells more about each, ostiary(1) about files and "
             "variables.");
}

static int run(int argc, char **argv)
{
        const struct arg flags[] = {ARG_END};
        struct args a = args_of(&cmd_help, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        if (words.n == 0) {
                overview();
                return EXIT_OK;
        }
        for (size_t i = 0; cmd_table[i]; i++) {
                if (strcmp(words.v[0], cmd_table[i]->name) != 0)
                        continue;
                char *page[] = {words.v[0], (char[]){"--help"}, NULL};
                return cmd_table[i]->run(2, page);
        }
        const char *near = cmd_near(words.v[0]);
        _cleanup_free_ char *shown = str_quote(words.v[0]);
        if (near)
                out_say("there is no command \"%s\"; did you mean: ostiary help %s", shown, near);
        else
                out_say("there is no command \"%s\" (ostiary help lists them)", shown);
        return EXIT_BAD_USAGE;
}

const struct cmd cmd_help = {
        .name = "help",
        .args = "[COMMAND]",
        .summary = "this overview, or the page of one command",
        .help = "Prints the overview, or what one command does, with its flags and an example.",
        .run = run,
};
