/* door_rules.c - see door_rules.h. Called by the supervisor, and by the CLI for a box that does not
 * run. Lines are in their canonical form, which never holds a newline. */
#include "session/door_rules.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { JOURNAL_MAX = 16 << 20 };

static const char file[] = "rules";

bool door_rules_apply(struct strs *rules, bool is_added, const char *line)
{
        bool was_there = false;
        for (size_t i = 0; i < rules->n; i++) {
                if (strcmp(rules->v[i], line) == 0) {
                        strs_remove(rules, i--);
                        was_there = true;
                }
        }
        if (!is_added)
                return was_there;
        strs_add(rules, line);
        char *newest = rules->v[rules->n - 1];
        memmove(rules->v + 1, rules->v, (rules->n - 1) * sizeof *rules->v);
        rules->v[0] = newest;
        return true;
}

int door_rules_load(int dir_fd, struct strs *rules, struct err *err)
{
        struct err why = {0};
        _cleanup_free_ char *text = fdio_read_file(dir_fd, file, JOURNAL_MAX, &why);
        if (!text && why.sys != ENOENT) {
                if (err)
                        *err = why;
                return err_add(err, "read the rules that were added to the box");
        }
        for (char *at = text, *end; at && (end = strchr(at, '\n')); at = end + 1) {
                *end = 0;
                if (*at == '+' || *at == '-')
                        door_rules_apply(rules, *at == '+', at + 1);
        }
        return 0;
}

int door_rules_note(int dir_fd, bool is_added, const char *line, struct err *err)
{
        _cleanup_free_ char *text = str_fmt("%c%s\n", is_added ? '+' : '-', line);
        _cleanup_close_ int fd =
                openat(dir_fd, file, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 || fdio_write_all(fd, text, strlen(text)) < 0)
                return err_sys(err, "write down the rule");
        return 0;
}
