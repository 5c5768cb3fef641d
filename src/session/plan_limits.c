/* plan_limits.c - how much of the machine: the share of one box (plan_share.c), then the profile's
 * lines, the lines of policy files, the flags. A project's file and the administrator's come last
 * and only take away, so that the strictest of them wins. */
#include "session/plan.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/profile.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* milli("1.5"): thousandths of a core. */
static int milli(const char *s, uint64_t *out)
{
        char *end;
        double v = strtod(s, &end);
        if (end == s || *end || v <= 0 || v > 4096)
                return -1;
        *out = (uint64_t)(v * 1000 + 0.5);
        return 0;
}

static const struct limit_key {
        const char *name;
        size_t at; /* in struct box_limits */
        int (*read)(const char *, uint64_t *);
} limit_keys[] = {
        {"memory", offsetof(struct box_limits, memory), str_size},
        {"cpu", offsetof(struct box_limits, cpu_milli), milli},
        {"pids", offsetof(struct box_limits, pids), str_u64},
        {"files", offsetof(struct box_limits, files), str_u64},
        {"disk", offsetof(struct box_limits, disk), str_size},
        {"time", offsetof(struct box_limits, time_s), str_duration},
        {"door-memory", offsetof(struct box_limits, door_memory), str_size},
        {"inotify", offsetof(struct box_limits, inotify_watches), str_u64},
};

static uint64_t *limit_field(struct box_limits *l, const struct limit_key *k)
{
        return (uint64_t *)(void *)((char *)l + k->at);
}

/* limit_read(word, value, err): "memory=4G"; "none" is the value 0. NULL and a story if it makes no
 * sense: nothing that is written down as a limit is passed over. */
static const struct limit_key *limit_read(const char *word, uint64_t *value, struct err *err)
{
        if (profile_limit_check(word, err) < 0)
                return NULL;
        size_t n = strcspn(word, "=");
        for (size_t i = 0; i < sizeof limit_keys / sizeof *limit_keys; i++) {
                const struct limit_key *k = &limit_keys[i];
                if (strlen(k->name) != n || strncmp(word, k->name, n) != 0)
                        continue;
                *value = 0;
                if (strcmp(word + n + 1, "none") == 0 || k->read(word + n + 1, value) == 0)
                        return k;
        }
        err_set(err, E_USAGE, "the limit %s makes no sense", word);
        return NULL;
}

static int limit_set(struct box_limits *l, const char *word, struct err *err)
{
        uint64_t value;
        const struct limit_key *k = limit_read(word, &value, err);
        if (!k)
                return -1;
        *limit_field(l, k) = value;
        return 0;
}

/* limit_narrow(plan, word, where, err): never more than this; a note says what was wanted. */
static int limit_narrow(struct session_plan *plan, const char *word, const char *where,
                        struct err *err)
{
        uint64_t value;
        const struct limit_key *k = limit_read(word, &value, err);
        if (!k)
                return -1;
        uint64_t *now = limit_field(&plan->box.limits, k);
        if (value == 0 || (*now && *now <= value))
                return 0;
        *now = value;
        _cleanup_free_ char *what = str_fmt("more %s than %s", k->name, strchr(word, '=') + 1);
        _cleanup_free_ char *why = str_fmt("%s sets that limit, and nobody can raise it", where);
        session_plan_note(plan, true, what, why);
        return 0;
}

/* limit_lines(plan, rank, err): the "limit" lines of the layers of that rank. As with rules the
 * first line of the first layer has the last word, so they are taken from the end. */
static int limit_lines(struct session_plan *plan, enum policy_rank rank, struct err *err)
{
        const struct policy *p = &plan->door.parsed;
        for (size_t k = p->layers_n; k-- > 0;) {
                const struct policy_layer *layer = &p->layers[k];
                for (size_t i = layer->rank == rank ? layer->lines_n : 0; i-- > 0;) {
                        const struct rule_line *line = &layer->lines[i];
                        for (size_t j = 0; line->kind == RULE_LINE_LIMIT && j < line->limits.n;
                             j++) {
                                const char *word = line->limits.v[j];
                                int r = rank == POLICY_USER || rank == POLICY_PROFILE
                                                ? limit_set(&plan->box.limits, word, err)
                                                : limit_narrow(plan, word, layer->name, err);
                                if (r < 0)
                                        return err_add(err, "%s, line %zu", layer->name,
                                                       line->line_no);
                        }
                }
        }
        return 0;
}

static int limit_words(struct box_limits *l, const struct strs *words, struct err *err)
{
        for (size_t i = 0; i < words->n; i++)
                if (limit_set(l, words->v[i], err) < 0)
                        return -1;
        return 0;
}

int plan_limits(const struct profile *profile, const struct session_opts *opts,
                struct session_plan *plan, struct err *err)
{
        struct box_limits *l = &plan->box.limits;
        plan_share(plan, l);
        if (limit_words(l, &profile->limits, err) < 0)
                return -1;
        plan_share_memory(l);
        if (limit_lines(plan, POLICY_PROFILE, err) < 0 || limit_lines(plan, POLICY_USER, err) < 0 ||
            limit_words(l, &opts->limits, err) < 0 || limit_lines(plan, POLICY_PROJECT, err) < 0 ||
            limit_lines(plan, POLICY_SYSTEM, err) < 0)
                return -1;
        return 0;
}
