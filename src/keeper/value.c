/* value.c - what a source printed becomes the parts of a secret, after it was looked at: a value
 * with a line break in it would split a header (case S7), an empty one would send requests without
 * any key. Called when a value has come whole. Sentences name the secret and never show the value.
 */
#include "keeper/keeper_int.h"

#include "base/err.h"
#include "keeper/ssh_sign.h"
#include "keeper/token.h"
#include "policy/secret_shape.h"

#include <string.h>

bool value_has_form(const struct store_secret *x, enum rule_form form)
{
        const struct rule_secret *s = x->line.secret;
        for (size_t i = 0; i < s->forms_n; i++)
                if (s->forms[i].form == form)
                        return true;
        return false;
}

static const char *bad_byte(const uint8_t *p, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                if (p[i] == '\r' || p[i] == '\n')
                        return "has a line break in it";
                if (p[i] == 0)
                        return "has a NUL byte in it";
                if (p[i] < 0x20 || p[i] == 0x7f)
                        return "has a control character in it";
                if (p[i] > 0x7f)
                        return "has a character in it that is not ASCII";
        }
        return NULL;
}

int value_check(const char *what, const uint8_t *p, size_t n, struct err *err)
{
        if (n == 0)
                return err_set(err, E_INPUT, "%s is empty", what);
        const char *bad = bad_byte(p, n);
        if (bad)
                return err_set(err, E_INPUT, "%s %s; a key is one line of plain characters", what,
                               bad);
        if (p[0] == ' ' || p[n - 1] == ' ')
                return err_set(err, E_INPUT, "%s begins or ends with a blank", what);
        if (n < DOOR_SECRET_MIN)
                return err_set(err, E_INPUT,
                               "%s is too short for a key: it has fewer than %d characters", what,
                               DOOR_SECRET_MIN);
        return 0;
}

/* One line break at the end is how programs and editors end a line. */
static size_t without_end(const uint8_t *p, size_t n)
{
        if (n && p[n - 1] == '\n')
                n--;
        if (n && p[n - 1] == '\r')
                n--;
        return n;
}

static int take_line(struct keeper *k, struct store_secret *x, const uint8_t *p, size_t n,
                     struct err *err)
{
        n = without_end(p, n);
        if (value_check(x->line.secret->name, p, n, err) < 0)
                return -1;
        return store_set(k->store, x, "", p, n, STORE_SHAPED, err);
}

int value_take(struct keeper *k, struct store_secret *x, const uint8_t *p, size_t n,
               struct err *err)
{
        const struct rule_secret *s = x->line.secret;
        if (n == 0)
                return err_set(err, E_INPUT, "the source of %s gave nothing", s->name);
        if (n > DOOR_SECRET_MAX)
                return err_set(err, E_INPUT, "%s is longer than %d KiB, which no key is", s->name,
                               DOOR_SECRET_MAX >> 10);
        if (ssh_is_secret(x))
                return ssh_take(k, x, p, n, err);
        if (token_is(x))
                return token_load(k, x, p, n, err);
        if (!value_is_plain(x))
                return value_aws(k, x, p, n, err);
        return take_line(k, x, p, n, err);
}

bool value_is_plain(const struct store_secret *x)
{
        return !ssh_is_secret(x) && !token_is(x) && x->line.secret->source != RULE_FROM_AWS &&
               !value_has_form(x, RULE_AS_SIGV4);
}

/* Which part shows whose key it is. */
static const struct store_part *speaking_part(const struct store_secret *x)
{
        static const char *const names[] = {"", "access", "id"};
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
                const struct store_part *p = store_part(x, names[i]);
                if (p)
                        return p;
        }
        return NULL;
}

const char *value_provider(const struct store_secret *x)
{
        const struct store_part *p = speaking_part(x);
        const char *name = p ? secret_shape_name((const char *)p->value, p->len) : NULL;
        return name ? name : "";
}

void value_warn(const struct store_secret *x, struct buf *b)
{
        const struct rule_secret *s = x->line.secret;
        const char *provider = value_provider(x);
        const char *home = *provider ? secret_shape_host(provider) : NULL;
        if (!home)
                return;
        for (size_t i = 0; i < s->places_n; i++)
                if (secret_shape_is_home(provider, &s->places[i].host))
                        return;
        buf_put_fmt(b, "%s looks like a key of %s, which belongs to %s; it will be shown to ",
                    s->name, provider, home);
        for (size_t i = 0; i < s->places_n; i++) {
                buf_put_str(b, i ? ", " : "");
                rule_place_print(&s->places[i], b);
        }
}
