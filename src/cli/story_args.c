/* story_args.c - see story_args.h. */
#include "cli/story_args.h"

#include "base/err.h"
#include "session/story.h"
#include "session/story_time.h"

void story_args_free(struct story_args *a)
{
        strs_free(&a->kinds);
}

bool story_args_has(const struct story_args *a)
{
        return a->since || a->until || a->process || a->host || a->path || a->kinds.n || a->pid;
}

static int empty(const char *flag, const char *value, struct err *err)
{
        return value && !*value ? err_set(err, E_USAGE, "--%s is empty", flag) : 0;
}

int story_args_filter(const struct story_args *a, const struct store *store, const char *id,
                      struct story_filter *f, struct err *err)
{
        story_filter_init(f);
        for (size_t i = 0; i < a->kinds.n; i++)
                if (story_filter_kinds(f, a->kinds.v[i], err) < 0)
                        return -1;
        if (empty("process", a->process, err) < 0 || empty("host", a->host, err) < 0 ||
            empty("path", a->path, err) < 0)
                return -1;
        f->pid = a->pid;
        f->process = a->process;
        f->host = a->host;
        f->path = a->path;
        struct story_frame frame = {0};
        if (id && (a->since || a->until) && story_frame_of(store, id, &frame, err) < 0)
                return -1;
        return story_time_span(a->since, a->until, &frame, &f->since_us, &f->until_us, err);
}
