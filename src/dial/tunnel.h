/* tunnel.h - through a company's HTTP proxy: CONNECT host:port on a connection to it.
 *
 * Where there is such a proxy it resolves the name, so that checking the address is its duty; the
 * policy was asked before. */
#ifndef DIAL_TUNNEL_H
#define DIAL_TUNNEL_H

#include "base/buf.h"
#include "base/loop.h"
#include "policy/host_name.h"

struct err;

enum { TUNNEL_AUTH_MAX = 700 };

struct tunnel_proxy {
        struct host_name host; /* len 0: there is no proxy */
        uint16_t port;
        char auth[TUNNEL_AUTH_MAX]; /* base64 of user:password, or "" */
};

/* tunnel_proxy_parse(url, p, err): "http://[USER:PASSWORD@]HOST[:PORT][/]"; "" is no proxy. */
int tunnel_proxy_parse(const char *url, struct tunnel_proxy *, struct err *);

/* tunnel_fn(ctx, fd, words): ${fd} now leads to the host; or it is -1 and ${words} say why. */
typedef void tunnel_fn(void *ctx, int fd, const char *words);

struct tunnel {
        struct loop *loop;
        int fd;
        struct loop_src *src;
        struct loop_timer limit;
        struct buf out, in;
        tunnel_fn *fn;
        void *ctx;
};

/* tunnel_start(t, loop, fd, proxy, host, port, fn, ctx): takes ${fd}, which is connected to the
 * proxy and non-blocking. ${fn} is called once, never before this returns, unless tunnel_stop comes
 * first. Not a byte behind the proxy's answer is read: it belongs to whoever gets ${fd}. */
void tunnel_start(struct tunnel *, struct loop *, int fd, const struct tunnel_proxy *,
                  const struct host_name *, uint16_t port, tunnel_fn *, void *ctx);
void tunnel_stop(struct tunnel *);

#endif
