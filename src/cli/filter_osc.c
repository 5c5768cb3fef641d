/* filter_osc.c - what a whole OSC or DCS string may do: titles, links, colours, and by policy the
 * clipboard and notifications. Also the named policies. Everything else is dropped. */
#include "cli/filter.h"

#include "base/buf.h"

#include <string.h>

enum { TITLE_MAX = 120, LINK_MAX = 2048, CLIP_MAX = FILTER_HOLD };

struct filter_policy filter_normal(void)
{
        return (struct filter_policy){
                .may_title = true,
                .may_link = true,
                .may_query = true,
                .may_colour = true,
                .may_image = true,
                .may_bidi = true,
                .may_move = true,
        };
}

struct filter_policy filter_text(void)
{
        return (struct filter_policy){0};
}

int filter_policy_parse(const char *s, struct filter_policy *p)
{
        size_t n = strcspn(s, ",");
        if (n == 6 && strncmp(s, "normal", n) == 0)
                *p = filter_normal();
        else if (n == 6 && strncmp(s, "strict", n) == 0)
                *p = (struct filter_policy){.may_query = true, .may_move = true};
        else if (n == 3 && strncmp(s, "raw", n) == 0)
                *p = (struct filter_policy){.is_raw = true};
        else
                return -1;

        const struct {
                const char *name;
                bool *to;
        } names[] = {
                {"title", &p->may_title},         {"link", &p->may_link},
                {"colour", &p->may_colour},       {"color", &p->may_colour},
                {"image", &p->may_image},         {"notify", &p->may_notify},
                {"clipboard", &p->may_clipboard},
        };
        for (s += n; *s == ','; s += n) {
                n = strcspn(++s, ",");
                size_t i = 0, count = sizeof names / sizeof *names;
                while (i < count &&
                       (strlen(names[i].name) != n || strncmp(names[i].name, s, n) != 0))
                        i++;
                if (i == count)
                        return -1;
                *names[i].to = true;
        }
        return 0;
}

/* title(p, n): printable characters only, cut; a title is shown by window managers and panels that
 * are not careful at all. Bytes above ASCII pass when they are whole UTF-8 and no control. */
static void title(const uint8_t *p, size_t n, struct buf *out)
{
        size_t put = 0;
        for (size_t i = 0; i < n && put < TITLE_MAX;) {
                size_t len = p[i] < 0x80   ? 1
                             : p[i] < 0xc2 ? 0
                             : p[i] < 0xe0 ? 2
                             : p[i] < 0xf0 ? 3
                                           : 0;
                bool is_good = len && i + len <= n && p[i] >= 0x20 && p[i] != 0x7f;
                for (size_t k = 1; is_good && k < len; k++)
                        is_good = (p[i + k] & 0xc0) == 0x80;
                /* U+0080-009F, and U+2000-206F with its marks and directions */
                if (is_good && len == 2 && p[i] == 0xc2 && p[i + 1] < 0xa0)
                        is_good = false;
                if (is_good && len == 3 && ((p[i] == 0xe0 && p[i + 1] < 0xa0) || p[i] == 0xed))
                        is_good = false;
                if (is_good && len == 3 && p[i] == 0xe2 && p[i + 1] == 0x80 &&
                    (p[i + 2] < 0x90 || p[i + 2] >= 0xa8))
                        is_good = false;
                if (is_good && len == 3 && p[i] == 0xe2 && p[i + 1] == 0x81 && p[i + 2] >= 0xa0)
                        is_good = false;
                if (is_good)
                        buf_put(out, p + i, len);
                put += is_good;
                i += len && i + len <= n ? len : 1;
        }
}

static bool all_in(const uint8_t *p, size_t n, const char *also)
{
        for (size_t i = 0; i < n; i++) {
                uint8_t c = p[i];
                bool is_word =
                        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
                if (!is_word && (!c || !strchr(also, c)))
                        return false;
        }
        return true;
}

static bool starts(const uint8_t *p, size_t n, const char *s)
{
        size_t len = strlen(s);
        return n >= len && memcmp(p, s, len) == 0;
}

/* link(p, n): "params;url". The end of a link always passes. A link is shown as its text, so it
 * goes nowhere but the web, and its address holds nothing but printable ASCII. */
static bool is_good_link(const uint8_t *p, size_t n)
{
        const uint8_t *semi = memchr(p, ';', n);
        if (!semi || n > LINK_MAX)
                return false;
        size_t params = (size_t)(semi - p), len = n - params - 1;
        const uint8_t *url = semi + 1;
        if (!all_in(p, params, "=:_-.,/"))
                return false;
        for (size_t i = 0; i < len; i++)
                if (url[i] <= 0x20 || url[i] >= 0x7f)
                        return false;
        return len == 0 || starts(url, len, "https://") || starts(url, len, "http://");
}

static void pass(const struct filter *f, struct buf *out)
{
        buf_put_str(out, "\033]");
        buf_put(out, f->held, f->held_n);
        buf_put_str(out, "\033\\");
}

void filter_osc(struct filter *f, struct buf *out)
{
        size_t at = 0;
        unsigned code = 0;
        while (at < f->held_n && f->held[at] >= '0' && f->held[at] <= '9' && at < 6)
                code = code * 10 + (f->held[at++] - '0');
        if (at == 0 || (at < f->held_n && f->held[at] != ';'))
                return;
        bool has_body = at < f->held_n;
        const uint8_t *body = f->held + at + has_body;
        size_t n = f->held_n - at - has_body;
        const struct filter_policy *may = &f->policy;

        switch (code) {
        case 0:
        case 1:
        case 2:
                if (!may->may_title)
                        return;
                buf_put_fmt(out, "\033]%u;", code);
                title(body, n, out);
                buf_put_str(out, "\033\\");
                return;
        case 4: /* palette: set or ask */
        case 10:
        case 11:
        case 12: {
                bool is_question = n && body[n - 1] == '?';
                if (!all_in(body, n, ";:/#?,.") || !n)
                        return;
                if (is_question ? !may->may_query : !may->may_colour)
                        return;
                if (memchr(body, '?', n) && !may->may_query)
                        return;
                f->modes.has_colour |= !is_question;
                break;
        }
        case 104:
        case 110:
        case 111:
        case 112:
                if (!may->may_colour || !all_in(body, n, ";"))
                        return;
                break;
        case 8:
                if (!is_good_link(body, n) || !may->may_link)
                        return;
                break;
        case 9: /* 9;4;state;percent is a progress bar; anything else pops up a window */
                if (!(starts(body, n, "4;") && all_in(body, n, ";") && may->may_title) &&
                    !may->may_notify)
                        return;
                break;
        case 99:
        case 777:
                if (!may->may_notify)
                        return;
                break;
        case 52: /* never "?": that types the clipboard into the box */
                if (!may->may_clipboard || n > CLIP_MAX || !all_in(body, n, ";+/="))
                        return;
                break;
        default:
                return;
        }
        for (size_t i = 0; i < f->held_n; i++)
                if (f->held[i] < 0x20 || f->held[i] >= 0x7f)
                        return;
        pass(f, out);
}

bool filter_dcs_is_sixel(const struct filter *f)
{
        for (size_t i = 0; i + 1 < f->held_n; i++)
                if (f->held[i] != ';' && (f->held[i] < '0' || f->held[i] > '9'))
                        return false;
        return true;
}

/* Of the other device strings only XTGETTCAP ("+q" and hex): it asks for terminfo entries and is
 * answered in hex. Not DECRQSS, whose answer has carried commands in several terminals, and not
 * tmux's pass-through, which would carry anything to the terminal behind it. */
void filter_dcs(struct filter *f, struct buf *out)
{
        if (!f->policy.may_query || !f->policy.may_move || f->held_n > 512)
                return;
        if (!starts(f->held, f->held_n, "+q"))
                return;
        for (size_t i = 2; i < f->held_n; i++)
                if (!strchr("0123456789abcdefABCDEF;", f->held[i]) || !f->held[i])
                        return;
        buf_put_str(out, "\033P");
        buf_put(out, f->held, f->held_n);
        buf_put_str(out, "\033\\");
}
