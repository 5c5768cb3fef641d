/* profile_fuzz.c - any text as a profile, a git configuration and the head of a script: an error
 * has a place, what is accepted keeps its promises, and what is said twice means the same. */
#include "base/err.h"
#include "base/str.h"
#include "policy/cred_list.h"
#include "policy/env_list.h"
#include "policy/etc_list.h"
#include "policy/profile.h"
#include "session/gitconf.h"
#include "session/toolchain_int.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Paths below the home go to openat as they are, so their form is a promise. */
static void straight(const char *path)
{
        if (!*path || *path == '/' || strstr(path, "//") || str_ends(path, "/") ||
            strcmp(path, "..") == 0 || str_starts(path, "../") || strstr(path, "/../") ||
            str_ends(path, "/.."))
                abort();
}

static void accepted(const struct profile *p)
{
        for (size_t i = 0; i < p->persist.n; i++)
                straight(p->persist.v[i]);
        for (size_t i = 0; i < p->seeds_n; i++) {
                const struct profile_seed *s = &p->seeds[i];
                straight(s->path);
                if (s->kind != PROFILE_SEED_WRITE && cred_list_why(s->path))
                        abort();
                if ((s->kind == PROFILE_SEED_WRITE) != (s->text != NULL))
                        abort();
                for (size_t k = 0; k < s->set.n; k++)
                        if (s->set.v[k][0] != '/' || !strchr(s->set.v[k], '='))
                                abort();
        }
        for (size_t i = 0; i < p->pass.n; i++)
                if (env_list_is_credential(p->pass.v[i]))
                        abort();
        for (size_t i = 0; i < p->limits.n; i++)
                if (profile_limit_check(p->limits.v[i], NULL) < 0)
                        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        char *text = malloc(size + 1);
        memcpy(text, data, size);
        text[size] = 0;

        struct err err = {0};
        struct profile p, base;
        if (profile_parse("fuzz", text, &p, &err) == 0) {
                accepted(&p);
                if (profile_parse("base", text, &base, &err) == 0) {
                        profile_extend(&p, &base);
                        accepted(&p);
                        profile_free(&base);
                }
                profile_free(&p);
        } else if (strlen(text) <= 256 << 10 && !strstr(err.text, "line ")) {
                abort();
        }

        free(profile_fill(text, "/h", "/w"));
        free(gitconf_get(text, "core", "worktree"));
        (void)etc_list_allows(text);
        struct toolchain_script s;
        toolchain_script_parse((const char *)data, size, "/h", &s);
        if (s.interpreter && s.interpreter[0] != '/')
                abort();
        for (size_t i = 0; i < s.execs.n; i++)
                if (s.execs.v[i][0] != '/')
                        abort();
        toolchain_script_free(&s);
        free(text);
        return 0;
}
