/* sign.c - what a signature costs: the processor time of both processes that take part in it.
 *
 * Called by bench scripts: `sign header N` signs N requests as egress and keeper do (the message to
 * another process and back, and the signature made there) and prints the microseconds of processor
 * time of each; `sign chunks MB` signs a body in chunks of 64 KiB anew and prints MB per second and
 * core. Built with: gcc -D_GNU_SOURCE -std=gnu17 -O2 -Isrc bench/sign.c src/keeper/sigv4*.c
 * src/policy/aws_*.c src/egress/awschunk.c src/wire/frame.c
 * src/base/{buf,cur,err,str,fdio,sha256}.c -lcrypto */
#include "base/buf.h"
#include "base/cur.h"
#include "base/err.h"
#include "egress/awschunk.h"
#include "keeper/sigv4.h"
#include "wire/frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 1, CHUNK, STREAM = 64 << 10, IN_FLIGHT = 8 };

#define EMPTY  "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
#define DIGITS "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

static const struct sigv4_field request[] = {
        {"host", "examplebucket.s3.eu-west-1.amazonaws.com"},
        {"accept-encoding", "identity"},
        {"user-agent", "aws-cli/2.9.19 Python/3.11.2 Linux/6.1 exe/x86_64.debian.12 prompt/off"},
        {"content-type", "application/octet-stream"},
        {"x-amz-content-sha256", EMPTY},
        {"x-amz-date", "20260101T000000Z"},
        {"authorization",
         "AWS4-HMAC-SHA256 Credential=AKIAFAKEFAKEFAKEFAKE/20260101/eu-west-1/s3/aws4_request, "
         "SignedHeaders=content-type;host;x-amz-content-sha256;x-amz-date, Signature=" DIGITS},
};
enum { FIELDS = sizeof request / sizeof *request };

static struct frame frame;
static struct sigv4_keys keys;

static void fail(const char *what)
{
        perror(what);
        exit(1);
}

/* --- the side of the keeper --- */

static void sign_header(int fd, struct cur *c)
{
        struct sigv4_field fields[FIELDS];
        char *texts[2 * FIELDS + 1];
        struct sigv4_made made;
        struct err err = {0};
        size_t n = 0;
        if (cur_lstr(c, 4096, &texts[n++]) < 0)
                fail("message");
        for (size_t i = 0; i < FIELDS; i++) {
                if (cur_lstr(c, 4096, &texts[n++]) < 0 || cur_lstr(c, 4096, &texts[n++]) < 0)
                        fail("message");
                fields[i] = (struct sigv4_field){texts[n - 2], texts[n - 1]};
        }
        struct sigv4_ask ask = {.method = "GET",
                                .target = texts[0],
                                .host = "examplebucket.s3.eu-west-1.amazonaws.com",
                                .fields = fields,
                                .fields_n = FIELDS,
                                .payload = EMPTY,
                                .is_tls = true};
        struct sigv4_secret secret = {.id = "AKIAREALREALREALREAL",
                                      .key = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                                      .shown_id = "AKIAFAKEFAKEFAKEFAKE",
                                      .keys = &keys};
        if (sigv4_make(&ask, &secret, time(NULL), &made, &err) < 0) {
                fprintf(stderr, "%s\n", err.text);
                exit(1);
        }
        struct buf b = {0};
        for (size_t i = 0; i < made.fields_n; i++) {
                buf_put_lstr(&b, made.fields[i].name);
                buf_put_lstr(&b, made.fields[i].value);
        }
        if (frame_send(fd, HEADER, &b, NULL, 0) < 0)
                fail("answer");
        buf_free(&b);
        sigv4_made_free(&made);
        while (n)
                free(texts[--n]);
}

static void sign_chunk(int fd, struct cur *c, struct sigv4_chain *chain)
{
        const uint8_t *hash;
        if (cur_bytes(c, SIGV4_HASH, &hash) < 0)
                fail("message");
        sigv4_chain_next(chain, hash, false);
        if (frame_send_data(fd, CHUNK, chain->last, SIGV4_HEX) < 0)
                fail("answer");
}

static _Noreturn void keep(int fd)
{
        struct sigv4_chain chain = {.stamp = "20260101T000000Z",
                                    .scope = "20260101/eu-west-1/s3/aws4_request",
                                    .last = DIGITS};
        while (frame_recv(fd, &frame, false) == 1) {
                if (frame.type == HEADER)
                        sign_header(fd, &frame.body);
                else
                        sign_chunk(fd, &frame.body, &chain);
                frame_release(&frame);
        }
        _exit(0);
}

/* --- the side of egress --- */

static void ask_headers(int fd, long n)
{
        for (long i = 0; i < n; i++) {
                struct buf b = {0};
                buf_put_lstr(&b, "/folder/an%20object.bin?x-id=GetObject");
                for (size_t k = 0; k < FIELDS; k++) {
                        buf_put_lstr(&b, request[k].name);
                        buf_put_lstr(&b, request[k].value);
                }
                if (frame_send(fd, HEADER, &b, NULL, 0) < 0 || frame_recv(fd, &frame, false) != 1)
                        fail("keeper");
                frame_release(&frame);
                buf_free(&b);
        }
}

static struct awschunk_unit flying[IN_FLIGHT];
static size_t flying_from, flying_n;

static void take_answer(int fd)
{
        if (frame_recv(fd, &frame, false) != 1)
                fail("keeper");
        struct awschunk_unit *u = &flying[flying_from];
        memcpy(u->bytes.data + u->signature, frame.body.p, SIGV4_HEX);
        frame_release(&frame);
        awschunk_unit_free(u);
        flying_from = (flying_from + 1) % IN_FLIGHT;
        flying_n--;
}

static void ask_chunks(int fd, long mb)
{
        struct awschunk *c = awschunk_new(false, UINT64_MAX);
        struct buf one = {0};
        struct err err = {0};
        char *data = calloc(1, STREAM);
        if (!data)
                fail("memory");
        buf_put_fmt(&one, "%x;chunk-signature=" DIGITS "\r\n", STREAM);
        buf_put(&one, data, STREAM);
        buf_put_str(&one, "\r\n");
        for (long i = 0; i < mb * 16; i++)
                /* as it comes from the box: in records of TLS */
                for (size_t at = 0; at < one.len; at += 16384) {
                        const uint8_t *p = one.data + at;
                        size_t n = one.len - at < 16384 ? one.len - at : 16384;
                        struct awschunk_unit u;
                        int r;
                        while (n && (r = awschunk_feed(c, &p, &n, &u, &err)) == 1) {
                                if (flying_n == IN_FLIGHT)
                                        take_answer(fd);
                                flying[(flying_from + flying_n++) % IN_FLIGHT] = u;
                                if (frame_send_data(fd, CHUNK, u.hash, sizeof u.hash) < 0)
                                        fail("keeper");
                        }
                }
        while (flying_n)
                take_answer(fd);
        awschunk_free(c);
        buf_free(&one);
        free(data);
}

static double cpu_of(int who)
{
        struct rusage r;
        getrusage(who, &r);
        return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
               (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
        int pair[2];
        long n = argc == 3 ? atol(argv[2]) : 0;
        bool is_header = argc == 3 && strcmp(argv[1], "header") == 0;
        if (n <= 0 || (!is_header && strcmp(argv[1], "chunks") != 0)) {
                fprintf(stderr, "sign header N | sign chunks MB\n");
                return 64;
        }
        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
                fail("socketpair");
        pid_t pid = fork();
        if (pid < 0)
                fail("fork");
        if (pid == 0) {
                close(pair[0]);
                keep(pair[1]);
        }
        close(pair[1]);
        double began = cpu_of(RUSAGE_SELF);
        if (is_header)
                ask_headers(pair[0], n);
        else
                ask_chunks(pair[0], n);
        close(pair[0]);
        waitpid(pid, NULL, 0);
        double mine = cpu_of(RUSAGE_SELF) - began, keepers = cpu_of(RUSAGE_CHILDREN);
        if (is_header)
                printf("%.1f us of processor time per signed header (egress %.1f, keeper %.1f)\n",
                       (mine + keepers) / (double)n * 1e6, mine / (double)n * 1e6,
                       keepers / (double)n * 1e6);
        else
                printf("%.0f MB/s per core of chunks signed anew (egress %.2f s, keeper %.2f s)\n",
                       (double)n * 1.048576 / (mine + keepers), mine, keepers);
        return 0;
}
