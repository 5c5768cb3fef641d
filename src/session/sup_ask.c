/* sup_ask.c - questions of the door: a request waits, a person decides. Kept here so that any
 * terminal can answer; egress keeps the time. See sup_door.h.
 *
 * A box must not wear its user out until anything is approved: few questions are open at a time,
 * and few come in a row. What is too many is refused unseen, which the user hears once. It is
 * counted here and not in egress, which talks to the box. */
#include "session/sup_door.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/packages.h"

#include <stdlib.h>
#include <string.h>

enum {
        OPEN_MAX = 16,   /* questions that wait at the same time */
        ROW_MAX = 20,    /* in a row; after that */
        EVERY_MS = 3000, /* one in so long */
        WORDS_MAX = 8192,
        SHOWN_MAX = 300, /* letters of a question in a notice */
};

static void answer(struct sup_door *d, uint64_t id, enum door_answer a)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u64(&b, id);
        buf_put_u32(&b, a);
        if (sup_role_send(&d->roles[SUP_EGRESS], DOOR_ANSWER, &b, NULL, 0) < 0)
                sup_door_shut(d, "the process that guards the box's door does not listen");
}

static void question_free(struct sup_question *q)
{
        free(q->what);
        free(q->rule);
        free(q->line);
        free(q);
}

static struct sup_question **find(struct sup_door *d, uint64_t id)
{
        struct sup_question **at = &d->questions;
        while (*at && (*at)->id != id)
                at = &(*at)->next;
        return at;
}

/* who_sees(s): DOOR_ANSWER_YES: somebody at a terminal, who can be asked; else why nobody can. */
static enum door_answer who_sees(const struct sup *s)
{
        enum door_answer why = DOOR_ANSWER_NOBODY;
        for (const struct client *c = s->clients; c; c = c->next) {
                if (!c->exec || !c->exec->is_tty)
                        continue;
                if (!c->is_quiet)
                        return DOOR_ANSWER_YES;
                why = DOOR_ANSWER_QUIET;
        }
        return why;
}

/* put_question(b, q, now): as approvals and a terminal get it. */
static void put_question(struct buf *b, const struct sup_question *q, uint64_t now)
{
        buf_put_u64(b, q->id);
        buf_put_u32(b, q->until_ms > now ? (uint32_t)((q->until_ms - now) / 1000) : 0);
        buf_put_lstr(b, q->what);
        buf_put_lstr(b, q->rule);
        buf_put_lstr(b, q->line);
        buf_put_lstr(b, q->manager ? q->manager : "");
}

void sup_ask_show(struct client *c)
{
        const struct sup_door *d = c->sup->door;
        if (!c->exec || !c->exec->is_tty)
                return;
        /* A state and not an event: a client that is slow hears the last of it. */
        c->is_behind = c->has_pend;
        if (c->is_behind)
                return;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, d ? (uint32_t)d->questions_n : 0);
        if (d && d->questions)
                put_question(&b, d->questions, loop_now(c->sup->loop));
        client_send(c, MSG_WAITING, b.data, b.len);
}

static void show_all(struct sup *s)
{
        for (struct client *c = s->clients; c; c = c->next)
                sup_ask_show(c);
}

/* tell(s, q): a terminal has a row for it; others get a sentence. */
static void tell(struct sup *s, const struct sup_question *q)
{
        _cleanup_free_ char *cut = strlen(q->what) > SHOWN_MAX
                                           ? str_fmt("%.*s...", (int)SHOWN_MAX, q->what)
                                           : str_dup(q->what);
        _cleanup_free_ char *what = str_quote(cut);
        _cleanup_free_ char *words = str_fmt(
                "the box asks: %s; in another terminal: ostiary approve %s/%llu (or refuse)", what,
                s->id, (unsigned long long)q->id);
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        for (struct client *c = s->clients; c; c = c->next)
                if (c->exec && !c->exec->is_tty)
                        client_send(c, MSG_NOTICE, b.data, b.len);
        show_all(s);
}

/* is_too_many(d): count one more, unless it is one too many. */
static bool is_too_many(struct sup_door *d)
{
        uint64_t now = loop_now(d->sup->loop);
        if (d->asked_until_ms <= now) { /* it has been calm for as long as it takes */
                d->asked_until_ms = now;
                d->is_flood_told = false;
        }
        if (d->questions_n >= OPEN_MAX ||
            d->asked_until_ms - now > (uint64_t)(ROW_MAX - 1) * EVERY_MS)
                return true;
        d->asked_until_ms += EVERY_MS;
        return false;
}

/* refuse_flood(d, id): unseen; the first of a row is told of. */
static void refuse_flood(struct sup_door *d, uint64_t id)
{
        answer(d, id, DOOR_ANSWER_FLOOD);
        if (d->is_flood_told)
                return;
        d->is_flood_told = true;
        _cleanup_free_ char *words =
                str_fmt("the box asks too much: at most %d questions wait at a time and %d come in "
                        "a row, others are refused without being shown; ostiary log %s --denied "
                        "has them, each with the command that would allow it",
                        (int)OPEN_MAX, (int)ROW_MAX, d->sup->id);
        sup_log(d->sup, "ask", words);
        sup_tell(d->sup, words);
}

/* find_manager(d, q, agent): a package manager that nobody could ask where it reads from. The answer is
 * of use to every box then, so the line is one for all that it reads there. */
static void find_manager(const struct sup_door *d, struct sup_question *q, const char *agent)
{
        const char *manager = packages_asker(agent);
        if (!manager || *q->rule || d->sup->plan->packages.mode != PACKAGES_ASK)
                return;
        char *line = packages_line(q->what);
        if (!line)
                return;
        free(q->line);
        q->line = line;
        q->manager = manager;
}

/* keep(c, q): the answer counts in every box from now on. */
static void keep(struct client *c, const struct sup_question *q)
{
        struct err err = {0};
        _cleanup_free_ char *words = NULL;
        if (packages_keep(c->sup->store, q->manager, q->line, &err) < 0)
                words = str_fmt("allowed in this box only: %s", err.text);
        else
                words = str_fmt("kept for every box: %s (ostiary explain shows it)", q->line);
        sup_log(c->sup, "ask", words);
        if (c->exec)
                client_send_notice(c, words);
}

void sup_ask_question(struct sup_door *d, struct cur *body)
{
        struct sup_question *q = calloc(1, sizeof *q);
        uint32_t seconds;
        _cleanup_free_ char *agent = NULL;
        if (!q)
                str_no_memory();
        if (cur_u64(body, &q->id) < 0 || cur_u32(body, &seconds) < 0 ||
            cur_lstr(body, WORDS_MAX, &q->what) < 0 || cur_lstr(body, WORDS_MAX, &q->rule) < 0 ||
            cur_lstr(body, WORDS_MAX, &q->line) < 0 || cur_lstr(body, WORDS_MAX, &agent) < 0) {
                question_free(q);
                sup_door_shut(d, "the process that guards the box's door talks nonsense");
                return;
        }
        /* No rule asks, the level does: only worth waiting for when somebody is there. */
        enum door_answer why = *q->rule == 0 ? who_sees(d->sup) : DOOR_ANSWER_YES;
        bool is_hopeless = why != DOOR_ANSWER_YES;
        if (is_hopeless || is_too_many(d)) {
                if (is_hopeless)
                        answer(d, q->id, why);
                else
                        refuse_flood(d, q->id);
                question_free(q);
                return;
        }
        find_manager(d, q, agent);
        q->until_ms = loop_now(d->sup->loop) + (uint64_t)seconds * 1000;
        struct sup_question **at = &d->questions;
        while (*at)
                at = &(*at)->next;
        *at = q;
        d->questions_n++;
        tell(d->sup, q);
}

void sup_ask_settled(struct sup_door *d, uint64_t id)
{
        struct sup_question **at = find(d, id), *q = *at;
        if (!q)
                return;
        *at = q->next;
        d->questions_n--;
        question_free(q);
        show_all(d->sup);
}

void sup_ask_forget_all(struct sup_door *d)
{
        while (d->questions)
                sup_ask_settled(d, d->questions->id);
}

void sup_on_approvals(struct client *c, struct frame *f)
{
        struct sup_door *d = c->sup->door;
        _cleanup_buf_ struct buf b = {0};
        (void)f;
        uint32_t n = 0;
        uint64_t now = loop_now(c->sup->loop);
        for (struct sup_question *q = d ? d->questions : NULL; q; q = q->next)
                n++;
        buf_put_u32(&b, n);
        for (struct sup_question *q = d ? d->questions : NULL; q; q = q->next)
                put_question(&b, q, now);
        frame_send(c->fd, MSG_APPROVALS_ARE, &b, NULL, 0);
}

void sup_on_approve(struct client *c, struct frame *f)
{
        struct sup_door *d = c->sup->door;
        struct err err = {0};
        uint64_t id;
        uint32_t is_yes, is_kept;
        if (cur_u64(&f->body, &id) < 0 || cur_u32(&f->body, &is_yes) < 0 ||
            cur_u32(&f->body, &is_kept) < 0)
                return;
        struct sup_question *q = d ? *find(d, id) : NULL;
        if (!q) {
                err_set(&err, E_ABSENT,
                        "nobody waits for that answer any more (ostiary approvals lists who does)");
                client_send_failed(c, &err);
                return;
        }
        _cleanup_free_ char *line = is_kept ? str_dup(q->line) : NULL;
        if (is_kept && is_yes == 1 && q->manager)
                keep(c, q);
        answer(d, id, is_yes == 1 ? DOOR_ANSWER_YES : DOOR_ANSWER_NO);
        sup_ask_settled(d, id);
        if (line && is_yes == 1 && *line) {
                sup_rules_add(c, true, line);
                return;
        }
        _cleanup_buf_ struct buf b = {0};
        buf_put_u64(&b, d->generation);
        client_send(c, MSG_DONE, b.data, b.len);
}

void sup_on_answer(struct client *c, struct frame *f)
{
        struct sup_door *d = c->sup->door;
        uint64_t id;
        uint32_t is_yes, is_kept;
        if (cur_u64(&f->body, &id) < 0 || cur_u32(&f->body, &is_yes) < 0 ||
            cur_u32(&f->body, &is_kept) < 0)
                return;
        struct sup_question *q = d ? *find(d, id) : NULL;
        if (!q) {
                client_send_notice(c, "that question was answered elsewhere, or its time was over; "
                                      "nothing was done");
                return;
        }
        _cleanup_free_ char *line = is_kept && is_yes == 1 ? str_dup(q->line) : NULL;
        if (line && q->manager)
                keep(c, q);
        answer(d, id, is_yes == 1 ? DOOR_ANSWER_YES : DOOR_ANSWER_NO);
        sup_ask_settled(d, id);
        if (line && *line)
                sup_rules_add(c, true, line);
        else if (line)
                client_send_notice(c, "allowed this once: there is no rule that would allow it "
                                      "for good");
}
