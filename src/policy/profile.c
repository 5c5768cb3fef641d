/* profile.c - the profile as a struct: joining two, filling marks, letting go. See profile.h.
 *
 * Called by session, which reads the files. Does no I/O. */
#include "policy/profile.h"

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"
#include "policy/profile_builtin.h"

#include <stdlib.h>
#include <string.h>

static void seed_free(struct profile_seed *s)
{
        free(s->path);
        free(s->text);
        strs_free(&s->drop);
        strs_free(&s->keep);
        strs_free(&s->set);
}

void profile_free(struct profile *p)
{
        free(p->name);
        free(p->extends);
        free(p->about);
        free(p->command);
        free(p->install);
        strs_free(&p->args);
        strs_free(&p->resume);
        free(p->resume_path);
        strs_free(&p->env);
        strs_free(&p->pass);
        strs_free(&p->limits);
        strs_free(&p->persist);
        strs_free(&p->rules);
        for (size_t i = 0; i < p->seeds_n; i++)
                seed_free(&p->seeds[i]);
        free(p->seeds);
        for (size_t i = 0; i < p->binds_n; i++) {
                free(p->binds[i].path);
                free(p->binds[i].mode);
        }
        free(p->binds);
        memset(p, 0, sizeof *p);
}

static void inherit(char **mine, const char *base)
{
        if (!*mine && base)
                *mine = str_dup(base);
}

static void copy_strs(struct strs *to, const struct strs *from)
{
        for (size_t i = 0; i < from->n; i++)
                strs_add(to, from->v[i]);
}

static void in_front(struct strs *mine, const struct strs *base)
{
        struct strs both = {0};
        copy_strs(&both, base);
        copy_strs(&both, mine);
        strs_free(mine);
        *mine = both;
}

static void *grown(void *list, size_t n, size_t size)
{
        void *bigger = n ? reallocarray(list, n, size) : list;
        if (n && !bigger)
                str_no_memory();
        return bigger;
}

void profile_extend(struct profile *p, const struct profile *base)
{
        inherit(&p->about, base->about);
        inherit(&p->command, base->command);
        inherit(&p->install, base->install);
        in_front(&p->args, &base->args);
        if (!p->resume_path && base->resume_path)
                copy_strs(&p->resume, &base->resume);
        inherit(&p->resume_path, base->resume_path);
        in_front(&p->env, &base->env);
        in_front(&p->pass, &base->pass);
        in_front(&p->limits, &base->limits);
        in_front(&p->persist, &base->persist);

        /* First match wins among rules, so the ones of the profile that extends go first. */
        copy_strs(&p->rules, &base->rules);

        p->seeds = grown(p->seeds, p->seeds_n + base->seeds_n, sizeof *p->seeds);
        if (base->seeds_n) {
                memmove(p->seeds + base->seeds_n, p->seeds, p->seeds_n * sizeof *p->seeds);
                for (size_t i = 0; i < base->seeds_n; i++) {
                        const struct profile_seed *b = &base->seeds[i];
                        struct profile_seed s = {
                                .kind = b->kind, .has_keep = b->has_keep, .path = str_dup(b->path)};
                        inherit(&s.text, b->text);
                        copy_strs(&s.drop, &b->drop);
                        copy_strs(&s.keep, &b->keep);
                        copy_strs(&s.set, &b->set);
                        p->seeds[i] = s;
                }
                p->seeds_n += base->seeds_n;
        }

        p->binds = grown(p->binds, p->binds_n + base->binds_n, sizeof *p->binds);
        for (size_t i = 0; i < base->binds_n; i++)
                p->binds[p->binds_n++] = (struct profile_bind){
                        .path = str_dup(base->binds[i].path), .mode = str_dup(base->binds[i].mode)};

        free(p->extends);
        p->extends = NULL;
}

bool profile_name_ok(const char *name)
{
        size_t n = strlen(name);
        if (n == 0 || n > 64 || name[0] == '.' || name[0] == '-')
                return false;
        return strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") ==
               n;
}

char *profile_fill(const char *text, const char *home, const char *workspace)
{
        _cleanup_buf_ struct buf b = {0};
        while (*text) {
                size_t n = strcspn(text, "%");
                buf_put(&b, text, n);
                text += n;
                if (str_starts(text, "%HOME%")) {
                        buf_put_str(&b, home);
                        text += strlen("%HOME%");
                } else if (str_starts(text, "%WORKSPACE%")) {
                        buf_put_str(&b, workspace ? workspace : "/");
                        text += strlen("%WORKSPACE%");
                } else if (*text) {
                        buf_put_u8(&b, (uint8_t)*text++);
                }
        }
        return str_dup(buf_cstr(&b));
}

const char *profile_builtin_text(const char *name)
{
        for (const struct profile_builtin *b = profile_builtins; b->name; b++)
                if (strcmp(b->name, name) == 0)
                        return b->text;
        return NULL;
}
