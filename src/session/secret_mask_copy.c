/* secret_mask_copy.c - a text with its secrets exchanged for stand-ins: of the same length and
 * shape and drawn anew, so that what parses the file goes on working, or the placeholder of the
 * secret that was granted under that name. Called by secret_mask.c. */
#include "session/secret_mask_int.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "policy/secret_shape.h"
#include "session/secrets.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>

void secret_mask_copy_free(struct secret_mask_copy *c)
{
        buf_free(&c->text);
        strs_free(&c->keys);
        strs_free(&c->names);
}

static void draw_random(uint8_t *p, size_t n)
{
        while (n > 0) {
                ssize_t got = getrandom(p, n < 256 ? n : 256, 0);
                if (got <= 0)
                        abort(); /* without it a stand-in would be guessed */
                p += got;
                n -= (size_t)got;
        }
}

/* draw(c, r): another character of the same class. */
static char draw(char c, uint8_t r)
{
        if (c >= '0' && c <= '9')
                return (char)('0' + r % 10);
        if (c >= 'a' && c <= 'z')
                return (char)('a' + r % 26);
        if (c >= 'A' && c <= 'Z')
                return (char)('A' + r % 26);
        return (unsigned char)c >= 0x80 ? 'x' : c;
}

static void put_stand_in(struct buf *out, const char *p, size_t n)
{
        uint8_t *random = malloc(n);
        _cleanup_buf_ struct buf shaped = {0};
        if (!random)
                str_no_memory();
        draw_random(random, n);
        if (secret_shape_name(p, n) && secret_shape_stand_in(p, n, random, n, &shaped) == 0 &&
            shaped.len == n) {
                buf_put(out, shaped.data, n);
        } else {
                for (size_t i = 0; i < n; i++) {
                        bool is_escape = p[i] == '\\' && i + 1 < n;
                        buf_put_u8(out, (uint8_t)draw(p[i], random[i]));
                        if (is_escape) /* \n in a key's body stays a line's end */
                                buf_put_u8(out, (uint8_t)p[++i]);
                }
        }
        explicit_bzero(random, n);
        free(random);
}

static bool is_at(const struct session_secret *s, const char *host, enum rule_form form)
{
        struct host_name h;
        if (!*host || host_name_parse(host, strlen(host), &h, NULL) < 0)
                return false;
        const struct rule_secret *r = s->line.secret;
        bool is_shown_so = false;
        for (size_t i = 0; i < r->forms_n; i++)
                is_shown_so |= r->forms[i].form == form;
        for (size_t i = 0; is_shown_so && i < r->places_n; i++)
                if (r->places[i].host_kind == RULE_HOST_EXACT
                            ? host_name_equal(&r->places[i].host, &h)
                            : host_name_is_below(&h, &r->places[i].host))
                        return true;
        return false;
}

/* aws_part(name): which part of AWS's keys a variable of this name holds, or NULL. */
static const char *aws_part(const char *name)
{
        return strcasecmp(name, "AWS_ACCESS_KEY_ID") == 0       ? "id"
               : strcasecmp(name, "AWS_SECRET_ACCESS_KEY") == 0 ? "key"
               : strcasecmp(name, "AWS_SESSION_TOKEN") == 0     ? "token"
                                                                : NULL;
}

static bool is_aws(const struct session_secret *s)
{
        const struct rule_secret *r = s->line.secret;
        for (size_t i = 0; i < r->forms_n; i++)
                if (r->forms[i].form == RULE_AS_SIGV4)
                        return true;
        return r->source == RULE_FROM_AWS;
}

/* granted(secrets, span, &part): the secret that a value belongs to by its name or by its URL's
 * host, and which part of it. */
static const struct session_secret *granted(const struct session_secrets *all,
                                            const struct secret_span *span, const char **part)
{
        *part = "";
        for (size_t i = 0; all && i < all->n; i++) {
                const struct session_secret *s = &all->v[i];
                if (*span->name ? strcmp(span->name, s->line.secret->name) == 0
                                : is_at(s, span->host,
                                        span->is_bearer ? RULE_AS_BEARER : RULE_AS_BASIC))
                        return s;
        }
        const char *aws = aws_part(span->name);
        for (size_t i = 0; all && aws && i < all->n; i++) {
                *part = aws;
                if (is_aws(&all->v[i]))
                        return &all->v[i];
        }
        return NULL;
}

void secret_mask_copy_make(enum secret_scan_kind kind, const char *text, size_t n,
                           const struct session_secrets *secrets, struct secret_mask_copy *c)
{
        _cleanup_spans_ struct secret_spans spans = {0};
        _cleanup_strs_ struct strs names = {0};
        for (size_t i = 0; secrets && i < secrets->n; i++)
                strs_add(&names, secrets->v[i].line.secret->name);
        secret_scan_text(kind, text, n, &names, &spans);
        size_t at = 0;
        for (size_t i = 0; i < spans.n; i++) {
                const struct secret_span *span = &spans.v[i];
                const char *part;
                const struct session_secret *s = granted(secrets, span, &part);
                const char *placeholder = s ? session_secret_part(s, part) : NULL;
                buf_put(&c->text, text + at, span->at - at);
                at = span->at + span->len;
                if (s && !strs_has(&c->names, s->line.secret->name))
                        strs_add(&c->names, s->line.secret->name);
                if (placeholder && *placeholder && !strpbrk(placeholder, "\"'\\ \n"))
                        buf_put_str(&c->text, placeholder);
                else
                        put_stand_in(&c->text, text + span->at, span->len);
                if (*span->name || *span->host)
                        strs_add(&c->keys, *span->name ? span->name : span->host);
        }
        buf_put(&c->text, text + at, n - at);
        c->count = spans.n;
}
