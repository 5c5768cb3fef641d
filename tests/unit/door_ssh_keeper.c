/* door_ssh_keeper.c - a confined keeper with a key of ssh, and an egress that lies to it: it signs
 * a login to the server that the supervisor named, and nothing else, whatever egress says. */
#include "unit/libkeeper.h"

#include "base/str.h"
#include "keeper/ssh_key.h"
#include "role/ssh_proof.h"

#define LINE "secret GIT_KEY from file ~/.ssh/id at git.example.org as ssh"

static char dir[] = "/tmp/door_ssh_keeper.XXXXXX";
static struct ssh_key user, host, stranger;
static uint8_t session[32] = "a session of 32 bytes, shared";

static bool run(const char *line)
{
        int status = system(line);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void read_key(const char *name, const char *kind, struct buf *text, struct ssh_key *k)
{
        struct err err = {0};
        char some[16384];
        _cleanup_free_ char *line =
                str_fmt("ssh-keygen -q -t %s -C test -N '' -f %s/%s", kind, dir, name);
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        run(line);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = fd >= 0 ? read(fd, some, sizeof some) : 0;
        buf_put(text, some, n > 0 ? (size_t)n : 0);
        if (!check(ssh_key_read(some, n > 0 ? (size_t)n : 0, k, &err) == 0, "a key of the test",
                   "%s", err.text))
                exit(1);
}

static void tell_hosts(uint32_t number, const struct ssh_key *k)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, number);
        buf_put_u32(&b, k != NULL);
        if (k) {
                buf_put_lstr(&b, "git.example.org");
                buf_put_u32(&b, 22);
                ssh_put(&b, k->blob.data, k->blob.len);
        }
        frame_send(kp.ctl, DOOR_SSH_HOSTS, &b, NULL, 0);
}

struct lie {
        uint32_t number, flags;
        const struct ssh_key *host_key, *signer, *key;
        const uint8_t *session;
        const char *service, *document;
};

static const struct ssh_method *ed25519(void)
{
        struct ssh_bytes name = {(const uint8_t *)"ssh-ed25519", 11};
        return ssh_method_find(&name);
}

/* ask(l, signature): what egress asks for; the type of the answer. */
static uint32_t ask(const struct lie *l, struct buf *signature, struct buf *data)
{
        _cleanup_buf_ struct buf b = {0}, proof = {0};
        struct ssh_bytes s = {session, sizeof session}, got;
        static uint32_t id = 7;
        uint32_t back;
        ssh_key_sign(l->signer ? l->signer : &host, ed25519(), &s, &proof);
        if (l->document) {
                buf_put_str(data, l->document);
        } else {
                const struct ssh_key *k = l->key ? l->key : &user;
                ssh_put(data, l->session ? l->session : session, sizeof session);
                buf_put_u8(data, 50);
                ssh_put(data, "git", 3);
                ssh_put(data, l->service ? l->service : "ssh-connection",
                        strlen(l->service ? l->service : "ssh-connection"));
                ssh_put(data, "publickey", 9);
                buf_put_u8(data, 1);
                ssh_put(data, "ssh-ed25519", 11);
                ssh_put(data, k->blob.data, k->blob.len);
        }
        const struct ssh_key *h = l->host_key ? l->host_key : &host;
        buf_put_u32(&b, ++id);
        buf_put_u32(&b, l->number ? l->number : 1);
        ssh_put(&b, h->blob.data, h->blob.len);
        ssh_put(&b, session, sizeof session);
        ssh_put(&b, proof.data, proof.len);
        ssh_put(&b, data->data, data->len);
        buf_put_u32(&b, l->flags);
        frame_send(kp.egress, DOOR_SSH_SIGN, &b, NULL, 0);
        uint32_t type = kp_hear(kp.egress, 10000);
        kp.words[0] = 0;
        if (cur_u32(&kp.f.body, &back) < 0 || back != id)
                return 0;
        if (type == DOOR_SSH_SIGNED && ssh_get(&kp.f.body, 4096, &got) == 0) {
                buf_put(signature, got.p, got.n);
        } else if (type == DOOR_PLACE_NO) {
                cur_u32(&kp.f.body, &kp.no);
                kp_text(kp.words, sizeof kp.words);
        }
        return type;
}

static void refuses(const char *what, const struct lie *l, const char *words)
{
        _cleanup_buf_ struct buf sig = {0}, data = {0};
        uint32_t type = ask(l, &sig, &data);
        check(type == DOOR_PLACE_NO && strstr(kp.words, words), what, "type %u: %s", type,
              kp.words);
}

static void signs(const char *what)
{
        _cleanup_buf_ struct buf sig = {0}, data = {0};
        struct err err = {0};
        uint32_t type = ask(&(struct lie){0}, &sig, &data);
        if (!check(type == DOOR_SSH_SIGNED, what, "type %u: %s", type, kp.words))
                return;
        /* The verifier wants something as long as a session: the first bytes decide anyway. */
        struct cur c = cur_of(sig.data, sig.len);
        struct ssh_bytes name, raw, blob = {user.blob.data, user.blob.len};
        EVP_PKEY *key = ssh_public_key(&blob, &err);
        EVP_MD_CTX *ctx = EVP_MD_CTX_new();
        CHECK("the signature is the user's, of the login",
              ssh_get(&c, 64, &name) == 0 && ssh_get(&c, 64, &raw) == 0 && c.left == 0 && key &&
                      EVP_DigestVerifyInit_ex(ctx, NULL, NULL, NULL, NULL, key, NULL) == 1 &&
                      EVP_DigestVerify(ctx, raw.p, raw.n, data.data, data.len) == 1);
        EVP_MD_CTX_free(ctx);
        EVP_PKEY_free(key);
}

static bool has_record(const char *words)
{
        bool is_there = false;
        while (kp_hear(kp.audit, 1500) == DOOR_RECORD)
                is_there = is_there || memmem(kp.f.body.p, kp.f.body.left, words, strlen(words));
        return is_there;
}

static void take_back(void)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, 1);
        frame_send(kp.ctl, DOOR_REVOKE, &b, NULL, 0);
        uint32_t type = kp_hear(kp.egress, 10000);
        CHECK("egress hears that it is gone", type == DOOR_GONE);
        frame_send(kp.egress, DOOR_GONE_OK, &b, NULL, 0);
        CHECK("it is revoked", kp_hear(kp.ctl, 10000) == DOOR_REVOKED);
}

/* --- a key that only the user's agent has: the test is that agent ------------------------------
 */

static const struct ssh_key *agent_signs_with;
static bool agent_lies;

/* be_agent(): answer one DOOR_SSH_ASK. */
static bool be_agent(void)
{
        _cleanup_buf_ struct buf b = {0}, sig = {0};
        struct ssh_bytes blob, data;
        uint32_t id, flags;
        if (kp_hear(kp.ctl, 10000) != DOOR_SSH_ASK || cur_u32(&kp.f.body, &id) < 0 ||
            ssh_get(&kp.f.body, 4096, &blob) < 0 || ssh_get(&kp.f.body, 16384, &data) < 0 ||
            cur_u32(&kp.f.body, &flags) < 0)
                return false;
        struct ssh_bytes other = {session, sizeof session};
        if (agent_signs_with)
                ssh_key_sign(agent_signs_with, ed25519(), agent_lies ? &other : &data, &sig);
        buf_put_u32(&b, id);
        ssh_put(&b, sig.data, sig.len);
        return frame_send(kp.ctl, DOOR_SSH_ASKED, &b, NULL, 0) == 0;
}

/* through_agent(what, words): a login; NULL words: it is to be signed. */
static void through_agent(const char *what, const char *words)
{
        pid_t pid = fork(); /* the supervisor answers while egress waits */
        if (pid == 0)
                _exit(be_agent() ? 0 : 1);
        _cleanup_buf_ struct buf sig = {0}, data = {0};
        int status = -1;
        uint32_t type = ask(&(struct lie){.number = 3}, &sig, &data);
        waitpid(pid, &status, 0);
        CHECK("the user's agent was asked", status == 0);
        check(words ? type == DOOR_PLACE_NO && strstr(kp.words, words) : type == DOOR_SSH_SIGNED,
              what, "type %u: %s", type, kp.words);
}

static void tell_held(const struct ssh_key *k)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, k != NULL);
        if (k)
                ssh_put(&b, k->blob.data, k->blob.len);
        frame_send(kp.ctl, DOOR_SSH_HELD, &b, NULL, 0);
}

static void test_outside(void)
{
        static const char line[] = "secret LOCKED from file ~/.ssh/l at git.example.org as ssh";
        _cleanup_buf_ struct buf public = {0};
        ssh_key_line(&user, &public);
        buf_put_str(&public, "\n");
        tell_hosts(3, &host);
        CHECK("a public key that no agent holds is refused",
              kp_secret_bytes(3, line, public.data, public.len) == DOOR_SECRET_BAD &&
                      strstr(kp.words, "ssh agent"));
        tell_held(&stranger);
        CHECK("also when the agent holds another",
              kp_secret_bytes(3, line, public.data, public.len) == DOOR_SECRET_BAD);
        tell_held(&user);
        CHECK("one that it holds is taken",
              kp_secret_bytes(3, line, public.data, public.len) == DOOR_SECRET_OK);
        CHECK("egress hears of it", kp_hear(kp.egress, 10000) == DOOR_GRANTED &&
                                            kp_hear(kp.egress, 10000) == DOOR_SSH_KEY);
        agent_signs_with = &user;
        through_agent("a login is signed by the user's agent", NULL);
        refuses("not for another server, and the agent is not asked",
                &(struct lie){.number = 3, .host_key = &stranger, .signer = &stranger},
                "none of the key's places");
        agent_signs_with = NULL;
        through_agent("an agent that refuses", "did not sign");
        agent_signs_with = &stranger;
        through_agent("an agent that signs with another key", "signed something else");
        agent_signs_with = &user;
        agent_lies = true;
        through_agent("an agent that signs something else", "signed something else");
}

int main(void)
{
        if (!run("command -v ssh-keygen >/dev/null")) {
                printf("skip: ssh-keygen is missing\n");
                return 0;
        }
        _cleanup_buf_ struct buf text = {0}, rsa_text = {0}, other = {0}, more = {0};
        struct ssh_key rsa;
        if (!mkdtemp(dir))
                return 1;
        read_key("user", "ed25519", &text, &user);
        read_key("host", "ed25519", &other, &host);
        read_key("stranger", "ed25519", &more, &stranger);
        read_key("rsa", "rsa -b 2048", &rsa_text, &rsa);
        kp_begin();
        CHECK("without a known server there is no use for it",
              kp_secret_bytes(1, LINE, text.data, text.len) == DOOR_SECRET_BAD);
        tell_hosts(1, &host);
        CHECK("what is no key is told", kp_secret(1, LINE, "not a key at all") == DOOR_SECRET_BAD &&
                                                strstr(kp.words, "the key of GIT_KEY"));
        tell_hosts(1, &host);
        CHECK("a key of ssh is taken",
              kp_secret_bytes(1, LINE, text.data, text.len) == DOOR_SECRET_OK);
        CHECK("it has no placeholder", kp.parts_n == 0);
        CHECK("a secret of another kind", kp_secret(2,
                                                    "secret TWO from env at git.example.org as "
                                                    "bearer",
                                                    "fake_value_two") == DOOR_SECRET_OK);
        CHECK("egress hears of both", kp_grants() == 2);

        signs("a login to the known server is signed");
        refuses("not for a server that was not named",
                &(struct lie){.host_key = &stranger, .signer = &stranger},
                "none of the key's places");
        refuses("not by a forged proof", &(struct lie){.signer = &stranger}, "did not sign");
        refuses("not for another session",
                &(struct lie){.session = (const uint8_t *)"another session of 32 bytes, ok?"},
                "another session");
        refuses("not for another key", &(struct lie){.key = &stranger}, "another key");
        refuses("not for another service", &(struct lie){.service = "ssh-userauth"}, "service");
        refuses("not a document", &(struct lie){.document = "SSHSIG and what follows"},
                "not a login");
        refuses("not with another secret", &(struct lie){.number = 2}, "no such key");
        refuses("not with one that does not exist", &(struct lie){.number = 77}, "no such key");
        static const struct door_toward to = {.method = "GET",
                                              .host = "git.example.org",
                                              .path = "/",
                                              .port = 443,
                                              .is_tls = true};
        const char *got = kp_place(1, 0, &to, "");
        check(!*got, "and it is never placed in a request", "%.20s", got);
        CHECK("what was signed is in the log", has_record("signed a login as git"));

        /* Rotated: the same socket, another key. */
        tell_hosts(1, &host);
        CHECK("a fresh key is taken",
              kp_secret_bytes(1, LINE, rsa_text.data, rsa_text.len) == DOOR_SECRET_OK);
        bool is_told = kp_hear(kp.egress, 10000) == DOOR_SSH_KEY &&
                       memmem(kp.f.body.p, kp.f.body.left, rsa.blob.data, rsa.blob.len);
        CHECK("and egress hears of its public half", is_told);
        refuses("the old one signs no more", &(struct lie){0}, "another key");
        tell_hosts(1, &host);
        kp_secret_bytes(1, LINE, text.data, text.len);
        kp_hear(kp.egress, 10000);
        signs("the first is back");

        test_outside();
        take_back();
        refuses("a revoked key does not sign", &(struct lie){0}, "revoked");
        CHECK("it ends in peace", kp_end() == 0);
        ssh_key_free(&user);
        ssh_key_free(&host);
        ssh_key_free(&stranger);
        ssh_key_free(&rsa);
        _cleanup_free_ char *line = str_fmt("rm -rf '%s'", dir);
        run(line);
        return check_end();
}
