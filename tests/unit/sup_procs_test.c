/* sup_procs_test.c - who stands still, read from a /proc that is made up: a process rests as much as that of its threads
 * that rests least, attached to is not held, and who is gone counts as neither. */
#include "unit/check.h"

#include "base/cleanup.h"
#include "session/sup_procs.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

/* put_thread(pid, tid, state, tracer) */
static void put_thread(int pid, int tid, char state, int tracer)
{
        char path[64];
        snprintf(path, sizeof path, "%d", pid);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%d/task", pid);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%d/task/%d", pid, tid);
        mkdir(path, 0700);
        snprintf(path, sizeof path, "%d/task/%d/status", pid, tid);
        FILE *f = fopen(path, "we");
        if (!f)
                return;
        fprintf(f,
                "Name:\tState:\tT\nUmask:\t0022\nState:\t%c (so)\nTgid:\t%d\nNgid:\t0\nPid:\t%d\nPPid:\t1\nTracerPid:\t%d\n",
                state, pid, tid, tracer);
        fclose(f);
}

static enum sup_rest rest(int pid)
{
        char path[16];
        snprintf(path, sizeof path, "%d", pid);
        _cleanup_close_ int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        return sup_procs_rest(fd);
}

static void count(void *ctx, pid_t pid, int *dir_fd)
{
        (void)dir_fd;
        *(long *)ctx += pid;
}

int main(void)
{
        char dir[] = "/tmp/sup_procs_test.XXXXXX";
        long sum = 0;
        if (!mkdtemp(dir) || chdir(dir) < 0)
                return 1;
        static const char letters[] = "RSIDTtZX";
        for (int i = 0; letters[i]; i++)
                put_thread(2 + i, 2 + i, letters[i], 0);
        CHECK("who runs or sleeps is awake",
              rest(2) == SUP_AWAKE && rest(3) == SUP_AWAKE && rest(4) == SUP_AWAKE);
        CHECK("one that no signal wakes sleeps", rest(5) == SUP_SLEEPS);
        CHECK("by a signal it is stopped", rest(6) == SUP_STOPPED);
        CHECK("by somebody outside it is held", rest(7) == SUP_HELD);
        CHECK("who has ended rests", rest(8) == SUP_HELD && rest(9) == SUP_HELD);
        put_thread(10, 10, 't', 5);
        CHECK("by a debugger in the box it is only stopped", rest(10) == SUP_STOPPED);
        put_thread(11, 11, 't', 0);
        put_thread(11, 12, 'S', 0);
        CHECK("one thread that is awake is enough", rest(11) == SUP_AWAKE);
        put_thread(13, 13, 'Z', 0);
        put_thread(13, 14, 'R', 0);
        CHECK("also when the first has ended", rest(13) == SUP_AWAKE);
        mkdir("15", 0700);
        CHECK("who is gone is neither", rest(15) == SUP_GONE);
        put_thread(1, 1, 'S', 0);
        mkdir("self", 0700);
        _cleanup_close_ int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        CHECK("all are listed but the first",
              sup_procs(here, count, &sum) &&
                      sum == 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9 + 10 + 11 + 13 + 15);
        close(open("16", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
        CHECK("somebody who cannot be looked at is missing", !sup_procs(here, count, &sum));
        char words[64];
        snprintf(words, sizeof words, "rm -rf %s", dir);
        return system(words) | check_end();
}
