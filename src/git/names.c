/* names.c - see names.h. */
#include "git/names.h"

#include "base/str.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

void git_tips_free(struct git_tips *t)
{
        for (size_t i = 0; i < t->n; i++)
                free(t->v[i].name);
        free(t->v);
        *t = (struct git_tips){0};
}

static void git_tips_add(struct git_tips *t, const char *id, const char *name, size_t name_len)
{
        if (t->n == t->cap) {
                t->cap = t->cap ? t->cap * 2 : 32;
                t->v = realloc(t->v, t->cap * sizeof *t->v);
                if (!t->v)
                        str_no_memory();
        }
        struct git_tip *tip = &t->v[t->n++];
        *tip = (struct git_tip){.name = str_fmt("%.*s", (int)name_len, name)};
        memcpy(tip->id, id, strlen(id) + 1);
}

static int names_order(const void *a, const void *b)
{
        const struct git_tip *x = a, *y = b;
        return strcmp(x->name, y->name);
}

const struct git_tip *git_tips_find(const struct git_tips *t, const char *name)
{
        struct git_tip key = {.name = (char *)(uintptr_t)name};
        return t->n ? bsearch(&key, t->v, t->n, sizeof key, names_order) : NULL;
}

bool git_names_id(const char *text, size_t len, size_t id_len, char id[GIT_ID_MAX + 1])
{
        if (len != id_len || len > GIT_ID_MAX || len == 0)
                return false;
        for (size_t i = 0; i < len; i++)
                if (!text[i] || !strchr("0123456789abcdef", text[i]))
                        return false;
        memcpy(id, text, len);
        id[len] = 0;
        return true;
}

/* names_part(s, n): one component. */
static bool names_part(const char *s, size_t n)
{
        if (n == 0 || n > GIT_NAME_PART_MAX || s[0] == '.' || s[0] == '-' || s[n - 1] == '.')
                return false;
        if (n >= 5 && strncasecmp(s + n - 5, ".lock", 5) == 0)
                return false;
        for (size_t i = 0; i < n; i++) {
                unsigned char c = (unsigned char)s[i];
                if (c <= ' ' || c == 0x7f || strchr("~^:?*[\\", c))
                        return false;
                if (i + 1 < n && ((c == '.' && s[i + 1] == '.') || (c == '@' && s[i + 1] == '{')))
                        return false;
        }
        return n != 1 || s[0] != '@';
}

bool git_names_is_good(const char *name)
{
        if (!str_starts(name, "refs/") || strlen(name) > GIT_NAME_MAX)
                return false;
        for (const char *p = name;;) {
                size_t n = strcspn(p, "/");
                if (!names_part(p, n))
                        return false;
                if (!p[n])
                        return true;
                p += n + 1;
        }
}

int git_names_parse(const char *text, size_t len, size_t id_len, struct git_tips *tips)
{
        for (const char *end = text + len; text < end;) {
                const char *line_end = memchr(text, '\n', (size_t)(end - text));
                if (!line_end)
                        line_end = end;
                size_t n = (size_t)(line_end - text);
                char id[GIT_ID_MAX + 1];
                if (n <= id_len + 1 || text[id_len] != ' ' ||
                    !git_names_id(text, id_len, id_len, id) || memchr(text, 0, n))
                        return -1;
                git_tips_add(tips, id, text + id_len + 1, n - id_len - 1);
                text = line_end + 1;
        }
        if (tips->n)
                qsort(tips->v, tips->n, sizeof *tips->v, names_order);
        return 0;
}

int git_names_ids(const char *text, size_t len, size_t id_len, struct strs *ids)
{
        for (const char *end = text + len; text < end;) {
                const char *line_end = memchr(text, '\n', (size_t)(end - text));
                if (!line_end)
                        line_end = end;
                char id[GIT_ID_MAX + 1];
                if (!git_names_id(text, (size_t)(line_end - text), id_len, id))
                        return -1;
                strs_add(ids, id);
                text = line_end + 1;
        }
        return 0;
}
