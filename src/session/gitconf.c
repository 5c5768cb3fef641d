/* gitconf.c - see gitconf.h. Called when a home is seeded and when git directories are looked for.
 * Pure: text in, value out. */
#include "session/gitconf.h"

#include "base/str.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { VALUE_MAX = 4096 };

/* The value after "=": quotes, escapes and comments as git reads them. Ends at the end of the line;
 * returns where reading goes on. */
static const char *read_value(const char *p, char out[VALUE_MAX])
{
        size_t n = 0, end = 0; /* end: behind the last byte that is not a trailing blank */
        bool is_quoted = false;
        p += strspn(p, " \t");
        for (; *p && *p != '\n'; p++) {
                char c = *p;
                if (c == '"') {
                        is_quoted = !is_quoted;
                        continue;
                }
                if (!is_quoted && (c == '#' || c == ';'))
                        break;
                if (c == '\\' && p[1]) {
                        p++;
                        if (*p == '\n')
                                continue;
                        c = *p == 'n' ? '\n' : *p == 't' ? '\t' : *p;
                }
                if (n < VALUE_MAX - 1)
                        out[n++] = c;
                if (is_quoted || !strchr(" \t\r", c))
                        end = n;
        }
        out[end] = 0;
        return p + strcspn(p, "\n");
}

char *gitconf_get(const char *text, const char *section, const char *key)
{
        char now[64] = "", value[VALUE_MAX];
        char *found = NULL;
        for (const char *p = text; *p;) {
                p += strspn(p, " \t\r\n");
                if (*p == '[') {
                        size_t n = strcspn(++p, "]\n");
                        snprintf(now, sizeof now, "%.*s", (int)(n < 63 ? n : 63), p);
                        p += n + (p[n] == ']');
                        continue;
                }
                size_t n = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                     "0123456789-");
                const char *name = p;
                p += n;
                p += strspn(p, " \t");
                if (n == 0 || *p != '=') {
                        p += strcspn(p, "\n");
                        continue;
                }
                p = read_value(p + 1, value);
                if (strcasecmp(now, section) != 0 || strlen(key) != n ||
                    strncasecmp(name, key, n) != 0)
                        continue;
                free(found);
                found = str_dup(value);
        }
        return found;
}
