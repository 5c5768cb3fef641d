/* open_port_test.c - which port an address leads back to, if any; the addresses are a box's words.
 */
#include "unit/check.h"

#include "session/open_port.h"

#include <stddef.h>

static const struct {
        const char *url;
        uint32_t port;
} cases[] = {
        {"https://a.example/?redirect_uri=http%3A%2F%2Flocalhost%3A54545%2Fcallback&x=1", 54545},
        {"https://a.example/?x=1&redirect_uri=http://localhost:1455/auth/callback", 1455},
        {"https://a.example/?redirect_uri=http%3a%2f%2f127.0.0.1%3a80", 80},
        {"https://a.example/?redirect_uri=http%3A%2F%2F%5B%3A%3A1%5D%3A8085%2F", 8085},
        {"https://a.example/?callback=http://LOCALHOST:9", 9},
        {"http://localhost:3000/", 3000},
        {"http://127.0.0.1:65535?x", 65535},
        {"https://a.example/", 0},
        {"http://localhost/", 0},
        {"http://localhost:/", 0},
        {"http://localhost:0/", 0},
        {"http://localhost:65536/", 0},
        {"http://localhost:123456/", 0},
        {"http://localhost:80a/", 0},
        {"http://localhost:80@evil.example/", 0},
        {"http://localhost.evil.example:80/", 0},
        {"https://localhost:443/", 0},
        {"https://a.example/?xredirect_uri=http://localhost:80/", 0},
        {"https://a.example/?redirect_uri=http%3A%2F%2Fevil.example%3A80", 0},
        {"https://a.example/?redirect_uri=%", 0},
        {"https://a.example/?redirect_uri=%4", 0},
        {"https://a.example/?redirect_uri=", 0},
        {"redirect_uri=", 0},
        {"", 0},
};

int main(void)
{
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
                uint32_t got = open_port_of(cases[i].url);
                check(got == cases[i].port, *cases[i].url ? cases[i].url : "nothing",
                      "got %u, wanted %u", got, cases[i].port);
        }
        return check_end();
}
