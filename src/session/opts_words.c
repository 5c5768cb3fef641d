/* opts_words.c - flags of a box that want one of some words: the words, and the sentence for another
 * one. The command line asks before anything else is done, the planner for options that were saved.
 * See opts.h. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "box/plan.h"
#include "session/opts.h"
#include "wire/door.h"

#include <stddef.h>
#include <string.h>

enum { WORDS_MAX = 4 };
_Static_assert((int)BOX_AUDIT_N <= (int)WORDS_MAX && (int)DOOR_LEARN < (int)WORDS_MAX,
               "a row has a word for each, and an end");

/* ${words} stand in the order of the enum that they name; ${one_of} is for people. */
static const struct {
        const char *flag, *one_of;
        const char *words[WORDS_MAX + 1];
} rows[] = {
        [OPTS_LEVEL] = {"--level",
                        "easy, strict or learn",
                        {[DOOR_STRICT] = "strict", [DOOR_EASY] = "easy", [DOOR_LEARN] = "learn"}},
        [OPTS_AUDIT] = {"--audit",
                        "off, default, files or all",
                        {[BOX_AUDIT_OFF] = "off",
                         [BOX_AUDIT_DEFAULT] = "default",
                         [BOX_AUDIT_FILES] = "files",
                         [BOX_AUDIT_ALL] = "all"}},
        [OPTS_AUDIT_FULL] = {"--audit-full", "pause or stop", {"pause", "stop"}},
        [OPTS_DOOR_FAULT] = {"--on-door-fault", "stop or pause", {"stop", "pause"}},
};

const char *session_opts_word(enum opts_word which, int index)
{
        return index >= 0 && index < WORDS_MAX ? rows[which].words[index] : NULL;
}

int session_opts_index(enum opts_word which, const char *word, struct err *err)
{
        int n = 0;
        for (; rows[which].words[n]; n++)
                if (strcmp(word, rows[which].words[n]) == 0)
                        return n;
        const char *near = str_suggest(word, rows[which].words, (size_t)n);
        _cleanup_free_ char *shown = str_quote(word);
        return err_set(err, E_USAGE, "%s wants %s, not \"%s\"%s%s%s", rows[which].flag,
                       rows[which].one_of, shown, near ? "; did you mean " : "", near ? near : "",
                       near ? "?" : "");
}

int session_opts_check(const struct session_opts *o, struct err *err)
{
        const char *const said[] = {[OPTS_LEVEL] = o->level,
                                    [OPTS_AUDIT] = o->audit,
                                    [OPTS_AUDIT_FULL] = o->audit_full,
                                    [OPTS_DOOR_FAULT] = o->door_fault};
        for (size_t i = 0; i < sizeof said / sizeof *said; i++)
                if (said[i] && session_opts_index((enum opts_word)i, said[i], err) < 0)
                        return -1;
        return 0;
}
