/* custody_link.c - see custody.h: calls to the keeper. A number goes out with each and comes back
 * with the answer, which is given to whoever asked, unless that one is gone. It must never keep an
 * answer: a value may be in it. */
#include "egress/custody.h"

#include "base/str.h"
#include "egress/door.h"
#include "wire/frame.h"

#include <stdlib.h>

struct keeper_call {
        uint32_t id;
        uint32_t asked; /* its type */
        keeper_answer *fn;
        void *ctx;
        struct keeper_call *next, **prev; /* the oldest is the first: it is answered first */
};

/* What may come back, and to which question. */
static const struct {
        uint32_t asked, answer;
} pairs[] = {
        {DOOR_PLACE, DOOR_PLACED},
        {DOOR_SIGN, DOOR_SIGNED},
        {DOOR_SIGN_CHUNK, DOOR_CHUNK_SIGNED},
        {DOOR_CAPTURE, DOOR_CAPTURED},
        {DOOR_SSH_SIGN, DOOR_SSH_SIGNED},
        {DOOR_TOKEN, DOOR_TOKEN_OK},
};

static bool is_answer_to(uint32_t answer, uint32_t asked)
{
        if (answer == DOOR_PLACE_NO)
                return true;
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
                if (pairs[i].answer == answer)
                        return pairs[i].asked == asked;
        return false;
}

static bool is_answer(uint32_t type)
{
        for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
                if (pairs[i].answer == type)
                        return true;
        return type == DOOR_PLACE_NO;
}

void keeper_tell(struct door *d, uint32_t type, const struct buf *body)
{
        if (frame_send(d->keeper_fd, type, body, NULL, 0) < 0)
                door_fault(d, "the process that holds the keys is gone");
}

struct keeper_call *keeper_ask(struct door *d, uint32_t type, const struct buf *body,
                               keeper_answer *fn, void *ctx)
{
        struct custody *c = custody_of(d);
        struct keeper_call *call = calloc(1, sizeof *call);
        if (!call)
                str_no_memory();
        *call = (struct keeper_call){
                .id = ++d->call_id, .asked = type, .fn = fn, .ctx = ctx, .prev = c->calls_end};
        *c->calls_end = call;
        c->calls_end = &call->next;
        _cleanup_buf_ struct buf b = {0};
        buf_put_u32(&b, call->id);
        buf_put(&b, body->data, body->len);
        if (b.is_broken || body->is_broken)
                str_no_memory();
        keeper_tell(d, type, &b);
        return call;
}

static void take_out(struct custody *c, struct keeper_call *call)
{
        *call->prev = call->next;
        if (call->next)
                call->next->prev = call->prev;
        else
                c->calls_end = call->prev;
}

void keeper_cancel(struct door *d, struct keeper_call *call)
{
        if (!call)
                return;
        take_out(custody_of(d), call);
        free(call);
}

bool keeper_answered(struct door *d, struct frame *f)
{
        uint32_t id;
        struct custody *c = custody_of(d);
        if (!is_answer(f->type))
                return false;
        if (cur_u32(&f->body, &id) < 0)
                door_fault(d, "the keeper sent an answer that makes no sense");
        struct keeper_call *call = c->calls;
        while (call && call->id != id)
                call = call->next;
        if (!call)
                return true; /* whoever asked is gone */
        if (!is_answer_to(f->type, call->asked))
                door_fault(d, "the keeper answered another question than was asked");
        take_out(c, call);
        call->fn(call->ctx, f->type, &f->body);
        free(call);
        return true;
}
