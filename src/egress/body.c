/* body.c - what kind of body it is, and which reader answers for it. See body.h. Called by the
 * exchange when a rule depends on a body; must never trust the type that the box wrote further than
 * to refuse by it. */
#include "egress/body.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "egress/account.h"
#include "egress/body_int.h"
#include "egress/undo.h"
#include "egress/work.h"
#include "policy/body_readers.h"
#include "policy/fields.h"
#include "policy/override.h"
#include "policy/path_canon.h"

#include <string.h>
#include <strings.h>

static size_t trimmed(const char **s, size_t n)
{
        while (n && (**s == ' ' || **s == '\t')) {
                (*s)++;
                n--;
        }
        while (n && ((*s)[n - 1] == ' ' || (*s)[n - 1] == '\t'))
                n--;
        return n;
}

static bool is_word(const char *s, size_t n, const char *word)
{
        return n == strlen(word) && strncasecmp(s, word, n) == 0;
}

static enum body_kind kind_of(const char *s, size_t n)
{
        if (is_word(s, n, "application/json") || is_word(s, n, "text/json") ||
            (n > 5 && strncasecmp(s + n - 5, "+json", 5) == 0))
                return BODY_JSON;
        if (is_word(s, n, "application/x-www-form-urlencoded"))
                return BODY_FORM;
        if (is_word(s, n, "application/x-git-receive-pack-request"))
                return BODY_GIT;
        if (is_word(s, n, "multipart/form-data"))
                return BODY_MULTIPART;
        if ((n > 5 && strncasecmp(s, "text/", 5) == 0) || is_word(s, n, "application/xml") ||
            is_word(s, n, "application/graphql") ||
            (n > 4 && strncasecmp(s + n - 4, "+xml", 4) == 0))
                return BODY_TEXT;
        return BODY_OTHER;
}

/* A charset other than UTF-8 makes other characters of the same bytes. */
static int read_type(const char *type, enum body_kind *kind, struct err *err)
{
        const char *end = strchrnul(type, ';'), *s = type;
        size_t n = trimmed(&s, (size_t)(end - type));
        *kind = kind_of(s, n);
        if (n == 0)
                return err_set(err, E_PROTO, "the request does not say what type its body has");
        if (*kind == BODY_OTHER || memchr(s, ',', n))
                return err_set(err, E_PROTO,
                               "bodies of type %.*s are not read; JSON, forms, text, XML, GraphQL "
                               "and git pushes are",
                               (int)(n < 80 ? n : 80), s);
        while (*end) {
                const char *from = end + 1;
                end = strchrnul(from, ';');
                n = trimmed(&from, (size_t)(end - from));
                if (n < 7 || strncasecmp(from, "charset", 7) != 0)
                        continue;
                if (!is_word(from, n, "charset=utf-8") && !is_word(from, n, "charset=\"utf-8\"") &&
                    !is_word(from, n, "charset=us-ascii"))
                        return err_set(err, E_PROTO, "the body's charset is not UTF-8");
        }
        return 0;
}

static bool looks_like_json(const char *p, size_t n)
{
        size_t i = 0;
        while (i < n && strchr(" \t\r\n", p[i]) && p[i])
                i++;
        return i < n && (p[i] == '{' || p[i] == '[');
}

/* is_guessed(type): a type that is not read for rules, but some servers look for fields in it; in
 * these charsets they look like ASCII. */
static bool is_guessed(const char *type)
{
        static const char *const known[] = {"charset=iso-8859-", "charset=windows-125",
                                            "charset=latin"};
        bool is_json = strcasestr(type, "/json") || strcasestr(type, "+json");
        if (strncasecmp(type, "multipart/", 10) == 0 || (is_json && !strcasestr(type, "charset")))
                return true;
        for (size_t i = 0; i < sizeof known / sizeof *known; i++)
                if (strcasestr(type, known[i]))
                        return true;
        return false;
}

/* begin(b, type, coding, p, n): what kind it is; 0, and its coding is undone next. */
static int begin(struct body *b, const char *type, const char *coding, const void *p, size_t n)
{
        if (n > BODY_MAX)
                return err_set(&b->err, E_PROTO, "the body is larger than %d bytes", BODY_MAX);
        b->is_unsaid = strchr(";,", type[strspn(type, " \t")]);
        if (!b->is_unsaid && read_type(type, &b->kind, &b->err) < 0) {
                if (*coding == '\0' && is_guessed(type) &&
                    !account_put(b->account, &b->charged, &b->bytes, p, n))
                        body_no_room(b);
                return -1;
        }
        if (body_decode_new(coding, p, n, b->work, b->account, &b->undo, &b->err) < 0)
                return -1;
        if (!b->undo && !account_put(b->account, &b->charged, &b->bytes, p, n))
                return body_no_room(b);
        b->type = str_dup(type);
        return 0;
}

/* step_utf8(b): text is UTF-8 without a mark in front. */
static int step_utf8(struct body *b)
{
        const uint8_t *p = b->bytes.data;
        size_t n = b->bytes.len;
        while (b->checked < n) {
                size_t from = b->checked, to = n - from < WORK_PIECE ? n : from + WORK_PIECE;
                if (work_is_spent(b->work))
                        return 0;
                while (b->checked < to) {
                        size_t len = body_utf8_len(p + b->checked, n - b->checked);
                        if (len == 0 || p[b->checked] == 0)
                                return err_set(&b->err, E_PROTO, "the text is not UTF-8");
                        b->checked += len;
                }
                work_step(b->work, b->checked - from);
        }
        if (n >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
                return err_set(&b->err, E_PROTO, "the text begins with a byte-order mark");
        return 1;
}

/* fields_trouble(b): why the form cannot be read, or 1. */
static int fields_trouble(struct body *b, int r)
{
        bool is_form = b->kind == BODY_FORM || b->kind == BODY_MULTIPART;
        if (!is_form)
                return 1; /* a text that some server might take for one */
        if (fields_is_cut(b->fields))
                return err_set(&b->err, E_PROTO, "of its form: " FIELDS_TOO_MANY);
        if (r < 0)
                return err_set(&b->err, E_PROTO,
                               "the parts of the form cannot be told apart with certainty");
        if (!fields_is_plain(b->fields))
                return err_set(&b->err, E_PROTO,
                               "the form has a broken escape or a bare \";\", which programs read "
                               "in different ways");
        return 1;
}

/* body_charge(b): what it holds, for the account. */
static void body_charge(struct body *b)
{
        account_set(b->account, &b->charged,
                    sizeof *b + b->bytes.cap + (b->fields ? fields_held(b->fields) : 0));
}

int body_no_room(struct body *b)
{
        b->is_short = true;
        return err_set(&b->err, E_SYSTEM, "%s", ACCOUNT_FULL);
}

static int step_fields(struct body *b)
{
        int r = 0;
        while (r == 0) {
                size_t used = 0;
                if (work_is_spent(b->work))
                        return 0;
                if (!account_grow(b->account, &b->charged, fields_more()))
                        return body_no_room(b);
                r = b->parts ? body_multipart_step(b->parts, b->fields, &used)
                             : fields_step(b->fields, &used);
                work_step(b->work, used);
                body_charge(b);
        }
        return fields_trouble(b, r);
}

/* may_be_json(b): many servers do not look at the type, and `curl -d '{...}'` says form. A message
 * with a bracket anywhere may be JSON to a server that skips a comment, a prefix of its protocol
 * ("42[...]") or a value in front. */
static bool may_be_json(const struct body *b)
{
        const char *p = (const char *)b->bytes.data;
        size_t n = b->bytes.len;
        switch (b->kind) {
        case BODY_JSON:
                return true;
        case BODY_MESSAGE:
                return memchr(p, '{', n) || memchr(p, '[', n);
        case BODY_FORM:
        case BODY_TEXT:
                return looks_like_json(p, n);
        case BODY_MULTIPART:
        case BODY_GIT:
        case BODY_OTHER:
                break;
        }
        return false;
}

/* begin_reading(b): its coding is undone. 0: what reads it is chosen; 1: it is read; -1. */
static int begin_reading(struct body *b)
{
        if (!account_grow(b->account, &b->charged, buf_more(&b->bytes, 1)))
                return body_no_room(b);
        const char *text = buf_cstr(&b->bytes); /* readers may look at the NUL behind the end */
        size_t n = b->bytes.len;
        if (b->bytes.is_broken)
                return err_set(&b->err, E_SYSTEM, "there is no memory for the body");
        if (b->kind == BODY_GIT) {
                work_step(b->work, n);
                return body_git_check(text, n, &b->err) < 0 ? -1 : 1;
        }
        if (b->is_unsaid) /* Rack takes it for a form */
                b->kind = looks_like_json(text, n) ? BODY_JSON : BODY_FORM;
        if (may_be_json(b))
                b->json = body_json_new(text, n, b->account);
        b->fields = b->kind == BODY_MULTIPART ? fields_new() : fields_of(text, n);
        if (b->kind == BODY_MULTIPART)
                b->parts = body_multipart_new(b->type, text, n);
        else if (b->kind != BODY_FORM || b->json || b->is_unsaid)
                fields_only(b->fields, override_fields, OVERRIDE_FIELDS);
        bool is_text = b->kind == BODY_TEXT || b->kind == BODY_MESSAGE;
        b->stage = is_text ? BODY_UTF8 : BODY_FIELDS;
        return 0;
}

/* step_values(b): its JSON, if it has any. */
static int step_values(struct body *b)
{
        int r = b->json ? body_json_step(b->json, b->work, &b->err) : 1;
        if (r >= 0)
                return r;
        b->is_short = b->json->is_short;
        if (b->kind == BODY_FORM)
                err_add(&b->err, "a form that looks like JSON");
        if (b->kind != BODY_MESSAGE || b->is_short)
                return -1;
        body_json_free(b->json); /* text it is all the same */
        b->json = NULL;
        b->is_broken_json = true;
        return 1;
}

/* go_on(b): 1: it is read; 0: not yet; -1 and a sentence. */
static int go_on(struct body *b)
{
        int r = 1;
        if (b->undo) {
                r = body_decode_step(b);
                if (r <= 0)
                        return r;
                undo_free(b->undo);
                b->undo = NULL;
        }
        if (b->stage == BODY_BEGIN && (r = begin_reading(b)) != 0)
                return r;
        if (b->stage == BODY_UTF8) {
                if ((r = step_utf8(b)) <= 0)
                        return r;
                b->stage = BODY_FIELDS;
        }
        if (b->stage == BODY_FIELDS) {
                if ((r = step_fields(b)) <= 0)
                        return r;
                b->stage = BODY_VALUES;
        }
        return step_values(b);
}

/* may_hide(b): of parts that were not told apart, or broken JSON: may a field that stands for the
 * method be among them? Its name has "method" in it, unless it is written in another way. */
static bool may_hide(const struct body *b)
{
        const char *p = (const char *)b->bytes.data, *end = p + b->bytes.len;
        for (; p && end - p >= 6; p++)
                if (((*p | 32) == 'm' && strncasecmp(p, "method", 6) == 0) ||
                    (*p == '=' && p[1] == '?' && b->kind != BODY_JSON) ||
                    (*p == '\\' && p[1] == 'u' && b->kind != BODY_MULTIPART) ||
                    (p[5] == '*' && strchr("; \t", *p) && strncasecmp(p + 1, "name", 4) == 0))
                        return true;
        return false;
}

/* settle(b, r): what came of it. */
static void settle(struct body *b, int r)
{
        b->is_over = true;
        if (r < 0) {
                b->state = REQUEST_BODY_UNREADABLE;
                b->is_partial = b->sent_len > 0 && (b->undo || b->bytes.len == 0 ||
                                                    (b->fields && fields_is_cut(b->fields)) ||
                                                    (b->kind != BODY_FORM && may_hide(b)));
                body_json_free(b->json);
                b->json = NULL;
        } else if (b->is_unsaid) {
                b->state = REQUEST_BODY_UNREADABLE;
                err_set(&b->err, E_PROTO, "the request does not say what type its body has");
        } else if (b->kind == BODY_GIT && b->bytes.len == 4) {
                b->state = REQUEST_BODY_IDLE; /* a flush alone: git tries whether it may push */
        } else {
                b->state = REQUEST_BODY_READ;
        }
}

static struct body *new_body(size_t n, struct work_budget *work, struct account *account)
{
        struct body *b = calloc(1, sizeof *b);
        if (!b)
                str_no_memory();
        *b = (struct body){.bytes.max = BODY_DECODED_MAX + 1,
                           .work = work,
                           .account = account,
                           .sent_len = n,
                           .state = REQUEST_BODY_NONE,
                           .is_over = n == 0};
        return b;
}

struct body *body_begin(const char *type, const char *coding, const void *p, size_t n,
                        struct work_budget *work, struct account *account)
{
        struct body *b = new_body(n, work, account);
        if (n > 0 && begin(b, type, coding, p, n) < 0)
                settle(b, -1);
        return b;
}

struct body *body_message(bool is_text, const void *p, size_t n, struct work_budget *work,
                          struct account *account)
{
        struct body *b = new_body(n, work, account);
        const char *why = n > BODY_MAX ? "the WebSocket message is too long to be read for rules"
                          : is_text    ? NULL
                                       : "binary WebSocket messages are not read, only text is";
        b->kind = BODY_MESSAGE;
        if (n > 0 && why) {
                err_set(&b->err, E_PROTO, "%s", why);
                settle(b, -1);
        } else if (!account_put(b->account, &b->charged, &b->bytes, p, n)) {
                body_no_room(b);
                settle(b, -1);
        }
        return b;
}

bool body_step(struct body *b)
{
        int r = b->is_over ? 1 : go_on(b);
        if (r != 0 && !b->is_over)
                settle(b, r);
        return b->is_over;
}

struct body *body_read(const char *type, const char *coding, const void *p, size_t n)
{
        struct body *b = body_begin(type, coding, p, n, NULL, NULL);
        while (!body_step(b))
                ;
        return b;
}

static bool is_for_pushes(void *ctx, const char *reading, size_t n)
{
        static const char name[] = "/git-receive-pack";
        size_t len = sizeof name - 1;
        while (n && reading[n - 1] == '/')
                n--;
        bool *is_any = ctx;
        *is_any = *is_any || (n >= len && strncasecmp(reading + n - len, name, len) == 0);
        return true;
}

bool body_fits_path(const char *type, const struct path_canon *path)
{
        enum body_kind kind = BODY_OTHER;
        bool is_any = false;
        path_canon_each(path, is_for_pushes, &is_any);
        return (read_type(type, &kind, NULL) == 0 && kind == BODY_GIT) == is_any;
}

bool body_has_tail(const char *type, const char *coding)
{
        enum body_kind kind;
        return read_type(type, &kind, NULL) == 0 && kind == BODY_GIT && coding[0] == '\0';
}

void body_cut(struct body *b)
{
        b->state = REQUEST_BODY_UNREADABLE;
        b->is_partial = true;
        err_set(&b->err, E_PROTO, "the body is larger than %d bytes", BODY_MAX);
}

enum request_body body_state(const struct body *b)
{
        return b->state;
}

bool body_is_partial(const struct body *b)
{
        return b->is_partial;
}

const char *body_why(const struct body *b)
{
        return b->err.text;
}

bool body_is_short(const struct body *b)
{
        return b->is_short;
}

size_t body_looked(struct body *b)
{
        size_t n = b->looked;
        b->looked = 0;
        return n;
}

void body_free(struct body *b)
{
        if (!b)
                return;
        undo_free(b->undo);
        body_json_free(b->json);
        fields_free(b->fields);
        body_multipart_free(b->parts);
        buf_free(&b->bytes);
        account_set(b->account, &b->charged, 0);
        free(b->type);
        free(b);
}
