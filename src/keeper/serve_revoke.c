/* serve_revoke.c - the end of a secret: revoked by the supervisor, or past its ttl=. Its values are
 * wiped at once; egress is told to cut what still uses it (DOOR_GONE), and the supervisor hears
 * DOOR_REVOKED only when egress has said that it did. */
#include "keeper/serve_int.h"

#include "base/str.h"
#include "keeper/sign.h"
#include "keeper/token.h"
#include "wire/frame.h"

#include <limits.h>
#include <stdlib.h>

struct serve_revoking {
        struct serve_revoking *next;
        uint32_t number;
};

int keeper_gone(struct keeper *k, struct store_secret *x)
{
        if (!k->is_egress_here) {
                x->is_cut = true;
                return 0;
        }
        const char *name = x->line.secret->name;
        x->is_cut = false;
        struct buf *b = keeper_message(k, DOOR_GONE);
        buf_put_u32(b, x->number);
        char *words =
                str_fmt("%s %s", name, x->state == STORE_REVOKED ? "was revoked" : "has expired");
        buf_put_lstr(b, words);
        free(words);
        return keeper_to_egress(k);
}

static int end_one(struct keeper *k, struct store_secret *x, enum store_state state)
{
        token_owe(k, x);
        store_wipe(x, state);
        keeper_record(
                k, &(struct door_record){.verdict = "deny",
                                         .rule = x->line_text,
                                         .secrets = x->line.secret->name,
                                         .note = state == STORE_REVOKED ? "revoked" : "expired"});
        sign_gone(k, x->number);
        if (keeper_gone(k, x) < 0)
                return -1;
        return token_gone(k, x->number);
}

/* A token that was got with a secret goes with it. */
static bool is_meant(const struct store_secret *x, uint32_t number)
{
        return number == DOOR_SECRET_ALL || x->number == number ||
               (x->is_captured && x->parent == number);
}

static int end_all(struct keeper *k, uint32_t number, enum store_state state)
{
        for (struct store_secret *x = NULL; (x = store_each(k->store, x));)
                if (is_meant(x, number) && x->state == STORE_LIVE && end_one(k, x, state) < 0)
                        return -1;
        return 0;
}

static int tell_revoked(struct keeper *k)
{
        for (struct serve_revoking **p = &k->revoking; *p;) {
                struct serve_revoking *r = *p;
                bool is_open = false;
                for (struct store_secret *x = NULL; (x = store_each(k->store, x));)
                        is_open |= is_meant(x, r->number) && !x->is_cut;
                if (is_open) {
                        p = &r->next;
                        continue;
                }
                struct buf *b = keeper_message(k, DOOR_REVOKED);
                buf_put_u32(b, r->number);
                *p = r->next;
                free(r);
                if (keeper_to_supervisor(k) < 0)
                        return -1;
        }
        return 0;
}

int serve_revoke(struct keeper *k, struct frame *f)
{
        uint32_t number;
        if (cur_u32(&f->body, &number) < 0 || f->body.left)
                return -1;
        if (number == DOOR_SECRET_ALL)
                k->is_all_revoked = true;
        serve_readings_drop(k, number);
        struct serve_revoking *r = malloc(sizeof *r);
        if (!r)
                str_no_memory();
        *r = (struct serve_revoking){.next = k->revoking, .number = number};
        k->revoking = r;
        if (end_all(k, number, STORE_REVOKED) < 0)
                return -1;
        return tell_revoked(k);
}

int serve_gone_ok(struct keeper *k, struct frame *f)
{
        uint32_t number;
        if (cur_u32(&f->body, &number) < 0 || f->body.left)
                return -1;
        struct store_secret *x = store_find(k->store, number);
        if (x && x->state != STORE_LIVE)
                x->is_cut = true;
        return tell_revoked(k);
}

int keeper_expire(struct keeper *k)
{
        uint64_t now = keeper_now_ms(), next = UINT64_MAX;
        for (struct store_secret *x = NULL; (x = store_each(k->store, x));) {
                if (x->state != STORE_LIVE || !x->expires_ms)
                        continue;
                if (x->expires_ms <= now)
                        end_all(k, x->number, STORE_EXPIRED);
                else if (x->expires_ms < next)
                        next = x->expires_ms;
        }
        if (next == UINT64_MAX)
                return -1;
        return next - now > INT_MAX ? INT_MAX : (int)(next - now);
}

void serve_revoke_end(struct keeper *k)
{
        while (k->revoking) {
                struct serve_revoking *r = k->revoking;
                k->revoking = r->next;
                free(r);
        }
}
