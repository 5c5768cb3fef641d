/* plan_secrets.c - which secrets a box gets: the secret lines of its policy, one for each name,
 * with their sources looked for but not asked. See secrets.h. Called while a box is planned; must
 * never read a value. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/door_program.h"
#include "session/plan.h"
#include "session/source.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* copy_line(from, to): our own, because a layer may be read again while the box lives. */
static int copy_line(const struct rule_line *from, struct rule_line *to, struct err *err)
{
        _cleanup_buf_ struct buf b = {0};
        size_t column;
        rule_line_print(from, &b);
        if (rule_line_parse(buf_cstr(&b), b.len, to, &column, err) != 1)
                return err_add(err, "a secret line cannot be read again");
        to->line_no = from->line_no;
        return 0;
}

static char *where_words(const struct policy_layer *l, const struct rule_line *line)
{
        return line->line_no ? str_fmt("%s, line %zu", l->name, line->line_no) : str_dup(l->name);
}

static struct session_secret *find(struct session_secrets *all, const char *name)
{
        for (size_t i = 0; i < all->n; i++)
                if (strcmp(all->v[i].line.secret->name, name) == 0)
                        return &all->v[i];
        return NULL;
}

/* is_same_but_places(a, b): both are copies, so they may be changed for a moment. */
static bool is_same_but_places(struct rule_line *a, struct rule_line *b)
{
        size_t a_n = a->secret->places_n, b_n = b->secret->places_n;
        a->secret->places_n = b->secret->places_n = 0;
        bool is_same = rule_line_equal(a, b);
        a->secret->places_n = a_n;
        b->secret->places_n = b_n;
        return is_same;
}

/* join(first, second, where, err): the same name twice in one layer: one secret with the places of
 * both, or a contradiction. */
static int join(struct session_secret *first, struct rule_line *second, const char *where,
                struct err *err)
{
        struct rule_secret *a = first->line.secret, *b = second->secret;
        if (!is_same_but_places(&first->line, second))
                return err_set(
                        err, E_INPUT,
                        "the secret %s is there twice and not the same: %s, and %s; write it "
                        "as one line, or give one of them another name",
                        a->name, first->where, where);
        if (a->places_n + b->places_n > RULE_PLACES_MAX)
                return err_set(err, E_INPUT, "the secret %s has more than %d places: %s, and %s",
                               a->name, (int)RULE_PLACES_MAX, first->where, where);
        memcpy(&a->places[a->places_n], b->places, b->places_n * sizeof *b->places);
        a->places_n += b->places_n;
        b->places_n = 0; /* they have moved */
        return 0;
}

static int add(struct session_secrets *all, struct session_plan *noted,
               const struct policy_layer *l, size_t layer_at, size_t *from_layer,
               const struct rule_line *line, struct err *err)
{
        _cleanup_rule_line_ struct rule_line copy = {0};
        _cleanup_free_ char *where = where_words(l, line);
        if (copy_line(line, &copy, err) < 0)
                return -1;
        struct session_secret *was = find(all, copy.secret->name);
        if (was && from_layer[was - all->v] == layer_at)
                return join(was, &copy, where, err);
        if (was && noted) {
                _cleanup_free_ char *what = str_fmt("secret %s of %s", copy.secret->name, where);
                _cleanup_free_ char *why = str_fmt("%s speaks of the same name", was->where);
                session_plan_note(noted, true, what, why);
        }
        if (was)
                return 0;
        if (all->n == DOOR_SECRETS_MAX)
                return err_set(err, E_INPUT, "a box can have at most %d secrets",
                               (int)DOOR_SECRETS_MAX);
        struct session_secret *v = reallocarray(all->v, all->n + 1, sizeof *v);
        if (!v)
                str_no_memory();
        all->v = v;
        from_layer[all->n] = layer_at;
        v[all->n++] = (struct session_secret){.line = copy,
                                              .where = take_ptr(&where),
                                              .is_optional = l->rank != POLICY_RUN_TIME,
                                              .is_general = l->rank != POLICY_RUN_TIME &&
                                                            l->rank != POLICY_PROFILE,
                                              .value_fd = -1};
        copy = (struct rule_line){0};
        return 0;
}

int plan_secrets_collect(const struct policy *p, struct session_secrets *all,
                         struct session_plan *noted, struct err *err)
{
        size_t from_layer[DOOR_SECRETS_MAX] = {0};
        /* Layers are in the order in which they win: flags, identity, files, profile, system. */
        for (size_t k = 0; k < p->layers_n; k++)
                for (size_t i = 0; i < p->layers[k].lines_n; i++)
                        if (p->layers[k].lines[i].kind == RULE_LINE_SECRET &&
                            add(all, noted, &p->layers[k], k, from_layer, &p->layers[k].lines[i],
                                err) < 0)
                                return -1;
        return 0;
}

int plan_secrets(struct session_plan *plan, struct err *err)
{
        return plan_secrets_collect(&plan->door.parsed, &plan->secrets, plan, err);
}

/* resolve(s): from any: a variable that is set is taken, else the vault is asked. */
static void resolve(struct session_secret *s)
{
        struct rule_secret *r = s->line.secret;
        const char *value = r->source == RULE_FROM_ANY ? getenv(session_secret_asked(s)) : NULL;
        if (r->source != RULE_FROM_ANY)
                return;
        r->source = value && *value ? RULE_FROM_ENV : RULE_FROM_VAULT;
        s->took = value && *value ? "the environment" : "the vault";
}

/* note_left_out(plan, s, missing): for explain. */
static void note_left_out(struct session_plan *plan, const struct session_secret *s,
                          const struct err *missing)
{
        _cleanup_free_ char *what = str_fmt("secret %s", s->line.secret->name);
        _cleanup_free_ char *why =
                str_fmt("%s%s (%s)", missing->text,
                        s->is_optional ? "" : ", so that run would refuse", s->where);
        session_plan_note(plan, true, what, why);
}

int plan_secrets_find(struct session_plan *plan, bool is_told, struct err *err)
{
        struct session_secrets *all = &plan->secrets;
        struct err no_keeper = {0};
        _cleanup_close_ int keeper = all->n ? door_program_open(&no_keeper) : -1;
        for (size_t i = 0; i < all->n; i++) {
                struct err missing = no_keeper;
                struct session_secret *s = &all->v[i];
                s->number = (uint32_t)i + 1;
                resolve(s);
                if (keeper >= 0 && source_is_there(s, plan->box.home, &missing) == 0 &&
                    source_clock(s->line.secret, time(NULL), &missing) == 0)
                        continue;
                if (!s->is_optional && !is_told) {
                        *err = missing;
                        return err_add(err, "secret %s (%s)", s->line.secret->name, s->where);
                }
                note_left_out(plan, s, &missing);
                session_secrets_leave_out(all, i--, &missing);
        }
        return 0;
}

static void wipe_variable(struct strs *env, const char *name)
{
        size_t n = strlen(name);
        for (size_t i = env->n; i-- > 0;) {
                if (strncmp(env->v[i], name, n) != 0 || (env->v[i][n] != '=' && env->v[i][n]))
                        continue;
                explicit_bzero(env->v[i], strlen(env->v[i]));
                strs_remove(env, i);
        }
}

void plan_secrets_take(struct session_plan *plan, struct session_opts *opts)
{
        static const char *const aws[] = {"AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY",
                                          "AWS_SESSION_TOKEN", "AWS_SECURITY_TOKEN"};
        for (size_t i = 0; i < plan->secrets.n; i++) {
                const struct session_secret *s = &plan->secrets.v[i];
                const char *const names[] = {s->line.secret->name,
                                             s->line.secret->source == RULE_FROM_ENV
                                                     ? session_secret_asked(s)
                                                     : s->line.secret->name};
                for (size_t k = 0; k < 2; k++) {
                        wipe_variable(&plan->box.env, names[k]);
                        wipe_variable(&opts->env, names[k]);
                }
                for (size_t k = 0; s->line.secret->source == RULE_FROM_AWS && k < 4; k++) {
                        wipe_variable(&plan->box.env, aws[k]);
                        wipe_variable(&opts->env, aws[k]);
                }
        }
}

char *plan_secrets_words(const struct session_plan *plan)
{
        size_t n = plan->secrets.n;
        return n ? str_fmt("%zu secret%s", n, n == 1 ? "" : "s") : NULL;
}
