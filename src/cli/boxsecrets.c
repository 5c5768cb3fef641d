/* boxsecrets.c - see boxsecrets.h. Lines are parsed again here, so that what is shown is what the
 * grammar says and not what a string happens to hold. */
#include "cli/boxsecrets.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/json.h"
#include "base/str.h"
#include "cli/boxrules.h"
#include "wire/msg.h"

#include <stdlib.h>
#include <string.h>

enum { LINE_MAX_LEN = 16384, WORDS_MAX = 2000 };

static const char *const leaks[] = {[RULE_LEAK_ALARM] = "alarm",
                                    [RULE_LEAK_PAUSE] = "pause",
                                    [RULE_LEAK_REVOKE] = "revoke",
                                    [RULE_LEAK_KILL] = "kill"};

void boxsecrets_free(struct boxsecrets *s)
{
        for (size_t i = 0; i < s->n; i++) {
                rule_line_free(&s->v[i].line);
                free(s->v[i].where);
                free(s->v[i].provider);
                free(s->v[i].state);
                free(s->v[i].fault);
        }
        free(s->v);
        *s = (struct boxsecrets){0};
}

static int get_one(struct cur *c, struct boxsecret *s)
{
        _cleanup_free_ char *line = NULL;
        size_t column;
        if (cur_lstr(c, LINE_MAX_LEN, &line) < 0 ||
            rule_line_parse(line, strlen(line), &s->line, &column, NULL) != 1)
                return -1;
        if (s->line.kind != RULE_LINE_SECRET || cur_lstr(c, WORDS_MAX, &s->where) < 0 ||
            cur_lstr(c, WORDS_MAX, &s->provider) < 0 || cur_lstr(c, WORDS_MAX, &s->state) < 0)
                return -1;
        return cur_lstr(c, WORDS_MAX, &s->fault);
}

int boxsecrets_ask(int sock, struct boxsecrets *s, struct err *err)
{
        static struct frame f;
        uint32_t n;
        *s = (struct boxsecrets){0};
        if (boxrules_ask(sock, MSG_SECRETS, NULL, MSG_SECRETS_ARE, &f, err) < 0)
                return -1;
        int r = cur_u32(&f.body, &n) < 0 || n > DOOR_SECRETS_MAX ? -1 : 0;
        if (r == 0 && !(s->v = calloc(n + 1, sizeof *s->v)))
                str_no_memory();
        for (uint32_t i = 0; r == 0 && i < n; i++, s->n++)
                r = get_one(&f.body, &s->v[i]);
        frame_release(&f);
        return r < 0 ? err_set(err, E_PROTO, "the supervisor's answer makes no sense") : 0;
}

void boxsecrets_places(const struct rule_secret *s, struct buf *b)
{
        for (size_t i = 0; i < s->places_n; i++) {
                buf_put_str(b, i ? "," : "");
                rule_place_print(&s->places[i], b);
        }
}

void boxsecrets_forms(const struct rule_secret *s, struct buf *b)
{
        for (size_t i = 0; i < s->forms_n; i++)
                buf_put_fmt(b, "%s%s%s%s", i ? ", " : "", rule_form_word(s->forms[i].form),
                            s->forms[i].name ? " " : "", s->forms[i].name ? s->forms[i].name : "");
}

static void put_time(struct buf *b, const char *name, uint64_t s)
{
        if (!s)
                return;
        const char *unit = s % 3600 == 0 ? "h" : s % 60 == 0 ? "m" : "s";
        uint64_t n = s % 3600 == 0 ? s / 3600 : s % 60 == 0 ? s / 60 : s;
        buf_put_fmt(b, "%s%s=%llu%s", b->len ? " " : "", name, (unsigned long long)n, unit);
}

void boxsecrets_extras(const struct rule_secret *s, struct buf *b)
{
        if (s->is_injected)
                buf_put_str(b, "inject");
        if (s->is_plain)
                buf_put_fmt(b, "%splain", b->len ? " " : "");
        put_time(b, "ttl", s->ttl_s);
        put_time(b, "refresh", s->refresh_s);
        if (s->leak != RULE_LEAK_ALARM)
                buf_put_fmt(b, "%sleak=%s", b->len ? " " : "", leaks[s->leak]);
}

void boxsecrets_json(const struct rule_secret *s, struct json *j)
{
        json_str(j, "name", s->name);
        json_str(j, "source", rule_source_word(s->source));
        json_open(j, "places", '[');
        for (size_t i = 0; i < s->places_n; i++) {
                _cleanup_buf_ struct buf b = {0};
                rule_place_print(&s->places[i], &b);
                json_str(j, NULL, buf_cstr(&b));
        }
        json_close(j, ']');
        json_open(j, "forms", '[');
        for (size_t i = 0; i < s->forms_n; i++) {
                _cleanup_free_ char *form =
                        s->forms[i].name ? str_fmt("%s %s", rule_form_word(s->forms[i].form),
                                                   s->forms[i].name)
                                         : str_dup(rule_form_word(s->forms[i].form));
                json_str(j, NULL, form);
        }
        json_close(j, ']');
        json_bool(j, "inject", s->is_injected);
        json_bool(j, "plain", s->is_plain);
        json_u64(j, "ttl_s", s->ttl_s);
        json_u64(j, "refresh_s", s->refresh_s);
        json_str(j, "leak", leaks[s->leak]);
}
