/* address_class.c - see address_class.h. The first row that holds decides, so single addresses
 * stand before the ranges they lie in. Pure. */
#include "policy/address_class.h"

#include <stdbool.h>
#include <string.h>

struct range4 {
        uint8_t addr[4];
        uint8_t bits;
        enum address_class class;
};

static const struct range4 ranges4[] = {
        {{169, 254, 169, 254}, 32, ADDRESS_METADATA}, /* AWS, Azure, GCP, OpenStack, ... */
        {{169, 254, 170, 2}, 32, ADDRESS_METADATA},   /* ECS task credentials */
        {{169, 254, 170, 23}, 32, ADDRESS_METADATA},  /* EKS pod identity */
        {{100, 100, 100, 200}, 32, ADDRESS_METADATA}, /* Alibaba */
        {{168, 63, 129, 16}, 32, ADDRESS_METADATA},   /* Azure's own host, in public space */
        {{192, 0, 0, 192}, 32, ADDRESS_METADATA},     /* Oracle, first generation */
        {{0, 0, 0, 0}, 8, ADDRESS_UNSPECIFIED},
        {{10, 0, 0, 0}, 8, ADDRESS_PRIVATE},
        {{100, 64, 0, 0}, 10, ADDRESS_CGNAT},
        {{127, 0, 0, 0}, 8, ADDRESS_LOOPBACK},
        {{169, 254, 0, 0}, 16, ADDRESS_LINK_LOCAL},
        {{172, 16, 0, 0}, 12, ADDRESS_PRIVATE},
        {{192, 0, 0, 0}, 24, ADDRESS_RESERVED},
        {{192, 0, 2, 0}, 24, ADDRESS_DOCUMENTATION},
        {{192, 31, 196, 0}, 24, ADDRESS_RESERVED}, /* AS112 */
        {{192, 52, 193, 0}, 24, ADDRESS_RESERVED}, /* AMT */
        {{192, 88, 99, 0}, 24, ADDRESS_EMBEDDED_IPV4},
        {{192, 168, 0, 0}, 16, ADDRESS_PRIVATE},
        {{192, 175, 48, 0}, 24, ADDRESS_RESERVED},
        {{198, 18, 0, 0}, 15, ADDRESS_BENCHMARK},
        {{198, 51, 100, 0}, 24, ADDRESS_DOCUMENTATION},
        {{203, 0, 113, 0}, 24, ADDRESS_DOCUMENTATION},
        {{224, 0, 0, 0}, 4, ADDRESS_MULTICAST},
        {{255, 255, 255, 255}, 32, ADDRESS_BROADCAST},
        {{240, 0, 0, 0}, 4, ADDRESS_RESERVED},
};

struct range6 {
        uint8_t addr[16];
        uint8_t bits;
        enum address_class class;
};

static const struct range6 ranges6[] = {
        {{0xfd, 0x00, 0x0e, 0xc2, [15] = 0x54, [14] = 0x02}, 128, ADDRESS_METADATA}, /* AWS */
        {{0xfd, 0x00, 0x0e, 0xc2, [15] = 0x23}, 128, ADDRESS_METADATA},              /* EKS */
        {{0xfd, 0x20, 0x00, 0xce, [14] = 0x02, [15] = 0x54}, 128, ADDRESS_METADATA}, /* GCP */
        {{0}, 128, ADDRESS_UNSPECIFIED},
        {{[15] = 1}, 128, ADDRESS_LOOPBACK},
        {{[10] = 0xff, [11] = 0xff}, 96, ADDRESS_EMBEDDED_IPV4},           /* mapped */
        {{0}, 96, ADDRESS_EMBEDDED_IPV4},                                  /* compatible */
        {{[8] = 0xff, [9] = 0xff}, 96, ADDRESS_EMBEDDED_IPV4},             /* translated */
        {{0x00, 0x64, 0xff, 0x9b}, 96, ADDRESS_EMBEDDED_IPV4},             /* NAT64 */
        {{0x00, 0x64, 0xff, 0x9b, 0x00, 0x01}, 48, ADDRESS_EMBEDDED_IPV4}, /* local NAT64 */
        {{0x20, 0x01, 0x00, 0x00}, 32, ADDRESS_EMBEDDED_IPV4},             /* Teredo */
        {{0x20, 0x01, 0x00, 0x02, 0x00, 0x00}, 48, ADDRESS_BENCHMARK},
        {{0x20, 0x01, 0x0d, 0xb8}, 32, ADDRESS_DOCUMENTATION},
        {{0x20, 0x01}, 23, ADDRESS_RESERVED},      /* protocol assignments */
        {{0x20, 0x02}, 16, ADDRESS_EMBEDDED_IPV4}, /* 6to4 */
        {{0x3f, 0xff}, 20, ADDRESS_DOCUMENTATION},
        {{0x20}, 3, ADDRESS_PUBLIC}, /* the only space that is given out */
        {{0xfc}, 7, ADDRESS_PRIVATE},
        {{0xfe, 0x80}, 10, ADDRESS_LINK_LOCAL},
        {{0xfe, 0xc0}, 10, ADDRESS_PRIVATE},
        {{0xff}, 8, ADDRESS_MULTICAST},
};

static bool same_bits(const uint8_t *a, const uint8_t *b, unsigned bits)
{
        size_t whole = bits / 8;
        if (memcmp(a, b, whole) != 0)
                return false;
        unsigned rest = bits % 8;
        return rest == 0 || ((a[whole] ^ b[whole]) >> (8 - rest)) == 0;
}

enum address_class address_class(const uint8_t *addr, size_t len)
{
        if (len == 4) {
                for (size_t i = 0; i < sizeof ranges4 / sizeof *ranges4; i++)
                        if (same_bits(addr, ranges4[i].addr, ranges4[i].bits))
                                return ranges4[i].class;
                return ADDRESS_PUBLIC;
        }
        if (len == 16)
                for (size_t i = 0; i < sizeof ranges6 / sizeof *ranges6; i++)
                        if (same_bits(addr, ranges6[i].addr, ranges6[i].bits))
                                return ranges6[i].class;
        return ADDRESS_RESERVED;
}

const char *address_class_words(enum address_class c)
{
        static const char *const words[] = {
                [ADDRESS_PUBLIC] = "a public address",
                [ADDRESS_UNSPECIFIED] = "an unspecified address",
                [ADDRESS_LOOPBACK] = "an address of the host itself",
                [ADDRESS_PRIVATE] = "a private address",
                [ADDRESS_LINK_LOCAL] = "a link-local address",
                [ADDRESS_METADATA] = "an address where a cloud hands out credentials",
                [ADDRESS_CGNAT] = "a carrier's shared address",
                [ADDRESS_MULTICAST] = "a multicast address",
                [ADDRESS_BROADCAST] = "the broadcast address",
                [ADDRESS_DOCUMENTATION] = "an address for documentation",
                [ADDRESS_BENCHMARK] = "an address for benchmarks",
                [ADDRESS_EMBEDDED_IPV4] = "an IPv4 address inside another",
                [ADDRESS_RESERVED] = "a reserved address",
        };
        return words[c];
}
