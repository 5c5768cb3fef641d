/* known_hosts_test.c - which lines of known_hosts speak of a place: as ssh reads them. */
#include "unit/check.h"

#include "base/err.h"
#include "base/str.h"
#include "session/known_hosts.h"

#include <stdlib.h>

#define KEY   "AAAAC3NzaC1lZDI1NTE5AAAAIBE1Mjc5Y2FmZWJhYmVkZWFkYmVlZjAwMTEyMjMz"
#define OTHER "AAAAC3NzaC1lZDI1NTE5AAAAIGZlZWRmYWNlY2FmZWJlZWZkZWFkYmVlZjExMjIz"

static size_t find(const char *text, const char *where, struct known_hosts *h)
{
        struct rule_place p = {0};
        struct err err = {0};
        if (rule_place_parse(where, strlen(where), true, &p, &err) < 0) {
                printf("# %s\n", err.text);
                return 99;
        }
        known_hosts_find(h, text, strlen(text), &p);
        known_hosts_settle(h);
        rule_place_free(&p);
        return h->n;
}

static void expect(const char *text, const char *where, size_t n)
{
        _cleanup_known_hosts_ struct known_hosts h = {0};
        size_t got = find(text, where, &h);
        check(got == n, where, "got %zu keys, wanted %zu, of: %s", got, n, text);
}

int main(void)
{
        expect("git.example.org ssh-ed25519 " KEY "\n", "git.example.org", 1);
        expect("Git.Example.ORG ssh-ed25519 " KEY " comment here", "git.example.org", 1);
        expect("a.example.org,git.example.org,192.0.2.1 ssh-ed25519 " KEY "\n", "git.example.org",
               1);
        expect("xgit.example.org ssh-ed25519 " KEY "\n", "git.example.org", 0);
        expect("git.example.org.evil.net ssh-ed25519 " KEY "\n", "git.example.org", 0);
        expect("# git.example.org ssh-ed25519 " KEY "\n", "git.example.org", 0);
        expect("*.example.org ssh-ed25519 " KEY "\n", "git.example.org", 1);
        expect("*.example.org,!git.example.org ssh-ed25519 " KEY "\n", "git.example.org", 0);
        expect("g?t.example.org ssh-ed25519 " KEY "\n", "git.example.org", 1);
        expect("[git.example.org]:2222 ssh-ed25519 " KEY "\n", "git.example.org", 0);
        expect("[git.example.org]:2222 ssh-ed25519 " KEY "\n", "git.example.org:2222", 1);
        expect("git.example.org ssh-ed25519 " KEY "\n", "git.example.org:2222", 0);
        expect("[git.example.org]:2222,git.example.org ssh-ed25519 " KEY "\n", "git.example.org:*",
               2);
        expect("a.example.org ssh-ed25519 " KEY "\nb.example.org ssh-ed25519 " OTHER
               "\nexample.org ssh-ed25519 " KEY "\n",
               "*.example.org", 2);
        expect("git.example.org ssh-ed25519 " KEY "\ngit.example.org ssh-ed25519 " KEY "\n",
               "git.example.org", 1);
        expect("git.example.org ssh-ed25519 " KEY "\ngit.example.org ssh-ed25519 " OTHER "\n",
               "git.example.org", 2);
        expect("git.example.org ssh-ed25519 " KEY "\n@revoked * ssh-ed25519 " KEY "\n",
               "git.example.org", 0);
        expect("@cert-authority *.example.org ssh-ed25519 " KEY "\n", "git.example.org", 0);
        expect("git.example.org ssh-dss " KEY "\n", "git.example.org", 0);
        expect("git.example.org ssh-ed25519 not*base64\n", "git.example.org", 0);
        expect("git.example.org ssh-ed25519\n", "git.example.org", 0);
        expect("git.example.org\tssh-ed25519\t" KEY "\r\n", "git.example.org", 1);
        expect("192.0.2.7 ssh-ed25519 " KEY "\n", "192.0.2.7", 1);
        expect("2001:db8::1 ssh-ed25519 " KEY "\n", "[2001:db8::1]", 1);
        /* ssh-keygen -H of the first line and of one with a port. */
        expect("|1|aBcDeFgHiJkLmNoPqRsTuVwXyZA=|AAAAAAAAAAAAAAAAAAAAAAAAAAA= ssh-ed25519 " KEY "\n",
               "git.example.org", 0);
        expect("|1|HASHED1| ssh-ed25519 " KEY "\n", "git.example.org", 0);
        expect("|1|gv0SKIoFKZS7JxRwfs+ggzrz9jg=|Wl3O1gMLKIbkSB4REMaWtsRQ6Ss= ssh-ed25519 " KEY "\n",
               "git.example.org", 1);
        expect("|1|gv0SKIoFKZS7JxRwfs+ggzrz9jg=|Wl3O1gMLKIbkSB4REMaWtsRQ6Ss= ssh-ed25519 " KEY "\n",
               "gitx.example.org", 0);
        return check_end();
}
