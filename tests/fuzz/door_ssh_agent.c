/* door_ssh_agent.c - any bytes as messages to the box's ssh agent, as the proof of a server, as a
 * key file. Every message has one well-formed answer or is a login for the key, session and server
 * that were shown, by a second reading of the same bytes; nobody is taken for a server without a
 * signature. */
#include "base/buf.h"
#include "base/err.h"
#include "egress/ssh_agent_proto.h"
#include "keeper/ssh_key.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool holds)
{
        if (!holds)
                abort();
}

static struct agent_key key;
static struct agent_host host;
static const uint8_t session[32] = "session session session session";

static void put(struct buf *b, const char *s, size_t n)
{
        buf_put_u32(b, (uint32_t)n);
        buf_put(b, s, n);
}

static void set_up(void)
{
        static const char raw[32] = "0123456789abcdef0123456789abcde";
        if (key.hosts_n)
                return;
        put(&key.blob, "ssh-ed25519", 11);
        put(&key.blob, raw, sizeof raw);
        put(&host.key, "ssh-ed25519", 11);
        put(&host.key, raw, sizeof raw);
        host.name = (char *)(uintptr_t) "git.example.org";
        host.port = 22;
        key.number = 1;
        key.comment = (char *)(uintptr_t) "a key";
        key.hosts = &host;
        key.hosts_n = 1;
}

/* is_login(d): session, 50, user, "ssh-connection", method, 1, algorithm, key, end; by hand. */
static bool is_login(const struct ssh_bytes *d)
{
        const uint8_t *p = d->p, *end = d->p + d->n;
        if (d->n < 4 + 32 + 1 || memcmp(p, "\0\0\0\x20", 4) != 0 ||
            memcmp(p + 4, session, 32) != 0 || p[36] != 50)
                return false;
        /* The key is the last thing, or the server's key is. */
        size_t n = key.blob.len;
        return memcmp(end - n, key.blob.data, n) == 0 || memcmp(end - n, host.key.data, n) == 0;
}

static void talk(const uint8_t *p, size_t n, bool is_bound)
{
        struct agent_state s = {0};
        if (is_bound) {
                s.is_bound = true;
                buf_put(&s.host_key, host.key.data, host.key.len);
                buf_put(&s.session, session, sizeof session);
        }
        while (n > 2) {
                size_t len = (size_t)p[0] << 8 | p[1];
                len = len < n - 2 ? len : n - 2;
                struct ssh_bytes m = {p + 2, len};
                struct agent_outcome out;
                struct buf answer = {0};
                bool was_bound = s.is_bound;
                agent_message(&key, &s, &m, &answer, &out);
                must(was_bound == s.is_bound); /* it would take a signature */
                if (out.verdict == AGENT_SIGN) {
                        must(answer.len == 0 && is_bound && !s.is_spoilt && is_login(&out.data));
                        must(out.key == &key && out.host == &host);
                } else {
                        struct cur c = cur_of(answer.data, answer.len);
                        uint32_t told = 0;
                        uint8_t type = 0;
                        must(cur_u32(&c, &told) == 0 && told == c.left && cur_u8(&c, &type) == 0);
                        must(type == 5 || type == 12 || type == 28);
                        must((out.verdict == AGENT_REFUSED) == (type != 12));
                        must(out.verdict != AGENT_REFUSED || out.why[0]);
                }
                buf_free(&answer);
                p += 2 + len;
                n -= 2 + len;
        }
        agent_state_free(&s);
}

static void prove(const uint8_t *p, size_t n)
{
        struct err err = {0};
        size_t cut = n / 2;
        struct ssh_bind b = {.host_key = {p, cut},
                             .session = {session, sizeof session},
                             .signature = {p + cut, n - cut}};
        must(ssh_bind_check(&b, &err) < 0 && err.text[0]);
}

static void open_key(const uint8_t *p, size_t n, bool is_text)
{
        struct ssh_key k = {0};
        struct err err = {0};
        int r = is_text ? ssh_key_read((const char *)p, n, &k, &err)
                        : ssh_key_open(&(struct ssh_bytes){p, n}, &k, &err);
        must(r == 0 || err.text[0]);
        ssh_key_free(&k);
        if (ssh_key_public((const char *)p, n, &k) == 0) {
                must(!k.key && k.blob.len);
                ssh_key_free(&k);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        set_up();
        if (size < 1 || size > 16384)
                return 0;
        switch (data[0] % 5) {
        case 0:
        case 1:
                talk(data + 1, size - 1, data[0] % 5);
                break;
        case 2:
                prove(data + 1, size - 1);
                break;
        default:
                open_key(data + 1, size - 1, data[0] % 5 == 3);
        }
        return 0;
}
