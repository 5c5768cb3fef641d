/* args.c - see args.h. Keeps no state outside struct args; prints only mistakes and help. */
#include "cli/args.h"

#include "base/exitcode.h"
#include "base/str.h"
#include "cli/cmd.h"
#include "cli/envelope.h"
#include "cli/foreign.h"
#include "cli/out.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct args args_of(const struct cmd *cmd, const struct arg *table, int argc, char **argv)
{
        return (struct args){.cmd = cmd, .table = table, .argc = argc, .argv = argv, .at = 1};
}

/* look_for_json(a): a mistake is told as JSON also when --json stands behind it on the line. */
static void look_for_json(const struct args *a)
{
        const struct arg *f = a->table;
        while (f->name && strcmp(f->name, "json") != 0)
                f++;
        for (int i = 1; f->name && i < a->argc && strcmp(a->argv[i], "--") != 0; i++)
                if (strcmp(a->argv[i], "--json") == 0)
                        envelope_on();
}

int args_bad(struct args *a, const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        char *words = str_vfmt(fmt, ap);
        va_end(ap);
        char *sentence = str_fmt("%s (see: ostiary help %s)", words, a->cmd->name);
        look_for_json(a);
        out_fault(EXIT_BAD_USAGE, sentence);
        free(sentence);
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
                if (strcmp(f->name, "json") == 0)
                        envelope_on();
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
        case ARG_KIND_OLD: /* resolved before */
                break;
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
        if (strcmp(flag, "--json") == 0) /* whoever asks for JSON reads the refusal of it as JSON */
                envelope_on();
        args_bad(a, "unknown flag %s%s%s%s", shown, near ? "; did you mean --" : "",
                 near ? near : "", near ? "?" : "");
        free(shown);
        return -1;
}

int args_for_agent(struct args *a, const char *flag, const char *value)
{
        const struct arg *ours = a->table;
        while (ours->name && (flag[1] == '-' || ours->letter != flag[1]))
                ours++;
        char *shown = str_quote(flag), *more = str_quote(value ? value : "");
        char *mine = ours->name ? str_fmt("; ostiary's own here is --%s", ours->name) : str_dup("");
        args_bad(a, "flags for the agent go after --: ostiary %s %s -- %s%s%s%s", a->cmd->name,
                 a->agent, shown, value ? " " : "", more, mine);
        free(mine);
        free(more);
        free(shown);
        return -1;
}

static const struct arg *find_long(const struct args *a, const char *name, size_t len)
{
        for (const struct arg *f = a->table; f->name; f++)
                if (f->kind != ARG_KIND_OLD && strlen(f->name) == len &&
                    strncmp(f->name, name, len) == 0)
                        return f;
        return NULL;
}

/* find_letter(a, letter): an old one leads to its long flag, and says so. */
static const struct arg *find_letter(const struct args *a, char letter)
{
        const struct arg *f = a->table;
        while (f->name && f->letter != letter)
                f++;
        if (!f->name)
                return NULL;
        if (f->kind != ARG_KIND_OLD)
                return f;
        out_say("note: -%c of ostiary %s is --%s now; the letter will go in the next version",
                letter, a->cmd->name, f->name);
        return find_long(a, f->name, strlen(f->name));
}

/* take_value(a): the next word of the line, or NULL at its end. */
static const char *take_value(struct args *a)
{
        return a->argv[a->at] ? a->argv[a->at++] : NULL;
}

/* from_elsewhere(a, flag, len, value): ${flag} is not in the table; is it a word of another tool?
 * Then it is stored as ours, or answered. 1 when it is none. */
static int from_elsewhere(struct args *a, const char *flag, size_t len, const char *value)
{
        const struct foreign_flag *row = foreign_flag_find(flag, len);
        if (!row || !find_long(a, row->needs, strlen(row->needs)))
                return 1;
        char *shown = str_fmt("%.*s", (int)len, flag);
        const char *second = NULL;
        if (row->values_n > 0 && !value)
                value = take_value(a);
        if (row->values_n > 1)
                second = take_value(a);
        int r = 0;
        if (row->values_n > 0 && (!value || (row->values_n > 1 && !second))) {
                r = args_bad(a, "%s wants %s", shown, row->values_n > 1 ? "two values" : "a value");
        } else {
                struct foreign_answer answer = {0};
                foreign_flag_turn(row, value, second, &answer);
                const struct arg *ours =
                        answer.flag ? find_long(a, answer.flag, strlen(answer.flag)) : NULL;
                if (ours)
                        r = store(a, ours, shown, answer.value);
                else if (answer.words)
                        r = args_bad(a, "%s: %s", shown, answer.words);
                /* What a list copied may go; what a string points at must stay. */
                if (!ours || ours->kind == ARG_KIND_LIST)
                        free(answer.value);
                free(answer.words);
        }
        free(shown);
        return r;
}

static int unknown(struct args *a, const char *word)
{
        const char *names[64];
        size_t n = 0, len = strcspn(word, "=");
        if (a->agent)
                return args_for_agent(a, word, NULL);
        int r = from_elsewhere(a, word, len, word[len] ? word + len + 1 : NULL);
        if (r != 1)
                return r;
        for (const struct arg *f = a->table; f->name && n < 64; f++)
                if (f->kind != ARG_KIND_OLD)
                        names[n++] = f->name;
        char bare[64];
        snprintf(bare, sizeof bare, "%.*s", (int)len - 2, word + 2);
        const char *near = str_suggest(bare, names, n);
        return refuse(a, word, near);
}

static int long_flag(struct args *a, char *word)
{
        size_t n = strcspn(word + 2, "=");
        if (strcmp(word, "--help") == 0)
                return help(a);
        const struct arg *f = find_long(a, word + 2, n);
        if (!f)
                return unknown(a, word);
        const char *value = word[2 + n] ? word + 3 + n : NULL;
        char shown[64];
        snprintf(shown, sizeof shown, "--%s", f->name);
        if (!takes_value(f) && value && a->agent)
                return args_for_agent(a, word, NULL);
        if (!takes_value(f) && value && f->kind != ARG_KIND_OPT)
                return args_bad(a, "%s takes no value", shown);
        if (takes_value(f) && !value && !(value = take_value(a)))
                return args_bad(a, "%s wants a value: %s", shown, f->meta);
        return store(a, f, shown, value);
}

static int short_flags(struct args *a, const char *word)
{
        for (const char *p = word + 1; *p; p++) {
                if (*p == 'h')
                        return help(a);
                if (a->agent)
                        return args_for_agent(a, word, NULL);
                const struct arg *f = find_letter(a, *p);
                char shown[] = {'-', *p, 0};
                if (!f) {
                        int r = from_elsewhere(a, shown, 2, p[1] ? p + 1 : NULL);
                        return r == 1 ? refuse(a, shown, NULL) : r;
                }
                if (!takes_value(f)) {
                        store(a, f, shown, NULL);
                        continue;
                }
                const char *value = p[1] ? p + 1 : take_value(a);
                if (!value)
                        return args_bad(a, "%s wants a value: %s", shown, f->meta);
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
