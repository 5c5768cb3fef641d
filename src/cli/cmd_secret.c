/* cmd_secret.c - `ostiary secret VERB`: the user's vault, from the outside. Everything that touches
 * a value is done by `ostiary-door vault`, which gets the terminal and standard input as they are;
 * this process never reads one, and refuses one that was typed as an argument. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "cli/args.h"
#include "cli/cmd.h"
#include "cli/out.h"
#include "cli/secret_list.h"
#include "session/store.h"
#include "session/vault_key.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct secret_flags {
        bool is_json, is_dry, is_yes, is_none;
        const char *note, *passphrase_fd;
};

static const struct verb {
        const char *name;
        size_t names_n;       /* how many names follow */
        bool takes_value;     /* from stdin or a prompt */
        const char *flags[3]; /* that it knows besides --passphrase-fd */
} verbs[] = {
        {"set", 1, true, {"note", "json"}},
        {"ls", 0, false, {"json"}},
        {"rm", 1, false, {"json"}},
        {"rotate", 1, true, {"note", "json"}},
        {"import", 0, false, {"dry-run", "yes", "json"}},
        {"passwd", 0, false, {"none", "json"}},
        {"lock", 0, false, {"json"}},
};
enum { VERBS_N = sizeof verbs / sizeof *verbs };

static const struct verb *find(const char *word)
{
        /* Words people type by habit from elsewhere. */
        word = strcmp(word, "list") == 0                                    ? "ls"
               : strcmp(word, "delete") == 0 || strcmp(word, "remove") == 0 ? "rm"
               : strcmp(word, "add") == 0                                   ? "set"
                                                                            : word;
        for (size_t i = 0; i < VERBS_N; i++)
                if (strcmp(word, verbs[i].name) == 0)
                        return &verbs[i];
        return NULL;
}

static bool knows(const struct verb *v, const char *flag)
{
        for (size_t i = 0; i < 3 && v->flags[i]; i++)
                if (strcmp(v->flags[i], flag) == 0)
                        return true;
        return false;
}

static int judge(struct args *a, const struct verb *v, const struct strs *words,
                 const struct secret_flags *f)
{
        const struct {
                const char *name;
                bool is_said;
        } said[] = {{"json", f->is_json},
                    {"dry-run", f->is_dry},
                    {"yes", f->is_yes},
                    {"none", f->is_none},
                    {"note", f->note != NULL}};
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
                if (said[i].is_said && !knows(v, said[i].name))
                        return args_bad(a, "secret %s has no flag --%s", v->name, said[i].name);
        if (words->n == v->names_n + 1)
                return 0;
        if (words->n < v->names_n + 1)
                return args_bad(a, "say which secret: ostiary secret %s NAME", v->name);
        /* What was typed is not repeated: it may be a secret. */
        if (v->takes_value)
                return args_bad(a,
                                "a value is never an argument, because every process could read "
                                "it and your shell remembers it; change it if it was real. It is "
                                "asked for, or comes through a pipe: ostiary secret %s NAME < FILE",
                                v->name);
        return args_bad(a, "secret %s takes %s", v->name, v->names_n ? "one name" : "no name");
}

static int pass_on(const struct store *s, const struct verb *v, const struct strs *words,
                   const struct secret_flags *f)
{
        struct err err = {0};
        _cleanup_strs_ struct strs argv = {0};
        strs_add(&argv, v->name);
        if (f->passphrase_fd) {
                strs_add(&argv, "--passphrase-fd");
                strs_add(&argv, f->passphrase_fd);
        }
        if (f->note) {
                strs_add(&argv, "--note");
                strs_add(&argv, f->note);
        }
        if (f->is_dry)
                strs_add(&argv, "--dry-run");
        if (f->is_yes)
                strs_add(&argv, "--yes");
        if (f->is_none)
                strs_add(&argv, "--none");
        if (words->n > 1)
                strs_add(&argv, words->v[1]);
        if (strcmp(v->name, "ls") == 0)
                return secret_list(s->data, argv.v, f->is_json);
        if (f->is_json)
                return secret_said(s->data, argv.v, v->name, words->n > 1 ? words->v[1] : NULL);
        int code = vault_key_program(s->data, argv.v, -1, &err);
        return code < 0 ? out_error(&err) : code;
}

static bool is_printable(const char *s)
{
        for (; *s; s++)
                if ((unsigned char)*s < 0x20 || *s == 0x7f)
                        return false;
        return true;
}

static int run(int argc, char **argv)
{
        struct secret_flags f = {0};
        const struct arg flags[] = {
                ARG_BOOL(0, "json", &f.is_json, "as JSON"),
                ARG_STR(0, "note", &f.note, "TEXT", "set: a word to yourself, shown by ls"),
                ARG_BOOL(0, "dry-run", &f.is_dry, "import: only list what was found"),
                ARG_BOOL('y', "yes", &f.is_yes, "import: do not ask"),
                ARG_BOOL(0, "none", &f.is_none, "passwd: a key file instead of a passphrase"),
                ARG_STR(0, "passphrase-fd", &f.passphrase_fd, "N",
                        "read the vault's passphrase from this descriptor"),
                ARG_END,
        };
        struct args a = args_of(&cmd_secret, flags, argc, argv);
        _cleanup_strs_ struct strs words = {0};
        if (args_only(&a, &words, 1, 3) < 0)
                return a.exit_code;
        const struct verb *v = find(words.v[0]);
        uint64_t fd;
        if (!v) {
                const char *names[VERBS_N];
                for (size_t i = 0; i < VERBS_N; i++)
                        names[i] = verbs[i].name;
                const char *near = str_suggest(words.v[0], names, VERBS_N);
                return near ? args_bad(&a, "did you mean: ostiary secret %s", near)
                            : args_bad(&a, "say set, ls, rm, rotate, import, passwd or lock");
        }
        if (judge(&a, v, &words, &f) != 0)
                return a.exit_code;
        if (f.passphrase_fd && (str_u64(f.passphrase_fd, &fd) < 0 || fd > 1023))
                return args_bad(&a, "--passphrase-fd wants the number of an open descriptor");
        if (f.note && !is_printable(f.note))
                return args_bad(&a, "a note is one line of text");
        struct err err = {0};
        struct store s;
        if (store_paths(&s, &err) < 0)
                return out_error(&err);
        int code = pass_on(&s, v, &words, &f);
        store_free(&s);
        return code;
}

const struct cmd cmd_secret = {
        .name = "secret",
        .group = CMD_SECRET,
        .args = "set NAME | ls | rm NAME | rotate NAME | import | passwd | lock [--json]",
        .summary = "keys that boxes may use and never have",
        .help = "The vault is one sealed file of yours. `set` asks for a value twice without "
                "showing it, or reads it from a pipe; it is never an argument. `ls` shows names, "
                "whose keys they are and when they changed, never a value. `rotate` is set for a "
                "name that must exist; a box that runs gets the new value with `ostiary rotate BOX "
                "NAME`. `import` looks for keys in your environment, ~/.aws/credentials, ~/.netrc, "
                "gh's login, ~/.npmrc and ~/.docker/config.json, lists them with the line of "
                "policy that would grant each, and takes them in when you say yes.\n"
                "\n"
                "Without a passphrase the vault's key is the file vault.key beside it. `passwd` "
                "sets or changes a passphrase, which is then asked for and remembered in the "
                "kernel's keyring for 15 minutes (OSTIARY_VAULT_TIMEOUT; `lock` forgets it at "
                "once). Without a terminal it is read from the file that "
                "OSTIARY_VAULT_PASSPHRASE_FILE names, from --passphrase-fd, or from the systemd "
                "credential ostiary.vault.\n"
                "\n"
                "A line of policy grants a secret to a box:\n"
                "  secret GITHUB_TOKEN from vault at api.github.com,github.com as bearer,basic\n"
                "\n"
                "Examples:\n"
                "  ostiary secret set GITHUB_TOKEN\n"
                "  gh auth token | ostiary secret set GITHUB_TOKEN\n"
                "  ostiary secret import --dry-run\n",
        .run = run,
};
