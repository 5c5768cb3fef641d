/* secret_spec_test.c - the short way to write a secret gives the line that was meant, or a sentence
 * that does not repeat a value. */
#include "base/cleanup.h"
#include "base/err.h"
#include "policy/secret_spec.h"
#include "unit/check.h"

#include <string.h>

static const struct {
        const char *spec, *line;
} good[] = {
        {"ANTHROPIC_API_KEY",
         "secret ANTHROPIC_API_KEY from any at api.anthropic.com as header x-api-key"},
        {"ANTHROPIC_API_KEY+inject",
         "secret ANTHROPIC_API_KEY from any at api.anthropic.com as header x-api-key inject"},
        {"ANTHROPIC_API_KEY@api.anthropic.com",
         "secret ANTHROPIC_API_KEY from any at api.anthropic.com as header x-api-key"},
        {"CLAUDE_CODE_OAUTH_TOKEN@api.anthropic.com",
         "secret CLAUDE_CODE_OAUTH_TOKEN from any at api.anthropic.com as bearer"},
        {"MY_TOKEN@github.com,api.github.com",
         "secret MY_TOKEN from any at github.com,api.github.com as basic,bearer"},
        {"GH_TOKEN=vault", "secret GH_TOKEN from vault at "
                           "github.com,api.github.com,uploads.github.com as basic,bearer"},
        {"STRIPE_KEY@api.stripe.com",
         "secret STRIPE_KEY from any at api.stripe.com as bearer,basic"},
        {"STRIPE_KEY", "secret STRIPE_KEY from any at api.stripe.com as bearer,basic"},
        {"GEMINI_API_KEY", "secret GEMINI_API_KEY from any at generativelanguage.googleapis.com as "
                           "header x-goog-api-key,query key"},
        {"X@a.org", "secret X from any at a.org as bearer"},
        {"X@A.Org:8443", "secret X from any at a.org:8443 as bearer"},
        {"X@a.org:8443:basic", "secret X from any at a.org:8443 as basic"},
        {"X@a.org:header:X-Foo", "secret X from any at a.org as header x-foo"},
        {"X@a.org:header:x-foo,bearer+inject",
         "secret X from any at a.org as header x-foo,bearer inject"},
        {"X@a.org:8443/v1/**:query:key", "secret X from any at a.org:8443/v1/** as query key"},
        {"X@a.org:json:/a:b/c", "secret X from any at a.org as json /a:b/c"},
        {"X@[fd00::1]:8080:bearer+plain", "secret X from any at [fd00::1]:8080 as bearer plain"},
        {"X=vault:work-key@a.org", "secret X from vault work-key at a.org as bearer"},
        {"X=env:OTHER@a.org", "secret X from env OTHER at a.org as bearer"},
        {"X=file:~/token@a.org:basic", "secret X from file ~/token at a.org as basic"},
        {"AWS@*.amazonaws.com:sigv4", "secret AWS from aws at *.amazonaws.com as sigv4"},
        {"AWS=aws:dev@*.s3.eu-west-1.amazonaws.com",
         "secret AWS from aws dev at *.s3.eu-west-1.amazonaws.com as sigv4"},
        {"C=login:claude@api.anthropic.com:bearer",
         "secret C from login claude at api.anthropic.com as bearer "
         "app=9d1c250a-e61b-44d9-88ed-5944d1962f5e "
         "token=https://platform.claude.com/v1/oauth/token"},
        {"X from cmd 'pass x' at a.org as bearer ttl=1h",
         "secret X from cmd \"pass x\" at a.org as bearer ttl=3600"},
};

static const struct {
        const char *spec, *word;
} bad[] = {
        {"", "begins with a NAME"},
        {"a-b@x.org", "begins with a NAME"},
        {"@x.org", "begins with a NAME"},
        {"UNKNOWN", "UNKNOWN@HOST"},
        {"ANTROPIC_API_KEY", "did you mean \"ANTHROPIC_API_KEY\""},
        {"X@", "missing"},
        {"X@*", "only for deny"},
        {"X@a.org,", "missing"},
        {"X@a.org:beaerr", "port"},
        {"X@a.org:header", "name of the header"},
        {"X@a.org:header:referer", "send this header back"},
        {"X@a.org:json:x", "begins with /"},
        {"X@a.org:oauth", "token endpoint"},
        {"X@a.org:hmac:x-s", "what is signed"},
        {"X@a.org:ssh+inject", "nothing to inject"},
        {"X=file:token@a.org", "below ~/"},
        {"X=login:me@a.org", "claude or codex"},
        {"X=sk-fake-0123456789", "X@HOST"},
        {"X=sk-fake-0123456789@a.org", "never a value"},
        {"sk-fake-0123456789@a.org", "begins with a NAME"},
        {"sk-fake-0123456789 from env at a.org as bearer", "wants a NAME"},
        {"X from sk-fake-0123456789 at a.org as bearer", "a source is wanted"},
};

int main(void)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                struct err err = {0};
                _cleanup_free_ char *line = secret_spec_line(good[i].spec, &err);
                check_str(good[i].spec, line ? line : err.text, good[i].line);
                _cleanup_free_ char *again = line ? secret_spec_line(line + 7, &err) : NULL;
                check_str("the line is one that can be given itself", again, line);
        }
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct err err = {0};
                _cleanup_free_ char *line = secret_spec_line(bad[i].spec, &err);
                check(!line && strstr(err.text, bad[i].word), bad[i].spec, "got %s, \"%s\"",
                      line ? line : "nothing", err.text);
                check(!strstr(err.text, "0123456789"), "no value is repeated", "%s", err.text);
        }
        return check_end();
}
