/* json_test.c - whatever goes in, jansson reads it back. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/json.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void shapes(void)
{
        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_open(&j, NULL, '{');
        json_str(&j, "s", "a\"b\\c\n\x1b");
        json_str(&j, "n", NULL);
        json_u64(&j, "u", UINT64_MAX);
        json_i64(&j, "i", INT64_MIN);
        json_bool(&j, "t", true);
        json_open(&j, "list", '[');
        json_close(&j, ']');
        json_open(&j, "more", '[');
        json_u64(&j, NULL, 1);
        json_open(&j, NULL, '{');
        json_close(&j, '}');
        json_close(&j, ']');
        json_close(&j, '}');
        CHECK("shape", !strcmp(buf_cstr(&b), "{\"s\":\"a\\\"b\\\\c\\u000a\\u001b\",\"n\":null,"
                                             "\"u\":18446744073709551615,"
                                             "\"i\":-9223372036854775808,\"t\":true,\"list\":[],"
                                             "\"more\":[1,{}]}"));
}

static void strings(void)
{
        bool is_read = true, is_clean = true;
        srand(1);
        for (int round = 0; round < 20000; round++) {
                char in[24];
                size_t n = (size_t)(rand() % 23);
                for (size_t i = 0; i < n; i++)
                        in[i] = (char)(rand() % 3 ? 0x80 + rand() % 128 : 1 + rand() % 255);
                in[n] = 0;
                _cleanup_buf_ struct buf b = {0};
                struct json j = json_of(&b);
                json_open(&j, NULL, '[');
                json_str(&j, NULL, in);
                json_close(&j, ']');
                json_t *t = json_loads(buf_cstr(&b), 0, NULL);
                is_read &= t != NULL;
                json_decref(t);
                for (size_t i = 0; i < b.len; i++)
                        is_clean &= b.data[i] >= 0x20 && b.data[i] != 0x7f;
        }
        CHECK("random bytes are valid JSON", is_read);
        CHECK("no control byte comes out", is_clean);

        _cleanup_buf_ struct buf b = {0};
        struct json j = json_of(&b);
        json_str(&j, NULL, "\xc2\x9b\xe2\x80\xae\xc3\xbc");
        CHECK("case 80: C1 and bidirectional controls are escaped",
              !strcmp(buf_cstr(&b), "\"\\u009b\\u202e\xc3\xbc\""));
}

int main(void)
{
        shapes();
        strings();
        return check_end();
}
