/* cmd_help.c - `ostiary help`: the overview on one screen, every command with --all, the page of one
 * command (which the command prints itself, so that its flags are never told twice), and the tables
 * that are no command's own. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/exitcodes.h"
#include "cli/foreign.h"
#include "cli/out.h"

#include <stdio.h>
#include <string.h>

static const char *const titles[CMD_GROUPS] = {
        [CMD_FIRST] = "The first day", [CMD_BOX] = "Boxes",     [CMD_RULE] = "Rules",
        [CMD_SECRET] = "Secrets",      [CMD_RECORD] = "Record",
};

static const struct topic {
        const char *name;
        void (*print)(void);
} topics[] = {{"exit-codes", exitcodes_print}, {"other-tools", foreign_print}};

enum { TOPICS_N = sizeof topics / sizeof *topics, NAMES_COLUMN = 10 };

/* print_lines(group): each command with its line. */
static void print_lines(enum cmd_group group)
{
        puts(out_bold(titles[group]));
        for (size_t i = 0; cmd_table[i]; i++)
                if (cmd_table[i]->group == group)
                        printf("  %-9s %s\n", cmd_table[i]->name, cmd_table[i]->summary);
}

/* print_names(group): only the names, wrapped. */
static void print_names(enum cmd_group group)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; cmd_table[i]; i++)
                if (cmd_table[i]->group == group)
                        buf_put_fmt(&b, "%s%s", b.len ? " " : "", cmd_table[i]->name);
        printf("%s%*s", out_bold(titles[group]), NAMES_COLUMN - (int)strlen(titles[group]), "");
        out_wrap(NAMES_COLUMN, NAMES_COLUMN, buf_cstr(&b));
}

/* overview(): what fits on a screen of 80 by 24 (tests/surface.sh counts). */
static void overview(void)
{
        puts("An agent or any program in a box with one door: cd ~/project; ostiary run claude\n");
        print_lines(CMD_FIRST);
        putchar('\n');
        for (enum cmd_group g = CMD_BOX; g < CMD_GROUPS; g++)
                print_names(g);
        puts("\nMore: ostiary help COMMAND, help --all, help exit-codes, help other-tools");
}

static void everything(void)
{
        for (enum cmd_group g = CMD_FIRST; g < CMD_GROUPS; g++) {
                print_lines(g);
                putchar('\n');
        }
        puts("ostiary help COMMAND tells more about each, ostiary(1) about files and variables.\n"
             "Tables: ostiary help exit-codes, ostiary help other-tools");
}

static int absent(const char *word)
{
        const char *near = cmd_near(word);
        _cleanup_free_ char *shown = str_quote(word), *answer = foreign_words(word);
        if (answer)
                out_say("%s", answer);
        else if (near)
                out_say("there is no command \"%s\"; did you mean: ostiary help %s", shown, near);
        else
                out_say("there is no command \"%s\" (ostiary help --all lists them)", shown);
        return EXIT_BAD_USAGE;
}

static int run(int argc, char **argv)
{
        bool is_all = false;
        const struct arg flags[] = {
                ARG_BOOL('a', "all", &is_all, "every command, with a line about it"),
                ARG_END,
        };
        struct args a = args_of(&cmd_help, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 0, 1) < 0)
                return a.exit_code;
        if (words.n == 0) {
                is_all ? everything() : overview();
                return EXIT_OK;
        }
        for (size_t i = 0; i < TOPICS_N; i++) {
                if (strcmp(words.v[0], topics[i].name) != 0)
                        continue;
                topics[i].print();
                return EXIT_OK;
        }
        for (size_t i = 0; cmd_table[i]; i++) {
                if (strcmp(words.v[0], cmd_table[i]->name) != 0)
                        continue;
                char *page[] = {words.v[0], (char[]){"--help"}, NULL};
                return cmd_table[i]->run(2, page);
        }
        return absent(words.v[0]);
}

const struct cmd cmd_help = {
        .name = "help",
        .group = CMD_RECORD,
        .args = "[COMMAND | exit-codes | other-tools] [--all]",
        .summary = "the overview, or the page of one command",
        .help = "Prints the overview, or what one command does, with its flags and an example. "
                "exit-codes is the table of exit statuses, other-tools the table of words that "
                "people bring along from Docker, podman, srt, nono, bubblewrap and E2B.",
        .run = run,
};
