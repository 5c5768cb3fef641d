/* boxpick.c - see boxpick.h. Reads the list of boxes; changes nothing. */
#include "cli/boxpick.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/args.h"
#include "session/pending.h"
#include "session/store.h"

#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *const keys[] = {"state", "agent", "workspace", "older", "younger", "changes"};
static const char *const states[] = {"starting", "running", "paused", "exited", "dead"};

#define COUNT(v) (sizeof(v) / sizeof *(v))

static bool is_among(const char *word, const char *const *v, size_t n)
{
        for (size_t i = 0; i < n; i++)
                if (strcmp(word, v[i]) == 0)
                        return true;
        return false;
}

/* check_value(a, key, value): what the key can be. */
static int check_value(struct args *a, const char *key, const char *value)
{
        uint64_t ignored;
        _cleanup_free_ char *shown = str_quote(value);
        if (strcmp(key, "state") == 0 && !is_among(value, states, COUNT(states)))
                return args_bad(
                        a,
                        "--filter state= wants starting, running, paused, exited or dead, not "
                        "\"%s\"",
                        shown);
        if (strcmp(key, "changes") == 0 && strcmp(value, "yes") != 0 && strcmp(value, "no") != 0)
                return args_bad(a, "--filter changes= wants yes or no, not \"%s\"", shown);
        bool is_time = strcmp(key, "older") == 0 || strcmp(key, "younger") == 0;
        if (is_time && str_duration(value, &ignored) < 0)
                return args_bad(a, "--filter %s= wants a time like 30m, 8h or 7d, not \"%s\"", key,
                                shown);
        return 0;
}

int boxpick_check(const struct boxpick *p, struct args *a)
{
        for (size_t i = 0; i < p->filters.n; i++) {
                const char *w = p->filters.v[i];
                size_t n = strcspn(w, "=");
                _cleanup_free_ char *key = str_fmt("%.*s", (int)n, w), *shown = str_quote(w);
                if (!w[n] || !w[n + 1])
                        return args_bad(a, "--filter wants KEY=VALUE, not \"%s\"", shown), -1;
                if (!is_among(key, keys, COUNT(keys))) {
                        const char *near = str_suggest(key, keys, COUNT(keys));
                        return args_bad(a,
                                        "--filter knows state, agent, workspace, older, younger "
                                        "and changes, not \"%s\"%s%s%s",
                                        shown, near ? "; did you mean " : "", near ? near : "",
                                        near ? "=?" : ""),
                               -1;
                }
                if (check_value(a, key, w + n + 1) != 0)
                        return -1;
        }
        return 0;
}

static bool is_in_workspace(const struct box_meta *m, const char *dir)
{
        _cleanup_free_ char *real = realpath(dir, NULL);
        return strcmp(m->workspace, real ? real : dir) == 0;
}

static bool fits(const struct store *s, const struct box_meta *m, const char *filter)
{
        const char *value = strchr(filter, '=') + 1;
        uint64_t seconds = 0;
        int64_t age = time(NULL) - m->created_us / 1000000;
        if (str_starts(filter, "state="))
                return strcmp(value, box_state_name(m->state)) == 0;
        if (str_starts(filter, "agent="))
                return strcmp(value, m->profile) == 0;
        if (str_starts(filter, "workspace="))
                return is_in_workspace(m, value);
        if (str_starts(filter, "changes="))
                return pending_holds(s, m) == (strcmp(value, "yes") == 0);
        if (str_duration(value, &seconds) < 0 || seconds > INT_MAX)
                return false;
        return str_starts(filter, "older=") ? age >= (int64_t)seconds : age < (int64_t)seconds;
}

bool boxpick_fits(const struct boxpick *p, const struct store *s, const struct box_meta *m)
{
        for (size_t i = 0; i < p->filters.n; i++)
                if (!fits(s, m, p->filters.v[i]))
                        return false;
        return true;
}

static bool is_pattern(const char *word)
{
        return strpbrk(word, "*?[") != NULL;
}

bool boxpick_is_wide(const struct boxpick *p, const struct strs *words)
{
        bool is_wide = p->is_all || p->filters.n;
        for (size_t i = 0; i < words->n; i++)
                is_wide = is_wide || is_pattern(words->v[i]);
        return is_wide;
}

/* add_word(word, p, s, all, n, ids, err): one word of the line. */
static int add_word(const char *word, const struct boxpick *p, const struct store *s,
                    const struct box_meta *all, size_t n, struct strs *ids, struct err *err)
{
        if (!is_pattern(word) && p->filters.n == 0) {
                strs_add(ids, word);
                return 0;
        }
        bool is_there = false;
        for (size_t i = 0; i < n; i++) {
                bool is_it = fnmatch(word, all[i].id, 0) == 0 || fnmatch(word, all[i].name, 0) == 0;
                is_there = is_there || is_it;
                if (is_it && boxpick_fits(p, s, &all[i]) && !strs_has(ids, all[i].id))
                        strs_add(ids, all[i].id);
        }
        if (is_there)
                return 0;
        _cleanup_free_ char *shown = str_quote(word);
        return err_set(err, E_ABSENT, "there is no box \"%s\" (ostiary ps -a lists them)", shown);
}

int boxpick_ids(const struct boxpick *p, const struct strs *words, const struct store *s,
                struct strs *ids, struct err *err)
{
        struct box_meta *all = NULL;
        size_t n = 0;
        if (boxpick_is_wide(p, words) && store_list(s, &all, &n, err) < 0)
                return -1;
        int got = 0;
        for (size_t i = 0; got == 0 && i < words->n; i++)
                got = add_word(words->v[i], p, s, all, n, ids, err);
        for (size_t i = 0; words->n == 0 && i < n; i++)
                if (boxpick_fits(p, s, &all[i]))
                        strs_add(ids, all[i].id);
        store_list_free(all, n);
        return got;
}

void boxpick_free(struct boxpick *p)
{
        strs_free(&p->filters);
}
