/* ipc.c - case 38: shared memory and message queues of the host.
 *
 * The harness made one of each with the canary in it, open to everybody. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <stdio.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <time.h>
#include <unistd.h>

static void case_sysv(struct outcome *o)
{
        long key = planted_num("SHM_KEY");

        if (key < 0) {
                out_na(o, "the harness planted no shared memory");
                return;
        }
        int id = shmget((key_t)key, 0, 0);
        int err = errno;
        if (id >= 0) {
                char *at = shmat(id, NULL, SHM_RDONLY);
                if (at != (void *)-1 && has_canary(at, 64))
                        out_escaped(o, "shared memory of the host was read");
                err = errno;
        }
        out_blocked(o, err, "the host's shared memory is not there");
}

static void case_mqueue(struct outcome *o)
{
        const char *name = planted_or_na(o, "MQ_NAME");

        if (!name)
                return;
        mqd_t q = mq_open(name, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        int err = errno;
        if (q != (mqd_t)-1) {
                struct mq_attr attr;
                if (mq_getattr(q, &attr) == 0 && attr.mq_curmsgs > 0)
                        out_escaped(o, "a message queue of the host was opened");
                mq_close(q);
        }
        out_blocked(o, err, "the host's message queue is not there");
}

static void case_dev_shm(struct outcome *o)
{
        const char *path = planted_or_na(o, "DEV_SHM");
        char buf[256];

        if (!path)
                return;
        long n = slurp(path, buf, sizeof buf);
        if (has_canary(buf, n))
                out_escaped(o, "/dev/shm of the host was read");
        out_blocked(o, n < 0 ? errno : ENOENT, "/dev/shm is the box's own");
}

const struct attack_case ipc_cases[] = {
        {"38", "SysV shared memory of the host", READ, REAL, 0, case_sysv, "ipcns", "ipcns"},
        {"38q", "a message queue of the host", READ, REAL, 0, case_mqueue, "ipcns+landlock",
         "ipcns+landlock"},
        {"38s", "/dev/shm of the host", READ, REAL, 0, case_dev_shm, "shape", "shape"},
        {0},
};
