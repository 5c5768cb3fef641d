/* serve_table.c - who may ask the keeper for what, and who answers. Everything else ends it. */
#include "keeper/serve_int.h"

#include "keeper/sign.h"
#include "keeper/ssh_outside.h"
#include "keeper/ssh_sign.h"
#include "keeper/token.h"
#include "wire/frame.h"

const struct keeper_entry keeper_from_egress[] = {
        {DOOR_LEAF, serve_leaf},         {DOOR_GRANTS, serve_grants},
        {DOOR_PLACE, place_serve},       {DOOR_CAPTURE, capture_serve},
        {DOOR_GONE_OK, serve_gone_ok},   {DOOR_SSH_SIGN, ssh_sign_serve},
        {DOOR_SIGN, sign_serve},         {DOOR_SIGN_CHUNK, sign_chunk_serve},
        {DOOR_SIGN_END, sign_end_serve}, {DOOR_FETCHED, token_fetched},
        {DOOR_TOKEN, token_call},        {0, NULL},
};

const struct keeper_entry keeper_from_supervisor[] = {
        {DOOR_SECRET, serve_secret},     {DOOR_STAND_IN, serve_stand_in},
        {DOOR_REVOKE, serve_revoke},     {DOOR_SSH_HOSTS, ssh_hosts_serve},
        {DOOR_SSH_HELD, ssh_held_serve}, {DOOR_SSH_ASKED, ssh_asked_serve},
        {DOOR_KEPT, token_kept},         {DOOR_LINE, serve_line},
        {DOOR_HOLD, serve_hold},         {0, NULL},
};

int serve_frame(struct keeper *k, const struct keeper_entry *table, struct frame *f)
{
        for (; table->fn; table++)
                if (table->type == f->type)
                        return table->fn(k, f);
        return -1;
}
