/* sign.h - requests whose credential is a signature: found, taken apart, signed anew by the keeper,
 * which alone has the key. AWS SigV4 (header, query, signed chunks) and HMAC by template.
 *
 * Called by custody_request.c: sign_look tells whether a request carries a signature made with our
 * placeholder; sign_begin has it made anew and changes the head; a body with signed chunks passes
 * through sign_body, which keeps every length. Everything else that is done to a head (fields taken
 * out, values placed, Accept-Encoding narrowed) is done before sign_begin, because it may be
 * signed. */
#ifndef EGRESS_SIGN_H
#define EGRESS_SIGN_H

#include "egress/custody.h"
#include "egress/head.h"

struct sign;

enum sign_found {
        SIGN_NONE,    /* no signature of this kind at all */
        SIGN_OURS,    /* made with our placeholder */
        SIGN_FOREIGN, /* made with another key, or only half of it is ours: refused on a managed
                         host */
};

/* sign_look(secret, form, head): for sigv4 by the access key's id in the header or the URL; for
 * hmac whatever stands in the line's header is ours, because it is replaced. */
enum sign_found sign_look(const struct custody_secret *, size_t form, const struct head *);

/* sign_is_replaceable(head): may a foreign signature be taken out and one of ours put in its place?
 * One in the URL may not: whoever made that URL gave away a right of his own. */
bool sign_is_replaceable(const struct head *);

/* sign_refusal(secret, form, head): why a request cannot be signed at all, or NULL. ${head} is the
 * one that came: its target is still as it was sent. */
const char *sign_refusal(const struct custody_secret *, size_t form, const struct head *);

/* sign_needs_body(secret, form, head): must the body be here whole (at most BODY_MAX) before it can
 * be signed? */
bool sign_needs_body(const struct custody_secret *, size_t form, const struct head *);

/* sign_begin(d, secret, form, head, is_tls, body, n, fn, ctx): ${head}, which must stay where it
 * is, is changed before ${fn} is called with NULL, or with a sentence when it was refused; never at
 * once. ${body} is used only when sign_needs_body said so. A request without a signature gets one
 * when the line says inject. sign_free cancels; it may be called from ${fn}. */
struct sign *sign_begin(struct door *, const struct custody_secret *, size_t form, struct head *,
                        bool is_tls, const void *body, size_t n,
                        void (*fn)(void *ctx, const char *why), void *ctx);
void sign_free(struct sign *);

/* sign_has_chunks(s): does the body have signatures of its own? Then every byte of it goes through
 * sign_body, which calls ${out} with what may go on (now or when the keeper has answered). It takes
 * everything it is given; false: no more before ${idle} is called. ${out} with NULL and a sentence
 * in ${why}: the body is not what it says, or may not go on; nothing is called after that. All of
 * them may call sign_free. */
bool sign_has_chunks(const struct sign *);
struct sign_body_ops {
        void (*out)(void *ctx, const void *, size_t, const char *why);
        void (*end)(void *ctx); /* everything has been put out */
        void (*idle)(void *ctx);
};
size_t sign_held(const struct sign *); /* bytes of memory */
/* sign_more(s, n): by how much that can grow when ${n} bytes of the body come. */
size_t sign_more(const struct sign *, size_t n);
bool sign_body(struct sign *, const void *, size_t, bool is_end, const struct sign_body_ops *,
               void *ctx);

#endif
