/* token_keep.c - see token_int.h: what an exchange for tokens leaves for the host to keep
 * (DOOR_ROTATED), in the words that the supervisor's login_keep.c and token_load.c read. Called
 * when a new refresh token has come. It must never drop what the host's copy held besides: a vault
 * replaces it whole. */
#include "keeper/token_int.h"

#include <jansson.h>
#include <string.h>

static void put(json_t *o, const char *name, const char *text)
{
        if (text)
                json_object_set_new(o, name, json_string(text));
}

int token_keep(struct keeper *k, struct token *t, const char *access, const char *refresh,
               const char *secret)
{
        json_t *o = json_object();
        json_object_set_new(o, "expires", json_integer((json_int_t)t->expires_s));
        put(o, "access", access);
        put(o, "refresh", refresh);
        if (t->kind == TOKEN_OAUTH) {
                put(o, "client_secret", secret);
                put(o, "client_id", t->client);
        }
        char *text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        if (!text)
                return -1;
        t->is_locked = false;
        struct buf *b = keeper_message(k, DOOR_ROTATED);
        buf_put_u32(b, t->number);
        keeper_put_bytes(b, text, strlen(text));
        store_drop(text); /* jansson's memory is the store's */
        return keeper_to_supervisor(k);
}

void token_owe(struct keeper *k, const struct store_secret *s)
{
        const struct store_part *secret = store_part(s, "secret");
        for (struct token *t = k->token ? k->token->tokens : NULL; t && secret; t = t->next) {
                if (t->number != s->number || t->step != TOKEN_FETCHING || t->owed)
                        continue;
                t->owed = store_alloc(secret->len + 1);
                if (t->owed)
                        memcpy(t->owed, secret->value, secret->len + 1);
        }
}
