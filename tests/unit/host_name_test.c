/* host_name_test.c - one spelling per host: what is accepted becomes canonical, every other way to
 * write it is refused in words, and addresses know what kind of place they are. */
#include "base/err.h"
#include "policy/address_class.h"
#include "policy/host_name.h"
#include "policy/psl.h"
#include "unit/check.h"

#include <stdlib.h>
#include <string.h>

#define BYTES(s) s, sizeof(s) - 1

static const struct {
        const char *in, *out;
        enum host_kind kind;
} good[] = {
        {"api.github.com", "api.github.com", HOST_NAME},
        {"API.GitHub.COM", "api.github.com", HOST_NAME},
        {"api.github.com.", "api.github.com", HOST_NAME},
        {"localhost", "localhost", HOST_NAME},
        {"_dmarc.example.org", "_dmarc.example.org", HOST_NAME},
        {"xn--bcher-kva.example", "xn--bcher-kva.example", HOST_NAME},
        {"r3---sn-a5.example.com", "r3---sn-a5.example.com", HOST_NAME},
        {"1.example.com", "1.example.com", HOST_NAME},
        {"0x7f.example", "0x7f.example", HOST_NAME},
        {"127.0.0.1", "127.0.0.1", HOST_IPV4},
        {"127.0.0.1.", "127.0.0.1", HOST_IPV4},
        {"0.0.0.0", "0.0.0.0", HOST_IPV4},
        {"[::1]", "[::1]", HOST_IPV6},
        {"[::]", "[::]", HOST_IPV6},
        {"[FD00:0EC2:0:0:0:0:0:254]", "[fd00:ec2::254]", HOST_IPV6},
        {"[64:ff9b::7f00:1]", "[64:ff9b::7f00:1]", HOST_IPV6},
};

static void test_good(void)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                struct err err = {0};
                struct host_name h, again;
                bool is_read = host_name_parse(good[i].in, strlen(good[i].in), &h, &err) == 0;
                check(is_read && strcmp(h.text, good[i].out) == 0 && h.kind == good[i].kind &&
                              host_name_parse(h.text, h.len, &again, &err) == 0 &&
                              host_name_equal(&h, &again) && memcmp(&h, &again, sizeof h) == 0,
                      good[i].in, "became \"%s\" (%s)", h.text, err.text);
        }
}

static const struct {
        const char *name, *bytes;
        size_t len;
        const char *words;
} bad[] = {
        {"nothing", BYTES(""), "missing"},
        {"only a dot", BYTES("."), "missing"},
        {"83: NUL in a name", BYTES("attacker.org\0.allowed.com"), "NUL"},
        {"NUL at the end", BYTES("example.org\0"), "NUL"},
        {"a space", BYTES("a b.org"), "spaces"},
        {"a newline", BYTES("a.org\n"), "control"},
        {"a tab", BYTES("\ta.org"), "control"},
        {"percent-encoding", BYTES("a%2eorg"), "percent"},
        {"a user before @", BYTES("a@b.org"), "@"},
        {"a backslash", BYTES("a\\b.org"), "slash"},
        {"a port", BYTES("a.org:80"), "brackets"},
        {"letters beyond ASCII",
         BYTES("b\xc3\xbc"
               "cher.example"),
         "xn--"},
        {"a full-width dot", BYTES("a\xe3\x80\x82org"), "xn--"},
        {"two dots at the end", BYTES("a.org.."), "empty part"},
        {"an empty label", BYTES("a..org"), "empty part"},
        {"a dot at the start", BYTES(".a.org"), "empty part"},
        {"a hyphen at the start", BYTES("-a.org"), "begin or end"},
        {"a hyphen at the end", BYTES("a-.org"), "begin or end"},
        {"a star", BYTES("a*.org"), "star"},
        {"a long label",
         BYTES("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa.org"), "63"},
        {"90: a decimal address", BYTES("2130706433"), "four decimal"},
        {"90: a hexadecimal address", BYTES("0x7f000001"), "four decimal"},
        {"90: an empty hexadecimal number", BYTES("1.0x"), "four decimal"},
        {"90: octal parts", BYTES("0177.0.0.1"), "four decimal"},
        {"90: a leading zero", BYTES("127.0.0.01"), "four decimal"},
        {"90: a short address", BYTES("127.1"), "four decimal"},
        {"90: five parts", BYTES("1.2.3.4.5"), "four decimal"},
        {"90: a part above 255", BYTES("1.2.3.256"), "four decimal"},
        {"90: mixed spelling", BYTES("0x7f.0.0.1"), "four decimal"},
        {"a name that ends in a number", BYTES("example.123"), "four decimal"},
        {"90: a mapped address", BYTES("[::ffff:7f00:1]"), "IPv4 address itself"},
        {"90: a mapped address with dots", BYTES("[::ffff:127.0.0.1]"), "IPv4 address itself"},
        {"90: a compatible address", BYTES("[::7f00:1]"), "IPv4 address itself"},
        {"90: a zone", BYTES("[fe80::1%eth0]"), "zone"},
        {"an encoded zone", BYTES("[fe80::1%25eth0]"), "zone"},
        {"IPv6 without brackets", BYTES("::1"), "brackets"},
        {"an open bracket", BYTES("[::1"), "]"},
        {"something behind the bracket", BYTES("[::1]x"), "]"},
        {"two double colons", BYTES("[1::2::3]"), "not an IPv6"},
        {"a NUL in brackets", BYTES("[::1\0]"), "not an IPv6"},
        {"a future address", BYTES("[v1.x]"), "IPv4"},
};

static void test_bad(void)
{
        static const struct host_name zero;
        for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
                struct err err = {0};
                struct host_name h;
                bool is_read = host_name_parse(bad[i].bytes, bad[i].len, &h, &err) == 0;
                check(!is_read && strstr(err.text, bad[i].words) &&
                              memcmp(&h, &zero, sizeof h) == 0,
                      bad[i].name, "%s", is_read ? h.text : err.text);
        }
        char name[300];
        memset(name, 'a', sizeof name);
        for (size_t i = 50; i < sizeof name; i += 50)
                name[i] = '.';
        struct host_name h;
        CHECK("253 characters are a name, 254 are none",
              host_name_parse(name, 253, &h, NULL) == 0 &&
                      host_name_parse(name, 254, &h, NULL) < 0);
        CHECK("a name that was refused equals none", !host_name_equal(&h, &h));
}

static struct host_name of(const char *s)
{
        struct host_name h;
        if (host_name_parse(s, strlen(s), &h, NULL) < 0)
                abort();
        return h;
}

static void test_below(void)
{
        struct host_name base = of("example.org"), a = of("a.example.org"),
                         b = of("b.a.example.org"), evil = of("evil-example.org"),
                         evil2 = of("evilexample.org"), ip = of("1.2.3.4");
        CHECK("names below, at any depth",
              host_name_is_below(&a, &base) && host_name_is_below(&b, &base));
        CHECK("90: not the name itself", !host_name_is_below(&base, &base));
        CHECK("90: not by letters alone",
              !host_name_is_below(&evil, &base) && !host_name_is_below(&evil2, &base));
        CHECK("nothing is below an address",
              !host_name_is_below(&ip, &base) && !host_name_is_below(&a, &ip));
}

static const struct {
        const char *addr;
        enum address_class class;
} classes[] = {
        {"1.1.1.1", ADDRESS_PUBLIC},
        {"8.8.8.8", ADDRESS_PUBLIC},
        {"172.32.0.1", ADDRESS_PUBLIC},
        {"100.128.0.1", ADDRESS_PUBLIC},
        {"0.0.0.0", ADDRESS_UNSPECIFIED},
        {"127.0.0.1", ADDRESS_LOOPBACK},
        {"127.255.0.9", ADDRESS_LOOPBACK},
        {"10.0.0.1", ADDRESS_PRIVATE},
        {"172.31.255.255", ADDRESS_PRIVATE},
        {"192.168.1.5", ADDRESS_PRIVATE},
        {"169.254.1.1", ADDRESS_LINK_LOCAL},
        {"169.254.169.254", ADDRESS_METADATA},
        {"169.254.170.2", ADDRESS_METADATA},
        {"100.100.100.200", ADDRESS_METADATA},
        {"168.63.129.16", ADDRESS_METADATA},
        {"100.64.0.1", ADDRESS_CGNAT},
        {"224.0.0.1", ADDRESS_MULTICAST},
        {"255.255.255.255", ADDRESS_BROADCAST},
        {"192.0.2.1", ADDRESS_DOCUMENTATION},
        {"203.0.113.9", ADDRESS_DOCUMENTATION},
        {"198.19.0.1", ADDRESS_BENCHMARK},
        {"192.88.99.1", ADDRESS_EMBEDDED_IPV4},
        {"240.0.0.1", ADDRESS_RESERVED},
        {"[2606:4700::1111]", ADDRESS_PUBLIC},
        {"[::]", ADDRESS_UNSPECIFIED},
        {"[::1]", ADDRESS_LOOPBACK},
        {"[fd12::1]", ADDRESS_PRIVATE},
        {"[fec0::1]", ADDRESS_PRIVATE},
        {"[fe80::1]", ADDRESS_LINK_LOCAL},
        {"[fd00:ec2::254]", ADDRESS_METADATA},
        {"[fd20:ce::254]", ADDRESS_METADATA},
        {"[ff02::1]", ADDRESS_MULTICAST},
        {"[2001:db8::1]", ADDRESS_DOCUMENTATION},
        {"[64:ff9b::1]", ADDRESS_EMBEDDED_IPV4},
        {"[64:ff9b:1::1]", ADDRESS_EMBEDDED_IPV4},
        {"[2002:7f00:1::]", ADDRESS_EMBEDDED_IPV4},
        {"[2001:0:1::1]", ADDRESS_EMBEDDED_IPV4},
        {"[100::1]", ADDRESS_RESERVED},
        {"[4000::1]", ADDRESS_RESERVED},
        {"[2001:4860:4860::8888]", ADDRESS_PUBLIC},
};

static void test_classes(void)
{
        for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
                struct host_name h = of(classes[i].addr);
                enum address_class got = address_class(h.addr, host_name_addr_len(&h));
                check(got == classes[i].class, classes[i].addr, "is %s, not %s",
                      address_class_words(got), address_class_words(classes[i].class));
        }
        static const uint8_t mapped[16] = {[10] = 0xff, [11] = 0xff, [12] = 127, [15] = 1};
        CHECK("a mapped address from a resolver is no public one",
              address_class(mapped, 16) == ADDRESS_EMBEDDED_IPV4);
        CHECK("an address of another length is reserved",
              address_class(mapped, 5) == ADDRESS_RESERVED);
}

static const struct {
        const char *name;
        enum psl_class class;
} owners[] = {
        {"com", PSL_PUBLIC},
        {"co.uk", PSL_PUBLIC},
        {"uk", PSL_PUBLIC},
        {"ck", PSL_PUBLIC},
        {"x.ck", PSL_PUBLIC},
        {"www.ck", PSL_OWNED},
        {"kawasaki.jp", PSL_PUBLIC},
        {"city.kawasaki.jp", PSL_OWNED},
        {"xn--p1ai", PSL_PUBLIC},
        {"xn--55qx5d.cn", PSL_PUBLIC},
        {"no-such-tld", PSL_PUBLIC},
        {"github.io", PSL_SHARED},
        {"workers.dev", PSL_SHARED},
        {"s3.amazonaws.com", PSL_SHARED},
        {"blogspot.com", PSL_SHARED},
        {"example.org", PSL_OWNED},
        {"githubusercontent.com", PSL_SHARED},
        {"githubcopilot.com", PSL_OWNED},
        {"foo.github.io", PSL_OWNED},
        {"internal", PSL_OWNED},
        {"home.arpa", PSL_OWNED},
};

static void test_owners(void)
{
        for (size_t i = 0; i < sizeof owners / sizeof *owners; i++) {
                char name[64];
                struct host_name h = of(owners[i].name);
                snprintf(name, sizeof name, "who owns what is below %s", owners[i].name);
                enum psl_class got = psl_below(&h);
                check(got == owners[i].class, name, "%d instead of %d", (int)got,
                      (int)owners[i].class);
        }
}

int main(void)
{
        test_good();
        test_bad();
        test_below();
        test_classes();
        test_owners();
        return check_end();
}
