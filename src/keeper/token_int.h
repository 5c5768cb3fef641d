/* token_int.h - what token.c (when), token_load.c (from what) and token_make.c (how) share. */
#ifndef KEEPER_TOKEN_INT_H
#define KEEPER_TOKEN_INT_H

#include "keeper/token.h"

#include <openssl/evp.h>

enum token_kind { TOKEN_LOGIN, TOKEN_OAUTH, TOKEN_GCP, TOKEN_APP };

enum token_step {
        TOKEN_IDLE,
        TOKEN_HOST,     /* the host's copy is locked and read again: it may be newer than ours */
        TOKEN_FETCHING, /* egress carries the call */
        TOKEN_KEEPING,  /* the host writes the new refresh token down */
};

/* A question that waits for a token. */
struct token_parked {
        struct token_parked *next;
        keeper_handler *again;
        uint32_t type;
        size_t n;
        uint8_t body[];
};

struct token {
        struct token *next;
        uint32_t number;
        enum token_kind kind;
        char *host, *target; /* the token endpoint */
        uint16_t port;
        char *client, *scope; /* a client's id is no secret */
        char *email, *kid;    /* of a service account */
        EVP_PKEY *key;
        char *owed; /* locked: the client's secret of one that was revoked while it was fetched */
        bool has_refresh, has_secret; /* parts "refresh" and "secret" */
        uint64_t expires_s, life_s;   /* of the access token; 0: there is none */
        enum token_step step;
        bool is_locked; /* the host holds its copy for us */
        uint32_t fetch_id;
        uint64_t began_ms;
        struct token_parked *parked;
        size_t parked_n;
        uint64_t failed_ms;
        char why[300];
};

struct token_state {
        struct token *tokens;
        uint32_t fetch_id;
};

/* token_of(k, secret): made when it is not there. */
struct token *token_of(struct keeper *, const struct store_secret *);
uint64_t token_now_s(void);
bool token_is_fresh(const struct token *);

/* token_url(t): "https://host/path" of its endpoint; the caller frees. */
char *token_url(const struct token *);
/* token_make_fetch(k, t, secret, err): DOOR_FETCH for a fresh token. 0 or -1. */
int token_make_fetch(struct keeper *, struct token *, const struct store_secret *, struct err *);
/* The pointers that token_make_fetch asks for, in this order. */
enum { TOKEN_GOT_ACCESS, TOKEN_GOT_EXPIRES, TOKEN_GOT_REFRESH, TOKEN_GOT_ERROR, TOKEN_GOT_N };

/* token_loaded(k, t): the host's copy was read again. */
int token_loaded(struct keeper *, struct token *);

/* token_serve_parked(k, t): everybody who waited asks again, and is answered now. */
int token_serve_parked(struct keeper *, struct token *);
/* token_keep(k, t, access, refresh, secret): DOOR_ROTATED: what the host is to keep; any may be
 * NULL (token_keep.c). */
int token_keep(struct keeper *, struct token *, const char *access, const char *refresh,
               const char *secret);
/* token_give_back(k, t, got): an answer for a secret that was revoked meanwhile (token_end.c). */
int token_give_back(struct keeper *, struct token *, char *const *got);

#endif
