/* own.c - see own.h. Interfaces come and go on a laptop, so the list is read again and again. */
#include "dial/own.h"

#include "base/err.h"
#include "dial/addr.h"

#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { OWN_MAX = 4096 };

static struct addr *own;
static size_t own_n;
static time_t read_at;

static void add(const struct sockaddr *sa)
{
        struct addr a = {0};
        if (sa->sa_family == AF_INET) {
                struct sockaddr_in in;
                memcpy(&in, sa, sizeof in);
                a.len = 4;
                memcpy(a.bytes, &in.sin_addr, 4);
        } else if (sa->sa_family == AF_INET6) {
                struct sockaddr_in6 in;
                memcpy(&in, sa, sizeof in);
                a.len = 16;
                memcpy(a.bytes, &in.sin6_addr, 16);
        } else {
                return;
        }
        own[own_n++] = a;
}

static int refresh(struct err *err)
{
        struct ifaddrs *list;
        struct timespec now;
        clock_gettime(CLOCK_MONOTONIC, &now);
        if (own && now.tv_sec == read_at)
                return 0;
        if (getifaddrs(&list) < 0)
                return err_sys(err, "the addresses of this machine cannot be listed");
        size_t n = 0;
        for (struct ifaddrs *i = list; i; i = i->ifa_next)
                n += i->ifa_addr != NULL;
        struct addr *fresh = n <= OWN_MAX ? reallocarray(own, n + 1, sizeof *own) : NULL;
        if (!fresh) {
                freeifaddrs(list);
                return err_set(err, E_SYSTEM, "this machine has too many addresses");
        }
        own = fresh;
        own_n = 0;
        for (struct ifaddrs *i = list; i; i = i->ifa_next)
                if (i->ifa_addr)
                        add(i->ifa_addr);
        freeifaddrs(list);
        read_at = now.tv_sec;
        return 0;
}

int own_has(const struct addr *a, struct err *err)
{
        if (refresh(err) < 0)
                return -1;
        for (size_t i = 0; i < own_n; i++)
                if (addr_equal(&own[i], a))
                        return 1;
        return 0;
}
