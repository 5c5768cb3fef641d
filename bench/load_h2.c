/* load_h2.c - the HTTP/2 half of load.c: one connection that always has as many streams open as
 * asked for. Called by its workers. */
#include "load.h"

#include <nghttp2/nghttp2.h>
#include <stdlib.h>
#include <string.h>

enum { STARTS = 1 << 16 };

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
                load_note(h->w, h->began[id % STARTS]);
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
                           FIELD(":authority", load_opt.host), FIELD(":path", load_opt.path),
                           FIELD("user-agent", "load")};
        while (h->open < load_opt.streams && load_may_ask()) {
                int32_t id =
                        nghttp2_submit_request(ns, NULL, nv, sizeof nv / sizeof *nv, NULL, NULL);
                if (id < 0)
                        return false;
                h->began[id % STARTS] = load_now();
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

void load_h2(struct worker *w, char *b)
{
        SSL *s = load_reach(load_opt.host);
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
        load_hang_up(s);
}
