/* door_layers.c - any bytes as what our processes send each other (layers of policy, records of the
 * log) and as what the user's machine says (resolv.conf, hosts, the address of a proxy): reading
 * ends, and what was taken can be used. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "dial/addr.h"
#include "dial/conf.h"
#include "dial/tunnel.h"
#include "policy/policy.h"
#include "policy/policy_dial.h"
#include "policy/policy_layers.h"
#include "wire/door.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void layers(const uint8_t *data, size_t size)
{
        struct err err;
        struct host_name h;
        struct policy_decision d;
        _cleanup_policy_ struct policy p;
        if (policy_layers_parse(data, size, &p, &err) < 0)
                return;
        if (host_name_parse("a.example.org", 13, &h, &err) == 0)
                policy_may_dial(&p, REQUEST_HTTP, &h, 443, &d);
}

/* What was read can be put, and reads as the same. */
static void records(const uint8_t *data, size_t size)
{
        struct cur c = cur_of(data, size);
        struct door_record r, again;
        _cleanup_buf_ struct buf strings = {0}, more = {0};
        while (door_record_get(&c, &r, &strings) == 0) {
                _cleanup_buf_ struct buf b = {0};
                door_record_put(&b, &r);
                struct cur back = cur_of(b.data, b.len);
                if (b.len > DOOR_RECORD_MAX || door_record_get(&back, &again, &more) < 0 ||
                    strcmp(r.path, again.path) != 0 || strcmp(r.cure, again.cure) != 0)
                        abort();
        }
}

static void machine(const uint8_t *data, size_t size)
{
        _cleanup_free_ char *text = malloc(size + 1);
        struct conf conf;
        struct tunnel_proxy proxy;
        struct addr_list l = {0};
        struct err err;
        if (!text)
                return;
        memcpy(text, data, size);
        text[size] = 0;
        conf_resolv(text, &conf);
        if (strlen(conf.servers) == 0)
                abort();
        conf_hosts(text, "a.test", &l);
        if (tunnel_proxy_parse(text, &proxy, &err) == 0 && text[0] && !proxy.host.len)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        layers(data, size);
        records(data, size);
        machine(data, size);
        return 0;
}
