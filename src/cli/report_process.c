/* report_process.c - which processes there were and whose children: from the log's exec and exit
 * records. A pid is a process from its first exec to its exit; a second exec is the same process
 * under another command line. */
#include "base/str.h"
#include "cli/report.h"
#include "cli/story_text.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 16384 }; /* four times REPORT_PROCESSES */

/* slot_of(r, pid): where the newest process of a pid is noted, or the free place for it. */
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

static void on_exec(struct report *r, const struct story_event *e)
{
        const struct audit_record *rec = e->record;
        r->execs_n++;
        struct report_process *p = alive(r, rec->pid);
        if (!p && r->processes_n == REPORT_PROCESSES) {
                r->processes_more++;
                return;
        }
        char *what = report_shorten(story_text_command(rec));
        if (p) {
                free(p->what);
                p->what = what;
                p->execs_n++;
                return;
        }
        uint32_t *slot = slot_of(r, rec->pid);
        r->processes[r->processes_n++] = (struct report_process){.pid = rec->pid,
                                                                 .ppid = rec->ppid,
                                                                 .execs_n = 1,
                                                                 .begin_us = e->time_us,
                                                                 .what = what,
                                                                 .older = *slot};
        *slot = (uint32_t)r->processes_n;
}

static void on_exit_record(struct report *r, const struct story_event *e)
{
        const struct audit_record *rec = e->record;
        r->exits_n++;
        r->cpu_us += rec->cpu_us;
        if (rec->peak_kib > r->peak_kib)
                r->peak_kib = rec->peak_kib;
        struct report_process *p = alive(r, rec->pid);
        if (p) {
                p->end_us = e->time_us > p->begin_us ? e->time_us : p->begin_us + 1;
                p->cpu_us = rec->cpu_us;
                p->peak_kib = rec->peak_kib;
                p->status = rec->status;
        } else if (rec->ppid && r->forks_n < REPORT_PROCESSES) {
                r->forks[r->forks_n++] = (struct report_fork){
                        .pid = rec->pid, .ppid = rec->ppid, .end_us = e->time_us};
        }
}

void report_process_on(struct report *r, const struct story_event *e)
{
        if (!e->record->pid || audit_record_is_refused(e->record))
                return;
        if (!r->processes) {
                r->processes = calloc(REPORT_PROCESSES, sizeof *r->processes);
                r->forks = calloc(REPORT_PROCESSES, sizeof *r->forks);
                r->by_pid = calloc(SLOTS, sizeof *r->by_pid);
                if (!r->processes || !r->forks || !r->by_pid)
                        str_no_memory();
        }
        if (strcmp(e->kind, "exec") == 0)
                on_exec(r, e);
        else if (strcmp(e->kind, "exit") == 0)
                on_exit_record(r, e);
}

/* --- whose child ------------------------------------------------------------------------------ */

/* at_time(r, pid, us): the process that had this pid then: index + 1, or 0. Clocks of two records
 * may differ by a little, so one that has just ended counts. */
static uint32_t at_time(struct report *r, uint64_t pid, int64_t us)
{
        uint32_t i = *slot_of(r, pid);
        while (i && r->processes[i - 1].begin_us > us)
                i = r->processes[i - 1].older;
        return i;
}

/* parent_of(r, p): by its ppid; a parent that never executed anything (a subshell) is stepped over
 * to its own. */
static uint32_t parent_of(struct report *r, const struct report_process *p)
{
        uint64_t pid = p->ppid;
        for (int step = 0; pid && pid != p->pid && step < 8; step++) {
                uint32_t found = at_time(r, pid, p->begin_us);
                if (found)
                        return found;
                const struct report_fork *fork = NULL;
                for (size_t i = 0; i < r->forks_n; i++)
                        if (r->forks[i].pid == pid && r->forks[i].end_us >= p->begin_us &&
                            (!fork || r->forks[i].end_us < fork->end_us))
                                fork = &r->forks[i];
                pid = fork ? fork->ppid : 0;
        }
        return 0;
}

void report_process_end(struct report *r)
{
        for (uint32_t i = 1; i <= r->processes_n; i++) {
                struct report_process *p = &r->processes[i - 1];
                uint32_t *first = &r->roots, *last = &r->roots_last;
                p->parent = parent_of(r, p);
                /* They stand in order of time, so a parent comes before its children: no circle. */
                if (p->parent >= i)
                        p->parent = 0;
                if (p->parent) {
                        first = &r->processes[p->parent - 1].child;
                        last = &r->processes[p->parent - 1].last;
                }
                if (*last)
                        r->processes[*last - 1].next = i;
                else
                        *first = i;
                *last = i;
        }
}

void report_process_free(struct report *r)
{
        for (size_t i = 0; i < r->processes_n; i++)
                free(r->processes[i].what);
        free(r->processes);
        free(r->forks);
        free(r->by_pid);
}
