/* boxarg.c - see boxarg.h. */
#include "cli/boxarg.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/start.h"
#include "wire/msg.h"

#include <endian.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>

enum { TRIES = 100, PAUSE_MS = 10 };

int boxarg_find(struct boxarg *b, const char *word, struct err *err)
{
        *b = (struct boxarg){0};
        if (store_open(&b->store, err) < 0)
                return -1;
        return store_find(&b->store, word, &b->id, err);
}

void boxarg_free(struct boxarg *b)
{
        store_free(&b->store);
        free(b->id);
        b->id = NULL;
}

int boxarg_connect(struct boxarg *b, struct err *err)
{
        /* A box may be on its way to sleep, or somebody else may be waking it. */
        for (int i = 0; i < TRIES; i++) {
                *err = (struct err){0};
                int sock = session_connect(&b->store, b->id, err);
                if (sock >= 0 || err->code != E_ABSENT)
                        return sock;
                *err = (struct err){0};
                if (session_wake(&b->store, b->id, err) < 0)
                        return -1;
                sock = session_connect(&b->store, b->id, err);
                if (sock >= 0 || err->code != E_ABSENT)
                        return sock;
                poll(NULL, 0, PAUSE_MS);
        }
        return -1;
}

bool boxarg_is_asleep(struct boxarg *b, int sock)
{
        uint32_t type;
        ssize_t n;
        do
                n = recv(sock, &type, sizeof type, MSG_PEEK);
        while (n < 0 && errno == EINTR);
        if (n == (ssize_t)sizeof type)
                return be32toh(type) == MSG_AGAIN;
        /* Not even a word: it went to sleep before it saw us, unless it was killed. */
        struct box_meta m = {0};
        bool is_clean = boxarg_meta(b, &m, NULL) == 0 && m.state != BOX_DEAD;
        box_meta_free(&m);
        return is_clean;
}

int boxarg_meta(const struct boxarg *b, struct box_meta *m, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        if (dir < 0)
                return -1;
        return store_meta_read(dir, b->id, m, err);
}
