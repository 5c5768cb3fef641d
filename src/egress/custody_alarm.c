/* custody_alarm.c - see custody.h: the tripwire's bell, and names that hold a placeholder. Called
 * by whoever finds one where it has no business; the caller refuses what held it. It must never
 * write the placeholder itself: a log is read by many. */
#include "egress/custody.h"

#include "base/str.h"
#include "egress/door.h"
#include "egress/scan.h"
#include "policy/host_name.h"
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>

/* put_home(b, s): where it belongs: "api.example.com as bearer". */
static void put_home(struct buf *b, const struct custody_secret *s)
{
        static const char *const words[] = {
                [RULE_AS_BEARER] = "bearer",
                [RULE_AS_BASIC] = "basic",
                [RULE_AS_HEADER] = "header",
                [RULE_AS_QUERY] = "query",
                [RULE_AS_PATH] = "path",
                [RULE_AS_COOKIE] = "cookie",
                [RULE_AS_JSON] = "json",
                [RULE_AS_FORM] = "form",
                [RULE_AS_WS] = "ws",
                [RULE_AS_SIGV4] = "sigv4",
                [RULE_AS_HMAC] = "hmac",
                [RULE_AS_GCP] = "gcp",
                [RULE_AS_GITHUB_APP] = "github-app",
                [RULE_AS_OAUTH] = "oauth",
                [RULE_AS_SSH] = "ssh",
        };
        const struct rule_secret *l = s->line.secret;
        for (size_t i = 0; i < l->places_n; i++) {
                buf_put_str(b, i ? ", " : "");
                rule_place_print(&l->places[i], b);
        }
        for (size_t i = 0; i < l->forms_n; i++)
                buf_put_fmt(b, "%s%s%s%s", i ? ", " : " as ", words[l->forms[i].form],
                            l->forms[i].name ? " " : "", l->forms[i].name ? l->forms[i].name : "");
}

char *custody_leak_words(struct door *d, uint32_t number, const char *where)
{
        const struct custody_secret *s = custody_find(custody_of(d), number);
        if (!s)
                return str_fmt("a secret's placeholder was found in %s", where);
        _cleanup_buf_ struct buf home = {0};
        put_home(&home, s);
        return str_fmt("the placeholder of secret %s was found in %s, and it belongs to %s only",
                       custody_name(s), where, buf_cstr(&home));
}

void custody_alarm(struct door *d, uint32_t number, const char *where, const char *host,
                   uint16_t source_port)
{
        const struct custody_secret *s = custody_find(custody_of(d), number);
        char *words = custody_leak_words(d, number, where);
        record_put(d, &(struct door_record){
                              .time_us = record_now_us(),
                              .kind = "alarm",
                              .verdict = "deny",
                              .host = host,
                              .source_port = source_port,
                              .secrets = s ? custody_name(s) : "",
                              .note = words,
                      });
        record_flush(d); /* before anybody acts upon it */
        _cleanup_buf_ struct buf b = {0};
        char *what = str_fmt("%s, on its way to %s", words, host);
        buf_put_u32(&b, number);
        buf_put_lstr(&b, what);
        frame_send(d->control_fd, DOOR_ALARM, &b, NULL, 0);
        free(what);
        free(words);
}

/* --- names ----------------------------------------------------------------------------------- */

/* fold(text, n, is_letters_only, out): as a name can carry it: letters small, and when a name has
 * to do without them, no punctuation either. */
static size_t fold(const char *p, size_t n, bool is_plain, char *out)
{
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
                char c = p[i];
                if (c >= 'A' && c <= 'Z')
                        c = (char)(c + 32);
                bool is_kept = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
                if (is_kept || (!is_plain && c != '.'))
                        out[kept++] = c;
        }
        return kept;
}

/* base64_fold: a name folds letters, so base64 in it cannot be undone; the writing is compared with
 * its letters made small instead. */
static bool holds(const char *name, size_t n, const char *text, size_t len)
{
        char want[HOST_TEXT_MAX + 1];
        /* A tail of a long text that fills a name says enough; but all of it is the rule. */
        if (len < DOOR_SECRET_MIN || len > HOST_TEXT_MAX)
                return false;
        size_t want_n = fold(text, len, true, want);
        return want_n >= DOOR_SECRET_MIN && memmem(name, n, want, want_n) != NULL;
}

static bool part_leaks(const char *name, size_t n, const char *placeholder)
{
        size_t len = strlen(placeholder);
        if (holds(name, n, placeholder, len))
                return true;
        for (int coding = SECRET_RAW + 1; coding < SECRET_CODINGS; coding++) {
                _cleanup_buf_ struct buf b = {0};
                if (secret_form_put((enum secret_coding)coding, placeholder, len, &b) &&
                    holds(name, n, (const char *)b.data, b.len))
                        return true;
        }
        return false;
}

uint32_t custody_name_leaks(struct door *d, const struct host_name *host)
{
        const struct custody *c = custody_of(d);
        if (!c->secrets || host->kind != HOST_NAME || host->len < DOOR_SECRET_MIN)
                return 0;
        char name[HOST_TEXT_MAX + 1];
        size_t n = fold(host->text, host->len, true, name);
        for (const struct custody_secret *s = c->secrets; s; s = s->next)
                for (size_t i = 0; i < s->parts_n; i++)
                        if (part_leaks(name, n, s->parts[i].placeholder))
                                return s->number;
        return 0;
}
