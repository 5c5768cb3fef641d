/* load.h - what the two halves of the load client share: what was asked for, what was counted. */
#ifndef BENCH_LOAD_H
#define BENCH_LOAD_H

#include <openssl/ssl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { BUFFER = 256 << 10 };

struct options {
        const char *mode, *host, *path, *tag, *address, *port, *proxy, *bearer;
        int conns, streams;
        double seconds;
        long requests;
};
extern struct options load_opt;

/* One connection after the other, by one thread. */
struct worker {
        pthread_t thread;
        long requests, errors;
        uint64_t bytes;
        float *us;
        size_t us_n, us_cap;
};

double load_now(void);
/* load_note(w, began): one request was answered. */
void load_note(struct worker *, double began);
/* load_may_ask(): is there time for one more request, and is one left? Then it is the caller's. */
bool load_may_ask(void);
/* load_reach(name): a connection to ${name} after its handshake, or NULL. load_hang_up ends it. */
SSL *load_reach(const char *name);
void load_hang_up(SSL *);

/* load_h2(w, b): ask until time or requests are used up; ${b} has BUFFER bytes. */
void load_h2(struct worker *, char *b);

#endif
