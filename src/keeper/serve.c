/* serve.c - two short answers: a leaf certificate (DOOR_LEAF), and the list of secrets for an
 * egress that has just begun (DOOR_GRANTS). See serve_table.c for the others. */
#include "keeper/keeper_int.h"

#include "base/err.h"
#include "keeper/mint.h"
#include "wire/frame.h"

/* The name is parsed again by the one function that may; what egress made of it counts for nothing.
 */
int serve_leaf(struct keeper *k, struct frame *f)
{
        uint8_t der[MINT_LEAF_MAX];
        struct host_name host;
        struct err err = {0};
        size_t der_len = 0, n;
        uint32_t id;
        const char *text;
        if (cur_u32(&f->body, &id) < 0 || keeper_get_text(&f->body, HOST_TEXT_MAX, &text, &n) < 0 ||
            f->body.left)
                return -1;
        bool is_made = host_name_parse(text, n, &host, &err) == 0 &&
                       mint_leaf(k->mint, &host, der, &der_len, &err) == 0;
        struct buf *b = keeper_message(k, is_made ? DOOR_LEAF_OK : DOOR_LEAF_FAILED);
        buf_put_u32(b, id);
        if (is_made)
                keeper_put_bytes(b, der, der_len);
        else
                buf_put_lstr(b, err.text);
        return keeper_to_egress(k);
}

/* What was revoked before is told too: whoever shows its placeholder shall hear why it is refused.
 */
int serve_grants(struct keeper *k, struct frame *f)
{
        if (f->body.left || k->is_egress_here)
                return -1;
        k->is_egress_here = true;
        for (struct store_secret *x = NULL; (x = store_each(k->store, x));)
                if (keeper_grant(k, x) < 0 || (x->state != STORE_LIVE && keeper_gone(k, x) < 0))
                        return -1;
        keeper_message(k, DOOR_GRANTED_END);
        return keeper_to_egress(k);
}
