/* source_read.c - files of the host whose format we have to know to find a value in them: the AWS
 * profile files and the logins of agents. Called by source.c in a process of its own
 * (source_run_inside), because what is read here must not have been in the supervisor's memory.
 * Writes nothing. */
#include "session/source.h"

#include "base/cleanup.h"
#include "base/fdio.h"
#include "base/str.h"

#include <fcntl.h>
#include <jansson.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FILE_MAX = 1 << 20 };

static void wipe(char *s)
{
        if (s)
                explicit_bzero(s, strlen(s));
        free(s);
}

static void wipe_text(char **s)
{
        wipe(*s);
}
#define _cleanup_wipe_ __attribute__((cleanup(wipe_text)))

/* --- AWS ---------------------------------------------------------------------------------------
 */

void source_aws_free(struct source_aws *a)
{
        wipe(a->id);
        wipe(a->key);
        wipe(a->token);
        free(a->process);
        free(a->region);
        *a = (struct source_aws){0};
}

static char *trim(char *s)
{
        s += strspn(s, " \t\r");
        size_t n = strlen(s);
        while (n && strchr(" \t\r", s[n - 1]))
                s[--n] = 0;
        return s;
}

/* take(field, value): the first that is said counts. */
static void take(char **field, const char *value)
{
        if (!*field && *value)
                *field = str_dup(value);
}

/* read_ini(text, section, a): keys of one section; ${text} is taken apart. 1 if it is there. */
static int read_ini(char *text, const char *section, struct source_aws *a, bool *is_by_role)
{
        bool is_in = false;
        int found = 0;
        for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
                char *s = trim(line), *eq;
                if (*s == '[') {
                        char *end = strchr(s, ']');
                        if (end)
                                *end = 0;
                        is_in = strcmp(trim(s + 1), section) == 0;
                        found |= is_in;
                        continue;
                }
                /* An indented line belongs to the key before it. */
                if (!is_in || *s == '#' || *s == ';' || line[0] == ' ' || line[0] == '\t' ||
                    !(eq = strchr(s, '=')))
                        continue;
                *eq = 0;
                const char *key = trim(s), *value = trim(eq + 1);
                if (strcmp(key, "aws_access_key_id") == 0)
                        take(&a->id, value);
                else if (strcmp(key, "aws_secret_access_key") == 0)
                        take(&a->key, value);
                else if (strcmp(key, "aws_session_token") == 0)
                        take(&a->token, value);
                else if (strcmp(key, "credential_process") == 0)
                        take(&a->process, value);
                else if (strcmp(key, "region") == 0)
                        take(&a->region, value);
                else if (strcmp(key, "role_arn") == 0 || str_starts(key, "sso_"))
                        *is_by_role = true;
        }
        return found;
}

int source_aws_read(const char *keys, const char *config, const char *profile, struct source_aws *a,
                    struct err *err)
{
        _cleanup_free_ char *long_name =
                strcmp(profile, "default") == 0 ? str_dup(profile) : str_fmt("profile %s", profile);
        struct err unread = {0};
        bool is_by_role = false;
        _cleanup_wipe_ char *text = fdio_read_file(AT_FDCWD, keys, FILE_MAX, &unread);
        _cleanup_wipe_ char *more = fdio_read_file(AT_FDCWD, config, FILE_MAX, NULL);
        if (!text && !more) {
                *err = unread;
                err->code = E_INPUT;
                return err_add(err, "the profile \"%s\" of AWS cannot be read", profile);
        }
        size_t text_len = text ? strlen(text) : 0, more_len = more ? strlen(more) : 0;
        int found = (text ? read_ini(text, profile, a, &is_by_role) : 0) |
                    (more ? read_ini(more, long_name, a, &is_by_role) : 0);
        /* They were cut into pieces, which a wipe up to the first NUL would miss. */
        if (text)
                explicit_bzero(text, text_len);
        if (more)
                explicit_bzero(more, more_len);
        if (!found)
                return err_set(err, E_INPUT, "there is no profile \"%s\" in %s or %s", profile,
                               keys, config);
        if (a->id && a->key) {
                free(a->process);
                a->process = NULL;
                return 0;
        }
        if (a->process)
                return 0;
        if (is_by_role)
                return err_set(err, E_INPUT,
                               "the profile \"%s\" of AWS signs in elsewhere to get its keys; let "
                               "the AWS CLI do that with a line in %s: credential_process = aws "
                               "configure export-credentials --profile OTHER",
                               profile, config);
        return err_set(err, E_INPUT,
                       "the profile \"%s\" of AWS has neither aws_access_key_id and "
                       "aws_secret_access_key nor credential_process",
                       profile);
}

void source_aws_put(const struct source_aws *a, struct buf *b)
{
        const char *const lines[] = {a->id, a->key, a->token};
        for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
                if (!lines[i])
                        continue;
                buf_put_str(b, lines[i]);
                buf_put_str(b, "\n");
        }
}

/* --- JSON --------------------------------------------------------------------------------------
 */

static void wiping_free(void *p)
{
        if (p)
                explicit_bzero(p, malloc_usable_size(p));
        free(p);
}

/* parse(text, what, err): every string of it is wiped when it is dropped. */
static json_t *parse(const char *text, const char *what, struct err *err)
{
        json_error_t why;
        json_set_alloc_funcs(malloc, wiping_free);
        json_t *j = json_loads(text, 0, &why);
        if (!j || !json_is_object(j)) {
                /* Not why.text: it may quote what it stumbled over. */
                err_set(err, E_INPUT, "%s is not a JSON object", what);
                json_decref(j);
                return NULL;
        }
        return j;
}

static const char *text_at(const json_t *j, const char *key)
{
        const char *s = j ? json_string_value(json_object_get(j, key)) : NULL;
        return s && *s ? s : NULL;
}

/* time_of(text): "2026-11-16T05:00:00Z", also with a fraction or +00:00, in seconds; 0 if not. */
static uint64_t time_of(const char *text)
{
        struct tm tm = {0};
        const char *end = text ? strptime(text, "%Y-%m-%dT%H:%M:%S", &tm) : NULL;
        time_t t = end ? timegm(&tm) : 0;
        return t > 0 ? (uint64_t)t : 0;
}

int source_aws_of_process(int fd, struct buf *b, uint64_t *expires_s, struct err *err)
{
        static const char what[] = "what the profile's credential_process printed";
        _cleanup_buf_ struct buf text = {0};
        if (fdio_read_all(fd, &text, DOOR_SECRET_MAX) < 0)
                return err_sys(err, "read %s", what);
        json_t *j = memchr(text.data, 0, text.len) ? NULL : parse(buf_cstr(&text), what, err);
        if (text.data)
                explicit_bzero(text.data, text.cap);
        const char *id = text_at(j, "AccessKeyId"), *key = text_at(j, "SecretAccessKey"),
                   *token = text_at(j, "SessionToken");
        int r = 0;
        if (!j)
                r = err && err->code ? -1 : err_set(err, E_INPUT, "%s holds a NUL", what);
        else if (!id || !key)
                r = err_set(err, E_INPUT, "%s has no AccessKeyId and SecretAccessKey", what);
        if (r == 0) {
                struct source_aws a = {.id = (char *)(uintptr_t)id,
                                       .key = (char *)(uintptr_t)key,
                                       .token = (char *)(uintptr_t)token};
                source_aws_put(&a, b);
                *expires_s = time_of(text_at(j, "Expiration"));
        }
        json_decref(j);
        return r;
}

/* --- logins ------------------------------------------------------------------------------------
 */

static const struct source_login logins[] = {
        {"claude", ".claude", ".credentials.json", "claudeAiOauth", "accessToken", "refreshToken",
         "expiresAt"},
        {"codex", ".codex", "auth.json", "tokens", "access_token", "refresh_token", NULL},
};

const struct source_login *source_login(const char *name)
{
        for (size_t i = 0; i < sizeof logins / sizeof *logins; i++)
                if (strcmp(logins[i].name, name) == 0)
                        return &logins[i];
        return NULL;
}

char *source_login_path(const char *name, const char *home)
{
        const struct source_login *l = source_login(name);
        return l ? str_fmt("%s/%s/%s", home, l->dir, l->file) : NULL;
}

int source_login_read(const char *name, const char *home, struct buf *b, struct err *err)
{
        const struct source_login *l = source_login(name);
        _cleanup_free_ char *path = source_login_path(name, home);
        if (!path)
                return err_set(err, E_INPUT, "there is no login named \"%s\"", name);
        _cleanup_wipe_ char *text = fdio_read_file(AT_FDCWD, path, FILE_MAX, err);
        if (!text) {
                err->code = E_INPUT;
                return err_add(err, "the login of %s cannot be read", name);
        }
        json_t *j = parse(text, path, err);
        if (!j)
                return -1;
        const json_t *o = json_object_get(j, l->object);
        const char *access = text_at(o, l->access);
        const char *refresh = text_at(o, l->refresh);
        int r = 0;
        if (access) {
                json_int_t ms =
                        l->expires_ms ? json_integer_value(json_object_get(o, l->expires_ms)) : 0;
                json_t *out = json_pack("{s:s,s:s,s:I}", "access", access, "refresh",
                                        refresh ? refresh : "", "expires",
                                        ms > 0 ? ms / 1000 : (json_int_t)0);
                char *dump = out ? json_dumps(out, JSON_COMPACT) : NULL;
                if (dump)
                        buf_put_str(b, dump);
                else
                        r = err_set(err, E_INPUT, "%s holds text that is not UTF-8", path);
                if (dump)
                        wiping_free(dump);
                json_decref(out);
        } else {
                r = err_set(err, E_INPUT,
                            "%s holds no login (log in with %s on this machine first)", path, name);
        }
        json_decref(j);
        return r;
}
