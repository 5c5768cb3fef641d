/* host_name_fuzz.c - any bytes as a host: what is accepted has one spelling, parses to itself, and
 * no C library reads an address where we read a name (cases 83, 90). */
#include "base/err.h"
#include "policy/address_class.h"
#include "policy/host_name.h"
#include "policy/psl.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct host_name zero;
        struct err err = {0};
        struct host_name h, again;
        if (host_name_parse((const char *)data, size, &h, &err) < 0) {
                if (!err.text[0] || memcmp(&h, &zero, sizeof h) != 0)
                        abort();
                return 0;
        }
        if (strlen(h.text) != h.len || h.len == 0 || memchr(data, 0, size))
                abort();
        if (host_name_parse(h.text, h.len, &again, &err) < 0 || memcmp(&h, &again, sizeof h) != 0)
                abort();
        if (!host_name_equal(&h, &again) || host_name_is_below(&h, &again))
                abort();

        struct in_addr loose;
        uint8_t strict[16];
        char inner[64] = "";
        switch (h.kind) {
        case HOST_NAME:
                /* The most forgiving reader there is finds no address in a name. */
                if (inet_aton(h.text, &loose) || strspn(h.text, "abcdefghijklmnopqrstuvwxyz"
                                                                "0123456789-_.") != h.len)
                        abort();
                (void)psl_below(&h);
                break;
        case HOST_IPV4:
                if (inet_pton(AF_INET, h.text, strict) != 1 || memcmp(strict, h.addr, 4) != 0 ||
                    !inet_aton(h.text, &loose) || memcmp(&loose, h.addr, 4) != 0)
                        abort();
                break;
        case HOST_IPV6:
                memcpy(inner, h.text + 1, (size_t)h.len - 2);
                if (inet_pton(AF_INET6, inner, strict) != 1 || memcmp(strict, h.addr, 16) != 0)
                        abort();
                break;
        }
        if (h.kind != HOST_NAME)
                (void)address_class_words(address_class(h.addr, host_name_addr_len(&h)));
        return 0;
}
