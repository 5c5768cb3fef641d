/* gen_seccomp.c - turns the table of system calls into the filter the kernel runs.
 *
 * Run by make; prints seccomp_filter.h, which box/seccomp.c includes. libseccomp gives the numbers
 * of the calls; the program is laid out by gen_seccomp_prog.c, because libseccomp can neither say
 * "this argument, else EPERM" nor test one argument twice, and so would need two filters. Must
 * never print a program that has not been run, in the small interpreter below, against the table.
 */
#include "gen_seccomp_prog.h"

#include "box/seccomp_run.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct call calls[CALLS_MAX];
static const char *name_of[CALLS_MAX];
static char left_out[8192]; /* names without a number here, for a comment in the output */

void die(const char *fmt, ...)
{
        va_list ap;
        va_start(ap, fmt);
        fputs("gen_seccomp: ", stderr);
        vfprintf(stderr, fmt, ap);
        fputc('\n', stderr);
        va_end(ap);
        exit(1);
}

/* ---- names to numbers ---- */

static bool row_allows(const struct seccomp_row *row)
{
        bool any = row->error == 0;
        for (size_t c = 0; c < row->clause_n; c++)
                any |= row->clauses[c].error == 0;
        return any;
}

/* Gives ${row}'s verdict to one call, written "name" or "name=number". */
static void call_enter(char *word, const struct seccomp_row *row)
{
        int given = -1;
        char *equals = strchr(word, '=');
        if (equals) {
                char *end;
                *equals = '\0';
                long n = strtol(equals + 1, &end, 10);
                if (*end || end == equals + 1 || n < 0 || n >= CALLS_MAX)
                        die("\"%s\" is not the number of %s.", equals + 1, word);
                given = (int)n;
        }
        int nr = seccomp_syscall_resolve_name(word);

        if (nr == __NR_SCMP_ERROR && given >= 0)
                nr = given;
        else if (given >= 0 && nr >= 0 && nr != given)
                die("the table says %s is number %d, libseccomp says %d. Correct the table.", word,
                    given, nr);
        if (nr == __NR_SCMP_ERROR && row_allows(row))
                die("libseccomp does not know a system call named %s, which a row allows. Correct "
                    "the name, or write %s=NUMBER.",
                    word, word);

        /* Refused and without a number: the answer for unknown calls refuses it too. A call that
         * this architecture lacks has a negative number. */
        if (nr < 0) {
                size_t used = strlen(left_out);
                snprintf(left_out + used, sizeof left_out - used, " %s", word);
                return;
        }
        if (nr >= CALLS_MAX)
                die("%s has number %d, above the %d calls this program plans for.", word, nr,
                    CALLS_MAX);
        if (calls[nr].row)
                die("%s (%d) stands in the table twice. Remove one.", word, nr);
        calls[nr].row = row;
        name_of[nr] = strdup(word);
}

/* A call that this architecture lacks is watched nowhere. */
static void watch_enter(const char *word, const struct seccomp_watch *watch)
{
        int nr = seccomp_syscall_resolve_name(word);
        if (nr == __NR_SCMP_ERROR)
                die("libseccomp does not know a system call named %s, which is to be recorded.",
                    word);
        if (nr < 0)
                return;
        if (nr >= CALLS_MAX || !calls[nr].row)
                die("%s is to be recorded and stands in no row of the table.", word);
        if (calls[nr].watch)
                die("%s is to be recorded twice. Remove one.", word);
        calls[nr].watch = watch;
}

static void names_fill(void)
{
        for (int nr = 0; nr < CALLS_MAX; nr++)
                if (!name_of[nr])
                        name_of[nr] = seccomp_syscall_resolve_num_arch(SCMP_ARCH_NATIVE, nr);
}

static void row_check(const struct seccomp_row *row)
{
        if (!row->why || !row->why[0])
                die("the row of \"%s\" does not say why.", row->calls);
        for (size_t c = 0; c < row->clause_n; c++) {
                const struct seccomp_clause *cl = &row->clauses[c];
                if (!cl->test[0].mask)
                        die("clause \"%s\" tests nothing.", cl->words);
                for (size_t t = 0; t < SECCOMP_TESTS_MAX; t++) {
                        if (cl->test[t].arg > 5)
                                die("clause \"%s\" looks at argument %u; there are six, from 0.",
                                    cl->words, cl->test[t].arg);
                        if (cl->test[t].want & ~cl->test[t].mask)
                                die("clause \"%s\" can never match: it wants bits that its own "
                                    "mask removes.",
                                    cl->words);
                }
        }
}

static void table_read(void)
{
        for (size_t r = 0; r < seccomp_table_n; r++) {
                row_check(&seccomp_table[r]);
                char *words = strdup(seccomp_table[r].calls), *save = NULL;
                for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
                        call_enter(w, &seccomp_table[r]);
                free(words);
        }
        for (size_t r = 0; r < seccomp_watch_n; r++) {
                char *words = strdup(seccomp_watch[r].calls), *save = NULL;
                for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
                        watch_enter(w, &seccomp_watch[r]);
                free(words);
        }
        names_fill();
}

/* ---- the check ---- */

static uint32_t prog_run(const struct prog *p, const struct seccomp_data *data)
{
        uint32_t action;
        if (!seccomp_run(p->insn, p->n, data, &action))
                die("the program has an unexpected instruction, or runs past its end.");
        return action;
}

static bool clause_holds(const struct seccomp_clause *cl, const struct seccomp_data *data)
{
        bool holds = true;
        for (size_t t = 0; holds && t < SECCOMP_TESTS_MAX && cl->test[t].mask; t++) {
                uint64_t word = data->args[cl->test[t].arg] >> (cl->test[t].high ? 32 : 0);
                holds = ((uint32_t)word & cl->test[t].mask) == cl->test[t].want;
        }
        return holds;
}

/* What the table says of a call that we have a row for: an error, or 0. */
static int row_says(const struct seccomp_row *row, const struct seccomp_data *data,
                    enum seccomp_tag without)
{
        for (size_t c = 0; c < row->clause_n; c++) {
                const struct seccomp_clause *cl = &row->clauses[c];
                if ((without == SECCOMP_TAG_NONE || cl->tag != without) && clause_holds(cl, data))
                        return cl->error;
        }
        return row->error;
}

/* What the tables say, read clause by clause and without any cleverness. */
static uint32_t table_says(const struct seccomp_data *data, const struct kind *k)
{
        uint32_t nr = (uint32_t)data->nr;
        if (data->arch != ARCH)
                return SECCOMP_RET_KILL_PROCESS;
        if (HAS_X32 && (nr & X32_BIT))
                return nr == NO_CALL ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS;
        const struct call *c = nr < CALLS_MAX ? &calls[nr] : &(struct call){0};
        int error = c->row ? row_says(c->row, data, k->without) : SECCOMP_UNKNOWN;
        if (k->level == BOX_AUDIT_OFF)
                return answer(error);
        if (error || k->level == BOX_AUDIT_ALL)
                return SECCOMP_RET_USER_NOTIF;
        bool is_told = c->watch && c->watch->level <= k->level;
        for (size_t i = 0; is_told && i < c->watch->unless_n; i++)
                is_told = !clause_holds(&c->watch->unless[i], data);
        return is_told ? SECCOMP_RET_USER_NOTIF : SECCOMP_RET_ALLOW;
}

static void check_one(const struct prog *p, const struct seccomp_data *d, const struct kind *k)
{
        uint32_t is = prog_run(p, d), should = table_says(d, k);
        if (is != should)
                die("the program answers %#x to call %d (%#llx, %#llx, %#llx), the table %#x.", is,
                    d->nr, (unsigned long long)d->args[0], (unsigned long long)d->args[1],
                    (unsigned long long)d->args[2], should);
}

/* Values that the tests of ${cl} about ${arg} are about, and their neighbours. */
static size_t values_of(const struct seccomp_clause *cl, uint8_t arg, uint64_t value[256], size_t n)
{
        for (size_t t = 0; t < SECCOMP_TESTS_MAX && cl->test[t].mask; t++) {
                const struct seccomp_test *ts = &cl->test[t];
                if (ts->arg != arg || n > 240)
                        continue;
                uint32_t lowest = ts->mask & -ts->mask;
                n = n < 2 ? 2 : n;
                value[n++] = ts->want;
                value[n++] = ts->want | 1ull << 32;
                value[n++] = ts->want | (uint32_t)~ts->mask;
                value[n++] = ts->want ^ lowest;
                value[n++] = ts->want ^ (ts->mask & ~(ts->mask >> 1));
        }
        return n;
}

/* Tries a row with every mixture of the values its own tests are about and their neighbours. */
static void check_mixtures(const struct prog *p, const struct call *c, struct seccomp_data *d,
                           uint8_t arg, const struct kind *k)
{
        if (arg == 6) {
                check_one(p, d, k);
                return;
        }
        uint64_t value[256] = {0, ~0ull};
        size_t n = 1;
        for (size_t i = 0; c->row && i < c->row->clause_n; i++)
                n = values_of(&c->row->clauses[i], arg, value, n);
        for (size_t i = 0; c->watch && i < c->watch->unless_n; i++)
                n = values_of(&c->watch->unless[i], arg, value, n);
        for (size_t v = 0; v < n; v++) {
                d->args[arg] = value[v];
                check_mixtures(p, c, d, (uint8_t)(arg + 1), k);
        }
}

static void prog_check(const struct prog *p, const struct kind *k)
{
        static const struct call nobody;
        for (int nr = -2; nr < CALLS_MAX + 8; nr++) {
                struct seccomp_data d = {.nr = nr, .arch = ARCH};
                check_mixtures(p, nr >= 0 && nr < CALLS_MAX ? &calls[nr] : &nobody, &d, 0, k);
                d.nr = (int)((uint32_t)nr | X32_BIT);
                check_one(p, &d, k);
                d = (struct seccomp_data){.nr = nr, .arch = AUDIT_ARCH_I386};
                check_one(p, &d, k);
        }
}

/* ---- the output ---- */

static void prog_print(const char *name, const struct kind *k)
{
        static struct prog p;
        prog_build(&p, calls, k);
        prog_check(&p, k);

        printf("static const struct sock_filter %s[] = {\n", name);
        for (size_t i = 0; i < p.n; i++)
                printf("        {0x%02x, %u, %u, 0x%08x},\n", p.insn[i].code, p.insn[i].jt,
                       p.insn[i].jf, p.insn[i].k);
        printf("};\n");
}

static void names_print(void)
{
        printf("static const char *const call_names[] = {\n");
        for (int nr = 0; nr < CALLS_MAX; nr++)
                if (name_of[nr])
                        printf("        [%d] = \"%s\",\n", nr, name_of[nr]);
        printf("};\n");
}

int main(void)
{
        static const char *const names[BOX_AUDIT_N] = {"filter_full", "filter_default",
                                                       "filter_files", "filter_all"};
        table_read();

        printf("/* seccomp_filter.h - made by tools/gen_seccomp.c from src/box/seccomp_table.c and "
               "seccomp_watch.c for %s.\n * Include <linux/filter.h> first. */\n",
               ARCH_NAME);
        if (left_out[0])
                printf("/* Without a number here:%s. */\n", left_out);
        for (int level = 0; level < BOX_AUDIT_N; level++)
                prog_print(names[level], &(struct kind){.level = (enum box_audit)level});
        names_print();
        printf("#ifdef OSTIARY_WEAK\n");
        prog_print("filter_no_tiocsti", &(struct kind){.without = SECCOMP_TAG_TIOCSTI});
        printf("#endif\n");

        if (fflush(stdout) != 0 || ferror(stdout))
                die("the header cannot be written: %s.", strerror(errno));
        return 0;
}
