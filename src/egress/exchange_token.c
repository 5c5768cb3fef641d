/* exchange_token.c - see exchange.h: a request to the token endpoint of one of the box's secrets is
 * answered in the endpoint's place, with placeholders (token_call.h); one that holds nothing of
 * ours goes on. Called by exchange_keys.c. */
#include "egress/exchange_int.h"

#include "base/str.h"
#include "egress/token_call.h"

#include <string.h>

/* answer(x, json): as the endpoint would. */
static void answer(struct exchange *x, const char *json)
{
        struct head h;
        head_init(&h);
        h.status = 200;
        h.minor = 1;
        h.is_persistent = true;
        h.body = HEAD_BODY_LENGTH;
        h.length = strlen(json);
        head_add(&h, "content-type", 12, "application/json", 16, NULL);
        head_add(&h, "cache-control", 13, "no-store", 8, NULL);
        x->state = X_LOCAL;
        x->has_answer = true;
        x->status = h.status;
        buf_free(&x->early);
        exchange_let_go(x);
        exchange_note(x, "answered by the keeper in the endpoint's place");
        exchange_record(x);
        x->client->head(x->client_side, x, &h, false);
        if (!x->is_dead)
                x->client->data(x->client_side, x, json, strlen(json));
        x->state = X_DONE;
        if (!x->is_dead)
                x->client->end(x->client_side, x, NULL);
        head_free(&h);
}

static void on_token(void *ctx, int status, const char *text)
{
        struct exchange *x = ctx;
        x->token = NULL;
        if (x->is_dead || x->state != X_KEYS)
                return;
        if (status == 200) {
                answer(x, text);
        } else if (status == 0) {
                exchange_keys_begin(x);
        } else {
                x->verdict = "deny";
                exchange_answer_self(x, status, NULL, text, NULL);
        }
}

void exchange_token_ask(struct exchange *x)
{
        const struct custody_secret *s =
                token_call_whose(x->door, &x->host, x->origin.port, &x->req);
        x->is_token = false;
        if (!s ||
            x->early.len > TOKEN_CALL_MAX) { /* too large for such a call: no business of ours */
                exchange_keys_begin(x);
                return;
        }
        const struct door_toward to = {.method = head_str(&x->req, x->req.method),
                                       .host = x->host.text,
                                       .path = x->req.path.text,
                                       .port = x->origin.port,
                                       .is_tls = x->origin.is_tls};
        x->token = token_call_begin(x->door, s, &to, x->early.data, x->early.len, on_token, x);
}

bool exchange_token(struct exchange *x)
{
        if (!token_call_whose(x->door, &x->host, x->origin.port, &x->req))
                return false;
        x->state = X_KEYS;
        x->is_token = true;
        if (x->is_end_here)
                exchange_token_ask(x);
        else
                exchange_say_continue(x);
        return true;
}
