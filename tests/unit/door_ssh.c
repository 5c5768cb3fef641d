/* door_ssh.c - keys of ssh as the keeper reads them, what must be shown before one signs, and the
 * agent that stands in the box: real keys of ssh-keygen, every signature verified by the other
 * side's code, and each way of asking for more than a login to a known server. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/ssh_agent_proto.h"
#include "keeper/ssh_key.h"
#include "role/ssh_proof.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char dir[] = "/tmp/door_ssh.XXXXXX";

static bool run(const char *line)
{
        int status = system(line);
        return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void read_file(const char *path, struct buf *b)
{
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC);
        uint8_t some[16384];
        ssize_t n = fd >= 0 ? read(fd, some, sizeof some) : -1;
        buf_put(b, some, n > 0 ? (size_t)n : 0);
}

/* keygen(name, args): a fresh key in dir/name, with its .pub. */
static bool keygen(const char *name, const char *args)
{
        _cleanup_free_ char *line =
                str_fmt("ssh-keygen -q -C 'test key' %s -f %s/%s >/dev/null 2>&1", args, dir, name);
        return run(line);
}

static int load(const char *name, struct ssh_key *k, struct err *err)
{
        _cleanup_free_ char *path = str_fmt("%s/%s", dir, name);
        _cleanup_buf_ struct buf text = {0};
        read_file(path, &text);
        return ssh_key_read((const char *)text.data, text.len, k, err);
}

static struct ssh_bytes bytes(const struct buf *b)
{
        return (struct ssh_bytes){b->data, b->len};
}

static struct ssh_bytes text_bytes(const char *s)
{
        return (struct ssh_bytes){(const uint8_t *)s, strlen(s)};
}

static const struct ssh_method *method(const char *name)
{
        struct ssh_bytes s = text_bytes(name);
        return ssh_method_find(&s);
}

static void test_keys(void)
{
        static const struct {
                const char *name, *args, *method;
        } kinds[] = {
                {"ed25519", "-t ed25519 -N ''", "ssh-ed25519"},
                {"ec256", "-t ecdsa -b 256 -N ''", "ecdsa-sha2-nistp256"},
                {"ec384", "-t ecdsa -b 384 -N ''", "ecdsa-sha2-nistp384"},
                {"ec521", "-t ecdsa -b 521 -N ''", "ecdsa-sha2-nistp521"},
                {"rsa", "-t rsa -b 2048 -N ''", "rsa-sha2-256"},
                {"rsa2", "-t rsa -b 3072 -N ''", "rsa-sha2-512"},
                {"ec256pem", "-t ecdsa -b 256 -m PEM -N ''", "ecdsa-sha2-nistp256"},
                {"rsapem", "-t rsa -b 2048 -m PEM -N ''", "rsa-sha2-512"},
                {"rsapkcs8", "-t rsa -b 2048 -m PKCS8 -N ''", "rsa-sha2-256"},
        };
        for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
                struct ssh_key k = {0};
                struct err err = {0};
                _cleanup_buf_ struct buf line = {0}, file = {0}, sig = {0};
                _cleanup_free_ char *pub = str_fmt("%s/%s.pub", dir, kinds[i].name);
                _cleanup_free_ char *title =
                        str_fmt("a key of ssh-keygen is read: %s", kinds[i].args);
                if (!check(keygen(kinds[i].name, kinds[i].args) &&
                                   load(kinds[i].name, &k, &err) == 0,
                           title, "%s", err.text))
                        continue;
                ssh_key_line(&k, &line);
                read_file(pub, &file);
                size_t n = line.len < file.len ? line.len : file.len;
                CHECK("its public half is what ssh-keygen wrote beside it",
                      n > 60 && memcmp(line.data, file.data, n) == 0);
                /* The longest session that a hash gives, signed as a server would. */
                uint8_t session[64];
                memset(session, (int)i + 1, sizeof session);
                struct ssh_bytes s = {session, sizeof session};
                CHECK("it signs", ssh_key_sign(&k, method(kinds[i].method), &s, &sig) == 0);
                struct ssh_bind b = {
                        .host_key = bytes(&k.blob), .session = s, .signature = bytes(&sig)};
                CHECK("the signature is good", ssh_bind_check(&b, &err) == 0);
                session[5] ^= 1;
                CHECK("not for another session", ssh_bind_check(&b, &err) < 0);
                session[5] ^= 1;
                for (size_t at = 0; at < sig.len; at += 7) {
                        sig.data[at] ^= 4;
                        if (ssh_bind_check(&b, &err) == 0)
                                check(false, "a changed signature is bad", "byte %zu", at);
                        sig.data[at] ^= 4;
                }
                for (size_t len = 0; len < sig.len; len++) {
                        b.signature.n = len;
                        if (ssh_bind_check(&b, &err) == 0)
                                check(false, "a short signature is bad", "%zu bytes", len);
                }
                ssh_key_free(&k);
        }
}

static void refused(const char *what, const char *text, size_t n, const char *words)
{
        struct ssh_key k;
        struct err err = {0};
        int r = ssh_key_read(text, n, &k, &err);
        check(r < 0 && strstr(err.text, words), what, "said \"%s\"", r == 0 ? "yes" : err.text);
}

static void test_bad_keys(void)
{
        static const char *const locked[] = {"-t ed25519 -N 'pass phrase'",
                                             "-t rsa -b 2048 -m PEM -N 'pass phrase'",
                                             "-t ecdsa -m PKCS8 -N 'pass phrase'"};
        for (size_t i = 0; i < sizeof locked / sizeof *locked; i++) {
                _cleanup_free_ char *name = str_fmt("locked%zu", i);
                struct ssh_key k;
                struct err err = {0};
                keygen(name, locked[i]);
                check(load(name, &k, &err) < 0 && strstr(err.text, "has a passphrase"),
                      "a key with a passphrase is told as one", "%s", err.text);
        }
        _cleanup_buf_ struct buf good = {0}, pub = {0};
        _cleanup_free_ char *path = str_fmt("%s/ed25519", dir);
        _cleanup_free_ char *pub_path = str_fmt("%s.pub", path);
        read_file(path, &good);
        read_file(pub_path, &pub);
        refused("a public key", (char *)pub.data, pub.len, "is a public key");
        refused("nothing", "", 0, "cannot be read");
        refused("a password", "hunter2hunter2", 14, "cannot be read");
        refused("a key of PuTTY", "PuTTY-User-Key-File-3: ssh-ed25519\n", 35, "PuTTY");
        refused("a NUL", "-----BEGIN \0", 12, "cannot be read");
        keygen("short", "-t rsa -b 1024 -N ''");
        struct ssh_key k;
        struct err err = {0};
        check(load("short", &k, &err) < 0, "an rsa key of 1024 bits is refused", "%s", err.text);
        /* Any change in the file is noticed, or leaves the key as it is (line ends, padding). */
        size_t taken = 0;
        for (size_t i = 36; i + 34 < good.len; i++) {
                uint8_t was = good.data[i];
                good.data[i] = was == 'A' ? 'B' : 'A';
                struct ssh_key other;
                if (was != '\n' && ssh_key_read((char *)good.data, good.len, &other, &err) == 0) {
                        taken++;
                        ssh_key_free(&other);
                }
                good.data[i] = was;
        }
        /* The comment, and the first four of the check numbers' letters that the others repeat. */
        check(taken < 24, "a damaged key is refused", "%zu changes passed", taken);
        for (size_t n = 0; n < good.len; n++) {
                struct ssh_key other;
                if (ssh_key_read((char *)good.data, n, &other, &err) < 0)
                        continue;
                if (n + 2 < good.len)
                        check(false, "half a key is refused", "%zu bytes", n);
                ssh_key_free(&other);
        }
}

/* --- the agent ---------------------------------------------------------------------------------
 */

static struct ssh_key user_key, host_key, other_host;
static struct agent_key granted;
static struct agent_host granted_host;
static uint8_t session_bytes[32];

static void put(struct buf *b, const void *p, size_t n)
{
        ssh_put(b, p, n);
}

static void put_text(struct buf *b, const char *s)
{
        put(b, s, strlen(s));
}

struct login {
        const char *service, *how, *algorithm;
        const struct ssh_key *key, *host; /* host: for hostbound */
        const uint8_t *session;
        uint8_t message, has_signature;
        const char *rest;
};

static const struct login usual = {.service = "ssh-connection",
                                   .how = "publickey",
                                   .algorithm = "ssh-ed25519",
                                   .message = 50,
                                   .has_signature = 1,
                                   .rest = ""};

static void put_login(struct buf *b, const struct login *l)
{
        const struct ssh_key *k = l->key ? l->key : &user_key;
        put(b, l->session ? l->session : session_bytes, sizeof session_bytes);
        buf_put_u8(b, l->message);
        put_text(b, "git");
        put_text(b, l->service);
        put_text(b, l->how);
        buf_put_u8(b, l->has_signature);
        put_text(b, l->algorithm);
        put(b, k->blob.data, k->blob.len);
        if (l->host)
                put(b, l->host->blob.data, l->host->blob.len);
        buf_put_str(b, l->rest);
}

/* say(s, message, out): one message to the agent; the type of the answer, or 0. */
static int say(struct agent_state *s, const struct buf *message, struct agent_outcome *out)
{
        _cleanup_buf_ struct buf answer = {0};
        struct ssh_bytes m = bytes(message);
        agent_message(&granted, s, &m, &answer, out);
        if (answer.len < 5)
                return 0;
        size_t len = (size_t)answer.data[2] << 8 | answer.data[3];
        return len + 4 == answer.len ? answer.data[4] : -1;
}

static int bind_as(struct agent_state *s, const struct ssh_key *host, const struct ssh_key *signer,
                   bool is_forwarding)
{
        _cleanup_buf_ struct buf m = {0}, sig = {0};
        struct agent_outcome out;
        struct ssh_bytes session = {session_bytes, sizeof session_bytes};
        ssh_key_sign(signer, method("ssh-ed25519"), &session, &sig);
        buf_put_u8(&m, 27);
        put_text(&m, "session-bind@openssh.com");
        put(&m, host->blob.data, host->blob.len);
        put(&m, session_bytes, sizeof session_bytes);
        put(&m, sig.data, sig.len);
        buf_put_u8(&m, is_forwarding);
        return say(s, &m, &out);
}

static int sign(struct agent_state *s, const struct login *l, const struct ssh_key *key,
                uint32_t flags, struct agent_outcome *out)
{
        _cleanup_buf_ struct buf m = {0}, data = {0};
        put_login(&data, l);
        buf_put_u8(&m, 13);
        put(&m, key->blob.data, key->blob.len);
        put(&m, data.data, data.len);
        buf_put_u32(&m, flags);
        return say(s, &m, out);
}

static void refuses(const char *what, struct agent_state *s, const struct login *l)
{
        struct agent_outcome out;
        int type = sign(s, l, &user_key, 0, &out);
        check(type == 5 && out.verdict == AGENT_REFUSED && out.why[0], what, "type %d, %s", type,
              out.why);
}

static void test_agent(void)
{
        struct err err = {0};
        struct agent_outcome out;
        keygen("user", "-t ed25519 -N ''");
        keygen("host", "-t ed25519 -N ''");
        keygen("host2", "-t ed25519 -N ''");
        if (!check(load("user", &user_key, &err) == 0 && load("host", &host_key, &err) == 0 &&
                           load("host2", &other_host, &err) == 0,
                   "keys for the agent", "%s", err.text))
                return;
        memset(session_bytes, 7, sizeof session_bytes);
        granted_host = (struct agent_host){.name = str_dup("git.example.org"), .port = 22};
        buf_put(&granted_host.key, host_key.blob.data, host_key.blob.len);
        granted = (struct agent_key){
                .number = 1, .comment = str_dup("c"), .hosts = &granted_host, .hosts_n = 1};
        buf_put(&granted.blob, user_key.blob.data, user_key.blob.len);

        struct agent_state s = {0};
        refuses("no signature before the server was shown", &s, &usual);
        CHECK("a server is shown", bind_as(&s, &host_key, &host_key, false) == 6);
        CHECK("a login to it is signed",
              sign(&s, &usual, &user_key, 0, &out) == 0 && out.verdict == AGENT_SIGN &&
                      strcmp(out.user, "git") == 0 && out.host == &granted_host);
        struct login l = usual;
        l.how = "publickey-hostbound-v00@openssh.com";
        l.host = &host_key;
        CHECK("also one that names the host key",
              sign(&s, &l, &user_key, 0, &out) == 0 && out.verdict == AGENT_SIGN);
        l.host = &other_host;
        refuses("not one that names another host key", &s, &l);
        l.host = NULL;
        refuses("not one that should name it and does not", &s, &l);
        l = usual;
        l.session = (const uint8_t *)"another session, 32 bytes long..";
        refuses("not for another session", &s, &l);
        l = usual;
        l.service = "ssh-userauth";
        refuses("not for another service", &s, &l);
        l = usual;
        l.how = "hostbased";
        refuses("not by another method", &s, &l);
        l = usual;
        l.message = 51;
        refuses("not another message", &s, &l);
        l = usual;
        l.has_signature = 0;
        refuses("not a question without signature", &s, &l);
        l = usual;
        l.rest = "x";
        refuses("not with something behind it", &s, &l);
        l = usual;
        l.key = &other_host;
        refuses("not for another key", &s, &l);
        l = usual;
        l.algorithm = "ssh-rsa";
        refuses("not with an algorithm of another key", &s, &l);
        CHECK("not with a key that was not granted",
              sign(&s, &usual, &other_host, 0, &out) == 5 && !out.key);
        _cleanup_buf_ struct buf sshsig = {0};
        buf_put_u8(&sshsig, 13);
        put(&sshsig, user_key.blob.data, user_key.blob.len);
        put_text(&sshsig, "SSHSIG\0\0\0\3git\0\0\0\0\0\0\0\6sha512");
        buf_put_u32(&sshsig, 0);
        CHECK("not a document (ssh-keygen -Y sign)", say(&s, &sshsig, &out) == 5);
        CHECK("a second server is not taken", bind_as(&s, &other_host, &other_host, false) == 28);
        refuses("and nothing is signed any more", &s, &usual);
        agent_state_free(&s);

        s = (struct agent_state){0};
        CHECK("a forged proof is refused", bind_as(&s, &host_key, &other_host, false) == 28);
        refuses("and spoils the connection", &s, &usual);
        CHECK("for good", bind_as(&s, &host_key, &host_key, false) == 28);
        agent_state_free(&s);
        s = (struct agent_state){0};
        CHECK("a forwarded agent is refused", bind_as(&s, &host_key, &host_key, true) == 28);
        refuses("and does not sign", &s, &usual);
        agent_state_free(&s);
        s = (struct agent_state){0};
        CHECK("an unknown server is shown", bind_as(&s, &other_host, &other_host, false) == 6);
        refuses("and gets no login", &s, &usual);
        agent_state_free(&s);

        s = (struct agent_state){0};
        granted.is_gone = true;
        bind_as(&s, &host_key, &host_key, false);
        refuses("a key that is gone does not sign", &s, &usual);
        granted.is_gone = false;
        agent_state_free(&s);

        s = (struct agent_state){0};
        unsigned wrong = 0;
        for (int type = 0; type < 256; type++) {
                _cleanup_buf_ struct buf m = {0};
                buf_put_u8(&m, (uint8_t)type);
                int got = say(&s, &m, &out);
                wrong += type == 11 ? got != 12 : type == 27 ? got != 28 : got != 5;
        }
        check(wrong == 0, "every other kind of message fails", "%u did not", wrong);
        _cleanup_buf_ struct buf list = {0};
        struct ssh_bytes ask = text_bytes("\x0b");
        agent_message(&granted, &s, &ask, &list, &out);
        struct cur c = cur_of(list.data, list.len);
        uint32_t len, n;
        uint8_t type;
        struct ssh_bytes blob, comment, own = bytes(&user_key.blob);
        CHECK("exactly the granted key is listed",
              cur_u32(&c, &len) == 0 && len == c.left && cur_u8(&c, &type) == 0 && type == 12 &&
                      cur_u32(&c, &n) == 0 && n == 1 && ssh_get(&c, 4096, &blob) == 0 &&
                      ssh_same(&blob, &own) && ssh_get(&c, 256, &comment) == 0 && c.left == 0);
        agent_state_free(&s);
}

/* An rsa key says its hash twice, in the flags and in the login. */
static void test_rsa_flags(void)
{
        struct ssh_key k = {0};
        struct err err = {0};
        struct ssh_login login;
        if (load("rsa", &k, &err) < 0)
                return;
        struct ssh_bind b = {.session = {session_bytes, sizeof session_bytes}};
        struct ssh_bytes blob = bytes(&k.blob);
        static const struct {
                const char *algorithm;
                uint32_t flags;
                bool ok;
        } cases[] = {{"rsa-sha2-256", 2, true},  {"rsa-sha2-512", 4, true},
                     {"rsa-sha2-256", 4, false}, {"rsa-sha2-512", 0, false},
                     {"ssh-rsa", 0, false},      {"rsa-sha2-512", 6, false}};
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                _cleanup_buf_ struct buf data = {0};
                struct login l = usual;
                l.algorithm = cases[i].algorithm;
                l.key = &k;
                put_login(&data, &l);
                struct ssh_bytes d = bytes(&data);
                bool ok = ssh_login_check(&d, &b, &blob, cases[i].flags, &login, &err) == 0;
                check(ok == cases[i].ok, "the hash of an rsa signature is said twice alike",
                      "%s with flags %u", cases[i].algorithm, cases[i].flags);
        }
        ssh_key_free(&k);
}

int main(void)
{
        if (!run("command -v ssh-keygen >/dev/null")) {
                printf("skip: ssh-keygen is missing\n");
                return 0;
        }
        if (!mkdtemp(dir))
                return 1;
        test_keys();
        test_bad_keys();
        test_agent();
        test_rsa_flags();
        ssh_key_free(&user_key);
        ssh_key_free(&host_key);
        ssh_key_free(&other_host);
        buf_free(&granted.blob);
        buf_free(&granted_host.key);
        free(granted.comment);
        free(granted_host.name);
        _cleanup_free_ char *line = str_fmt("rm -rf '%s'", dir);
        run(line);
        return check_end();
}
