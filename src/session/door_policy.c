/* door_policy.c - where the rules of a box come from: files, the profile, the package managers'
 * configuration, flags. See door_policy.h. Reads the host's files and writes nothing. */
#include "session/door_policy.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "policy/profile.h"
#include "policy/secret_spec.h"
#include "session/door_packages.h"
#include "session/door_trust.h"
#include "session/opts.h"
#include "session/packages.h"
#include "session/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FILE_MAX = 1 << 20 };

static const char system_file[] = "/etc/ostiary/policy";

void door_policy_free(struct door_policy *p)
{
        for (size_t i = 0; i < p->layers_n; i++) {
                free(p->layers[i].name);
                free(p->layers[i].text);
        }
        free(p->layers);
        policy_free(&p->parsed);
        strs_free(&p->run_time);
        strs_free(&p->notes);
        free(p->untrusted);
        *p = (struct door_policy){0};
}

/* add(p, rank, name, text, has_lines, err): parse it, then keep both forms. ${text} is taken. */
static int add(struct door_policy *p, enum policy_rank rank, const char *name, char *text,
               bool has_lines, struct err *err)
{
        _cleanup_free_ char *owned = text;
        _cleanup_policy_layer_ struct policy_layer layer = {0};
        if (policy_layer_parse(rank, name, owned, has_lines ? strlen(owned) : 0, &layer, err) < 0)
                return -1;
        if (!has_lines) {
                _cleanup_free_ char *copy = str_dup(owned);
                for (char *rest = copy, *line; (line = strsep(&rest, "\n"));)
                        if (policy_layer_add(&layer, line, err) < 0)
                                return -1;
        }
        if (layer.lines_n == 0)
                return 0;
        struct door_layer *v = reallocarray(p->layers, p->layers_n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        p->layers = v;
        v[p->layers_n++] = (struct door_layer){.rank = rank,
                                               .name = str_dup(name),
                                               .text = take_ptr(&owned),
                                               .has_lines = has_lines};
        policy_put(&p->parsed, &layer);
        return 0;
}

/* add_file(...): one that does not exist is no layer, unless it was asked for by name. */
static int add_file(struct door_policy *p, enum policy_rank rank, const char *name,
                    const char *path, bool is_wanted, struct err *err)
{
        if (!is_wanted && access(path, F_OK) < 0 && (errno == ENOENT || errno == ENOTDIR))
                return 0;
        char *text = fdio_read_file(AT_FDCWD, path, FILE_MAX, err);
        if (!text)
                return err ? (err->code = E_INPUT, -1) : -1;
        return add(p, rank, name, text, true, err);
}

/* The project's own file came with a clone: used only as it was when its owner trusted it. */
static int add_project(const struct door_policy_from *f, struct door_policy *p, struct err *err)
{
        if (!f->workspace)
                return 0;
        _cleanup_free_ char *path = str_fmt("%s/.ostiary", f->workspace);
        char *text = NULL;
        switch (door_trust_read(f->store, path, &text, err)) {
        case DOOR_TRUST_ABSENT:
                return 0;
        case DOOR_TRUST_NO:
                free(text);
                strs_addf(&p->notes,
                          "%s\nit is not trusted, so its rules do not count (look at it, then: "
                          "ostiary trust %s)",
                          path, f->workspace);
                p->untrusted = str_fmt("the rules in %s do not count, because they came with the "
                                       "project; look at them, then: ostiary trust %s",
                                       path, f->workspace);
                return 0;
        case DOOR_TRUST_YES:
                return add(p, POLICY_PROJECT, "project .ostiary", text, true, err);
        case DOOR_TRUST_BROKEN:
                break;
        }
        return -1;
}

static char *joined(const struct strs *lines)
{
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < lines->n; i++)
                buf_put_fmt(&b, "%s%s", i ? "\n" : "", lines->v[i]);
        return str_dup(buf_cstr(&b));
}

/* add_flags(...): --deny before --allow, since of two flags that contradict each other the careful
 * one was meant. */
static int add_flags(const struct session_opts *o, struct door_policy *p, struct err *err)
{
        static const char *const verbs[] = {"deny", "allow"};
        const struct strs *const lists[] = {&o->deny, &o->allow};
        for (size_t k = 0; k < 2; k++) {
                _cleanup_strs_ struct strs lines = {0};
                _cleanup_free_ char *name = str_fmt("--%s", verbs[k]);
                for (size_t i = 0; i < lists[k]->n; i++) {
                        _cleanup_free_ char *line = door_policy_line(verbs[k], lists[k]->v[i], err);
                        if (!line)
                                return -1;
                        strs_add(&lines, line);
                }
                if (lines.n && add(p, POLICY_RUN_TIME, name, joined(&lines), false, err) < 0) {
                        if (err)
                                err->code = E_USAGE;
                        return lines.n == 1 ? err_add(err, "read \"%s\"", lines.v[0]) : -1;
                }
        }
        return 0;
}

/* add_secrets(o, p, err): --secret, as lines. */
static int add_secrets(const struct session_opts *o, struct door_policy *p, struct err *err)
{
        _cleanup_strs_ struct strs lines = {0};
        for (size_t i = 0; i < o->secrets.n; i++) {
                _cleanup_free_ char *line = secret_spec_line(o->secrets.v[i], err);
                if (!line) {
                        if (err)
                                err->code = E_USAGE;
                        return err_add(err, "--secret");
                }
                strs_add(&lines, line);
        }
        if (lines.n && add(p, POLICY_RUN_TIME, "--secret", joined(&lines), false, err) < 0)
                return err ? (err->code = E_USAGE, -1) : -1;
        return 0;
}

/* add_identity(f, p, err): a named set of secrets, with what goes with them. */
static int add_identity(const struct door_policy_from *f, struct door_policy *p, struct err *err)
{
        const char *name = f->opts->identity;
        if (!name)
                return 0;
        if (!profile_name_ok(name))
                return err_set(err, E_USAGE, "\"%s\" cannot be the name of an identity", name);
        _cleanup_free_ char *path = str_fmt("%s/identities/%s", f->store->config, name);
        _cleanup_free_ char *layer = str_fmt("identity %s", name);
        if (access(path, F_OK) < 0)
                return err_set(err, E_USAGE,
                               "there is no identity \"%s\" (it would be the file %s, with secret "
                               "lines in it)",
                               name, path);
        return add_file(p, POLICY_USER, layer, path, true, err);
}

static int collect(const struct door_policy_from *f, struct door_policy *p, struct err *err)
{
        const struct session_opts *o = f->opts;
        _cleanup_free_ char *own = str_fmt("%s/policy", f->store->config);
        _cleanup_free_ char *profile = str_fmt("profile %s", f->profile);
        _cleanup_strs_ struct strs cas = {0};
        int level = o->level ? session_opts_index(OPTS_LEVEL, o->level, err) : (int)p->level;
        if (level < 0)
                return -1;
        p->level = (enum door_level)level;
        if (add_flags(o, p, err) < 0 || add_secrets(o, p, err) < 0 || add_project(f, p, err) < 0 ||
            add_identity(f, p, err) < 0)
                return -1;
        for (size_t i = 0; i < o->policy.n; i++)
                if (add_file(p, POLICY_USER, o->policy.v[i], o->policy.v[i], true, err) < 0)
                        return -1;
        if (add_file(p, POLICY_USER, "user policy", own, false, err) < 0 ||
            add(p, POLICY_PROFILE, profile, joined(f->profile_rules), false, err) < 0 ||
            add_file(p, POLICY_SYSTEM, "system policy", system_file, false, err) < 0)
                return -1;
        return door_policy_cas(p, f->home, &cas, err);
}

int door_policy_collect(const struct door_policy_from *f, struct door_policy *p, struct err *err)
{
        *p = (struct door_policy){.level = DOOR_EASY};
        if (collect(f, p, err) == 0)
                return 0;
        door_policy_free(p);
        return -1;
}

void door_policy_packages(struct door_policy *p, const char *home, const struct packages *asked)
{
        _cleanup_strs_ struct strs lines = {0};
        if (p->level == DOOR_STRICT) {
                strs_add(&p->notes,
                         "packages\nthe level is strict: package managers' hosts are not "
                         "allowed unless a rule says so");
                return;
        }
        if (asked->mode == PACKAGES_OFF) {
                strs_add(&p->notes,
                         "packages\nOSTIARY_PACKAGES turns them off: package managers' hosts "
                         "are not allowed unless a rule says so");
                return;
        }
        _cleanup_strs_ struct strs unheard = {0};
        door_packages_find(home, &lines, asked->mode == PACKAGES_ASK ? &unheard : &p->notes);
        for (size_t i = 0; i < asked->lines.n; i++)
                if (!strs_has(&lines, asked->lines.v[i]))
                        strs_add(&lines, asked->lines.v[i]);
        /* Each line was read when it was made, so this cannot fail. */
        if (lines.n)
                add(p, POLICY_PROFILE, "packages", joined(&lines), false, NULL);
}

void door_policy_put(const struct door_policy *p, struct buf *b)
{
        if (p->run_time.n) {
                _cleanup_free_ char *text = joined(&p->run_time);
                door_layers_put(b, POLICY_RUN_TIME, "run time", false, text);
        }
        for (size_t i = 0; i < p->layers_n; i++) {
                const struct door_layer *l = &p->layers[i];
                door_layers_put(b, l->rank, l->name, l->has_lines, l->text);
        }
}
