/* sup_secrets.c - secrets before the box exists: the keeper is started, every source is asked at
 * once, and when each value is with the keeper the box gets its placeholders and is built. Any
 * value that is missing or no good means that no box is started. See sup_secrets.h. */
#include "session/sup_secrets.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "session/secret_files.h"
#include "session/secret_kept.h"
#include "session/secret_mask.h"
#include "session/sup_ssh.h"
#include "session/sup_ssh_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { SLOW_MS = 1000, KEEPER_MS = 20000, SEND_MS = 5000, WORDS_MAX = 1000 };

static void on_value(void *ctx, int fd, struct err *err);

struct sup_secrets *sup_secrets_of(struct sup *s)
{
        if (s->secrets)
                return s->secrets;
        struct session_secrets *plan = &s->plan->secrets;
        struct sup_secrets *all = s->secrets = calloc(1, sizeof *all);
        /* As many as there can ever be: timers and sources keep pointers to them. What is not
         * used is not even memory. */
        if (!all || !(all->v = calloc(DOOR_SECRETS_MAX, sizeof *all->v)))
                str_no_memory();
        all->sup = s;
        for (size_t i = 0; i < plan->n; i++)
                sup_secrets_add(all, &plan->v[i]);
        return all;
}

struct sup_secret *sup_secrets_add(struct sup_secrets *all, struct session_secret *secret)
{
        struct sup *s = all->sup;
        struct sup_secret *x = &all->v[all->n++];
        *x = (struct sup_secret){.all = all,
                                 .secret = secret,
                                 .source = {.secret = secret,
                                            .env = &s->plan->secrets.env,
                                            .home = s->plan->box.home,
                                            .data_dir = s->store->data,
                                            .loop = s->loop,
                                            .done = on_value,
                                            .ctx = x}};
        return x;
}

/* --- the box's side ----------------------------------------------------------------------------
 */

void sup_secrets_put_env(const struct session_secret *s, struct strs *env, bool *has_aws)
{
        const struct rule_secret *line = s->line.secret;
        const char *whole = session_secret_part(s, ""), *id = session_secret_part(s, "id"),
                   *key = session_secret_part(s, "key"), *token = session_secret_part(s, "token");
        if (!whole && line->source != RULE_FROM_LOGIN) /* a login is in its agent's own file */
                whole = session_secret_part(s, "access");
        if (whole)
                strs_set_env(env, line->name, whole);
        if (!id || !key || *has_aws)
                return;
        *has_aws = true;
        strs_set_env(env, "AWS_ACCESS_KEY_ID", id);
        strs_set_env(env, "AWS_SECRET_ACCESS_KEY", key);
        if (token)
                strs_set_env(env, "AWS_SESSION_TOKEN", token);
        if (line->region) {
                strs_set_env(env, "AWS_REGION", line->region);
                strs_set_env(env, "AWS_DEFAULT_REGION", line->region);
        }
}

static int furnish(struct sup *s, struct err *err)
{
        struct session_secrets *all = &s->plan->secrets;
        bool has_aws = false;
        if (secret_kept_write(s->dir_fd, all, err) < 0)
                return -1;
        for (size_t i = 0; i < all->n; i++)
                sup_secrets_put_env(&all->v[i], &s->plan->box.env, &has_aws);
        return secret_mask_grant(s->plan, s->dir_fd, err) < 0
                       ? -1
                       : secret_files_write(s->plan, s->dir_fd, err);
}

/* --- waiting for all of them -------------------------------------------------------------------
 */

static void give_up(struct sup_secrets *all, const struct err *err)
{
        struct sup *s = all->sup;
        if (s->is_ending)
                return;
        loop_timer_stop(&all->slow);
        loop_timer_stop(&all->patience);
        s->failure = *err;
        sup_fail(s, NULL);
}

static void go_on(struct sup_secrets *all)
{
        struct sup *s = all->sup;
        struct err err = {0};
        loop_timer_stop(&all->slow);
        loop_timer_stop(&all->patience);
        all->is_up = true;
        if (furnish(s, &err) < 0)
                give_up(all, &err);
        else
                sup_build(s);
}

static void settle_one(struct sup_secrets *all)
{
        if (--all->waiting_n == 0 && !all->sup->is_ending)
                go_on(all);
}

/* name_error(x, err, to): which secret, and who says that it is wanted. */
static void name_error(const struct sup_secret *x, const struct err *err, struct err *to)
{
        *to = *err;
        err_add(to, "secret %s (%s)", x->secret->line.secret->name, x->secret->where);
}

/* tell_took(x): one that was looked for in two places: which it was. */
static void tell_took(const struct sup_secret *x)
{
        if (!x->secret->took)
                return;
        _cleanup_free_ char *words = str_fmt("secret %s is taken from %s",
                                             x->secret->line.secret->name, x->secret->took);
        sup_tell(x->all->sup, words);
}

/* settle(x, err): its first value is with the keeper, or ${err} says why not. */
static void settle(struct sup_secret *x, const struct err *err)
{
        struct sup_secrets *all = x->all;
        struct err named;
        x->is_busy = false;
        if (all->is_up) {
                sup_secrets_settled(x, err);
                return;
        }
        if (err) {
                name_error(x, err, &named);
                if (!x->secret->is_optional) {
                        give_up(all, &named);
                        return;
                }
                err_add(&named, "left out");
                sup_tell(all->sup, named.text);
                x->state = SUP_SECRET_LEFT_OUT;
        } else {
                tell_took(x);
                sup_secrets_settled(x, NULL);
        }
        settle_one(all);
}

/* --- values on their way -----------------------------------------------------------------------
 */

/* send_patiently(r, type, b, fd): the keeper reads one after the other, and its socket takes few.
 */
static int send_patiently(struct sup_role_process *r, uint32_t type, const struct buf *b, int fd)
{
        while (sup_role_send(r, type, b, &fd, fd >= 0) < 0) {
                struct pollfd p = {.fd = r->fd, .events = POLLOUT};
                if (r->pid == 0)
                        errno = EPIPE; /* the door is shut, and the keeper gone */
                if (r->pid == 0 || (errno != EAGAIN && errno != ENOBUFS) ||
                    poll(&p, 1, SEND_MS) <= 0)
                        return -1;
        }
        return 0;
}

/* give_stand_in(x, part, text): what the box had before is to go on working. */
static int give_stand_in(void *ctx, const char *part, const char *text)
{
        const struct sup_secret *x = ctx;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, x->secret->number);
        buf_put_lstr(&b, part);
        buf_put_lstr(&b, text);
        return send_patiently(&x->all->sup->door->roles[SUP_KEEPER], DOOR_STAND_IN, &b, -1);
}

int sup_secrets_give(struct sup_secret *x, int fd, struct err *err)
{
        struct sup_door *d = x->all->sup->door;
        _cleanup_buf_ struct buf line = {0}, b = {0}, hosts = {0}, held = {0};
        if (sup_ssh_is(x->secret->line.secret)) {
                if (sup_ssh_hosts(x->secret, x->all->sup->plan->box.home, &hosts, err) < 0)
                        return -1;
                sup_ssh_agent_held(x->source.env, &held);
                if (send_patiently(&d->roles[SUP_KEEPER], DOOR_SSH_HOSTS, &hosts, -1) < 0 ||
                    send_patiently(&d->roles[SUP_KEEPER], DOOR_SSH_HELD, &held, -1) < 0)
                        return err_sys(err, "tell the keeper whom a key of ssh is for");
        }
        if (x->secret->parts_n == 0 && /* its first value in this life of the box */
            secret_kept_each(x->all->sup->dir_fd, x->secret->line.secret->name, give_stand_in, x) <
                    0)
                return err_sys(err, "tell the keeper of placeholders");
        rule_line_print(&x->secret->line, &line);
        buf_put_u32(&b, x->secret->number);
        buf_put_lstr(&b, buf_cstr(&line));
        if (send_patiently(&d->roles[SUP_KEEPER], fd < 0 ? DOOR_LINE : DOOR_SECRET, &b, fd) < 0)
                return err_sys(err, "give the value to the keeper");
        return 0;
}

static void on_value(void *ctx, int fd, struct err *err)
{
        struct sup_secret *x = ctx;
        _cleanup_close_ int value = fd;
        if (value >= 0 && x->source.warning) {
                _cleanup_free_ char *words =
                        str_fmt("secret %s: %s", x->secret->line.secret->name, x->source.warning);
                sup_tell(x->all->sup, words);
        }
        if (value < 0 || sup_secrets_give(x, value, err) < 0)
                settle(x, err);
}

void sup_secrets_ask(struct sup_secret *x)
{
        if (x->is_busy) {
                x->wants_again = true;
                return;
        }
        x->is_busy = true;
        source_ask(&x->source);
}

/* --- what the keeper says ----------------------------------------------------------------------
 */

static int get_parts(struct cur *c, struct session_secret *s)
{
        uint32_t n;
        if (cur_u32(c, &n) < 0 || n > DOOR_PARTS_MAX)
                return -1;
        bool is_first = s->parts_n == 0; /* they stay for as long as the box lives */
        for (uint32_t i = 0; i < n; i++) {
                _cleanup_free_ char *name = NULL, *placeholder = NULL;
                if (cur_lstr(c, 64, &name) < 0 || cur_lstr(c, DOOR_SECRET_MAX, &placeholder) < 0)
                        return -1;
                if (is_first)
                        s->parts[s->parts_n++] = (struct session_secret_part){
                                .name = take_ptr(&name), .placeholder = take_ptr(&placeholder)};
        }
        return 0;
}

static void on_ok(struct sup_secret *x, struct cur *c)
{
        _cleanup_free_ char *provider = NULL, *warning = NULL;
        if (cur_lstr(c, 64, &provider) < 0 || cur_lstr(c, WORDS_MAX, &warning) < 0 ||
            get_parts(c, x->secret) < 0) {
                sup_door_shut(x->all->sup->door, "the process that holds the box's keys talks "
                                                 "nonsense");
                return;
        }
        free(x->secret->provider);
        x->secret->provider = take_ptr(&provider);
        if (*warning) {
                _cleanup_free_ char *words =
                        str_fmt("secret %s: %s", x->secret->line.secret->name, warning);
                sup_tell(x->all->sup, words);
        }
        settle(x, NULL);
}

void sup_secrets_hear(struct sup *s, uint32_t type, struct cur *c)
{
        struct sup_secrets *all = sup_secrets_of(s);
        struct err err = {0};
        uint32_t number;
        _cleanup_free_ char *words = NULL;
        if (type == DOOR_ROTATED) {
                sup_secrets_rotated(s, c);
                return;
        }
        if (cur_u32(c, &number) < 0)
                return;
        if (type == DOOR_REVOKED) {
                sup_secrets_revoked(s, number);
                return;
        }
        if (number == 0 || number > all->n)
                return; /* a token that was born in the box is no business of ours */
        struct sup_secret *x = &all->v[number - 1];
        if (type == DOOR_SECRET_OK && x->is_busy && !x->source.is_asking) {
                on_ok(x, c);
        } else if (type == DOOR_SECRET_BAD && x->is_busy && !x->source.is_asking) {
                bool has_words = cur_lstr(c, WORDS_MAX, &words) == 0;
                err_set(&err, E_INPUT, "%s", has_words ? words : "the keeper cannot use it");
                settle(x, &err);
        } else if (type == DOOR_REFRESH && x->state == SUP_SECRET_HELD) {
                sup_login_refresh(x);
        }
}

/* --- begin and end -----------------------------------------------------------------------------
 */

static void on_slow(void *ctx)
{
        struct sup_secrets *all = ctx;
        _cleanup_buf_ struct buf b = {0};
        for (size_t i = 0; i < all->n; i++)
                if (all->v[i].is_busy)
                        buf_put_fmt(&b, "%s%s", b.len ? ", " : "",
                                    all->v[i].secret->line.secret->name);
        _cleanup_free_ char *words = str_fmt("waiting for the box's secrets: %s", buf_cstr(&b));
        sup_tell(all->sup, words);
}

/* on_patience_over: sources have a limit of their own, so it is the keeper that is silent. */
static void on_patience_over(void *ctx)
{
        struct sup_secrets *all = ctx;
        struct err err = {0};
        err_set(&err, E_SYSTEM, "the process that holds the box's keys did not answer in time");
        give_up(all, &err);
}

int sup_secrets_begin(struct sup *s, struct err *err)
{
        struct sup_secrets *all = sup_secrets_of(s);
        if (sup_door_keeper(s, err) < 0)
                return err_add(err, "the box's secrets have no keeper");
        all->slow = (struct loop_timer){.fn = on_slow, .ctx = all};
        all->patience = (struct loop_timer){.fn = on_patience_over, .ctx = all};
        loop_timer_set(s->loop, &all->slow, SLOW_MS);
        loop_timer_set(s->loop, &all->patience, SOURCE_MS + KEEPER_MS);
        all->waiting_n = all->n + 1; /* one more, so that nothing is over before all are asked */
        for (size_t i = 0; i < all->n && !s->is_ending; i++)
                sup_secrets_ask(&all->v[i]);
        settle_one(all);
        return 0;
}

void sup_secrets_fail_all(struct sup *s, const char *words)
{
        struct sup_secrets *all = s->secrets;
        struct err err = {0};
        err_set(&err, E_SYSTEM, "%s", words);
        while (all && all->revoking) {
                struct sup_revoking *r = all->revoking;
                all->revoking = r->next;
                if (r->client)
                        client_send_failed(r->client, &err);
                free(r);
        }
        if (all)
                sup_secrets_reload_end(all);
        for (size_t i = 0; all && i < all->n; i++) {
                struct sup_secret *x = &all->v[i];
                if (x->rotator)
                        client_send_failed(x->rotator, &err);
                x->rotator = NULL;
                loop_timer_stop(&x->refresh);
                sup_login_end(x);
                source_cancel(&x->source);
        }
}

void sup_secrets_end(struct sup *s)
{
        struct sup_secrets *all = s->secrets;
        if (!all)
                return;
        sup_secrets_fail_all(s, "the box has ended");
        loop_timer_stop(&all->slow);
        loop_timer_stop(&all->patience);
}
