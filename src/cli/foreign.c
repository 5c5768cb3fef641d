/* foreign.c - see foreign.h. Decides nothing about a box: a row only renames. */
#include "cli/foreign.h"

#include "base/str.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(v) (sizeof(v) / sizeof *(v))

/* --- commands ------------------------------------------------------------------------------- */

static const struct foreign_row {
        const char *word;
        const char *tool;
        const struct cmd *as; /* it means this command, flags and all; or NULL and */
        const char *ours;     /* what to type instead */
} commands[] = {
        {"list", "docker", &cmd_ps, "ostiary ps"},
        {"ls", "docker", &cmd_ps, "ostiary ps"},
        {"status", "git", &cmd_ps, "ostiary ps"},
        {"kill", "docker", &cmd_stop, "ostiary stop BOX"},
        {"delete", "E2B", &cmd_rm, "ostiary rm BOX"},
        {"remove", "docker", &cmd_rm, "ostiary rm BOX"},
        {"wrap", "nono", &cmd_run, "ostiary run"},
        {"rollback", "nono", &cmd_undo, "ostiary undo"},
        {"prune", "docker", &cmd_gc, "ostiary gc"},
        {"setup", "nono", &cmd_doctor, "ostiary doctor"},
        {"info", "docker", &cmd_doctor, "ostiary doctor"},
        {"check", "", &cmd_doctor, "ostiary doctor"},
        {"port", "docker", &cmd_ports, "ostiary ports BOX"},
        {"vault", "", &cmd_secret, "ostiary secret"},
        {"profiles", "", &cmd_profile, "ostiary profile"},
        {"review", "", &cmd_diff, "ostiary diff BOX"},
        {"merge", "container-use", &cmd_apply, "ostiary apply BOX"},
        {"inspect", "docker", NULL, "ostiary ps -a --json, ostiary rules BOX, ostiary secrets BOX"},
        {"stats", "docker", NULL,
         "ostiary ps, and ostiary report BOX -o FILE for what a run used; limits are set with "
         "ostiary run --limit memory=4G"},
        {"top", "docker", NULL, "ostiary exec BOX -- ps aux"},
        {"metrics", "E2B", NULL, "ostiary report BOX -o FILE"},
        {"images", "docker", NULL,
         "ostiary snapshots; a box has no image: it sees the tools of this machine"},
        {"image", "docker", NULL, "ostiary snapshots"},
        {"rmi", "docker", NULL, "ostiary snapshots rm NAME"},
        {"pull", "docker", NULL,
         "a box sees the tools of this machine, so there is nothing to pull"},
        {"build", "docker", NULL,
         "ostiary create, ostiary exec BOX -- COMMAND, ostiary snapshot BOX NAME"},
        {"template", "E2B", NULL, "ostiary snapshot BOX NAME, then ostiary run --from NAME"},
        {"commit", "docker", NULL, "ostiary snapshot BOX NAME"},
        {"start", "docker", NULL, "ostiary resume BOX"},
        {"restart", "docker", NULL, "ostiary stop BOX, then ostiary resume BOX"},
        {"pause", "docker", NULL, "ostiary stop BOX; ostiary resume BOX goes on"},
        {"unpause", "docker", NULL, "ostiary resume BOX"},
        {"connect", "E2B", NULL, "ostiary attach BOX, or ostiary exec BOX -- bash"},
        {"enter", "distrobox", NULL, "ostiary exec BOX -- bash"},
        {"ssh", "", NULL, "ostiary exec BOX -- bash"},
        {"spawn", "E2B", NULL, "ostiary create"},
        {"rename", "docker", NULL, "a box has its name from the start: ostiary run --name NAME"},
        {"volume", "docker", NULL, "ostiary run --bind PATH:rw"},
        {"network", "docker", NULL, "ostiary rules BOX and ostiary allow BOX RULE"},
        {"events", "docker", NULL, "ostiary timeline -f BOX"},
        {"trace", "moat", NULL, "ostiary timeline BOX"},
        {"grant", "moat", NULL, "ostiary secret set NAME, then ostiary run --secret NAME@HOST"},
        {"credential", "nono", NULL, "ostiary secret set NAME"},
        {"compose", "docker", NULL, "start each box by itself: ostiary run -d"},
        {"detach", "nono", NULL, "press Ctrl-] d in the terminal that is attached"},
        {"session", "nono", NULL, "ostiary ps"},
        {"config", "", NULL,
         "settings are files below ~/.config/ostiary: policy, profiles/NAME.profile, undo"},
        {"init", "", NULL, "nothing has to be made first: ostiary run claude, in the project"},
        {"login", "", NULL, "ostiary run claude, then log in as always; the token stays outside"},
        {"auth", "", NULL, "ostiary secret set NAME"},
        {"mcp", "", NULL, "an MCP server is run like any program: ostiary run -- npx SERVER"},
        {"serve", "", NULL,
         "there is no server yet; programs use ostiary create and ostiary exec, with --json"},
        {"ttl", "", NULL, "ostiary run --limit time=8h"},
        {"update", "", NULL, "your package manager does it, or make install"},
        {"upgrade", "", NULL, "your package manager does it, or make install"},
};

char *foreign_words(const char *word)
{
        const struct cmd *as;
        const char *ours = foreign_command(word, &as);
        if (!ours)
                return NULL;
        char *shown = str_quote(word);
        char *words = str_fmt("there is no command \"%s\"%s%s", shown,
                              str_starts(ours, "ostiary ") ? "; here that is: " : ": ", ours);
        free(shown);
        return words;
}

const char *foreign_command(const char *word, const struct cmd **as)
{
        *as = NULL;
        for (size_t i = 0; i < COUNT(commands); i++) {
                if (strcmp(word, commands[i].word) != 0)
                        continue;
                *as = commands[i].as;
                return commands[i].ours;
        }
        return NULL;
}

/* --- flags ---------------------------------------------------------------------------------- */

/* by_size: "4g" and "512mb" of others are 4G and 512M here; a word that is no size stays as it was
 * typed, for the refusal. */
static void by_size(const struct foreign_flag *row, const char *value, const char *second,
                    struct foreign_answer *a)
{
        (void)second;
        size_t digits = strspn(value, "0123456789.");
        const char *unit = value + digits;
        bool has_factor = *unit && strchr("kmgtKMGT", *unit);
        const char *end = unit + has_factor;
        bool is_size = digits > 0 && (!*end || ((*end == 'b' || *end == 'B') && !end[1]));
        char factor[2] = {is_size && has_factor ? (char)toupper((unsigned char)*unit) : 0, 0};
        a->flag = row->flag;
        a->value = is_size ? str_fmt("memory=%.*s%s", (int)digits, value, factor)
                           : str_fmt("memory=%s", value);
}

/* own_place(row, source, target, mode, a): a host path is seen at its own place in a box. */
static void own_place(const char *source, const char *target, const char *mode,
                      struct foreign_answer *a)
{
        if (!*target || strcmp(source, target) == 0) {
                a->flag = "bind";
                a->value = str_fmt("%s:%s", source, mode);
                return;
        }
        a->words = str_fmt("a path of this machine is seen at its own place in a box; for %s that "
                           "is: --bind %s:%s; for the project: -w %s",
                           source, source, mode, source);
}

/* by_volume: SRC:DST[:ro]; others write to the host by default. */
static void by_volume(const struct foreign_flag *row, const char *value, const char *second,
                      struct foreign_answer *a)
{
        (void)row;
        (void)second;
        char *text = str_dup(value), *at = text;
        const char *source = strsep(&at, ":");
        const char *target = at ? strsep(&at, ":") : "";
        const char *mode = at ? at : "";
        bool is_bare = !strchr(source, '/') && strcmp(source, ".") != 0;
        if (is_bare)
                a->words = str_fmt("there are no named volumes; what shall outlive a box is a line "
                                   "of a profile: persist ~/%s (ostiary help profile)",
                                   source);
        else if (strcmp(target, "ro") == 0 || strcmp(target, "rw") == 0)
                own_place(source, "", target, a);
        else
                own_place(source, target, strstr(mode, "ro") ? "ro" : "rw", a);
        free(text);
}

static void by_pair_ro(const struct foreign_flag *row, const char *value, const char *second,
                       struct foreign_answer *a)
{
        (void)row;
        own_place(value, second, "ro", a);
}

static void by_pair_rw(const struct foreign_flag *row, const char *value, const char *second,
                       struct foreign_answer *a)
{
        (void)row;
        own_place(value, second, "rw", a);
}

static void by_setenv(const struct foreign_flag *row, const char *value, const char *second,
                      struct foreign_answer *a)
{
        a->flag = row->flag;
        a->value = str_fmt("%s=%s", value, second);
}

/* by_network: none is a rule; everything else is not a choice here. */
static void by_network(const struct foreign_flag *row, const char *value, const char *second,
                       struct foreign_answer *a)
{
        (void)second;
        if (strcmp(value, "none") == 0) {
                a->flag = "deny";
                a->value = str_dup("* *");
                return;
        }
        a->words = str_dup(row->words);
}

#define RUN "limit"
static const char network_words[] =
        "a box reaches what rules allow, and nothing else: --allow HOST lets it reach a host, "
        "--network none nothing at all";
static const char caps_words[] = "a box has no privileges, and cannot be given any; leave it out";
static const char always_words[] = "every box has that; leave it out";

static const struct foreign_flag flags[] = {
        {"--memory", "docker", RUN, "limit", "memory=%", NULL, 1, by_size},
        {"-m", "docker", RUN, "limit", "memory=%", NULL, 1, by_size},
        {"--cpus", "docker", RUN, "limit", "cpu=%", NULL, 1, NULL},
        {"--pids-limit", "docker", RUN, "limit", "pids=%", NULL, 1, NULL},
        {"--timeout", "E2B", RUN, "limit", "time=%", NULL, 1, NULL},
        {"--ttl", "", RUN, "limit", "time=%", NULL, 1, NULL},
        {"-p", "docker", "publish", "publish", NULL, NULL, 1, NULL},
        {"-v", "docker", "bind", "bind", "PATH:rw", NULL, 1, by_volume},
        {"--volume", "docker", "bind", "bind", "PATH:rw", NULL, 1, by_volume},
        {"--ro-bind", "bwrap", "bind", "bind", "PATH:ro", NULL, 2, by_pair_ro},
        {"--dev-bind", "bwrap", "bind", "bind", "PATH:rw", NULL, 2, by_pair_rw},
        {"--setenv", "bwrap", "env", "env", "NAME=VALUE", NULL, 2, by_setenv},
        {"--chdir", "bwrap", "cwd", "cwd", NULL, NULL, 1, NULL},
        {"--workdir", "docker", "cwd", "cwd", NULL, NULL, 1, NULL},
        {"--network", "docker", "deny", "deny", "'* *' for none", network_words, 1, by_network},
        {"--net", "docker", "deny", "deny", "'* *' for none", network_words, 1, by_network},
        {"--block-net", "nono", "deny", "deny", "* *", NULL, 0, NULL},
        {"--unshare-net", "bwrap", "deny", "deny", "* *", NULL, 0, NULL},
        {"--allow-domain", "nono", "allow", "allow", NULL, NULL, 1, NULL},
        {"--proxy-allow", "nono", "allow", "allow", NULL, NULL, 1, NULL},
        {"--read", "nono", "bind", "bind", "%:ro", NULL, 1, NULL},
        {"--read-file", "nono", "bind", "bind", "%:ro", NULL, 1, NULL},
        {"--write", "nono", "bind", "bind", "%:rw", NULL, 1, NULL},
        {"--write-file", "nono", "bind", "bind", "%:rw", NULL, 1, NULL},
        {"--allow-file", "nono", "bind", "bind", "%:rw", NULL, 1, NULL},
        {"--template", "E2B", "from", "from", NULL, NULL, 1, NULL},

        {"--mount", "docker", RUN, NULL, NULL, "say --bind PATH:rw, or --bind PATH for reading", 1,
         NULL},
        {"--allow-cwd", "nono", RUN, NULL, NULL,
         "the current directory is the workspace; leave it out, or say --workspace DIR", 0, NULL},
        {"--workdir-access", "nono", RUN, NULL, NULL, "say --live to write to the project itself",
         1, NULL},
        {"--credential", "nono", RUN, NULL, NULL,
         "say --secret NAME@HOST (ostiary secret set NAME keeps the value)", 1, NULL},
        {"--settings", "srt", RUN, NULL, NULL,
         "say ostiary import srt FILE once; it writes the rules as lines of policy", 1, NULL},
        {"--config", "nono", RUN, NULL, NULL,
         "say ostiary import nono FILE once; it writes the rules as lines of policy", 1, NULL},
        {"--share-net", "bwrap", RUN, NULL, NULL, network_words, 0, NULL},
        {"--unshare-all", "bwrap", RUN, NULL, NULL, always_words, 0, NULL},
        {"--unshare-pid", "bwrap", RUN, NULL, NULL, always_words, 0, NULL},
        {"--unshare-user", "bwrap", RUN, NULL, NULL, always_words, 0, NULL},
        {"--unshare-ipc", "bwrap", RUN, NULL, NULL, always_words, 0, NULL},
        {"--new-session", "bwrap", RUN, NULL, NULL, always_words, 0, NULL},
        {"--die-with-parent", "bwrap", RUN, NULL, NULL,
         "a box outlives its terminal; say --rm and --limit time=1h", 0, NULL},
        {"--proc", "bwrap", RUN, NULL, NULL, always_words, 1, NULL},
        {"--dev", "bwrap", RUN, NULL, NULL, always_words, 1, NULL},
        {"--tmpfs", "bwrap", RUN, NULL, NULL, "/tmp and the home are the box's own; leave it out",
         1, NULL},
        {"--clearenv", "bwrap", RUN, NULL, NULL,
         "a box gets only the variables of its profile and of --env; leave it out", 0, NULL},
        {"--init", "docker", RUN, NULL, NULL, always_words, 0, NULL},
        {"--read-only", "docker", RUN, NULL, NULL,
         "what a box writes stays in the box until ostiary apply; leave it out", 0, NULL},
        {"--user", "docker", RUN, NULL, NULL,
         "the command runs as you and has none of your rights on this machine; leave it out", 1,
         NULL},
        {"-u", "docker", RUN, NULL, NULL,
         "the command runs as you and has none of your rights on this machine; leave it out", 1,
         NULL},
        {"--privileged", "docker", RUN, NULL, NULL, caps_words, 0, NULL},
        {"--cap-add", "docker", RUN, NULL, NULL, caps_words, 1, NULL},
        {"--cap-drop", "docker", RUN, NULL, NULL, caps_words, 1, NULL},
        {"--security-opt", "docker", RUN, NULL, NULL, always_words, 1, NULL},
        {"--gpus", "docker", RUN, NULL, NULL, "a box has no GPU", 1, NULL},
        {"--device", "docker", RUN, NULL, NULL, "a box has no devices of this machine", 1, NULL},
        {"--entrypoint", "docker", RUN, NULL, NULL,
         "say the command itself: ostiary run -- COMMAND", 1, NULL},
        {"--hostname", "docker", RUN, NULL, NULL, "a box is called by its name: --name NAME", 1,
         NULL},
        {"--dns", "docker", RUN, NULL, NULL,
         "names are resolved outside the box, and only those that rules allow; leave it out", 1,
         NULL},
        {"--add-host", "docker", RUN, NULL, NULL,
         "names are resolved outside the box: put it into /etc/hosts of this machine", 1, NULL},
        {"--restart", "docker", RUN, NULL, NULL, "a box is woken by ostiary resume BOX", 1, NULL},
        {"--label", "docker", RUN, NULL, NULL,
         "a box has a name: --name NAME, and patterns choose by it: ostiary rm 'try-*'", 1, NULL},
        {"--rollback", "nono", RUN, NULL, NULL,
         "every change can be taken back: ostiary apply, then ostiary undo; leave it out", 0, NULL},
};

const struct foreign_flag *foreign_flag_find(const char *word, size_t len)
{
        for (size_t i = 0; i < COUNT(flags); i++)
                if (strlen(flags[i].word) == len && strncmp(flags[i].word, word, len) == 0)
                        return &flags[i];
        return NULL;
}

/* fill(form, value): ${form} with the value where its % is. */
static char *fill(const char *form, const char *value)
{
        const char *at = strchr(form, '%');
        if (!at)
                return str_dup(form);
        return str_fmt("%.*s%s%s", (int)(at - form), form, value ? value : "", at + 1);
}

void foreign_flag_turn(const struct foreign_flag *row, const char *value, const char *second,
                       struct foreign_answer *a)
{
        if (row->turn) {
                row->turn(row, value, second, a);
                return;
        }
        a->flag = row->flag;
        if (!row->flag)
                a->words = str_dup(row->words);
        else if (row->form)
                a->value = fill(row->form, value);
        else
                a->value = str_dup(value);
}

/* --- the tables, printed ---------------------------------------------------------------------- */

enum { OURS_COLUMN = 33 };

static void print_row(const char *word, const char *tool, const char *ours)
{
        printf("  %-18s %-10s  ", word, *tool ? tool : "-");
        out_wrap(OURS_COLUMN, OURS_COLUMN, ours);
}

void foreign_print(void)
{
        puts("Commands that people bring along, and what they are here:\n");
        for (size_t i = 0; i < COUNT(commands); i++)
                print_row(commands[i].word, commands[i].tool, commands[i].ours);
        puts("\nFlags. Those with a flag of ours are understood as it; the others are answered:\n");
        for (size_t i = 0; i < COUNT(flags); i++) {
                const struct foreign_flag *f = &flags[i];
                char *value = f->flag ? fill(f->form ? f->form : "%", "VALUE") : NULL;
                char *ours = f->flag ? str_fmt("--%s %s", f->flag, value) : str_dup(f->words);
                print_row(f->word, f->tool, ours);
                free(value);
                free(ours);
        }
}
