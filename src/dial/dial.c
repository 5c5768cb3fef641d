/* dial.c - the role that connects, see dial.h: its beginning, its loop, and the messages it takes
 * from the supervisor and from egress. A message that makes no sense ends it: both speak our own
 * language, so whoever does not has been taken over. */
#include "dial/dial.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/err.h"
#include "dial/dial_int.h"
#include "dial/files.h"
#include "policy/policy_layers.h"
#include "role/role.h"
#include "wire/frame.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

static struct dial dial;
static int files_fd;
static struct frame frame; /* too large for the stack */

static void tell(uint32_t type, const struct buf *b)
{
        if (frame_send(DOOR_CONTROL_FD, type, b, NULL, 0) < 0)
                _exit(1);
}

static void on_dial(struct cur *c)
{
        uint32_t id, kind, port;
        _cleanup_free_ char *text = NULL;
        struct host_name host;
        if (cur_u32(c, &id) < 0 || cur_u32(c, &kind) < 0 || kind > REQUEST_SPLICE ||
            cur_lstr(c, HOST_TEXT_MAX, &text) < 0 || cur_u32(c, &port) < 0 || port == 0 ||
            port > 65535 || c->left)
                role_die("egress sent a call that cannot be read");
        /* egress has the same type: another spelling means that it did not go through it. */
        if (host_name_parse(text, strlen(text), &host, NULL) < 0 || strcmp(host.text, text) != 0)
                role_die("egress sent a host that is not one");
        if (call_exists(&dial, id))
                role_die("egress used a number twice");
        call_begin(&dial, id, (enum request_kind)kind, &host, (uint16_t)port);
}

static void on_control(void *ctx, uint32_t events);

static void on_egress(void *ctx, uint32_t events)
{
        (void)ctx;
        /* The supervisor sends new rules to us before it sends them to egress: what egress asks for
         * by them must not be judged by the old ones. */
        on_control(NULL, EPOLLIN);
        if (events & EPOLLOUT)
                reply_flush(&dial);
        if (!(events & (EPOLLIN | EPOLLHUP | EPOLLERR)))
                return;
        int got = frame_recv(dial.egress_fd, &frame, false);
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
                return;
        if (got == 0)
                _exit(0); /* the supervisor knows what to do without egress */
        uint32_t id;
        if (got < 0 || frame.fds_n)
                role_die("egress sent something that cannot be read");
        if (frame.type == DOOR_DIAL)
                on_dial(&frame.body);
        else if (frame.type == DOOR_DIAL_CANCEL && cur_u32(&frame.body, &id) == 0 &&
                 !frame.body.left)
                call_cancel(&dial, id);
        else
                role_die("egress sent something that cannot be read");
        frame_release(&frame);
}

static void on_begin(void)
{
        struct err err = {0};
        _cleanup_free_ char *proxy = NULL;
        if (dial.egress_fd >= 0 || cur_lstr(&frame.body, 4096, &proxy) < 0 || frame.body.left ||
            frame.fds_n != 1)
                role_die("the beginning of dial cannot be read");
        if (tunnel_proxy_parse(proxy, &dial.proxy, &err) < 0)
                role_die("the upstream proxy cannot be used: %s", err.text);
        dial.egress_fd = frame_take_fd(&frame, 0);
        /* Only our end: egress may wait for us, never we for it. */
        if (fcntl(dial.egress_fd, F_SETFL, O_NONBLOCK) < 0)
                role_die("the socket to egress cannot be used");
        dial.egress_src = loop_add(dial.loop, dial.egress_fd, EPOLLIN, on_egress, NULL);
        if (!dial.egress_src)
                role_die("the socket to egress cannot be used");
        tell(DOOR_READY, NULL);
}

/* A policy that cannot be read changes nothing. */
static void on_policy(void)
{
        uint64_t generation;
        uint32_t level;
        struct err err = {0};
        struct policy fresh;
        _cleanup_buf_ struct buf text = {.max = DOOR_LAYERS_MAX}, b = {0};
        if (cur_u64(&frame.body, &generation) < 0 || cur_u32(&frame.body, &level) < 0 ||
            level > DOOR_LEARN || frame.body.left || frame.fds_n != 1)
                role_die("the policy of dial cannot be read");
        buf_put_u64(&b, generation);
        if (door_sealed_read(frame.fds[0], DOOR_LAYERS_MAX, &text, &err) < 0 ||
            policy_layers_parse(text.data, text.len, &fresh, &err) < 0) {
                buf_put_lstr(&b, err.text);
                tell(DOOR_POLICY_BAD, &b);
                return;
        }
        policy_free(&dial.policy);
        dial.policy = fresh;
        dial.level = (enum door_level)level;
        call_recheck(&dial);
        tell(DOOR_POLICY_OK, &b);
}

static void on_control(void *ctx, uint32_t events)
{
        (void)ctx;
        (void)events;
        int got = frame_recv(DOOR_CONTROL_FD, &frame, false);
        if (got < 0 && (errno == EINTR || errno == EAGAIN))
                return;
        if (got <= 0)
                _exit(got == 0 ? 0 : 1);
        if (frame.type == DOOR_BEGIN)
                on_begin();
        else if (frame.type == DOOR_POLICY)
                on_policy();
        else
                role_die("dial was sent something that is not for it");
        frame_release(&frame);
}

static void on_files(void *ctx, uint32_t events)
{
        (void)ctx;
        (void)events;
        int got = frame_recv(files_fd, &frame, true);
        if (got <= 0)
                role_die("the process that reads resolv.conf has ended");
        _cleanup_buf_ struct buf text = {0};
        buf_put(&text, frame.body.p, frame.body.left);
        if (frame.type == FILES_RESOLV)
                resolver_conf(dial.resolver, buf_cstr(&text), NULL);
        else
                resolver_conf(dial.resolver, NULL, buf_cstr(&text));
        frame_release(&frame);
}

/* c-ares takes its first random numbers from there, and worse ones where it cannot. */
static const char *const needed[] = {"/dev/urandom"};

int dial_main(int argc, char **argv)
{
        struct err err = {0};
        char resolv[4096] = "/etc/resolv.conf", hosts[4096] = "/etc/hosts";
        const char *const paths[FILES_N] = {[FILES_RESOLV] = resolv, [FILES_HOSTS] = hosts};
        /* For tests; whoever starts a role is its supervisor. */
        for (int i = 1; i + 1 < argc; i += 2) {
                char *to = strcmp(argv[i], "--resolv-conf") == 0 ? resolv
                           : strcmp(argv[i], "--hosts") == 0     ? hosts
                                                                 : NULL;
                if (!to || strlen(argv[i + 1]) >= sizeof resolv)
                        return 64;
                snprintf(to, sizeof resolv, "%s", argv[i + 1]);
        }
        role_begin("ostiary-dial");
        dial = (struct dial){.egress_fd = -1, .replies_end = &dial.replies};
        dial.loop = loop_new();
        if (!dial.loop || access(needed[0], R_OK) < 0)
                role_die("dial cannot begin without an event loop and random numbers");
        dial.resolver = resolver_new(dial.loop);
        _cleanup_free_ char *resolv_text = files_read(resolv), *hosts_text = files_read(hosts);
        resolver_conf(dial.resolver, resolv_text, hosts_text);
        files_fd = files_watch(paths, &err);
        struct role_needs needs = {
                .may_dial = true, .may_read_files = true, .files = needed, .files_n = 1};
        if (files_fd < 0 || role_confine(&needs, &err) < 0)
                role_die("dial cannot begin: %s", err.text);

        if (fcntl(DOOR_CONTROL_FD, F_SETFL, O_NONBLOCK) < 0 ||
            !loop_add(dial.loop, DOOR_CONTROL_FD, EPOLLIN, on_control, NULL) ||
            !loop_add(dial.loop, files_fd, EPOLLIN, on_files, NULL) || loop_run(dial.loop) < 0)
                role_die("dial cannot wait for messages");
        return 0;
}
