/* secret_line_fuzz.c - any end of a secret line and any short form of one: what is read is printed,
 * and what is printed is read as the same; what is refused has a sentence. */
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/cred_slots.h"
#include "policy/rule.h"
#include "policy/secret_spec.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void one_line(const char *text, size_t n)
{
        struct err err = {0};
        struct rule_line line, again;
        size_t column = 0;
        int got = rule_line_parse(text, n, &line, &column, &err);
        if (got < 0 && (!err.text[0] || column == 0 || column > n + 1))
                abort();
        if (got != 1)
                return;
        if (line.kind != RULE_LINE_SECRET || !line.secret->forms_n || !line.secret->places_n)
                abort();
        for (size_t i = 0; i < line.secret->forms_n; i++)
                if (line.secret->forms[i].form == RULE_AS_HEADER &&
                    cred_slots_is_reflective(line.secret->forms[i].name))
                        abort();
        struct buf a = {0}, b = {0};
        rule_line_print(&line, &a);
        if (rule_line_parse(buf_cstr(&a), a.len, &again, &column, &err) != 1 ||
            !rule_line_equal(&line, &again))
                abort();
        rule_line_print(&again, &b);
        if (a.len != b.len || memcmp(a.data, b.data, a.len) != 0)
                abort();
        char *spec = secret_spec_line(buf_cstr(&a) + strlen("secret "), &err);
        if (!spec || strcmp(spec, buf_cstr(&a)) != 0)
                abort();
        free(spec);
        buf_free(&a);
        buf_free(&b);
        rule_line_free(&line);
        rule_line_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const heads[] = {"secret X from env at a.org as ",
                                            "secret X from vault at a.org as ",
                                            "secret X from login claude at a.b ",
                                            "secret X from aws at a.org,b.org:1/x as sigv4 ",
                                            "secret X from ",
                                            "secret "};
        if (size == 0 || memchr(data, '\n', size))
                return 0;
        struct buf b = {0};
        buf_put_str(&b, heads[data[0] % 6]);
        buf_put(&b, data + 1, size - 1);
        one_line((const char *)b.data, b.len);
        buf_free(&b);

        struct err err = {0};
        char *text = malloc(size + 1);
        memcpy(text, data, size);
        text[size] = 0;
        char *line = secret_spec_line(text, &err);
        if (line)
                one_line(line, strlen(line));
        else if (!err.text[0])
                abort();
        free(line);
        free(text);
        return 0;
}
