/* rule_test.c - the rule line: what is read, what is printed, what is refused and where. */
#include "base/buf.h"
#include "base/err.h"
#include "policy/rule.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

/* Each line and its canonical text; NULL when it is that already. */
static const struct {
        const char *in, *out;
} good[] = {
        {"allow      GET,HEAD api.github.com/repos/**", "allow GET,HEAD api.github.com/repos/**"},
        {"allow HEAD,GET a.org", "allow GET,HEAD a.org"},
        {"allow * *.example.org:443 rate=60/m bytes=50M", NULL},
        {"ask POST API.GitHub.com/**", "ask POST api.github.com/**"},
        {"deny! * gist.github.com   # cannot be overridden", "deny! * gist.github.com"},
        {"allow * git.home.arpa to=192.168.1.5:3000 ca=~/home-ca.pem", NULL},
        {"tcp db.internal:5432", NULL},
        {"splice pinned.example.com", NULL},
        {"splice pinned.example.com:8443 bytes=1G", NULL},
        {"deny * *", NULL},
        {"deny POST *:*", NULL},
        {"deny * *.zip", NULL},
        {"deny * *.co.uk/x", NULL},
        {"allow * 10.0.0.5:8080", NULL},
        {"allow * [FD00::0:1]:8080/x", "allow * [fd00::1]:8080/x"},
        {"allow * [fd00::1] to=[::1]:80", NULL},
        {"allow GET a.org/", NULL},
        {"allow GET a.org/%61%2fb%2A/*", "allow GET a.org/a%2Fb%2A/*"},
        {"allow GET a.org/a,b", "allow GET a.org/a%2Cb"},
        {"allow POST a.org h:X-Mode=safe* q:dry=1 json:/params/name=read_* form:Action=Describe*",
         "allow POST a.org h:x-mode=safe* q:dry=1 json:/params/name=read_* form:Action=Describe*"},
        {"deny POST a.org/graphql json:/query=\"mutation*\" reason=\"no \\\"writes\\\" here\"",
         "deny POST a.org/graphql json:/query=mutation* \"reason=no \\\"writes\\\" here\""},
        {"deny * a.org q:x=", NULL},
        {"deny * a.org q:x=**", "deny * a.org q:x=*"},
        {"allow GET \"a.org/it's\"", NULL},
        {"allow * *.s3.eu-west-1.amazonaws.com hosts=20", NULL},
        {"allow PROPFIND,REPORT dav.example.org", NULL},
        {"allow * a.org bytes=1000 rate=5/d", "allow * a.org rate=5/d bytes=1000"},
        {"secret ANTHROPIC_API_KEY from env at api.anthropic.com as header X-Api-Key",
         "secret ANTHROPIC_API_KEY from env at api.anthropic.com as header x-api-key"},
        {"secret GITHUB_TOKEN from cmd 'gh auth token' at github.com,api.github.com as "
         "basic,bearer inject",
         "secret GITHUB_TOKEN from cmd \"gh auth token\" at github.com,api.github.com as "
         "basic,bearer inject"},
        {"secret AWS from aws dev at *.s3.eu-west-1.amazonaws.com as sigv4 service=s3 "
         "region=eu-west-1",
         NULL},
        {"secret X from env OTHER at a.org:8443/v1/** as header x-a,bearer ttl=3600", NULL},
        {"secret X from file ~/.token at a.org as query key,cookie sid ttl=1h",
         "secret X from file ~/.token at a.org as query key,cookie sid ttl=3600"},
        {"secret X from vault at a.org as basic user=me", NULL},
        {"secret X from env at a.org/a%2Cb,b.org as bearer", NULL},
        {"secret X from env at a.org as json /auth/token,form api_key,ws /d/token,path", NULL},
        {"secret X from env at a.org as json \"/a b\",bearer", NULL},
        {"secret X from env at a.org as query a[key]", NULL},
        {"secret X from vault at a.org as hmac X-Signature message=\"{method}\\n{path}\\n{body}\" "
         "hash=sha512 encoding=base64 prefix=\"sha512=\" time-header=X-Time inject leak=kill",
         "secret X from vault at a.org as hmac x-signature inject leak=kill "
         "\"message={method}\\n{path}\\n{body}\" hash=sha512 encoding=base64 prefix=sha512= "
         "time-header=x-time"},
        {"secret X from vault at a.org as hmac x-s "
         "message='v0:{time}':{body_sha256}\"\\t\"{time_ms}{header:x-a}",
         "secret X from vault at a.org as hmac x-s "
         "\"message=v0:{time}:{body_sha256}\\t{time_ms}{header:x-a}\""},
        {"secret G from file ~/sa.json at *.googleapis.com as gcp inject", NULL},
        {"secret GH from vault at api.github.com,github.com as github-app app=Iv1.0a "
         "installation=77 repos=a,b.c inject",
         "secret GH from vault at api.github.com,github.com as github-app inject app=Iv1.0a "
         "installation=77 repos=a,b.c"},
        {"secret O from vault at api.a.org as oauth token=https://login.a.org:8443/oauth/token",
         NULL},
        {"secret K from file ~/.ssh/id_ed25519 at github.com as ssh leak=alarm",
         "secret K from file ~/.ssh/id_ed25519 at github.com as ssh"},
        {"secret X from cmd 'op read x' at a.org as bearer refresh=30m leak=revoke plain",
         "secret X from cmd \"op read x\" at a.org as bearer plain refresh=1800 leak=revoke"},
        {"secret C from login claude at api.anthropic.com as bearer inject",
         "secret C from login claude at api.anthropic.com as bearer inject "
         "app=9d1c250a-e61b-44d9-88ed-5944d1962f5e "
         "token=https://platform.claude.com/v1/oauth/token"},
        {"secret C from login codex at a.org as bearer app=me token=https://a.org/t", NULL},
        {"secret G from vault at github.com as github-app,basic app=1 installation=2", NULL},
        {"bind ~/.config/nvim", "bind ~/.config/nvim ro"},
        {"bind '/srv/my data' cow", "bind \"/srv/my data\" cow"},
        {"limit memory=4G cpu=2 pids=2048 disk=10G time=8h", NULL},
};

static void test_good(void)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                struct err err = {0};
                struct rule_line l, again;
                size_t column = 0;
                const char *want = good[i].out ? good[i].out : good[i].in;
                if (rule_line_parse(good[i].in, strlen(good[i].in), &l, &column, &err) != 1) {
                        check(false, good[i].in, "column %zu: %s", column, err.text);
                        continue;
                }
                _cleanup_buf_ struct buf b = {0}, c = {0};
                rule_line_print(&l, &b);
                check_str(good[i].in, buf_cstr(&b), want);
                if (rule_line_parse(buf_cstr(&b), b.len, &again, &column, &err) != 1) {
                        check(false, "what is printed can be read", "%s: %s", buf_cstr(&b),
                              err.text);
                } else {
                        rule_line_print(&again, &c);
                        check(rule_line_equal(&l, &again) &&
                                      strcmp(buf_cstr(&b), buf_cstr(&c)) == 0,
                              "what is printed means the same", "%s became %s", buf_cstr(&b),
                              buf_cstr(&c));
                        rule_line_free(&again);
                }
                rule_line_free(&l);
        }
}

static const struct {
        const char *text;
        size_t column;
        const char *words;
} bad[] = {
        {"alow * a.org", 1, "did you mean \"allow\"?"},
        {"frobnicate * a.org", 1, "known: allow"},
        {"allow", 6, "methods are wanted"},
        {"allow get a.org", 7, "did you mean GET?"},
        {"allow GTE a.org", 7, "did you mean GET?"},
        {"allow GET,,HEAD a.org", 7, "methods are wanted"},
        {"allow GET, a.org", 7, "methods are wanted"},
        {"allow CONNECT a.org", 7, "methods are wanted"},
        {"allow GET", 10, "HOST[:PORT][/PATH] is wanted here"},
        {"allow GET https://a.org/x", 11, "without https://"},
        {"allow GET -a.org", 11, "begin or end with -"},
        {"allow GET a.org:", 11, "port"},
        {"allow GET a.org:0", 11, "port"},
        {"allow GET a.org:0443", 11, "port"},
        {"allow GET a.org:70000", 11, "port"},
        {"allow GET a.org:https", 11, "port"},
        {"allow GET [::1]x", 11, ":PORT or /PATH"},
        {"allow * *", 9, "only for deny"},
        {"ask * *", 7, "only for deny"},
        {"allow * *.com", 9, "public suffix"},
        {"allow * *.co.uk", 9, "public suffix"},
        {"tcp *.com:22", 5, "public suffix"},
        {"splice *.co.uk", 8, "public suffix"},
        {"allow * *example.org", 9, "star"},
        {"allow * a.*.org", 9, "star"},
        {"allow * *.*.org", 9, "star"},
        {"allow * *.1.2.3.4", 9, "nothing below"},
        {"deny * 10.0.0.0/8", 8, "range"},
        {"allow * 2130706433", 9, "four decimal"},
        {"allow * 127.1", 9, "four decimal"},
        {"allow * [fe80::1%eth0]", 9, "zone"},
        {"allow * b\xc3\xbc"
         "cher.example",
         9, "xn--"},
        {"allow * a.org/a/../b", 9, ". or .."},
        {"allow * a.org/a***", 9, "three stars"},
        {"allow * a.org/a%", 9, "hexadecimal"},
        {"allow * a.org frob=1", 15, "known: rate="},
        {"allow * a.org rat=1/m", 15, "did you mean \"rate=\"?"},
        {"allow * a.org fast", 15, "an option (name=value)"},
        {"allow * a.org rate=60", 15, "rate= wants"},
        {"allow * a.org rate=0/m", 15, "rate= wants"},
        {"allow * a.org rate=1/w", 15, "rate= wants"},
        {"allow * a.org rate=1/m rate=2/m", 24, "only once"},
        {"allow * a.org bytes=lots", 15, "bytes= wants"},
        {"allow * a.org hosts=0", 15, "hosts= wants"},
        {"allow * a.org to=db.internal", 15, "to= wants an address"},
        {"allow * a.org to=1.2.3.4/x", 15, "to= wants an address"},
        {"allow * a.org to=1.2.3.4:*", 15, "to= wants an address"},
        {"allow * a.org ca=home.pem", 15, "ca= wants"},
        {"deny * a.org to=1.2.3.4", 14, "means nothing in a line with deny"},
        {"deny! * a.org rate=1/m", 15, "means nothing in a line with deny!"},
        {"splice a.org ca=/x", 14, "means nothing in a line with splice"},
        {"tcp a.org:22 h:x=1", 14, "unread"},
        {"allow * a.org h:=1", 15, "name is missing"},
        {"allow * a.org h:a(b=1", 15, "not the name of a header"},
        {"allow * a.org json:a=1", 15, "pointer"},
        {"allow * a.org reason=", 15, "reason= wants"},
        {"allow * a.org reason=\"a\\nb\"", 15, "reason= wants"},
        {"allow * a.org reason=\"abc", 22, "never closed"},
        {"tcp db.internal", 5, "name the port"},
        {"tcp db.internal:*", 5, "name the port"},
        {"tcp db.internal:22/x", 5, "no path"},
        {"splice a.org/x", 8, "no path"},
        {"secret", 7, "wants a NAME"},
        {"secret a-b from env at a.org as bearer", 8, "wants a NAME"},
        {"secret X at a.org as bearer", 10, "from SOURCE"},
        {"secret X from envv at a.org as bearer", 15, "did you mean \"env\"?"},
        {"secret X from cmd at a.org as bearer", 19, "cmd wants"},
        {"secret X from file token at a.org as bearer", 20, "below ~/"},
        {"secret X from env as bearer", 28, "at HOST"},
        {"secret X from env at a.org", 27, "as FORM"},
        {"secret X from env at *.com as bearer", 22, "public suffix"},
        {"secret X from env at * as bearer", 22, "only for deny"},
        {"secret X from env at a.org,,b.org as bearer", 22, "missing"},
        {"secret X from env at a.org as bear", 31, "did you mean \"bearer\"?"},
        {"secret X from env at a.org as header", 37, "name of the header"},
        {"secret X from env at a.org as bearer injekt", 38, "did you mean \"inject\"?"},
        {"secret X from env at a.org as bearer ttl=soon", 38, "ttl= wants"},
        {"secret X from env at a.org as bearer inject inject", 45, "only once"},
        {"secret X from env at a.org as bearer leak=reboke", 38, "did you mean \"revoke\"?"},
        {"secret X from env at a.org as bearer refresh=1m", 38, "does not change"},
        {"secret X from login claude at a.org as bearer refresh=1m", 47, "when it must be"},
        {"secret X from login cladue at a.org as bearer", 21, "did you mean \"claude\"?"},
        {"secret X from login at a.org as bearer", 21, "claude or codex"},
        {"secret X from env at a.org as header User-Agent", 38, "send this header back"},
        {"secret X from env at a.org as header Referer", 38, "send this header back"},
        {"secret X from env at a.org as header cookie", 38, "cookie NAME"},
        {"secret X from env at a.org as header \"x y\"", 38, "not a name of a header"},
        {"secret X from env at a.org as json token", 36, "begins with /"},
        {"secret X from env at a.org as json /", 36, "begins with /"},
        {"secret X from env at a.org as json /a~2", 36, "JSON pointer"},
        {"secret X from env at a.org as ws /", 34, "begins with /"},
        {"secret X from env at a.org as cookie a[b]", 38, "not a name"},
        {"secret X from env at a.org as bearer,bearer", 31, "only once"},
        {"secret X from env at a.org as header x-a,header X-A", 31, "only once"},
        {"secret X from aws dev at a.org as bearer", 35, "as sigv4"},
        {"secret X from aws at a.org as sigv4,bearer", 31, "one form alone"},
        {"secret X from env at a.org as sigv4 user=me", 37, "user is only for basic"},
        {"secret X from env at a.org as bearer service=s3", 38, "only for sigv4"},
        {"secret X from env at a.org as basic user=a:b", 37, "without a colon"},
        {"secret X from env at a.org as hmac x-s", 39, "what is signed"},
        {"secret X from env at a.org as hmac", 35, "name of the header"},
        {"secret X from env at a.org as hmac origin message={path}", 36, "send this header back"},
        {"secret X from env at a.org as hmac x-s message={paht}", 40, "{path}"},
        {"secret X from env at a.org as hmac x-s message=hello", 40, "with fields"},
        {"secret X from env at a.org as hmac x-s message={path} hash=md5", 55, "sha256"},
        {"secret X from env at a.org as hmac x-s message={path} encoding=hxe", 55, "\"hex\"?"},
        {"secret X from env at a.org as hmac x-s message={path} time-header=date", 55, "back"},
        {"secret X from env at a.org as github-app app=1", 47, "installation=NUMBER"},
        {"secret X from env at a.org as github-app app=1 installation=x", 48, "the number"},
        {"secret X from env at a.org as github-app app=1 installation=1 repos=a,,b", 63, "commas"},
        {"secret X from env at a.org as github-app app=1 installation=1 repos=me/a", 63, "owner"},
        {"secret X from env at a.org as oauth", 36, "token endpoint"},
        {"secret X from env at a.org as oauth token=http://a.org/t", 37, "token endpoint"},
        {"secret X from env at a.org as oauth token=https://a.org", 37, "token endpoint"},
        {"secret X from env at a.org as oauth token=https://u@a.org/t", 37, "token endpoint"},
        {"secret X from env at a.org as oauth token=https://127.1/t", 37, "token endpoint"},
        {"secret X from env at a.org as bearer token=https://a.org/t", 38, "only for oauth"},
        {"secret X from env at a.org as bearer app=1", 38, "only for github-app, oauth"},
        {"secret X from env at a.org as gcp,oauth token=https://a.org/t", 31, "there is one"},
        {"secret X from env at a.org as gcp,json /a", 31, "tokens are shown as"},
        {"secret X from login codex at a.org as path", 39, "a login is shown as"},
        {"secret X from env at a.org as hmac x-s message={header:}", 40, "{path}"},
        {"secret X from vault at a.org as ssh inject", 37, "nothing to inject"},
        {"secret X from vault at a.org as ssh plain", 37, "forms of HTTP"},
        {"secret X from vault at a.org as json /a inject", 41, "can be added"},
        {"secret X from env at a.org as outh", 31, "did you mean \"oauth\"?"},
        {"bind x", 6, "absolute path"},
        {"bind ~/../x", 6, "absolute path"},
        {"bind ~/x rwx", 10, "ro, rw or cow"},
        {"limit", 6, "KEY=VALUE"},
        {"limit memry=1G", 7, "did you mean \"memory\"?"},
        {"limit spend=5usd", 7, "not held yet"},
        {"limit memory=1G spend=2.50usd", 17, "not held yet"},
        {"allow\001 * a", 6, "control"},
};

static void test_bad(void)
{
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct err err = {0};
                struct rule_line l;
                size_t column = 0;
                int got = rule_line_parse(bad[i].text, strlen(bad[i].text), &l, &column, &err);
                check(got < 0 && column == bad[i].column && strstr(err.text, bad[i].words),
                      bad[i].text, "column %zu: %s", column, got < 0 ? err.text : "accepted");
                if (got > 0)
                        rule_line_free(&l);
        }
        struct err err = {0};
        struct rule_line l;
        size_t column = 0;
        CHECK("83: a NUL in quotes does not end a word",
              rule_line_parse("allow * \"a.org\0.b\"", 18, &l, &column, &err) < 0 && column == 15);
        CHECK("an empty line says nothing", rule_line_parse("  # x", 5, &l, &column, &err) == 0 &&
                                                    rule_line_parse("", 0, &l, &column, &err) == 0);
}

static uint32_t seed = 1;

static const char *pick(const char *const *list, size_t n)
{
        seed = seed * 1664525 + 1013904223;
        return list[(seed >> 8) % n];
}
#define PICK(list) pick(list, sizeof list / sizeof *list)

/* Lines put together at random from pieces that matter, always the same ones. */
static void test_property(void)
{
        static const char *const verbs[] = {"allow", "deny", "deny!", "ask", "tcp", "splice"};
        static const char *const methods[] = {"*", "GET", "HEAD,GET,POST", "PURGE,GET", ""};
        static const char *const hosts[] = {"a.org",    "*.Example.org", "*",       "[FD00::0:1]",
                                            "10.0.0.5", "*.github.io",   "x_y.lan."};
        static const char *const ports[] = {"", ":443", ":*", ":8080"};
        static const char *const paths[] = {
                "",       "/",         "/**",          "/a/*/b%2fc", "/%2a%25%c3%bc",
                "/x,y;z", "\"/it's\"", "/a%20b\"%22\""};
        static const char *const options[] = {
                "",           "rate=5/h",           "bytes=3072",      "hosts=7",
                "to=[::1]:9", "to=127.0.0.1",       "ca='/a b/c.pem'", "h:X-A=*b*",
                "q:n=''",     "json:/a~1b=\"c d\"", "form:A=B**",      "reason='say \"no\"'",
        };
        enum { TRIES = 40000 };
        size_t accepted = 0, broken = 0;
        char line[512], worst[512] = "";
        for (int i = 0; i < TRIES; i++) {
                snprintf(line, sizeof line, "%s %s %s%s%s %s %s %s", PICK(verbs), PICK(methods),
                         PICK(hosts), PICK(ports), PICK(paths), PICK(options), PICK(options),
                         PICK(options));
                struct rule_line l, again = {0};
                size_t column = 0;
                if (rule_line_parse(line, strlen(line), &l, &column, NULL) != 1)
                        continue;
                accepted++;
                _cleanup_buf_ struct buf b = {0};
                rule_line_print(&l, &b);
                if (rule_line_parse(buf_cstr(&b), b.len, &again, &column, NULL) != 1 ||
                    !rule_line_equal(&l, &again)) {
                        broken++;
                        strcpy(worst, line);
                }
                rule_line_free(&l);
                rule_line_free(&again);
        }
        check(broken == 0 && accepted > TRIES / 20, "parse(print(r)) is r for lines made at random",
              "%zu of %zu are not, such as %s", broken, accepted, worst);
}

static void test_shared(void)
{
        struct rule_line l;
        size_t column;
        struct err err = {0};
        CHECK("a wildcard over strangers is marked",
              rule_line_parse("allow * *.github.io", 19, &l, &column, &err) == 1 &&
                      l.rule.place.is_shared);
        rule_line_free(&l);
        CHECK("one over a single owner is not",
              rule_line_parse("allow * *.example.org", 21, &l, &column, &err) == 1 &&
                      !l.rule.place.is_shared);
        rule_line_free(&l);
}

int main(void)
{
        test_good();
        test_bad();
        test_property();
        test_shared();
        return check_end();
}
