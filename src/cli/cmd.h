/* cmd.h - the table of subcommands. Each is one file, cmd_NAME.c, with one function and one usage
 * text; main.c holds the table and nothing else. */
#ifndef CLI_CMD_H
#define CLI_CMD_H

/* What a command is for; the overview prints them in this order. */
enum cmd_group { CMD_FIRST, CMD_BOX, CMD_RULE, CMD_SECRET, CMD_RECORD, CMD_GROUPS };

struct cmd {
        const char *name;
        enum cmd_group group;
        const char *args;    /* "[flags] -- CMD..." */
        const char *summary; /* one line for `ostiary help` */
        const char *help; /* the words of `ostiary help NAME`, with an example; the flags are added
                             from the command's own table */
        int (*run)(int argc, char **argv); /* argv[0] is the subcommand; returns the exit code */
};

extern const struct cmd cmd_run, cmd_shell, cmd_create, cmd_exec, cmd_attach, cmd_cp, cmd_diff,
        cmd_apply, cmd_undo, cmd_history, cmd_ps, cmd_logs, cmd_log, cmd_timeline, cmd_report,
        cmd_audit, cmd_forward, cmd_ports, cmd_stop, cmd_rm, cmd_gc, cmd_snapshot, cmd_snapshots,
        cmd_fork, cmd_resume, cmd_turns, cmd_allow, cmd_deny, cmd_rules, cmd_approvals, cmd_approve,
        cmd_refuse, cmd_why, cmd_learn, cmd_trust, cmd_secret, cmd_secrets, cmd_revoke, cmd_rotate,
        cmd_explain, cmd_doctor, cmd_probe, cmd_profile, cmd_policy, cmd_import, cmd_version,
        cmd_help;

/* What `probe` runs inside its box; not listed. */
extern const struct cmd cmd_probe_inside;

extern const struct cmd *const cmd_table[]; /* NULL-terminated, in the order of help */

/* cmd_near(word): the name of the command that ${word} may be a slip of, or NULL. */
const char *cmd_near(const char *word);

#endif
