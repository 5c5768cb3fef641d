/* vault_known.c - see vault_known.h. Tables; pure. Called by the vault's verbs. */
#include "keeper/vault_known.h"

#include <string.h>
#include <strings.h>

#define GITHUB_AT    "at api.github.com,github.com,*.githubusercontent.com as bearer,basic"
#define BEARER(host) "at " host " as bearer"

static const struct vault_known known[] = {
        {"ANTHROPIC_API_KEY", "anthropic", "at api.anthropic.com as header x-api-key"},
        {"ANTHROPIC_AUTH_TOKEN", "anthropic", BEARER("api.anthropic.com")},
        {"CLAUDE_CODE_OAUTH_TOKEN", "anthropic", BEARER("api.anthropic.com")},
        {"OPENAI_API_KEY", "openai", BEARER("api.openai.com")},
        {"CODEX_API_KEY", "openai", BEARER("api.openai.com")},
        {"OPENROUTER_API_KEY", "openrouter", BEARER("openrouter.ai")},
        {"GEMINI_API_KEY", "google",
         "at generativelanguage.googleapis.com as header x-goog-api-key"},
        {"GOOGLE_API_KEY", "google",
         "at generativelanguage.googleapis.com as header x-goog-api-key"},
        {"GROQ_API_KEY", "groq", BEARER("api.groq.com")},
        {"MISTRAL_API_KEY", NULL, BEARER("api.mistral.ai")},
        {"DEEPSEEK_API_KEY", NULL, BEARER("api.deepseek.com")},
        {"XAI_API_KEY", "xai", BEARER("api.x.ai")},
        {"PERPLEXITY_API_KEY", "perplexity", BEARER("api.perplexity.ai")},
        {"REPLICATE_API_TOKEN", "replicate", BEARER("api.replicate.com")},
        {"FIREWORKS_API_KEY", "fireworks", BEARER("api.fireworks.ai")},
        {"TOGETHER_API_KEY", NULL, BEARER("api.together.xyz")},
        {"NVIDIA_API_KEY", "nvidia", BEARER("integrate.api.nvidia.com")},
        {"TAVILY_API_KEY", "tavily", BEARER("api.tavily.com")},
        {"HF_TOKEN", "huggingface", BEARER("huggingface.co")},
        {"HUGGING_FACE_HUB_TOKEN", "huggingface", BEARER("huggingface.co")},
        {"GITHUB_TOKEN", "github", GITHUB_AT},
        {"GH_TOKEN", "github", GITHUB_AT},
        {"COPILOT_GITHUB_TOKEN", "github", BEARER("api.github.com,*.githubcopilot.com")},
        {"GITLAB_TOKEN", "gitlab", "at gitlab.com as header private-token,bearer,basic"},
        {"NPM_TOKEN", "npm", BEARER("registry.npmjs.org")},
        {"NODE_AUTH_TOKEN", "npm", BEARER("registry.npmjs.org")},
        {"PYPI_TOKEN", "pypi", "at upload.pypi.org as basic user=__token__"},
        {"TWINE_PASSWORD", "pypi", "at upload.pypi.org as basic user=__token__"},
        {"CARGO_REGISTRY_TOKEN", "crates", "at crates.io as header authorization"},
        {"STRIPE_SECRET_KEY", "stripe", "at api.stripe.com as basic,bearer"},
        {"STRIPE_API_KEY", "stripe", "at api.stripe.com as basic,bearer"},
        {"STRIPE_KEY", "stripe", "at api.stripe.com as basic,bearer"},
        {"SLACK_BOT_TOKEN", "slack", BEARER("slack.com")},
        {"SLACK_TOKEN", "slack", BEARER("slack.com")},
        {"SENDGRID_API_KEY", "sendgrid", BEARER("api.sendgrid.com")},
        {"DIGITALOCEAN_TOKEN", "digitalocean", BEARER("api.digitalocean.com")},
        {"CLOUDFLARE_API_TOKEN", NULL, BEARER("api.cloudflare.com")},
        {"LINEAR_API_KEY", "linear", "at api.linear.app as header authorization"},
        {"NOTION_TOKEN", "notion", BEARER("api.notion.com")},
        {"FIGMA_TOKEN", "figma", "at api.figma.com as header x-figma-token"},
        {"SENTRY_AUTH_TOKEN", "sentry", BEARER("sentry.io")},
        {"VERCEL_TOKEN", NULL, BEARER("api.vercel.com")},
        {"SUPABASE_ACCESS_TOKEN", "supabase", BEARER("api.supabase.com")},
};

/* Longest first: the first that is part of the name decides. */
static const struct {
        const char *part, *provider;
} parts[] = {
        {"openrouter", "openrouter"},
        {"huggingface", "huggingface"},
        {"anthropic", "anthropic"},
        {"claude", "anthropic"},
        {"openai", "openai"},
        {"github", "github"},
        {"gitlab", "gitlab"},
        {"stripe", "stripe"},
        {"slack", "slack"},
        {"gemini", "google"},
        {"google", "google"},
        {"groq", "groq"},
        {"pypi", "pypi"},
        {"npm", "npm"},
        {"aws", "aws"},
};

const struct vault_known *vault_known_at(size_t i)
{
        return i < sizeof known / sizeof *known ? &known[i] : NULL;
}

const struct vault_known *vault_known_find(const char *name)
{
        const struct vault_known *k;
        for (size_t i = 0; (k = vault_known_at(i)); i++)
                if (strcmp(k->name, name) == 0)
                        return k;
        return NULL;
}

const char *vault_known_provider(const char *name)
{
        const struct vault_known *k = vault_known_find(name);
        if (k)
                return k->provider;
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (strcasestr(name, parts[i].part))
                        return parts[i].provider;
        return NULL;
}

int vault_known_is_same(const char *provider, const char *shape)
{
        /* "github-fine" is github's; what only looks like a key of openai may be anybody's who
         * copied the shape. */
        return strncmp(shape, provider, strlen(provider)) == 0 ||
               strcmp(shape, "openai-like") == 0 || strcmp(shape, "jwt") == 0;
}
