/* sup_open.c - the box wants an address opened: whoever is attached is shown it, and when it leads
 * back to a port of the box (a login that calls back, a page of a server in the box) is offered
 * that port. Nothing is opened, and no port is published, without the user's word.
 *
 * The address is the box's word: it is looked at as bytes, never followed. */
#include "session/sup.h"

#include "base/cleanup.h"
#include "base/str.h"
#include "session/open_port.h"

#include <stdlib.h>
#include <string.h>

/* is_address(s): printable ASCII and of the web. */
static bool is_address(const char *s)
{
        for (const char *p = s; *p; p++)
                if (*p <= 0x20 || *p >= 0x7f)
                        return false;
        return str_starts(s, "http://") || str_starts(s, "https://");
}

void sup_open_url(struct sup *s, struct frame *f)
{
        _cleanup_free_ char *url = NULL;
        if (cur_lstr(&f->body, MSG_URL_MAX, &url) < 0 || !is_address(url))
                return;
        s->open_port = open_port_of(url);
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, url);
        buf_put_u32(&b, s->open_port);
        for (struct client *c = s->clients; c; c = c->next)
                if (c->exec)
                        client_send(c, MSG_SHOW_URL, b.data, b.len);
}

void sup_on_forward(struct client *c, struct frame *f)
{
        struct sup *s = c->sup;
        struct err err = {0};
        uint32_t port;
        /* Only what was offered: an attached client is asked about one port at a time. */
        if (cur_u32(&f->body, &port) < 0 || port == 0 || port != s->open_port)
                return;
        s->open_port = 0;
        _cleanup_free_ char *spec = str_fmt("%u:%u", port, port);
        _cleanup_free_ char *at = sup_inbound_open(s, spec, &err);
        _cleanup_free_ char *words =
                at ? str_fmt("port %u of the box is at %s until the box ends", port, at)
                   : str_fmt("port %u of the box cannot be forwarded: %s", port, err.text);
        _cleanup_buf_ struct buf b = {0};
        buf_put_lstr(&b, words);
        client_send(c, MSG_NOTICE, b.data, b.len);
}
