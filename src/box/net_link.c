/* net_link.c - the cable between the box's network namespace and the door's.
 *
 * The box's has a loopback and eth0 with a default route; the door's takes every address for its
 * own, so whatever the box connects to, it ends there. Nothing is forwarded, because the door's has
 * no other link. Called by net.c in a process that may write no memory but its stack. */
#include "box/net_link.h"

#include "box/netlink.h"
#include "wire/door.h"

#include <arpa/inet.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <sys/socket.h>

enum {
        LO_INDEX = 1,
        /* Given by us, so that nobody has to ask; past those of the tunnels that some kernels put
         * into every namespace; and two different ones, because only such a cable has its carrier
         * at once. */
        BOX_INDEX = 16,
        DOOR_INDEX = 17,
        PREFIX_LEN = 30,
};

static int set_up(int nl_fd, int index)
{
        struct netlink_req r;
        struct ifinfomsg m = {.ifi_index = index, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
        netlink_begin(&r, RTM_NEWLINK, 0, &m, sizeof m);
        return netlink_talk(nl_fd, &r);
}

int net_link_loopback(int nl_fd)
{
        return set_up(nl_fd, LO_INDEX);
}

/* One queue each: the kernel would make one per processor, each with files in its sysfs. */
static void put_queues(struct netlink_req *r)
{
        netlink_put_u32(r, IFLA_NUM_TX_QUEUES, 1);
        netlink_put_u32(r, IFLA_NUM_RX_QUEUES, 1);
}

/* make_cable(box_nl, door_ns): both ends at once, each in its namespace. The kernel brings only the
 * first up with the same request. */
static int make_cable(int box_nl, int door_ns)
{
        struct netlink_req r;
        struct ifinfomsg box = {.ifi_index = BOX_INDEX, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
        struct ifinfomsg door = {.ifi_index = DOOR_INDEX};
        netlink_begin(&r, RTM_NEWLINK, NLM_F_CREATE | NLM_F_EXCL, &box, sizeof box);
        netlink_put_str(&r, IFLA_IFNAME, "eth0");
        put_queues(&r);
        uint32_t info = netlink_nest(&r, IFLA_LINKINFO);
        netlink_put_str(&r, IFLA_INFO_KIND, "veth");
        uint32_t data = netlink_nest(&r, IFLA_INFO_DATA);
        uint32_t peer = netlink_nest(&r, VETH_INFO_PEER);
        netlink_put_bytes(&r, &door, sizeof door);
        netlink_put_str(&r, IFLA_IFNAME, "box");
        put_queues(&r);
        netlink_put_u32(&r, IFLA_NET_NS_FD, (uint32_t)door_ns);
        netlink_nest_end(&r, peer);
        netlink_nest_end(&r, data);
        netlink_nest_end(&r, info);
        return netlink_talk(box_nl, &r);
}

static int add_address(int nl_fd, int index, const struct in_addr *a)
{
        struct netlink_req r;
        struct ifaddrmsg m = {
                .ifa_family = AF_INET, .ifa_prefixlen = PREFIX_LEN, .ifa_index = (unsigned)index};
        netlink_begin(&r, RTM_NEWADDR, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof m);
        netlink_put(&r, IFA_LOCAL, a, sizeof *a);
        netlink_put(&r, IFA_ADDRESS, a, sizeof *a);
        return netlink_talk(nl_fd, &r);
}

/* add_route(nl_fd, kind, index, via): for every address that no other route speaks of. Both are in
 * the main table: in the local one, which is asked first, the door's would swallow its answers. */
static int add_route(int nl_fd, unsigned char kind, int index, const struct in_addr *via)
{
        struct netlink_req r;
        struct rtmsg m = {.rtm_family = AF_INET,
                          .rtm_table = RT_TABLE_MAIN,
                          .rtm_protocol = RTPROT_BOOT,
                          .rtm_scope = kind == RTN_LOCAL ? RT_SCOPE_HOST : RT_SCOPE_UNIVERSE,
                          .rtm_type = kind};
        netlink_begin(&r, RTM_NEWROUTE, NLM_F_CREATE | NLM_F_EXCL, &m, sizeof m);
        netlink_put_u32(&r, RTA_OIF, (uint32_t)index);
        if (via)
                netlink_put(&r, RTA_GATEWAY, via, sizeof *via);
        return netlink_talk(nl_fd, &r);
}

int net_link_join(int box_nl, int door_nl, int door_ns)
{
        struct in_addr box, door;
        inet_pton(AF_INET, DOOR_BOX_ADDR, &box);
        inet_pton(AF_INET, DOOR_GATEWAY_ADDR, &door);
        if (make_cable(box_nl, door_ns) < 0 || set_up(door_nl, DOOR_INDEX) < 0 ||
            add_address(door_nl, DOOR_INDEX, &door) < 0 ||
            add_route(door_nl, RTN_LOCAL, DOOR_INDEX, NULL) < 0 ||
            add_address(box_nl, BOX_INDEX, &box) < 0 ||
            add_route(box_nl, RTN_UNICAST, BOX_INDEX, &door) < 0)
                return -1;
        return 0;
}
