/* secret_shape_test.c - stand-ins look like what they stand for and share nothing with it; keys are
 * found in files and words are not. Every key in here is made up. */
#include "base/buf.h"
#include "policy/host_name.h"
#include "policy/secret_shape.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#define A36 "0A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r"

static const struct {
        const char *value, *name;
        size_t kept; /* letters at the start that the stand-in has too */
} keys[] = {
        {"sk-ant-api03-" A36 A36 "-0123456AA", "anthropic", 13},
        {"sk-ant-oat01-" A36 "_" A36 "-0123456AA", "anthropic", 13},
        {"sk-ant-ort01-" A36 A36 "-0123456AA", "anthropic", 13},
        {"sk-proj-" A36 "_T3BlbkFJ" A36, "openai", 8},
        {"sess-" A36, "openai", 5},
        {"sk-" A36, "openai-like", 3},
        {"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", "openrouter",
         9},
        {"sk_live_" A36, "stripe", 8},
        {"sk_test_4eC39HqLyjWDarjtT1zdp7dc", "stripe", 8},
        {"rk_live_" A36, "stripe", 8},
        {"ghp_" A36, "github", 4},
        {"gho_" A36, "github", 4},
        {"ghu_" A36, "github", 4},
        {"ghs_" A36, "github", 4},
        {"ghr_" A36, "github", 4},
        {"github_pat_11ABCDEFG0" A36 "_" A36, "github-fine", 11},
        {"AKIAIOSFODNN7EXAMPLE", "aws", 4},
        {"ASIAIOSFODNN7EXAMPLE", "aws", 4},
        {"xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "slack", 5},
        {"xoxp-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx", "slack", 5},
        {"xapp-1-A0123456789-1234567890123-abcdef", "slack", 5},
        {"glpat-0a1B2c3D4e5F6g7H8i9J", "gitlab", 6},
        {"AIzaSy0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6", "google", 4},
        {"ya29.a0AfH6SMB-0a1B2c3D4e5F6g7H8i9J", "google", 5},
        {"GOCSPX-0a1B2c3D4e5F6g7H8i9J", "google", 7},
        {"npm_" A36, "npm", 4},
        {"pypi-AgEIcHlwaS5vcmcC" A36 A36, "pypi", 5},
        {"hf_" A36, "huggingface", 3},
        {"SG.0a1B2c3D4e5F6g7H8i9J0a.0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F6g7H8i9J0a1", "sendgrid", 3},
        {"dckr_pat_0a1B2c3D4e5F6g7H8i9J0a1B2c3", "docker", 9},
        {"123456789:AAF0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F", "telegram", 0},
        {"not a known shape at all 12345678", NULL, 0},
        {"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", NULL, 0},
        {"8f14e45fceea167a5a36dedd4bea2543", NULL, 0},
        {"AKIASHORT", NULL, 0},
        {"dapper-is-a-word-and-no-key", NULL, 0},
};

static uint32_t seed = 12345;
static void draw(uint8_t *p, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                seed = seed * 1664525 + 1013904223;
                p[i] = (uint8_t)(seed >> 24);
        }
}

static bool is_alnum(char c)
{
        return strchr("0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", c) && c;
}

static void stand_ins(void)
{
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                const char *v = keys[i].value;
                size_t n = strlen(v), same = 0, marks = 0;
                uint8_t random[512];
                check_str(v, secret_shape_name(v, n), keys[i].name);
                _cleanup_buf_ struct buf one = {0}, two = {0};
                draw(random, sizeof random);
                if (secret_shape_stand_in(v, n, random, n, &one) < 0) {
                        CHECK("only a value with too little to draw has no stand-in", n < 12);
                        continue;
                }
                draw(random, sizeof random);
                secret_shape_stand_in(v, n, random, n, &two);
                const char *s = buf_cstr(&one);
                check(one.len == n && strlen(s) == n, "of the same length", "%zu, not %zu", one.len,
                      n);
                check(strncmp(s, v, keys[i].kept) == 0, "with the same prefix", "%s", s);
                for (size_t k = 0; k < n && k < one.len; k++) {
                        same += k >= keys[i].kept && is_alnum(v[k]) && s[k] == v[k];
                        marks += is_alnum(v[k]) != is_alnum(s[k]) ||
                                 (!is_alnum(v[k]) && s[k] != v[k]);
                }
                check(same <= n / 3, "nothing else is shared", "%zu letters of %s", same, s);
                CHECK("punctuation stays", marks == 0);
                check_str("it has the same shape", secret_shape_name(s, n), keys[i].name);
                CHECK("two are not the same", strcmp(s, buf_cstr(&two)) != 0);
        }
        static const char hex[] = "8f14e45fceea167a5a36dedd4bea2543";
        uint8_t random[64];
        _cleanup_buf_ struct buf b = {0};
        draw(random, sizeof random);
        secret_shape_stand_in(hex, 32, random, 32, &b);
        CHECK("hexadecimal stays so", strspn(buf_cstr(&b), "0123456789abcdef") == 32);
        b.len = 0;
        CHECK("seven letters are too few",
              secret_shape_stand_in("abc-defg", 8, random, 64, &b) < 0);
        CHECK("eleven digits are too few",
              secret_shape_stand_in("12345678901", 11, random, 64, &b) < 0 && b.len == 0);
        CHECK("too little randomness is refused",
              secret_shape_stand_in(hex, 32, random, 31, &b) < 0);
}

/* CRC-32 in base 62, written once more and in another way. */
static bool github_ok(const char *token)
{
        static const char set[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        uint32_t table[256], c = 0xffffffff;
        uint64_t want = 0;
        for (uint32_t i = 0; i < 256; i++) {
                table[i] = i;
                for (int k = 0; k < 8; k++)
                        table[i] = table[i] & 1 ? 0xedb88320 ^ table[i] >> 1 : table[i] >> 1;
        }
        for (const char *p = token + 4; p < token + 34; p++)
                c = table[(c ^ (unsigned char)*p) & 255] ^ c >> 8;
        for (const char *p = token + 34; p < token + 40; p++)
                want = want * 62 + (uint64_t)(strchr(set, *p) - set);
        return want == (c ^ 0xffffffff);
}

static void checksums(void)
{
        CHECK("a token as GitHub's own documents show one has a good checksum",
              github_ok("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"));
        CHECK("a token that was changed has not",
              !github_ok("ghp_zQWBuTSOoRi4A9spHcVY5ncnsDkxkJ0mLq18"));
        bool is_good = true;
        for (int i = 0; i < 200; i++) {
                uint8_t random[40];
                _cleanup_buf_ struct buf b = {0};
                draw(random, sizeof random);
                is_good &= secret_shape_stand_in(i % 2 ? "ghs_" A36 : "npm_" A36, 40, random, 40,
                                                 &b) == 0 &&
                           github_ok(buf_cstr(&b));
        }
        CHECK("stand-ins have a good checksum", is_good);
}

static size_t unbase64(const char *p, size_t n, char *out)
{
        static const char set[] =
                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        size_t got = 0;
        uint32_t acc = 0;
        unsigned have = 0;
        for (size_t i = 0; i < n; i++) {
                acc = acc << 6 | (uint32_t)(strchr(set, p[i]) - set);
                have += 6;
                if (have >= 8) {
                        have -= 8;
                        out[got++] = (char)(acc >> have);
                }
        }
        if (acc & ((1u << have) - 1))
                return 0; /* bits that belong to nothing */
        out[got] = 0;
        return got;
}

static void jwts(void)
{
        /* {"alg":"HS256","typ":"JWT"} {"sub":"1234567890","name":"John Doe","iat":1516239022} */
        static const char jwt[] =
                "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9."
                "eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ."
                "SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c";
        size_t n = sizeof jwt - 1;
        uint8_t random[256];
        char claims[256] = "", sign[256] = "";
        _cleanup_buf_ struct buf b = {0};
        draw(random, sizeof random);
        check_str("a JWT is known", secret_shape_name(jwt, n), "jwt");
        CHECK("a JWT has a stand-in of its length",
              secret_shape_stand_in(jwt, n, random, n, &b) == 0 && b.len == n);
        const char *s = buf_cstr(&b), *dot = strchr(s, '.'), *last = strrchr(s, '.');
        CHECK("whose parts have the same lengths",
              dot - s == strchr(jwt, '.') - jwt && last - s == strrchr(jwt, '.') - jwt);
        unbase64(dot + 1, (size_t)(last - dot - 1), claims);
        check(strncmp(claims, "{\"exp\":4102444800,\"jti\":\"", 25) == 0 &&
                      strcmp(claims + strlen(claims) - 2, "\"}") == 0 && !strstr(claims, "John"),
              "whose claims say nothing", "%s", claims);
        CHECK("whose signature is well written and another",
              unbase64(last + 1, strlen(last + 1), sign) == 32 &&
                      strcmp(last, strrchr(jwt, '.')) != 0);
        check_str("and which is a JWT again", secret_shape_name(s, n), "jwt");
        /* every length of claims that base64 can have */
        bool is_good = true;
        for (size_t k = 10; k < 200; k++) {
                char text[512] = "eyJhbGciOiJub25lIn0.eyJ";
                size_t from = strlen(text) - 3;
                memset(text + from + 3, 'a', k - 3);
                strcpy(text + from + k, ".c2lnbmF0dXJlc2lnbmF0dXJl");
                _cleanup_buf_ struct buf one = {0};
                uint8_t more[512];
                draw(more, sizeof more);
                is_good &=
                        secret_shape_stand_in(text, strlen(text), more, sizeof more, &one) == 0 &&
                        one.len == strlen(text);
                if (k % 4 == 1)
                        continue; /* no base64 at all */
                size_t got = unbase64(buf_cstr(&one) + from, k, claims);
                is_good &= got == k * 3 / 4 && claims[0] == '{' && claims[got - 1] == '}';
        }
        CHECK("claims of any length are an object", is_good);
}

static void finds(const char *text, const char *want)
{
        size_t len = 0, at = secret_shape_find(text, strlen(text), 0, &len);
        char got[512] = "";
        if (at < strlen(text))
                memcpy(got, text + at, len);
        check_str(text, at < strlen(text) ? got : NULL, want);
}

static void finding(void)
{
        finds("ANTHROPIC_API_KEY=sk-ant-api03-" A36 "-AA\n", "sk-ant-api03-" A36 "-AA");
        finds("url = https://ghp_" A36 "@github.com/me/x", "ghp_" A36);
        finds("url = https://me:ghp_" A36 "@github.com/me/x", "ghp_" A36);
        finds("\"token\": \"glpat-0a1B2c3D4e5F6g7H8i9J\",", "glpat-0a1B2c3D4e5F6g7H8i9J");
        finds("id AKIAIOSFODNN7EXAMPLE, key", "AKIAIOSFODNN7EXAMPLE");
        finds("bot 123456789:AAF0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F.",
              "123456789:AAF0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F");
        finds("it is ya29.a0AfH6SMB-0a1B2c3D4e5F6g7H8i9J.", "ya29.a0AfH6SMB-0a1B2c3D4e5F6g7H8i9J");
        finds("AIzaSy0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F-", "AIzaSy0a1B2c3D4e5F6g7H8i9J0a1B2c3D4e5F-");
        finds("Bearer eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2lnbmF0dXJlc2lnbmF0dXJl x",
              "eyJhbGciOiJub25lIn0.eyJhIjoxfQ.c2lnbmF0dXJlc2lnbmF0dXJl");
        finds("sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx", NULL);
        finds("class=\"sk-fading-circle-with-a-very-long-name-that-goes-on\"", NULL);
        finds("task-" A36 A36, NULL);
        finds("mask-" A36, NULL);
        finds("XAKIAIOSFODNN7EXAMPLE", NULL);
        finds("AKIAIOSFODNN7EXAMPLEX", NULL);
        finds("ghp_tooshort1", NULL);
        finds("fw_configurationmanagerfactory", NULL);
        finds("12:34:56 and 1234567:short", NULL);
        finds("eyJhbGciOiJub25lIn0 and eyJhIjoxfQ", NULL);
        finds("", NULL);
        size_t len;
        static const char two[] = "ghp_" A36 " ghs_" A36;
        size_t at = secret_shape_find(two, sizeof two - 1, 1, &len);
        CHECK("the search goes on from where it is told", at == 41 && len == 40);
        CHECK("behind the last there is none",
              secret_shape_find(two, sizeof two - 1, at + len, &len) == sizeof two - 1 && len == 0);
}

static bool is_home(const char *shape, const char *host)
{
        struct host_name h;
        return host_name_parse(host, strlen(host), &h, NULL) == 0 &&
               secret_shape_is_home(shape, &h);
}

static void homes(void)
{
        check_str("keys of anthropic", secret_shape_host("anthropic"), "anthropic.com");
        check_str("a JWT is anybody's", secret_shape_host("jwt"), NULL);
        CHECK("a key is at home below its domain",
              is_home("anthropic", "api.anthropic.com") && is_home("github", "ghcr.io") &&
                      is_home("jwt", "example.org") && is_home("openai-like", "api.deepseek.com"));
        CHECK("and nowhere else", !is_home("anthropic", "api.openai.com") &&
                                          !is_home("github", "github.com.example.org") &&
                                          !is_home("stripe", "evilstripe.com"));
        /* Keys of that form are many providers', and which registry a token of packages is for is
         * in the user's settings. */
        static const char *const homeless[] = {"openai-like", "npm", "pypi", "crates", "rubygems"};
        bool is_right = true;
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
                bool has_none = false;
                for (size_t k = 0; keys[i].name && k < sizeof homeless / sizeof *homeless; k++)
                        has_none |= strcmp(keys[i].name, homeless[k]) == 0;
                if (keys[i].name)
                        is_right &= (secret_shape_host(keys[i].name) == NULL) == has_none;
        }
        CHECK("every provider has a home, but for those that cannot", is_right);
}

int main(void)
{
        stand_ins();
        checksums();
        jwts();
        finding();
        homes();
        return check_end();
}
