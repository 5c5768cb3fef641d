/* sup_secrets_alarm.c - a placeholder was seen where it has no business. egress has refused it
 * already; here it is told to whoever is attached, and what the secret's line says (leak=) is done.
 * Words of egress may hold bytes of the box: whoever prints them quotes them. */
#include "session/sup_secrets.h"

#include "base/cleanup.h"
#include "base/str.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { WHAT_MAX = 1000 };

static void tell(struct sup *s, const char *words)
{
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        for (struct client *c = s->clients; c; c = c->next)
                if (c->exec)
                        client_send(c, MSG_ALARM, b.data, b.len);
}

static enum rule_leak leak_of(const struct sup_secrets *all, uint32_t number)
{
        return number && number <= all->n ? all->v[number - 1].secret->line.secret->leak
                                          : RULE_LEAK_ALARM;
}

/* count(all, what): one more. True when it is to be told: equal ones are told once and counted, and
 * a box can make thousands that differ. */
static bool count(struct sup_secrets *all, const char *what)
{
        all->alarms_n++;
        for (size_t i = 0; i < all->alarms.n; i++)
                if (strcmp(all->alarms.v[i], what) == 0) {
                        all->alarms_times[i]++;
                        return false;
                }
        if (all->alarms.n == SUP_ALARMS_KEPT)
                return false;
        all->alarms_times[all->alarms.n] = 1;
        strs_add(&all->alarms, what);
        return true;
}

void sup_secrets_alarm(struct sup *s, struct cur *body)
{
        struct sup_secrets *all = sup_secrets_of(s);
        uint32_t number;
        _cleanup_free_ char *what = NULL, *words = NULL;
        if (cur_u32(body, &number) < 0 || cur_lstr(body, WHAT_MAX, &what) < 0 || s->is_ending)
                return;
        bool is_told = count(all, what);
        switch (leak_of(all, number)) {
        case RULE_LEAK_ALARM:
                words = str_fmt("alarm: %s", what);
                break;
        case RULE_LEAK_PAUSE:
                sup_pause(s);
                words = str_fmt("alarm: %s; the box is paused (leak=pause): ostiary stop %s ends "
                                "it, ostiary resume %s lets it go on",
                                what, s->id, s->id);
                is_told = true;
                break;
        case RULE_LEAK_REVOKE:
                if (all->v[number - 1].state != SUP_SECRET_REVOKED)
                        sup_secrets_revoke(s, number, NULL);
                words = str_fmt("alarm: %s; %s is revoked in this box (leak=revoke)", what,
                                all->v[number - 1].secret->line.secret->name);
                break;
        case RULE_LEAK_KILL:
                words = str_fmt("%s; the box was ended (leak=kill)", what);
                sup_end(s, MSG_END_FAULT, 0, words);
                return;
        }
        if (is_told && words)
                tell(s, words);
}

void sup_secrets_last_words(struct client *c)
{
        const struct sup_secrets *all = c->sup->secrets;
        if (!all || all->alarms_n == 0)
                return;
        _cleanup_buf_ struct buf text = {0}, b = {0};
        buf_put_fmt(&text, "%llu alarm%s while the box ran:", (unsigned long long)all->alarms_n,
                    all->alarms_n == 1 ? "" : "s");
        uint64_t named = 0;
        for (size_t i = 0; i < all->alarms.n && i < 5; i++) {
                buf_put_fmt(&text, "%s %.300s", i ? ";" : "", all->alarms.v[i]);
                if (all->alarms_times[i] > 1)
                        buf_put_fmt(&text, " (%llu times)",
                                    (unsigned long long)all->alarms_times[i]);
                named += all->alarms_times[i];
        }
        if (all->alarms_n > named)
                buf_put_str(&text, "; and more");
        buf_put_lstr(&b, buf_cstr(&text));
        client_send(c, MSG_ALARM, b.data, b.len);
}
