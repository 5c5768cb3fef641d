/* frozen_turn.c - see frozen.h: turns. Each command of a box made with --turns, or each group of
 * commands that ran at the same time, is a layer of its own, so that it can be looked at and taken
 * back apart. Called by the supervisor when a command begins and when the box sleeps, and before a
 * box is woken whose supervisor was killed. */
#include "session/frozen.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "base/str.h"
#include "base/strs.h"
#include "session/secret_mask.h"
#include "workspace/stack.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define NOTE "turn"
enum { NOTE_MAX = 65536, WORDS_MAX = 400 };

void frozen_turn_note(int dir_fd, const struct strs *argv)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_free_ char *was = fdio_read_file(dir_fd, NOTE, NOTE_MAX, NULL);
        if (was && *was)
                buf_put_fmt(&b, "%.*s; ", WORDS_MAX, was);
        for (size_t i = 0; i < argv->n && b.len < 2 * WORDS_MAX; i++) {
                _cleanup_free_ char *q = str_quote(argv->v[i]);
                buf_put_fmt(&b, "%s%.*s", i ? " " : "", WORDS_MAX, q);
        }
        fdio_write_file(dir_fd, NOTE, buf_cstr(&b), 0600, NULL);
}

bool frozen_turn_is_open(int dir_fd)
{
        return faccessat(dir_fd, NOTE, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

char *frozen_turn_open(int dir_fd)
{
        return fdio_read_file(dir_fd, NOTE, NOTE_MAX, NULL);
}

int frozen_turn(const struct store *store, int dir_fd, struct err *err)
{
        char id[STACK_ID_LEN + 1];
        struct err none = {0};
        _cleanup_free_ char *label = fdio_read_file(dir_fd, NOTE, NOTE_MAX, &none);
        if (!label)
                return none.sys == ENOENT ? 0 : err_set(err, E_SYSTEM, "%s", none.text);
        _cleanup_close_ int frozen = frozen_open(store, err);
        if (frozen < 0)
                return -1;
        secret_mask_end(dir_fd);
        if (stack_freeze(dir_fd, frozen, "turn", label, id, err) < 0)
                return err_add(err, "keep the turn apart");
        unlinkat(dir_fd, NOTE, 0);
        return 0;
}
