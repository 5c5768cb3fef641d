/* body_decode.c - undo Content-Encoding for policy, in turns and with ceilings. See body_int.h. Pure.
 *
 * A coding that programs undo in different ways is refused (undo_strictly), and so is a list that is
 * none. */
#include "base/err.h"
#include "egress/account.h"
#include "egress/body.h"
#include "egress/body_int.h"
#include "egress/undo.h"
#include "egress/work.h"

#include <string.h>

/* is_list(s, err): names with commas between them, each known. */
static int is_list(const char *s, struct err *err)
{
        for (;;) {
                s += strspn(s, " \t");
                size_t len = strcspn(s, ", \t");
                if (!undo_knows(s, len))
                        return err_set(err, E_PROTO, "its coding \"%.*s\" is not known here",
                                       (int)(len < 40 ? len : 40), s);
                s += len;
                s += strspn(s, " \t");
                if (*s == '\0')
                        return 0;
                if (*s++ != ',')
                        return err_set(err, E_PROTO, "its Content-Encoding is not a list");
        }
}

int body_decode_new(const char *coding, const void *p, size_t n, struct work_budget *work,
                    struct account *account, struct undo **out, struct err *err)
{
        *out = NULL;
        if (coding[strspn(coding, " \t")] == '\0')
                return 0;
        if (is_list(coding, err) < 0 || undo_new(coding, work, account, out, err) < 0)
                return -1;
        if (!*out)
                return 0;
        if (undo_strictly(*out) < 0)
                return err_set(err, E_PROTO, "its coding is not read for rules");
        undo_put(*out, p, n);
        return 0;
}

int body_decode_step(struct body *b)
{
        struct buf *out = &b->bytes;
        for (;;) {
                bool is_bomb =
                        out->len > BODY_CHANGED_MAX && out->len / BODY_RATIO_MAX > b->sent_len;
                if (is_bomb || out->len + WORK_PIECE > BODY_DECODED_MAX)
                        return err_set(&b->err, E_PROTO,
                                       "the compressed body grows beyond all measure");
                uint8_t *to = account_room(b->account, &b->charged, out, WORK_PIECE);
                if (!to)
                        return body_no_room(b);
                ssize_t got = undo_take(b->undo, true, to, WORK_PIECE, &b->err);
                out->len -= WORK_PIECE - (got > 0 ? (size_t)got : 0);
                if (got == UNDO_LATER)
                        return 0;
                if (got <= 0) {
                        b->is_short = got < 0 && undo_is_short(b->undo);
                        return got < 0 ? -1 : 1;
                }
        }
}
