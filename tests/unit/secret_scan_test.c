/* secret_scan_test.c - which files of a workspace are looked at, and what in them counts as a
 * secret; then that a masked copy has the length of the original and none of its secrets. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/secret_mask_int.h"
#include "session/secret_scan.h"
#include "unit/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static const struct {
        const char *path;
        enum secret_scan_kind kind;
} files[] = {
        {".env", SECRET_SCAN_TEXT},
        {"services/a/.env.production", SECRET_SCAN_TEXT},
        {".env.example", SECRET_SCAN_NOT},
        {"prod.env", SECRET_SCAN_TEXT},
        {"terraform.tfstate", SECRET_SCAN_TEXT},
        {"x/y.tfvars", SECRET_SCAN_TEXT},
        {".mcp.json", SECRET_SCAN_TEXT},
        {"mcp-servers.json", SECRET_SCAN_TEXT},
        {".claude/settings.local.json", SECRET_SCAN_TEXT},
        {"settings.local.json", SECRET_SCAN_NOT},
        {"a/.git/config", SECRET_SCAN_TEXT},
        {"docker-compose.dev.yml", SECRET_SCAN_SHAPES},
        {"server.pem", SECRET_SCAN_KEY},
        {"id_ed25519", SECRET_SCAN_KEY},
        {"id_ed25519.pub", SECRET_SCAN_NOT},
        {"package.json", SECRET_SCAN_NOT},
        {"main.c", SECRET_SCAN_NOT},
        {"config/secrets.yaml", SECRET_SCAN_TEXT},
        {"Credentials.json", SECRET_SCAN_TEXT},
        {"src/secrets.py", SECRET_SCAN_NOT},
        {"docs/secrets.md", SECRET_SCAN_NOT},
        {"out/secrets.d", SECRET_SCAN_NOT},
        {".netrc", SECRET_SCAN_NETRC},
};

/* A text, and what in it is a secret: the whole of each span, with "|" between. */
static const struct {
        const char *name;
        enum secret_scan_kind kind;
        const char *text, *found;
} texts[] = {
        {"a variable", SECRET_SCAN_TEXT, "MY_TOKEN=abcd1234efgh\nPORT=3000\n", "abcd1234efgh"},
        {"with export and quotes", SECRET_SCAN_TEXT,
         "export DB_PASSWORD=\"hunter22 and more\" # x\n", "hunter22 and more"},
        {"a comment behind it", SECRET_SCAN_TEXT, "API_KEY=abcd1234 # mine\n", "abcd1234"},
        {"no reference", SECRET_SCAN_TEXT, "API_KEY=$OTHER_KEY_HERE\nB_TOKEN=${X_LONG_NAME}\n", ""},
        {"no blank to fill in", SECRET_SCAN_TEXT, "API_KEY=<your key here>\nB_TOKEN=changeme123\n",
         ""},
        {"no path", SECRET_SCAN_TEXT, "APP_CREDENTIALS=/etc/app/key.json\n", ""},
        {"no other variable", SECRET_SCAN_TEXT, "NODE_ENV=production-like\n", ""},
        {"JSON", SECRET_SCAN_TEXT, "{\"env\": {\"X_API_KEY\": \"abcd1234\", \"Y\": \"z\"}}",
         "abcd1234"},
        {"a scheme stays", SECRET_SCAN_TEXT, "{\"Authorization\": \"Bearer abcd1234efgh\"}",
         "abcd1234efgh"},
        {"YAML", SECRET_SCAN_TEXT, "  db_password: abcd1234\n  other: x\n", "abcd1234"},
        {"npm", SECRET_SCAN_TEXT, "//r.example.org/:_authToken=abcd1234efgh\n", "abcd1234efgh"},
        {"a password in a URL", SECRET_SCAN_TEXT,
         "url = https://me:secret99@git.example.org/x.git\n", "secret99"},
        {"a token as a URL's user", SECRET_SCAN_TEXT,
         "url = https://abcdefghijklmnopqrst@git.example.org/x.git\n", "abcdefghijklmnopqrst"},
        {"a user's name alone is none", SECRET_SCAN_TEXT,
         "url = https://me@git.example.org/x.git\n", ""},
        {"no URL without a user", SECRET_SCAN_TEXT, "url = https://git.example.org/x@y\n", ""},
        {"a known shape anywhere", SECRET_SCAN_SHAPES,
         "words ghp_0123456789abcdefghijABCDEFGHIJ012345 words\n",
         "ghp_0123456789abcdefghijABCDEFGHIJ012345"},
        {"only shapes in such files", SECRET_SCAN_SHAPES, "POSTGRES_PASSWORD: abcd1234\n", ""},
        {"a private key's body", SECRET_SCAN_TEXT,
         "\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIB\\n-----END PRIVATE KEY-----\\n\"",
         "\\nMIIB\\n"},
        {"netrc", SECRET_SCAN_NETRC, "machine a login b password abc\n", "abc"},
        {"an unfinished key", SECRET_SCAN_TEXT, "-----BEGIN PRIVATE KEY-----\nMIIB\n", ""},
        {"an unfinished quote", SECRET_SCAN_TEXT, "A_TOKEN=\"abcd1234", "abcd1234"},
        {"named by a grant", SECRET_SCAN_TEXT, "ODD_NAME=abcd1234\n", "abcd1234"},
};

static void check_texts(void)
{
        _cleanup_strs_ struct strs names = {0};
        strs_add(&names, "ODD_NAME");
        for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
                _cleanup_spans_ struct secret_spans spans = {0};
                _cleanup_buf_ struct buf b = {0};
                const char *t = texts[i].text;
                secret_scan_text(texts[i].kind, t, strlen(t), &names, &spans);
                for (size_t k = 0; k < spans.n; k++) {
                        if (k)
                                buf_put_u8(&b, '|');
                        buf_put(&b, t + spans.v[k].at, spans.v[k].len);
                }
                check_str(texts[i].name, buf_cstr(&b), texts[i].found);
        }
}

static void check_copies(void)
{
        static const char text[] = "A_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345\n"
                                   "PASSWORD='abcd-EFGH-1234'\nDSN=x://u:fakefake@h/\n"
                                   "PEM=\"-----BEGIN RSA PRIVATE KEY-----\\nMIIBxyz\\n-----END RSA "
                                   "PRIVATE KEY-----\"\n";
        _cleanup_copy_ struct secret_mask_copy c = {0};
        secret_mask_copy_make(SECRET_SCAN_TEXT, text, strlen(text), NULL, &c);
        const char *got = buf_cstr(&c.text);
        CHECK("all four are hidden", c.count == 4);
        CHECK("a copy is as long as its original", c.text.len == strlen(text));
        CHECK("the token is gone", !strstr(got, "0123456789abcdefghij"));
        CHECK("its prefix is there", strstr(got, "A_TOKEN=ghp_") != NULL);
        CHECK("the password is gone and its dashes are there",
              !strstr(got, "EFGH") && strstr(got, "PASSWORD='")[14] == '-');
        CHECK("the body of the key is gone and its lines are there",
              !strstr(got, "MIIBxyz") && strstr(got, "KEY-----\\n"));
        CHECK("the rest is as it was", strstr(got, "DSN=x://u:") && strstr(got, "@h/\n"));
}

static void put(int dir, const char *path)
{
        int fd = openat(dir, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        if (fd >= 0)
                close(fd);
}

static void check_walk(void)
{
        char name[] = "/tmp/secret_scan.XXXXXX";
        if (!CHECK("a directory to walk", mkdtemp(name) != NULL))
                return;
        _cleanup_close_ int dir = open(name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        static const char *const dirs[] = {"a", "a/b", "node_modules", ".git", ".git/objects"};
        static const char *const plain[] = {".env",        "a/b/x.tfvars",      "node_modules/.env",
                                            ".git/config", ".git/objects/.env", "main.c"};
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++)
                mkdirat(dir, dirs[i], 0700);
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
                put(dir, plain[i]);
        (void)!symlinkat("/etc/hostname", dir, ".env.link");
        _cleanup_strs_ struct strs got = {0};
        secret_scan_walk(dir, &got);
        CHECK("the top is looked at", strs_has(&got, ".env"));
        CHECK("and what lies deeper", strs_has(&got, "a/b/x.tfvars"));
        CHECK("and git's settings", strs_has(&got, ".git/config"));
        CHECK("nothing else", got.n == 3);
        for (size_t i = sizeof plain / sizeof *plain; i-- > 0;)
                unlinkat(dir, plain[i], 0);
        unlinkat(dir, ".env.link", 0);
        for (size_t i = sizeof dirs / sizeof *dirs; i-- > 0;)
                unlinkat(dir, dirs[i], AT_REMOVEDIR);
        rmdir(name);
}

int main(void)
{
        for (size_t i = 0; i < sizeof files / sizeof *files; i++)
                check(secret_scan_kind(files[i].path) == files[i].kind, files[i].path, "kind %d",
                      (int)secret_scan_kind(files[i].path));
        check_texts();
        check_copies();
        check_walk();
        return check_end();
}
