/* profile_check.c - see profile_check.h. Pure; called by profile_parse.c, and for limits also by
 * whoever reads the command line. */
#include "policy/profile_check.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/profile.h"
#include "policy/words.h"

#include <stdint.h>
#include <string.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define DIGITS  "0123456789"

const char *profile_check_home_path(const char *path)
{
        if (!str_starts(path, "~/") || !path[2])
                return "a path that begins with ~/ is wanted here";
        if (strlen(path) > 1024)
                return "this path is too long";
        for (const char *p = path + 2;;) {
                size_t n = strcspn(p, "/");
                if (n == 0)
                        return "this path has an empty part; write it without // or a / at the end";
                if (n > 255)
                        return "this path has a part that is too long";
                if ((n == 1 && p[0] == '.') || (n == 2 && p[0] == '.' && p[1] == '.'))
                        return "this path has . or .. in it; write it straight";
                if (!p[n])
                        return NULL;
                p += n + 1;
        }
}

bool profile_check_env_name(const char *name)
{
        size_t n = strlen(name);
        return n > 0 && n < 128 && !strchr(DIGITS, name[0]) &&
               strspn(name, LETTERS DIGITS "_") == n;
}

int profile_limit_check(const char *word, struct err *err)
{
        static const char *const keys[] = {"memory", "cpu",  "pids",   "files",
                                           "disk",   "time", "inotify"};
        enum { SIZE, CORES, COUNT, DURATION, KEYS_N = sizeof keys / sizeof *keys };
        static const int kinds[] = {SIZE, CORES, COUNT, COUNT, SIZE, DURATION, COUNT};

        size_t n = strcspn(word, "=");
        const char *value = word[n] ? word + n + 1 : "";
        size_t k = 0;
        while (k < KEYS_N && (strlen(keys[k]) != n || strncmp(keys[k], word, n) != 0))
                k++;
        if (k == KEYS_N) {
                char key[32];
                size_t len = n < sizeof key - 1 ? n : sizeof key - 1;
                memcpy(key, word, len);
                key[len] = 0;
                const char *near = str_suggest(key, keys, KEYS_N);
                err_set(err, E_INPUT, "\"%s\" is not a limit", key);
                return near ? err_hint(err, "did you mean \"%s\"?", near)
                            : err_hint(err, "known: memory cpu pids files disk time inotify");
        }

        if (strcmp(value, "none") == 0)
                return 0;
        uint64_t got = 0;
        const char *form = "";
        int bad = 0;
        switch (kinds[k]) {
        case SIZE:
                form = "4G or 512M";
                bad = str_size(value, &got);
                break;
        case CORES: {
                /* Cores with at most three decimals, as in 0.5 or 2. */
                form = "2 or 0.5";
                size_t whole = strspn(value, DIGITS);
                size_t part = value[whole] == '.' ? strspn(value + whole + 1, DIGITS) : 0;
                bad = whole == 0 || whole > 5 || part > 3 ||
                      value[whole + (value[whole] == '.') + part] != 0 ||
                      (value[whole] == '.' && part == 0);
                got = strspn(value, "0.") != strlen(value);
                break;
        }
        case COUNT:
                form = "a whole number";
                bad = str_u64(value, &got);
                break;
        default:
                form = "90s, 30m or 8h";
                bad = str_duration(value, &got);
                break;
        }
        if (bad || got == 0)
                return err_set(err, E_INPUT, "%s wants %s, not \"%.32s\"", keys[k], form, value);
        return 0;
}

/* host, *.host, host:port or *, and for rules a path behind it. Only the shape: the door turns it
 * into a host_name. */
static bool is_place(const char *s, size_t len, bool may_have_path)
{
        size_t host = 0;
        if (len >= 2 && s[0] == '*' && s[1] == '.')
                host = 2;
        size_t start = host;
        while (host < len && strchr(LETTERS DIGITS "-._", s[host]))
                host++;
        if (len >= 1 && s[0] == '*' && start == 0)
                host = 1;
        else if (host == start || s[start] == '.' || s[start] == '-' || host - start > 253)
                return false;
        if (host < len && s[host] == ':') {
                size_t digits = 0;
                while (host + 1 + digits < len && strchr(DIGITS, s[host + 1 + digits]))
                        digits++;
                if (host + 1 < len && s[host + 1] == '*')
                        digits = 1;
                if (digits == 0 || digits > 5)
                        return false;
                host += 1 + digits;
        }
        return host == len || (may_have_path && s[host] == '/');
}

static bool are_places(const char *s)
{
        for (;;) {
                size_t n = strcspn(s, ",");
                if (!is_place(s, n, true))
                        return false;
                if (!s[n])
                        return true;
                s += n + 1;
        }
}

static int wrong(size_t *bad, size_t at, struct err *err, const char *what)
{
        *bad = at;
        return err_set(err, E_INPUT, "%s", what);
}

static int check_secret(const struct words *w, size_t *bad, struct err *err)
{
        if (w->n < 2 || !profile_check_env_name(w->v[1]))
                return wrong(bad, 1, err, "\"secret\" wants a NAME");
        size_t from = 2, at = 0, as = 0;
        if (from >= w->n || strcmp(w->v[from], "from") != 0)
                return wrong(bad, 2, err, "\"from SOURCE\" is wanted here");
        for (size_t i = from + 2; i < w->n; i++) {
                if (!at && strcmp(w->v[i], "at") == 0)
                        at = i;
                else if (at && !as && strcmp(w->v[i], "as") == 0)
                        as = i;
        }
        if (!at || at + 1 >= w->n)
                return wrong(bad, w->n, err, "\"at HOST\" is missing: a secret belongs to a host");
        if (!are_places(w->v[at + 1]))
                return wrong(bad, at + 1, err, "hosts, separated by commas, are wanted here");
        if (!as || as + 1 >= w->n)
                return wrong(bad, w->n, err, "\"as FORM\" is missing, such as: as bearer");
        return 0;
}

int profile_check_rule(const struct words *w, size_t *bad, struct err *err)
{
        if (strcmp(w->v[0], "secret") == 0)
                return check_secret(w, bad, err);
        size_t host = 2;
        if (strcmp(w->v[0], "tcp") == 0) {
                host = 1;
                if (w->n < 2 || !is_place(w->v[1], strlen(w->v[1]), false) || !strchr(w->v[1], ':'))
                        return wrong(bad, 1, err, "\"tcp\" wants HOST:PORT");
        } else {
                if (w->n < 2 ||
                    strspn(w->v[1], "ABCDEFGHIJKLMNOPQRSTUVWXYZ,*") != strlen(w->v[1]) || !*w->v[1])
                        return wrong(bad, 1, err,
                                     "methods are wanted here: GET,HEAD or * for all of them");
                if (w->n < 3 || !is_place(w->v[2], strlen(w->v[2]), true))
                        return wrong(bad, 2, err, "HOST[:PORT][/PATH] is wanted here");
        }
        for (size_t i = host + 1; i < w->n; i++)
                if (!strchr(w->v[i], '='))
                        return wrong(bad, i, err, "an option (name=value) is wanted here");
        return 0;
}
