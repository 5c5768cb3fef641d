/* git_config_git_test.c - our reader beside git itself: texts made of the pieces that matter are
 * read by both. Where git sees a key we see it, with the same value; where git gives up we do; and
 * no text is plain in which git finds a key that is not. Runs git on files of its own, with no
 * configuration of the user and without including anything. */
#include "policy/file_class.h"
#include "policy/git_config.h"
#include "unit/check.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const pieces[] = {
        "[core]",
        "[core ",
        "[filter \"x\"]",
        "[Remote \"A\\\"b\"]",
        "[a.b]",
        "[alias]",
        "[user]",
        "[branch \"m\"]",
        "[include]",
        "[",
        "]",
        "\"",
        "\\",
        "\n",
        "\n",
        "\n",
        "\r\n",
        "\r",
        " ",
        "\t",
        "=",
        " = ",
        "#",
        ";",
        "hooksPath",
        "fsmonitor",
        "name",
        "clean",
        "url",
        "path",
        "remote",
        "filemode",
        "-",
        "1",
        "x",
        "true",
        "origin",
        "\\\n",
        "\\\"",
        "\\t",
        "\\x",
        "\xef\xbb\xbf",
        "\xc3\xa9",
        ".",
        "..",
        "/",
        "\f",
        "\v",
        "\x01",
        "core.hooksPath=x",
        "\nhooksPath = x\n",
        "\nname = y\n",
        "\n\tremote = origin\n",
        "# c\n",
        "; c\\\n",
        "\"a b\" c",
        "\" x",
        "' x'",
        "!sh",
        "merge = refs/heads/m",
};

static uint64_t state = 88172645463325252ULL;
static uint32_t dice(uint32_t n)
{
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        return (uint32_t)(state >> 33) % n;
}

/* Whole lines, of which most are right, with pieces thrown in. */
static const char *const lines[] = {
        "[core]\n",
        "[user]",
        "[filter \"x\"]\n",
        "[Remote \"A\\\"b\"]\r\n",
        "[a.b]\n",
        "[alias] ",
        "\thooksPath = x\n",
        "name = y # c\n",
        "clean\n",
        "url = \"a b\"  c ; d\r\n",
        "path = a\\\n  b\n",
        "  filemode = \"t\"rue\n",
        "# c\n",
        "; c\\\n",
        "\n",
        "\r\n",
        " \t",
        "x-1 = \\t\\\"\\\\\n",
        "fsmonitor=\n",
        "[branch \"m\"]\nremote = origin\n",
        "remote\t=\t../x\n",
        "merge = refs/heads/m\n",
        "[include]path=x\n",
        "UPPER = Case\n",
        "name = a\r b\n",
        "name = \xc3\xa9\n",
        "[core \"\"]\n",
        "[CORE]\n",
        "[filter\t\"y\"] smudge=z\n",
};

static size_t make(char *to, size_t cap)
{
        size_t len = 0, parts = 1 + dice(9);
        bool is_wild = dice(3) == 0;
        for (size_t i = 0; i < parts; i++) {
                const char *p = is_wild && dice(3) == 0
                                        ? pieces[dice(sizeof pieces / sizeof pieces[0])]
                                        : lines[dice(sizeof lines / sizeof lines[0])];
                if (len + strlen(p) >= cap)
                        break;
                memcpy(to + len, p, strlen(p));
                len += strlen(p);
        }
        return len;
}

/* What git lists, as "key\nvalue\0"; -1 when it refuses the text. */
static ssize_t ask_git(const char *dir, const char *text, size_t len, char *out, size_t cap)
{
        char path[256], cmd[600];
        snprintf(path, sizeof path, "%s/config", dir);
        int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd < 0 || write(fd, text, len) != (ssize_t)len)
                abort();
        close(fd);
        snprintf(cmd, sizeof cmd,
                 "GIT_CONFIG_NOSYSTEM=1 HOME=%s GIT_DIR=%s/none exec git config -f %s "
                 "--no-includes --list -z 2>/dev/null",
                 dir, dir, path);
        FILE *f = popen(cmd, "re");
        size_t n = f ? fread(out, 1, cap, f) : 0;
        int status = f ? pclose(f) : -1;
        return status == 0 ? (ssize_t)n : -1;
}

/* Blanks within a value are kept differently by different versions of git. */
static void squeeze(const char *s, char *to, size_t cap)
{
        size_t n = 0;
        for (; *s && n + 1 < cap; s++)
                if (*s != ' ' && *s != '\t' && *s != '\r')
                        to[n++] = *s;
        to[n] = '\0';
}

static const char *compare(const char *text, size_t len, const char *listed, ssize_t listed_len)
{
        _cleanup_git_config_ struct git_config c = {0};
        struct file_class_verdict v;
        int r = git_config_parse(text, len, &c);
        file_class_git_config(NULL, 0, text, len, &v);
        if (listed_len < 0)
                return r == 0                  ? "git refuses it and we do not"
                       : v.class == FILE_PLAIN ? "it is plain and git refuses it"
                                               : NULL;
        if (r < 0)
                return "git reads it and we do not";
        size_t i = 0;
        bool is_risky = false;
        for (const char *at = listed; at < listed + listed_len; i++) {
                const char *newline = strchr(at, '\n');
                size_t key = newline ? (size_t)(newline - at) : strlen(at);
                /* A subsection cannot hold a newline, so the first one ends the key. */
                if (i >= c.n || strlen(c.v[i].key) != key || memcmp(c.v[i].key, at, key) != 0)
                        return "another key";
                char ours[4096] = "", theirs[4096] = "";
                squeeze(c.v[i].value ? c.v[i].value : "", ours, sizeof ours);
                squeeze(newline ? newline + 1 : "", theirs, sizeof theirs);
                if (strcmp(ours, theirs) != 0 || !newline != !c.v[i].value)
                        return "another value";
                is_risky |= !git_config_is_plain(&c.v[i]);
                at += strlen(at) + 1;
        }
        if (i != c.n)
                return "more keys than git sees";
        return is_risky && v.class == FILE_PLAIN ? "plain with a key that is not" : NULL;
}

int main(void)
{
        char dir[] = "/tmp/ostiary-git-config.XXXXXX", text[1024];
        static char listed[1 << 16];
        if (system("git --version >/dev/null 2>&1") != 0) {
                puts("skip: there is no git here");
                return 0;
        }
        if (!mkdtemp(dir))
                return 1;
        size_t read_n = 0, refused_n = 0, wrong_n = 0;
        for (int i = 0; i < 1500 && wrong_n < 5; i++) {
                size_t len = make(text, sizeof text - 1);
                text[len] = '\0';
                ssize_t n = ask_git(dir, text, len, listed, sizeof listed - 1);
                listed[n < 0 ? 0 : n] = '\0';
                read_n += n > 0;
                refused_n += n < 0;
                const char *wrong = compare(text, len, listed, n);
                if (wrong) {
                        check(false, "beside git", "%s:\n%s\n--", wrong, text);
                        wrong_n++;
                }
        }
        check(wrong_n == 0, "beside git", "%zu differ", wrong_n);
        check(read_n > 100 && refused_n > 100, "both ways", "%zu read, %zu refused", read_n,
              refused_n);
        printf("# %zu texts with keys, %zu that git refuses\n", read_n, refused_n);
        char path[256];
        snprintf(path, sizeof path, "%s/config", dir);
        unlink(path);
        rmdir(dir);
        return check_end();
}
