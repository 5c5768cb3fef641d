/* ssh_proof.c - reading what an agent is asked to sign; see ssh_proof.h. ssh_verify.c checks the
 * server's signature. */
#include "role/ssh_proof.h"

#include "base/err.h"

#include <string.h>

static const struct ssh_method methods[] = {
        {"ssh-ed25519", "ssh-ed25519", NULL, NULL, NULL},
        {"ecdsa-sha2-nistp256", "ecdsa-sha2-nistp256", "SHA256", "nistp256", "P-256"},
        {"ecdsa-sha2-nistp384", "ecdsa-sha2-nistp384", "SHA384", "nistp384", "P-384"},
        {"ecdsa-sha2-nistp521", "ecdsa-sha2-nistp521", "SHA512", "nistp521", "P-521"},
        {"rsa-sha2-256", "ssh-rsa", "SHA256", NULL, NULL},
        {"rsa-sha2-512", "ssh-rsa", "SHA512", NULL, NULL},
};
enum { METHODS_N = sizeof methods / sizeof *methods };

int ssh_get(struct cur *c, size_t max, struct ssh_bytes *s)
{
        struct cur back = *c;
        uint32_t n;
        if (cur_u32(c, &n) < 0 || n > max || cur_bytes(c, n, &s->p) < 0) {
                *c = back;
                return -1;
        }
        s->n = n;
        return 0;
}

bool ssh_is(const struct ssh_bytes *s, const char *text)
{
        return s->n == strlen(text) && memcmp(s->p, text, s->n) == 0;
}

bool ssh_same(const struct ssh_bytes *a, const struct ssh_bytes *b)
{
        return a->n == b->n && (a->n == 0 || memcmp(a->p, b->p, a->n) == 0);
}

const char *ssh_words(const struct ssh_bytes *s, char words[SSH_WORDS])
{
        size_t n = s->n < SSH_WORDS - 1 ? s->n : SSH_WORDS - 1;
        for (size_t i = 0; i < n; i++)
                words[i] = s->p[i] > ' ' && s->p[i] < 0x7f ? (char)s->p[i] : '?';
        words[n] = 0;
        return words;
}

const struct ssh_method *ssh_method_find(const struct ssh_bytes *name)
{
        for (size_t i = 0; i < METHODS_N; i++)
                if (ssh_is(name, methods[i].name))
                        return &methods[i];
        return NULL;
}

const struct ssh_method *ssh_method_of_key(const struct ssh_bytes *type)
{
        for (size_t i = 0; i < METHODS_N; i++)
                if (ssh_is(type, methods[i].key))
                        return &methods[i];
        return NULL;
}

/* flags_agree(m, flags): the client says the hash twice, and both must be the same one. */
static bool flags_agree(const struct ssh_method *m, uint32_t flags)
{
        if (strcmp(m->key, "ssh-rsa") != 0)
                return true;
        return flags == (strcmp(m->digest, "SHA256") == 0 ? SSH_FLAG_SHA256 : SSH_FLAG_SHA512);
}

int ssh_login_check(const struct ssh_bytes *data, const struct ssh_bind *bind,
                    const struct ssh_bytes *key, uint32_t flags, struct ssh_login *out,
                    struct err *err)
{
        enum { USERAUTH_REQUEST = 50 };
        struct cur c = cur_of(data->p, data->n);
        struct ssh_bytes session, user, service, how, algorithm, blob, host_key, type;
        uint8_t message, has_signature;
        if (ssh_get(&c, SSH_SESSION_MAX, &session) < 0 || cur_u8(&c, &message) < 0 ||
            message != USERAUTH_REQUEST || ssh_get(&c, 1024, &user) < 0 ||
            ssh_get(&c, 64, &service) < 0 || ssh_get(&c, 64, &how) < 0 ||
            cur_u8(&c, &has_signature) < 0 || has_signature != 1 ||
            ssh_get(&c, 64, &algorithm) < 0 || ssh_get(&c, SSH_LOGIN_MAX, &blob) < 0)
                return err_set(err, E_REFUSED, "what is to be signed is not a login to a server");
        bool is_bound = ssh_is(&how, "publickey-hostbound-v00@openssh.com");
        if (!ssh_is(&service, "ssh-connection") || (!is_bound && !ssh_is(&how, "publickey")))
                return err_set(err, E_REFUSED,
                               "the login asks for a service or method that is "
                               "not ssh's usual one");
        if (is_bound &&
            (ssh_get(&c, SSH_LOGIN_MAX, &host_key) < 0 || !ssh_same(&host_key, &bind->host_key)))
                return err_set(err, E_REFUSED,
                               "the login names another host key than the connection showed");
        if (c.left)
                return err_set(err, E_REFUSED, "what is to be signed is more than a login");
        if (session.n == 0 || !ssh_same(&session, &bind->session))
                return err_set(err, E_REFUSED,
                               "the login belongs to another session than the connection showed");
        if (!ssh_same(&blob, key))
                return err_set(err, E_REFUSED, "the login is for another key");
        struct cur k = cur_of(key->p, key->n);
        const struct ssh_method *m = ssh_method_find(&algorithm);
        if (!m || ssh_get(&k, 64, &type) < 0 || !ssh_is(&type, m->key) || !flags_agree(m, flags))
                return err_set(err, E_REFUSED,
                               "the login wants a kind of signature that the key does not make "
                               "(or one with SHA-1, which nobody should)");
        *out = (struct ssh_login){.user = user, .method = m};
        return 0;
}
