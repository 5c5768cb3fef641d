/* boxarg.c - see boxarg.h. */
#include "cli/boxarg.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "base/str.h"
#include "session/start.h"

#include <stdlib.h>

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
        int sock = session_connect(&b->store, b->id, err);
        if (sock >= 0 || err->code != E_ABSENT)
                return sock;
        if (session_wake(&b->store, b->id, err) < 0)
                return -1;
        return session_connect(&b->store, b->id, err);
}

int boxarg_meta(const struct boxarg *b, struct box_meta *m, struct err *err)
{
        _cleanup_close_ int dir = store_box_dir(&b->store, b->id, err);
        if (dir < 0)
                return -1;
        return store_meta_read(dir, b->id, m, err);
}
