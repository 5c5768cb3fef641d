/* plan.c - building and freeing the data of plan.h. */
#include "box/plan.h"

#include "base/str.h"

#include <stdlib.h>

struct box_mount *box_plan_mount(struct box_plan *p, enum box_mount_kind kind, const char *source,
                                 const char *target, const char *layer, const char *why)
{
        struct box_mount *v = realloc(p->mounts, (p->mounts_n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        p->mounts = v;
        struct box_mount *m = &v[p->mounts_n++];
        *m = (struct box_mount){
                .kind = kind,
                .source = source ? str_dup(source) : NULL,
                .target = str_dup(target),
                .layer = layer ? str_dup(layer) : NULL,
                .why = str_dup(why),
        };
        return m;
}

void box_plan_port(struct box_plan *p, uint16_t port)
{
        if (port == 53)
                return;
        for (size_t i = 0; i < p->door_ports_n; i++)
                if (p->door_ports[i] == port)
                        return;
        uint16_t *v = realloc(p->door_ports, (p->door_ports_n + 1) * sizeof *v);
        if (!v)
                str_no_memory();
        p->door_ports = v;
        v[p->door_ports_n++] = port;
}

void box_mount_free(struct box_mount *m)
{
        free(m->source);
        free(m->target);
        free(m->layer);
        free(m->why);
        strs_free(&m->lowers);
}

void box_plan_free(struct box_plan *p)
{
        for (size_t i = 0; i < p->mounts_n; i++)
                box_mount_free(&p->mounts[i]);
        free(p->mounts);
        free(p->id);
        free(p->hostname);
        free(p->root_dir);
        free(p->etc_mask);
        free(p->etc_trust);
        free(p->user);
        free(p->home);
        free(p->shell);
        free(p->cwd);
        strs_free(&p->env);
        strs_free(&p->links);
        free(p->door_ports);
        *p = (struct box_plan){0};
}
