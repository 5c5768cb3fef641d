/* secret_files_agent.c - what agents want to know about an API key beside the variable that holds
 * it: codex reads keys from a file, and claude asks whether it may use one that it has not seen
 * before, which would be every time, since a placeholder is new at every start. Called by
 * secret_files.c. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/secret_files_int.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { CLAUDE_TAIL = 20 }; /* so many last characters are what claude remembers of a key */

static const char *placeholder(const struct secret_files *f, const char *name)
{
        for (size_t i = 0; i < f->plan->secrets.n; i++)
                if (strcmp(f->plan->secrets.v[i].line.secret->name, name) == 0)
                        return secret_files_value(&f->plan->secrets.v[i]);
        return NULL;
}

static int put_json(struct secret_files *f, const char *path, json_t *root)
{
        _cleanup_free_ char *text = json_dumps(root, JSON_INDENT(2));
        _cleanup_buf_ struct buf b = {0};
        buf_put_fmt(&b, "%s\n", text ? text : "{}");
        return secret_files_put(f, path, &b);
}

static int codex(struct secret_files *f)
{
        static const char path[] = ".codex/auth.json";
        const char *key = placeholder(f, "OPENAI_API_KEY");
        if (!key || strcmp(f->plan->profile, "codex") != 0)
                return 0;
        for (size_t i = 0; i < f->plan->secrets.n; i++)
                if (f->plan->secrets.v[i].line.secret->source == RULE_FROM_LOGIN)
                        return 0; /* the login has written it */
        json_t *root = json_pack("{s:s}", "OPENAI_API_KEY", key);
        int r = put_json(f, path, root);
        json_decref(root);
        return r;
}

static int claude(struct secret_files *f)
{
        static const char path[] = ".claude.json";
        const char *key = placeholder(f, "ANTHROPIC_API_KEY");
        if (!key || strlen(key) < CLAUDE_TAIL)
                return 0;
        _cleanup_free_ char *old = secret_files_old(f, path);
        json_t *root = json_loads(old, 0, NULL);
        int r = 0;
        /* Only where the agent's settings are: it is no file to invent. */
        if (json_is_object(root)) {
                json_object_set_new(root, "customApiKeyResponses",
                                    json_pack("{s:[s],s:[]}", "approved",
                                              key + strlen(key) - CLAUDE_TAIL, "rejected"));
                r = put_json(f, path, root);
        }
        json_decref(root);
        return r;
}

int secret_files_agent(struct secret_files *f)
{
        return codex(f) < 0 || claude(f) < 0 ? -1 : 0;
}
