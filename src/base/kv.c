/* kv.c - see kv.h. */
#include "base/kv.h"

#include "base/buf.h"

#include <inttypes.h>
#include <string.h>

void kv_put(struct buf *b, const char *key, const char *value)
{
        if (!value)
                return;
        buf_put_str(b, key);
        buf_put_u8(b, ' ');
        for (const char *p = value; *p; p++) {
                if (*p == '\n')
                        buf_put_str(b, "\\n");
                else if (*p == '\\')
                        buf_put_str(b, "\\\\");
                else
                        buf_put_u8(b, (uint8_t)*p);
        }
        buf_put_u8(b, '\n');
}

void kv_put_u64(struct buf *b, const char *key, uint64_t v)
{
        buf_put_fmt(b, "%s %" PRIu64 "\n", key, v);
}

void kv_put_bool(struct buf *b, const char *key, bool v)
{
        kv_put_u64(b, key, v);
}

static void unescape(char *s)
{
        char *o = s;
        for (; *s; s++) {
                if (*s == '\\' && s[1]) {
                        s++;
                        *o++ = *s == 'n' ? '\n' : *s;
                } else {
                        *o++ = *s;
                }
        }
        *o = 0;
}

bool kv_next(char **text, char **key, char **value)
{
        while (**text) {
                char *line = *text;
                char *end = strchr(line, '\n');
                if (!end)
                        return false; /* a line that was not finished is no line */
                *end = 0;
                *text = end + 1;
                char *space = strchr(line, ' ');
                if (!space)
                        continue;
                *space = 0;
                unescape(space + 1);
                *key = line;
                *value = space + 1;
                return true;
        }
        return false;
}
