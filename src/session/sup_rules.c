/* sup_rules.c - changes of a box's rules while it runs. One at a time: it is sent to dial, then to
 * egress, and whoever asked hears that it is in force when both have said so. dial looks for new
 * rules before it serves egress, so it is never behind. A change that anybody refuses leaves
 * everything as it was. See sup_door.h. */
#include "session/sup_door.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/ca.h"
#include "session/door_rules.h"
#include "session/sup_secrets.h"

#include <stdlib.h>
#include <string.h>

int sup_rules_seal(const struct door_policy *p, struct err *err)
{
        _cleanup_buf_ struct buf layers = {.max = DOOR_LAYERS_MAX};
        door_policy_put(p, &layers);
        return door_sealed_make("ostiary-rules", &layers, err);
}

int sup_rules_send(struct sup_door *d, enum sup_role role, const struct door_policy *p, int fd,
                   uint64_t generation, struct err *err)
{
        const char *home = d->sup->plan->box.home;
        _cleanup_buf_ struct buf b = {0};
        if (role == SUP_EGRESS) {
                size_t had = d->cas.n;
                if (door_policy_cas(p, home, &d->cas, err) < 0)
                        return -1;
                for (size_t i = had; i < d->cas.n; i++) {
                        _cleanup_buf_ struct buf name = {0};
                        _cleanup_close_ int pem = ca_file(d->cas.v[i], home, err);
                        if (pem < 0)
                                return -1;
                        buf_put_lstr(&name, d->cas.v[i]);
                        if (sup_role_send(&d->roles[role], DOOR_CA_FILE, &name, &pem, 1) < 0)
                                return err_sys(err, "pass %s on", d->cas.v[i]);
                }
        }
        buf_put_u64(&b, generation);
        buf_put_u32(&b, p->level);
        if (sup_role_send(&d->roles[role], DOOR_POLICY, &b, &fd, 1) < 0)
                return err_sys(err, "pass the rules on");
        return 0;
}

/* --- one change from its beginning to its end ---------------------------------------------------
 */

static void move_run_time(struct strs *to, struct strs *from)
{
        strs_free(to);
        *to = *from;
        *from = (struct strs){0};
}

/* fixed_lines(p, b): its "limit" and "bind" lines, one after the other. */
static void fixed_lines(const struct door_policy *p, struct buf *b)
{
        for (size_t k = 0; k < p->parsed.layers_n; k++) {
                const struct policy_layer *l = &p->parsed.layers[k];
                for (size_t i = 0; i < l->lines_n; i++) {
                        if (l->lines[i].kind != RULE_LINE_LIMIT &&
                            l->lines[i].kind != RULE_LINE_BIND)
                                continue;
                        rule_line_print(&l->lines[i], b);
                        buf_put_u8(b, '\n');
                }
        }
}

/* tell_fixed(c, now, fresh): what a box is built with stays as it is while it runs. */
static void tell_fixed(struct client *c, const struct door_policy *now,
                       const struct door_policy *fresh)
{
        _cleanup_buf_ struct buf was = {0}, is = {0}, said = {0};
        fixed_lines(now, &was);
        fixed_lines(fresh, &is);
        if (!c || strcmp(buf_cstr(&was), buf_cstr(&is)) == 0)
                return;
        buf_put_lstr(&said,
                     "limit and bind lines have changed; they count when a box starts, so this "
                     "box keeps those that it has");
        client_send(c, MSG_NOTICE, said.data, said.len);
}

/* tell_failed(c, err): to whoever asked. For a client that is attached it was a key, and a failure
 * of its command would be something else. */
static void tell_failed(struct client *c, const struct err *err)
{
        _cleanup_free_ char *words =
                c->exec ? str_fmt("the rule was not added: %s", err->text) : NULL;
        if (words)
                client_send_notice(c, words);
        else
                client_send_failed(c, err);
}

/* finish(d, err): the change under way is over: ${err} NULL means that it is in force. */
static void finish(struct sup_door *d, const struct err *err)
{
        struct sup_change *c = d->changes;
        d->changes = c->next;
        loop_timer_stop(&d->patience);
        close_fd(&c->fd);
        if (err && c->kind == SUP_CHANGE_RULE && c->generation) /* it was written down */
                door_rules_note(d->sup->dir_fd, !c->is_added, c->line, NULL);
        if (!err && c->kind == SUP_CHANGE_RULE) {
                move_run_time(&d->policy->run_time, &c->fresh.run_time);
        } else if (!err) {
                tell_fixed(c->client, d->policy, &c->fresh);
                move_run_time(&c->fresh.run_time, &d->policy->run_time);
                door_policy_free(d->policy);
                *d->policy = c->fresh;
                c->fresh = (struct door_policy){0};
        }
        if (c->client && err)
                tell_failed(c->client, err);
        if (!err && c->kind == SUP_CHANGE_RELOAD) {
                sup_secrets_reload(d->sup, &c->secrets, c->client, d->generation);
        } else if (c->client && !err) {
                _cleanup_buf_ struct buf b = {0};
                buf_put_u64(&b, d->generation);
                client_send(c->client, MSG_DONE, b.data, b.len);
        }
        if (c->kind == SUP_CHANGE_RULE) /* its layers are borrowed */
                c->fresh = (struct door_policy){.run_time = c->fresh.run_time};
        door_policy_free(&c->fresh);
        session_secrets_free(&c->secrets);
        free(c->line);
        free(c);
}

/* take_back(d, err): the change failed half-way: one of the two may hold it, so both get the old
 * rules again. */
static void take_back(struct sup_door *d, const struct err *err)
{
        struct err again = {0};
        finish(d, err);
        _cleanup_close_ int fd = sup_rules_seal(d->policy, &again);
        d->generation++;
        if (fd < 0 || sup_rules_send(d, SUP_DIAL, d->policy, fd, d->generation, &again) < 0 ||
            sup_rules_send(d, SUP_EGRESS, d->policy, fd, d->generation, &again) < 0)
                sup_door_shut(d, again.text);
}

/* plan_rule(d, c, err): what the rules will be. Layers are borrowed from those in force: nothing
 * else changes them while this change is under way. */
static int plan_rule(struct sup_door *d, struct sup_change *c, struct err *err)
{
        const struct door_policy *now = d->policy;
        c->fresh = *now;
        c->fresh.run_time = (struct strs){0};
        for (size_t i = 0; i < now->run_time.n; i++)
                strs_add(&c->fresh.run_time, now->run_time.v[i]);
        if (!door_rules_apply(&c->fresh.run_time, c->is_added, c->line))
                return err_set(err, E_ABSENT,
                               "there is no such rule among those added while the box runs: %s",
                               c->line);
        if (c->fresh.run_time.n > DOOR_RULES_MAX)
                return err_set(err, E_REFUSED,
                               "a box takes at most %d rules while it runs; put them into a file "
                               "and say: ostiary policy reload %s",
                               DOOR_RULES_MAX, d->sup->id);
        /* Before it is in force: a refusal must not be forgotten when we die in between. */
        return door_rules_note(d->sup->dir_fd, c->is_added, c->line, err);
}

static int plan_reload(struct sup_door *d, struct sup_change *c, struct err *err)
{
        const struct session_plan *p = d->sup->plan;
        struct door_policy_from from = {.opts = d->sup->opts,
                                        .store = d->sup->store,
                                        .home = p->box.home,
                                        .workspace = p->workspace,
                                        .profile = p->profile,
                                        .profile_rules = &p->rules};
        if (door_policy_collect(&from, &c->fresh, err) < 0 ||
            plan_secrets_collect(&c->fresh.parsed, &c->secrets, NULL, err) < 0)
                return -1;
        door_policy_packages(&c->fresh, p->box.home, &p->packages);
        for (size_t i = 0; i < d->policy->run_time.n; i++)
                strs_add(&c->fresh.run_time, d->policy->run_time.v[i]);
        strs_free(&d->cas); /* the files may have changed */
        return 0;
}

void sup_rules_next(struct sup_door *d)
{
        while (d->changes && d->changes->generation == 0) {
                struct sup_change *c = d->changes;
                struct err err = {0};
                if (d->state == SUP_DOOR_STARTING)
                        return; /* its turn comes when the first rules are in force */
                if (d->state == SUP_DOOR_SHUT) {
                        err_set(&err, E_REFUSED, "the door of this box is closed for good");
                        finish(d, &err);
                        continue;
                }
                int r = c->kind == SUP_CHANGE_RULE ? plan_rule(d, c, &err)
                                                   : plan_reload(d, c, &err);
                if (r < 0) {
                        finish(d, &err);
                        continue;
                }
                c->generation = ++d->generation;
                if (d->state != SUP_DOOR_OPEN) {
                        finish(d, NULL); /* nobody holds rules yet */
                        continue;
                }
                c->fd = sup_rules_seal(&c->fresh, &err);
                if (c->fd < 0 ||
                    sup_rules_send(d, SUP_DIAL, &c->fresh, c->fd, c->generation, &err) < 0)
                        finish(d, &err);
                else if (sup_rules_send(d, SUP_EGRESS, &c->fresh, c->fd, c->generation, &err) < 0)
                        take_back(d, &err);
                else
                        sup_door_wait(d);
        }
}

void sup_rules_ok(struct sup_door *d, enum sup_role role, uint64_t generation)
{
        struct sup_change *c = d->changes;
        if (d->state == SUP_DOOR_STARTING) {
                if (d->acks_wanted && --d->acks_wanted == 0) {
                        d->state = SUP_DOOR_OPEN;
                        loop_timer_stop(&d->patience);
                        sup_rules_next(d);
                }
                return;
        }
        if (!c || c->generation != generation)
                return;
        c->is_held[role] = true;
        if (c->is_held[SUP_DIAL] && c->is_held[SUP_EGRESS]) {
                finish(d, NULL);
                sup_rules_next(d);
        }
}

void sup_rules_bad(struct sup_door *d, enum sup_role role, uint64_t generation, const char *words)
{
        struct err err = {0};
        (void)role;
        err_set(&err, E_INPUT, "%s", words);
        if (d->state == SUP_DOOR_STARTING) {
                err_add(&err, "the door does not understand the box's rules");
                sup_door_shut(d, err.text);
                return;
        }
        if (!d->changes || d->changes->generation != generation)
                return;
        take_back(d, &err);
        sup_rules_next(d);
}

void sup_rules_fail_all(struct sup_door *d, const char *words)
{
        struct err err = {0};
        err_set(&err, E_SYSTEM, "%s", words);
        while (d->changes)
                finish(d, &err);
}

void sup_rules_forget(struct client *c)
{
        struct sup_door *d = c->sup->door;
        for (struct sup_change *x = d ? d->changes : NULL; x; x = x->next)
                if (x->client == c)
                        x->client = NULL; /* what was asked for is done all the same */
}

/* --- what clients ask ---------------------------------------------------------------------------
 */

static void enqueue(struct client *c, struct sup_change change)
{
        struct sup_door *d = c->sup->door;
        struct sup_change *x = malloc(sizeof *x), **at = &d->changes;
        if (!x)
                str_no_memory();
        *x = change;
        x->client = c;
        x->fd = -1;
        while (*at)
                at = &(*at)->next;
        *at = x;
        sup_rules_next(d);
}

/* canonical(d, is_added, text, err): the one spelling of a rule that may be added; the caller
 * frees. */
static char *canonical(struct sup_door *d, bool is_added, const char *text, struct err *err)
{
        _cleanup_policy_layer_ struct policy_layer one = {.rank = POLICY_RUN_TIME,
                                                          .name = str_dup("the rule")};
        if (policy_layer_add(&one, text, err) < 0)
                return NULL;
        if (one.lines_n != 1 || one.lines[0].kind != RULE_LINE_RULE) {
                err_set(err, E_USAGE,
                        "only rules about the network can change while a box runs, not secret, "
                        "bind "
                        "or limit");
                return NULL;
        }
        const struct rule *r = &one.lines[0].rule;
        char where[256];
        if (is_added && rule_is_grant(r->verdict) && door_policy_is_blocked(d->policy, r, where)) {
                err_set(err, E_REFUSED,
                        "%s says deny! about it, and a deny! cannot be overridden while a box "
                        "runs; "
                        "change it where it stands",
                        where);
                return NULL;
        }
        struct strs names = {0};
        struct door_policy alone = {0};
        strs_add(&alone.run_time, text);
        int got = is_added ? door_policy_cas(&alone, d->sup->plan->box.home, &names, err) : 0;
        strs_free(&names);
        strs_free(&alone.run_time);
        if (got < 0)
                return NULL;
        _cleanup_buf_ struct buf b = {0};
        rule_line_print(&one.lines[0], &b);
        return str_dup(buf_cstr(&b));
}

/* has_door(c): else the answer is sent. */
static bool has_door(struct client *c)
{
        struct err err = {0};
        if (c->sup->door)
                return true;
        err_set(&err, E_REFUSED, "the box is still being built");
        client_send_failed(c, &err);
        return false;
}

void sup_rules_add(struct client *c, bool is_added, const char *text)
{
        struct err err = {0};
        char *line = canonical(c->sup->door, is_added, text, &err);
        if (line)
                enqueue(c, (struct sup_change){
                                   .kind = SUP_CHANGE_RULE, .is_added = is_added, .line = line});
        else
                tell_failed(c, &err);
}

void sup_on_rule(struct client *c, struct frame *f)
{
        uint32_t is_added;
        _cleanup_free_ char *text = NULL;
        if (!has_door(c) || cur_u32(&f->body, &is_added) < 0 || cur_lstr(&f->body, 8192, &text) < 0)
                return;
        sup_rules_add(c, is_added == 1, text);
}

void sup_on_reload(struct client *c, struct frame *f)
{
        struct err err = {0};
        (void)f;
        if (!has_door(c))
                return;
        if (!c->sup->is_built) {
                err_set(&err, E_REFUSED, "the box is still being built");
                client_send_failed(c, &err);
                return;
        }
        enqueue(c, (struct sup_change){.kind = SUP_CHANGE_RELOAD});
}

void sup_on_rules(struct client *c, struct frame *f)
{
        (void)f;
        if (!has_door(c))
                return;
        struct err err = {0};
        const struct sup_door *d = c->sup->door;
        _cleanup_buf_ struct buf b = {0};
        _cleanup_close_ int fd = sup_rules_seal(d->policy, &err);
        if (fd < 0) {
                client_send_failed(c, &err);
                return;
        }
        buf_put_u64(&b, d->generation);
        buf_put_u32(&b, d->policy->level);
        frame_send(c->fd, MSG_RULES_ARE, &b, &fd, 1);
}
