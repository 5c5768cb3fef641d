/* custody_alarm.c - see custody.h: the tripwire's bell, and names that hold a placeholder. Called
 * by whoever finds one where it has no business; the caller refuses what held it. It must never
 * write the placeholder itself: a log is read by many. */
#include "egress/custody.h"

#include "base/str.h"
#include "egress/door.h"
#include "egress/exchange.h"
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

/* Hosts toward which one was on its way. A box that leaks to more than so many is known well
 * enough by the first of them. */
struct custody_host {
        struct custody_host *next;
        char *host;
};
enum { ALARMED_MAX = 256 };

bool custody_is_alarmed(struct door *d, const char *host)
{
        const struct custody_host *h = d->custody ? d->custody->alarmed : NULL;
        while (h && strcmp(h->host, host) != 0)
                h = h->next;
        return h != NULL;
}

static void remember(struct door *d, const char *host)
{
        struct custody *c = custody_of(d);
        if (c->alarmed_n == ALARMED_MAX || custody_is_alarmed(d, host))
                return;
        struct custody_host *h = malloc(sizeof *h);
        if (!h)
                str_no_memory();
        *h = (struct custody_host){.next = c->alarmed, .host = str_dup(host)};
        c->alarmed = h;
        c->alarmed_n++;
}

void custody_alarm(struct door *d, uint32_t number, const char *where, const char *host,
                   uint16_t source_port)
{
        remember(d, host);
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
        char *toward = str_fmt(" to %s,", host); /* most places name it themselves */
        char *what = strstr(words, toward) ? str_dup(words)
                                           : str_fmt("%s, on its way to %s", words, host);
        buf_put_u32(&b, number);
        buf_put_lstr(&b, what);
        frame_send(d->control_fd, DOOR_ALARM, &b, NULL, 0);
        free(toward);
        free(what);
        free(words);
}

void custody_alarm_hit(struct door *d, const struct scan_hit *hit, const char *where,
                       const char *host, uint16_t source_port)
{
        custody_alarm(d, hit->tag, where, host, source_port);
        for (uint32_t i = 0; i < hit->others_n; i++)
                custody_alarm(d, hit->others[i], where, host, source_port);
}

/* is_home(c, origin, number): is that the host of this secret? Half a head that its own host would
 * have got is no leak. */
static bool is_home(const struct custody *c, const struct origin *o, uint32_t number)
{
        for (const struct custody_secret *s = NULL;
             (s = custody_managed(c, &o->host, o->port, NULL, s));)
                if (s->number == number)
                        return true;
        return false;
}

char *custody_bytes_leak(struct door *d, const struct origin *o, const void *p, size_t n,
                         const char *where)
{
        const struct custody *c = custody_of(d);
        struct scan_hit hit;
        char *words = NULL;
        if (scan_set_is_empty(c->placeholders) || !scan_look(c->placeholders, p, n, &hit))
                return NULL;
        for (uint32_t i = 0; i <= hit.others_n; i++) {
                uint32_t number = i ? hit.others[i - 1] : hit.tag;
                if (is_home(c, o, number))
                        continue;
                custody_alarm(d, number, where, o->host.text, o->source_port);
                if (!words)
                        words = custody_leak_words(d, number, where);
        }
        return words;
}

/* --- names ----------------------------------------------------------------------------------- */

/* Names fold their letters and have little punctuation, so that a writing in one cannot be undone.
 * Writings are compared as a name shows them instead: small letters and digits alone. A long one is
 * also known by pieces, because no name holds all of it. */
struct custody_fold {
        struct custody_fold *next;
        uint32_t number;
        size_t n;
        char text[];
};

enum { PIECE = 24, STEP = 12, WHOLE_MAX = 48 };

/* A quick look: which eight bytes begin a writing, or a piece of one? Most names have none. */
static size_t bit_of(const char *p)
{
        uint64_t v;
        memcpy(&v, p, sizeof v);
        return (size_t)(v * 0x9e3779b97f4a7c15u >> 48); /* of 64 Ki */
}

static void mark(struct custody *c, const struct custody_fold *f)
{
        for (size_t at = 0; at == 0 || (f->n > WHOLE_MAX && at + PIECE <= f->n); at += STEP) {
                size_t bit = bit_of(f->text + at);
                c->fold_bits[bit >> 3] |= (uint8_t)(1 << (bit & 7));
        }
}

static bool may_hold(const struct custody *c, const char *name, size_t n)
{
        for (size_t at = 0; at + 8 <= n; at++) {
                size_t bit = bit_of(name + at);
                if (c->fold_bits[bit >> 3] & 1 << (bit & 7))
                        return true;
        }
        return false;
}

static size_t fold(const char *p, size_t n, char *out)
{
        size_t kept = 0;
        for (size_t i = 0; i < n; i++) {
                char c = p[i];
                if (c >= 'A' && c <= 'Z')
                        c = (char)(c + 32);
                if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
                        out[kept++] = c;
        }
        return kept;
}

static void add_fold(struct custody *c, uint32_t number, const char *p, size_t n)
{
        struct custody_fold *f = malloc(sizeof *f + n);
        if (!f)
                str_no_memory();
        f->number = number;
        f->n = fold(p, n, f->text);
        f->next = c->folds;
        for (const struct custody_fold *o = c->folds; o; o = o->next)
                if (o->n == f->n && memcmp(o->text, f->text, f->n) == 0)
                        f->n = 0; /* it is there already */
        if (f->n < DOOR_SECRET_MIN)
                free(f);
        else {
                c->folds = f;
                mark(c, f);
        }
}

void custody_folds_add(struct custody *c, uint32_t number, const char *placeholder)
{
        size_t n = strlen(placeholder);
        for (int coding = 0; coding < SECRET_CODINGS; coding++) {
                _cleanup_buf_ struct buf b = {0};
                if (secret_form_put((enum secret_coding)coding, placeholder, n, &b))
                        add_fold(c, number, (const char *)b.data, b.len);
        }
}

static bool holds(const char *name, size_t n, const struct custody_fold *f)
{
        if (f->n <= WHOLE_MAX)
                return n >= f->n && memmem(name, n, f->text, f->n) != NULL;
        for (size_t at = 0; n >= PIECE && at + PIECE <= f->n; at += STEP)
                if (memmem(name, n, f->text + at, PIECE))
                        return true;
        return false;
}

/* note(numbers, n, number): how many they are with this one. */
static size_t note(uint32_t *numbers, size_t n, uint32_t number)
{
        for (size_t i = 0; i < n; i++)
                if (numbers[i] == number)
                        return n;
        if (n < CUSTODY_LEAKS_MAX)
                numbers[n++] = number;
        return n;
}

size_t custody_text_all(struct door *d, const char *p, size_t n,
                        uint32_t numbers[CUSTODY_LEAKS_MAX])
{
        const struct custody *c = custody_of(d);
        char name[HOST_TEXT_MAX + 1];
        size_t found = 0;
        if (!c->folds || n < DOOR_SECRET_MIN)
                return 0;
        /* A longer one (a header's name) is looked at in pieces that overlap. */
        for (size_t at = 0; at < n; at += HOST_TEXT_MAX / 2) {
                size_t part = n - at < HOST_TEXT_MAX ? n - at : HOST_TEXT_MAX;
                size_t len = fold(p + at, part, name);
                for (const struct custody_fold *f = may_hold(c, name, len) ? c->folds : NULL; f;
                     f = f->next)
                        if (holds(name, len, f))
                                found = note(numbers, found, f->number);
                if (at + part == n)
                        break;
        }
        return found;
}

uint32_t custody_text_leaks(struct door *d, const char *p, size_t n)
{
        uint32_t numbers[CUSTODY_LEAKS_MAX];
        return custody_text_all(d, p, n, numbers) ? numbers[0] : 0;
}

/* holds_of(c, number, host): does the name hold a writing of this secret's placeholder? */
static bool holds_of(const struct custody *c, uint32_t number, const struct host_name *host)
{
        char name[HOST_TEXT_MAX + 1];
        size_t n = fold(host->text, host->len, name);
        for (const struct custody_fold *f = c->folds; f; f = f->next)
                if (f->number == number && holds(name, n, f))
                        return true;
        return false;
}

/* is_news(s, host, second): what a secret's line does about a leak (leak=) is done every time; where
 * it only tells, the same name is told once in a second, and so are a few names of one secret, or
 * lookups would be how a disk is filled. No secret's names count against another's. */
static bool is_news(struct custody_secret *s, const struct host_name *host, uint64_t second)
{
        if (s->line.secret->leak != RULE_LEAK_ALARM && !s->gone)
                return true;
        if (s->told_s != second)
                s->told_n = 0;
        s->told_s = second;
        for (size_t i = 0; i < s->told_n; i++)
                if (host_name_equal(&s->told[i], host))
                        return false;
        if (s->told_n == CUSTODY_TOLD_MAX)
                return false;
        s->told[s->told_n++] = *host;
        return true;
}

bool custody_lookup_leaks(struct door *d, const struct host_name *host)
{
        struct custody *c = custody_of(d);
        uint64_t second = loop_now(d->loop) / 1000;
        if (!custody_name_leaks(d, host))
                return false;
        /* One name may hold those of several secrets. */
        for (struct custody_secret *s = c->secrets; s; s = s->next)
                if (holds_of(c, s->number, host) && is_news(s, host, second))
                        custody_alarm(d, s->number, "a name that was looked up", host->text, 0);
        return true;
}

uint32_t custody_name_leaks(struct door *d, const struct host_name *host)
{
        return host->kind == HOST_NAME ? custody_text_leaks(d, host->text, host->len) : 0;
}
