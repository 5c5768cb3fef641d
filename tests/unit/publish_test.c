/* publish_test.c - "[HOST:]PORT[:BOXPORT]": what is read, what is refused, and which port is had.
 */
#include "unit/check.h"

#include "base/cleanup.h"
#include "base/err.h"
#include "session/publish.h"

#include <stdlib.h>
#include <string.h>

static const struct {
        const char *text, *at;
        unsigned box_port;
        bool is_exact, is_loopback;
} good[] = {
        {"3000", "127.0.0.1:3000", 3000, false, true},
        {"8080:3000", "127.0.0.1:8080", 3000, true, true},
        {"0:3000", "127.0.0.1:0", 3000, true, true},
        {"127.0.0.2:3000", "127.0.0.2:3000", 3000, false, true},
        {"localhost:80:8080", "127.0.0.1:80", 8080, true, true},
        {"[::1]:3000", "[::1]:3000", 3000, false, true},
        {"[::1]:1:65535", "[::1]:1", 65535, true, true},
        {"0.0.0.0:3000", "0.0.0.0:3000", 3000, false, false},
        {"192.0.2.1:1:2", "192.0.2.1:1", 2, true, false},
        {"[::]:5", "[::]:5", 5, false, false},
};

static const char *const wrong[] = {
        "",
        "0",
        ":",
        "3000:",
        ":3000",
        "65536",
        "-1",
        "3000:0",
        "a:b",
        "example.org:80",
        "1:2:3",
        "::1:3000",
        "[::1]3000",
        "[::1:3000",
        "127.1:3000",
        " 3000",
        "3000 ",
        "+3000",
        "0x10:20",
        "[127.0.0.1]:",
        "127.0.0.1:1:2:3",
        "999999999999999999999999:1",
};

static void listening(void)
{
        struct publish a, b, c;
        struct err err = {0};
        publish_parse("0:3000", &a, &err);
        _cleanup_close_ int first = publish_listen(&a, &err);
        check(first >= 0 && publish_port(&a) != 0, "0 takes a free port", "%s", err.text);

        char text[64];
        snprintf(text, sizeof text, "%u:3000", publish_port(&a));
        publish_parse(text, &b, &err);
        _cleanup_close_ int second = publish_listen(&b, &err);
        check(second < 0 && strstr(err.text, "0:3000 takes a free port"),
              "a port that was named and is taken is an error with its cure", "%s", err.text);

        snprintf(text, sizeof text, "%u", publish_port(&a));
        publish_parse(text, &c, &err);
        _cleanup_close_ int third = publish_listen(&c, &err);
        check(third >= 0 && publish_port(&c) != publish_port(&a),
              "a port that was only wanted is replaced", "%s", err.text);
}

int main(void)
{
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
                struct publish p;
                struct err err = {0};
                char words[PUBLISH_WORDS];
                bool is_read = publish_parse(good[i].text, &p, &err) == 0;
                check(is_read && !strcmp(publish_words(&p, words), good[i].at) &&
                              p.box_port == good[i].box_port && p.is_exact == good[i].is_exact &&
                              p.is_loopback == good[i].is_loopback,
                      good[i].text, "%s", is_read ? words : err.text);
        }
        int taken = 0;
        for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
                struct publish p;
                struct err err = {0};
                if (publish_parse(wrong[i], &p, &err) == 0) {
                        taken++;
                        check(false, "is refused", "\"%s\" was taken", wrong[i]);
                }
        }
        check(taken == 0, "everything else is refused", "%d were taken", taken);
        listening();
        return check_end();
}
