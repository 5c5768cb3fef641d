/* custody.c - see custody.h: the list of secrets as the keeper tells it. Called by link.c for each
 * message of the keeper that is custody's. It must never hold a value: lines, placeholders and
 * fingers are all that it is given. */
#include "egress/custody.h"

#include "base/str.h"
#include "egress/door.h"
#include "egress/fetch.h"
#include "egress/scan.h"
#include "egress/ssh_agent.h"
#include "policy/match.h"
#include "role/role.h"
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_N = 32 << 10, PART_MAX = 32, SENTENCE_MAX = 4096 };

static _Noreturn void nonsense(struct door *d)
{
        door_fault(d, "the keeper told something of a secret that makes no sense");
}

struct custody *custody_of(struct door *d)
{
        if (!d->custody) {
                d->custody = calloc(1, sizeof *d->custody);
                if (!d->custody)
                        str_no_memory();
                d->custody->calls_end = &d->custody->calls;
        }
        return d->custody;
}

static struct custody_secret *find(const struct custody *c, uint32_t number)
{
        struct custody_secret *s = c->secrets;
        while (s && s->number != number)
                s = s->next;
        return s;
}

const struct custody_secret *custody_find(const struct custody *c, uint32_t number)
{
        return find(c, number);
}

const char *custody_name(const struct custody_secret *s)
{
        return s->line.secret->name;
}

const struct custody_secret *custody_managed(const struct custody *c, const struct host_name *host,
                                             uint16_t port, const struct path_canon *path,
                                             const struct custody_secret *next)
{
        for (next = next ? next->next : c->secrets; next; next = next->next)
                for (size_t i = 0; i < next->line.secret->places_n; i++) {
                        const struct rule_place *p = &next->line.secret->places[i];
                        /* Without a path even a place that has one speaks of the host. */
                        if (match_place(p, true, false, host, port, path) != MATCH_NO)
                                return next;
                }
        return NULL;
}

bool custody_may_show(const struct custody_secret *s, const struct host_name *host, uint16_t port,
                      bool is_tls, const struct path_canon *path)
{
        const struct rule_secret *l = s->line.secret;
        if (!is_tls && !l->is_plain)
                return false;
        for (size_t i = 0; i < l->places_n; i++) {
                const struct rule_place *p = &l->places[i];
                /* A place without a port is 443; 80 only where the line says that plain will do. */
                if (p->port == RULE_PORT_USUAL && port != (is_tls ? 443 : 80))
                        continue;
                if (match_place(p, true, false, host, port, path) == MATCH_ALL)
                        return true;
        }
        return false;
}

/* belongs_at(at, number): does that secret belong to the host, at whatever port and path? */
static bool belongs_at(const void *ctx, uint32_t number)
{
        const struct custody_from *at = ctx;
        const struct custody_secret *s = custody_find(at->custody, number);
        for (size_t i = 0; s && i < s->line.secret->places_n; i++) {
                const struct rule_place *p = &s->line.secret->places[i];
                if (p->host_kind == RULE_HOST_EXACT ? host_name_equal(&p->host, at->host)
                                                    : host_name_is_below(at->host, &p->host))
                        return true;
        }
        return false;
}

/* values_of(c): the set, also when nothing is in it yet. */
static struct scan_set *values_of(struct custody *c)
{
        if (!c->values)
                c->values = scan_set_new(c->key);
        return c->values;
}

struct scan_set *custody_values_at(struct custody *c, struct custody_from *at,
                                   const struct host_name *host)
{
        *at = (struct custody_from){.custody = c, .host = host};
        return scan_set_lens(values_of(c), belongs_at, at);
}

/* --- the keeper's messages ------------------------------------------------------------------- */

static void free_parts(struct custody_secret *s)
{
        for (size_t i = 0; i < s->parts_n; i++) {
                free(s->parts[i].name);
                free(s->parts[i].placeholder);
        }
        s->parts_n = 0;
}

static struct custody_secret *find_or_add(struct custody *c, uint32_t number)
{
        struct custody_secret **p = &c->secrets;
        while (*p && (*p)->number < number)
                p = &(*p)->next;
        struct custody_secret *there = *p;
        if (there && there->number == number)
                return there;
        struct custody_secret *s = calloc(1, sizeof *s);
        if (!s)
                str_no_memory();
        s->number = number;
        s->next = *p;
        *p = s;
        return s;
}

static void take_line(struct door *d, struct custody_secret *s, const char *text)
{
        struct rule_line line;
        size_t column;
        if (rule_line_parse(text, strlen(text), &line, &column, NULL) != 1)
                nonsense(d);
        if (line.kind != RULE_LINE_SECRET)
                nonsense(d);
        if (s->line.secret && rule_line_equal(&s->line, &line)) {
                rule_line_free(&line);
                return;
        }
        if (s->line.secret) { /* whoever is at it goes by the old line, which ends here */
                exchange_secret_gone(d, s->number, "the line of a secret that it shows changed");
                rule_line_free(&s->line);
        }
        s->line = line;
}

static void on_granted(struct door *d, struct cur *body)
{
        struct custody *c = custody_of(d);
        uint32_t number, n;
        char *text;
        if (cur_u32(body, &number) < 0 || number == 0 || cur_lstr(body, LINE_MAX_N, &text) < 0 ||
            cur_u32(body, &n) < 0 || n > DOOR_PARTS_MAX)
                nonsense(d);
        struct custody_secret *s = find_or_add(c, number);
        c->generation++;
        take_line(d, s, text);
        free(text);
        free(s->gone);
        s->gone = NULL;
        free_parts(s);
        if (!c->placeholders)
                c->placeholders = scan_set_new(c->key);
        for (uint32_t i = 0; i < n; i++) {
                if (cur_lstr(body, PART_MAX, &s->parts[i].name) < 0)
                        nonsense(d);
                if (cur_lstr(body, DOOR_SECRET_MAX, &s->parts[i].placeholder) < 0)
                        nonsense(d);
                s->parts_n++;
                if (role_weak("tripwire"))
                        continue;
                scan_set_text(c->placeholders, number, s->parts[i].placeholder,
                              strlen(s->parts[i].placeholder));
                custody_folds_add(c, number, s->parts[i].placeholder);
        }
}

static void on_fingers(struct door *d, struct cur *body)
{
        struct custody *c = custody_of(d);
        uint32_t number, part, is_local;
        if (cur_u32(body, &number) < 0 || cur_u32(body, &part) < 0 || cur_u32(body, &is_local) < 0)
                nonsense(d);
        const struct custody_secret *s = custody_find(c, number);
        if (!s || part >= s->parts_n)
                nonsense(d);
        struct scan_set *values = values_of(c);
        const char *stand_in = s->parts[part].placeholder;
        while (body->left > 0) {
                struct door_finger f;
                if (door_finger_get(body, &f) < 0)
                        nonsense(d);
                if (role_weak("scrub"))
                        continue;
                if (is_local)
                        scan_set_local(values, number, &f, stand_in, strlen(stand_in));
                else
                        scan_set_finger(values, number, &f, stand_in, strlen(stand_in));
        }
}

static void on_gone(struct door *d, struct cur *body)
{
        struct custody *c = custody_of(d);
        uint32_t number;
        char *sentence;
        if (cur_u32(body, &number) < 0 || cur_lstr(body, SENTENCE_MAX, &sentence) < 0)
                nonsense(d);
        for (struct custody_secret *s = c->secrets; s; s = s->next)
                if (s->number == number || number == DOOR_SECRET_ALL) {
                        free(s->gone);
                        s->gone = str_dup(sentence);
                }
        exchange_secret_gone(d, number, sentence);
        ssh_agent_gone(d, number, sentence);
        free(sentence);
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, number);
        keeper_tell(d, DOOR_GONE_OK, &b);
}

static void on_list_end(struct door *d, struct cur *body)
{
        (void)body;
        custody_of(d)->is_known = true;
        if (d->policy)
                accept_ports(d);
}

int custody_hello(struct door *d, const uint8_t *key, size_t n)
{
        if (n != DOOR_FINGER_KEY)
                return -1;
        memcpy(custody_of(d)->key, key, n);
        return 0;
}

/* hear_fetch(d, c): a call that the keeper itself needs. */
static void hear_fetch(struct door *d, struct cur *c)
{
        if (fetch_begin(d, c) < 0)
                door_fault(d, "the keeper wants a call made that makes no sense");
}

static const struct {
        uint32_t type;
        void (*run)(struct door *, struct cur *);
} table[] = {
        {DOOR_GRANTED, on_granted},    {DOOR_FINGERS, on_fingers},      {DOOR_GONE, on_gone},
        {DOOR_SSH_KEY, ssh_agent_key}, {DOOR_GRANTED_END, on_list_end}, {DOOR_FETCH, hear_fetch},
};

bool custody_hear(struct door *d, struct frame *f)
{
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
                if (table[i].type == f->type) {
                        table[i].run(d, &f->body);
                        return true;
                }
        return keeper_answered(d, f);
}
