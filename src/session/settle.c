/* settle.c - wait for the writer of a box's log. The supervisor hands one end of a pipe on to the
 * writer, which closes it when it has written everything; if anybody on the way ends, the pipe
 * closes too. */
#include "session/settle.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "session/start.h"
#include "session/store.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

enum { PATIENCE_MS = 2000 }; /* a box on its way to sleep does not answer */

void session_settle(const struct store *store, const char *id)
{
        struct err err = {0};
        _cleanup_close_ int dir = store_box_dir(store, id, &err);
        if (dir < 0 || !store_box_is_alive(dir))
                return;
        int ends[2];
        if (pipe2(ends, O_CLOEXEC) < 0)
                return;
        _cleanup_close_ int read_end = ends[0];
        _cleanup_close_ int write_end = ends[1];
        _cleanup_close_ int sock = session_connect(store, id, &err);
        if (sock < 0 || frame_send(sock, MSG_SETTLE, NULL, &write_end, 1) < 0)
                return;
        close_fd(&write_end);
        struct pollfd p = {.fd = read_end};
        poll(&p, 1, PATIENCE_MS); /* POLLHUP is told unasked */
}
