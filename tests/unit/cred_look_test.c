/* cred_look_test.c - what looks like a credential, and what people and programs write besides. */
#include "policy/cred_look.h"
#include "policy/lenders.h"
#include "unit/check.h"

#include <string.h>

static void published(void)
{
        static const char *const yes[] = {
                "3da541559918a808c2402bba5012f6c60b27661c",
                "3DA541559918A808C2402BBA5012F6C60B27661C",
                "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
                "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                "sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                "h1:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
                "z4PhNX7vuL3xVChQ1m2AB9Yg5AULVxXcg/SpIdNs6c5H0NE8XYXysP+DGNKHfuwvY7kxvUdBeoGlODJ6+SfaPg==",
                "OLBgp1GsljhM2TJ+sbHjaiH9txEUvgdDTAzHv2P24donTt6/529l+9Ua0vFImLlb",
                "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
                "293847561029384756102938475610",
                "dQw4w9WgXcQ",
        };
        static const char *const no[] = {
                "lent-x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8ZaB1",
                "ghp_x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8",
                "x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8ZaB1x9K",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        };
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
                check(cred_look_is_published(yes[i], strlen(yes[i])), yes[i], "others may have it");
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(!cred_look_is_published(no[i], strlen(no[i])), no[i], "nobody else has it");
}

static void looks(void)
{
        static const char *const sure[] = {
                "ghp_x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8",
                "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
                "-----BEGIN EC PRIVATE KEY-----\nMHcCAQ",
                "https://hooks.slack.com/services/T000/B000/XXXXXXXX",
                "https://me:s3cret@example.test/x.git",
                "the key is ghp_x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8.",
        };
        static const char *const maybe[] = {
                "3da541559918a808c2402bba5012f6c60b27661c",
                "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                "8M7wS6hCpXVc-DoRnPPY_UCWPgy8aea4Wy6kCe5T",
                "JBSWY3DPEHPK3PXPJBSWY3DP",
                "Token token=x9Kd02mfLs93jfQ8ZaB1",
                "qwhzkdmvbtxpslcjrfgnyaeoqwhzkd",
                "293847561029384756102938475610",
                "aQ9/b+C9dEf7Gh1iJ3/kL5mN7w=",
                "https://x.blob.example.test/c?sv=2020&sig=x9Kd02mfLs93jfQ8ZaB1",
                "see https://x.example.test/x9Kd02mfLs93jfQ8ZaB1",
        };
        static const char *const no[] = {
                "",
                "hunter2",
                "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
                "2026-11-17T21:38:00.123456789Z",
                "arn:aws:sts::123456789012:assumed-role/demo/TestAR",
                "urn:ietf:params:oauth:token-type:access_token",
                "https://www.googleapis.com/auth/cloud-platform",
                "https://sts.amazonaws.com/doc/2011-06-15/",
                "claude-sonnet-4-5-20250929",
                "ServiceAccountTokenCreator",
                "organization.project.service_account.api_key",
                "AADSTS70016: Trace ID: 3f2504e0-4f89-41d3-9a0c-0305e82c3301 Timestamp: 2026-11-17 21:38:00Z",
                "someone.with.a.long.name@example.co.uk",
                "user:read write:packages admin:org",
                "%7B%22Version%22%3A%222012-10-17%22%2C%22Statement%22%3A%5B%5D%7D",
                "ip-10-0-12-34.eu-west-1.compute.internal",
                "invalid_grant: the authorization code has expired",
                "1234567890123456789",
                "https://lh3.googleusercontent.com/a/ACg8ocKx9Kd02mfLs93jfQ8ZaB1x9Kd02mf=s96-c",
                "https://secure.gravatar.com/avatar/3da541559918a808c2402bba5012f6c6?s=80&d=blank",
        };
        for (size_t i = 0; i < sizeof sure / sizeof *sure; i++)
                check(cred_look(sure[i], strlen(sure[i])) == CRED_SURE, sure[i], "is a credential");
        for (size_t i = 0; i < sizeof maybe / sizeof *maybe; i++)
                check(cred_look(maybe[i], strlen(maybe[i])) == CRED_MAYBE, maybe[i],
                      "looks like one: %d", cred_look(maybe[i], strlen(maybe[i])));
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(cred_look(no[i], strlen(no[i])) == CRED_NO, no[i], "is none: %d",
                      cred_look(no[i], strlen(no[i])));
}

static void made(void)
{
        static const char *const yes[] = {
                "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
                "aB3dE5gH",
                "3da54155",
                "x9Kd02mfLs93jfQ8ZaB1",
                "AccountEndpoint=https://x.test/;AccountKey=x9Kd02mfLs93jfQ8ZaB1;",
        };
        static const char *const no[] = {
                "aB3dE5g",     "function",   "constructor",
                "base64url",   "sha256sum",  "This field is required.",
                "user_secret", "2026-11-17", "permission denied",
                "12345678",
        };
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
                check(cred_look_is_made(yes[i], strlen(yes[i])), yes[i], "was made");
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(!cred_look_is_made(no[i], strlen(no[i])), no[i], "was written");
        static const char policy[] = "%7B%22Id%22%3A%22x9Kd02mfLs93jfQ8ZaB1%22%7D";
        CHECK("a document that was percent-encoded is no word",
              !cred_look_is_word(policy, sizeof policy - 1));
}

static bool is_named(const char *name, size_t n)
{
        return lenders_field(name, n) != NULL;
}

static void addresses(void)
{
        static const char *const yes[] = {
                "https://a.test/cb#access_token=abcdefgh",
                "/cb?x=1&id_token=abcdefgh",
                "/cb?to=%2Fx%3Ftoken%3Dabcdefgh",
                "app:/x#a=1;refresh_token=abcdefgh",
                "/cb?q=ghp_x9Kd02mfLs93jfQ8ZaB1x9Kd02mfLs93jfQ8",
        };
        static const char *const no[] = {
                "https://a.test/cb?code=abcdefghijkl&state=x9Kd02mfLs93jfQ8ZaB1",
                "/access_token/abcdefgh",
                "/x?token=short",
                "/x?next_token=abcdefghi",
                "token=abcdefghij",
        };
        for (size_t i = 0; i < sizeof yes / sizeof *yes; i++)
                check(cred_look_params(yes[i], strlen(yes[i]), is_named), yes[i], "carries one");
        for (size_t i = 0; i < sizeof no / sizeof *no; i++)
                check(!cred_look_params(no[i], strlen(no[i]), is_named), no[i], "carries none");
}

int main(void)
{
        looks();
        published();
        made();
        addresses();
        return check_end();
}
