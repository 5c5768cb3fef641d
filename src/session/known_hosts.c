/* known_hosts.c - see known_hosts.h. The file is the user's own; whoever can write it decides whom
 * ssh trusts anyway. It must still never be read in another way than ssh reads it. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "session/known_hosts.h"

#include "base/str.h"
#include "wire/door.h"

#include <fnmatch.h>
#include <openssl/sha.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { SSH_PORT = 22, KEY_MAX = DOOR_SSH_BLOB_MAX, KEYS_MAX = DOOR_SSH_HOSTS_MAX, NAME_MAX_ = 300 };

static int digit(char c)
{
        static const char digits[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const char *at = c ? strchr(digits, c) : NULL;
        return at ? (int)(at - digits) : -1;
}

/* decode(s, out, max): base64 without blanks; how many bytes, or 0. */
static size_t decode(const char *s, uint8_t *out, size_t max)
{
        uint32_t bits = 0;
        unsigned have = 0;
        size_t n = 0;
        for (; *s && *s != '='; s++) {
                int d = digit(*s);
                if (d < 0)
                        return 0;
                bits = bits << 6 | (uint32_t)d;
                have += 6;
                if (have >= 8) {
                        have -= 8;
                        if (n == max)
                                return 0;
                        out[n++] = (uint8_t)(bits >> have);
                }
        }
        return s[strspn(s, "=")] ? 0 : n;
}

/* As base/sha256.c: functions that bring nothing else of the library along. */
static void sha1(const void *p, size_t n, uint8_t out[SHA_DIGEST_LENGTH])
{
        SHA_CTX c;
        SHA1_Init(&c);
        SHA1_Update(&c, p, n);
        SHA1_Final(out, &c);
}

/* hmac_sha1(key, n, text, out): how ssh hides a name; the key is as long as the hash. */
static void hmac_sha1(const uint8_t key[SHA_DIGEST_LENGTH], const char *text,
                      uint8_t out[SHA_DIGEST_LENGTH])
{
        enum { BLOCK = 64 };
        uint8_t inner[BLOCK + NAME_MAX_], outer[BLOCK + SHA_DIGEST_LENGTH];
        size_t n = strlen(text);
        memset(inner, 0x36, BLOCK);
        memset(outer, 0x5c, BLOCK);
        for (size_t i = 0; i < SHA_DIGEST_LENGTH; i++) {
                inner[i] ^= key[i];
                outer[i] ^= key[i];
        }
        if (n > NAME_MAX_)
                n = NAME_MAX_;
        memcpy(inner + BLOCK, text, n);
        sha1(inner, BLOCK + n, outer + BLOCK);
        sha1(outer, sizeof outer, out);
}

/* is_hashed_name(entry, name): "|1|salt|hash". */
static bool is_hashed_name(const char *entry, const char *name)
{
        char salt[64], hash[64];
        uint8_t key[SHA_DIGEST_LENGTH], want[SHA_DIGEST_LENGTH], got[SHA_DIGEST_LENGTH];
        const char *p = entry + 3, *bar = strchr(p, '|');
        if (!bar || (size_t)(bar - p) >= sizeof salt || strlen(bar + 1) >= sizeof hash)
                return false;
        memcpy(salt, p, (size_t)(bar - p));
        salt[bar - p] = 0;
        memcpy(hash, bar + 1, strlen(bar + 1) + 1);
        if (decode(salt, key, sizeof key) != sizeof key ||
            decode(hash, want, sizeof want) != sizeof want)
                return false;
        hmac_sha1(key, name, got);
        return memcmp(got, want, sizeof got) == 0;
}

char *known_hosts_name(const char *host, uint16_t port)
{
        /* An IPv6 address has no brackets of its own there. */
        size_t n = strlen(host);
        bool is_v6 = n > 2 && host[0] == '[';
        char *bare = is_v6 ? str_fmt("%.*s", (int)n - 2, host + 1) : str_dup(host);
        char *name = port == SSH_PORT ? str_dup(bare) : str_fmt("[%s]:%u", bare, port);
        free(bare);
        return name;
}

/* names_match(list, name): a list of patterns; one that begins with ! and matches forbids it. */
static bool names_match(const char *list, const char *name)
{
        bool is_named = false;
        char *copy = str_dup(list), *rest = copy;
        for (char *one; (one = strsep(&rest, ","));) {
                bool is_not = *one == '!';
                /* Brackets are part of a name here, not a set of letters. */
                char *pattern = malloc(2 * strlen(one) + 1), *to = pattern;
                if (!pattern)
                        str_no_memory();
                for (const char *p = one + is_not; *p; p++) {
                        if (*p == '[' || *p == ']' || *p == '\\')
                                *to++ = '\\';
                        *to++ = *p;
                }
                *to = 0;
                bool is_it = fnmatch(pattern, name, FNM_CASEFOLD) == 0;
                free(pattern);
                if (is_it && is_not) {
                        is_named = false;
                        break;
                }
                is_named = is_named || is_it;
        }
        free(copy);
        return is_named;
}

static bool is_usable(const char *type)
{
        static const char *const types[] = {"ssh-ed25519", "ecdsa-sha2-nistp256",
                                            "ecdsa-sha2-nistp384", "ecdsa-sha2-nistp521",
                                            "ssh-rsa"};
        for (size_t i = 0; i < sizeof types / sizeof *types; i++)
                if (strcmp(type, types[i]) == 0)
                        return true;
        return false;
}

static void add(struct known_hosts *h, const char *host, uint16_t port, const char *type,
                const char *text)
{
        uint8_t key[KEY_MAX];
        size_t n = decode(text, key, sizeof key);
        if (n == 0 || !is_usable(type) || h->n >= KEYS_MAX)
                return;
        struct known_host *v = reallocarray(h->v, h->n + 1, sizeof *v);
        uint8_t *copy = malloc(n);
        if (!v || !copy)
                str_no_memory();
        h->v = v;
        memcpy(copy, key, n);
        v[h->n++] = (struct known_host){.name = str_dup(host),
                                        .port = port,
                                        .type = str_dup(type),
                                        .text = str_dup(text),
                                        .key = copy,
                                        .key_len = n};
}

static void revoke(struct known_hosts *h, const char *text)
{
        char **v = reallocarray(h->revoked, h->revoked_n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        h->revoked = v;
        v[h->revoked_n++] = str_dup(text);
}

/* split_name(one, &port, host): "name" or "[name]:port" without any pattern. */
static bool split_name(const char *one, uint16_t *port, struct host_name *host)
{
        const char *end = one[0] == '[' ? strrchr(one, ']') : NULL;
        uint64_t n = SSH_PORT;
        if (strpbrk(one, "*?!|"))
                return false;
        if (end && (end[1] != ':' || str_u64(end + 2, &n) < 0 || n == 0 || n > UINT16_MAX))
                return false;
        *port = (uint16_t)n;
        return (end ? host_name_parse(one + 1, (size_t)(end - one - 1), host, NULL)
                    : host_name_parse(one, strlen(one), host, NULL)) == 0;
}

static bool is_port(const struct rule_place *p, uint16_t port)
{
        return p->port == RULE_PORT_ANY ||
               port == (p->port == RULE_PORT_USUAL ? SSH_PORT : p->port);
}

/* by_clear_names(h, list, place, type, text): a wildcard, or any port: what the file names. */
static void by_clear_names(struct known_hosts *h, const char *list, const struct rule_place *p,
                           const char *type, const char *text)
{
        char *copy = str_dup(list), *rest = copy;
        for (char *one; (one = strsep(&rest, ","));) {
                struct host_name host;
                uint16_t port;
                if (split_name(one, &port, &host) && is_port(p, port) &&
                    (p->host_kind == RULE_HOST_BELOW ? host_name_is_below(&host, &p->host)
                                                     : host_name_equal(&host, &p->host)) &&
                    names_match(list, one))
                        add(h, host.text, port, type, text);
        }
        free(copy);
}

static void read_line(struct known_hosts *h, char *line, const struct rule_place *p)
{
        static const char blank[] = " \t\r";
        char *rest = line + strspn(line, blank);
        if (*rest == '#' || !*rest)
                return;
        char *word[4] = {NULL};
        size_t n = 0;
        for (char *one; n < 4 && (one = strsep(&rest, blank));)
                if (*one)
                        word[n++] = one;
        if (n > 3 && strcmp(word[0], "@revoked") == 0) {
                revoke(h, word[3]);
                return;
        }
        if (n < 3 || word[0][0] == '@')
                return;
        if (p->host_kind != RULE_HOST_EXACT || p->port == RULE_PORT_ANY) {
                by_clear_names(h, word[0], p, word[1], word[2]);
                return;
        }
        uint16_t port = p->port == RULE_PORT_USUAL ? SSH_PORT : (uint16_t)p->port;
        char *name = known_hosts_name(p->host.text, port);
        if (str_starts(word[0], "|1|") ? is_hashed_name(word[0], name) : names_match(word[0], name))
                add(h, p->host.text, port, word[1], word[2]);
        free(name);
}

void known_hosts_find(struct known_hosts *h, const char *text, size_t n, const struct rule_place *p)
{
        const char *end = text + n;
        while (text < end) {
                const char *nl = memchr(text, '\n', (size_t)(end - text));
                size_t len = (size_t)((nl ? nl : end) - text);
                if (len < 16 << 10 && !memchr(text, 0, len)) {
                        char *line = str_fmt("%.*s", (int)len, text);
                        read_line(h, line, p);
                        free(line);
                }
                text += len + 1;
        }
}

static void drop(struct known_hosts *h, size_t at)
{
        struct known_host *x = &h->v[at];
        free(x->name);
        free(x->type);
        free(x->text);
        free(x->key);
        memmove(x, x + 1, (h->n - at - 1) * sizeof *x);
        h->n--;
}

void known_hosts_settle(struct known_hosts *h)
{
        for (size_t i = 0; i < h->n;) {
                bool is_out = false;
                for (size_t j = 0; j < h->revoked_n; j++)
                        is_out = is_out || strcmp(h->revoked[j], h->v[i].text) == 0;
                for (size_t j = 0; j < i; j++)
                        is_out = is_out || (h->v[j].port == h->v[i].port &&
                                            strcmp(h->v[j].name, h->v[i].name) == 0 &&
                                            strcmp(h->v[j].text, h->v[i].text) == 0);
                if (is_out)
                        drop(h, i);
                else
                        i++;
        }
}

void known_hosts_free(struct known_hosts *h)
{
        while (h->n)
                drop(h, h->n - 1);
        free(h->v);
        for (size_t i = 0; i < h->revoked_n; i++)
                free(h->revoked[i]);
        free(h->revoked);
        *h = (struct known_hosts){0};
}
