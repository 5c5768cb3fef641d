/* secret_files_login.c - the host's login of claude or codex, as the agent in the box finds it: the
 * same fields in the same file, placeholders for the tokens, and an expiry so far away that only
 * the keeper ever refreshes. Called by secret_files.c.
 *
 * The few fields that are no secret (plan, scopes, account) are taken out of the host's file in a
 * buffer that is wiped at once; the tokens in it are not looked at. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/secret_files_int.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FILE_MAX = 64 << 10, FIELD_MAX = 8 << 10 };

/* field(text, key): the raw JSON value of the first "key" in ${text} when it is a string without
 * escapes, or a list of such; the caller frees. NULL when there is none. */
static char *field(const char *text, const char *key)
{
        _cleanup_free_ char *quoted = str_fmt("\"%s\"", key);
        const char *p = text ? strstr(text, quoted) : NULL;
        if (!p)
                return NULL;
        p += strlen(quoted);
        p += strspn(p, " \t\r\n:");
        char end = *p == '"' ? '"' : *p == '[' ? ']' : 0;
        const char *stop = end ? strchr(p + 1, end) : NULL;
        if (!stop || stop - p > FIELD_MAX || memchr(p, '\\', (size_t)(stop - p)) ||
            (end == ']' && memchr(p, '{', (size_t)(stop - p))))
                return NULL;
        return str_fmt("%.*s", (int)(stop - p + 1), p);
}

static char *host_file(struct secret_files *f, const char *path)
{
        size_t len;
        return f->run.host_fd < 0 ? NULL : seed_read(&f->run, path, FILE_MAX, &len);
}

static void wipe_free(char *text)
{
        if (text)
                explicit_bzero(text, strlen(text));
        free(text);
}

static const char *part(const struct session_secret *s, const char *name)
{
        const char *p = session_secret_part(s, name);
        return p && !strpbrk(p, "\"\\\n") ? p : "";
}

static int claude(struct secret_files *f, const struct session_secret *s)
{
        static const char path[] = ".claude/.credentials.json";
        static const char *const fields[] = {"scopes", "subscriptionType", "rateLimitTier"};
        static const char scopes[] = "[\"user:inference\",\"user:profile\"]";
        char *text = host_file(f, path);
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b,
                    "{\"claudeAiOauth\":{\"accessToken\":\"%s\",\"refreshToken\":\"%s\","
                    "\"expiresAt\":%lld",
                    part(s, "access"), part(s, "refresh"),
                    ((long long)time(NULL) + 10LL * 365 * 86400) * 1000);
        for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
                _cleanup_free_ char *value = field(text, fields[i]);
                if (value || i == 0)
                        buf_put_fmt(&b, ",\"%s\":%s", fields[i], value ? value : scopes);
        }
        buf_put_str(&b, "}}\n");
        wipe_free(text);
        return secret_files_put(f, path, &b);
}

static void base64url(struct buf *b, const char *text)
{
        size_t n = strlen(text);
        _cleanup_free_ char *coded = malloc(n / 3 * 4 + 8);
        if (!coded)
                str_no_memory();
        EVP_EncodeBlock((unsigned char *)coded, (const unsigned char *)text, (int)n);
        for (char *p = coded; *p && *p != '='; p++)
                buf_put_u8(b, (uint8_t)(*p == '+' ? '-' : *p == '/' ? '_' : *p));
}

/* plan_of(text): which plan the host's identity token speaks of, in its quotes; the caller frees,
 * NULL when it does not say. The rest of the token is wiped unread. */
static char *plan_of(const char *text)
{
        char *token = field(text, "id_token"), *plan = NULL;
        char *claims = token ? strchr(token, '.') : NULL;
        size_t n = claims ? strcspn(claims + 1, ".\"") : 0, padded = (n + 3) / 4 * 4;
        char *coded = malloc(padded + 1), *plain = malloc(padded + 1);
        if (!coded || !plain)
                str_no_memory();
        for (size_t i = 0; i < padded; i++) {
                char c = i < n ? claims[1 + i] : '=';
                coded[i] = (char)(c == '-' ? '+' : c == '_' ? '/' : c);
        }
        coded[padded] = 0;
        int len = n ? EVP_DecodeBlock((unsigned char *)plain, (const unsigned char *)coded,
                                      (int)padded)
                    : -1;
        if (len > 0) {
                plain[len] = 0;
                plan = field(plain, "chatgpt_plan_type");
                explicit_bzero(plain, (size_t)len);
        }
        wipe_free(coded);
        free(plain);
        wipe_free(token);
        return plan;
}

/* An identity token that codex reads for the plan's name and sends to nobody: no signature. */
static void put_identity(struct buf *b, const char *account, const char *plan)
{
        _cleanup_free_ char *claims =
                str_fmt("{\"email\":\"agent@box.invalid\",\"exp\":%lld,"
                        "\"https://api.openai.com/auth\":{\"chatgpt_plan_type\":%s,"
                        "\"chatgpt_account_id\":%s}}",
                        (long long)time(NULL) + 10LL * 365 * 86400, plan, account);
        base64url(b, "{\"alg\":\"none\",\"typ\":\"JWT\"}");
        buf_put_u8(b, '.');
        base64url(b, claims);
        buf_put_str(b, ".bm90LXNpZ25lZA");
}

static int codex(struct secret_files *f, const struct session_secret *s)
{
        static const char path[] = ".codex/auth.json";
        char *text = host_file(f, path), when[40];
        _cleanup_free_ char *account = field(text, "account_id");
        _cleanup_free_ char *mode = field(text, "auth_mode");
        _cleanup_free_ char *plan = text ? plan_of(text) : NULL;
        wipe_free(text);
        time_t now = time(NULL);
        struct tm tm;
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%SZ", gmtime_r(&now, &tm));
        _cleanup_buf_ struct buf b = {0};
        buf_put_str(&b, "{");
        if (mode)
                buf_put_fmt(&b, "\"auth_mode\":%s,", mode);
        buf_put_str(&b, "\"OPENAI_API_KEY\":null,\"tokens\":{\"id_token\":\"");
        put_identity(&b, account ? account : "\"box\"", plan ? plan : "\"plus\"");
        buf_put_fmt(&b,
                    "\",\"access_token\":\"%s\",\"refresh_token\":\"%s\",\"account_id\":%s},"
                    "\"last_refresh\":\"%s\"}\n",
                    part(s, "access"), part(s, "refresh"), account ? account : "\"box\"", when);
        return secret_files_put(f, path, &b);
}

int secret_files_login(struct secret_files *f)
{
        for (size_t i = 0; i < f->plan->secrets.n; i++) {
                const struct session_secret *s = &f->plan->secrets.v[i];
                const struct rule_secret *r = s->line.secret;
                if (r->source != RULE_FROM_LOGIN || !r->source_arg || s->parts_n == 0)
                        continue;
                if (strcmp(r->source_arg, "claude") == 0 && claude(f, s) < 0)
                        return -1;
                if (strcmp(r->source_arg, "codex") == 0 && codex(f, s) < 0)
                        return -1;
        }
        return 0;
}
