/* secret_forms_test.c - every writing of a text is what programs make of it, at each alignment, and
 * SipHash gives the numbers of its inventors. */
#include "unit/check.h"

#include "base/buf.h"
#include "policy/secret_forms.h"

#include <stdlib.h>
#include <string.h>

static void writes(enum secret_coding coding, const char *text, const char *want)
{
        _cleanup_buf_ struct buf b = {0};
        char name[64];
        snprintf(name, sizeof name, "coding %d of \"%s\"", (int)coding, text);
        bool is_put = secret_form_put(coding, text, strlen(text), &b);
        check_str(name, is_put ? buf_cstr(&b) : NULL, want);
        if (!is_put)
                CHECK("what has no writing appends nothing", b.len == 0);
}

static void codings(void)
{
        writes(SECRET_RAW, "sk-test-1234", "sk-test-1234");
        writes(SECRET_RAW, "short", NULL);
        /* printf sk-test-1234 | base64: c2stdGVzdC0xMjM0 */
        writes(SECRET_BASE64_0, "sk-test-1234", "c2stdGVzdC0xMjM0");
        /* ":sk-test-1234": OnNrLXRlc3QtMTIzNA== */
        writes(SECRET_BASE64_1, "sk-test-1234", "NrLXRlc3QtMTIzN");
        /* "a:sk-test-1234": YTpzay10ZXN0LTEyMzQ= */
        writes(SECRET_BASE64_2, "sk-test-1234", "zay10ZXN0LTEyMz");
        writes(SECRET_BASE64URL_0, "sk-test-1234", NULL);
        writes(SECRET_BASE64_0, "?>?>?>?>", "Pz4/Pj8+Pz");
        writes(SECRET_BASE64URL_0, "?>?>?>?>", "Pz4_Pj8-Pz");
        writes(SECRET_HEX, "sk-test~", "736b2d746573747e");
        /* printf sk-test-1234 | base32: ONVS25DFON2C2MJSGM2A==== */
        writes(SECRET_BASE32_0, "sk-test-1234", "onvs25dfon2c2mjsgm2");
        writes(SECRET_PERCENT, "a/b+c=d e", "a%2Fb%2Bc%3Dd%20e");
        writes(SECRET_PERCENT, "sk-test_1.2~3", NULL);
        writes(SECRET_JSON, "a/b\"c\\defg", "a\\/b\\\"c\\\\defg");
        writes(SECRET_JSON, "sk-test-1234", NULL);
        writes(SECRET_HTML, "a&b<c>d\"e'f", "a&amp;b&lt;c&gt;d&quot;e&#39;f");
        writes(SECRET_HTML, "sk-test-1234", NULL);
        CHECK("letters of hexadecimal, base32 and percent may be large or small",
              secret_form_ignores_case(SECRET_HEX) && secret_form_ignores_case(SECRET_BASE32_0) &&
                      secret_form_ignores_case(SECRET_PERCENT) &&
                      secret_form_ignores_case(SECRET_RAW) &&
                      !secret_form_ignores_case(SECRET_BASE64_1));
}

/* Whatever stands before and after a text: its writing is found in the writing of the whole. */
static void aligned(void)
{
        static const char secret[] = "fake-SECRET/0123+?value";
        bool is_found = true;
        for (size_t before = 0; before < 9; before++)
                for (size_t after = 0; after < 9; after++) {
                        char whole[64] = "";
                        memset(whole, 'u', before);
                        strcpy(whole + before, secret);
                        memset(whole + strlen(whole), 'z', after);
                        _cleanup_buf_ struct buf all = {0}, part = {0};
                        /* alignment 0 cuts the last letters only, which are not the secret's */
                        strcat(whole, "...");
                        secret_form_put(SECRET_BASE64_0, whole, strlen(whole), &all);
                        secret_form_put((enum secret_coding)(SECRET_BASE64_0 + before % 3), secret,
                                        strlen(secret), &part);
                        is_found &= part.len > 28 && strstr(buf_cstr(&all), buf_cstr(&part));
                }
        CHECK("base64 is found behind and before any number of bytes", is_found);
}

static void replaced(void)
{
        _cleanup_buf_ struct buf b = {0};
        secret_form_replace(SECRET_RAW, "abcdefgh", 8, 8, &b);
        check_str("a stand-in of the same length", buf_cstr(&b), "abcdefgh");
        b.len = 0;
        secret_form_replace(SECRET_RAW, "abcdefgh", 8, 5, &b);
        check_str("a longer one is cut", buf_cstr(&b), "abcde");
        b.len = 0;
        secret_form_replace(SECRET_HEX, "ab", 2, 7, &b);
        check_str("a shorter one is filled", buf_cstr(&b), "6162xxx");
        b.len = 0;
        secret_form_replace(SECRET_BASE64URL_1, "sk-test-1234", 12, 15, &b);
        check_str("a coding that is not its own is written all the same", buf_cstr(&b),
                  "NrLXRlc3QtMTIzN");
}

static void siphash(void)
{
        uint8_t key[16], in[64];
        for (uint8_t i = 0; i < 16; i++)
                key[i] = i;
        for (uint8_t i = 0; i < 64; i++)
                in[i] = i;
        CHECK("SipHash of nothing", secret_siphash(key, in, 0, false) == 0x726fdb47dd0e0e31u);
        CHECK("SipHash of one byte", secret_siphash(key, in, 1, false) == 0x74f839c593dc67fdu);
        CHECK("SipHash of 15 bytes", secret_siphash(key, in, 15, false) == 0xa129ca6149be45e5u);
        CHECK("letters made small",
              secret_siphash(key, "ABCXYZ@[`{09 Longer THAN eight", 30, true) ==
                      secret_siphash(key, "abcxyz@[`{09 longer than eight", 30, false));
        CHECK("letters as they are",
              secret_siphash(key, "ABC", 3, false) != secret_siphash(key, "abc", 3, false));
        bool is_same = true;
        for (int c = 0; c < 256; c++) {
                uint8_t one[8] = {(uint8_t)c}, small[8] = {(uint8_t)c};
                if (c >= 'A' && c <= 'Z')
                        small[0] = (uint8_t)(c + 32);
                memset(one + 1, 0xff, 7);
                memset(small + 1, 0xff, 7);
                is_same &=
                        secret_siphash(key, one, 8, true) == secret_siphash(key, small, 8, false);
        }
        CHECK("only A to Z are made small", is_same);
}

int main(void)
{
        codings();
        aligned();
        replaced();
        siphash();
        return check_end();
}
