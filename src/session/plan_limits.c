/* plan_limits.c - how much of the machine: defaults, then the profile's lines, then flags. */
#include "session/plan.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/profile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A coding agent with a build running fits; a fork bomb does not. */
static const struct box_limits defaults = {
        .pids = 4096,
        .files = 65536,
        .inotify_watches = 524288,
        .inotify_instances = 1024,
};

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

static int one(struct box_limits *l, const char *line, struct err *err)
{
        if (profile_limit_check(line, err) < 0)
                return -1;
        const char *eq = strchr(line, '=');
        const struct {
                const char *key;
                uint64_t *to;
                int (*read)(const char *, uint64_t *);
        } keys[] = {
                {"memory", &l->memory, str_size},
                {"cpu", &l->cpu_milli, milli},
                {"pids", &l->pids, str_u64},
                {"files", &l->files, str_u64},
                {"disk", &l->disk, str_size},
                {"time", &l->time_s, str_duration},
                {"inotify", &l->inotify_watches, str_u64},
        };
        for (size_t i = 0; eq && i < sizeof keys / sizeof *keys; i++) {
                size_t n = strlen(keys[i].key);
                if ((size_t)(eq - line) == n && strncmp(line, keys[i].key, n) == 0) {
                        if (strcmp(eq + 1, "none") == 0)
                                *keys[i].to = 0;
                        else if (keys[i].read(eq + 1, keys[i].to) < 0)
                                return err_set(err, E_USAGE, "the limit %s makes no sense", line);
                        return 0;
                }
        }
        return 0; /* a limit for a later part (spend=): checked above, held elsewhere */
}

int plan_limits(const struct profile *profile, const struct session_opts *opts,
                struct session_plan *plan, struct err *err)
{
        struct box_limits *l = &plan->box.limits;
        *l = defaults;
        for (size_t i = 0; i < profile->limits.n; i++)
                if (one(l, profile->limits.v[i], err) < 0)
                        return -1;
        for (size_t i = 0; i < opts->limits.n; i++)
                if (one(l, opts->limits.v[i], err) < 0)
                        return -1;
        return 0;
}
