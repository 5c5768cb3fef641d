/* sup_login.c - refresh tokens that the host and several boxes share: one at a time. The keeper
 * says when it is about to use one (DOOR_REFRESH); the host's copy is locked and read again,
 * because somebody else may have been quicker; what comes of it is written back (DOOR_ROTATED)
 * before anybody uses it. See sup_secrets.h, login_keep.h. */
#include "session/sup_secrets.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "session/login_keep.h"
#include "session/vault_key.h"

#include <stdlib.h>
#include <string.h>

enum { AGAIN_MS = 50, TOUCH_MS = 2000, GIVE_UP_MS = 60000 };

struct sup_login {
        struct sup_secret *x;
        struct login_lock lock;
        struct loop_timer timer;
        uint64_t since_ms;
};

static const char *lock_name(const struct sup_secret *x)
{
        const struct rule_secret *r = x->secret->line.secret;
        return r->source_arg ? r->source_arg : r->name;
}

/* is_kept(x): can what its source gave be written back there? */
static bool is_kept(const struct sup_secret *x)
{
        enum rule_source from = x->secret->line.secret->source;
        return from == RULE_FROM_LOGIN || from == RULE_FROM_FILE || from == RULE_FROM_VAULT;
}

static void let_go(struct sup_login *l)
{
        loop_timer_stop(&l->timer);
        login_unlock(&l->lock);
}

static void on_timer(void *ctx)
{
        struct sup_login *l = ctx;
        struct sup *s = l->x->all->sup;
        struct err err = {0};
        uint64_t now = loop_now(s->loop);
        if (l->lock.fd >= 0) { /* the call is on its way */
                if (now - l->since_ms > GIVE_UP_MS) {
                        let_go(l);
                        return;
                }
                login_lock_touch(&l->lock);
                loop_timer_set(s->loop, &l->timer, TOUCH_MS);
                return;
        }
        int got =
                login_lock_try(&l->lock, s->store->state, s->plan->box.home, lock_name(l->x), &err);
        if (got < 0)
                sup_tell(s, err.text);
        if (got == 0 && now - l->since_ms < GIVE_UP_MS) {
                loop_timer_set(s->loop, &l->timer, AGAIN_MS);
                return;
        }
        /* Also when the lock cannot be had: what the host holds now may be fresh already. */
        l->since_ms = now;
        loop_timer_set(s->loop, &l->timer, TOUCH_MS);
        sup_secrets_ask(l->x);
}

void sup_login_refresh(struct sup_secret *x)
{
        struct sup *s = x->all->sup;
        if (!is_kept(x)) {
                sup_secrets_ask(x);
                return;
        }
        if (!x->login) {
                x->login = calloc(1, sizeof *x->login);
                if (!x->login)
                        str_no_memory();
                *x->login = (struct sup_login){.x = x, .lock = LOGIN_UNLOCKED};
        }
        let_go(x->login);
        x->login->since_ms = loop_now(s->loop);
        x->login->timer.fn = on_timer;
        x->login->timer.ctx = x->login;
        on_timer(x->login);
}

/* keep(x, json, n, err): where it came from. */
static int keep(const struct sup_secret *x, const char *json, size_t n, struct err *err)
{
        const struct rule_secret *r = x->secret->line.secret;
        const char *home = x->all->sup->plan->box.home;
        if (r->source == RULE_FROM_LOGIN)
                return login_keep(home, r->source_arg, json, n, err);
        if (r->source == RULE_FROM_VAULT)
                return vault_key_put(x->all->sup->store->data, session_secret_asked(x->secret),
                                     json, n, err);
        if (r->source != RULE_FROM_FILE)
                return err_set(
                        err, E_REFUSED,
                        "its source cannot be written to; put the new one there by hand, or keep "
                        "it in a file");
        _cleanup_free_ char *path = str_starts(r->source_arg, "~/")
                                            ? str_fmt("%s%s", home, r->source_arg + 1)
                                            : str_dup(r->source_arg);
        return login_keep_file(path, json, n, err);
}

int sup_login_rotated(struct sup_secret *x, const uint8_t *json, size_t n)
{
        struct err err = {0};
        int r = n ? keep(x, (const char *)json, n, &err) : 0;
        if (x->login)
                let_go(x->login);
        if (r < 0) {
                _cleanup_free_ char *words =
                        str_fmt("secret %s: its new refresh token could not be kept: %s",
                                x->secret->line.secret->name, err.text);
                sup_tell(x->all->sup, words);
        }
        return r;
}

void sup_login_end(struct sup_secret *x)
{
        if (x->login)
                let_go(x->login);
        free(x->login);
        x->login = NULL;
}
