/* cred_list.c - see cred_list.h. Called by the profile parser and by whoever copies a directory. */
#include "policy/cred_list.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

static const struct {
        const char *pattern; /* of one component */
        const char *why;
} names[] = {
        {".ssh", "keys for other machines"},
        {".gnupg", "private keys"},
        {".aws", "cloud keys"},
        {".azure", "cloud keys"},
        {"gcloud", "cloud keys"},
        {".kube", "cluster credentials"},
        {".docker", "registry logins"},
        {".password-store", "passwords"},
        {"keyrings", "the desktop's keyring"},
        {"kwalletd", "the desktop's keyring"},
        {".mozilla", "browser logins"},
        {"google-chrome", "browser logins"},
        {"chromium", "browser logins"},
        {".netrc", "passwords by host"},
        {"_netrc", "passwords by host"},
        {".git-credentials", "passwords of git"},
        {".npmrc", "registry tokens"},
        {".yarnrc.yml", "registry tokens"},
        {".pypirc", "registry tokens"},
        {".pgpass", "database passwords"},
        {".my.cnf", "database passwords"},
        {".vault-token", "a vault token"},
        {"*credential*", "credentials"},
        {"auth.json", "an agent's login"},
        {"oauth*", "an agent's login"},
        {"google_accounts.json", "an agent's login"},
        {"hosts.yml", "the login of gh"},
        {"apps.json", "the login of copilot"},
        {"*_token", "a token"},
        {"*.token", "a token"},
        {"token", "a token"},
        {"token.json", "a token"},
        {"tokens.json", "tokens"},
        {"*secret*", "secrets"},
        {".env", "variables that often are secrets"},
        {".env.*", "variables that often are secrets"},
        {"id_rsa*", "a private key"},
        {"id_ecdsa*", "a private key"},
        {"id_ed25519*", "a private key"},
        {"*.pem", "a certificate or private key"},
        {"*.key", "a private key"},
        {"*.p12", "a private key"},
        {"*.pfx", "a private key"},
        {"*.kdbx", "a password safe"},
};

const char *cred_list_why(const char *path)
{
        while (*path) {
                size_t n = strcspn(path, "/");
                char part[256];
                if (n > 0 && n < sizeof part) {
                        memcpy(part, path, n);
                        part[n] = 0;
                        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
                                if (fnmatch(names[i].pattern, part, FNM_CASEFOLD) == 0)
                                        return names[i].why;
                }
                path += n + (path[n] == '/');
        }
        return NULL;
}

bool cred_list_is_secret_key(const char *key)
{
        static const char *const keys[] = {
                "*api?key*",    "*apikey*",      "*token",        "*secret*",
                "*passw*",      "*credential*",  "*cookie*",      "*private?key*",
                "*privatekey*", "authorization", "*auth?header*", "*access?key*",
        };
        for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
                if (fnmatch(keys[i], key, FNM_CASEFOLD) == 0)
                        return true;
        return false;
}
