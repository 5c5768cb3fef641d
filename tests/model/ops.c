/* ops.c - sequences of operations: made from a seed, printed so that a person can read and replay
 * them, parsed again. Names come from a small pool, so that operations meet each other. */
#include "model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

uint64_t dice_next(struct dice *d)
{
        uint64_t z = (d->s += 0x9e3779b97f4a7c15u);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
}

unsigned dice_below(struct dice *d, unsigned n)
{
        return (unsigned)(dice_next(d) % n);
}

static const char *const wheres[] = {"setup", "box", "host"};

/* How often each is drawn, in setup, in the box, on the host. */
static const struct {
        const char *name;
        unsigned weight[3];
} kinds[OP_COUNT] = {
        [OP_WRITE] = {"write", {30, 10, 8}},     [OP_SAVE] = {"save", {0, 5, 4}},
        [OP_APPEND] = {"append", {2, 5, 4}},     [OP_TRUNCATE] = {"truncate", {1, 4, 2}},
        [OP_BIG] = {"big", {2, 2, 1}},           [OP_POKE] = {"poke", {1, 4, 1}},
        [OP_CHMOD] = {"chmod", {4, 6, 3}},       [OP_UNLINK] = {"unlink", {0, 7, 4}},
        [OP_RMDIR] = {"rmdir", {0, 4, 2}},       [OP_RMTREE] = {"rmtree", {0, 5, 2}},
        [OP_MKDIR] = {"mkdir", {14, 5, 2}},      [OP_MKDEEP] = {"mkdeep", {4, 3, 1}},
        [OP_RENAME] = {"rename", {0, 9, 2}},     [OP_MOVE] = {"move", {0, 0, 0}},
        [OP_EXCHANGE] = {"exchange", {0, 2, 0}}, [OP_SYMLINK] = {"symlink", {5, 4, 2}},
        [OP_LINK] = {"link", {2, 4, 0}},         [OP_TO_DIR] = {"to-dir", {0, 4, 1}},
        [OP_TO_FILE] = {"to-file", {0, 4, 1}},   [OP_RECREATE] = {"recreate", {0, 5, 1}},
        [OP_TOUCH] = {"touch", {0, 3, 2}},       [OP_SAME] = {"same", {0, 3, 1}},
        [OP_REVERT] = {"revert", {0, 4, 0}},     [OP_XATTR] = {"xattr", {1, 3, 0}},
        [OP_FIFO] = {"fifo", {0, 1, 0}},         [OP_SOCKET] = {"socket", {0, 1, 0}},
        [OP_FREEZE] = {"freeze", {0, 5, 0}},
};

static const char *const names[] = {
        "a", "b", "c", "d", "e", "f.c", "g.txt", "a", "b", "c", "d",
        /* what is awkward: newline, escape, not UTF-8, blanks, quotes, turned around, dots */
        "n\nl", "\033[31mred", "\xff\xfe", " ", "tab\t", "q\"'\\", "\xe2\x80\xaetxt.exe", "-rf",
        "x.", "...", "#", "%41",
        /* what has a meaning for somebody */
        ".git", "hooks", "config", "node_modules", ".gitignore", "Makefile", ".wh.a", ".git",
        "HEAD", "objects", "refs", "commondir"};

static const char *const targets[] = {"a",  "b/c",           "../a",          "nowhere",     ".",
                                      "..", "../../../../x", "/etc/hostname", "a\nb\033[1m", "d/"};

static char *a_path(struct dice *d, const struct seq *s)
{
        /* Mostly something that was named before: it, its parent, or something in it. */
        if (s->n > 0 && dice_below(d, 100) < 65) {
                const struct op *o = &s->v[dice_below(d, (unsigned)s->n)];
                const char *from =
                        o->other && o->kind != OP_SYMLINK && dice_below(d, 2) ? o->other : o->path;
                char *p = from ? strdup(from) : strdup("a");
                char *slash = strrchr(p, '/');
                unsigned how = dice_below(d, 10);
                if (how < 2 && slash) {
                        *slash = 0;
                } else if (how < 5 && strlen(p) < 60) {
                        char *q = NULL;
                        if (asprintf(&q, "%s/%s", p, names[dice_below(d, 11)]) < 0)
                                abort();
                        free(p);
                        p = q;
                }
                return p;
        }
        char *p = NULL;
        unsigned depth = 1 + dice_below(d, 3);
        for (unsigned i = 0; i < depth; i++) {
                unsigned pool = dice_below(d, 4) ? 11 : sizeof names / sizeof *names;
                char *q = NULL;
                if (asprintf(&q, "%s%s%s", p ? p : "", p ? "/" : "", names[dice_below(d, pool)]) <
                    0)
                        abort();
                free(p);
                p = q;
        }
        return p;
}

static enum op_kind a_kind(struct dice *d, enum op_where where)
{
        unsigned sum = 0;
        for (int k = 0; k < OP_COUNT; k++)
                sum += kinds[k].weight[where];
        unsigned at = dice_below(d, sum);
        for (int k = 0; k < OP_COUNT; k++) {
                if (at < kinds[k].weight[where])
                        return (enum op_kind)k;
                at -= kinds[k].weight[where];
        }
        abort();
}

static void add(struct seq *s, struct dice *d, enum op_where where)
{
        struct op o = {.where = where, .kind = a_kind(d, where)};
        o.n = (unsigned)dice_next(d) & 0xfffff;
        if (o.kind != OP_FREEZE) {
                o.path = a_path(d, s);
                if (o.kind == OP_SYMLINK)
                        o.other = strdup(targets[dice_below(d, sizeof targets / sizeof *targets)]);
                else if (o.kind == OP_RENAME || o.kind == OP_MOVE || o.kind == OP_EXCHANGE ||
                         o.kind == OP_LINK)
                        o.other = a_path(d, s);
        }
        s->v = reallocarray(s->v, s->n + 1, sizeof *s->v);
        s->v[s->n++] = o;
}

void seq_random(struct seq *s, uint64_t seed)
{
        struct dice d = {seed};
        *s = (struct seq){.seed = seed};
        unsigned setup_n = dice_below(&d, 24);
        unsigned box_n = 20 + dice_below(&d, 16);
        /* In every third sequence the user works on the host meanwhile. */
        bool has_host = dice_below(&d, 3) == 0;
        for (unsigned i = 0; i < setup_n; i++)
                add(s, &d, AT_SETUP);
        for (unsigned i = 0; i < box_n; i++)
                add(s, &d, has_host && dice_below(&d, 7) == 0 ? AT_HOST : AT_BOX);
        bool has_box = false;
        for (size_t i = 0; i < s->n; i++) {
                has_box |= s->v[i].where == AT_BOX;
                if (s->v[i].where == AT_HOST && s->v[i].kind == OP_RENAME && !has_box)
                        s->v[i].kind = OP_MOVE;
        }
}

void seq_copy(struct seq *to, const struct seq *from, size_t without)
{
        *to = (struct seq){.seed = from->seed};
        to->v = calloc(from->n + 1, sizeof *to->v);
        for (size_t i = 0; i < from->n; i++) {
                if (i == without)
                        continue;
                struct op o = from->v[i];
                o.path = o.path ? strdup(o.path) : NULL;
                o.other = o.other ? strdup(o.other) : NULL;
                to->v[to->n++] = o;
        }
}

void seq_free(struct seq *s)
{
        for (size_t i = 0; i < s->n; i++) {
                free(s->v[i].path);
                free(s->v[i].other);
        }
        free(s->v);
        *s = (struct seq){0};
}

static void print_word(FILE *f, const char *s)
{
        putc(' ', f);
        for (; s && *s; s++) {
                unsigned char c = (unsigned char)*s;
                if (c > ' ' && c < 127 && c != '%')
                        putc(c, f);
                else
                        fprintf(f, "%%%02x", c);
        }
        if (!s)
                putc('-', f);
}

void seq_print(FILE *f, const struct seq *s)
{
        fprintf(f, "seed %llu\n", (unsigned long long)s->seed);
        for (size_t i = 0; i < s->n; i++) {
                const struct op *o = &s->v[i];
                fprintf(f, "%s %s %u", wheres[o->where], kinds[o->kind].name, o->n);
                if (o->path)
                        print_word(f, o->path);
                if (o->other)
                        print_word(f, o->other);
                putc('\n', f);
        }
}

static char *unword(char *s)
{
        char *to = s, *start = s;
        for (; *s; s++) {
                unsigned v;
                if (*s == '%' && sscanf(s + 1, "%2x", &v) == 1) {
                        *to++ = (char)v;
                        s += 2;
                } else {
                        *to++ = *s;
                }
        }
        *to = 0;
        return strdup(start);
}

int seq_parse(FILE *f, struct seq *s)
{
        static char line[65536];
        *s = (struct seq){0};
        while (fgets(line, sizeof line, f)) {
                char *save = NULL, *w[5] = {0};
                unsigned n = 0;
                for (char *t = strtok_r(line, " \n", &save); t && n < 5;
                     t = strtok_r(NULL, " \n", &save))
                        w[n++] = t;
                if (n == 0 || w[0][0] == '#')
                        continue;
                if (n == 2 && strcmp(w[0], "seed") == 0) {
                        s->seed = strtoull(w[1], NULL, 10);
                        continue;
                }
                struct op o = {.where = 9, .kind = OP_COUNT};
                for (int i = 0; i < 3; i++)
                        if (strcmp(w[0], wheres[i]) == 0)
                                o.where = (enum op_where)i;
                for (int k = 0; n > 1 && k < OP_COUNT; k++)
                        if (strcmp(w[1], kinds[k].name) == 0)
                                o.kind = (enum op_kind)k;
                if (n < 3 || (int)o.where == 9 || o.kind == OP_COUNT)
                        return -1;
                o.n = (unsigned)strtoul(w[2], NULL, 10);
                o.path = n > 3 ? unword(w[3]) : NULL;
                o.other = n > 4 ? unword(w[4]) : NULL;
                s->v = reallocarray(s->v, s->n + 1, sizeof *s->v);
                s->v[s->n++] = o;
        }
        return 0;
}
