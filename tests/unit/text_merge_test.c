/* text_merge_test.c - three texts made one: laws that hold for all of them, marks where both sides
 * did something, and the same answer as `git merge-file` on random triples. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "workspace/text_diff.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static uint64_t seed = 0x1234567887654321u;
static unsigned dice(unsigned n)
{
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        return (unsigned)((seed >> 11) % n);
}

static size_t merge(const struct buf *base, const struct buf *ours, const struct buf *theirs,
                    struct buf *out)
{
        struct text_lines b, o, t;
        text_lines_of(&b, (const char *)base->data, base->len);
        text_lines_of(&o, (const char *)ours->data, ours->len);
        text_lines_of(&t, (const char *)theirs->data, theirs->len);
        size_t n = text_merge(&b, &o, &t, out);
        text_lines_free(&b);
        text_lines_free(&o);
        text_lines_free(&t);
        return n;
}

static bool is_same(const struct buf *a, const struct buf *b)
{
        return a->len == b->len && (a->len == 0 || memcmp(a->data, b->data, a->len) == 0);
}

static void is(const char *name, const char *base, const char *ours, const char *theirs,
               const char *want, size_t conflicts_n)
{
        struct buf b = {0}, o = {0}, t = {0}, out = {0};
        buf_put_str(&b, base);
        buf_put_str(&o, ours);
        buf_put_str(&t, theirs);
        size_t n = merge(&b, &o, &t, &out);
        const char *got = buf_cstr(&out);
        check(strcmp(got, want) == 0 && n == conflicts_n, name, "%zu conflicts in \"%s\"", n, got);
        buf_free(&b);
        buf_free(&o);
        buf_free(&t);
        buf_free(&out);
}

static void known(void)
{
        is("apart", "a\nb\nc\nd\n", "A\nb\nc\nd\n", "a\nb\nc\nD\n", "A\nb\nc\nD\n", 0);
        is("the same on both sides", "a\nb\nc\n", "a\nX\nc\n", "a\nX\nc\n", "a\nX\nc\n", 0);
        is("differently on both sides", "a\nb\nc\n", "a\nX\nc\n", "a\nY\nc\n",
           "a\n<<<<<<< host\nX\n=======\nY\n>>>>>>> box\nc\n", 1);
        is("side by side", "a\nb\nc\nd\n", "a\nX\nc\nd\n", "a\nb\nY\nd\n",
           "a\n<<<<<<< host\nX\nc\n=======\nb\nY\n>>>>>>> box\nd\n", 1);
        is("what both begin with is not in the conflict", "a\n", "s\nX\n", "s\nY\n",
           "s\n<<<<<<< host\nX\n=======\nY\n>>>>>>> box\n", 1);
        is("deleted here, changed there", "a\nb\nc\n", "a\nc\n", "a\nB\nc\n",
           "a\n<<<<<<< host\n=======\nB\n>>>>>>> box\nc\n", 1);
        is("added to nothing by both", "", "x\n", "y\n",
           "<<<<<<< host\nx\n=======\ny\n>>>>>>> box\n", 1);
        is("a last line without a newline", "a\nb", "a\nb", "a\nc", "a\nc", 0);
        is("a newline that came, and a change above", "a\nb\nc\nd", "A\nb\nc\nd", "a\nb\nc\nd\n",
           "A\nb\nc\nd\n", 0);
        is("a mark begins on a line of its own", "a", "b", "c",
           "<<<<<<< host\nb\n=======\nc\n>>>>>>> box\n", 1);
        is("nothing at all", "", "", "", "", 0);
}

static void random_text(struct buf *b, unsigned lines, unsigned letters)
{
        for (unsigned i = 0; i < lines; i++)
                buf_put_fmt(b, "%c\n", (int)('a' + dice(letters)));
}

/* A copy with a few lines changed, removed and added. */
static void mutate(const struct buf *from, struct buf *to, unsigned letters)
{
        struct text_lines l;
        text_lines_of(&l, (const char *)from->data, from->len);
        for (size_t i = 0; i < l.n; i++) {
                unsigned d = dice(14);
                if (d == 0)
                        continue;
                if (d == 1)
                        buf_put_fmt(to, "%c\n", (int)('A' + dice(letters)));
                else
                        buf_put(to, l.data + l.at[i], l.at[i + 1] - l.at[i]);
                if (d == 2)
                        random_text(to, 1 + dice(2), letters);
        }
        if (to->len && dice(10) == 0)
                to->len--;
        text_lines_free(&l);
}

static void laws(void)
{
        enum { ROUNDS = 20000 };
        unsigned ours_alone = 0, theirs_alone = 0, both = 0, sides = 0, clean = 0;
        for (unsigned i = 0; i < ROUNDS; i++) {
                struct buf b = {0}, o = {0}, t = {0}, x = {0}, y = {0}, z = {0}, w = {0}, v = {0};
                unsigned letters = 2 + dice(20);
                random_text(&b, dice(20), letters);
                mutate(&b, &o, letters);
                mutate(&b, &t, letters);
                ours_alone += merge(&b, &o, &b, &x) || !is_same(&x, &o);
                theirs_alone += merge(&b, &b, &t, &y) || !is_same(&y, &t);
                both += merge(&b, &o, &o, &z) || !is_same(&z, &o);
                size_t n = merge(&b, &o, &t, &w), m = merge(&b, &t, &o, &v);
                sides += n != m || (n == 0 && !is_same(&w, &v));
                clean += n == 0;
                struct buf *all[] = {&b, &o, &t, &x, &y, &z, &w, &v};
                for (size_t k = 0; k < 8; k++)
                        buf_free(all[k]);
        }
        check(ours_alone == 0, "what only the host changed is the host's", "%u not", ours_alone);
        check(theirs_alone == 0, "what only the box changed is the box's", "%u not", theirs_alone);
        check(both == 0, "what both did alike is done once", "%u not", both);
        check(sides == 0, "the sides can be swapped", "%u not", sides);
        check(clean > ROUNDS / 10 && clean < ROUNDS, "some merge cleanly and some do not",
              "%u of %d", clean, ROUNDS);
}

static char dir[] = "/tmp/text_merge.XXXXXX";

static void put_file(const char *name, const struct buf *b)
{
        char path[64];
        snprintf(path, sizeof path, "%s/%s", dir, name);
        FILE *f = fopen(path, "w");
        if (f) {
                fwrite(b->len ? (const void *)b->data : "", 1, b->len, f);
                fclose(f);
        }
}

/* git merge-file -p: its output to ${out}; returns the number of conflicts, or -1. */
static int git_merge(struct buf *out)
{
        int ends[2];
        if (pipe(ends) < 0)
                return -1;
        pid_t pid = fork();
        if (pid == 0) {
                dup2(ends[1], 1);
                close(ends[0]);
                if (chdir(dir) == 0)
                        execlp("git", "git", "merge-file", "-q", "-p", "-L", "host", "-L", "base",
                               "-L", "box", "ours", "base", "theirs", (char *)NULL);
                _exit(255);
        }
        close(ends[1]);
        char page[4096];
        for (ssize_t n; (n = read(ends[0], page, sizeof page)) > 0;)
                buf_put(out, page, (size_t)n);
        close(ends[0]);
        int status;
        if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status) ||
            WEXITSTATUS(status) == 255)
                return -1;
        return WEXITSTATUS(status);
}

/* Where both merge cleanly the texts are the same, and nearly always they agree whether it is
 * clean: among equal lines, two programs may pair different ones. */
static void beside_git(void)
{
        enum { ROUNDS = 200 };
        unsigned other_text = 0, we_alone = 0, git_alone = 0, agreed = 0;
        if (!mkdtemp(dir))
                return;
        for (unsigned i = 0; i < ROUNDS; i++) {
                struct buf b = {0}, o = {0}, t = {0}, w = {0}, g = {0};
                unsigned letters = 20;
                random_text(&b, 5 + dice(20), letters);
                mutate(&b, &o, letters);
                mutate(&b, &t, letters);
                put_file("base", &b);
                put_file("ours", &o);
                put_file("theirs", &t);
                size_t n = merge(&b, &o, &t, &w);
                int m = git_merge(&g);
                if (m < 0) {
                        printf("skip the same as git merge-file: git cannot be run\n");
                        break;
                }
                if (n == 0 && m == 0) {
                        bool good = is_same(&w, &g);
                        agreed += good;
                        other_text += !good;
                        if (!good)
                                printf("# base:\n%s# ours:\n%s# theirs:\n%s# we:\n%s# git:\n%s",
                                       buf_cstr(&b), buf_cstr(&o), buf_cstr(&t), buf_cstr(&w),
                                       buf_cstr(&g));
                } else {
                        agreed += n > 0 && m > 0;
                        we_alone += n == 0 && m > 0;
                        git_alone += n > 0 && m == 0;
                }
                struct buf *all[] = {&b, &o, &t, &w, &g};
                for (size_t k = 0; k < 5; k++)
                        buf_free(all[k]);
        }
        printf("# %d triples: %u alike, %u clean here alone, %u clean for git alone, %u other "
               "text\n",
               ROUNDS, agreed, we_alone, git_alone, other_text);
        check(other_text * 100 <= ROUNDS && (we_alone + git_alone) * 50 <= ROUNDS,
              "the same as git merge-file", "%u other texts, %u and %u disagree", other_text,
              we_alone, git_alone);
        for (size_t k = 0; k < 3; k++) {
                static const char *const names[] = {"base", "ours", "theirs"};
                char path[64];
                snprintf(path, sizeof path, "%s/%s", dir, names[k]);
                unlink(path);
        }
        rmdir(dir);
}

int main(void)
{
        known();
        laws();
        beside_git();
        return check_end();
}
