/* witness.c - a listener on the host's loopback that writes down what reaches it.
 *
 * Started by demo/run.sh as `witness FILE`: prints its port, then appends to FILE every byte that
 * any connection sends, and answers what begins like HTTP. It ends by itself after ten minutes,
 * so that a demo which was killed leaves nothing behind. It never listens on anything but
 * 127.0.0.1.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* accept4 */
#endif
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Length: 6\r\nConnection: close\r\n\r\nhello\n";

int main(int argc, char **argv)
{
        struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        socklen_t at_len = sizeof at;
        int listener, log_fd;

        if (argc != 2)
                return 64;
        alarm(600);
        log_fd = open(argv[1], O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
        listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (log_fd < 0 || listener < 0 || bind(listener, (struct sockaddr *)&at, at_len) < 0 ||
            listen(listener, 8) < 0 || getsockname(listener, (struct sockaddr *)&at, &at_len) < 0) {
                perror("witness");
                return 1;
        }
        printf("%u\n", ntohs(at.sin_port));
        fclose(stdout);

        for (;;) {
                char bytes[256];
                ssize_t n;
                int peer = accept4(listener, NULL, NULL, SOCK_CLOEXEC);

                if (peer < 0)
                        continue;
                while ((n = read(peer, bytes, sizeof bytes)) > 0) {
                        if (write(log_fd, bytes, (size_t)n) != n)
                                break;
                        if (n >= 4 && memcmp(bytes, "GET ", 4) == 0) {
                                n = write(peer, answer, sizeof answer - 1);
                                break;
                        }
                }
                close(peer);
        }
}
