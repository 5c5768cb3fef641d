/* kernel.c - cases 9-13, 18: kernel machinery a box has no business with.
 *
 * Keyrings, io_uring, userfaultfd, bpf, perf, personality. Each makes the smallest real use. */
#include "attack.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/perf_event.h>
#include <linux/userfaultfd.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* key_reads(serial): does this key, or one of that name in this keyring, hold the secret? */
static bool key_reads(long serial)
{
        char buf[256];
        long n = syscall(SYS_keyctl, KEYCTL_READ, serial, buf, sizeof buf - 1, 0);
        return n > 0 && n < (long)sizeof buf && has_canary(buf, n);
}

static void case_keyring(struct outcome *o)
{
        static const long rings[] = {KEY_SPEC_SESSION_KEYRING, KEY_SPEC_USER_KEYRING,
                                     KEY_SPEC_USER_SESSION_KEYRING, KEY_SPEC_PROCESS_KEYRING};
        long serial = planted_num("KEY_SERIAL");
        const char *name = planted("KEY_NAME");
        int err = 0;

        if (serial < 0 || !name) {
                out_na(o, "the harness planted no key");
                return;
        }
        if (key_reads(serial))
                out_escaped(o, "the user's key was read by its number");
        err = errno;
        for (size_t i = 0; i < sizeof rings / sizeof *rings; i++) {
                long found = syscall(SYS_keyctl, KEYCTL_SEARCH, rings[i], "user", name, 0);
                if (found > 0 && key_reads(found))
                        out_escaped(o, "the user's key was found in an inherited keyring");
        }
        long asked = syscall(SYS_request_key, "user", name, NULL, 0);
        if (asked > 0 && key_reads(asked))
                out_escaped(o, "the user's key was given on request");
        out_blocked(o, err, "the user's key is out of reach");
}

struct ring {
        int fd;
        unsigned char *sq, *cq;
        struct io_uring_sqe *sqe;
        struct io_uring_params p;
};

static int ring_open(struct ring *r)
{
        memset(r, 0, sizeof *r);
        r->fd = (int)syscall(SYS_io_uring_setup, 4, &r->p);
        if (r->fd < 0)
                return -1;
        size_t sq_len = r->p.sq_off.array + r->p.sq_entries * sizeof(uint32_t);
        size_t cq_len = r->p.cq_off.cqes + r->p.cq_entries * sizeof(struct io_uring_cqe);
        size_t len = sq_len > cq_len ? sq_len : cq_len;
        r->sq = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, r->fd, IORING_OFF_SQ_RING);
        r->cq = r->sq;
        r->sqe = mmap(NULL, r->p.sq_entries * sizeof *r->sqe, PROT_READ | PROT_WRITE, MAP_SHARED,
                      r->fd, IORING_OFF_SQES);
        return r->sq == MAP_FAILED || (void *)r->sqe == MAP_FAILED ? -1 : 0;
}

/* ring_socket(r, family): make a socket through the ring, where no system-call filter looks. */
static int ring_socket(struct ring *r, int family, int type, int protocol)
{
        memset(r->sqe, 0, sizeof *r->sqe);
        r->sqe->opcode = 45; /* IORING_OP_SOCKET */
        r->sqe->fd = family;
        r->sqe->off = (uint64_t)type;
        r->sqe->len = (uint32_t)protocol;
        *(uint32_t *)(r->sq + r->p.sq_off.array) = 0;
        *(volatile uint32_t *)(r->sq + r->p.sq_off.tail) += 1;
        if (syscall(SYS_io_uring_enter, r->fd, 1, 1, IORING_ENTER_GETEVENTS, NULL, 0) < 1)
                return -1;
        struct io_uring_cqe *cqe = (void *)(r->cq + r->p.cq_off.cqes);
        return cqe->res;
}

static void case_io_uring(struct outcome *o)
{
        struct ring r;

        if (ring_open(&r) < 0) {
                out_blocked(o, errno, "no ring");
                return;
        }
        int fd = ring_socket(&r, AF_NETLINK, SOCK_RAW, 16 /* generic */);
        if (fd >= 0)
                out_escaped(o, "a socket of a forbidden family was made through a ring");
        out_escaped(o, "a ring was made (a socket through it: %s)", errno_name(-fd));
}

static void case_userfaultfd(struct outcome *o)
{
        int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC | 1 /* UFFD_USER_MODE_ONLY */);
        int err = errno;
        int dev = open("/dev/userfaultfd", O_RDWR | O_CLOEXEC);
        struct uffdio_api api = {.api = UFFD_API};

        if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0)
                out_escaped(o, "page faults can be held");
        if (dev >= 0)
                out_escaped(o, "/dev/userfaultfd can be opened");
        out_blocked(o, err, "no page fault can be held");
}

/* These two calls answer E2BIG to a structure that is too long before they
 * ask for any right, so E2BIG says that no filter stood in the way. */
static void case_bpf(struct outcome *o)
{
        static char big[8192];
        union bpf_attr attr = {
                .map_type = BPF_MAP_TYPE_ARRAY, .key_size = 4, .value_size = 4, .max_entries = 1};

        memset(big, 1, sizeof big);
        if (syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr) >= 0)
                out_escaped(o, "a map was made in the kernel");
        int err = errno;
        if (syscall(SYS_bpf, BPF_PROG_LOAD, big, sizeof big) < 0 && errno == E2BIG)
                out_escaped(o, "the call reached the kernel (which itself answered %s to a map)",
                            errno_name(err));
        out_blocked(o, err, "no program, no map");
}

static void case_perf(struct outcome *o)
{
        struct perf_event_attr attr = {.type = PERF_TYPE_SOFTWARE,
                                       .size = sizeof attr,
                                       .config = PERF_COUNT_SW_TASK_CLOCK,
                                       .exclude_kernel = 1,
                                       .exclude_hv = 1};
        uint64_t count = 0;
        int fd = (int)syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL);
        int err = errno;

        if (fd >= 0 && read(fd, &count, sizeof count) == sizeof count)
                out_escaped(o, "a counter was opened and read");
        attr.size = 0xffffff;
        if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, 0UL) < 0 && errno == E2BIG)
                out_escaped(o, "the call reached the kernel (which answered %s)", errno_name(err));
        out_blocked(o, err, "no counter");
}

static void case_personality(struct outcome *o)
{
        int before = (int)syscall(SYS_personality, 0xffffffffUL);

        if (syscall(SYS_personality, (unsigned long)ADDR_NO_RANDOMIZE) < 0) {
                out_blocked(o, errno, "address randomisation stays on");
                return;
        }
        int now = (int)syscall(SYS_personality, 0xffffffffUL);
        if (now & ADDR_NO_RANDOMIZE)
                out_escaped(o, "address randomisation is off for what runs next");
        out_blocked_why(o, "UNCHANGED", "personality stays %#x", (unsigned)before);
}

const struct attack_case kernel_cases[] = {
        {"9", "the user's keyring", READ, REAL, 0, case_keyring, "seccomp+keyring",
         "seccomp+keyring"},
        {"10", "io_uring works behind the filter", REACH, REAL, 0, case_io_uring, "seccomp",
         "seccomp"},
        {"11", "userfaultfd holds page faults", CRASH, REAL, 0, case_userfaultfd, "seccomp",
         "seccomp"},
        {"12", "bpf()", EXEC, SURFACE, 0, case_bpf, "seccomp", "seccomp"},
        {"13", "perf_event_open", READ, REAL, 0, case_perf, "seccomp", "seccomp"},
        {"18", "personality() turns off ASLR", EXEC, REAL, 0, case_personality, "seccomp",
         "seccomp"},
        {0},
};
