/* secret_shape_table.c - the keys of known providers: how they begin, what they consist of, to whom
 * they belong. See secret_shape.h. Tables; pure. */
#include "policy/host_name.h"
#include "policy/secret_shape.h"
#include "policy/secret_shape_int.h"

#include <string.h>

static const struct {
        const char *draw;
        const char *marks; /* what else may stand there, and stays where it is */
} letters[] = {
        [SHAPE_URL] = {ALNUM, "-_"},           [SHAPE_WORD] = {ALNUM, "_"},
        [SHAPE_PLAIN] = {ALNUM, ""},           [SHAPE_LOWHEX] = {HEX, ""},
        [SHAPE_BASE32] = {LARGE "234567", ""}, [SHAPE_DOTTED] = {ALNUM, "-_."},
        [SHAPE_BASE64] = {ALNUM, "-_.+/="},
};

/* Longer prefixes stand before the shorter ones that they begin with. */
const struct shape secret_shapes[] = {
        {"sk-ant-api03-", "anthropic", SHAPE_URL, 32, 0, false},
        {"sk-ant-admin01-", "anthropic", SHAPE_URL, 32, 0, false},
        {"sk-ant-oat01-", "anthropic", SHAPE_URL, 32, 0, false},
        {"sk-ant-ort01-", "anthropic", SHAPE_URL, 32, 0, false},
        {"sk-ant-sid01-", "anthropic", SHAPE_URL, 32, 0, false},
        {"sk-ant-", "anthropic", SHAPE_URL, 32, 0, false},
        {"sk-or-v1-", "openrouter", SHAPE_LOWHEX, 32, 0, false},
        {"sk-proj-", "openai", SHAPE_URL, 32, 0, false},
        {"sk-svcacct-", "openai", SHAPE_URL, 32, 0, false},
        {"sk-admin-", "openai", SHAPE_URL, 32, 0, false},
        {"sk-lf-", "langfuse", SHAPE_URL, 32, 0, false},
        {"sk-", "openai-like", SHAPE_URL, 32, 0, false},
        {"sess-", "openai", SHAPE_PLAIN, 32, 0, false},
        {"sk_live_", "stripe", SHAPE_WORD, 16, 0, false},
        {"sk_test_", "stripe", SHAPE_WORD, 16, 0, false},
        {"rk_live_", "stripe", SHAPE_WORD, 16, 0, false},
        {"rk_test_", "stripe", SHAPE_WORD, 16, 0, false},
        {"whsec_", "stripe", SHAPE_BASE64, 24, 0, false},
        {"ghp_", "github", SHAPE_PLAIN, 36, 36, true},
        {"gho_", "github", SHAPE_PLAIN, 36, 36, true},
        {"ghu_", "github", SHAPE_PLAIN, 36, 36, true},
        {"ghs_", "github", SHAPE_PLAIN, 36, 36, true},
        {"ghr_", "github", SHAPE_PLAIN, 36, 76, true},
        {"github_pat_", "github-fine", SHAPE_WORD, 59, 0, false},
        {"AKIA", "aws", SHAPE_BASE32, 16, 16, false},
        {"ASIA", "aws", SHAPE_BASE32, 16, 16, false},
        {"xoxb-", "slack", SHAPE_URL, 20, 0, false},
        {"xoxp-", "slack", SHAPE_URL, 20, 0, false},
        {"xoxa-", "slack", SHAPE_URL, 20, 0, false},
        {"xoxs-", "slack", SHAPE_URL, 20, 0, false},
        {"xoxe.", "slack", SHAPE_DOTTED, 20, 0, false},
        {"xapp-", "slack", SHAPE_URL, 20, 0, false},
        {"glpat-", "gitlab", SHAPE_DOTTED, 20, 0, false},
        {"gldt-", "gitlab", SHAPE_DOTTED, 20, 0, false},
        {"glrt-", "gitlab", SHAPE_DOTTED, 20, 0, false},
        {"glcbt-", "gitlab", SHAPE_DOTTED, 20, 0, false},
        {"glptt-", "gitlab", SHAPE_DOTTED, 20, 0, false},
        {"AIza", "google", SHAPE_URL, 35, 35, false},
        {"ya29.", "google", SHAPE_DOTTED, 20, 0, false},
        {"GOCSPX-", "google", SHAPE_URL, 20, 0, false},
        {"npm_", "npm", SHAPE_PLAIN, 36, 36, true},
        {"pypi-", "pypi", SHAPE_URL, 50, 0, false},
        {"hf_", "huggingface", SHAPE_PLAIN, 30, 0, false},
        {"SG.", "sendgrid", SHAPE_DOTTED, 50, 0, false},
        {"dckr_pat_", "docker", SHAPE_URL, 24, 0, false},
        {"dckr_oat_", "docker", SHAPE_URL, 24, 0, false},
        {"gsk_", "groq", SHAPE_PLAIN, 32, 0, false},
        {"xai-", "xai", SHAPE_PLAIN, 32, 0, false},
        {"pplx-", "perplexity", SHAPE_PLAIN, 32, 0, false},
        {"nvapi-", "nvidia", SHAPE_URL, 32, 0, false},
        {"r8_", "replicate", SHAPE_PLAIN, 32, 0, false},
        {"fw_", "fireworks", SHAPE_PLAIN, 20, 0, false},
        {"tvly-", "tavily", SHAPE_URL, 24, 0, false},
        {"lin_api_", "linear", SHAPE_PLAIN, 32, 0, false},
        {"ntn_", "notion", SHAPE_PLAIN, 40, 0, false},
        {"figd_", "figma", SHAPE_URL, 32, 0, false},
        {"dop_v1_", "digitalocean", SHAPE_LOWHEX, 64, 64, false},
        {"shpat_", "shopify", SHAPE_LOWHEX, 32, 32, false},
        {"shpss_", "shopify", SHAPE_LOWHEX, 32, 32, false},
        {"sntrys_", "sentry", SHAPE_BASE64, 40, 0, false},
        {"sntryu_", "sentry", SHAPE_LOWHEX, 64, 64, false},
        {"hvs.", "hashicorp", SHAPE_DOTTED, 24, 0, false},
        {"sbp_", "supabase", SHAPE_LOWHEX, 40, 40, false},
        {"ATATT3", "atlassian", SHAPE_BASE64, 60, 0, false},
        {"rubygems_", "rubygems", SHAPE_LOWHEX, 48, 48, false},
        {"dapi", "databricks", SHAPE_LOWHEX, 32, 34, false},
        {"cio", "crates", SHAPE_PLAIN, 32, 32, false},
        {NULL, NULL, SHAPE_URL, 0, 0, false},
};

static const struct {
        const char *name;
        const char *hosts[4];
} homes[] = {
        {"anthropic", {"anthropic.com", "claude.ai", "claude.com"}},
        {"atlassian", {"atlassian.net", "atlassian.com", "bitbucket.org"}},
        {"aws", {"amazonaws.com", "aws.dev", "amazonaws.com.cn", "api.aws"}},
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
        {"nvidia", {"nvidia.com"}},
        {"openai", {"openai.com", "chatgpt.com"}},
        {"openrouter", {"openrouter.ai"}},
        {"perplexity", {"perplexity.ai"}},
        {"replicate", {"replicate.com"}},
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

const char *shape_draw(enum shape_letters l)
{
        return letters[l].draw;
}

bool shape_is_alnum(char c)
{
        return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

size_t shape_span(const char *p, size_t n, enum shape_letters l)
{
        bool is_any = strlen(letters[l].draw) == sizeof ALNUM - 1;
        size_t i = 0;
        for (; i < n && p[i]; i++) {
                bool is_plain = shape_is_alnum(p[i]);
                if (is_plain && is_any)
                        continue;
                if (!strchr(is_plain ? letters[l].draw : letters[l].marks, p[i]))
                        break;
        }
        return i;
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
