/* sup_exec_test.c - the end of a command: what it wrote arrives whole, and whoever it left behind
 * writing holds nobody up. */
#include "unit/check.h"

#include "base/cleanup.h"
#include "session/sup.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

static struct session_opts opts;
static struct sup s;
static char dir[] = "/tmp/sup_exec_test.XXXXXX";

static void fresh(void)
{
        s = (struct sup){.opts = &opts, .next_exec_id = 1, .has_main = true, .loop = loop_new()};
        unlinkat(s.dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), "output", 0);
        if (!s.loop || outlog_open(&s.log, s.dir_fd, NULL) < 0)
                exit(1);
}

static void done(void)
{
        while (s.execs)
                exec_free(s.execs);
        outlog_close(&s.log);
        loop_free(s.loop);
        close_fd(&s.dir_fd);
        free(s.end.words);
}

/* whole(size): a pipe of that many bytes is full when the command ends. */
static void whole(int size)
{
        static char full[1 << 20];
        int fds[3];
        struct stat st = {0};
        fresh();
        struct exec *e = exec_new(&s, false);
        CHECK("pipes", exec_pipes(e, false, fds, NULL) == 0);
        fcntl(fds[1], F_SETPIPE_SZ, size); /* the command may do that as well */
        int has = fcntl(fds[1], F_GETPIPE_SZ);
        fcntl(fds[1], F_SETFL, O_NONBLOCK);
        ssize_t put = write(fds[1], full, sizeof full);
        exec_started(e, -1);
        exec_exited(e, 0, 0, 0);
        CHECK("the box ends with its command, also while somebody holds its output", s.is_ending);
        fstatat(s.dir_fd, "output", &st, 0);
        check(put == has && st.st_size == put, "what it wrote before its end is there",
              "%lld bytes of %zd in a pipe of %d", (long long)st.st_size, put, has);
        for (int i = 0; i < 3; i++)
                close(fds[i]);
        done();
}

/* endless(): whoever the command left behind writes faster than we read. */
static void endless(void)
{
        fresh();
        struct exec *e = exec_new(&s, true);
        exec_started(e, -1);
        e->out_fd[0] = open("/dev/zero", O_RDONLY | O_CLOEXEC);
        exec_exited(e, 0, 0, 0);
        CHECK("output without an end does not keep the box alive", s.is_ending);
        done();
}

/* a_lie(): pid 1 is in the box, and what it sends as a terminal may be anything. */
static void a_lie(void)
{
        fresh();
        struct exec *e = exec_new(&s, true);
        exec_started(e, openat(s.dir_fd, "output", O_RDONLY | O_CLOEXEC));
        CHECK("a file is no terminal", e->out_fd[0] < 0);
        exec_exited(e, 0, 0, 0);
        CHECK("and its command ends all the same", s.is_ending);
        done();
}

int main(void)
{
        if (!mkdtemp(dir))
                return 1;
        whole(65536);
        whole(1 << 20);
        endless();
        a_lie();
        _cleanup_close_ int d = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        unlinkat(d, "output", 0);
        rmdir(dir);
        return check_end();
}
