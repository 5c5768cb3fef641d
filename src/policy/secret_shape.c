/* secret_shape.c - see secret_shape.h. The keeper makes placeholders here, the planner looks for
 * keys in files. Pure; it must never let more of a value into its stand-in than the prefix that
 * every key of that provider has. */
#include "policy/secret_shape.h"

#include "base/buf.h"
#include "policy/host_name.h"

#include <string.h>

#define DIGITS "0123456789"
#define LARGE  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define SMALL  "abcdefghijklmnopqrstuvwxyz"
#define HEX    DIGITS "abcdef"
#define ALNUM  DIGITS LARGE SMALL

/* Letters of a key behind its prefix. */
enum letters { ANY, URL, WORD, PLAIN, LOWHEX, BASE32, DOTTED, BASE64 };
static const struct {
        const char *draw;  /* what a letter or digit is drawn from */
        const char *marks; /* what else may stand there, and stays where it is */
} letters[] = {
        [ANY] = {ALNUM, "!#$%&'*+-./:;=?@^_`|~"},
        [URL] = {ALNUM, "-_"},
        [WORD] = {ALNUM, "_"},
        [PLAIN] = {ALNUM, ""},
        [LOWHEX] = {HEX, ""},
        [BASE32] = {LARGE "234567", ""},
        [DOTTED] = {ALNUM, "-_."},
        [BASE64] = {ALNUM, "-_.+/="},
};

enum { CRC_NONE, CRC_GITHUB };

/* Longer prefixes stand before the shorter ones that they begin with. ${least} and ${most} are of
 * what follows the prefix in keys that providers really give out; ${most} 0: any length. */
static const struct shape {
        const char *prefix;
        const char *name;
        enum letters letters;
        uint16_t least, most;
        uint8_t crc;
} shapes[] = {
        {"sk-ant-api03-", "anthropic", URL, 32, 0, 0},
        {"sk-ant-admin01-", "anthropic", URL, 32, 0, 0},
        {"sk-ant-oat01-", "anthropic", URL, 32, 0, 0},
        {"sk-ant-ort01-", "anthropic", URL, 32, 0, 0},
        {"sk-ant-sid01-", "anthropic", URL, 32, 0, 0},
        {"sk-ant-", "anthropic", URL, 32, 0, 0},
        {"sk-or-v1-", "openrouter", LOWHEX, 32, 0, 0},
        {"sk-proj-", "openai", URL, 32, 0, 0},
        {"sk-svcacct-", "openai", URL, 32, 0, 0},
        {"sk-admin-", "openai", URL, 32, 0, 0},
        {"sk-lf-", "langfuse", URL, 32, 0, 0},
        {"sk-", "openai-like", URL, 32, 0, 0},
        {"sess-", "openai", PLAIN, 32, 0, 0},
        {"sk_live_", "stripe", WORD, 16, 0, 0},
        {"sk_test_", "stripe", WORD, 16, 0, 0},
        {"rk_live_", "stripe", WORD, 16, 0, 0},
        {"rk_test_", "stripe", WORD, 16, 0, 0},
        {"whsec_", "stripe", BASE64, 24, 0, 0},
        {"ghp_", "github", PLAIN, 36, 36, CRC_GITHUB},
        {"gho_", "github", PLAIN, 36, 36, CRC_GITHUB},
        {"ghu_", "github", PLAIN, 36, 36, CRC_GITHUB},
        {"ghs_", "github", PLAIN, 36, 36, CRC_GITHUB},
        {"ghr_", "github", PLAIN, 36, 76, CRC_GITHUB},
        {"github_pat_", "github-fine", WORD, 59, 0, 0},
        {"AKIA", "aws", BASE32, 16, 16, 0},
        {"ASIA", "aws", BASE32, 16, 16, 0},
        {"xoxb-", "slack", URL, 20, 0, 0},
        {"xoxp-", "slack", URL, 20, 0, 0},
        {"xoxa-", "slack", URL, 20, 0, 0},
        {"xoxs-", "slack", URL, 20, 0, 0},
        {"xoxe.", "slack", DOTTED, 20, 0, 0},
        {"xapp-", "slack", URL, 20, 0, 0},
        {"glpat-", "gitlab", DOTTED, 20, 0, 0},
        {"gldt-", "gitlab", DOTTED, 20, 0, 0},
        {"glrt-", "gitlab", DOTTED, 20, 0, 0},
        {"glcbt-", "gitlab", DOTTED, 20, 0, 0},
        {"glptt-", "gitlab", DOTTED, 20, 0, 0},
        {"AIza", "google", URL, 35, 35, 0},
        {"ya29.", "google", DOTTED, 20, 0, 0},
        {"GOCSPX-", "google", URL, 20, 0, 0},
        {"npm_", "npm", PLAIN, 36, 36, CRC_GITHUB},
        {"pypi-", "pypi", URL, 50, 0, 0},
        {"hf_", "huggingface", PLAIN, 30, 0, 0},
        {"SG.", "sendgrid", DOTTED, 50, 0, 0},
        {"dckr_pat_", "docker", URL, 24, 0, 0},
        {"dckr_oat_", "docker", URL, 24, 0, 0},
        {"gsk_", "groq", PLAIN, 32, 0, 0},
        {"xai-", "xai", PLAIN, 32, 0, 0},
        {"pplx-", "perplexity", PLAIN, 32, 0, 0},
        {"nvapi-", "nvidia", URL, 32, 0, 0},
        {"r8_", "replicate", PLAIN, 32, 0, 0},
        {"fw_", "fireworks", PLAIN, 20, 0, 0},
        {"tvly-", "tavily", URL, 24, 0, 0},
        {"lin_api_", "linear", PLAIN, 32, 0, 0},
        {"ntn_", "notion", PLAIN, 40, 0, 0},
        {"figd_", "figma", URL, 32, 0, 0},
        {"dop_v1_", "digitalocean", LOWHEX, 64, 64, 0},
        {"shpat_", "shopify", LOWHEX, 32, 32, 0},
        {"shpss_", "shopify", LOWHEX, 32, 32, 0},
        {"sntrys_", "sentry", BASE64, 40, 0, 0},
        {"sntryu_", "sentry", LOWHEX, 64, 64, 0},
        {"hvs.", "hashicorp", DOTTED, 24, 0, 0},
        {"sbp_", "supabase", LOWHEX, 40, 40, 0},
        {"ATATT3", "atlassian", BASE64, 60, 0, 0},
        {"rubygems_", "rubygems", LOWHEX, 48, 48, 0},
        {"dapi", "databricks", LOWHEX, 32, 34, 0},
        {"cio", "crates", PLAIN, 32, 32, 0},
};
enum { SHAPES_N = sizeof shapes / sizeof *shapes };

static const struct {
        const char *name;
        const char *hosts[4];
} homes[] = {
        {"anthropic", {"anthropic.com", "claude.ai", "claude.com"}},
        {"atlassian", {"atlassian.net", "atlassian.com", "bitbucket.org"}},
        {"aws", {"amazonaws.com", "aws.dev", "amazonaws.com.cn", "api.aws"}},
        {"crates", {"crates.io"}},
        {"databricks", {"databricks.com", "azuredatabricks.net"}},
        {"digitalocean", {"digitalocean.com"}},
        {"docker", {"docker.io", "docker.com"}},
        {"figma", {"figma.com"}},
        {"fireworks", {"fireworks.ai"}},
        {"github", {"github.com", "ghcr.io", "githubcopilot.com", "github.ai"}},
        {"github-fine", {"github.com", "ghcr.io", "githubcopilot.com", "github.ai"}},
        {"gitlab", {"gitlab.com"}},
        {"google", {"googleapis.com", "google.com"}},
        {"groq", {"groq.com"}},
        {"huggingface", {"huggingface.co", "hf.co"}},
        {"langfuse", {"langfuse.com"}},
        {"linear", {"linear.app"}},
        {"notion", {"notion.com", "notion.so"}},
        {"npm", {"npmjs.org", "npmjs.com"}},
        {"nvidia", {"nvidia.com"}},
        {"openai", {"openai.com", "chatgpt.com"}},
        {"openrouter", {"openrouter.ai"}},
        {"perplexity", {"perplexity.ai"}},
        {"pypi", {"pypi.org"}},
        {"replicate", {"replicate.com"}},
        {"rubygems", {"rubygems.org"}},
        {"sendgrid", {"sendgrid.com"}},
        {"sentry", {"sentry.io"}},
        {"shopify", {"myshopify.com", "shopify.com"}},
        {"slack", {"slack.com"}},
        {"stripe", {"stripe.com"}},
        {"supabase", {"supabase.com", "supabase.co"}},
        {"tavily", {"tavily.com"}},
        {"telegram", {"telegram.org"}},
        {"xai", {"x.ai"}},
};
enum { HOMES_N = sizeof homes / sizeof *homes };

static bool is_in(const char *set, char c)
{
        return c && strchr(set, c);
}

static bool is_alnum(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool fits(enum letters l, char c)
{
        return is_in(letters[l].draw, c) || is_in(letters[l].marks, c);
}

static size_t span(const char *p, size_t n, enum letters l)
{
        size_t i = 0;
        while (i < n && fits(l, p[i]))
                i++;
        return i;
}

/* telegram(p, n): the length of "123456:ABC-..." at ${p}, 0 when it is none. */
static size_t telegram(const char *p, size_t n)
{
        size_t d = 0;
        while (d < n && p[d] >= '0' && p[d] <= '9')
                d++;
        if (d < 6 || d > 12 || d >= n || p[d] != ':')
                return 0;
        size_t tail = span(p + d + 1, n - d - 1, URL);
        return tail == 35 ? d + 1 + tail : 0;
}

/* A JWT: three parts in base64url, of which the first two begin as JSON objects do. */
struct jwt {
        size_t head, claims, sign; /* lengths */
};

static bool jwt_take(const char *p, size_t n, struct jwt *j)
{
        if (n < 3 || memcmp(p, "eyJ", 3) != 0)
                return false;
        j->head = span(p, n, URL);
        if (j->head < 12 || j->head + 4 > n || memcmp(p + j->head, ".eyJ", 4) != 0)
                return false;
        p += j->head + 1;
        n -= j->head + 1;
        j->claims = span(p, n, URL);
        if (j->claims < 4 || j->claims + 1 > n || p[j->claims] != '.')
                return false;
        p += j->claims + 1;
        n -= j->claims + 1;
        j->sign = span(p, n, URL);
        return j->sign >= 16 && j->head % 4 != 1 && j->claims % 4 != 1 && j->sign % 4 != 1 &&
               (j->sign == n || p[j->sign] != '.');
}

static size_t jwt_len(const struct jwt *j)
{
        return j->head + 1 + j->claims + 1 + j->sign;
}

/* shape_of(value, n): whose prefix it has, with nothing behind it that does not belong there. */
static const struct shape *shape_of(const char *value, size_t n)
{
        for (size_t i = 0; i < SHAPES_N; i++) {
                size_t k = strlen(shapes[i].prefix);
                if (n < k + 8 || memcmp(value, shapes[i].prefix, k) != 0)
                        continue;
                if (span(value + k, n - k, shapes[i].letters) != n - k)
                        continue;
                /* four letters that any word may begin with want their exact length */
                if (shapes[i].most && k <= 4 && !strpbrk(shapes[i].prefix, "_-.") &&
                    (n - k < shapes[i].least || n - k > shapes[i].most))
                        continue;
                return &shapes[i];
        }
        return NULL;
}

const char *secret_shape_name(const char *value, size_t n)
{
        struct jwt j;
        if (jwt_take(value, n, &j) && jwt_len(&j) == n)
                return "jwt";
        if (telegram(value, n) == n && n)
                return "telegram";
        const struct shape *s = shape_of(value, n);
        return s ? s->name : NULL;
}

const char *secret_shape_host(const char *name)
{
        for (size_t i = 0; i < HOMES_N; i++)
                if (strcmp(homes[i].name, name) == 0)
                        return homes[i].hosts[0];
        return NULL;
}

bool secret_shape_is_home(const char *name, const struct host_name *h)
{
        for (size_t i = 0; i < HOMES_N; i++) {
                if (strcmp(homes[i].name, name) != 0)
                        continue;
                for (size_t k = 0; k < 4 && homes[i].hosts[k]; k++) {
                        struct host_name base;
                        const char *text = homes[i].hosts[k];
                        if (host_name_parse(text, strlen(text), &base, NULL) == 0 &&
                            (host_name_equal(h, &base) || host_name_is_below(h, &base)))
                                return true;
                }
                return false;
        }
        return true;
}

/* --- stand-ins -------------------------------------------------------------------------------- */

static uint32_t crc32_of(const uint8_t *p, size_t n)
{
        uint32_t c = ~(uint32_t)0;
        for (size_t i = 0; i < n; i++) {
                c ^= p[i];
                for (int k = 0; k < 8; k++)
                        c = c >> 1 ^ (0xedb88320u & (0u - (c & 1)));
        }
        return ~c;
}

/* put_crc(p, n): the last six of ${n} letters are the CRC of those before, in base 62. */
static void put_crc(uint8_t *p, size_t n)
{
        uint32_t c = crc32_of(p, n - 6);
        for (size_t i = 0; i < 6; i++, c /= 62)
                p[n - 1 - i] = (uint8_t)ALNUM[c % 62];
}

static bool consists_of(const char *p, size_t n, const char *set)
{
        for (size_t i = 0; i < n; i++)
                if (is_alnum(p[i]) && !strchr(set, p[i]))
                        return false;
        return true;
}

/* alphabet_of(p, n): the narrowest usual one that all letters and digits belong to. */
static const char *alphabet_of(const char *p, size_t n)
{
        static const char *const sets[] = {DIGITS,       HEX,          DIGITS "ABCDEF",
                                           DIGITS SMALL, DIGITS LARGE, ALNUM};
        size_t i = 0;
        while (!consists_of(p, n, sets[i]))
                i++;
        return sets[i];
}

/* draw(p, n, set, random, out): how many were drawn. */
static size_t draw(const char *p, size_t n, const char *set, const uint8_t *random, struct buf *out)
{
        size_t drawn = 0, size = strlen(set);
        for (size_t i = 0; i < n; i++) {
                bool is_free = is_alnum(p[i]);
                buf_put_u8(out, is_free ? (uint8_t)set[random[i] % size] : (uint8_t)p[i]);
                drawn += is_free;
        }
        return drawn;
}

static void put_base64url(const uint8_t *p, size_t n, struct buf *out)
{
        static const char set[] = LARGE SMALL DIGITS "-_";
        uint32_t acc = 0;
        unsigned have = 0;
        for (size_t i = 0; i < n; i++) {
                acc = (acc << 8 | p[i]) & 0xffff;
                for (have += 8; have >= 6;) {
                        have -= 6;
                        buf_put_u8(out, (uint8_t)set[acc >> have & 63]);
                }
        }
        if (have)
                buf_put_u8(out, (uint8_t)set[acc << (6 - have) & 63]);
}

/* put_claims(n, random, out): ${n} letters of an object that says nothing but that it is valid for
 * long, because clients look at that before they ask a server. */
static void put_claims(size_t n, const uint8_t *random, struct buf *out)
{
        static const char full[] = "{\"exp\":4102444800,\"jti\":\"", brief[] = "{\"j\":\"";
        size_t len = n * 6 / 8;
        const char *head = len >= sizeof full + 2 ? full : len >= sizeof brief + 1 ? brief : "{";
        const char *tail = *head && head[1] ? "\"}" : "}";
        _cleanup_buf_ struct buf b = {0};
        buf_put_str(&b, head);
        for (size_t i = 0; b.len + strlen(tail) < len; i++)
                buf_put_u8(&b, tail[1] ? (uint8_t)ALNUM[random[i] % 62] : ' ');
        buf_put_str(&b, tail);
        put_base64url(b.data, b.len, out);
}

static void put_jwt(const char *value, const struct jwt *j, const uint8_t *random, struct buf *out)
{
        buf_put(out, value, j->head + 1); /* names an algorithm and a key, both public */
        put_claims(j->claims, random + j->head + 1, out);
        buf_put_u8(out, '.');
        put_base64url(random + j->head + j->claims + 2, j->sign * 6 / 8, out);
}

int secret_shape_stand_in(const char *value, size_t n, const uint8_t *random, size_t random_n,
                          struct buf *out)
{
        struct jwt j;
        size_t at = out->len;
        if (random_n < n)
                return -1;
        if (jwt_take(value, n, &j) && jwt_len(&j) == n) {
                put_jwt(value, &j, random, out);
                return out->is_broken || out->len - at != n ? -1 : 0;
        }
        const struct shape *s = shape_of(value, n);
        size_t keep = s ? strlen(s->prefix) : 0;
        const char *set = s ? letters[s->letters].draw : alphabet_of(value, n);
        buf_put(out, value, keep);
        size_t drawn = draw(value + keep, n - keep, set, random + keep, out);
        if (drawn < 8 || (drawn < 12 && strlen(set) == 10) || out->is_broken) {
                out->len = at;
                return -1;
        }
        if (s && s->crc == CRC_GITHUB && n - keep >= s->least && n - keep <= s->most)
                put_crc(out->data + at + keep, n - keep);
        return 0;
}

/* --- finding ---------------------------------------------------------------------------------- */

/* found_at(p, n): the length of what begins at ${p}, 0 when it is nothing. */
static size_t found_at(const char *p, size_t n)
{
        struct jwt j;
        if (*p == 'e' && jwt_take(p, n, &j))
                return jwt_len(&j);
        if (*p >= '0' && *p <= '9')
                return telegram(p, n);
        for (size_t i = 0; i < SHAPES_N; i++) {
                const struct shape *s = &shapes[i];
                size_t k = strlen(s->prefix);
                if (*p != s->prefix[0] || n < k + s->least || memcmp(p, s->prefix, k) != 0)
                        continue;
                size_t len = span(p + k, n - k, s->letters);
                while (len && !is_alnum(p[k + len - 1]) && p[k + len - 1] != '=')
                        len--; /* the end of a sentence is not the end of a key */
                bool ends = k + len == n || !is_alnum(p[k + len]);
                if (len >= s->least && (!s->most || len <= s->most) && ends)
                        return k + len;
        }
        return 0;
}

size_t secret_shape_find(const char *text, size_t n, size_t from, size_t *len)
{
        bool first[256] = {false};
        for (size_t i = 0; i < SHAPES_N; i++)
                first[(unsigned char)shapes[i].prefix[0]] = true;
        for (size_t i = 0; i < 10; i++)
                first[(unsigned char)DIGITS[i]] = true;
        first['e'] = true;
        for (size_t i = from; i < n; i++) {
                if (!first[(unsigned char)text[i]] || (i && is_alnum(text[i - 1])))
                        continue;
                *len = found_at(text + i, n - i);
                if (*len)
                        return i;
        }
        *len = 0;
        return n;
}
