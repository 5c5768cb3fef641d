/* words.c - see words.h. Called by the profile parser; touches nothing but its arguments. */
#include "policy/words.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdlib.h>

void words_free(struct words *w)
{
        for (size_t i = 0; i < w->n; i++)
                free(w->v[i]);
        w->n = 0;
}

static bool is_blank(char c)
{
        return c == ' ' || c == '\t';
}

/* One quoted part; ${*at} stands on the opening quote and ends behind the closing one. */
static int quoted(const char *line, size_t len, size_t *at, struct buf *out, struct err *err)
{
        char quote = line[(*at)++];
        while (*at < len && line[*at] != quote) {
                char c = line[(*at)++];
                if (c == '\\' && quote == '"') {
                        char e = *at < len ? line[(*at)++] : 0;
                        if (e == 'n')
                                c = '\n';
                        else if (e == 't')
                                c = '\t';
                        else if (e == '"' || e == '\\')
                                c = e;
                        else
                                return err_set(err, E_INPUT,
                                               "only \\n, \\t, \\\" and \\\\ are known in quotes");
                }
                buf_put_u8(out, (uint8_t)c);
        }
        if (*at >= len)
                return err_set(err, E_INPUT, "the quote that begins here is never closed");
        (*at)++;
        return 0;
}

static int one_word(const char *line, size_t len, size_t *at, char **word, size_t *column,
                    struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        while (*at < len && !is_blank(line[*at])) {
                char c = line[*at];
                *column = *at + 1;
                if (c == '"' || c == '\'') {
                        if (quoted(line, len, at, &b, err) < 0)
                                return -1;
                        continue;
                }
                if ((unsigned char)c < 0x20 || c == 0x7f)
                        return err_set(err, E_INPUT, "a control character stands here");
                buf_put_u8(&b, (uint8_t)c);
                (*at)++;
        }
        *word = str_dup(buf_cstr(&b));
        return 0;
}

int words_split(const char *line, size_t len, struct words *w, size_t *column, struct err *err)
{
        size_t at = 0;
        w->n = 0;
        for (;;) {
                while (at < len && is_blank(line[at]))
                        at++;
                w->at[w->n] = at + 1;
                w->v[w->n] = NULL;
                if (at >= len || line[at] == '#')
                        return 0;
                if (w->n == WORDS_MAX) {
                        *column = at + 1;
                        words_free(w);
                        return err_set(err, E_INPUT, "a line has at most %d words", WORDS_MAX);
                }
                if (one_word(line, len, &at, &w->v[w->n], column, err) < 0) {
                        words_free(w);
                        return -1;
                }
                w->n++;
        }
}
