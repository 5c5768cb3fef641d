/* h2_calm.c - frames that cost us work and carry nothing: reset, ping, settings, empty data,
 * errors. Each takes from an allowance that time and honest work refill; when it is used up the
 * connection ends with ENHANCE_YOUR_CALM. See h2_common.h.
 *
 * Resets that we send because of what the other end did wrong count as much as its own, so that
 * nobody gets work done for nothing by making us reset ("MadeYouReset"). nghttp2 itself bounds
 * CONTINUATION frames and unsent acknowledgements. */
#include "base/loop.h"
#include "egress/door.h"
#include "egress/h2_common.h"

enum { COST_SMALL = 1, COST_SETTINGS = 4 };

static void refill(struct h2 *h)
{
        uint64_t now = loop_now(h->door->loop), passed = now - h->calm_at;
        if (passed < 100)
                return;
        h->calm_at = now;
        uint64_t more = passed > 60000 ? H2_CALM_MAX : passed * H2_CALM_PER_SECOND / 1000;
        h->calm += (int)more;
        if (h->calm > H2_CALM_MAX)
                h->calm = H2_CALM_MAX;
}

void h2_calm_take(struct h2 *h, int cost)
{
        refill(h);
        if (h->calm < 0)
                return;
        h->calm -= cost;
        if (h->calm >= 0)
                return;
        nghttp2_session_terminate_session(h->session, NGHTTP2_ENHANCE_YOUR_CALM);
        h->why = "the other end sent too many frames that carry nothing";
        h2_later(h);
}

void h2_calm_give(struct h2 *h)
{
        if (h->calm >= 0 && h->calm < H2_CALM_MAX)
                h->calm++;
}

void h2_calm_frame(struct h2 *h, const nghttp2_frame *f)
{
        work_step(&h->door->work, 0);
        switch (f->hd.type) {
        case NGHTTP2_RST_STREAM:
        case NGHTTP2_PING:
        case NGHTTP2_PRIORITY:
                h2_calm_take(h, COST_SMALL);
                return;
        case NGHTTP2_SETTINGS:
                if (!(f->hd.flags & NGHTTP2_FLAG_ACK))
                        h2_calm_take(h, COST_SETTINGS);
                return;
        case NGHTTP2_DATA:
                if (f->hd.length > f->data.padlen)
                        h2_calm_give(h);
                else if (!(f->hd.flags & NGHTTP2_FLAG_END_STREAM))
                        h2_calm_take(h, COST_SMALL);
                return;
        case NGHTTP2_WINDOW_UPDATE:
                if (++h->updates > H2_UPDATES_MAX)
                        h2_calm_take(h, COST_SMALL);
                return;
        default:
                return;
        }
}
