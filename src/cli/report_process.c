/* report_process.c - which processes there were and whose children: from the log's exec and exit
 * records. A pid is a process from its first exec to its exit; a second exec is the same process
 * under another command line. */
#include "base/str.h"
#include "cli/report.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16384 }; /* four times REPORT_PROCESSES */

/* slot_of(r, pid): where the living process of a pid is noted, or the free place for it. Slots are
 * never emptied, so that a look never ends early; one of an ended process is used again. */
static uint32_t *slot_of(struct report *r, uint64_t pid)
{
        size_t at = (size_t)(pid * 2654435761u % SLOTS);
        while (r->by_pid[at] && r->processes[r->by_pid[at] - 1].pid != pid)
                at = (at + 1) % SLOTS;
        return &r->by_pid[at];
}

static struct report_process *alive(struct report *r, uint64_t pid)
{
        uint32_t i = *slot_of(r, pid);
        return i && !r->processes[i - 1].end_us ? &r->processes[i - 1] : NULL;
}

static void hang(struct report *r, uint32_t i, uint32_t parent)
{
        struct report_process *p = &r->processes[i - 1];
        uint32_t *first = &r->roots, *last = &r->roots_last;
        p->parent = parent;
        if (parent) {
                first = &r->processes[parent - 1].child;
                last = &r->processes[parent - 1].last;
        }
        if (*last)
                r->processes[*last - 1].next = i;
        else
                *first = i;
        *last = i;
}

static void on_exec(struct report *r, const struct story_event *e)
{
        const struct audit_record *rec = e->record;
        r->execs_n++;
        struct report_process *p = alive(r, rec->pid);
        if (!p && r->processes_n == REPORT_PROCESSES) {
                r->processes_more++;
                return;
        }
        char *what = report_shorten(str_quote(*rec->note ? rec->note : rec->path));
        if (p) {
                free(p->what);
                p->what = what;
                p->execs_n++;
                return;
        }
        r->processes[r->processes_n++] = (struct report_process){
                .pid = rec->pid, .execs_n = 1, .begin_us = e->time_us, .what = what};
        uint32_t i = (uint32_t)r->processes_n, parent = 0;
        if (rec->ppid && rec->ppid != rec->pid && alive(r, rec->ppid))
                parent = *slot_of(r, rec->ppid);
        *slot_of(r, rec->pid) = i;
        hang(r, i, parent);
}

static void on_exit_record(struct report *r, const struct story_event *e)
{
        const struct audit_record *rec = e->record;
        r->exits_n++;
        r->cpu_us += rec->cpu_us;
        if (rec->peak_kib > r->peak_kib)
                r->peak_kib = rec->peak_kib;
        struct report_process *p = alive(r, rec->pid);
        if (!p)
                return;
        p->end_us = e->time_us > p->begin_us ? e->time_us : p->begin_us + 1;
        p->cpu_us = rec->cpu_us;
        p->peak_kib = rec->peak_kib;
        p->status = rec->status;
}

void report_process_on(struct report *r, const struct story_event *e)
{
        if (!e->record->pid || audit_record_is_refused(e->record))
                return;
        if (!r->processes) {
                r->processes = calloc(REPORT_PROCESSES, sizeof *r->processes);
                r->by_pid = calloc(SLOTS, sizeof *r->by_pid);
                if (!r->processes || !r->by_pid)
                        str_no_memory();
        }
        if (strcmp(e->kind, "exec") == 0)
                on_exec(r, e);
        else if (strcmp(e->kind, "exit") == 0)
                on_exit_record(r, e);
}

void report_process_free(struct report *r)
{
        for (size_t i = 0; i < r->processes_n; i++)
                free(r->processes[i].what);
        free(r->processes);
        free(r->by_pid);
}
