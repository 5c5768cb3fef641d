/* gen_seccomp.c - turns the table of system calls into the filter the kernel runs.
 *
 * Run by make; prints seccomp_filter.h, which box/seccomp.c includes. libseccomp gives the numbers
 * of the calls; the program is laid out by gen_seccomp_prog.c, because libseccomp can neither say
 * "this argument, else EPERM" nor test one argument twice, and so would need two filters. Must
 * never print a program that has not been run, in the small interpreter below, against the table.
 */
#include "gen_seccomp_prog.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static call_rows row_of;
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
        if (row_of[nr])
                die("%s (%d) stands in the table twice. Remove one.", word, nr);
        row_of[nr] = row;
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
}

/* ---- the check ---- */

static uint32_t prog_run(const struct prog *p, const struct seccomp_data *data)
{
        uint32_t a = 0;
        for (size_t i = 0; i < p->n; i++) {
                const struct sock_filter *f = &p->insn[i];
                switch (f->code) {
                case BPF_LD | BPF_W | BPF_ABS:
                        memcpy(&a, (const char *)data + f->k, sizeof a);
                        break;
                case BPF_ALU | BPF_AND | BPF_K:
                        a &= f->k;
                        break;
                case BPF_JMP | BPF_JA:
                        i += f->k;
                        break;
                case BPF_JMP | BPF_JEQ | BPF_K:
                        i += a == f->k ? f->jt : f->jf;
                        break;
                case BPF_JMP | BPF_JGE | BPF_K:
                        i += a >= f->k ? f->jt : f->jf;
                        break;
                case BPF_JMP | BPF_JSET | BPF_K:
                        i += a & f->k ? f->jt : f->jf;
                        break;
                case BPF_RET | BPF_K:
                        return f->k;
                default:
                        die("instruction %zu has the unexpected code %#x.", i, f->code);
                }
        }
        die("the program runs past its end.");
}

/* What the table says, read clause by clause and without any cleverness. */
static uint32_t table_says(const struct seccomp_data *data, enum seccomp_tag without)
{
        uint32_t nr = (uint32_t)data->nr;
        if (data->arch != ARCH)
                return SECCOMP_RET_KILL_PROCESS;
        if (HAS_X32 && (nr & X32_BIT))
                return nr == NO_CALL ? SECCOMP_RET_ALLOW : SECCOMP_RET_KILL_PROCESS;
        const struct seccomp_row *row = nr < CALLS_MAX ? row_of[nr] : NULL;
        if (!row)
                return answer(SECCOMP_UNKNOWN);

        for (size_t c = 0; c < row->clause_n; c++) {
                const struct seccomp_clause *cl = &row->clauses[c];
                bool holds = without == SECCOMP_TAG_NONE || cl->tag != without;
                for (size_t t = 0; holds && t < SECCOMP_TESTS_MAX && cl->test[t].mask; t++) {
                        uint64_t word = data->args[cl->test[t].arg] >> (cl->test[t].high ? 32 : 0);
                        holds = ((uint32_t)word & cl->test[t].mask) == cl->test[t].want;
                }
                if (holds)
                        return answer(cl->error);
        }
        return answer(row->error);
}

static void check_one(const struct prog *p, const struct seccomp_data *d, enum seccomp_tag without)
{
        uint32_t is = prog_run(p, d), should = table_says(d, without);
        if (is != should)
                die("the program answers %#x to call %d (%#llx, %#llx, %#llx), the table %#x.", is,
                    d->nr, (unsigned long long)d->args[0], (unsigned long long)d->args[1],
                    (unsigned long long)d->args[2], should);
}

/* Tries a row with every mixture of the values its own tests are about and their neighbours. */
static void check_mixtures(const struct prog *p, const struct seccomp_row *row,
                           struct seccomp_data *d, uint8_t arg, enum seccomp_tag without)
{
        if (arg == 6) {
                check_one(p, d, without);
                return;
        }
        uint64_t value[256] = {0, ~0ull};
        size_t n = 1;
        for (size_t c = 0; c < row->clause_n; c++)
                for (size_t t = 0; t < SECCOMP_TESTS_MAX && row->clauses[c].test[t].mask; t++) {
                        const struct seccomp_test *ts = &row->clauses[c].test[t];
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
        for (size_t v = 0; v < n; v++) {
                d->args[arg] = value[v];
                check_mixtures(p, row, d, (uint8_t)(arg + 1), without);
        }
}

static void prog_check(const struct prog *p, enum seccomp_tag without)
{
        static const struct seccomp_row no_row;
        for (int nr = -2; nr < CALLS_MAX + 8; nr++) {
                struct seccomp_data d = {.nr = nr, .arch = ARCH};
                const struct seccomp_row *row = nr >= 0 && nr < CALLS_MAX ? row_of[nr] : NULL;
                check_mixtures(p, row ? row : &no_row, &d, 0, without);
                d.nr = (int)((uint32_t)nr | X32_BIT);
                check_one(p, &d, without);
                d = (struct seccomp_data){.nr = nr, .arch = AUDIT_ARCH_I386};
                check_one(p, &d, without);
        }
}

/* ---- the output ---- */

static void prog_print(const char *name, enum seccomp_tag without)
{
        static struct prog p;
        prog_build(&p, row_of, without);
        prog_check(&p, without);

        printf("static const struct sock_filter %s[] = {\n", name);
        for (size_t i = 0; i < p.n; i++)
                printf("        {0x%02x, %u, %u, 0x%08x},\n", p.insn[i].code, p.insn[i].jt,
                       p.insn[i].jf, p.insn[i].k);
        printf("};\n");
}

int main(void)
{
        table_read();

        printf("/* seccomp_filter.h - made by tools/gen_seccomp.c from src/box/seccomp_table.c for "
               "%s.\n * Include <linux/filter.h> first. */\n",
               ARCH_NAME);
        if (left_out[0])
                printf("/* Without a number here:%s. */\n", left_out);
        prog_print("filter_full", SECCOMP_TAG_NONE);
        printf("#ifdef OSTIARY_WEAK\n");
        prog_print("filter_no_tiocsti", SECCOMP_TAG_TIOCSTI);
        printf("#endif\n");

        if (fflush(stdout) != 0 || ferror(stdout))
                die("the header cannot be written: %s.", strerror(errno));
        return 0;
}
