/* sink.c - see sink.h. The descriptor is shared with our parent, so it is not made non-blocking:
 * poll() first, then as little as a pipe or terminal that is ready surely takes. */
#include "cli/sink.h"

#include "cli/term.h"

#include <errno.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE = 4096 };

void sink_open(struct sink *k, int fd, const struct filter_policy *p)
{
        struct stat st;
        *k = (struct sink){.fd = fd};
        k->is_tty = isatty(fd);
        k->is_file =
                fstat(fd, &st) == 0 && (S_ISREG(st.st_mode) || (S_ISCHR(st.st_mode) && !k->is_tty));
        if (k->is_tty) {
                filter_init(&k->filter, p);
                term_watch(fd, &k->filter.modes, NULL);
        }
}

void sink_follow(struct sink *k, struct screen *s)
{
        if (!k->is_tty || k->filter.policy.is_raw)
                return;
        uint32_t cols, rows;
        term_size(&cols, &rows);
        screen_init(s, rows, cols);
        k->screen = s;
        term_watch(k->fd, &k->filter.modes, s);
}

bool sink_is_full(const struct sink *k)
{
        return k->out.len > 0;
}

bool sink_flush(struct sink *k)
{
        while (k->done < k->out.len) {
                struct pollfd ready = {.fd = k->fd, .events = POLLOUT};
                size_t n = k->out.len - k->done;
                if (!k->is_file) {
                        if (n > PIECE)
                                n = PIECE;
                        if (poll(&ready, 1, 0) == 0)
                                return false;
                }
                ssize_t w = write(k->fd, k->out.data + k->done, n);
                if (w < 0 && errno == EINTR)
                        continue;
                if (w < 0 && errno == EAGAIN)
                        return false;
                if (w < 0) {
                        k->is_gone = true;
                        break;
                }
                k->done += (size_t)w;
        }
        k->out.len = 0;
        k->done = 0;
        return true;
}

void sink_put(struct sink *k, const void *p, size_t n)
{
        if (k->is_gone)
                return;
        if (k->screen) {
                _cleanup_buf_ struct buf passed = {0};
                filter_feed(&k->filter, p, n, &passed);
                screen_feed(k->screen, passed.data, passed.len, &k->out);
        } else if (k->is_tty) {
                filter_feed(&k->filter, p, n, &k->out);
        } else {
                buf_put(&k->out, p, n);
        }
        sink_flush(k);
}

void sink_close(struct sink *k)
{
        while (!k->is_gone && !sink_flush(k)) {
                struct pollfd ready = {.fd = k->fd, .events = POLLOUT};
                if (poll(&ready, 1, -1) < 0 && errno != EINTR)
                        break;
        }
        buf_free(&k->out);
}
