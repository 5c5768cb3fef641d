/* cred_slots_test.c - the tables of credentials' places know what they must and nothing near it. */
#include "policy/cred_slots.h"
#include "policy/host_name.h"
#include "unit/check.h"

#include <string.h>

static void headers(void)
{
        static const char *const yes[] = {"authorization",
                                          "proxy-authorization",
                                          "x-api-key",
                                          "api-key",
                                          "x-goog-api-key",
                                          "x-auth-token",
                                          "private-token",
                                          "job-token",
                                          "x-access-token",
                                          "x-github-token",
                                          "x-amz-security-token",
                                          "x-vault-token",
                                          "dd-api-key",
                                          "x-shopify-access-token",
                                          "x-figma-token",
                                          "anthropic-api-key"};
        static const char *const no[] = {
                "",       "accept", "x-api-keys", "x-api-ke",    "x-api", "anthropic-version",
                "cookie", "zzz",    "a",          "content-type"};
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
                check(cred_slots_is_header(yes[i]), yes[i], "is no credential");
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(!cred_slots_is_header(no[i]), no[i], "is a credential");
}

static void queries(void)
{
        static const char *const yes[] = {"access_token",
                                          "api_key",
                                          "apikey",
                                          "key",
                                          "token",
                                          "client_secret",
                                          "sig",
                                          "X-Amz-Signature",
                                          "X-Amz-Credential",
                                          "AWSAccessKeyId",
                                          "Signature"};
        static const char *const no[] = {"", "keys", "tok", "q", "page", "x-amz-date", "keyx"};
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
                check(cred_slots_is_query(yes[i], strlen(yes[i])), yes[i], "is no credential");
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(!cred_slots_is_query(no[i], strlen(no[i])), no[i], "is a credential");
        CHECK("a name ends where it is told", cred_slots_is_query("keyword", 3));
}

static void reflective(void)
{
        static const char *const yes[] = {"user-agent",
                                          "referer",
                                          "origin",
                                          "x-request-id",
                                          "x-forwarded-for",
                                          "forwarded",
                                          "traceparent",
                                          "x-b3-traceid",
                                          "sec-ch-ua",
                                          "access-control-request-headers",
                                          "sec-websocket-protocol",
                                          "sec-websocket-extensions",
                                          "idempotency-key",
                                          "content-disposition",
                                          "prefer",
                                          "expect",
                                          "last-event-id",
                                          "host",
                                          "User-Agent",
                                          "x-forwarded-host"};
        static const char *const no[] = {"authorization", "x-api-key", "cookie", "x-goog-api-key",
                                         "x-signature",   "api-key",   "token",  "private-token"};
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
                check(cred_slots_is_reflective(yes[i]), yes[i], "is not known to come back");
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(!cred_slots_is_reflective(no[i]), no[i], "is taken for one that comes back");
}

static void models(void)
{
        static const struct {
                const char *host;
                bool want;
        } hosts[] = {
                {"api.anthropic.com", true},
                {"API.Anthropic.com.", true},
                {"api.openai.com", true},
                {"eu.api.openai.com", true},
                {"chatgpt.com", true},
                {"generativelanguage.googleapis.com", true},
                {"us-central1-aiplatform.googleapis.com", true},
                {"aiplatform.googleapis.com", true},
                {"bedrock-runtime.us-east-1.amazonaws.com", true},
                {"bedrock-runtime.us-gov-west-1.amazonaws.com", true},
                {"my-place.openai.azure.com", true},
                {"api.githubcopilot.com", true},
                {"anthropic.com", false},
                {"api.anthropic.com.example.org", false},
                {"evil-api.anthropic.com", false},
                {"x.api.anthropic.com", false},
                {"a.b.api.openai.com", false},
                {"bedrock-runtime.s3.amazonaws.com", false},
                {"bedrock-runtime.x.s3.amazonaws.com", false},
                {"bedrock-runtime.s3-us-west-2.amazonaws.com", false},
                {"-aiplatform.googleapis.com", false},
                {"a.b.openai.azure.com", false},
                {"openai.azure.com", false},
                {"api.openai", false},
                {"api.openai.comx", false},
                {"10.0.0.1", false},
        };
        for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++) {
                struct host_name h = {0};
                if (host_name_parse(hosts[i].host, strlen(hosts[i].host), &h, NULL) < 0)
                        continue;
                check(cred_slots_is_model_host(&h) == hosts[i].want, hosts[i].host, "wanted %d",
                      hosts[i].want);
        }
}

int main(void)
{
        headers();
        queries();
        reflective();
        models();
        return check_end();
}
