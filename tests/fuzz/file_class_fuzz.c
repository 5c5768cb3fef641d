/* file_class_fuzz.c - any bytes as a path, and as a user's rows: folding stays within its room, and
 * whatever is put before a dangerous path, into its names or around them, does not make it plain
 * (cases 65, 75). */
#include "base/err.h"
#include "policy/file_class.h"
#include "policy/file_class_fold.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const char *const hot[] = {".git/hooks/pre-commit", ".git/config", ".envrc",
                                          "package.json", ".claude/settings.json"};
        struct file_class_verdict v;
        char *path = malloc(size + 64), *folded = malloc(size + 1);
        if (!path || !folded)
                abort();
        memcpy(path, data, size);
        path[size] = '\0';
        file_class_of(NULL, path, &v);
        if (v.class >= FILE_CLASS_COUNT || (v.class == FILE_PLAIN) != (v.why[0] == '\0') ||
            (v.is_odd && v.class == FILE_PLAIN))
                abort();
        file_class_in_git(path, &v);
        file_fold(path, strlen(path), folded);
        if (strlen(folded) > strlen(path))
                abort();

        struct file_classes *t = file_classes_new();
        struct err err = {0};
        if (file_classes_add_text(t, path, "rows", &err) < 0 && !err.text[0])
                abort();
        file_class_of(t, path, &v);
        /* Within git directories no row of the user's takes anything back. */
        file_class_of(t, ".git/hooks/pre-commit", &v);
        if (v.class == FILE_PLAIN)
                abort();
        file_classes_free(t);

        /* Below .git/refs a name is a branch, whatever it is called. */
        size_t n = strlen(path), hot_n = strcasestr(folded, "git") ? 2 : sizeof hot / sizeof hot[0];
        for (size_t i = 0; i < hot_n; i++) {
                snprintf(path + n, 64, "/%s", hot[i]);
                file_class_of(NULL, path, &v);
                if (v.class == FILE_PLAIN)
                        abort();
        }
        free(path);
        free(folded);
        return 0;
}
