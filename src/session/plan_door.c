/* plan_door.c - what a box may reach: its rules, its level, the ports its door listens on. Reads
 * the files of rules once; a broken one means that no box is started. */
#include "base/err.h"
#include "base/str.h"
#include "session/door_program.h"
#include "session/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int plan_door(const struct session_opts *opts, const struct store *store, struct session_plan *plan,
              struct err *err)
{
        struct box_plan *b = &plan->box;
        struct door_policy_from from = {.opts = opts,
                                        .store = store,
                                        .home = b->home,
                                        .workspace = plan->workspace,
                                        .profile = plan->profile,
                                        .profile_rules = &plan->rules};
        if (session_opts_check(opts, err) < 0)
                return -1;
        b->audit = opts->audit ? (enum box_audit)session_opts_index(OPTS_AUDIT, opts->audit, err)
                               : BOX_AUDIT_DEFAULT;
        if (door_policy_collect(&from, &plan->door, err) < 0)
                return -1;
        uint16_t *ports;
        size_t n = door_policy_ports(&plan->door, &ports);
        for (size_t i = 0; i < n; i++)
                box_plan_port(b, ports[i]);
        free(ports);
        b->has_door = true;
        return 0;
}

static void note_rest(struct session_plan *plan)
{
        static const char *const rest[] = {
                [DOOR_STRICT] = "whatever no rule allows is refused",
                [DOOR_EASY] = "you are asked about what no rule allows; it is refused when nobody "
                              "is there to answer",
                [DOOR_LEARN] = "learning: what no rule refuses passes to public addresses and is "
                               "recorded",
        };
        session_plan_note(plan, plan->door.level != DOOR_LEARN, "the rest of the network",
                          rest[plan->door.level]);
}

static void note_audit(struct session_plan *plan)
{
        static const char *const words[BOX_AUDIT_N] = {
                [BOX_AUDIT_OFF] = "not recorded (--audit off): the log has what came to the door",
                [BOX_AUDIT_DEFAULT] = "recorded: programs, sockets, signals to others, tracing and "
                                      "whatever is refused",
                [BOX_AUDIT_FILES] = "recorded: what matters to security, and every file that is "
                                    "opened, made, removed or renamed",
                [BOX_AUDIT_ALL] = "recorded: every one of them",
        };
        session_plan_note(plan, plan->box.audit == BOX_AUDIT_OFF, "system calls",
                          words[plan->box.audit]);
}

void session_plan_tell_door(struct session_plan *plan)
{
        struct err missing = {0};
        int program = door_program_open(&missing);
        if (program >= 0)
                close(program);
        else
                session_plan_note(plan, true, "the network", missing.text);
        door_policy_packages(&plan->door, plan->box.home, &plan->packages);
        for (size_t i = 0; i < plan->door.notes.n; i++) {
                char *note = plan->door.notes.v[i], *cut = strchr(note, '\n');
                if (!cut)
                        continue;
                *cut = 0;
                session_plan_note(plan, true, note, cut + 1);
                *cut = '\n';
        }
        note_rest(plan);
        note_audit(plan);
}

char *plan_door_words(const struct session_plan *plan)
{
        size_t n = door_policy_hosts(&plan->door);
        int program = door_program_open(NULL);
        if (program < 0)
                return str_dup("no network (ostiary-door is missing)");
        close(program);
        if (plan->door.level == DOOR_LEARN)
                return str_dup("network: learning, everything public passes");
        const char *rest = plan->door.level == DOOR_EASY ? ", asks about others" : " only";
        if (n == 0)
                return str_dup(plan->door.level == DOOR_EASY ? "network: asks" : "no network");
        return str_fmt("network: %zu host%s%s", n, n == 1 ? "" : "s", rest);
}
