/* sup_secrets_life.c - secrets while the box lives: fresh values by the clock or because somebody
 * asked, and revocation, which is over when neither keeper nor egress can use the value any more.
 * See sup_secrets.h. */
#include "session/sup_secrets.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { AGAIN_S = 60, AHEAD_S = 300 };

static void on_refresh(void *ctx)
{
        struct sup_secret *x = ctx;
        if (x->state == SUP_SECRET_HELD)
                sup_secrets_ask(x);
}

/* plan_refresh(x, has_failed): as the line says, before the value's own end, or soon when the last
 * attempt went wrong. */
static void plan_refresh(struct sup_secret *x, bool has_failed)
{
        uint64_t wait_s = x->secret->line.secret->refresh_s, now = (uint64_t)time(NULL);
        uint64_t end_s = x->source.expires_s;
        if (end_s) {
                uint64_t left = end_s > now + AHEAD_S ? end_s - now - AHEAD_S : AGAIN_S;
                wait_s = wait_s && wait_s < left ? wait_s : left;
        }
        if (has_failed && wait_s > AGAIN_S)
                wait_s = AGAIN_S;
        if (!wait_s || x->state != SUP_SECRET_HELD)
                return;
        x->refresh.fn = on_refresh;
        x->refresh.ctx = x;
        loop_timer_set(x->all->sup->loop, &x->refresh, wait_s * 1000);
}

static void done(struct client *c, uint64_t n)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u64(&b, n);
        client_send(c, MSG_DONE, b.data, b.len);
}

void sup_secrets_settled(struct sup_secret *x, const struct err *err)
{
        struct client *c = x->rotator;
        x->rotator = NULL;
        x->is_busy = false;
        if (x->is_reloaded && x->state != SUP_SECRET_REVOKED)
                sup_secrets_reloaded(x, err); /* its line may be another one now */
        const char *name = x->secret->line.secret->name;
        if (x->state == SUP_SECRET_LEFT_OUT)
                return;
        if (x->state == SUP_SECRET_REVOKED) {
                struct err gone = {0};
                err_set(&gone, E_REFUSED, "%s was revoked meanwhile", name);
                if (c)
                        client_send_failed(c, &gone);
                return;
        }
        bool is_news = err && (!x->fault || strcmp(x->fault, err->text) != 0);
        free(x->fault);
        x->fault = err ? str_dup(err->text) : NULL;
        if (!err && x->state == SUP_SECRET_ASKED) {
                x->state = SUP_SECRET_HELD;
                x->since_ms = loop_now(x->all->sup->loop);
        }
        if (c && err)
                client_send_failed(c, err);
        else if (c)
                done(c, 1);
        else if (is_news) {
                _cleanup_free_ char *words = str_fmt(
                        "secret %s: no fresh value: %s; the one before stays", name, err->text);
                sup_tell(x->all->sup, words);
        }
        plan_refresh(x, err != NULL);
        if (x->wants_again) {
                x->wants_again = false;
                sup_secrets_ask(x);
        }
}

/* --- revocation --------------------------------------------------------------------------------
 */

static void forget(struct sup_secret *x)
{
        x->state = SUP_SECRET_REVOKED;
        loop_timer_stop(&x->refresh);
        if (!x->is_busy)
                return;
        source_cancel(&x->source);
        sup_secrets_settled(x, NULL); /* the keeper does not answer for what it has dropped */
}

void sup_secrets_revoke(struct sup *s, uint32_t number, struct client *c)
{
        struct sup_secrets *all = sup_secrets_of(s);
        _cleanup_buf_ struct buf b = {0};
        struct err err = {0};
        /* First to the keeper: everything else can wait, and it must not. */
        buf_put_u32(&b, number);
        bool has_keeper = s->door && s->door->roles[SUP_KEEPER].pid;
        if (has_keeper &&
            sup_role_send(&s->door->roles[SUP_KEEPER], DOOR_REVOKE, &b, NULL, 0) < 0) {
                err_sys(&err, "tell the keeper");
                sup_door_shut(s->door, "the process that holds the box's keys does not listen");
                if (c)
                        client_send_failed(c, &err);
                return;
        }
        for (size_t i = 0; i < all->n; i++)
                if (number == DOOR_SECRET_ALL || number == all->v[i].secret->number)
                        forget(&all->v[i]);
        if (!has_keeper) { /* nobody holds anything */
                if (c)
                        done(c, 0);
                return;
        }
        struct sup_revoking *r = calloc(1, sizeof *r), **at = &all->revoking;
        if (!r)
                str_no_memory();
        *r = (struct sup_revoking){.client = c, .number = number};
        while (*at)
                at = &(*at)->next;
        *at = r;
}

void sup_secrets_revoked(struct sup *s, uint32_t number)
{
        struct sup_secrets *all = sup_secrets_of(s);
        struct sup_revoking **at = &all->revoking, *r;
        while (*at && (*at)->number != number)
                at = &(*at)->next;
        if (!(r = *at))
                return;
        *at = r->next;
        if (r->client)
                done(r->client, number == DOOR_SECRET_ALL ? all->n : 1);
        free(r);
        for (size_t i = 0; i < all->n; i++)
                if (all->v[i].is_reloaded && all->v[i].state == SUP_SECRET_REVOKED &&
                    (number == DOOR_SECRET_ALL || number == all->v[i].secret->number))
                        sup_secrets_reloaded(&all->v[i], NULL);
}

/* --- where the host keeps it -------------------------------------------------------------------
 */

void sup_secrets_rotated(struct sup *s, struct cur *c)
{
        struct sup_secrets *all = sup_secrets_of(s);
        uint32_t number, n;
        const uint8_t *json;
        _cleanup_buf_ struct buf b = {0};
        if (cur_u32(c, &number) < 0 || cur_u32(c, &n) < 0 || cur_bytes(c, n, &json) < 0 ||
            !s->door || number == 0 || number > all->n)
                return;
        int r = sup_login_rotated(&all->v[number - 1], json, n);
        buf_put_u32(&b, number);
        buf_put_u32(&b, r == 0);
        sup_role_send(&s->door->roles[SUP_KEEPER], DOOR_KEPT, &b, NULL, 0);
}

/* --- what clients ask --------------------------------------------------------------------------
 */

void sup_secrets_forget(struct client *c)
{
        struct sup_secrets *all = c->sup->secrets;
        sup_secrets_reload_forget(c);
        for (struct sup_revoking *r = all ? all->revoking : NULL; r; r = r->next)
                if (r->client == c)
                        r->client = NULL;
        for (size_t i = 0; all && i < all->n; i++)
                if (all->v[i].rotator == c)
                        all->v[i].rotator = NULL;
}

/* find(c, name): the one that is meant; NULL after the client was told that there is none. */
static struct sup_secret *find(struct client *c, const char *name)
{
        struct sup_secrets *all = sup_secrets_of(c->sup);
        struct err err = {0};
        for (size_t i = 0; i < all->n; i++)
                if (strcmp(all->v[i].secret->line.secret->name, name) == 0 &&
                    all->v[i].state != SUP_SECRET_LEFT_OUT)
                        return &all->v[i];
        err_set(&err, E_ABSENT, "this box has no secret \"%s\" (ostiary secrets %s lists them)",
                name, c->sup->id);
        client_send_failed(c, &err);
        return NULL;
}

void sup_on_revoke(struct client *c, struct frame *f)
{
        _cleanup_free_ char *name = NULL;
        if (cur_lstr(&f->body, 256, &name) < 0)
                return;
        struct sup_secret *x = *name ? find(c, name) : NULL;
        if (*name && !x)
                return;
        if (x && x->state == SUP_SECRET_REVOKED)
                done(c, 1);
        else
                sup_secrets_revoke(c->sup, x ? x->secret->number : DOOR_SECRET_ALL, c);
}

void sup_on_rotate(struct client *c, struct frame *f)
{
        _cleanup_free_ char *name = NULL;
        struct err err = {0};
        if (cur_lstr(&f->body, 256, &name) < 0)
                return;
        struct sup_secret *x = find(c, name);
        if (!x)
                return;
        if (x->state == SUP_SECRET_REVOKED) {
                err_set(&err, E_REFUSED, "%s was revoked in this box, for good; start another box",
                        name);
        } else if (x->is_busy) {
                err_set(&err, E_REFUSED, "%s gets a fresh value already; try again in a moment",
                        name);
        } else if (f->fds_n == 0) {
                x->rotator = c;
                sup_secrets_ask(x);
                return;
        } else {
                _cleanup_close_ int value = source_pipe(f->fds[0], DOOR_SECRET_MAX, &err);
                if (value >= 0 && sup_secrets_give(x, value, &err) == 0) {
                        x->is_busy = true;
                        x->rotator = c;
                        return;
                }
                err_add(&err, "the new value cannot be used");
        }
        client_send_failed(c, &err);
}

static const char *state_word(const struct sup_secret *x)
{
        uint64_t ttl_ms = x->secret->line.secret->ttl_s * 1000;
        switch (x->state) {
        case SUP_SECRET_ASKED:
                return "asked";
        case SUP_SECRET_HELD:
                return ttl_ms && loop_now(x->all->sup->loop) - x->since_ms >= ttl_ms ? "expired"
                                                                                     : "held";
        case SUP_SECRET_LEFT_OUT:
                return "left out";
        case SUP_SECRET_REVOKED:
                return "revoked";
        }
        return "?";
}

void sup_on_secrets(struct client *c, struct frame *f)
{
        struct sup_secrets *all = sup_secrets_of(c->sup);
        _cleanup_buf_ struct buf b = {0};
        (void)f;
        buf_put_u32(&b, (uint32_t)all->n);
        for (size_t i = 0; i < all->n; i++) {
                const struct sup_secret *x = &all->v[i];
                _cleanup_buf_ struct buf line = {0};
                rule_line_print(&x->secret->line, &line);
                buf_put_lstr(&b, buf_cstr(&line));
                buf_put_lstr(&b, x->secret->where);
                buf_put_lstr(&b, x->secret->provider ? x->secret->provider : "");
                buf_put_lstr(&b, state_word(x));
                buf_put_lstr(&b, x->fault ? x->fault : "");
        }
        frame_send(c->fd, MSG_SECRETS_ARE, &b, NULL, 0);
}
