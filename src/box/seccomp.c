/* seccomp.c - puts the compiled filter on, and prints the table it was compiled from.
 *
 * Installed by pid 1 as the last step of building a box (drop.c); printed by `ostiary explain
 * --seccomp`. Must never need libseccomp: that is a matter of the build.
 *
 * What installing costs, medians of 151 interleaved rounds, range of three runs, on a two-core
 * virtual machine with kernel 6.18: this filter of 175 instructions 96-103 us; a filter of one
 * instruction 24-32 us. The nearest that libseccomp can do, two filters holding the same calls but
 * only part of the argument rules, 213-234 us as a tree (optimise 2), 454-508 us linear (optimise
 * 1). A call that is allowed whatever its arguments is then answered from the kernel's bitmap, 55
 * ns above no filter; ioctl, which runs the program, costs another 40 ns. */
#include "box/seccomp.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/json.h"
#include "box/seccomp_table.h"
#include "box/weak.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seccomp_filter.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

static struct sock_fprog program(void)
{
#ifdef OSTIARY_WEAK
        if (box_weak(WEAK_TIOCSTI))
                return (struct sock_fprog){LEN(filter_no_tiocsti),
                                           (struct sock_filter *)filter_no_tiocsti};
#endif
        return (struct sock_fprog){LEN(filter_full), (struct sock_filter *)filter_full};
}

int box_seccomp_install(struct err *err)
{
        struct sock_fprog p = program();
        if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &p) < 0) {
                err_sys(err, "the system-call filter was refused");
                return errno == EACCES ? err_hint(err, "no_new_privs is not set")
                                       : err_hint(err, "does this kernel have seccomp filters?");
        }

        /* Read back through the filter itself, so that a filter which answers nothing is noticed.
         */
        int mode = prctl(PR_GET_SECCOMP, 0, 0, 0, 0);
        if (mode != SECCOMP_MODE_FILTER)
                return err_set(err, E_MACHINE,
                               "the kernel took the system-call filter and reports mode %d", mode);
        return 0;
}

size_t box_seccomp_size(void)
{
        return LEN(filter_full);
}

/* ---- printing ---- */

#define WIDTH 80

/* Calls are stored as "name" or "name=number"; people want the name. Returns the next word and
 * moves
 * ${at} past it, or NULL at the end. */
static const char *next_call(const char **at, size_t *len)
{
        const char *word = *at + strspn(*at, " ");
        size_t whole = strcspn(word, " ");
        if (!whole)
                return NULL;
        *len = strcspn(word, " =");
        *at = word + whole;
        return word;
}

/* Prints the words of ${text} within 80 columns, every further line indented. */
static void print_wrapped(FILE *out, const char *text, size_t column, size_t indent)
{
        size_t len;
        bool is_first = true;
        for (const char *word; (word = next_call(&text, &len)); is_first = false) {
                if (!is_first && column + 1 + len > WIDTH) {
                        fprintf(out, "\n%*s", (int)indent, "");
                        column = indent;
                } else if (!is_first) {
                        fputc(' ', out);
                        column++;
                }
                fprintf(out, "%.*s", (int)len, word);
                column += len;
        }
        fputc('\n', out);
}

static const char *verdict(int error)
{
        return error ? strerrorname_np(error) : "allow";
}

static void print_text(FILE *out)
{
        fprintf(out, "System calls of a box. \"allow\" passes; an error name is what the caller "
                     "gets.\n");
        const char *group = "";
        for (size_t r = 0; r < seccomp_table_n; r++) {
                const struct seccomp_row *row = &seccomp_table[r];
                if (strcmp(group, row->group) != 0)
                        fprintf(out, "\n%s\n", row->group);
                group = row->group;

                if (row->clause_n == 0) {
                        fprintf(out, "  %-8s", verdict(row->error));
                        print_wrapped(out, row->calls, 10, 10);
                } else {
                        fprintf(out, "  depends %s\n", row->calls);
                        for (size_t c = 0; c < row->clause_n; c++)
                                fprintf(out, "            %-15s %s\n",
                                        verdict(row->clauses[c].error), row->clauses[c].words);
                        fprintf(out, "            %-15s anything else\n", verdict(row->error));
                }
                fprintf(out, "          # ");
                print_wrapped(out, row->why, 12, 12);
        }
        fprintf(out,
                "\nAny other call: %s. A call of another architecture or x32 kills the "
                "program.\nThe filter has %zu instructions.\n",
                verdict(SECCOMP_UNKNOWN), box_seccomp_size());
}

static void print_json(FILE *out)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "unknown_calls", verdict(SECCOMP_UNKNOWN));
        json_str(&j, "other_architectures", "kill");
        json_u64(&j, "instructions", box_seccomp_size());
        json_open(&j, "rows", '[');
        for (size_t r = 0; r < seccomp_table_n; r++) {
                const struct seccomp_row *row = &seccomp_table[r];
                json_open(&j, NULL, '{');
                json_str(&j, "group", row->group);
                json_open(&j, "calls", '[');
                size_t len;
                for (const char *at = row->calls, *word; (word = next_call(&at, &len));) {
                        char name[64];
                        snprintf(name, sizeof name, "%.*s", (int)len, word);
                        json_str(&j, NULL, name);
                }
                json_close(&j, ']');
                json_open(&j, "when", '[');
                for (size_t c = 0; c < row->clause_n; c++) {
                        json_open(&j, NULL, '{');
                        json_str(&j, "match", row->clauses[c].words);
                        json_str(&j, "verdict", verdict(row->clauses[c].error));
                        json_close(&j, '}');
                }
                json_close(&j, ']');
                json_str(&j, "verdict", verdict(row->error));
                json_str(&j, "why", row->why);
                json_close(&j, '}');
        }
        json_close(&j, ']');
        json_close(&j, '}');
        fprintf(out, "%s\n", buf_cstr(&b));
}

void box_seccomp_print(FILE *out, bool json)
{
        if (json)
                print_json(out);
        else
                print_text(out);
}
