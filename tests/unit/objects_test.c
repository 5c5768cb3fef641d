/* objects_test.c - contents kept by their name: once each, whole, checked when they are read, and
 * gone when nobody names them. */
#include "base/cleanup.h"
#include "base/err.h"
#include "base/fdio.h"
#include "unit/check.h"
#include "workspace/objects.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static int dir_fd, objects_fd;

static int file_with(const char *name, const char *text, size_t n)
{
        int fd = openat(dir_fd, name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (fd >= 0 && fdio_write_all(fd, text, n) < 0)
                return -1;
        return fd;
}

static unsigned long count_objects(void);
static void count(void *arg, const char *hex, uint64_t bytes)
{
        (void)hex, (void)bytes;
        ++*(unsigned long *)arg;
}

static unsigned long count_objects(void)
{
        unsigned long n = 0;
        objects_each(objects_fd, count, &n, NULL);
        return n;
}

static void put_and_get(void)
{
        struct err err = {0};
        char hex[SHA256_HEX_LEN + 1], again[SHA256_HEX_LEN + 1], only[SHA256_HEX_LEN + 1];
        uint64_t size = 0;
        int fd = file_with("a", "abc", 3);
        CHECK("put", objects_put(objects_fd, fd, hex, &size, &err) == 0);
        check_str("put: the name is the checksum", hex,
                  "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        CHECK("put: size", size == 3);
        CHECK("put again", objects_put(objects_fd, fd, again, &size, &err) == 0 &&
                                   strcmp(hex, again) == 0 && count_objects() == 1);
        CHECK("hash only", objects_hash(fd, only, &err) == 0 && strcmp(hex, only) == 0);
        CHECK("has", objects_has(objects_fd, hex) && !objects_has(objects_fd, "../../etc/passwd"));
        char path[80];
        struct stat st;
        snprintf(path, sizeof path, "%.2s/%s", hex, hex + 2);
        CHECK("mode 0400", fstatat(objects_fd, path, &st, 0) == 0 && (st.st_mode & 07777) == 0400);
        int to = file_with("b", "", 0);
        char text[8] = "";
        CHECK("get", objects_get(objects_fd, hex, to, &err) == 0 && pread(to, text, 8, 0) == 3 &&
                             strcmp(text, "abc") == 0);
        CHECK("get: a name that is none", objects_get(objects_fd, "../x", to, &err) < 0);
        close(fd);
        close(to);

        /* damage */
        CHECK("damage it", fchmodat(objects_fd, path, 0600, 0) == 0);
        int bad = openat(objects_fd, path, O_WRONLY | O_CLOEXEC);
        CHECK("damage it more", bad >= 0 && pwrite(bad, "x", 1, 0) == 1);
        close(bad);
        to = file_with("c", "", 0);
        CHECK("a damaged object is refused",
              objects_get(objects_fd, hex, to, &err) < 0 && strstr(err.text, "damaged"));
        close(to);
}

static void holes(void)
{
        struct err err = {0};
        char hex[SHA256_HEX_LEN + 1], back[SHA256_HEX_LEN + 1];
        uint64_t size = 0;
        int fd = file_with("sparse", "x", 1);
        struct stat st;
        CHECK("sparse: make",
              ftruncate(fd, 300 << 20) == 0 && pwrite(fd, "end", 3, 200 << 20) == 3);
        CHECK("sparse: put", objects_put(objects_fd, fd, hex, &size, &err) == 0);
        CHECK("sparse: size", size == (300u << 20));
        int to = file_with("sparse2", "", 0);
        CHECK("sparse: get", objects_get(objects_fd, hex, to, &err) == 0);
        CHECK("sparse: holes stay holes",
              fstat(to, &st) == 0 && st.st_size == 300 << 20 && st.st_blocks * 512 < 4 << 20);
        CHECK("sparse: equal", objects_hash(to, back, &err) == 0 && strcmp(hex, back) == 0);
        close(fd);
        close(to);
}

static bool is_none(void *arg, const char *hex)
{
        return arg && strcmp(arg, hex) == 0;
}

static void full(void)
{
        struct err err = {0};
        char hex[SHA256_HEX_LEN + 1];
        uint64_t size;
        static char big[1 << 20];
        int fd = file_with("big", big, sizeof big);
        struct rlimit old, small = {1 << 16, 1 << 16};
        unsigned long before = count_objects();
        getrlimit(RLIMIT_FSIZE, &old);
        small.rlim_max = old.rlim_max;
        signal(SIGXFSZ, SIG_IGN);
        memset(big, 'z', sizeof big);
        CHECK("full: content without holes", pwrite(fd, big, sizeof big, 0) == sizeof big);
        setrlimit(RLIMIT_FSIZE, &small);
        CHECK("full: told", objects_put(objects_fd, fd, hex, &size, &err) < 0 && *err.text);
        setrlimit(RLIMIT_FSIZE, &old);
        CHECK("full: nothing is left", count_objects() == before);
        CHECK("full: the control",
              objects_put(objects_fd, fd, hex, &size, &err) == 0 && count_objects() == before + 1);
        close(fd);

        uint64_t n = 0, bytes = 0;
        CHECK("gc keeps what is named",
              objects_gc(objects_fd, is_none, hex, &n, &bytes, &err) == 0 && n == before &&
                      count_objects() == 1 && objects_has(objects_fd, hex));
}

int main(void)
{
        char top[] = "/tmp/objects_test.XXXXXX";
        if (!mkdtemp(top))
                return 1;
        dir_fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        mkdirat(dir_fd, "objects", 0700);
        objects_fd = openat(dir_fd, "objects", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        put_and_get();
        holes();
        full();
        char cmd[80];
        snprintf(cmd, sizeof cmd, "rm -rf %s", top);
        return system(cmd) ? 1 : check_end();
}
