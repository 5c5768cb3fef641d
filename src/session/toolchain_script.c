/* toolchain_script.c - the first bytes of a script: its interpreter, env's program, and where a
 * small shell wrapper leads. Called while a command is resolved. Reads at most 16 KiB of a file; what
 * it finds is only a hint of what to look at next, never trusted as permission. */
#include "base/cleanup.h"
#include "base/str.h"
#include "session/toolchain_int.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HEAD_MAX = 16 << 10, LINE_MAX_KERNEL = 256, EXECS_MAX = 4 };

void toolchain_script_free(struct toolchain_script *s)
{
        free(s->interpreter);
        free(s->word);
        strs_free(&s->execs);
        strs_free(&s->beside);
        memset(s, 0, sizeof *s);
}

static const char *skip_blanks(const char *p)
{
        return p + strspn(p, " \t");
}

/* One argument of the interpreter line; quotes are env -S's. */
static char *next_arg(const char **at)
{
        const char *p = skip_blanks(*at);
        size_t n;
        char *arg;
        if (*p == '"' || *p == '\'') {
                char quote[2] = {*p++, 0};
                n = strcspn(p, quote);
                arg = str_fmt("%.*s", (int)n, p);
                p += n + (p[n] != 0);
        } else {
                n = strcspn(p, " \t");
                arg = str_fmt("%.*s", (int)n, p);
                p += n;
        }
        *at = p;
        return arg;
}

/* After "env": skip its flags and NAME=VALUE; what is left is the program. */
static char *env_program(const char *args)
{
        for (;;) {
                _cleanup_free_ char *a = next_arg(&args);
                if (!*a)
                        return NULL;
                if (str_starts(a, "-S") && a[2])
                        return str_dup(a + 2);
                if (str_starts(a, "--split-string=")) {
                        return str_dup(a + strlen("--split-string="));
                }
                if (a[0] != '-' && !strchr(a, '='))
                        return take_ptr(&a);
        }
}

static bool is_shell(const char *interpreter)
{
        const char *base = strrchr(interpreter, '/');
        base = base ? base + 1 : interpreter;
        return strcmp(base, "sh") == 0 || strcmp(base, "bash") == 0 || strcmp(base, "dash") == 0;
}

/* The word after `exec` in a wrapper: quoted or not, absolute or below $HOME. */
static void add_exec(struct toolchain_script *s, const char *p, const char *home)
{
        /* pip writes '''exec' for interpreters whose path is too long for the kernel's line. */
        p += strspn(p, "'\"");
        p = skip_blanks(p);
        p += strspn(p, "\"'");
        const char *prefix = "";
        if (home && (str_starts(p, "$HOME/") || str_starts(p, "${HOME}/"))) {
                prefix = home;
                p = strchr(p, '/');
        }
        if (*p != '/')
                return;
        size_t n = strcspn(p, "\"' \t\r\n;&|$`()<>");
        if (n < 2 || n > 1024)
                return;
        strs_addf(&s->execs, "%s%.*s", prefix, (int)n, p);
}

/* What a line of npm's and pnpm's wrappers executes: "$basedir/../x/cli.js", or with quotes anywhere
 * around the parts, or a variable of a longer name. */
static void add_beside(struct toolchain_script *s, const char *line)
{
        size_t len = strcspn(line, "\n");
        _cleanup_free_ char *copy = str_fmt("%.*s", (int)len, line);
        for (const char *p = copy; (p = strstr(p, "basedir")) && s->beside.n < EXECS_MAX;) {
                while (*p == '_' || (*p >= 'a' && *p <= 'z'))
                        p++;
                p += strspn(p, "}\"'");
                if (*p != '/')
                        continue;
                p++;
                p += strspn(p, "\"'");
                size_t n = strcspn(p, "\"' \t\r;&|$`()<>");
                _cleanup_free_ char *rest = str_fmt("%.*s", (int)n, p);
                if (strchr(rest, '/') && !strs_has(&s->beside, rest))
                        strs_add(&s->beside, rest);
        }
}

static void find_execs(struct toolchain_script *s, const char *text, const char *home)
{
        for (const char *line = text; *line && s->execs.n < EXECS_MAX;) {
                const char *p = skip_blanks(line);
                if (str_starts(p, "'''"))
                        p += 3;
                if (str_starts(p, "exec") && strchr(" \t'", p[4])) {
                        add_exec(s, p + 4, home);
                        add_beside(s, p);
                }
                line += strcspn(line, "\n");
                line += *line == '\n';
        }
}

void toolchain_script_parse(const char *head, size_t len, const char *home,
                            struct toolchain_script *s)
{
        memset(s, 0, sizeof *s);
        if (len < 4 || head[0] != '#' || head[1] != '!')
                return;
        char text[HEAD_MAX + 1];
        size_t n = len < HEAD_MAX ? len : HEAD_MAX;
        memcpy(text, head, n);
        text[n] = 0; /* a NUL byte in the file ends what we look at */

        char line[LINE_MAX_KERNEL];
        size_t end = strcspn(text, "\r\n");
        if (end >= sizeof line)
                end = sizeof line - 1;
        memcpy(line, text, end);
        line[end] = 0;

        const char *at = line + 2;
        s->interpreter = next_arg(&at);
        if (s->interpreter[0] != '/') {
                toolchain_script_free(s);
                return;
        }
        if (str_ends(s->interpreter, "/env"))
                s->word = env_program(at);
        if (is_shell(s->word ? s->word : s->interpreter))
                find_execs(s, text, home);
}

void toolchain_script_read(const char *path, const char *home, struct toolchain_script *s)
{
        memset(s, 0, sizeof *s);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        char head[HEAD_MAX];
        /* Most commands are not scripts: look at two bytes of a small read before the rest. */
        ssize_t n = fd < 0 ? -1 : pread(fd, head, LINE_MAX_KERNEL, 0);
        if (n < 4 || head[0] != '#' || head[1] != '!')
                return;
        n = pread(fd, head, sizeof head, 0);
        if (n > 0)
                toolchain_script_parse(head, (size_t)n, home, s);
}
