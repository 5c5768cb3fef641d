/* cred_slots.c - see cred_slots.h. Tables that the door asks for every request of a managed host,
 * and the parser of secret lines once. It must never open anything: these lists only take away. */
#include "policy/cred_slots.h"

#include "policy/host_name.h"

#include <string.h>
#include <strings.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* In the order of the alphabet: they are searched by halves. Cookies are not among them: most are
 * no credential, and those that a server set in the box are the box's own. */
static const char *const headers[] = {
        "anthropic-api-key",
        "api-key",
        "apikey",
        "auth-token",
        "authentication",
        "authorization",
        "circle-token",
        "dd-api-key",
        "dd-application-key",
        "deploy-token",
        "fastly-key",
        "job-token",
        "ocp-apim-subscription-key",
        "private-token",
        "proxy-authorization",
        "token",
        "x-access-token",
        "x-amz-security-token",
        "x-api-key",
        "x-api-token",
        "x-apikey",
        "x-auth-key",
        "x-auth-token",
        "x-authorization",
        "x-aws-ec2-metadata-token",
        "x-cf-authorization",
        "x-consul-token",
        "x-figma-token",
        "x-functions-key",
        "x-github-token",
        "x-gitlab-token",
        "x-goog-api-key",
        "x-goog-authenticated-user-jwt",
        "x-goog-iam-authorization-token",
        "x-honeycomb-team",
        "x-jfrog-art-api",
        "x-key",
        "x-master-key",
        "x-ms-authorization-auxiliary",
        "x-nuget-apikey",
        "x-postmark-server-token",
        "x-rapidapi-key",
        "x-secret-key",
        "x-sentry-auth",
        "x-shopify-access-token",
        "x-subscription-token",
        "x-token",
        "x-trackertoken",
        "x-vault-token",
};

static const char *const queries[] = {
        "access-token",
        "access_key",
        "access_token",
        "accesskey",
        "accesstoken",
        "api-key",
        "api_key",
        "api_secret",
        "api_token",
        "apikey",
        "apitoken",
        "app_key",
        "app_secret",
        "appid",
        "appkey",
        "assertion",
        "auth",
        "auth_token",
        "authorization",
        "authtoken",
        "awsaccesskeyid",
        "client_assertion",
        "client_secret",
        "clientsecret",
        "credential",
        "id_token",
        "jwt",
        "key",
        "oauth_consumer_key",
        "oauth_signature",
        "oauth_token",
        "pass",
        "passwd",
        "password",
        "private_token",
        "refresh_token",
        "sas",
        "secret",
        "secret_key",
        "session_token",
        "sig",
        "signature",
        "subscription-key",
        "token",
        "x-amz-credential",
        "x-amz-security-token",
        "x-amz-signature",
        "x-api-key",
        "x-goog-credential",
        "x-goog-signature",
};

/* ATTACKS S3: what error pages, logs and CORS answers repeat. What ends in "*" is a beginning. */
static const char *const reflective[] = {
        "accept",
        "accept-*",
        "access-control-*",
        "baggage",
        "b3",
        "cache-control",
        "cf-*",
        "connection",
        "content-*",
        "correlation-*",
        "date",
        "dnt",
        "expect",
        "fastly-client-*",
        "forwarded",
        "from",
        "host",
        "idempotency-key",
        "if-*",
        "keep-alive",
        "last-event-id",
        "max-forwards",
        "origin",
        "pragma",
        "prefer",
        "priority",
        "proxy-connection",
        "range",
        "referer",
        "referrer",
        "request-id",
        "save-data",
        "sec-*",
        "te",
        "traceparent",
        "tracestate",
        "trailer",
        "transfer-encoding",
        "true-client-ip",
        "upgrade",
        "upgrade-insecure-requests",
        "user-agent",
        "via",
        "warning",
        "x-amzn-trace-id",
        "x-b3-*",
        "x-client-ip",
        "x-client-request-id",
        "x-cloud-trace-context",
        "x-correlation-id",
        "x-csrf-token",
        "x-forwarded*",
        "x-http-method*",
        "x-idempotency-key",
        "x-original-*",
        "x-real-ip",
        "x-request-*",
        "x-requested-with",
        "x-rewrite-url",
        "x-trace*",
        "x-xsrf-token",
};

/* "*" is one label or a part of one, never a dot; "@" is a region as clouds name them, so that no
 * bucket of a stranger passes for a model. */
static const char *const model_hosts[] = {
        "api.anthropic.com",
        "api-staging.anthropic.com",
        "api.openai.com",
        "*.api.openai.com", /* us., eu. */
        "chatgpt.com",
        "generativelanguage.googleapis.com",
        "aiplatform.googleapis.com",
        "*-aiplatform.googleapis.com",
        "cloudcode-pa.googleapis.com",
        "daily-cloudcode-pa.googleapis.com",
        "openrouter.ai",
        "api.mistral.ai",
        "codestral.mistral.ai",
        "api.groq.com",
        "api.deepseek.com",
        "api.x.ai",
        "api.together.xyz",
        "api.together.ai",
        "api.fireworks.ai",
        "api.cerebras.ai",
        "api.cohere.com",
        "api.cohere.ai",
        "api.perplexity.ai",
        "api.moonshot.ai",
        "api.moonshot.cn",
        "api.minimax.io",
        "api.z.ai",
        "open.bigmodel.cn",
        "dashscope.aliyuncs.com",
        "dashscope-intl.aliyuncs.com",
        "api.deepinfra.com",
        "api.novita.ai",
        "api.hyperbolic.xyz",
        "api.sambanova.ai",
        "integrate.api.nvidia.com",
        "inference.baseten.co",
        "api.inference.net",
        "router.huggingface.co",
        "api-inference.huggingface.co",
        "models.github.ai",
        "models.inference.ai.azure.com",
        "ai-gateway.vercel.sh",
        "gateway.ai.cloudflare.com",
        "opencode.ai",
        "api.opencode.ai",
        "api.venice.ai",
        "api.kilocode.ai",
        "api.requesty.ai",
        "router.requesty.ai",
        "bedrock-runtime.@.amazonaws.com",
        "bedrock-runtime-fips.@.amazonaws.com",
        "bedrock-agent-runtime.@.amazonaws.com",
        "q.@.amazonaws.com",
        "codewhisperer.@.amazonaws.com",
        "*.openai.azure.com",
        "*.services.ai.azure.com",
        "*.cognitiveservices.azure.com",
        "api.githubcopilot.com",
        "api.individual.githubcopilot.com",
        "api.business.githubcopilot.com",
        "api.enterprise.githubcopilot.com",
        "copilot-proxy.githubusercontent.com",
};

static bool has(const char *const *list, size_t n, const char *name, size_t len)
{
        size_t lo = 0, hi = n;
        while (lo < hi) {
                size_t mid = (lo + hi) / 2;
                int d = strncasecmp(list[mid], name, len);
                if (d == 0 && list[mid][len])
                        d = 1;
                if (d == 0)
                        return true;
                if (d < 0)
                        lo = mid + 1;
                else
                        hi = mid;
        }
        return false;
}

bool cred_slots_is_header(const char *name)
{
        return has(headers, COUNT(headers), name, strlen(name));
}

bool cred_slots_is_query(const char *name, size_t n)
{
        return n > 0 && has(queries, COUNT(queries), name, n);
}

bool cred_slots_is_reflective(const char *name)
{
        for (size_t i = 0; i < COUNT(reflective); i++) {
                size_t n = strlen(reflective[i]);
                if (reflective[i][n - 1] == '*' ? strncasecmp(reflective[i], name, n - 1) == 0
                                                : strcasecmp(reflective[i], name) == 0)
                        return true;
        }
        return false;
}

/* is_region(s, n): two letters, words and a digit: us-east-1, us-gov-west-1. */
static bool is_region(const char *s, size_t n)
{
        size_t dashes = 0;
        if (n < 9 || n > 20 || s[2] != '-' || s[n - 1] < '0' || s[n - 1] > '9' || s[n - 2] != '-')
                return false;
        for (size_t i = 0; i + 1 < n; i++) {
                dashes += s[i] == '-';
                if (s[i] != '-' && (s[i] < 'a' || s[i] > 'z'))
                        return false;
        }
        return dashes == 2 || dashes == 3;
}

static bool host_fits(const char *pattern, const char *host)
{
        for (; *pattern; pattern++) {
                size_t n = strcspn(host, ".");
                if (*pattern == '@') {
                        if (!is_region(host, n))
                                return false;
                        host += n;
                } else if (*pattern == '*') {
                        /* what follows in the pattern up to its dot must end the label */
                        size_t after = strcspn(pattern + 1, ".");
                        if (n < after + 1)
                                return false;
                        host += n - after;
                } else if (*pattern != *host++) {
                        return false;
                }
        }
        return *host == 0;
}

bool cred_slots_is_model_host(const struct host_name *h)
{
        for (size_t i = 0; h->kind == HOST_NAME && i < COUNT(model_hosts); i++)
                if (host_fits(model_hosts[i], h->text))
                        return true;
        return false;
}
