/* token_places.c - see token_places.h. Asked by egress (is an answer worth looking at?) and by the
 * keeper (where may what it brought be shown?). */
#include "policy/token_places.h"

#include "policy/host_name.h"

#include <stddef.h>
#include <string.h>

static const struct {
        const char *host, *places;
} table[] = {
        {"platform.claude.com", "api.anthropic.com,platform.claude.com"},
        {"console.anthropic.com", "api.anthropic.com,console.anthropic.com"},
        {"auth.openai.com", "chatgpt.com,api.openai.com,auth.openai.com"},
        {"oauth2.googleapis.com", "*.googleapis.com"},
        {"accounts.google.com", "*.googleapis.com"},
        {"github.com", "github.com,api.github.com,*.githubcopilot.com"},
        {"gitlab.com", "gitlab.com"},
        {"login.microsoftonline.com", "graph.microsoft.com,management.azure.com"},
        {"opencode.ai", "opencode.ai"},
        {"openrouter.ai", "openrouter.ai"},
};

const char *token_places(const struct host_name *host)
{
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                if (strcmp(table[i].host, host->text) == 0)
                        return table[i].places;
        return NULL;
}
