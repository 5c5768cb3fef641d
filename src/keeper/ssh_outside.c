/* ssh_outside.c - see ssh_outside.h. A question waits here until the user's agent has answered,
 * which may take as long as a person needs for a confirmation. What comes back is checked before it
 * goes on: an agent that signs something else is no way around the judgement. */
#include "keeper/ssh_outside.h"

#include "base/err.h"
#include "base/str.h"
#include "keeper/ssh_sign.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAITING_MAX = 16 };

struct waiting {
        struct waiting *next;
        uint32_t id; /* ours, toward the supervisor */
        uint32_t call, number;
        char *host;
        uint16_t port;
        const struct ssh_method *method;
        struct buf blob, data;
        char user[SSH_WORDS];
};

static struct waiting *first;
static size_t waiting_n;
static uint32_t last_id;
static struct buf held; /* DOOR_SSH_HELD as it came */

bool ssh_outside_holds(const struct ssh_bytes *blob)
{
        struct cur c = cur_of(held.data, held.len);
        uint32_t n = 0;
        struct ssh_bytes one;
        if (cur_u32(&c, &n) < 0)
                return false;
        while (n-- && ssh_get(&c, DOOR_SSH_BLOB_MAX, &one) == 0)
                if (ssh_same(&one, blob))
                        return true;
        return false;
}

int ssh_held_serve(struct keeper *k, struct frame *f)
{
        struct cur c = f->body;
        uint32_t n;
        struct ssh_bytes one;
        (void)k;
        if (cur_u32(&c, &n) < 0 || n > DOOR_SSH_HOSTS_MAX)
                return -1;
        while (n--)
                if (ssh_get(&c, DOOR_SSH_BLOB_MAX, &one) < 0)
                        return -1;
        held.len = 0;
        buf_put(&held, f->body.p, f->body.left);
        return c.left ? -1 : 0;
}

int ssh_outside_sign(struct keeper *k, struct keeper_ask *a, const struct ssh_bytes *blob,
                     const struct ssh_login *login, const struct ssh_bytes *data, uint32_t flags)
{
        if (waiting_n == WAITING_MAX)
                return keeper_ask_no(k, a, DOOR_NO_LIMIT,
                                     "too many questions wait for the user's ssh agent");
        struct waiting *w = calloc(1, sizeof *w);
        if (!w)
                str_no_memory();
        *w = (struct waiting){.next = first,
                              .id = ++last_id,
                              .call = a->id,
                              .number = a->number,
                              .host = str_dup(a->to.host),
                              .port = a->to.port,
                              .method = login->method};
        buf_put(&w->blob, blob->p, blob->n);
        buf_put(&w->data, data->p, data->n);
        ssh_words(&login->user, w->user);
        first = w;
        waiting_n++;
        struct buf *b = keeper_message(k, DOOR_SSH_ASK);
        buf_put_u32(b, w->id);
        keeper_put_bytes(b, blob->p, blob->n);
        keeper_put_bytes(b, data->p, data->n);
        buf_put_u32(b, flags);
        return keeper_to_supervisor(k);
}

/* answer(k, w, signature): the secret may have been revoked meanwhile. */
static int answer(struct keeper *k, const struct waiting *w, const struct ssh_bytes *signature)
{
        struct keeper_ask a = {.id = w->call,
                               .number = w->number,
                               .what = "ssh",
                               .secret = store_find(k->store, w->number),
                               .to = {.method = "", .host = w->host, .path = "", .port = w->port}};
        struct ssh_bytes blob = {w->blob.data, w->blob.len}, data = {w->data.data, w->data.len};
        struct err err = {0};
        if (!a.secret || a.secret->state != STORE_LIVE)
                return keeper_ask_no(k, &a, DOOR_NO_REVOKED, "the key was taken back meanwhile");
        if (signature->n == 0)
                return keeper_ask_no(k, &a, DOOR_NO_VALUE,
                                     "the user's ssh agent did not sign (ssh-add -l shows what it "
                                     "holds)");
        if (ssh_signature_check(&blob, w->method, signature, &data, &err) < 0)
                return keeper_ask_no(k, &a, DOOR_NO_VALUE,
                                     "the user's ssh agent signed something else");
        char note[SSH_WORDS + 64];
        snprintf(note, sizeof note, "signed a login as %s, by the user's agent", w->user);
        keeper_ask_yes(k, &a, note);
        struct buf *b = keeper_message(k, DOOR_SSH_SIGNED);
        buf_put_u32(b, a.id);
        keeper_put_bytes(b, signature->p, signature->n);
        return keeper_to_egress(k);
}

int ssh_asked_serve(struct keeper *k, struct frame *f)
{
        uint32_t id;
        struct ssh_bytes signature;
        if (cur_u32(&f->body, &id) < 0 || ssh_get(&f->body, SSH_SIGNATURE_MAX, &signature) < 0 ||
            f->body.left)
                return -1;
        struct waiting **at = &first;
        while (*at && (*at)->id != id)
                at = &(*at)->next;
        struct waiting *w = *at;
        if (!w)
                return 0;
        *at = w->next;
        waiting_n--;
        int r = answer(k, w, &signature);
        buf_free(&w->blob);
        buf_free(&w->data);
        free(w->host);
        free(w);
        return r;
}
