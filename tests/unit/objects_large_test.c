/* objects_large_test.c - a box makes a file of a terabyte in a moment; to keep, name and restore it
 * costs what it holds, and its name is that of its bytes, wherever its holes lie (case 78).
 * suite: check=any test=any soak=root,user timeout=60
 * tier: both users read a tree in the same way */
#include "unit/liblayers.h"

#include "workspace/objects.h"

static const off_t tera = (off_t)1 << 40;

/* make(name, size, at, text): a file of holes with a text in it. */
static int make(const char *name, off_t size, off_t at, const char *text)
{
        int fd = open(name, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
        if (ftruncate(fd, size) < 0 || pwrite(fd, text, strlen(text), at) < 0)
                perror(name);
        return fd;
}

static bool named(int fd, char hex[SHA256_HEX_LEN + 1])
{
        return objects_hash(fd, hex, NULL) == 0;
}

int main(void)
{
        char a[SHA256_HEX_LEN + 1], b[SHA256_HEX_LEN + 1], got[64] = "";
        struct err err = {0};
        struct stat st;
        uint64_t size = 0;
        scratch_make();
        dirs("objects");
        _cleanup_close_ int objects = dir_fd("objects");
        _cleanup_close_ int one = make("one", tera, tera - 100, "the last words");
        if (fstat(one, &st) < 0 || st.st_size != tera) {
                printf("skip large objects: the filesystem does not take a terabyte\n");
                scratch_end();
                return check_end();
        }
        _cleanup_close_ int two = make("two", tera, tera - 100, "the last words");
        static const char zeros[600000];
        pwrite(two, zeros, sizeof zeros, 12345678);
        CHECK("zeros that are stored are as good as a hole",
              named(one, a) && named(two, b) && strcmp(a, b) == 0);
        pwrite(two, "x", 1, 500000000000);
        CHECK("one byte makes another name", named(two, b) && strcmp(a, b) != 0);
        _cleanup_close_ int moved = make("moved", tera, tera - 101, "the last words");
        CHECK("so does its place", named(moved, b) && strcmp(a, b) != 0);
        _cleanup_close_ int longer = make("longer", tera + 1, tera - 100, "the last words");
        CHECK("and the length", named(longer, b) && strcmp(a, b) != 0);

        CHECK("it is kept", objects_put(objects, one, b, &size, &err) == 0 && strcmp(a, b) == 0 &&
                                    size == (uint64_t)tera);
        _cleanup_close_ int back = open("back", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        CHECK("and comes back", objects_get(objects, a, back, &err) == 0 && fstat(back, &st) == 0 &&
                                        st.st_size == tera && st.st_blocks < 4096 &&
                                        pread(back, got, 14, tera - 100) == 14 &&
                                        strcmp(got, "the last words") == 0);
        char path[SHA256_HEX_LEN + 16];
        snprintf(path, sizeof path, "objects/%.2s/%s", a, a + 2);
        chmod(path, 0600);
        _cleanup_close_ int bad = open(path, O_WRONLY | O_CLOEXEC);
        pwrite(bad, "X", 1, 4711);
        CHECK("damage anywhere in it is seen", ftruncate(back, 0) == 0 &&
                                                       objects_get(objects, a, back, &err) < 0 &&
                                                       strstr(err.text, "damaged"));

        /* A small file made of what is hashed of a large one. */
        enum { CHUNK = 1 << 18 };
        static uint8_t forged[8 + CHUNK + 8];
        static const uint8_t at[8] = {0, 0, 0, 0xff, 0xff, 0xfc, 0, 0};
        static const uint8_t whole[8] = {0, 0, 1, 0, 0, 0, 0, 0};
        memcpy(forged, at, 8);
        memcpy(forged + 8 + CHUNK - 100, "the last words", 14);
        memcpy(forged + 8 + CHUNK, whole, 8);
        _cleanup_close_ int lie = open("lie", O_CREAT | O_RDWR | O_CLOEXEC, 0600);
        write(lie, forged, sizeof forged);
        static const char digits[] = "0123456789abcdef";
        bool is_opposite = named(lie, b);
        for (size_t i = 0; i < SHA256_HEX_LEN; i++)
                is_opposite &=
                        (strchr(digits, a[i]) - digits) + (strchr(digits, b[i]) - digits) == 15;
        CHECK("control: it is what is hashed", is_opposite);
        CHECK("and it has another name", strcmp(a, b) != 0);

        /* Below the border the name is the plain SHA-256. */
        _cleanup_close_ int small = make("small", 3, 0, "abc");
        CHECK("a small file has the name everybody gives it",
              named(small, b) &&
                      strcmp(b,
                             "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad") ==
                              0);
        scratch_end();
        return check_end();
}
