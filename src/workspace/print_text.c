/* print_text.c - names and contents that came out of a box, as they may be shown. Pure functions;
 * called by print.c and by every command that tells of a file. */
#include "workspace/print.h"

#include "base/buf.h"
#include "base/str.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static bool is_plain(const char *s)
{
        for (; *s; s++)
                if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f || *s == '"' ||
                    *s == '\\')
                        return false;
        return true;
}

static void put_escaped(struct buf *out, const char *s)
{
        static const char letters[] = "\a\b\t\n\v\f\r\"\\", after[] = "abtnvfr\"\\";
        for (; *s; s++) {
                const char *known = strchr(letters, *s);
                if (known)
                        buf_put_fmt(out, "\\%c", after[known - letters]);
                else if ((unsigned char)*s < 0x20 || (unsigned char)*s >= 0x7f)
                        buf_put_fmt(out, "\\%03o", (unsigned)(unsigned char)*s);
                else
                        buf_put_u8(out, (uint8_t)*s);
        }
}

void ws_print_name(struct buf *out, const char *prefix, const char *name)
{
        bool is_quoted = !is_plain(prefix) || !is_plain(name);
        if (is_quoted)
                buf_put_u8(out, '"');
        put_escaped(out, prefix);
        put_escaped(out, name);
        if (is_quoted)
                buf_put_u8(out, '"');
}

void ws_print_shown(struct buf *out, const char *bytes, size_t n, bool has_colour)
{
        size_t from = 0;
        bool is_marked = false;
        for (size_t i = 0; i < n;) {
                size_t len = bytes[i] == '\t' || bytes[i] == '\n' || bytes[i] == '\\'
                                     ? 1
                                     : str_seen(bytes + i);
                if (len && i + len <= n) {
                        if (is_marked)
                                buf_put_str(out, "\033[27m");
                        is_marked = false;
                        i += len;
                        continue;
                }
                buf_put(out, bytes + from, i - from);
                /* Reversed: so that "\x1b" spelled out in the text looks different. */
                if (has_colour && !is_marked)
                        buf_put_str(out, "\033[7m");
                is_marked = has_colour;
                buf_put_fmt(out, "\\x%02x", (unsigned)(unsigned char)bytes[i]);
                from = ++i;
        }
        if (is_marked)
                buf_put_str(out, "\033[27m");
        buf_put(out, bytes + from, n - from);
}

const char *ws_print_number(uint64_t n, char buf[32])
{
        char digits[24];
        size_t len = (size_t)snprintf(digits, sizeof digits, "%" PRIu64, n), o = 0;
        for (size_t i = 0; i < len; i++) {
                if (i && (len - i) % 3 == 0)
                        buf[o++] = ',';
                buf[o++] = digits[i];
        }
        buf[o] = 0;
        return buf;
}
