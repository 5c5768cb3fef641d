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
#include "box/seccomp_run.h"
#include "box/seccomp_table.h"
#include "box/weak.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "seccomp_filter.h"

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

/* Newer than Debian 12's headers. Once a call is told of, only a fatal signal interrupts it: the
 * timers of some languages' run-times would otherwise start it over and over. */
#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV (1ul << 5)
#endif
/* The witness runs where the caller just stopped, and is not first woken on another core. */
#define SET_FLAGS    SECCOMP_IOW(4, uint64_t)
#define SYNC_WAKE_UP 1ul

#define PROGRAM(code)                                                                              \
        {                                                                                          \
                .len = LEN(code), .filter = (struct sock_filter *)(uintptr_t)(code)                \
        }

static struct sock_fprog program(enum box_audit level)
{
        static const struct sock_fprog programs[BOX_AUDIT_N] = {
                [BOX_AUDIT_OFF] = PROGRAM(filter_full),
                [BOX_AUDIT_DEFAULT] = PROGRAM(filter_default),
                [BOX_AUDIT_FILES] = PROGRAM(filter_files),
                [BOX_AUDIT_ALL] = PROGRAM(filter_all),
        };
#ifdef OSTIARY_WEAK
        if (box_weak(WEAK_TIOCSTI))
                return (struct sock_fprog)PROGRAM(filter_no_tiocsti);
#endif
        return programs[level];
}

int box_seccomp_install(struct err *err)
{
        struct sock_fprog p = program(BOX_AUDIT_OFF);
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

int box_seccomp_watch(enum box_audit level, volatile int *listener_fd, struct err *err)
{
        struct sock_fprog p = program(level);
        int fd = -1;
        /* Kernels before 5.19 do without the log of calls rather than without the second flag. One
         * that has a listener already (a box in a box) gives no other. */
        if (level != BOX_AUDIT_OFF && !box_weak(WEAK_TIOCSTI))
                fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER |
                                          SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                                  &p);
        /* From here on our own calls may wait for whoever gets the descriptor: make none. */
        *listener_fd = fd >= 0 ? fd : BOX_SECCOMP_DEAF;
        return fd >= 0 ? 0 : box_seccomp_install(err);
}

int box_seccomp_can_tell(void)
{
        struct sock_filter all[] = {{BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW}};
        struct sock_fprog p = PROGRAM(all);
        int fd = -1;
        if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
                fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
                                  SECCOMP_FILTER_FLAG_NEW_LISTENER |
                                          SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
                                  &p);
        return fd < 0 ? errno : 0;
}

void box_seccomp_listen(int listener_fd)
{
        ioctl(listener_fd, SET_FLAGS, SYNC_WAKE_UP); /* Linux 6.6: faster, and no more than that */
}

/* box_seccomp_verdict: by running the very program that the kernel would run. */
int box_seccomp_verdict(const struct seccomp_data *data)
{
        uint32_t action;
        if (!seccomp_run(filter_full, LEN(filter_full), data, &action))
                return EPERM; /* not what we compiled */
        if (action == SECCOMP_RET_ALLOW)
                return 0;
        return action & SECCOMP_RET_DATA ? (int)(action & SECCOMP_RET_DATA) : EPERM;
}

const char *box_seccomp_name(int nr)
{
        return nr >= 0 && (size_t)nr < LEN(call_names) ? call_names[nr] : NULL;
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

static const char *level_name(enum box_audit level)
{
        static const char *const names[BOX_AUDIT_N] = {"off", "default", "files", "all"};
        return names[level];
}

static void print_recorded(FILE *out)
{
        fprintf(out, "\nRecorded in the box's log: every refused call, and with --audit\n");
        for (size_t i = 0; i < seccomp_watch_n; i++) {
                const struct seccomp_watch *w = &seccomp_watch[i];
                fprintf(out, "  %-8s", level_name(w->level));
                print_wrapped(out, w->calls, 10, 10);
                for (size_t u = 0; u < w->unless_n; u++)
                        fprintf(out, "            not with %s\n", w->unless[u].words);
                fprintf(out, "          # ");
                print_wrapped(out, w->why, 12, 12);
        }
        fprintf(out, "  %-8severy call\n", level_name(BOX_AUDIT_ALL));
}

static void json_calls(struct json *j, const char *calls)
{
        size_t len;
        json_open(j, "calls", '[');
        for (const char *word; (word = next_call(&calls, &len));) {
                char name[64];
                snprintf(name, sizeof name, "%.*s", (int)len, word);
                json_str(j, NULL, name);
        }
        json_close(j, ']');
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
                json_calls(&j, row->calls);
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
        json_open(&j, "recorded", '[');
        for (size_t i = 0; i < seccomp_watch_n; i++) {
                json_open(&j, NULL, '{');
                json_str(&j, "level", level_name(seccomp_watch[i].level));
                json_calls(&j, seccomp_watch[i].calls);
                json_str(&j, "why", seccomp_watch[i].why);
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
        else {
                print_text(out);
                print_recorded(out);
        }
}
