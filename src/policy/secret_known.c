/* secret_known.c - which keys belong where, and how each place wants to see them; for secret_spec.c
 * and whoever writes lines for the user. Tables; pure. A wrong entry makes a request fail, never a
 * secret go astray: the line that comes of it is shown and judged like any other. Registries of
 * packages are not here: which one a token is for is in the user's own settings. */
#include "base/str.h"
#include "policy/secret_spec.h"

#include <string.h>
#include <strings.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

#define GITHUB_PLACES "github.com,api.github.com,uploads.github.com"
#define AWS_PLACES    "*.amazonaws.com"

static const struct secret_known names[] = {
        {"AI_GATEWAY_API_KEY", "ai-gateway.vercel.sh", "bearer"},
        {"ANTHROPIC_API_KEY", "api.anthropic.com", "header x-api-key"},
        {"ANTHROPIC_AUTH_TOKEN", "api.anthropic.com", "bearer"},
        {"AWS_ACCESS_KEY_ID", AWS_PLACES, "sigv4"},
        {"BRAVE_API_KEY", "api.search.brave.com", "header x-subscription-token"},
        {"CEREBRAS_API_KEY", "api.cerebras.ai", "bearer"},
        {"CLAUDE_CODE_OAUTH_TOKEN", "api.anthropic.com", "bearer"},
        {"CLOUDFLARE_API_TOKEN", "api.cloudflare.com", "bearer"},
        {"COHERE_API_KEY", "api.cohere.com", "bearer"},
        {"CO_API_KEY", "api.cohere.com", "bearer"},
        {"DD_API_KEY", "api.datadoghq.com", "header dd-api-key"},
        {"DD_APP_KEY", "api.datadoghq.com", "header dd-application-key"},
        {"DEEPSEEK_API_KEY", "api.deepseek.com", "bearer"},
        {"DIGITALOCEAN_ACCESS_TOKEN", "api.digitalocean.com", "bearer"},
        {"FIGMA_TOKEN", "api.figma.com", "header x-figma-token"},
        {"FIREWORKS_API_KEY", "api.fireworks.ai", "bearer"},
        {"FLY_API_TOKEN", "api.fly.io,api.machines.dev", "bearer"},
        {"GEMINI_API_KEY", "generativelanguage.googleapis.com", "header x-goog-api-key,query key"},
        {"GH_TOKEN", GITHUB_PLACES, "basic,bearer"},
        {"GITHUB_PAT", GITHUB_PLACES, "basic,bearer"},
        {"GITHUB_PERSONAL_ACCESS_TOKEN", GITHUB_PLACES, "basic,bearer"},
        {"GITHUB_TOKEN", GITHUB_PLACES, "basic,bearer"},
        {"GITLAB_TOKEN", "gitlab.com", "header private-token,bearer,basic"},
        {"GOOGLE_API_KEY", "generativelanguage.googleapis.com", "header x-goog-api-key,query key"},
        {"GROQ_API_KEY", "api.groq.com", "bearer"},
        {"HEROKU_API_KEY", "api.heroku.com", "bearer"},
        {"HF_TOKEN", "huggingface.co,router.huggingface.co", "bearer"},
        {"HUGGING_FACE_HUB_TOKEN", "huggingface.co,router.huggingface.co", "bearer"},
        {"LINEAR_API_KEY", "api.linear.app", "header authorization"},
        {"MISTRAL_API_KEY", "api.mistral.ai,codestral.mistral.ai", "bearer"},
        {"MOONSHOT_API_KEY", "api.moonshot.ai", "bearer"},
        {"NETLIFY_AUTH_TOKEN", "api.netlify.com", "bearer"},
        {"NOTION_TOKEN", "api.notion.com", "bearer"},
        {"NVIDIA_API_KEY", "integrate.api.nvidia.com", "bearer"},
        {"OPENAI_API_KEY", "api.openai.com", "bearer"},
        {"OPENCODE_API_KEY", "opencode.ai", "bearer"},
        {"OPENROUTER_API_KEY", "openrouter.ai", "bearer"},
        {"PERPLEXITY_API_KEY", "api.perplexity.ai", "bearer"},
        {"REPLICATE_API_TOKEN", "api.replicate.com", "bearer"},
        {"SENDGRID_API_KEY", "api.sendgrid.com", "bearer"},
        {"SENTRY_AUTH_TOKEN", "sentry.io", "bearer"},
        {"SLACK_BOT_TOKEN", "slack.com", "bearer,form token"},
        {"SLACK_TOKEN", "slack.com", "bearer,form token"},
        {"STRIPE_API_KEY", "api.stripe.com", "bearer,basic"},
        {"STRIPE_KEY", "api.stripe.com", "bearer,basic"},
        {"STRIPE_SECRET_KEY", "api.stripe.com", "bearer,basic"},
        {"SUPABASE_ACCESS_TOKEN", "api.supabase.com", "bearer"},
        {"TAVILY_API_KEY", "api.tavily.com", "bearer,json /api_key"},
        {"TELEGRAM_BOT_TOKEN", "api.telegram.org", "path"},
        {"TOGETHER_API_KEY", "api.together.xyz", "bearer"},
        {"VERCEL_TOKEN", "api.vercel.com", "bearer"},
        {"XAI_API_KEY", "api.x.ai", "bearer"},
        {"ZAI_API_KEY", "api.z.ai", "bearer"},
};

/* By the end of a host's name, whole labels. */
static const struct {
        const char *host, *forms;
} hosts[] = {
        {"api.anthropic.com", "header x-api-key"},
        {"generativelanguage.googleapis.com", "header x-goog-api-key,query key"},
        {"googleapis.com", "bearer,header x-goog-api-key,query key"},
        {"openai.azure.com", "header api-key,bearer"},
        {"github.com", "basic,bearer"},
        {"ghcr.io", "basic,bearer"},
        {"gitlab.com", "header private-token,bearer,basic"},
        {"bitbucket.org", "basic,bearer"},
        {"codeberg.org", "basic,bearer"},
        {"dev.azure.com", "basic,bearer"},
        {"atlassian.net", "basic,bearer"},
        {"stripe.com", "bearer,basic"},
        {"docker.io", "basic,bearer"},
        {"docker.com", "basic,bearer"},
        {"quay.io", "basic,bearer"},
        {"amazonaws.com", "sigv4"},
        {"r2.cloudflarestorage.com", "sigv4"},
        {"api.telegram.org", "path"},
        {"slack.com", "bearer,form token"},
        {"api.figma.com", "header x-figma-token"},
        {"api.linear.app", "header authorization"},
        {"myshopify.com", "header x-shopify-access-token"},
        {"datadoghq.com", "header dd-api-key"},
        {"api.search.brave.com", "header x-subscription-token"},
};

const struct secret_known *secret_known_name(const char *name)
{
        for (size_t i = 0; i < COUNT(names); i++)
                if (strcasecmp(names[i].name, name) == 0)
                        return &names[i];
        return NULL;
}

const char *secret_known_near(const char *name)
{
        const char *all[COUNT(names)];
        for (size_t i = 0; i < COUNT(names); i++)
                all[i] = names[i].name;
        return str_suggest(name, all, COUNT(names));
}

static bool is_at(const char *host, const char *base)
{
        size_t h = strlen(host), b = strlen(base);
        return h >= b && strcasecmp(host + h - b, base) == 0 && (h == b || host[h - b - 1] == '.');
}

const char *secret_known_forms(const char *host, const char *name)
{
        const struct secret_known *k = secret_known_name(name);
        for (const char *p = k ? k->places : ""; *p;) {
                size_t n = strcspn(p, ",");
                if (strlen(host) == n && strncasecmp(p, host, n) == 0)
                        return k->forms;
                p += n + (p[n] == ',');
        }
        for (size_t i = 0; i < COUNT(hosts); i++)
                if (is_at(host, hosts[i].host))
                        return hosts[i].forms;
        return "bearer";
}
