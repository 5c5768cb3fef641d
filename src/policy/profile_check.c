/* profile_check.c - see profile_check.h. Pure; called by profile_parse.c, and for limits also by
 * whoever reads the command line. */
#include "policy/profile_check.h"

#include "base/err.h"
#include "base/str.h"
#include "policy/profile.h"
#include "policy/rule.h"

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

enum { DOOR_MEMORY_MIN = 8 << 20 };

int profile_limit_check(const char *word, struct err *err)
{
        static const char *const keys[] = {"memory", "cpu",  "pids",    "files",
                                           "disk",   "time", "inotify", "door-memory"};
        enum { SIZE, CORES, COUNT, DURATION, KEYS_N = sizeof keys / sizeof *keys };
        static const int kinds[] = {SIZE, CORES, COUNT, COUNT, SIZE, DURATION, COUNT, SIZE};

        size_t n = strcspn(word, "=");
        const char *value = word[n] ? word + n + 1 : "";
        size_t k = 0;
        while (k < KEYS_N && (strlen(keys[k]) != n || strncmp(keys[k], word, n) != 0))
                k++;
        if (n == 5 && strncmp(word, "spend", n) == 0)
                return err_set(err, E_INPUT,
                               "a limit of spend is not held yet, so no line may promise one: take "
                               "it out, and set it where the provider bills you");
        if (k == KEYS_N) {
                char key[32];
                size_t len = n < sizeof key - 1 ? n : sizeof key - 1;
                memcpy(key, word, len);
                key[len] = 0;
                const char *near = str_suggest(key, keys, KEYS_N);
                err_set(err, E_INPUT, "\"%s\" is not a limit", key);
                return near ? err_hint(err, "did you mean \"%s\"?", near)
                            : err_hint(
                                      err,
                                      "known: memory cpu pids files disk time inotify door-memory");
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
        if (strcmp(keys[k], "door-memory") == 0 && got < DOOR_MEMORY_MIN)
                return err_set(err, E_INPUT,
                               "door-memory=%.32s is too little: the door needs at least 8M",
                               value);
        return 0;
}

int profile_check_rule(const struct words *w, size_t *bad, struct err *err)
{
        struct rule_line line;
        if (rule_line_of_words(w, &line, bad, err) < 0)
                return -1;
        rule_line_free(&line);
        return 0;
}
