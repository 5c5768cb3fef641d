/* open_url.c - see open_url.h. Nothing is opened here or anywhere: the user is shown the address.
 */
#include "box/open_url.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define FIFO "/run/ostiary/addresses"

enum { PAUSE_MS = 500 };

static const char program[] = "#!/bin/sh\n"
                              "# Shows an address to the user of this box; opens nothing.\n"
                              "for word; do\n"
                              "\tcase $word in http://* | https://*)\n"
                              "\t\tprintf '%s\\n' \"$word\" >" FIFO "\n"
                              "\t\texit ;;\n"
                              "\tesac\n"
                              "done\n"
                              "exit 1\n";

int open_url_make(void)
{
        struct stat st;
        mkdir("/run/ostiary", 0755);
        if (mkfifo(FIFO, 0600) < 0)
                return -1; /* also when the box was quicker: whatever is there is not ours */
        _cleanup_close_ int fifo = open(FIFO, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
        _cleanup_close_ int file =
                open(OPEN_URL_PROGRAM, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0755);
        /* A file in its place would be readable for ever. */
        if (fifo < 0 || fstat(fifo, &st) < 0 || !S_ISFIFO(st.st_mode) || file < 0 ||
            fdio_write_all(file, program, sizeof program - 1) < 0)
                return -1;
        return take_fd(&fifo);
}

static uint64_t now_ms(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void open_url_read(int fd, int ctl_fd)
{
        static uint64_t quiet_until;
        char text[4096 + 1];
        ssize_t n = read(fd, text, sizeof text - 1);
        if (n <= 0 || now_ms() < quiet_until)
                return;
        text[n] = 0;
        size_t len = strcspn(text, "\n");
        if (len == 0 || text[len] != '\n' || len > MSG_URL_MAX)
                return;
        text[len] = 0;
        quiet_until = now_ms() + PAUSE_MS;
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, text);
        frame_send(ctl_fd, MSG_OPEN_URL, &b, NULL, 0);
}
