/* token_end.c - see token.h: the end of a secret that was exchanged for tokens. Its key goes at
 * once; a call that is on its way is waited for, because the refresh token that it brings is the
 * host's only one: a login must outlive the box that is no longer trusted with it. */
#include "keeper/token_int.h"

#include <stdlib.h>

static void drop_key(struct token *t)
{
        EVP_PKEY_free(t->key);
        t->key = NULL;
        t->expires_s = 0;
}

static void drop_owed(struct token *t)
{
        store_drop(t->owed);
        t->owed = NULL;
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
        bool is_kept = (t->kind == TOKEN_LOGIN || t->kind == TOKEN_OAUTH) && t->has_refresh &&
                       got[TOKEN_GOT_ACCESS] && got[TOKEN_GOT_REFRESH];
        t->step = TOKEN_IDLE;
        if (is_kept) {
                uint64_t life =
                        got[TOKEN_GOT_EXPIRES] ? strtoull(got[TOKEN_GOT_EXPIRES], NULL, 10) : 3600;
                t->expires_s = token_now_s() + life;
                int r = token_keep(k, t, got[TOKEN_GOT_ACCESS], got[TOKEN_GOT_REFRESH], t->owed);
                t->expires_s = 0; /* nobody here has it */
                drop_owed(t);
                if (r < 0)
                        return r;
        }
        return token_serve_parked(k, t);
}

static void free_token(struct token *t)
{
        drop_key(t);
        drop_owed(t);
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
