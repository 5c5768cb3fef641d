/* ssh_agent_proto.c - see ssh_agent_proto.h. Every byte is the box's. */
#include "egress/ssh_agent_proto.h"

#include "base/err.h"
#include "wire/door.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
        AGENT_FAILURE = 5,
        AGENT_SUCCESS = 6,
        AGENTC_REQUEST_IDENTITIES = 11,
        AGENT_IDENTITIES_ANSWER = 12,
        AGENTC_SIGN_REQUEST = 13,
        AGENT_SIGN_RESPONSE = 14,
        AGENTC_EXTENSION = 27,
        AGENT_EXTENSION_FAILURE = 28,
};

void agent_key_free(struct agent_key *k)
{
        for (size_t i = 0; i < k->hosts_n; i++) {
                free(k->hosts[i].name);
                buf_free(&k->hosts[i].key);
        }
        free(k->hosts);
        free(k->comment);
        buf_free(&k->blob);
        free(k);
}

void agent_state_free(struct agent_state *s)
{
        buf_free(&s->host_key);
        buf_free(&s->session);
        buf_free(&s->signature);
}

static struct ssh_bytes bytes_of(const struct buf *b)
{
        return (struct ssh_bytes){b->data, b->len};
}

struct ssh_bind agent_state_bind(const struct agent_state *s)
{
        return (struct ssh_bind){.host_key = bytes_of(&s->host_key),
                                 .session = bytes_of(&s->session),
                                 .signature = bytes_of(&s->signature)};
}

static void put_one(struct buf *answer, uint8_t type)
{
        buf_put_u32(answer, 1);
        buf_put_u8(answer, type);
}

void agent_put_failure(struct buf *answer)
{
        put_one(answer, AGENT_FAILURE);
}

void agent_put_signed(struct buf *answer, const struct ssh_bytes *signature)
{
        buf_put_u32(answer, (uint32_t)(1 + 4 + signature->n));
        buf_put_u8(answer, AGENT_SIGN_RESPONSE);
        buf_put_u32(answer, (uint32_t)signature->n);
        buf_put(answer, signature->p, signature->n);
}

static void refuse(struct buf *answer, uint8_t type, struct agent_outcome *out, const char *why)
{
        put_one(answer, type);
        out->verdict = AGENT_REFUSED;
        snprintf(out->why, sizeof out->why, "%.255s", why);
}

static void list_keys(const struct agent_key *keys, struct buf *answer)
{
        _cleanup_buf_ struct buf list = {0};
        uint32_t n = 0;
        for (const struct agent_key *k = keys; k; k = k->next) {
                if (k->is_gone)
                        continue;
                n++;
                buf_put_u32(&list, (uint32_t)k->blob.len);
                buf_put(&list, k->blob.data, k->blob.len);
                buf_put_lstr(&list, k->comment);
        }
        buf_put_u32(answer, (uint32_t)(1 + 4 + list.len));
        buf_put_u8(answer, AGENT_IDENTITIES_ANSWER);
        buf_put_u32(answer, n);
        buf_put(answer, list.data, list.len);
}

/* bind(s, c, answer, out): the client shows its server. Once per connection: a second one would
 * make of one proof two, and a forwarded agent speaks for somebody who is elsewhere. */
static void bind_session(struct agent_state *s, struct cur *c, struct buf *answer,
                         struct agent_outcome *out)
{
        struct ssh_bind b;
        struct err err = {0};
        uint8_t is_forwarding;
        const char *why = NULL;
        if (ssh_get(c, DOOR_SSH_BLOB_MAX, &b.host_key) < 0 ||
            ssh_get(c, SSH_SESSION_MAX, &b.session) < 0 ||
            ssh_get(c, SSH_SIGNATURE_MAX, &b.signature) < 0 || cur_u8(c, &is_forwarding) < 0 ||
            c->left)
                why = "the proof of the server makes no sense";
        else if (is_forwarding)
                why = "the agent of a box is not forwarded to other machines (ssh -A)";
        else if (s->is_bound || s->is_spoilt)
                why = "the connection showed another server before";
        else if (ssh_bind_check(&b, &err) < 0)
                why = err.text;
        if (why) {
                s->is_spoilt = true;
                refuse(answer, AGENT_EXTENSION_FAILURE, out, why);
                return;
        }
        buf_put(&s->host_key, b.host_key.p, b.host_key.n);
        buf_put(&s->session, b.session.p, b.session.n);
        buf_put(&s->signature, b.signature.p, b.signature.n);
        s->is_bound = true;
        put_one(answer, AGENT_SUCCESS);
}

static void on_extension(struct agent_state *s, struct cur *c, struct buf *answer,
                         struct agent_outcome *out)
{
        struct ssh_bytes name;
        if (ssh_get(c, 128, &name) == 0 && ssh_is(&name, "session-bind@openssh.com")) {
                bind_session(s, c, answer, out);
                return;
        }
        refuse(answer, AGENT_EXTENSION_FAILURE, out, "the agent of a box has no such extension");
}

static const struct agent_key *find_key(const struct agent_key *keys, const struct ssh_bytes *blob)
{
        for (const struct agent_key *k = keys; k; k = k->next) {
                struct ssh_bytes own = bytes_of(&k->blob);
                if (!k->is_gone && ssh_same(&own, blob))
                        return k;
        }
        return NULL;
}

static const struct agent_host *find_host(const struct agent_key *k, const struct ssh_bytes *key)
{
        for (size_t i = 0; i < k->hosts_n; i++) {
                struct ssh_bytes own = bytes_of(&k->hosts[i].key);
                if (ssh_same(&own, key))
                        return &k->hosts[i];
        }
        return NULL;
}

/* may_sign(k, s, out, err): the same key may belong to several secrets' servers. */
static int may_sign(const struct agent_key *keys, const struct agent_state *s,
                    const struct ssh_bytes *blob, struct agent_outcome *out, struct err *err)
{
        struct ssh_bind bind = agent_state_bind(s);
        struct ssh_login login;
        out->key = find_key(keys, blob);
        if (!out->key)
                return err_set(err, E_REFUSED, "no such key was granted to this box");
        if (s->is_spoilt)
                return err_set(err, E_REFUSED,
                               "the connection tried to show a server and did not prove it");
        if (!s->is_bound)
                return err_set(err, E_REFUSED,
                               "the program did not say which server it logs in to (OpenSSH says "
                               "so since 8.9)");
        for (const struct agent_key *k = keys; k && !out->host; k = k->next) {
                struct ssh_bytes own = bytes_of(&k->blob);
                if (k->is_gone || !ssh_same(&own, blob))
                        continue;
                out->host = find_host(k, &bind.host_key);
                if (out->host)
                        out->key = k;
        }
        if (!out->host)
                return err_set(err, E_REFUSED,
                               "the server's host key belongs to none of the key's places");
        if (ssh_login_check(&out->data, &bind, blob, out->flags, &login, err) < 0)
                return -1;
        ssh_words(&login.user, out->user);
        return 0;
}

static void on_sign(const struct agent_key *keys, const struct agent_state *s, struct cur *c,
                    struct buf *answer, struct agent_outcome *out)
{
        struct ssh_bytes blob;
        struct err err = {0};
        if (ssh_get(c, DOOR_SSH_BLOB_MAX, &blob) < 0 || ssh_get(c, SSH_LOGIN_MAX, &out->data) < 0 ||
            cur_u32(c, &out->flags) < 0 || c->left)
                refuse(answer, AGENT_FAILURE, out, "the request for a signature makes no sense");
        else if (may_sign(keys, s, &blob, out, &err) < 0)
                refuse(answer, AGENT_FAILURE, out, err.text);
        else
                out->verdict = AGENT_SIGN;
}

void agent_message(const struct agent_key *keys, struct agent_state *s,
                   const struct ssh_bytes *message, struct buf *answer, struct agent_outcome *out)
{
        struct cur c = cur_of(message->p, message->n);
        uint8_t type;
        *out = (struct agent_outcome){.verdict = AGENT_ANSWERED};
        if (cur_u8(&c, &type) < 0)
                refuse(answer, AGENT_FAILURE, out, "the message to the agent is empty");
        else if (type == AGENTC_REQUEST_IDENTITIES && c.left == 0)
                list_keys(keys, answer);
        else if (type == AGENTC_SIGN_REQUEST)
                on_sign(keys, s, &c, answer, out);
        else if (type == AGENTC_EXTENSION)
                on_extension(s, &c, answer, out);
        else
                refuse(answer, AGENT_FAILURE, out,
                       "the agent of a box lists keys and signs logins, and nothing else");
}
