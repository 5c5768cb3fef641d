/* git_index_test.c - what an index says does not change when git only writes down times anew, and
 * does whenever anything is staged; real git writes the indexes, in every version and both hashes.
 */
#include "base/beneath.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/fdio.h"
#include "unit/check.h"
#include "workspace/git_index.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char top[] = "/tmp/ostiary-index.XXXXXX";

static int sh(const char *words)
{
        return system(words); /* fixed words of this test */
}

static bool meaning(char hex[SHA256_HEX_LEN + 1])
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_close_ int fd = open(".git/index", O_RDONLY | O_CLOEXEC);
        return fd >= 0 && fdio_read_all(fd, &b, 1 << 20) == 0 &&
               git_index_meaning(b.data, b.len, hex) == 0;
}

static bool bytes(char hex[SHA256_HEX_LEN + 1])
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_close_ int fd = open(".git/index", O_RDONLY | O_CLOEXEC);
        if (fd < 0 || fdio_read_all(fd, &b, 1 << 20) < 0)
                return false;
        sha256_hex(b.data, b.len, hex);
        return true;
}

static void one(const char *make, const char *version)
{
        char was[SHA256_HEX_LEN + 1] = "", now[SHA256_HEX_LEN + 1] = "",
                                  raw[SHA256_HEX_LEN + 1] = "", raw_now[SHA256_HEX_LEN + 1] = "",
                                  command[512];
        CHECK("a repository is made",
              sh("rm -rf .git d a && mkdir -p d/e && echo 1 >a && echo 2 >d/e/f") == 0 &&
                      sh(make) == 0);
        snprintf(command, sizeof command, "git update-index --index-version %s && git add -A",
                 version);
        CHECK("files are staged", sh(command) == 0);
        CHECK("its index is understood", meaning(was) && bytes(raw));
        CHECK("times are written anew",
              sh("touch -d 2001-01-01 a d/e/f && git update-index --refresh") == 0);
        CHECK("the file is another (control)", bytes(raw_now) && strcmp(raw, raw_now) != 0);
        CHECK("and says the same", meaning(now) && strcmp(was, now) == 0);
        CHECK("another content is another meaning",
              sh("echo 3 >a && git add a") == 0 && meaning(now) && strcmp(was, now) != 0);
        CHECK("the content from before is the meaning from before",
              sh("echo 1 >a && git add a") == 0 && meaning(now) && strcmp(was, now) == 0);
        CHECK("a mode is part of it",
              sh("git update-index --chmod=+x a") == 0 && meaning(now) && strcmp(was, now) != 0);
        CHECK("so is a flag", sh("git update-index --chmod=-x --assume-unchanged a") == 0 &&
                                      meaning(now) && strcmp(was, now) != 0);
        CHECK("so is a path",
              sh("git update-index --no-assume-unchanged a && git mv -k a b") == 0 &&
                      meaning(now) && strcmp(was, now) != 0 && sh("rm -f b") == 0);
}

int main(void)
{
        char hex[SHA256_HEX_LEN + 1];
        if (sh("git --version >/dev/null 2>&1") != 0) {
                puts("skip: git is missing");
                return 0;
        }
        setenv("GIT_CONFIG_NOSYSTEM", "1", 1);
        if (!mkdtemp(top) || chdir(top) < 0)
                return 1;
        setenv("HOME", top, 1);
        one("git init -q .", "2");
        one("git init -q .", "4");
        one("git init -q --object-format=sha256 .", "2");
        CHECK("no index", git_index_meaning("DIRC", 4, hex) < 0);
        CHECK("nothing", git_index_meaning("", 0, hex) < 0);
        CHECK("cleaned up", chdir("/") == 0 && beneath_remove_tree(AT_FDCWD, top, NULL) == 0);
        return check_end();
}
