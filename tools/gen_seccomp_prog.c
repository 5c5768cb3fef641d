/* gen_seccomp_prog.c - lays out the filter: one binary search over ranges of calls with the same
 * answer, and small trees of tests for the calls whose arguments matter.
 *
 * Called by gen_seccomp.c, which checks the result against the table. Installing a filter makes the
 * kernel compile it and then run it once for every call number, so its length and its depth are
 * what each box pays at start; the figures are in box/seccomp.c.
 *
 * Programs are laid down from their end to their beginning, so that every jump knows its distance
 * and one return can serve many of them. A label counts instructions from the end. */
#include "gen_seccomp_prog.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <stddef.h>

typedef size_t label;

struct range {
        struct call call;
        uint32_t first;
        bool is_last; /* reaches up to the largest number there is */
};

uint32_t answer(int error)
{
        if (error == TELL)
                return SECCOMP_RET_USER_NOTIF;
        return error ? SECCOMP_RET_ERRNO | (uint32_t)error : SECCOMP_RET_ALLOW;
}

static label put(struct prog *p, uint16_t code, uint8_t jt, uint8_t jf, uint32_t k)
{
        if (p->n == BPF_MAXINSNS)
                die("the program is longer than the %d instructions a filter may have.",
                    BPF_MAXINSNS);
        p->insn[p->n] = (struct sock_filter){code, jt, jf, k};
        return p->n++;
}

/* A conditional jump reaches 255 instructions; what is farther away gets a long jump nearby. */
static label put_near(struct prog *p, label to)
{
        size_t away = p->n - to - 1;
        return away < 250 ? to : put(p, BPF_JMP | BPF_JA, 0, 0, (uint32_t)away);
}

static label put_jump(struct prog *p, uint16_t op, uint32_t k, label yes, label no)
{
        yes = put_near(p, yes);
        no = put_near(p, no);
        return put(p, (uint16_t)(BPF_JMP | op | BPF_K), (uint8_t)(p->n - yes - 1),
                   (uint8_t)(p->n - no - 1), k);
}

static label put_return(struct prog *p, uint32_t k)
{
        for (size_t i = p->n; i > 0 && p->n - i < 200; i--)
                if (p->insn[i - 1].code == (BPF_RET | BPF_K) && p->insn[i - 1].k == k)
                        return i - 1;
        return put(p, BPF_RET | BPF_K, 0, 0, k);
}

static uint32_t word_offset(const struct seccomp_test *t)
{
        return (uint32_t)(offsetof(struct seccomp_data, args) + 8u * t->arg + (t->high ? 4 : 0));
}

static label put_test(struct prog *p, const struct seccomp_test *t, bool loaded, label yes,
                      label no)
{
        label at;
        if (t->mask == 0xffffffffu) {
                at = put_jump(p, BPF_JEQ, t->want, yes, no);
        } else if (t->want == 0) {
                at = put_jump(p, BPF_JSET, t->mask, no, yes);
        } else {
                put_jump(p, BPF_JEQ, t->want, yes, no);
                at = put(p, BPF_ALU | BPF_AND | BPF_K, 0, 0, t->mask);
        }
        return loaded ? at : put(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, word_offset(t));
}

static bool same_test(const struct seccomp_test *a, const struct seccomp_test *b)
{
        return a->arg == b->arg && a->high == b->high && a->mask == b->mask && a->want == b->want;
}

/* After this clause failed at ${depth}, is the word of ${t} still in the accumulator? */
static bool leaves_loaded(const struct seccomp_clause *cl, size_t depth,
                          const struct seccomp_test *t)
{
        const struct seccomp_test *own = &cl->test[depth];
        bool is_last = depth + 1 == SECCOMP_TESTS_MAX || !own[1].mask;
        return is_last && (own->mask == 0xffffffffu || own->want == 0) &&
               word_offset(own) == word_offset(t);
}

/* Clauses ${cl}[0..n) have passed the same ${depth} tests. Neighbours that go on with the same test
 * share it. Falls to ${next} when none of them matches. */
static label put_clauses(struct prog *p, const struct seccomp_clause *cl, size_t n, size_t depth,
                         label next)
{
        while (n > 0) {
                const struct seccomp_test *t = &cl[n - 1].test[depth];
                if (depth == SECCOMP_TESTS_MAX || !t->mask) {
                        next = put_return(p, answer(cl[--n].error));
                        continue;
                }
                size_t first = n - 1;
                while (first > 0 && same_test(&cl[first - 1].test[depth], t))
                        first--;
                bool loaded = first > 0 && leaves_loaded(&cl[first - 1], depth, t) &&
                              (first == 1 ||
                               !same_test(&cl[first - 2].test[depth], &cl[first - 1].test[depth]));
                label inside = put_clauses(p, cl + first, n - first, depth + 1, next);
                next = put_test(p, t, loaded, inside, next);
                n = first;
        }
        return next;
}

bool is_watched(const struct call *c, const struct kind *k)
{
        return k->level == BOX_AUDIT_ALL || (c->watch && c->watch->level <= k->level);
}

/* A row as this kind of program answers it. */
struct answers {
        struct seccomp_clause clauses[48];
        size_t n;
        int other; /* when no clause matches */
};

static void add_clause(struct answers *a, const struct seccomp_clause *cl, int error)
{
        if (a->n == sizeof a->clauses / sizeof a->clauses[0])
                die("the row with \"%s\" has too many clauses.", cl->words);
        a->clauses[a->n] = *cl;
        a->clauses[a->n++].error = error;
}

static struct answers answers_of(const struct call *c, const struct kind *k)
{
        const struct seccomp_row *row = c->row;
        const struct seccomp_watch *watch = is_watched(c, k) ? c->watch : NULL;
        int refused = row ? row->error : SECCOMP_UNKNOWN;
        /* Every call is a matter of this level, its exceptions too. */
        size_t unless_n = watch && k->level != BOX_AUDIT_ALL ? watch->unless_n : 0;
        int allowed = is_watched(c, k) ? TELL : 0;
        struct answers a = {.other = refused && k->level != BOX_AUDIT_OFF ? TELL : refused};
        if (!refused)
                a.other = allowed;

        for (size_t i = 0; row && i < row->clause_n; i++) {
                const struct seccomp_clause *cl = &row->clauses[i];
                if (k->without != SECCOMP_TAG_NONE && cl->tag == k->without)
                        continue;
                if (!cl->error && unless_n)
                        die("%s has exceptions from being recorded and clauses that allow.",
                            row->calls);
                add_clause(&a, cl,
                           cl->error ? k->level == BOX_AUDIT_OFF ? cl->error : TELL : allowed);
        }
        if (unless_n && refused)
                die("%s has exceptions from being recorded and is refused.",
                    row ? row->calls : "an unknown call");
        for (size_t i = 0; i < unless_n; i++)
                add_clause(&a, &watch->unless[i], 0);

        bool is_same = true;
        for (size_t i = 0; i < a.n; i++)
                is_same = is_same && a.clauses[i].error == a.other;
        if (is_same)
                a.n = 0;
        return a;
}

static label put_row(struct prog *p, const struct call *c, const struct kind *k)
{
        struct answers a = answers_of(c, k);
        label next = put_return(p, answer(a.other));
        return put_clauses(p, a.clauses, a.n, 0, next);
}

/* Above every call: x32 comes with the same architecture and a bit in the number (case 6). The
 * number a tracer writes to have a call skipped has that bit too, and runs nothing. */
static label put_beyond(struct prog *p, const struct kind *k)
{
        label unknown = put_row(p, &(struct call){0}, k);
        if (!HAS_X32)
                return unknown;
        label kill = put_return(p, SECCOMP_RET_KILL_PROCESS);
        label allow = put_return(p, SECCOMP_RET_ALLOW);
        label bit = put_jump(p, BPF_JEQ, NO_CALL, allow, kill);
        return put_jump(p, BPF_JSET, X32_BIT, bit, unknown);
}

/* Finds the range of the number in the accumulator. Halves by the count of calls, not of ranges. */
static label put_search(struct prog *p, const struct range *r, size_t n, const struct kind *k)
{
        if (n == 1)
                return r->is_last ? put_beyond(p, k) : put_row(p, &r->call, k);

        uint32_t middle = r[0].first + (r[n].first - r[0].first) / 2;
        size_t half = 1;
        while (half + 1 < n && r[half].first < middle)
                half++;
        if (half > 1 && r[half].first - middle > middle - r[half - 1].first)
                half--;
        label above = put_search(p, r + half, n - half, k);
        label below = put_search(p, r, half, k);
        return put_jump(p, BPF_JGE, r[half].first, above, below);
}

static bool same_answer(const struct call *a, const struct call *b, const struct kind *k)
{
        struct answers x = answers_of(a, k), y = answers_of(b, k);
        if (x.n || y.n)
                return a->row == b->row && a->watch == b->watch;
        return x.other == y.other;
}

void prog_build(struct prog *p, const struct call calls[CALLS_MAX], const struct kind *k)
{
        static const struct call nobody;
        struct range ranges[CALLS_MAX + 2];
        size_t n = 0;
        for (uint32_t nr = 0; nr < CALLS_MAX; nr++)
                if (n == 0 || !same_answer(&ranges[n - 1].call, &calls[nr], k))
                        ranges[n++] = (struct range){calls[nr], nr, false};
        if (!same_answer(&ranges[n - 1].call, &nobody, k))
                ranges[n++] = (struct range){nobody, CALLS_MAX, false};
        ranges[n - 1].is_last = true;
        ranges[n].first = ranges[n - 1].first + 8; /* what kernels have of it, for the balance */

        p->n = 0;
        put_search(p, ranges, n, k);
        label search = put(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, nr));
        label kill = put_return(p, SECCOMP_RET_KILL_PROCESS); /* case 6 */
        put_jump(p, BPF_JEQ, ARCH, search, kill);
        put(p, BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(struct seccomp_data, arch));

        for (size_t i = 0; i < p->n / 2; i++) {
                struct sock_filter f = p->insn[i];
                p->insn[i] = p->insn[p->n - 1 - i];
                p->insn[p->n - 1 - i] = f;
        }
}
