/* verify.c - reads back that the namespaces really are others than the supervisor's: a kernel or a
 * container that ignores a flag must not leave the box on the host's network or among its
 * processes (B8). */
#include "box/verify.h"

#include "base/err.h"
#include "box/step.h"
#include "box/weak.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
        const char *path, *what;
        enum box_weak_layer layer;
} spaces[VERIFY_SPACES] = {
        {"/proc/self/ns/net", "network", WEAK_NETNS},
};

void verify_note(struct verify *v)
{
        struct stat st;
        for (int i = 0; i < VERIFY_SPACES; i++)
                v->inode[i] = stat(spaces[i].path, &st) == 0 ? st.st_ino : 0;
}

int step_verify(struct build *b, struct err *err)
{
        /* The other namespaces show in the steps that use them: the id map, the new root, the name.
         */
        if (getpid() != 1 && !box_weak(WEAK_PIDNS))
                return err_set(err, E_MACHINE, "the box shares the host's pid namespace");
        struct verify now;
        verify_note(&now);
        for (int i = 0; i < VERIFY_SPACES; i++) {
                if (box_weak(spaces[i].layer))
                        continue;
                if (!now.inode[i] || !b->outside.inode[i])
                        return err_set(err, E_MACHINE, "the %s namespace cannot be read from /proc",
                                       spaces[i].what);
                if (now.inode[i] == b->outside.inode[i])
                        return err_set(err, E_MACHINE, "the box shares the host's %s namespace",
                                       spaces[i].what);
        }
        return 0;
}
