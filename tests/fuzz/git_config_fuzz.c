/* git_config_fuzz.c - any bytes as a git configuration and as attributes: what is read has keys
 * that git could have, a text is plain exactly when all its keys are, and a text beside itself is
 * no change. */
#include "policy/file_class.h"
#include "policy/git_config.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        struct file_class_verdict v;
        struct git_config c;
        size_t half = size / 2;
        const char *text = (const char *)data;
        int r = git_config_parse(text, size, &c);
        bool is_plain = r == 0;
        for (size_t i = 0; i < c.n; i++) {
                const char *dot = strrchr(c.v[i].key, '.');
                const char *name = dot ? dot + 1 : c.v[i].key;
                if (strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != strlen(name))
                        abort();
                is_plain = is_plain && git_config_is_plain(&c.v[i]);
        }
        git_config_free(&c);
        file_class_git_config(NULL, 0, text, size, &v);
        if ((v.class == FILE_PLAIN) != is_plain || (v.class == FILE_PLAIN) != (v.why[0] == '\0'))
                abort();
        file_class_git_config(text, size, text, size, &v);
        if (r == 0 && v.class != FILE_PLAIN)
                abort();
        file_class_git_config(text, half, text + half, size - half, &v);

        file_class_attributes(text, size, text, size, &v);
        if (v.class != FILE_PLAIN)
                abort();
        file_class_attributes(text, half, text + half, size - half, &v);
        if (strlen(v.why) >= sizeof v.why)
                abort();
        return 0;
}
