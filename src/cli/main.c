/* main.c - the table of subcommands, and nothing else: look the word up, run it, pass its code on.
 */
#include "base/exitcode.h"
#include "base/scale.h"
#include "base/str.h"
#include "base/title.h"
#include "box/weak.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct cmd *const cmd_table[] = {
        &cmd_run,     &cmd_shell,    &cmd_create,  &cmd_exec,    &cmd_attach,   &cmd_cp,
        &cmd_diff,    &cmd_apply,    &cmd_undo,    &cmd_history, &cmd_ps,       &cmd_logs,
        &cmd_log,     &cmd_timeline, &cmd_report,  &cmd_audit,   &cmd_forward,  &cmd_ports,
        &cmd_stop,    &cmd_rm,       &cmd_resume,  &cmd_fork,    &cmd_snapshot, &cmd_snapshots,
        &cmd_turns,   &cmd_gc,       &cmd_allow,   &cmd_deny,    &cmd_rules,    &cmd_approvals,
        &cmd_approve, &cmd_refuse,   &cmd_why,     &cmd_learn,   &cmd_trust,    &cmd_secret,
        &cmd_secrets, &cmd_revoke,   &cmd_rotate,  &cmd_explain, &cmd_doctor,   &cmd_probe,
        &cmd_profile, &cmd_policy,   &cmd_version, &cmd_help,    NULL,
};

/* Words people type by habit from elsewhere. */
static const struct {
        const char *word;
        const struct cmd *cmd;
} aliases[] = {
        {"--help", &cmd_help},  {"-h", &cmd_help},      {"--version", &cmd_version},
        {"-V", &cmd_version},   {"list", &cmd_ps},      {"ls", &cmd_ps},
        {"kill", &cmd_stop},    {"delete", &cmd_rm},    {"probe-inside", &cmd_probe_inside},
        {"check", &cmd_doctor}, {"vault", &cmd_secret}, {"profiles", &cmd_profile},
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
        return NULL;
}

const char *cmd_near(const char *word)
{
        const char *names[sizeof cmd_table / sizeof cmd_table[0]];
        size_t n = 0;
        for (; cmd_table[n]; n++)
                names[n] = cmd_table[n]->name;
        return str_suggest(word, names, n);
}

static int unknown(const char *word)
{
        const char *near = cmd_near(word);
        char *shown = str_quote(word);
        if (near)
                out_say("there is no command \"%s\"; did you mean: ostiary %s", shown, near);
        else
                out_say("there is no command \"%s\" (ostiary help lists them; a program is run "
                        "with: "
                        "ostiary run %s)",
                        shown, shown);
        free(shown);
        return EXIT_BAD_USAGE;
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
        const struct cmd *cmd = find(argv[1]);
        if (!cmd)
                return unknown(argv[1]);
        return cmd->run(argc - 1, argv + 1);
}
