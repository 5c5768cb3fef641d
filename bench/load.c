/* load.c - a client that asks for the same thing many times over TLS and says how long it took.
 *
 * Called by bench/door.sh: to an origin or a reverse proxy directly (-a), through a CONNECT proxy
 * (-x), or by name from inside a box. One blocking thread per connection. Modes: keep (one
 * connection, many requests), new (a handshake for each), names (the same, each with another name),
 * h2 (streams), idle (connections that stay open until standard input ends) and first (one request;
 * prints the time of day when its first byte came). -B NAME shows that variable as a bearer (not
 * with h2). Prints one line: requests, errors, seconds, bytes, p50 and p99 in us. `load cpu PID...`
 * prints the processor time of those processes in ns.
 *
 * Certificates are not looked at: it measures, and every peer on its way is on this machine. */
#include "load.h"

#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HEAD_MAX = 16 << 10 };

struct options load_opt = {.mode = "keep",
                           .host = "localhost",
                           .path = "/small",
                           .tag = "x",
                           .port = "443",
                           .conns = 1,
                           .streams = 16,
                           .seconds = 1e9,
                           .requests = 1L << 40};

static SSL_CTX *tls;
static atomic_bool is_over;
static atomic_long names, taken;

double load_now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_mode(const char *m)
{
        return strcmp(load_opt.mode, m) == 0;
}

void load_note(struct worker *w, double began)
{
        if (w->us_n == w->us_cap) {
                w->us_cap = w->us_cap ? 2 * w->us_cap : 4096;
                w->us = realloc(w->us, w->us_cap * sizeof *w->us);
                if (!w->us)
                        abort();
        }
        w->us[w->us_n++] = (float)((load_now() - began) * 1e6);
        w->requests++;
}

/* --- one connection ----------------------------------------------------------------------------
 */

/* ask_proxy(fd): CONNECT. The answer is read byte by byte, so that nothing of TLS is eaten. */
static bool ask_proxy(int fd)
{
        char b[1024];
        int n = snprintf(b, sizeof b, "CONNECT localhost:%s HTTP/1.1\r\nHost: localhost:%s\r\n\r\n",
                         load_opt.port, load_opt.port);
        if (write(fd, b, (size_t)n) != n)
                return false;
        for (size_t got = 0; got < sizeof b - 1;) {
                if (read(fd, b + got, 1) != 1)
                        return false;
                b[++got] = 0;
                if (got >= 4 && memcmp(b + got - 4, "\r\n\r\n", 4) == 0)
                        return strstr(b, " 200") != NULL;
        }
        return false;
}

static int dial(const char *name)
{
        struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found = NULL;
        const char *host = load_opt.address ? load_opt.address : name;
        if (load_opt.proxy || load_opt.address)
                hints.ai_flags = AI_NUMERICHOST;
        if (load_opt.proxy)
                host = "127.0.0.1";
        if (getaddrinfo(host, load_opt.proxy ? load_opt.proxy : load_opt.port, &hints, &found) != 0)
                return -1;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){10, 0}, sizeof(struct timeval));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        bool is_up = connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                     (!load_opt.proxy || ask_proxy(fd));
        freeaddrinfo(found);
        if (is_up)
                return fd;
        close(fd);
        return -1;
}

void load_hang_up(SSL *s)
{
        if (!s)
                return;
        int fd = SSL_get_fd(s);
        SSL_shutdown(s);
        SSL_free(s);
        close(fd);
}

SSL *load_reach(const char *name)
{
        int fd = dial(name);
        if (fd < 0)
                return NULL;
        SSL *s = SSL_new(tls);
        SSL_set_fd(s, fd);
        SSL_set_tlsext_host_name(s, name);
        if (is_mode("h2"))
                SSL_set_alpn_protos(s, (const unsigned char *)"\x02h2", 3);
        else
                SSL_set_alpn_protos(s, (const unsigned char *)"\x08http/1.1", 9);
        if (SSL_connect(s) == 1)
                return s;
        SSL_free(s);
        close(fd);
        return NULL;
}

/* --- HTTP/1.1 ------------------------------------------------------------------------------------
 */

/* drain_chunks(s, b, n): read to the last chunk. Its bytes cannot stand in a body of ours, which is
 * letters or a file with a length. */
static bool drain_chunks(SSL *s, char *b, size_t n)
{
        while (n < 5 || memcmp(b + n - 5, "0\r\n\r\n", 5) != 0) {
                size_t keep = n < 5 ? n : 5;
                memmove(b, b + n - keep, keep);
                int r = SSL_read(s, b + keep, BUFFER - (int)keep);
                if (r <= 0)
                        return false;
                n = keep + (size_t)r;
        }
        return true;
}

/* ask(s, name, b): one request and its whole answer; bytes of the body, or -1. */
static long ask(SSL *s, const char *name, char *b)
{
        bool is_default = strcmp(load_opt.port, "443") == 0;
        int n = snprintf(
                b, BUFFER,
                "GET %s HTTP/1.1\r\nHost: %s%s%s\r\nUser-Agent: load\r\nAccept: */*\r\n%s%s%s\r\n",
                load_opt.path, name, is_default ? "" : ":", is_default ? "" : load_opt.port,
                load_opt.bearer ? "Authorization: Bearer " : "",
                load_opt.bearer ? load_opt.bearer : "", load_opt.bearer ? "\r\n" : "");
        if (SSL_write(s, b, n) != n)
                return -1;
        size_t got = 0;
        char *end = NULL;
        while (!end) {
                int r = got < HEAD_MAX ? SSL_read(s, b + got, BUFFER - 1 - (int)got) : 0;
                if (r <= 0)
                        return -1;
                got += (size_t)r;
                b[got] = 0;
                end = strstr(b, "\r\n\r\n");
        }
        if (strncmp(b, "HTTP/1.1 200", 12) != 0) {
                if (getenv("LOAD_DEBUG"))
                        fprintf(stderr, "%.600s\n", b);
                return -1;
        }
        end += 4;
        size_t have = got - (size_t)(end - b);
        long len = -1;
        for (char *p = b; p < end; p = strstr(p, "\r\n") + 2) {
                if (strncasecmp(p, "content-length:", 15) == 0)
                        len = atol(p + 15);
                if (strncasecmp(p, "transfer-encoding:", 18) == 0)
                        return drain_chunks(s, end, have) ? 1 : -1;
        }
        for (long left = len - (long)have; left > 0;) {
                int r = SSL_read(s, b, left < BUFFER ? (int)left : BUFFER);
                if (r <= 0)
                        return -1;
                left -= r;
        }
        return len;
}

bool load_may_ask(void)
{
        return !is_over && atomic_fetch_add(&taken, 1) < load_opt.requests;
}

static void run_h1(struct worker *w, char *b)
{
        SSL *s = NULL;
        bool is_fresh = is_mode("new") || is_mode("names");
        char name[300];
        snprintf(name, sizeof name, "%s", load_opt.host);
        while (load_may_ask()) {
                double began = load_now();
                if (is_mode("names"))
                        snprintf(name, sizeof name, "h%ld-%s.m.%s", atomic_fetch_add(&names, 1),
                                 load_opt.tag, load_opt.host);
                if (!s) {
                        s = load_reach(name);
                        if (!is_fresh)
                                began = load_now();
                }
                long n = s ? ask(s, name, b) : -1;
                if (n >= 0) {
                        load_note(w, began);
                        w->bytes += (uint64_t)n;
                } else {
                        w->errors++;
                        usleep(2000);
                }
                if (is_fresh || n < 0) {
                        load_hang_up(s);
                        s = NULL;
                }
        }
        load_hang_up(s);
}

/* --- the rest ------------------------------------------------------------------------------------
 */

static void *work(void *ctx)
{
        char *b = malloc(BUFFER);
        if (!b)
                abort();
        if (is_mode("h2"))
                load_h2(ctx, b);
        else
                run_h1(ctx, b);
        free(b);
        return NULL;
}

/* stay(): open every connection, use each once, then say so and hold them. */
static int stay(void)
{
        char *b = malloc(BUFFER);
        for (int i = 0; i < load_opt.conns; i++) {
                SSL *s = load_reach(load_opt.host);
                if (!b || !s || ask(s, load_opt.host, b) < 0)
                        return 1;
        }
        puts("ready");
        fflush(stdout);
        while (read(0, b, BUFFER) > 0) {
        }
        return 0;
}

static int first(void)
{
        char *b = malloc(BUFFER);
        SSL *s = load_reach(load_opt.host);
        if (!b || !s || ask(s, load_opt.host, b) < 0)
                return 1;
        struct timespec t;
        clock_gettime(CLOCK_REALTIME, &t);
        printf("%lld.%06ld\n", (long long)t.tv_sec, t.tv_nsec / 1000);
        return 0;
}

static int cpu(char **pids)
{
        uint64_t ns = 0;
        for (; *pids; pids++) {
                clockid_t clock;
                struct timespec t;
                if (clock_getcpuclockid(atoi(*pids), &clock) == 0 && clock_gettime(clock, &t) == 0)
                        ns += (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
        }
        printf("%llu\n", (unsigned long long)ns);
        return 0;
}

static int by_size(const void *a, const void *b)
{
        const float *x = a, *y = b;
        return (*x > *y) - (*x < *y);
}

static void report(struct worker *w, double seconds)
{
        struct worker all = {0};
        for (int i = 0; i < load_opt.conns; i++) {
                all.requests += w[i].requests;
                all.errors += w[i].errors;
                all.bytes += w[i].bytes;
                all.us_n += w[i].us_n;
        }
        all.us = malloc((all.us_n + 1) * sizeof *all.us);
        size_t n = 0;
        for (int i = 0; all.us && i < load_opt.conns; i++)
                for (size_t k = 0; k < w[i].us_n; k++)
                        all.us[n++] = w[i].us[k];
        all.us[n] = 0;
        qsort(all.us, n, sizeof *all.us, by_size);
        printf("%ld %ld %.3f %llu %.0f %.0f\n", all.requests, all.errors, seconds,
               (unsigned long long)all.bytes, (double)all.us[n / 2], (double)all.us[n * 99 / 100]);
}

static void options(int argc, char **argv)
{
        for (int o; (o = getopt(argc, argv, "m:h:u:T:a:p:x:c:s:t:n:C:B:")) > 0;) {
                switch (o) {
                case 'm':
                        load_opt.mode = optarg;
                        break;
                case 'h':
                        load_opt.host = optarg;
                        break;
                case 'u':
                        load_opt.path = optarg;
                        break;
                case 'T':
                        load_opt.tag = optarg;
                        break;
                case 'B': /* the name of a variable */
                        load_opt.bearer = getenv(optarg);
                        break;
                case 'a':
                        load_opt.address = optarg;
                        break;
                case 'p':
                        load_opt.port = optarg;
                        break;
                case 'x':
                        load_opt.proxy = optarg;
                        break;
                case 'c':
                        load_opt.conns = atoi(optarg);
                        break;
                case 's':
                        load_opt.streams = atoi(optarg);
                        break;
                case 't':
                        load_opt.seconds = atof(optarg);
                        break;
                case 'n':
                        load_opt.requests = atol(optarg);
                        break;
                case 'C': {
                        cpu_set_t set;
                        CPU_ZERO(&set);
                        CPU_SET((size_t)atoi(optarg), &set);
                        sched_setaffinity(0, sizeof set, &set);
                        break;
                }
                default:
                        exit(64);
                }
        }
}

int main(int argc, char **argv)
{
        if (argc > 1 && strcmp(argv[1], "cpu") == 0)
                return cpu(argv + 2);
        options(argc, argv);
        signal(SIGPIPE, SIG_IGN);
        tls = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_session_cache_mode(tls, SSL_SESS_CACHE_OFF); /* every handshake is a full one */
        if (is_mode("idle"))
                return stay();
        if (is_mode("first"))
                return first();
        struct worker *w = calloc((size_t)load_opt.conns, sizeof *w);
        if (!w)
                return 1;
        double began = load_now();
        for (int i = 0; i < load_opt.conns; i++)
                pthread_create(&w[i].thread, NULL, work, &w[i]);
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        double until = (double)end.tv_sec + (double)end.tv_nsec / 1e9 + load_opt.seconds;
        end.tv_sec = (time_t)until;
        end.tv_nsec = (long)((until - (double)end.tv_sec) * 1e9);
        for (int i = 0; i < load_opt.conns; i++) {
                if (pthread_timedjoin_np(w[i].thread, NULL, &end) == 0)
                        continue;
                is_over = true;
                pthread_join(w[i].thread, NULL);
        }
        report(w, load_now() - began);
        return 0;
}
