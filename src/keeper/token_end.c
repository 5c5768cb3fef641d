/* token_end.c - see token.h: the end of a secret that was exchanged for tokens. Its key goes at
 * once; a call that is on its way is waited for, because the refresh token that it brings is the
 * host's only one: a login must outlive the box that is no longer trusted with it. */
#include "keeper/token_int.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

static void drop_key(struct token *t)
{
        EVP_PKEY_free(t->key);
        t->key = NULL;
        t->expires_s = 0;
}

int token_gone(struct keeper *k, uint32_t number)
{
        for (struct token *t = k->token ? k->token->tokens : NULL; t; t = t->next) {
                if (t->number != number)
                        continue;
                enum token_step step = t->step;
                bool is_under_way = step == TOKEN_FETCHING || step == TOKEN_KEEPING;
                bool is_locked = t->is_locked;
                drop_key(t);
                if (is_under_way)
                        t->is_locked = false; /* the host's copy stays locked for what comes */
                int r = token_serve_parked(k, t);
                if (is_under_way) {
                        t->step = step;
                        t->is_locked = is_locked;
                }
                return r;
        }
        return 0;
}

int token_give_back(struct keeper *k, struct token *t, char *const *got)
{
        t->step = TOKEN_IDLE;
        if (t->kind != TOKEN_LOGIN || !got[TOKEN_GOT_ACCESS] || !got[TOKEN_GOT_REFRESH])
                return token_serve_parked(k, t);
        uint64_t life = got[TOKEN_GOT_EXPIRES] ? strtoull(got[TOKEN_GOT_EXPIRES], NULL, 10) : 3600;
        uint64_t ends = token_now_s() + life;
        json_t *o = json_object();
        json_object_set_new(o, "expires", json_integer((json_int_t)ends));
        json_object_set_new(o, "access", json_string(got[TOKEN_GOT_ACCESS]));
        json_object_set_new(o, "refresh", json_string(got[TOKEN_GOT_REFRESH]));
        char *text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        if (!text)
                return token_serve_parked(k, t);
        t->is_locked = false;
        struct buf *b = keeper_message(k, DOOR_ROTATED);
        buf_put_u32(b, t->number);
        keeper_put_bytes(b, text, strlen(text));
        store_drop(text); /* jansson's memory is the store's */
        int r = keeper_to_supervisor(k);
        return r < 0 ? r : token_serve_parked(k, t);
}

static void free_token(struct token *t)
{
        drop_key(t);
        while (t->parked) {
                struct token_parked *p = t->parked;
                t->parked = p->next;
                free(p);
        }
        free(t->host);
        free(t->target);
        free(t->client);
        free(t->scope);
        free(t->email);
        free(t->kid);
        free(t);
}

void token_forget(struct keeper *k)
{
        while (k->token && k->token->tokens) {
                struct token *t = k->token->tokens;
                k->token->tokens = t->next;
                free_token(t);
        }
        free(k->token);
        k->token = NULL;
}
