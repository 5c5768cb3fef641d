/* build.c - the order in which a box is built. Runs as the process that becomes pid 1; the table is
 * the whole story, each line one file. */
#include "box/build.h"

#include "base/err.h"
#include "box/step.h"

#include <stddef.h>

static const struct {
        const char *what;
        int (*run)(struct build *, struct err *);
} steps[] = {
        {"take the box's user id", step_ids},
        {"cut mount propagation", step_private},
        {"make the root", step_root},
        {"fill /dev", step_dev},
        {"mount /proc", step_proc},
        {"show /etc", step_etc},
        {"show files", step_trees},
        {"name the box", step_name},
        {"join a keyring", step_keyring},
        {"limit namespaces", step_ns_limits},
        {"enter the root", step_pivot},
        {"set limits", step_rlimits},
        /* As late as it can be: making a network takes as long as all of the above. */
        {"join the network", step_network},
        {"show what is watched", step_watched},
        {"check the namespaces", step_verify},
        {"close descriptors", step_fds},
        {"drop privileges", step_caps},
        {"enter Landlock", step_landlock},
        {"filter system calls", step_filter},
};

int build_box(struct build *b, struct err *err)
{
        for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
                if (steps[i].run(b, err) < 0)
                        return err_add(err, "%s", steps[i].what);
        return 0;
}
