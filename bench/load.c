/* load.c - a client that asks for the same thing many times over TLS and says how long it took.
 *
 * Called by bench/door.sh: to an origin or a reverse proxy directly (-a), through a CONNECT proxy
 * (-x), or by name from inside a box. One blocking thread per connection. Modes: keep (one
 * connection, many requests), new (a handshake for each), names (the same, each with another name),
 * h2 (streams), idle (connections that stay open until standard input ends) and first (one request;
 * prints the time of day when its first byte came). Prints one line: requests, errors, seconds,
 * bytes, p50 and p99 in us. `load cpu PID...` prints the processor time of those processes in ns.
 *
 * Certificates are not looked at: it measures, and every peer on its way is on this machine. */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { BUFFER = 256 << 10, HEAD_MAX = 16 << 10, STARTS = 1 << 16 };

static struct {
        const char *mode, *host, *path, *tag, *address, *port, *proxy;
        int conns, streams;
        double seconds;
        long requests;
} opt = {.mode = "keep",
         .host = "localhost",
         .path = "/small",
         .tag = "x",
         .port = "443",
         .conns = 1,
         .streams = 16,
         .seconds = 1e9,
         .requests = 1L << 40};

struct worker {
        pthread_t thread;
        long requests, errors;
        uint64_t bytes;
        float *us;
        size_t us_n, us_cap;
};

static SSL_CTX *tls;
static atomic_bool is_over;
static atomic_long names, taken;

static double now(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static bool is_mode(const char *m)
{
        return strcmp(opt.mode, m) == 0;
}

static void note(struct worker *w, double began)
{
        if (w->us_n == w->us_cap) {
                w->us_cap = w->us_cap ? 2 * w->us_cap : 4096;
                w->us = realloc(w->us, w->us_cap * sizeof *w->us);
                if (!w->us)
                        abort();
        }
        w->us[w->us_n++] = (float)((now() - began) * 1e6);
        w->requests++;
}

/* --- one connection ----------------------------------------------------------------------------
 */

/* ask_proxy(fd): CONNECT. The answer is read byte by byte, so that nothing of TLS is eaten. */
static bool ask_proxy(int fd)
{
        char b[1024];
        int n = snprintf(b, sizeof b, "CONNECT localhost:%s HTTP/1.1\r\nHost: localhost:%s\r\n\r\n",
                         opt.port, opt.port);
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
        const char *host = opt.address ? opt.address : name;
        if (opt.proxy || opt.address)
                hints.ai_flags = AI_NUMERICHOST;
        if (opt.proxy)
                host = "127.0.0.1";
        if (getaddrinfo(host, opt.proxy ? opt.proxy : opt.port, &hints, &found) != 0)
                return -1;
        int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &(struct timeval){10, 0}, sizeof(struct timeval));
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        bool is_up = connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
                     (!opt.proxy || ask_proxy(fd));
        freeaddrinfo(found);
        if (is_up)
                return fd;
        close(fd);
        return -1;
}

static void hang_up(SSL *s)
{
        if (!s)
                return;
        int fd = SSL_get_fd(s);
        SSL_shutdown(s);
        SSL_free(s);
        close(fd);
}

static SSL *reach(const char *name)
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
        int n = snprintf(b, BUFFER,
                         "GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: load\r\nAccept: */*\r\n\r\n",
                         opt.path, name);
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

static bool may_ask(void)
{
        return !is_over && atomic_fetch_add(&taken, 1) < opt.requests;
}

static void run_h1(struct worker *w, char *b)
{
        SSL *s = NULL;
        bool is_fresh = is_mode("new") || is_mode("names");
        char name[300];
        snprintf(name, sizeof name, "%s", opt.host);
        while (may_ask()) {
                double began = now();
                if (is_mode("names"))
                        snprintf(name, sizeof name, "h%ld-%s.m.%s", atomic_fetch_add(&names, 1),
                                 opt.tag, opt.host);
                if (!s) {
                        s = reach(name);
                        if (!is_fresh)
                                began = now();
                }
                long n = s ? ask(s, name, b) : -1;
                if (n >= 0) {
                        note(w, began);
                        w->bytes += (uint64_t)n;
                } else {
                        w->errors++;
                        usleep(2000);
                }
                if (is_fresh || n < 0) {
                        hang_up(s);
                        s = NULL;
                }
        }
        hang_up(s);
}

/* --- HTTP/2 --------------------------------------------------------------------------------------
 */

struct h2 {
        struct worker *w;
        int open;
        bool is_refused;
        double began[STARTS];
};

static int on_close(nghttp2_session *ns, int32_t id, uint32_t code, void *ctx)
{
        struct h2 *h = ctx;
        (void)ns;
        h->open--;
        if (code)
                h->w->errors++;
        else
                note(h->w, h->began[id % STARTS]);
        return 0;
}

static int on_data(nghttp2_session *ns, uint8_t flags, int32_t id, const uint8_t *p, size_t n,
                   void *ctx)
{
        (void)ns, (void)flags, (void)id, (void)p;
        ((struct h2 *)ctx)->w->bytes += n;
        return 0;
}

static int on_header(nghttp2_session *ns, const nghttp2_frame *f, const uint8_t *name,
                     size_t name_n, const uint8_t *v, size_t v_n, uint8_t flags, void *ctx)
{
        struct h2 *h = ctx;
        (void)ns, (void)f, (void)flags;
        if (name_n == 7 && memcmp(name, ":status", 7) == 0 &&
            (v_n != 3 || memcmp(v, "200", 3) != 0))
                h->is_refused = true;
        return 0;
}

#define FIELD(n, v)                                                                                \
        {                                                                                          \
                (uint8_t *)(uintptr_t)(n), (uint8_t *)(uintptr_t)(v), strlen(n), strlen(v), 0      \
        }

static bool h2_round(struct h2 *h, nghttp2_session *ns, SSL *s, uint8_t *b)
{
        nghttp2_nv nv[] = {FIELD(":method", "GET"), FIELD(":scheme", "https"),
                           FIELD(":authority", opt.host), FIELD(":path", opt.path),
                           FIELD("user-agent", "load")};
        while (h->open < opt.streams && may_ask()) {
                int32_t id =
                        nghttp2_submit_request(ns, NULL, nv, sizeof nv / sizeof *nv, NULL, NULL);
                if (id < 0)
                        return false;
                h->began[id % STARTS] = now();
                h->open++;
        }
        const uint8_t *out;
        for (ssize_t n; (n = nghttp2_session_mem_send(ns, &out)) > 0;)
                if (SSL_write(s, out, (int)n) != n)
                        return false;
        if (h->open == 0)
                return false;
        int r = SSL_read(s, b, BUFFER);
        return r > 0 && nghttp2_session_mem_recv(ns, b, (size_t)r) == r && !h->is_refused;
}

static void run_h2(struct worker *w, char *b)
{
        SSL *s = reach(opt.host);
        struct h2 *h = calloc(1, sizeof *h);
        nghttp2_session_callbacks *cb;
        nghttp2_session *ns;
        if (!s || !h) {
                w->errors++;
                return;
        }
        h->w = w;
        nghttp2_session_callbacks_new(&cb);
        nghttp2_session_callbacks_set_on_stream_close_callback(cb, on_close);
        nghttp2_session_callbacks_set_on_data_chunk_recv_callback(cb, on_data);
        nghttp2_session_callbacks_set_on_header_callback(cb, on_header);
        nghttp2_session_client_new(&ns, cb, h);
        nghttp2_submit_settings(
                ns, 0,
                (nghttp2_settings_entry[]){{NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 4 << 20},
                                           {NGHTTP2_SETTINGS_ENABLE_PUSH, 0}},
                2);
        while (h2_round(h, ns, s, (uint8_t *)b)) {
        }
        w->errors += h->open;
        nghttp2_session_del(ns);
        nghttp2_session_callbacks_del(cb);
        free(h);
        hang_up(s);
}

/* --- the rest ------------------------------------------------------------------------------------
 */

static void *work(void *ctx)
{
        char *b = malloc(BUFFER);
        if (!b)
                abort();
        if (is_mode("h2"))
                run_h2(ctx, b);
        else
                run_h1(ctx, b);
        free(b);
        return NULL;
}

/* stay(): open every connection, use each once, then say so and hold them. */
static int stay(void)
{
        char *b = malloc(BUFFER);
        for (int i = 0; i < opt.conns; i++) {
                SSL *s = reach(opt.host);
                if (!b || !s || ask(s, opt.host, b) < 0)
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
        SSL *s = reach(opt.host);
        if (!b || !s || ask(s, opt.host, b) < 0)
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
        for (int i = 0; i < opt.conns; i++) {
                all.requests += w[i].requests;
                all.errors += w[i].errors;
                all.bytes += w[i].bytes;
                all.us_n += w[i].us_n;
        }
        all.us = malloc((all.us_n + 1) * sizeof *all.us);
        size_t n = 0;
        for (int i = 0; all.us && i < opt.conns; i++)
                for (size_t k = 0; k < w[i].us_n; k++)
                        all.us[n++] = w[i].us[k];
        all.us[n] = 0;
        qsort(all.us, n, sizeof *all.us, by_size);
        printf("%ld %ld %.3f %llu %.0f %.0f\n", all.requests, all.errors, seconds,
               (unsigned long long)all.bytes, (double)all.us[n / 2], (double)all.us[n * 99 / 100]);
}

static void options(int argc, char **argv)
{
        for (int o; (o = getopt(argc, argv, "m:h:u:T:a:p:x:c:s:t:n:C:")) > 0;) {
                switch (o) {
                case 'm':
                        opt.mode = optarg;
                        break;
                case 'h':
                        opt.host = optarg;
                        break;
                case 'u':
                        opt.path = optarg;
                        break;
                case 'T':
                        opt.tag = optarg;
                        break;
                case 'a':
                        opt.address = optarg;
                        break;
                case 'p':
                        opt.port = optarg;
                        break;
                case 'x':
                        opt.proxy = optarg;
                        break;
                case 'c':
                        opt.conns = atoi(optarg);
                        break;
                case 's':
                        opt.streams = atoi(optarg);
                        break;
                case 't':
                        opt.seconds = atof(optarg);
                        break;
                case 'n':
                        opt.requests = atol(optarg);
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
        struct worker *w = calloc((size_t)opt.conns, sizeof *w);
        if (!w)
                return 1;
        double began = now();
        for (int i = 0; i < opt.conns; i++)
                pthread_create(&w[i].thread, NULL, work, &w[i]);
        struct timespec end;
        clock_gettime(CLOCK_REALTIME, &end);
        double until = (double)end.tv_sec + (double)end.tv_nsec / 1e9 + opt.seconds;
        end.tv_sec = (time_t)until;
        end.tv_nsec = (long)((until - (double)end.tv_sec) * 1e9);
        for (int i = 0; i < opt.conns; i++) {
                if (pthread_timedjoin_np(w[i].thread, NULL, &end) == 0)
                        continue;
                is_over = true;
                pthread_join(w[i].thread, NULL);
        }
        report(w, now() - began);
        return 0;
}
