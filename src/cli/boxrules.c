/* boxrules.c - see boxrules.h. Talks to the supervisor of the named box; reads its directory when
 * there is none. */
#include "cli/boxrules.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "cli/boxarg.h"
#include "cli/ended.h"
#include "policy/policy_layers.h"
#include "session/door_rules.h"
#include "session/start.h"
#include "wire/msg.h"

#include <stdlib.h>

void boxrules_free(struct boxrules *r)
{
        policy_free(&r->policy);
}

int boxrules_ask(int sock, uint32_t type, const struct buf *body, uint32_t want, struct frame *f,
                 struct err *err)
{
        if (frame_send(sock, type, body, NULL, 0) < 0)
                return err_sys(err, "ask the supervisor of the box");
        for (;;) {
                int r = frame_recv(sock, f, true);
                if (r <= 0)
                        return err_set(err, E_SYSTEM, "the box ended before it answered");
                if (f->type == want)
                        return 0;
                bool is_no = f->type == MSG_FAILED;
                if (is_no)
                        ended_failure(&f->body, err);
                frame_release(f);
                if (is_no)
                        return -1;
        }
}

static int of_running(int sock, struct boxrules *r, struct err *err)
{
        static struct frame f;
        uint32_t level = DOOR_STRICT;
        _cleanup_buf_ struct buf layers = {.max = DOOR_LAYERS_MAX};
        if (boxrules_ask(sock, MSG_RULES, NULL, MSG_RULES_ARE, &f, err) < 0)
                return -1;
        int got = f.fds_n == 1 && cur_u64(&f.body, &r->generation) == 0 &&
                                  cur_u32(&f.body, &level) == 0
                          ? door_sealed_read(f.fds[0], DOOR_LAYERS_MAX, &layers, err)
                          : err_set(err, E_PROTO, "the supervisor's answer makes no sense");
        frame_release(&f);
        if (got < 0)
                return -1;
        r->level = (enum door_level)level;
        r->is_running = true;
        return policy_layers_parse(layers.data, layers.len, &r->policy, err);
}

static int of_stopped(const struct boxarg *b, struct boxrules *r, struct err *err)
{
        static struct session_opts opts;
        static struct session_plan plan;
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        if (dir < 0 || session_opts_load(&opts, dir, err) < 0)
                return -1;
        opts.is_waiting = true;
        strs_free(&opts.argv);
        int got = session_plan_make(&opts, &b->store, b->id, &plan, err);
        if (got == 0) {
                _cleanup_buf_ struct buf layers = {.max = DOOR_LAYERS_MAX};
                got = door_rules_load(dir, &plan.door.run_time, err);
                door_policy_packages(&plan.door, plan.box.home, &plan.packages);
                door_policy_put(&plan.door, &layers);
                r->level = plan.door.level;
                if (got == 0 && layers.is_broken)
                        got = err_set(err, E_INPUT, "the rules of the box are too many");
                if (got == 0)
                        got = policy_layers_parse(layers.data, layers.len, &r->policy, err);
                session_plan_free(&plan);
        }
        session_opts_free(&opts);
        return got;
}

int boxrules_get(const struct boxarg *b, struct boxrules *r, struct err *err)
{
        *r = (struct boxrules){0};
        _cleanup_close_ int sock = session_connect(&b->store, b->id, err);
        if (sock >= 0)
                return of_running(sock, r, err);
        return err->code == E_ABSENT ? of_stopped(b, r, err) : -1;
}

/* change_stopped(b, is_added, line, err): checked as the supervisor would, and written down. */
static int change_stopped(const struct boxarg *b, bool is_added, const char *line, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        _cleanup_policy_layer_ struct policy_layer one = {.rank = POLICY_RUN_TIME,
                                                          .name = str_dup("the rule")};
        _cleanup_buf_ struct buf canonical = {0};
        if (dir < 0 || policy_layer_add(&one, line, err) < 0)
                return -1;
        if (one.lines_n != 1 || one.lines[0].kind != RULE_LINE_RULE)
                return err_set(err, E_USAGE, "only rules about the network can be added to a box");
        rule_line_print(&one.lines[0], &canonical);
        return door_rules_note(dir, is_added, buf_cstr(&canonical), err);
}

int boxrules_change(const struct boxarg *b, bool is_added, const char *line, struct err *err)
{
        static struct frame f;
        _cleanup_close_ int sock = session_connect(&b->store, b->id, err);
        if (sock < 0)
                return err->code == E_ABSENT ? change_stopped(b, is_added, line, err) : -1;
        _cleanup_buf_ struct buf body = {0};
        buf_put_u32(&body, is_added);
        buf_put_lstr(&body, line);
        if (boxrules_ask(sock, MSG_RULE, &body, MSG_DONE, &f, err) < 0)
                return -1;
        frame_release(&f);
        return 0;
}
