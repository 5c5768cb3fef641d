/* door_keeper.c - any messages of an egress that somebody has taken over, one after the other: the
 * keeper answers or ends, and no value is in an answer, since the input cannot hold a placeholder.
 */
#include "base/err.h"
#include "keeper/serve_int.h"
#include "keeper/sign.h"
#include "keeper/token.h"
#include "wire/frame.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define VALUE "fake_value_of_the_fuzzer"

static const char *const lines[] = {
        "secret A from env at api.example.org as bearer,basic,path,header x-key,json /a,form b",
        "secret B from env at *.example.org as hmac x-sig message={body} plain",
        "secret C from aws at *.amazonaws.com as sigv4",
        "secret D from env at api.example.org as oauth token=https://auth.example.org/t app=x",
};
static const char *const values[] = {VALUE, VALUE, "AKIAFAKEFAKEFAKEFAKE\n" VALUE "\n", VALUE};

static struct keeper k;
static int far[3];

static void begin(void)
{
        if (!k.out.data) {
                int s[3][2];
                for (int i = 0; i < 3; i++) {
                        if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, s[i]) < 0)
                                abort();
                        far[i] = s[i][0];
                }
                k.egress_fd = s[0][1], k.control_fd = s[1][1], k.audit_fd = s[2][1];
                store_memory();
                serve_io_begin(&k);
        }
        k.store = store_new();
        for (uint32_t i = 0; i < 4; i++) {
                struct rule_line line = {0};
                size_t column;
                struct store_secret *x = NULL;
                if (rule_line_parse(lines[i], strlen(lines[i]), &line, &column, NULL) == 1)
                        x = store_add(k.store, i + 1, &line, NULL);
                if (!x ||
                    value_take(&k, x, (const uint8_t *)values[i], strlen(values[i]), NULL) < 0)
                        abort();
        }
}

static void drain(void)
{
        static uint8_t raw[70000];
        for (int i = 0; i < 3; i++)
                for (ssize_t n; (n = recv(far[i], raw, sizeof raw, MSG_DONTWAIT)) > 0;) {
                        uint32_t type = (uint32_t)raw[2] << 8 | raw[3];
                        bool may_hold = type == DOOR_FETCH; /* a call to its own endpoint */
                        if (!may_hold && memmem(raw, (size_t)n, VALUE, strlen(VALUE)))
                                abort();
                }
        k.records.len = 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static struct frame f;
        struct cur c = cur_of(data, size);
        uint8_t at, high, low;
        const uint8_t *p;
        begin();
        while (cur_u8(&c, &at) == 0 && cur_u8(&c, &high) == 0 && cur_u8(&c, &low) == 0) {
                size_t n = (size_t)(high << 8 | low), entries = 0;
                if (cur_bytes(&c, n < c.left ? n : c.left, &p) < 0)
                        break;
                n = n < (size_t)(data + size - p) ? n : (size_t)(data + size - p);
                while (keeper_from_egress[entries].fn)
                        entries++;
                f.type = keeper_from_egress[at % entries].type;
                if (f.type == DOOR_LEAF)
                        continue; /* there is no authority here */
                memcpy(f.raw, p, n);
                f.body = cur_of(f.raw, n);
                int r = serve_frame(&k, keeper_from_egress, &f);
                drain();
                if (r < 0)
                        break;
        }
        sign_forget(&k);
        token_forget(&k);
        store_free(k.store);
        k.is_egress_here = k.is_all_revoked = false;
        k.captured_n = 0;
        return 0;
}
