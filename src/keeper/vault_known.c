/* vault_known.c - see vault_known.h. A table; pure. Called by the vault's verbs. A name that is not
 * in it gets no warning: a wrong one would teach people not to read them. */
#include "keeper/vault_known.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

/* The first that is part of the name decides, so longer ones stand before their parts. */
static const struct {
        const char *part, *provider;
} parts[] = {
        {"openrouter", "openrouter"},
        {"hugging", "huggingface"},
        {"hf_token", "huggingface"},
        {"anthropic", "anthropic"},
        {"claude", "anthropic"},
        {"openai", "openai"},
        {"codex", "openai"},
        {"github", "github"},
        {"gh_token", "github"},
        {"gitlab", "gitlab"},
        {"stripe", "stripe"},
        {"slack", "slack"},
        {"sendgrid", "sendgrid"},
        {"gemini", "google"},
        {"google", "google"},
        {"groq", "groq"},
        {"xai_", "xai"},
        {"perplexity", "perplexity"},
        {"replicate", "replicate"},
        {"tavily", "tavily"},
        {"linear", "linear"},
        {"notion", "notion"},
        {"figma", "figma"},
        {"sentry", "sentry"},
        {"digitalocean", "digitalocean"},
        {"pypi", "pypi"},
        {"npm", "npm"},
        {"aws", "aws"},
};

const char *vault_known_provider(const char *name)
{
        for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
                if (strcasestr(name, parts[i].part))
                        return parts[i].provider;
        return NULL;
}

bool vault_known_is_same(const char *provider, const char *shape)
{
        /* "github-fine" is github's; what only looks like a key of openai may be anybody's who
         * copied the shape. */
        return strncmp(shape, provider, strlen(provider)) == 0 ||
               strcmp(shape, "openai-like") == 0 || strcmp(shape, "jwt") == 0;
}
