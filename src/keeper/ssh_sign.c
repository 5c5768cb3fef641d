/* ssh_sign.c - see ssh_sign.h. A signature is made only for a login to a server whose host key the
 * supervisor named for this secret, proven by that server's own signature of the session: what
 * egress says of it counts for nothing. The key never leaves this process. */
#include "keeper/ssh_sign.h"

#include "base/err.h"
#include "base/str.h"
#include "keeper/ssh_key.h"
#include "keeper/ssh_outside.h"
#include "role/ssh_proof.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* By which keys the places of a secret are known. */
struct ssh_host {
        char *name;
        uint32_t port;
        struct buf key;
};

struct ssh_state {
        struct ssh_state *next;
        uint32_t number;
        struct ssh_host *hosts;
        size_t hosts_n;
};

bool ssh_is_secret(const struct store_secret *s)
{
        const struct rule_secret *line = s->line.secret;
        for (size_t i = 0; i < line->forms_n; i++)
                if (line->forms[i].form == RULE_AS_SSH)
                        return true;
        return false;
}

static struct ssh_state *find_hosts(const struct keeper *k, uint32_t number)
{
        struct ssh_state *s = k->ssh;
        while (s && s->number != number)
                s = s->next;
        return s;
}

static void drop_hosts(struct ssh_state *s)
{
        for (size_t i = 0; i < s->hosts_n; i++) {
                free(s->hosts[i].name);
                buf_free(&s->hosts[i].key);
        }
        free(s->hosts);
        s->hosts = NULL;
        s->hosts_n = 0;
}

static struct ssh_state *add_hosts(struct keeper *k, uint32_t number)
{
        struct ssh_state *s = calloc(1, sizeof *s);
        if (!s)
                str_no_memory();
        *s = (struct ssh_state){.next = k->ssh, .number = number};
        k->ssh = s;
        return s;
}

int ssh_hosts_serve(struct keeper *k, struct frame *f)
{
        uint32_t number, n;
        if (cur_u32(&f->body, &number) < 0 || cur_u32(&f->body, &n) < 0 || n > DOOR_SSH_HOSTS_MAX)
                return -1;
        struct ssh_state *s = find_hosts(k, number);
        if (!s)
                s = add_hosts(k, number);
        drop_hosts(s);
        s->hosts = calloc(n ? n : 1, sizeof *s->hosts);
        if (!s->hosts)
                str_no_memory();
        for (uint32_t i = 0; i < n; i++) {
                struct ssh_host *h = &s->hosts[i];
                struct ssh_bytes key;
                s->hosts_n++;
                if (cur_lstr(&f->body, HOST_TEXT_MAX, &h->name) < 0 ||
                    cur_u32(&f->body, &h->port) < 0 ||
                    ssh_get(&f->body, DOOR_SSH_BLOB_MAX, &key) < 0)
                        return -1;
                buf_put(&h->key, key.p, key.n);
        }
        return f->body.left ? -1 : 0;
}

static void free_cache(void *p)
{
        ssh_key_free(p);
        free(p);
}

static bool is_outside(const struct ssh_key *key)
{
        return ssh_outside_holds(&(struct ssh_bytes){key->blob.data, key->blob.len});
}

int ssh_take(struct keeper *k, struct store_secret *s, const uint8_t *text, size_t n,
             struct err *err)
{
        const char *name = s->line.secret->name;
        struct ssh_key *key = calloc(1, sizeof *key);
        if (!key)
                str_no_memory();
        struct ssh_state *known = find_hosts(k, s->number);
        if (s->line.secret->forms_n != 1) {
                free(key);
                return err_set(err, E_INPUT, "%s: ssh is a form that stands alone", name);
        }
        if (!known || known->hosts_n == 0) {
                free(key);
                return err_set(err, E_INPUT,
                               "%s: no host key of its places is known, so nothing could "
                               "be signed",
                               name);
        }
        struct err why = {0};
        if (ssh_key_read((const char *)text, n, key, &why) < 0 &&
            (ssh_key_public((const char *)text, n, key) < 0 || !is_outside(key))) {
                free_cache(key);
                return err_set(err, E_INPUT, "the key of %s %s", name, why.text);
        }
        if (store_set(k->store, s, "", text, n, STORE_OPEN, err) < 0) {
                free_cache(key);
                return -1;
        }
        s->cache = key;
        s->cache_free = free_cache;
        return 0;
}

int ssh_grant(struct keeper *k, const struct store_secret *s)
{
        const struct ssh_key *key = s->cache;
        const struct ssh_state *known = find_hosts(k, s->number);
        if (!key || !known || s->state != STORE_LIVE)
                return 0;
        struct buf *b = keeper_message(k, DOOR_SSH_KEY);
        buf_put_u32(b, s->number);
        keeper_put_bytes(b, key->blob.data, key->blob.len);
        buf_put_lstr(b, key->comment);
        buf_put_u32(b, (uint32_t)known->hosts_n);
        for (size_t i = 0; i < known->hosts_n; i++) {
                buf_put_lstr(b, known->hosts[i].name);
                buf_put_u32(b, known->hosts[i].port);
                keeper_put_bytes(b, known->hosts[i].key.data, known->hosts[i].key.len);
        }
        return keeper_to_egress(k);
}

/* whose(k, number, key): the host that is known by this key. */
static const struct ssh_host *whose(const struct keeper *k, uint32_t number,
                                    const struct ssh_bytes *key)
{
        const struct ssh_state *s = find_hosts(k, number);
        for (size_t i = 0; s && i < s->hosts_n; i++)
                if (ssh_same(key, &(struct ssh_bytes){s->hosts[i].key.data, s->hosts[i].key.len}))
                        return &s->hosts[i];
        return NULL;
}

/* judge_key(k, a, &sent): is there a key to sign with? Otherwise it was refused. */
static bool judge_key(struct keeper *k, struct keeper_ask *a, int *sent)
{
        struct store_secret *x = a->secret;
        const char *name = x ? x->line.secret->name : "";
        *sent = 0;
        if (x && x->expires_ms)
                keeper_expire(k);
        if (!x || !ssh_is_secret(x))
                *sent = keeper_ask_no(k, a, DOOR_NO_GRANT, "there is no such key");
        else if (x->state == STORE_REVOKED)
                *sent = keeper_ask_no(k, a, DOOR_NO_REVOKED, "%s was revoked", name);
        else if (x->state == STORE_EXPIRED)
                *sent = keeper_ask_no(k, a, DOOR_NO_EXPIRED, "%s has expired", name);
        else if (!x->cache)
                *sent = keeper_ask_no(k, a, DOOR_NO_VALUE, "there is no value for %s", name);
        else
                return true;
        return false;
}

/* judge_login(k, a, bind, data, flags, login, &sent): is it a login to a server of its places? */
static bool judge_login(struct keeper *k, struct keeper_ask *a, const struct ssh_bind *bind,
                        const struct ssh_bytes *data, uint32_t flags, struct ssh_login *login,
                        int *sent)
{
        struct err err = {0};
        const struct ssh_key *key = a->secret->cache;
        struct ssh_bytes blob = {key->blob.data, key->blob.len};
        if (!*a->to.host)
                err_set(&err, E_REFUSED,
                        "the server's host key belongs to none of the key's places");
        else if (ssh_bind_check(bind, &err) == 0 &&
                 ssh_login_check(data, bind, &blob, flags, login, &err) == 0)
                return true;
        *sent = keeper_ask_no(k, a, DOOR_NO_GRANT, "%s", err.text);
        return false;
}

int ssh_sign_serve(struct keeper *k, struct frame *f)
{
        struct keeper_ask a = {.what = "ssh", .to = {.method = "", .host = "", .path = ""}};
        struct ssh_bind bind;
        struct ssh_bytes data;
        struct ssh_login login;
        uint32_t flags;
        int sent;
        if (cur_u32(&f->body, &a.id) < 0 || cur_u32(&f->body, &a.number) < 0 ||
            ssh_get(&f->body, DOOR_SSH_BLOB_MAX, &bind.host_key) < 0 ||
            ssh_get(&f->body, SSH_SESSION_MAX, &bind.session) < 0 ||
            ssh_get(&f->body, SSH_SIGNATURE_MAX, &bind.signature) < 0 ||
            ssh_get(&f->body, SSH_LOGIN_MAX, &data) < 0 || cur_u32(&f->body, &flags) < 0 ||
            f->body.left)
                return -1;
        a.secret = store_find(k->store, a.number);
        const struct ssh_host *host = whose(k, a.number, &bind.host_key);
        if (host) {
                a.to.host = host->name;
                a.to.port = (uint16_t)host->port;
        }
        if (keeper_ask_is_held(k, &a, &sent) || !judge_key(k, &a, &sent) ||
            !judge_login(k, &a, &bind, &data, flags, &login, &sent))
                return sent;
        const struct ssh_key *key = a.secret->cache;
        if (!key->key) {
                struct ssh_bytes blob = {key->blob.data, key->blob.len};
                return ssh_outside_sign(k, &a, &blob, &login, &data, flags);
        }
        _cleanup_buf_ struct buf signature = {0};
        if (ssh_key_sign(key, login.method, &data, &signature) < 0 || signature.is_broken)
                return keeper_ask_no(k, &a, DOOR_NO_VALUE, "the key could not sign");
        char user[SSH_WORDS], note[SSH_WORDS + 32];
        snprintf(note, sizeof note, "signed a login as %s", ssh_words(&login.user, user));
        keeper_ask_yes(k, &a, note);
        struct buf *b = keeper_message(k, DOOR_SSH_SIGNED);
        buf_put_u32(b, a.id);
        keeper_put_bytes(b, signature.data, signature.len);
        return keeper_to_egress(k);
}
