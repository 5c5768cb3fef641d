/* args.c - see args.h. Keeps no state outside struct args; prints only mistakes and help. */
#include "cli/args.h"

#include "base/exitcode.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args args_of(const struct cmd *cmd, const struct arg *table, int argc, char **argv)
{
        return (struct args){.cmd = cmd, .table = table, .argc = argc, .argv = argv, .at = 1};
}

int args_bad(struct args *a, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *words = str_vfmt(fmt, ap);
        va_end(ap);
        out_say("%s (see: ostiary help %s)", words, a->cmd->name);
        free(words);
        a->is_over = true;
        return a->exit_code = EXIT_BAD_USAGE;
}

enum { HELP_COLUMN = 28 };

static void print_flag(const struct arg *f)
{
        char left[64], letter[8] = "    ";
        if (f->letter)
                snprintf(letter, sizeof letter, "-%c, ", f->letter);
        bool is_opt = f->kind == ARG_KIND_OPT;
        int n = snprintf(left, sizeof left, "  %s--%s%s%s%s", letter, f->name,
                         is_opt    ? "[="
                         : f->meta ? " "
                                   : "",
                         f->meta ? f->meta : "", is_opt ? "]" : "");
        if (n >= HELP_COLUMN - 1)
                printf("%s\n%*s", left, HELP_COLUMN, "");
        else
                printf("%-*s", HELP_COLUMN, left);
        out_wrap(HELP_COLUMN, HELP_COLUMN, f->help);
}

static int help(struct args *a)
{
        printf("usage: ostiary %s%s%s\n\n", a->cmd->name, a->cmd->args[0] ? " " : "", a->cmd->args);
        out_wrap(0, 0, a->cmd->help);
        bool has_head = false;
        for (const struct arg *f = a->table; f->name; f++) {
                if (!f->help)
                        continue;
                if (!has_head)
                        puts("\nFlags:");
                has_head = true;
                print_flag(f);
        }
        a->is_over = true;
        a->exit_code = EXIT_OK;
        return -1;
}

/* store(a, f, shown, value): put the value where the flag wants it. */
static int store(struct args *a, const struct arg *f, const char *shown, const char *value)
{
        switch (f->kind) {
        case ARG_KIND_BOOL:
                *(bool *)f->to = true;
                return 0;
        case ARG_KIND_INT:
                *(int *)f->to = f->value;
                return 0;
        case ARG_KIND_STR:
        case ARG_KIND_OPT:
                *(const char **)f->to = value ? value : "";
                return 0;
        case ARG_KIND_LIST:
                strs_add(f->to, value);
                return 0;
        case ARG_KIND_U64:
                if (str_u64(value, f->to) == 0)
                        return 0;
                return args_bad(a, "%s wants a number, not \"%s\"", shown, value);
        case ARG_KIND_DURATION:
                if (str_duration(value, f->to) == 0)
                        return 0;
                return args_bad(a, "%s wants a time like 30, 5m or 8h, not \"%s\"", shown, value);
        }
        return 0;
}

static bool takes_value(const struct arg *f)
{
        return f->kind != ARG_KIND_BOOL && f->kind != ARG_KIND_INT && f->kind != ARG_KIND_OPT;
}

/* refuse(a, flag, near): complain about a flag that is not in the table. */
static int refuse(struct args *a, const char *flag, const char *near)
{
        char *shown = str_quote(flag);
        args_bad(a, "unknown flag %s%s%s%s%s%s", shown, near ? "; did you mean --" : "",
                 near ? near : "", near ? "?" : "", a->hint ? "; " : "", a->hint ? a->hint : "");
        free(shown);
        return -1;
}

static int unknown(struct args *a, const char *word)
{
        const char *names[64];
        size_t n = 0;
        for (const struct arg *f = a->table; f->name && n < 64; f++)
                names[n++] = f->name;
        char bare[64];
        snprintf(bare, sizeof bare, "%.*s", (int)strcspn(word + 2, "="), word + 2);
        const char *near = str_suggest(bare, names, n);
        return refuse(a, word, near);
}

static int long_flag(struct args *a, char *word)
{
        size_t n = strcspn(word + 2, "=");
        if (strcmp(word, "--help") == 0)
                return help(a);
        for (const struct arg *f = a->table; f->name; f++) {
                if (strlen(f->name) != n || strncmp(f->name, word + 2, n) != 0)
                        continue;
                const char *value = word[2 + n] ? word + 3 + n : NULL;
                char shown[64];
                snprintf(shown, sizeof shown, "--%s", f->name);
                if (!takes_value(f) && value && f->kind != ARG_KIND_OPT)
                        return args_bad(a, "%s takes no value", shown);
                if (takes_value(f) && !value && !(value = a->argv[a->at]))
                        return args_bad(a, "%s wants a value: %s", shown, f->meta);
                if (takes_value(f) && !word[2 + n])
                        a->at++;
                return store(a, f, shown, value);
        }
        return unknown(a, word);
}

static int short_flags(struct args *a, const char *word)
{
        for (const char *p = word + 1; *p; p++) {
                if (*p == 'h')
                        return help(a);
                const struct arg *f = a->table;
                while (f->name && f->letter != *p)
                        f++;
                char shown[] = {'-', *p, 0};
                if (!f->name)
                        return refuse(a, shown, NULL);
                if (!takes_value(f)) {
                        store(a, f, shown, NULL);
                        continue;
                }
                const char *value = p[1] ? p + 1 : a->argv[a->at];
                if (!value)
                        return args_bad(a, "%s wants a value: %s", shown, f->meta);
                if (!p[1])
                        a->at++;
                return store(a, f, shown, value);
        }
        return 0;
}

char *args_next(struct args *a)
{
        while (!a->is_over && !a->has_dashes && a->at < a->argc) {
                char *word = a->argv[a->at++];
                if (word[0] != '-' || word[1] == 0)
                        return word;
                if (strcmp(word, "--") == 0) {
                        a->has_dashes = true;
                        return NULL;
                }
                int r = word[1] == '-' ? long_flag(a, word) : short_flags(a, word);
                if (r != 0)
                        return NULL;
        }
        return NULL;
}

char **args_rest(const struct args *a)
{
        return a->argv + a->at;
}

int args_only(struct args *a, struct strs *words, size_t min, size_t max)
{
        for (char *w; (w = args_next(a));)
                strs_add(words, w);
        if (a->is_over)
                return -1;
        for (char **rest = args_rest(a); a->has_dashes && *rest; rest++)
                strs_add(words, *rest);
        if (words->n > max) {
                char *shown = str_quote(words->v[max]);
                args_bad(a, "one word too many: \"%s\"", shown);
                free(shown);
                return -1;
        }
        if (words->n < min) {
                args_bad(a, "something is missing: ostiary %s %s", a->cmd->name, a->cmd->args);
                return -1;
        }
        return 0;
}
