/* opts_test.c - what the user asked for survives on disk, whatever characters it holds. */
#include "base/err.h"
#include "base/str.h"
#include "session/opts.h"
#include "unit/check.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

int main(void)
{
        char dir[] = "/tmp/opts-test.XXXXXX";
        struct err err = {0};
        if (!mkdtemp(dir))
                return 1;
        int fd = open(dir, O_RDONLY | O_DIRECTORY);
        struct session_opts o = {
                .name = str_dup("box"),
                .workspace = str_dup("/a b\\c\nd"),
                .cwd = str_dup(""),
                .is_live = true,
                .has_stdin = true,
                .cols = 120,
                .rows = 40,
        };
        strs_add(&o.argv, "sh");
        strs_add(&o.argv, "");
        strs_add(&o.argv, "a\nname evil\n\\n\xff");
        for (int i = 0; i < 10000; i++)
                strs_add(&o.extra_args, "x");
        strs_add(&o.env, "A=1=2");
        strs_add(&o.limits, "memory=4G");
        session_opts_bind(&o, "/a:b", "rw");
        session_opts_bind(&o, "/c", "ro");

        check(session_opts_save(&o, fd, &err) == 0, "saved", "%s", err.text);
        struct session_opts got;
        check(session_opts_load(&got, fd, &err) == 0, "loaded", "%s", err.text);
        check_str("name", got.name, "box");
        check_str("a path with a newline", got.workspace, o.workspace);
        check_str("an empty string is not absent", got.cwd, "");
        CHECK("an absent string stays absent", !got.profile && !got.force_reason);
        CHECK("booleans", got.is_live && got.has_stdin && !got.is_kept && !got.is_tty);
        CHECK("the size", got.cols == 120 && got.rows == 40);
        CHECK("arguments",
              got.argv.n == 3 && !strcmp(got.argv.v[1], "") && !strcmp(got.argv.v[2], o.argv.v[2]));
        CHECK("ten thousand arguments", got.extra_args.n == 10000);
        CHECK("environment and limits",
              got.env.n == 1 && !strcmp(got.env.v[0], "A=1=2") && got.limits.n == 1);
        CHECK("binds", got.binds_n == 2 && !strcmp(got.binds[0].path, "/a:b") &&
                               !strcmp(got.binds[0].mode, "rw") &&
                               !strcmp(got.binds[1].path, "/c"));
        session_opts_free(&got);
        session_opts_free(&o);
        CHECK("freeing leaves nothing", !o.name && o.argv.n == 0);

        unlinkat(fd, "opts", 0);
        CHECK("no file is a fault", session_opts_load(&got, fd, &err) < 0);
        close(fd);
        rmdir(dir);
        return check_end();
}
