/* refused.c - see refused.h. */
#include "audit/refused.h"

#include "base/buf.h"
#include "base/cur.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void refused_free(struct refused *r)
{
        for (size_t i = 0; i < r->hosts_n; i++) {
                free(r->hosts[i].host);
                free(r->hosts[i].cure);
        }
        for (size_t i = 0; i < r->alarmed_n; i++)
                free(r->alarmed[i]);
        *r = (struct refused){.more = 0};
}

static bool is_alarmed(const struct refused *r, const char *host)
{
        for (size_t i = 0; i < r->alarmed_n; i++)
                if (strcmp(r->alarmed[i], host) == 0)
                        return true;
        return false;
}

void refused_alarm(struct refused *r, const char *host)
{
        if (is_alarmed(r, host))
                return;
        for (size_t i = 0; i < r->hosts_n; i++)
                if (strcmp(r->hosts[i].host, host) == 0)
                        r->hosts[i].cure[0] = '\0';
        if (r->alarmed_n < REFUSED_MAX)
                r->alarmed[r->alarmed_n++] = str_dup(host);
}

/* A line that would have to be cut is worse than none. */
static const char *fitting(const char *cure)
{
        return cure && strlen(cure) <= REFUSED_CURE_MAX ? cure : "";
}

void refused_add(struct refused *r, const char *host, uint32_t port, const char *cure)
{
        if (is_alarmed(r, host))
                cure = NULL;
        for (size_t i = 0; i < r->hosts_n; i++) {
                struct refused_host *h = &r->hosts[i];
                if (h->port != port || strcmp(h->host, host) != 0)
                        continue;
                h->n++;
                if (!*h->cure && *fitting(cure)) {
                        free(h->cure);
                        h->cure = str_dup(cure);
                }
                return;
        }
        if (r->hosts_n == REFUSED_MAX || strlen(host) > REFUSED_HOST_MAX) {
                r->more++;
                return;
        }
        r->hosts[r->hosts_n++] = (struct refused_host){
                .host = str_dup(host), .port = port, .n = 1, .cure = str_dup(fitting(cure))};
}

void refused_put(struct buf *b, const struct refused *r)
{
        buf_put_u64(b, r->more);
        buf_put_u32(b, (uint32_t)r->hosts_n);
        for (size_t i = 0; i < r->hosts_n; i++) {
                buf_put_lstr(b, r->hosts[i].host);
                buf_put_u32(b, r->hosts[i].port);
                buf_put_u64(b, r->hosts[i].n);
                buf_put_lstr(b, r->hosts[i].cure);
        }
}

int refused_get(struct cur *c, struct refused *r)
{
        uint32_t n;
        *r = (struct refused){.more = 0};
        if (cur_u64(c, &r->more) < 0 || cur_u32(c, &n) < 0 || n > REFUSED_MAX)
                return -1;
        for (uint32_t i = 0; i < n; i++) {
                struct refused_host h = {.host = NULL};
                if (cur_lstr(c, REFUSED_HOST_MAX, &h.host) < 0 || cur_u32(c, &h.port) < 0 ||
                    cur_u64(c, &h.n) < 0 || cur_lstr(c, REFUSED_CURE_MAX, &h.cure) < 0) {
                        free(h.host);
                        refused_free(r);
                        return -1;
                }
                r->hosts[r->hosts_n++] = h;
        }
        return 0;
}
