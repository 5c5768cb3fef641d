/* lenders_test.c - the table of places that lend credentials knows what it must and nothing near
 * it, in whatever way a path or a name is written. */
#include "policy/lenders.h"
#include "unit/check.h"

#include <string.h>

static const char *place(const char *host, const char *path, const char *query)
{
        unsigned lends;
        return lenders_place(host, path, query, query ? strlen(query) : 0, &lends);
}

static void places(void)
{
        static const char *const yes[][3] = {
                {"github.com", "/login/oauth/access_token", NULL},
                {"auth.example.test", "/v1/oauth/token", "a=b"},
                {"auth.example.test", "/oauth/token/", NULL},
                {"auth.example.test", "/oauth/Token;a=b", NULL},
                {"auth.example.test", "/oauth/token%3Ba", NULL},
                {"auth.example.test", "/oauth/token.json//", NULL},
                {"auth.example.test", "/oauth%2Ftoken", NULL},
                {"auth.example.test", "/oauth%252Ftoken", NULL},
                {"auth.example.test", "/oauth%5Ctoken", NULL},
                {"auth.example.test", "//oauth//token", NULL},
                {"auth.example.test", "/oauth/token.", NULL},
                {"auth.example.test", "/oauth/token%20", NULL},
                {"auth.example.test", "/oauth/tok%2565n", NULL},
                {"auth.example.test", "/oauth/token::$DATA", NULL},
                {"auth.example.test", "/oauth;x=1/token", NULL},
                {"sts.amazonaws.com", "/", NULL},
                {"sts.eu-west-1.amazonaws.com", "/any/path", NULL},
                {"sts-fips.us-east-1.amazonaws.com", "/", NULL},
                {"iam.amazonaws.com", "/", "Action=CreateAccessKey"},
                {"b--x-s3.s3express-az.r.amazonaws.com", "/", "session"},
                {"b--x-s3.s3express-az.r.amazonaws.com", "/", "x=1&SESSION="},
                {"api.github.com", "/app/installations/7/access_tokens", NULL},
                {"gitlab.example.test", "/api/v4/users/1/personal_access_tokens", NULL},
                {"vault.example.test", "/v1/auth/approle/login", NULL},
                {"vault.example.test", "/v1/aws/creds/role", NULL},
                {"npm.example.test", "/-/user/org.couchdb.user:me", NULL},
                {"slack.com", "/api/oauth.v2.access", NULL},
                {"hub.docker.com", "/v2/users/login", NULL},
                {"hub.docker.com", "/v2/access-tokens", NULL},
                {"identitytoolkit.googleapis.com", "/v1/accounts:signInWithPassword", "key=x"},
                {"securetoken.googleapis.com", "/v1/token", NULL},
                {"iamcredentials.googleapis.com", "/v1/projects/-/serviceAccounts/x:signBlob",
                 NULL},
                {"management.azure.com", "/subscriptions/1/x/listConnectionStrings", NULL},
                {"graph.microsoft.com", "/v1.0/applications/1/addPassword", NULL},
                {"api.openai.com", "/v1/organization/projects/p/service_accounts", NULL},
                {"api.openai.com", "/v1/organization/admin_api_keys", NULL},
                {"api.anthropic.com", "/api/oauth/claude_cli/create_api_key", NULL},
                {"conjur.example.test", "/authn-jwt/a/b/authenticate", NULL},
                {"huggingface.co", "/api/models/a/b/xet-read-token/main", NULL},
                {"api.cloudflare.com", "/client/v4/user/tokens/1/value", NULL},
                {"api.digitalocean.com", "/v2/registry/docker-credentials", NULL},
                {"api.heroku.com", "/oauth/authorizations", NULL},
                {"rubygems.org", "/api/v1/oidc/api_key_roles/r/assume_role", NULL},
                {"crates.io", "/api/v1/me/tokens", NULL},
                {"k8s.example.test", "/api/v1/namespaces/n/serviceaccounts/s/token", NULL},
                {"git.example.test", "/api/v1/users/me/tokens", NULL},
                {"api.bitbucket.org", "/site/oauth2/access_token", NULL},
                {"vault.example.test", "/v1/sys/wrapping/unwrap", NULL},
                {"id.example.test", "/realms/r/clients/1/client-secret", NULL},
                {"search.example.test", "/x/listAdminKeys", NULL},
                {"search.example.test", "/listings/list/x/listKeys", NULL},
                {"search.example.test", "/x/listServiceSas", NULL},
                {"gitlab.example.test", "/api/v4/groups/1/registration_token", NULL},
                {"api.example.test", "/v1/me/session-token", NULL},
                {"api.example.test", "/auth/id_token", NULL},
                {"www.linkedin.com", "/oauth/v2/accessToken", NULL},
                {"auth.example.test", "/oauth/token.php", NULL},
                {"auth.example.test", "/oauth_token.do", NULL},
                {"auth.example.test", "/auth/refresh", NULL},
                {"auth.example.test", "/api/jwt/create/", NULL},
                {"auth.example.test", "/dj-rest-auth/login/", NULL},
                {"auth.example.test", "/api/auth/local", NULL},
                {"jira.example.test", "/rest/auth/1/session", NULL},
                {"redshift.eu-west-1.amazonaws.com", "/", NULL},
        };
        static const char *const no[][3] = {
                {"example.test", "/tokenise", NULL},
                {"example.test", "/", NULL},
                {"example.test", "/v1/messages", NULL},
                {"api.example.test", "/v1/chat/completions", "session=1"},
                {"b--x-s3.s3express-az.r.amazonaws.com", "/object", "x-id=GetObject"},
                {"mysts.example.test", "/", NULL},
                {"api.anthropic.com", "/v1/messages/count_tokens", NULL},
                {"api.example.test", "/v1/projects/1/export/csv", NULL},
                {"chatgpt.com", "/backend-api/codex/models", NULL},
                {"github.com", "/actions/create-github-app-token/info/refs", NULL},
                {"github.com", "/actions/create-github-app-token", NULL},
                {"api.github.com", "/repos/actions/create-github-app-token/commits/main", NULL},
                {"packages.example.org", "/@octokit/auth-token", NULL},
                {"packages.example.org", "/@octokit/auth-token/-/auth-token-5.1.1.tgz", NULL},
                {"shop.example.test", "/v3/listings/5/images/turkey.png", NULL},
                {"shop.example.test", "/listings/pampas", NULL},
                {"redshift-data.eu-west-1.amazonaws.com", "/", NULL},
        };
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
                check(place(yes[i][0], yes[i][1], yes[i][2]) != NULL, yes[i][1], "lends");
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(place(no[i][0], no[i][1], no[i][2]) == NULL, no[i][1], "does not lend");
}

static void fields(void)
{
        static const char *const yes[][2] = {
                {"access_token", ""},
                {"accessToken", ""},
                {"ns:Access-Token", ""},
                {"AccessKeyId", "id"},
                {"access_key", "id"},
                {"SecretAccessKey", "key"},
                {"a:SESSIONTOKEN", "token"},
                {"token", ""},
                {"client_secret", ""},
                {"WebIdentityToken", ""},
                {"raw_key", ""},
                {"secretText", ""},
                {"primaryConnectionString", ""},
        };
        static const char *const no[] = {"",      "token_type", "NextToken",    "next_page_token",
                                         "scope", "expires_in", "hashed_token", "AccessKeyIdX"};
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++) {
                const char *piece = lenders_field(yes[i][0], strlen(yes[i][0]));
                check_str(yes[i][0], piece ? piece : "(none)", yes[i][1]);
        }
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(lenders_field(no[i], strlen(no[i])) == NULL, no[i], "is a credential");
        bool is_plain;
        static const char *const plain[] = {
                "id",           "node_id", "request_id", "scope", "authorization_code",
                "SECRET_BLOCK", "x5c"};
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
                check(!lenders_name(plain[i], strlen(plain[i]), &is_plain) && is_plain, plain[i],
                      "is none");
        CHECK("a name that nobody knows is neither",
              !lenders_name("made", 4, &is_plain) && !is_plain);
        CHECK("a name under which nothing else stands",
              lenders_is_sure("access_token", 12) && lenders_is_sure("SecretAccessKey", 15));
        CHECK("names under which words stand, too", !lenders_is_sure("tokens", 6) &&
                                                            !lenders_is_sure("key", 3) &&
                                                            !lenders_is_sure("id", 2));
        char longest[4096];
        memset(longest, 'x', sizeof longest);
        memcpy(longest + sizeof longest - 6, "_token", 6);
        check(lenders_field(longest, sizeof longest) != NULL, "a name of 4096 letters",
              "by its end");
}

int main(void)
{
        places();
        fields();
        return check_end();
}
