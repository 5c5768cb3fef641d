/* seen.c - see seen.h. */
#include "audit/seen.h"

#include "audit/chain.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

static uint16_t *slot_of(const struct seen *s, uint32_t port)
{
        return &s->slots[port % SEEN_MAX];
}

/* unlink_one(s, i): take it out of its slot. */
static void unlink_one(struct seen *s, uint16_t i)
{
        uint16_t *at = slot_of(s, s->v[i].port);
        while (*at && *at != i + 1)
                at = &s->v[*at - 1].next;
        if (*at)
                *at = s->v[i].next;
        free(s->v[i].exe);
        s->v[i] = (struct seen_one){.pid = 0};
}

static struct seen_one *find(const struct seen *s, uint32_t port)
{
        for (uint16_t i = s->v && port ? *slot_of(s, port) : 0; i; i = s->v[i - 1].next)
                if (s->v[i - 1].port == port)
                        return &s->v[i - 1];
        return NULL;
}

void seen_put(struct seen *s, uint32_t port, uint32_t pid, const char *exe)
{
        if (port == 0 || port > 65535 || pid == 0)
                return;
        if (!s->v) {
                s->v = calloc(SEEN_MAX, sizeof *s->v);
                s->slots = calloc(SEEN_MAX, sizeof *s->slots);
                if (!s->v || !s->slots)
                        str_no_memory();
        }
        struct seen_one *old = find(s, port);
        if (old) {
                old->pid = pid;
                if (strcmp(old->exe, exe) != 0) {
                        free(old->exe);
                        old->exe = str_dup(exe);
                }
                return;
        }
        uint16_t i = (uint16_t)s->at;
        s->at = (s->at + 1) % SEEN_MAX;
        if (s->v[i].pid)
                unlink_one(s, i);
        uint16_t *slot = slot_of(s, port);
        s->v[i] = (struct seen_one){
                .pid = pid, .port = (uint16_t)port, .next = *slot, .exe = str_dup(exe)};
        *slot = (uint16_t)(i + 1);
}

bool seen_find(const struct seen *s, uint32_t port, struct chain_process *who)
{
        const struct seen_one *one = find(s, port);
        if (one)
                *who = (struct chain_process){.pid = one->pid, .exe = one->exe};
        return one != NULL;
}
