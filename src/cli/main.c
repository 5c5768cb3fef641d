/* main.c - the table of subcommands, and nothing else: look the word up, run it, pass its code on.
 */
#include "base/exitcode.h"
#include "base/scale.h"
#include "base/str.h"
#include "base/title.h"
#include "box/weak.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/foreign.h"
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cmd *const cmd_table[] = {
        &cmd_run,       &cmd_ps,        &cmd_diff,    &cmd_apply,    &cmd_undo,   &cmd_allow,
        &cmd_exec,      &cmd_stop,      &cmd_rm,      &cmd_doctor,   &cmd_shell,  &cmd_create,
        &cmd_attach,    &cmd_logs,      &cmd_cp,      &cmd_resume,   &cmd_fork,   &cmd_snapshot,
        &cmd_snapshots, &cmd_turns,     &cmd_forward, &cmd_ports,    &cmd_gc,     &cmd_deny,
        &cmd_rules,     &cmd_approvals, &cmd_approve, &cmd_refuse,   &cmd_why,    &cmd_learn,
        &cmd_trust,     &cmd_policy,    &cmd_profile, &cmd_import,   &cmd_secret, &cmd_secrets,
        &cmd_revoke,    &cmd_rotate,    &cmd_log,     &cmd_timeline, &cmd_report, &cmd_audit,
        &cmd_history,   &cmd_explain,   &cmd_probe,   &cmd_version,  &cmd_help,   NULL,
};

/* What is typed as a flag, and what is not for people; words of other tools are in foreign.c. */
static const struct {
        const char *word;
        const struct cmd *cmd;
} aliases[] = {
        {"--help", &cmd_help},
        {"-h", &cmd_help},
        {"--version", &cmd_version},
        {"-V", &cmd_version},
        {"probe-inside", &cmd_probe_inside},
};

/* A descriptor 0, 1 or 2 that is closed would be given to the next file we open, and the box's
 * output would be written into it. */
static void open_standard_fds(void)
{
        for (int fd = 0; fd <= 2; fd++)
                if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
                        if (open("/dev/null", fd == 0 ? O_RDONLY : O_WRONLY) != fd)
                                _exit(EXIT_OURS);
}

static const struct cmd *find(const char *word)
{
        for (size_t i = 0; cmd_table[i]; i++)
                if (strcmp(word, cmd_table[i]->name) == 0)
                        return cmd_table[i];
        for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
                if (strcmp(word, aliases[i].word) == 0)
                        return aliases[i].cmd;
        const struct cmd *as;
        foreign_command(word, &as);
        return as;
}

const char *cmd_near(const char *word)
{
        const char *names[sizeof cmd_table / sizeof cmd_table[0]];
        size_t n = 0;
        for (; cmd_table[n]; n++)
                names[n] = cmd_table[n]->name;
        return str_suggest(word, names, n);
}

/* unknown_flag(argv): a flag where a command belongs; -c of a shell has an exact equivalent. */
static int unknown_flag(char **argv)
{
        char *shown = str_quote(argv[1]), *line = str_shell(argv[2] ? argv[2] : "LINE");
        if (strcmp(argv[1], "-c") == 0)
                out_say("there is no flag -c here; a line for a shell: ostiary run -- sh -c %s",
                        line);
        else
                out_say("flags stand behind a command: ostiary run %s ... (ostiary help lists the "
                        "commands)",
                        shown);
        free(line);
        free(shown);
        return EXIT_BAD_USAGE;
}

static int unknown(const char *word)
{
        const char *near = cmd_near(word);
        char *answer = foreign_words(word);
        char *shown = str_quote(word);
        if (answer)
                out_say("%s", answer);
        else if (near)
                out_say("there is no command \"%s\"; did you mean: ostiary %s", shown, near);
        else
                out_say("there is no command \"%s\" (ostiary help lists them; a program is run "
                        "with: "
                        "ostiary run %s)",
                        shown, shown);
        free(shown);
        free(answer);
        return EXIT_BAD_USAGE;
}

/* look_for_json(argv): of a command that nobody knows. */
static void look_for_json(char **argv)
{
        for (; *argv && strcmp(*argv, "--") != 0; argv++)
                if (strcmp(*argv, "--json") == 0)
                        envelope_on();
}

int main(int argc, char **argv)
{
        title_init(argc, argv);
        open_standard_fds();
        signal(SIGXFSZ, SIG_IGN); /* a file size limit of the caller: an error, not our death */
        box_weak_init();
        scale_init();
        if (argc < 2) {
                char *none[] = {(char[]){"help"}, NULL};
                return cmd_help.run(1, none);
        }
        /* "docker sandbox run", "e2b sandbox list": the second word is the command. */
        if (argc > 2 && (strcmp(argv[1], "sandbox") == 0 || strcmp(argv[1], "container") == 0)) {
                argc--;
                argv++;
        }
        const struct cmd *cmd = find(argv[1]);
        if (!cmd) {
                look_for_json(argv);
                return envelope_close(argv[1][0] == '-' ? unknown_flag(argv) : unknown(argv[1]));
        }
        return envelope_close(cmd->run(argc - 1, argv + 1));
}
