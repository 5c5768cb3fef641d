/* ignore_match.c - does a rule fit a path? All ways to match are followed at once, byte by byte, so
 * that no pattern and no name makes it slow. Called through ignore_match. */
#include "workspace/ignore_int.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>

/* Places in a row of steps that the match may be at; ${to} is where one may go without a byte. */
struct places {
        uint8_t *is_in;
        size_t n; /* steps; place n is the end */
};

static void mark(const struct ignore_rule *r, struct places *p, size_t at)
{
        while (!p->is_in[at]) {
                p->is_in[at] = 1;
                if (at == p->n)
                        return;
                switch (r->steps[at].op) {
                case IGNORE_RUN:
                case IGNORE_ALL:
                        at++;
                        break;
                case IGNORE_OPEN:
                        p->is_in[at + 1] = 1;
                        at += 2;
                        break;
                case IGNORE_BYTE:
                case IGNORE_ONE:
                case IGNORE_SET:
                case IGNORE_DIRS:
                        return;
                }
        }
}

static void advance(const struct ignore_rule *r, size_t at, uint8_t c, struct places *next)
{
        const struct ignore_step *s = &r->steps[at];
        switch (s->op) {
        case IGNORE_BYTE:
                if (c == s->byte)
                        mark(r, next, at + 1);
                break;
        case IGNORE_ONE:
                if (c != '/')
                        mark(r, next, at + 1);
                break;
        case IGNORE_SET:
                if (r->sets[s->set].bits[c / 64] >> (c % 64) & 1)
                        mark(r, next, at + 1);
                break;
        case IGNORE_RUN:
                if (c != '/')
                        mark(r, next, at);
                break;
        case IGNORE_ALL:
                mark(r, next, at);
                break;
        case IGNORE_DIRS:
                mark(r, next, at);
                if (c == '/')
                        mark(r, next, at + 1);
                break;
        case IGNORE_OPEN:
                break;
        }
}

static bool steps_fit(const struct ignore_rule *r, const char *text)
{
        enum { SMALL = 128 };
        uint8_t small[2][SMALL + 1];
        uint8_t *big = NULL;
        struct places now = {.is_in = small[0], .n = r->steps_n};
        struct places next = {.is_in = small[1], .n = r->steps_n};
        if (r->steps_n > SMALL) {
                big = malloc(2 * (r->steps_n + 1));
                if (!big)
                        str_no_memory();
                now.is_in = big;
                next.is_in = big + r->steps_n + 1;
        }
        memset(now.is_in, 0, r->steps_n + 1);
        mark(r, &now, 0);
        for (; *text; text++) {
                bool is_alive = false;
                memset(next.is_in, 0, r->steps_n + 1);
                for (size_t i = 0; i < r->steps_n; i++) {
                        if (!now.is_in[i])
                                continue;
                        is_alive = true;
                        advance(r, i, (uint8_t)*text, &next);
                }
                if (!is_alive)
                        break;
                struct places swap = now;
                now = next;
                next = swap;
        }
        bool fits = !*text && now.is_in[r->steps_n];
        free(big);
        return fits;
}

static bool rule_fits(const struct ignore_rule *r, const char *path, const char *name, bool is_dir)
{
        if (r->is_dir_only && !is_dir)
                return false;
        const char *text = r->is_name_only ? name : path;
        if (strncmp(text, r->head, r->head_len) != 0)
                return false;
        text += r->head_len;
        if (r->steps_n == 0)
                return !*text;
        return steps_fit(r, text);
}

enum ignore_says ignore_match(const struct ignore *ig, const char *path, bool is_dir)
{
        const char *slash = strrchr(path, '/');
        const char *name = slash ? slash + 1 : path;
        for (size_t i = ig ? ig->n : 0; i-- > 0;)
                if (rule_fits(&ig->rules[i], path, name, is_dir))
                        return ig->rules[i].is_negated ? IGNORE_NO : IGNORE_YES;
        return IGNORE_SILENT;
}
