/* apply_ask.c - who decides: plain changes by one question, every other class by its name, with its
 * files and why they are of that class. --yes answers the first, --yes=CLASS the others; where
 * nobody can be asked, what was not named stays in the box. */
#include "cli/apply.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"
#include "cli/out.h"
#include "workspace/print.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LISTED_MAX = 30 };

char apply_answer(const char *question, const char *letters)
{
        char line[64];
        for (;;) {
                fflush(stdout);
                fprintf(stderr, "%s ", question);
                fflush(stderr);
                if (!fgets(line, sizeof line, stdin)) {
                        fputc('\n', stderr);
                        return letters[0];
                }
                size_t n = strcspn(line, "\n");
                if (line[n] == 0) /* a long line: the rest of it is no answer either */
                        for (int ch; (ch = getchar()) != '\n' && ch != EOF;)
                                ;
                line[n] = 0;
                if (n == 0)
                        return letters[0];
                char letter = (char)(line[0] | 0x20);
                bool is_word =
                        n == 1 || strcasecmp(line, "yes") == 0 || strcasecmp(line, "no") == 0;
                if (is_word && strchr(letters, letter))
                        return letter;
        }
}

static bool is_in(const struct landing_item *it, enum file_class class)
{
        return it->fate == FATE_OPEN && it->change->class.class == class;
}

/* list(j, class): its changes, one line each. */
static void list(const struct apply_job *j, enum file_class class)
{
        size_t shown = 0, n = 0;
        for (size_t i = 0; i < j->l.n; i++) {
                const struct ws_change *c = j->l.v[i].change;
                if (!is_in(&j->l.v[i], class) || ++n > LISTED_MAX)
                        continue;
                _cleanup_free_ char *name = landing_name(&j->l, &j->l.v[i]);
                fprintf(stderr, "  %-8s %s%s%s%s\n", ws_what_name(c->what), name,
                        *c->class.why ? "  (" : "", c->class.why, *c->class.why ? ")" : "");
                shown++;
        }
        if (n > shown)
                fprintf(stderr, "  and %zu more\n", n - shown);
}

static int put(void *arg, const void *bytes, size_t n)
{
        (void)arg;
        return fdio_write_all(STDERR_FILENO, bytes, n);
}

/* show(j, class): their diffs, safe for a terminal. */
static void show(struct apply_job *j, enum file_class class)
{
        struct ws_print p = {.put = put,
                             .is_safe = true,
                             .wants_shown = true,
                             .has_colour = out_has_colour(STDERR_FILENO),
                             .context = 3};
        for (size_t i = 0; i < j->l.n; i++) {
                if (!is_in(&j->l.v[i], class))
                        continue;
                if (ws_print_change(&p, j->l.v[i].change, NULL) < 0)
                        return;
                memcpy(j->l.v[i].shown, p.shown, sizeof p.shown);
        }
}

/* count(j, class, words): "3 added, 1 deleted"; returns how many. */
static size_t count(const struct apply_job *j, enum file_class class, struct buf *words)
{
        size_t by_what[WS_RENAMED + 1] = {0}, all = 0;
        for (size_t i = 0; i < j->l.n; i++) {
                if (!is_in(&j->l.v[i], class))
                        continue;
                by_what[j->l.v[i].change->what]++;
                all++;
        }
        for (size_t w = 0; w <= WS_RENAMED; w++)
                if (by_what[w])
                        buf_put_fmt(words, "%s%zu %s", words->len ? ", " : "", by_what[w],
                                    w == WS_MODE      ? "with another mode"
                                    : w == WS_RETYPED ? "of another type"
                                                      : ws_what_name((enum ws_what)w));
        return all;
}

static void decide(struct apply_job *j, enum file_class class, enum landing_fate fate)
{
        for (size_t i = 0; i < j->l.n; i++)
                if (is_in(&j->l.v[i], class))
                        j->l.v[i].fate = fate;
}

static void ask_class(struct apply_job *j, enum file_class class)
{
        _cleanup_buf_ struct buf words = {0};
        size_t n = count(j, class, &words);
        bool is_plain = class == FILE_PLAIN;
        if (n == 0)
                return;
        if (j->l.is_dry || j->l.yes[class] || (is_plain && j->l.has_yes)) {
                /* a dry run tells which would be asked for */
                bool may = j->l.yes[class] || (is_plain && (j->l.has_yes || j->l.is_dry));
                decide(j, class, may ? FATE_TAKE : FATE_UNASKED);
                return;
        }
        if (!j->l.has_terminal || j->l.is_over) {
                decide(j, class, j->l.is_over ? FATE_DECLINED : FATE_UNASKED);
                return;
        }
        if (!is_plain) {
                fprintf(stderr, "%zu change%s that %s:\n", n, n == 1 ? "" : "s",
                        file_class_words(class));
                list(j, class);
        }
        _cleanup_free_ char *question =
                is_plain ? str_fmt("Apply %zu plain change%s (%s)? [y/N, l lists, d shows, q ends]",
                                   n, n == 1 ? "" : "s", buf_cstr(&words))
                         : str_fmt("Apply %s (%s)? [y/N, d shows, q ends]", n == 1 ? "it" : "them",
                                   file_class_words(class));
        for (;;) {
                char got = apply_answer(question, "nyldq");
                if (got == 'l') {
                        list(j, class);
                } else if (got == 'd') {
                        show(j, class);
                } else {
                        j->l.is_over = got == 'q';
                        decide(j, class, got == 'y' ? FATE_TAKE : FATE_DECLINED);
                        return;
                }
        }
}

void apply_ask(struct apply_job *j)
{
        for (int class = FILE_PLAIN; class < FILE_CLASS_COUNT; class ++)
                ask_class(j, (enum file_class) class);
}
