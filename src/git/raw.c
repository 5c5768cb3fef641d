/* raw.c - see raw.h. The text may be hostile: every column is checked. */
#include "git/raw.h"

#include "git/names.h"

#include <stdlib.h>
#include <string.h>

enum { RAW_PARENTS_MAX = 1024 };

bool git_raw_is_path(const char *path)
{
        for (const char *p = path;;) {
                size_t n = strcspn(p, "/");
                if (n == 0 || (n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
                        return false;
                if (!p[n])
                        return true;
                p += n + 1;
        }
}

/* raw_mode(&p, mode): six octal digits and a blank. */
static int raw_mode(char **p, unsigned *mode)
{
        *mode = 0;
        for (int i = 0; i < 6; i++) {
                char c = (*p)[i];
                if (c < '0' || c > '7')
                        return -1;
                *mode = *mode * 8 + (unsigned)(c - '0');
        }
        if ((*p)[6] != ' ')
                return -1;
        *p += 7;
        return 0;
}

/* raw_id(&p, end, id_len, &id): an id and a blank, which becomes its end. */
static int raw_id(char **p, const char *end, size_t id_len, const char **id)
{
        char checked[GIT_ID_MAX + 1];
        if ((size_t)(end - *p) <= id_len || (*p)[id_len] != ' ' ||
            !git_names_id(*p, id_len, id_len, checked))
                return -1;
        *id = *p;
        (*p)[id_len] = 0;
        *p += id_len + 1;
        return 0;
}

/* raw_letters(&p, end, n, what): a letter for each parent, then a NUL. */
static int raw_letters(char **p, const char *end, size_t n, char *what)
{
        if ((size_t)(end - *p) <= n || (*p)[n] != 0)
                return -1;
        *what = (*p)[0];
        for (size_t i = 0; i < n; i++) {
                if (!(*p)[i] || !strchr("AMDTU", (*p)[i]))
                        return -1;
                if ((*p)[i] != *what)
                        *what = 'M';
        }
        *p += n + 1;
        return 0;
}

int git_raw_next(char **text, const char *end, size_t id_len, struct git_raw *r)
{
        char *p = *text;
        size_t n = 0;
        if (p >= end || *p != ':')
                return 0;
        for (; p < end && *p == ':'; p++)
                n++;
        if (n > RAW_PARENTS_MAX)
                return -1;
        for (size_t i = 0; i <= n; i++) {
                unsigned mode;
                if (end - p < 7 || raw_mode(&p, &mode) < 0)
                        return -1;
                r->mode = mode;
                if (i == 0)
                        r->mode_was = mode;
        }
        for (size_t i = 0; i <= n; i++) {
                const char *id;
                if (raw_id(&p, end, id_len, &id) < 0)
                        return -1;
                r->id = id;
                if (i == 0)
                        r->id_was = id;
        }
        if (raw_letters(&p, end, n, &r->what) < 0)
                return -1;
        r->path = p;
        size_t len = strnlen(p, (size_t)(end - p));
        if (p + len >= end || !git_raw_is_path(r->path))
                return -1;
        *text = p + len + 1;
        return 1;
}

int git_raw_head(char **text, const char *end, size_t id_len, char id[GIT_ID_MAX + 1])
{
        size_t left = (size_t)(end - *text);
        if (left <= id_len || (*text)[id_len] != 0 || !git_names_id(*text, id_len, id_len, id))
                return -1;
        *text += id_len + 1;
        return 0;
}
