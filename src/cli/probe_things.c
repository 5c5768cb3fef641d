/* probe_things.c - attempts to reach things: files, processes, sockets, descriptors, variables. */
#include "cli/probe.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

const struct probe_wall probe_walls[] = {
        {"read a file of your home", probe_home},
        {"list /root /boot /var/log /mnt /srv", probe_host_dirs},
        {"see a host's process", probe_processes},
        {"signal a host's process", probe_signal},
        {"reach a service on your loopback", probe_loopback},
        {"reach an abstract socket", probe_abstract},
        {"reach docker, D-Bus or an agent socket", probe_host_sockets},
        {"send a datagram past the door", probe_route},
        {"open a raw or packet socket", probe_raw_socket},
        {"open a vsock socket", probe_vsock},
        {"write to /usr", probe_usr},
        {"write to /etc", probe_etc},
        {"write a kernel setting", probe_sysctl},
        {"open memory and disks", probe_devices},
        {"make a device", probe_mknod},
        {"use an inherited descriptor", probe_fds},
        {"read a variable of yours", probe_env},
        {"have a capability", probe_caps},
        {"become root", probe_setuid},
        {"run without filter or no_new_privs", probe_settings},
        {"make a namespace", probe_unshare},
        {"mount", probe_mount},
        {"change the root directory", probe_chroot},
        {"trace pid 1", probe_ptrace},
        {"write the memory of pid 1", probe_mem},
        {"type into a terminal", probe_tiocsti},
        {"use keyrings", probe_keyctl},
        {"use io_uring", probe_io_uring},
        {"load a BPF program", probe_bpf},
        {"use performance counters", probe_perf},
        {"handle page faults", probe_userfaultfd},
        {"make a 32-bit system call", probe_int80},
        {0},
};

bool probe_home(const struct probe_ctx *c, char words[128])
{
        return probe_said(words, "opening it", open(c->canary, O_RDONLY) >= 0);
}

bool probe_host_dirs(const struct probe_ctx *c, char words[128])
{
        static const char *const dirs[] = {"/root", "/boot", "/var/log", "/mnt", "/srv", "/media"};
        (void)c;
        snprintf(words, 128, "nothing is there");
        for (size_t i = 0; i < sizeof dirs / sizeof *dirs; i++) {
                DIR *d = opendir(dirs[i]);
                for (struct dirent *e; d && (e = readdir(d));) {
                        if (e->d_name[0] != '.') {
                                snprintf(words, 128, "%s/%.60s is there", dirs[i], e->d_name);
                                return true;
                        }
                }
                if (d)
                        closedir(d);
        }
        return false;
}

bool probe_processes(const struct probe_ctx *c, char words[128])
{
        DIR *d = opendir("/proc");
        int n = 0;
        (void)c;
        if (!d)
                return probe_said(words, "listing /proc", false);
        for (struct dirent *e; (e = readdir(d));)
                n += isdigit((unsigned char)e->d_name[0]) != 0;
        closedir(d);
        /* pid 1, the probe, and this attempt */
        snprintf(words, 128, "%d processes are seen, 3 are the box's own", n);
        return n > 4;
}

bool probe_signal(const struct probe_ctx *c, char words[128])
{
        bool is_open = kill(c->pid, 0) == 0 || errno == EPERM;
        return probe_said(words, "signalling it", is_open);
}

bool probe_loopback(const struct probe_ctx *c, char words[128])
{
        struct sockaddr_in to = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)c->port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
        int fd = socket(AF_INET, SOCK_STREAM, 0);
        bool is_open = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0;
        return probe_said(words, "connecting", is_open);
}

bool probe_abstract(const struct probe_ctx *c, char words[128])
{
        struct sockaddr_un to = {.sun_family = AF_UNIX};
        size_t n = strlen(c->abstract);
        if (n + 1 > sizeof to.sun_path)
                return probe_said(words, "its name is too long", false);
        memcpy(to.sun_path + 1, c->abstract, n);
        socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
        int fd = socket(AF_UNIX, SOCK_STREAM, 0);
        bool is_open = fd >= 0 && connect(fd, (struct sockaddr *)&to, len) == 0;
        return probe_said(words, "connecting", is_open);
}

bool probe_host_sockets(const struct probe_ctx *c, char words[128])
{
        static const char *const paths[] = {"/run/docker.sock",
                                            "/var/run/docker.sock",
                                            "/run/containerd/containerd.sock",
                                            "/run/dbus/system_bus_socket",
                                            "/run/systemd/private",
                                            "/run/user",
                                            "/tmp/.X11-unix"};
        (void)c;
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                if (access(paths[i], F_OK) == 0) {
                        snprintf(words, 128, "%s is there", paths[i]);
                        return true;
                }
        }
        snprintf(words, 128, "none is there");
        return false;
}

/* The door refuses each at once; on any other network nobody answers for an address that is set
 * aside for documentation. */
bool probe_route(const struct probe_ctx *c, char words[128])
{
        struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(9)};
        struct timeval patience = {.tv_usec = 500000};
        char byte = 0;
        (void)c;
        inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
        int fd = socket(AF_INET, SOCK_DGRAM, 0);
        bool is_open = fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof to) == 0 &&
                       setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience) == 0 &&
                       send(fd, &byte, 1, 0) == 1 &&
                       (recv(fd, &byte, 1, 0) >= 0 || errno != ECONNREFUSED);
        return probe_said(words, "sending it", is_open);
}

bool probe_usr(const struct probe_ctx *c, char words[128])
{
        (void)c;
        int fd = open("/usr/bin/ostiary-probe-was-here", O_WRONLY | O_CREAT | O_EXCL, 0600);
        if (fd >= 0)
                unlink("/usr/bin/ostiary-probe-was-here");
        return probe_said(words, "making a file", fd >= 0);
}

bool probe_etc(const struct probe_ctx *c, char words[128])
{
        (void)c;
        int fd = open("/etc/passwd", O_WRONLY | O_APPEND);
        return probe_said(words, "opening /etc/passwd for writing", fd >= 0);
}

bool probe_sysctl(const struct probe_ctx *c, char words[128])
{
        (void)c;
        int fd = open("/proc/sys/kernel/core_pattern", O_WRONLY);
        return probe_said(words, "opening core_pattern for writing", fd >= 0);
}

bool probe_devices(const struct probe_ctx *c, char words[128])
{
        static const char *const paths[] = {"/dev/mem",  "/dev/kmsg",    "/dev/sda",
                                            "/dev/vda",  "/dev/nvme0n1", "/dev/kvm",
                                            "/dev/fuse", "/proc/kcore"};
        (void)c;
        for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
                char byte;
                int fd = open(paths[i], O_RDONLY | O_NONBLOCK);
                /* A path covered by the null device opens and holds nothing. */
                if (fd >= 0 && read(fd, &byte, 1) != 0) {
                        snprintf(words, 128, "%s can be opened", paths[i]);
                        return true;
                }
        }
        snprintf(words, 128, "none can be opened");
        return false;
}

bool probe_fds(const struct probe_ctx *c, char words[128])
{
        DIR *d = opendir("/proc/self/fd");
        (void)c;
        if (!d)
                return probe_said(words, "listing descriptors", false);
        for (struct dirent *e; (e = readdir(d));) {
                int fd = atoi(e->d_name);
                if (fd > 2 && fd != dirfd(d)) {
                        snprintf(words, 128, "descriptor %d is open", fd);
                        return true;
                }
        }
        snprintf(words, 128, "only 0, 1 and 2 are open");
        return false;
}

bool probe_env(const struct probe_ctx *c, char words[128])
{
        (void)c;
        bool is_open = getenv(PROBE_SECRET) != NULL;
        snprintf(words, 128, is_open ? "it is set here" : "it is not set here");
        return is_open;
}
