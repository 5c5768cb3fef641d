/* env_list.c - see env_list.h. Read by session when it plans a box, and printed by explain. */
#include "policy/env_list.h"

#include "base/str.h"

#include <fnmatch.h>
#include <stddef.h>
#include <string.h>

const struct env_rule env_list[] = {
        {"TERM", "what the terminal can do"},
        {"TERMINFO", "where the terminal is described; used if the box can see it"},
        {"COLORTERM", "what the terminal can do"},
        {"TERM_PROGRAM", "what the terminal can do"},
        {"TERM_PROGRAM_VERSION", "what the terminal can do"},
        {"COLORFGBG", "light or dark terminal"},
        {"NO_COLOR", "colours on or off"},
        {"FORCE_COLOR", "colours on or off"},
        {"CLICOLOR", "colours on or off"},
        {"CLICOLOR_FORCE", "colours on or off"},
        {"LS_COLORS", "colours of ls"},
        {"LSCOLORS", "colours of ls"},
        {"GREP_COLORS", "colours of grep"},
        {"GCC_COLORS", "colours of gcc"},
        {"LESSCHARSET", "how less shows text"},
        {"LANG", "language"},
        {"LANGUAGE", "language"},
        {"LC_*", "language"},
        {"TZ", "time zone"},
        {"TZDIR", "time zone"},
        {"EDITOR", "which editor; it must exist in the box"},
        {"VISUAL", "which editor; it must exist in the box"},
        {"CI", "programs behave quietly in CI"},
        {"SOURCE_DATE_EPOCH", "reproducible builds"},
        {"MAKEFLAGS", "how make runs"},
        {"NPROC", "how many jobs a build starts"},
        {NULL, NULL},
};

/* PAGER and LESS are missing on purpose: a pager stops an agent that nobody watches. */

static const char *const credentials[] = {
        "*_KEY",         "*_KEY_ID",        "*_APIKEY",        "APIKEY",
        "API_KEY",       "*_TOKEN",         "TOKEN",           "*_SECRET",
        "*_SECRET_*",    "SECRET_*",        "*PASSWORD*",      "*PASSWD*",
        "*PASSPHRASE*",  "*_PASS",          "*_PAT",           "*_PRIVATE_KEY*",
        "*CREDENTIAL*",  "*_COOKIE",        "*_DSN",           "*_AUTH",
        "*_AUTHTOKEN",   "*_BEARER",        "AWS_ACCESS_KEY*", "AWS_SESSION_TOKEN",
        "AWS_PROFILE",   "NETRC",           "KUBECONFIG",      "DATABASE_URL",
        "SSH_AUTH_SOCK", "SSH_AGENT_PID",   "SSH_ASKPASS",     "GIT_ASKPASS",
        "SUDO_ASKPASS",  "GPG_AGENT_INFO",  "GPG_TTY",         "DBUS_*",
        "DISPLAY",       "WAYLAND_DISPLAY", "XAUTHORITY",      "XDG_RUNTIME_DIR",
        "DOCKER_HOST",   "CONTAINER_HOST",  "KEYRING_*",       "GNOME_KEYRING_*",
        "NPM_CONFIG__*", "*_NETRC",
};

bool env_list_allows(const char *name)
{
        for (size_t i = 0; env_list[i].name; i++) {
                const char *rule = env_list[i].name;
                size_t n = strlen(rule);
                if (rule[n - 1] == '*' ? strncmp(rule, name, n - 1) == 0 : strcmp(rule, name) == 0)
                        return true;
        }
        return false;
}

bool env_list_is_credential(const char *name)
{
        for (size_t i = 0; i < sizeof credentials / sizeof *credentials; i++)
                if (fnmatch(credentials[i], name, FNM_CASEFOLD) == 0)
                        return true;
        return false;
}
