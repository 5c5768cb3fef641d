/* door_wire.c - a record and the layers of a policy come back as they were put; cut, changed or
 * unsealed ones are refused. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/cur.h"
#include "base/err.h"
#include "policy/policy.h"
#include "policy/policy_layers.h"
#include "wire/door.h"
#include "wire/frame.h"

#include <string.h>
#include <sys/mman.h>

static void record(void)
{
        _cleanup_buf_ struct buf b = {0}, strings = {0};
        char path[20000];
        memset(path, 'p', sizeof path - 1);
        path[sizeof path - 1] = 0;
        struct door_record in = {.time_us = 1ull << 40,
                                 .kind = "http",
                                 .verdict = "deny",
                                 .host = "a.example",
                                 .port = 443,
                                 .path = "/x",
                                 .status = 403,
                                 .bytes_down = 7,
                                 .total_us = 9,
                                 .source_port = 4000,
                                 .secrets = "A_KEY B_KEY",
                                 .cure = "allow GET a.example/x"},
                           out;
        door_record_put(&b, &in);
        size_t first = b.len;
        in.path = path;
        door_record_put(&b, &in);
        struct cur c = cur_of(b.data, b.len);
        CHECK("a record comes back",
              door_record_get(&c, &out, &strings) == 0 && out.time_us == in.time_us &&
                      !strcmp(out.kind, "http") && !strcmp(out.verdict, "deny") &&
                      !strcmp(out.rule, "") && !strcmp(out.host, "a.example") && out.port == 443 &&
                      !strcmp(out.path, "/x") && out.status == 403 && out.bytes_down == 7 &&
                      out.total_us == 9 && out.source_port == 4000 &&
                      !strcmp(out.secrets, "A_KEY B_KEY") &&
                      !strcmp(out.cure, "allow GET a.example/x"));
        CHECK("a long path is cut and says so",
              door_record_get(&c, &out, &strings) == 0 && strlen(out.path) == 17 << 10 &&
                      !strcmp(out.path + strlen(out.path) - 3, "...") && c.left == 0);
        bool is_refused = true;
        for (size_t n = 0; n < first; n++) {
                c = cur_of(b.data, n);
                is_refused &= door_record_get(&c, &out, &strings) == -1 && c.left == n;
        }
        CHECK("a record cut anywhere is refused", is_refused);

        _cleanup_buf_ struct buf large = {0};
        in = (struct door_record){.kind = path,
                                  .verdict = path,
                                  .rule = path,
                                  .protocol = path,
                                  .host = path,
                                  .address = path,
                                  .method = path,
                                  .path = path,
                                  .secrets = path,
                                  .note = path,
                                  .cure = path};
        door_record_put(&large, &in);
        CHECK("the largest record fits a frame",
              large.len <= DOOR_RECORD_MAX && DOOR_RECORD_MAX < FRAME_INLINE_MAX);
}

static void layers(void)
{
        struct err err = {0};
        _cleanup_buf_ struct buf b = {0}, back = {0};
        door_layers_put(&b, POLICY_USER, "user policy", true, "# rules\nallow GET a.example\n");
        door_layers_put(&b, POLICY_RUN_TIME, "run time", false,
                        "deny * b.example\n\nallow * c.example");
        _cleanup_close_ int fd = door_sealed_make("test", &b, &err);
        CHECK("layers travel in a sealed file",
              fd >= 0 && door_sealed_read(fd, DOOR_LAYERS_MAX, &back, &err) == 0 &&
                      back.len == b.len && !memcmp(back.data, b.data, b.len));
        CHECK("a file that is too large is refused",
              door_sealed_read(fd, b.len - 1, &back, &err) < 0);
        _cleanup_close_ int open_fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        CHECK("a file without seals is refused",
              door_sealed_read(open_fd, DOOR_LAYERS_MAX, &back, &err) < 0);
        _cleanup_buf_ struct buf empty = {0};
        _cleanup_close_ int empty_fd = door_sealed_make("test", &empty, &err);
        CHECK("an empty file is no layers",
              door_sealed_read(empty_fd, DOOR_LAYERS_MAX, &empty, &err) == 0 && empty.len == 0);

        _cleanup_policy_ struct policy p = {0};
        CHECK("layers become a policy in their order",
              policy_layers_parse(b.data, b.len, &p, &err) == 0 && p.layers_n == 2 &&
                      p.layers[0].rank == POLICY_RUN_TIME && p.layers[0].lines_n == 2 &&
                      p.layers[0].lines[1].line_no == 0 && p.layers[1].lines_n == 1 &&
                      p.layers[1].lines[0].line_no == 2);
        bool is_refused = true;
        struct policy none;
        for (size_t n = 1; n < b.len; n++) {
                struct cur c = cur_of(b.data, b.len);
                uint32_t len;
                const uint8_t *skip;
                /* where the second layer begins the bytes are whole */
                cur_u32(&c, &len);
                cur_u32(&c, &len);
                cur_bytes(&c, len, &skip);
                cur_u32(&c, &len);
                cur_u32(&c, &len);
                cur_bytes(&c, len, &skip);
                if (n == b.len - c.left)
                        continue;
                is_refused &= policy_layers_parse(b.data, n, &none, &err) < 0 && !none.layers_n;
        }
        CHECK("layers cut anywhere are refused", is_refused);
        _cleanup_buf_ struct buf bad = {0};
        door_layers_put(&bad, POLICY_USER, "user policy", true, "allow GET a.example\nalow x\n");
        CHECK("a broken line names its place",
              policy_layers_parse(bad.data, bad.len, &none, &err) < 0 &&
                      strstr(err.text, "user policy, line 2"));
        bad.len = 0;
        door_layers_put(&bad, POLICY_SYSTEM + 1, "x", true, "");
        CHECK("an unknown rank is refused",
              policy_layers_parse(bad.data, bad.len, &none, &err) < 0);
        bad.len = 0;
        door_layers_put(&bad, POLICY_PROJECT, "project", false, "allow * a.example to=127.0.0.1");
        CHECK("a project's layer is held to its limits here too",
              policy_layers_parse(bad.data, bad.len, &none, &err) < 0);
}

static void custody(void)
{
        _cleanup_buf_ struct buf b = {0}, strings = {0};
        struct door_toward in = {.method = "POST",
                                 .host = "api.example",
                                 .path = "/v1/x",
                                 .port = 443,
                                 .is_tls = true},
                           out;
        door_toward_put(&b, &in);
        buf_put_u32(&b, 7);
        struct cur c = cur_of(b.data, b.len);
        CHECK("where a request goes comes back, and nothing more is read",
              door_toward_get(&c, &out, &strings) == 0 && !strcmp(out.method, "POST") &&
                      !strcmp(out.host, "api.example") && !strcmp(out.path, "/v1/x") &&
                      out.port == 443 && out.is_tls && c.left == 4);
        bool is_refused = true;
        for (size_t n = 0; n < b.len - 4; n++) {
                c = cur_of(b.data, n);
                is_refused &=
                        door_toward_get(&c, &out, &strings) == -1 && c.left == n && !out.method;
        }
        CHECK("cut anywhere it is refused", is_refused);
        _cleanup_buf_ struct buf bad = {0};
        buf_put_lstr(&bad, "GET");
        buf_put_lstr(&bad, "a.example");
        buf_put_u32(&bad, 65536);
        buf_put_u32(&bad, 1);
        buf_put_lstr(&bad, "/");
        c = cur_of(bad.data, bad.len);
        CHECK("a port that is none is refused", door_toward_get(&c, &out, &strings) == -1);
        bad.data[4] = 0;
        c = cur_of(bad.data, bad.len);
        CHECK("a method with a NUL is refused", door_toward_get(&c, &out, &strings) == -1);

        _cleanup_buf_ struct buf f = {0};
        struct door_finger finger = {.coding = 3,
                                     .len = 40,
                                     .tail = 1ull << 63,
                                     .whole = 0x0102030405060708u},
                           back;
        door_finger_put(&f, &finger);
        c = cur_of(f.data, f.len);
        CHECK("a finger has its size and comes back",
              f.len == DOOR_FINGER_SIZE && door_finger_get(&c, &back) == 0 && c.left == 0 &&
                      back.coding == 3 && back.len == 40 && back.tail == finger.tail &&
                      back.whole == finger.whole);
        c = cur_of(f.data, f.len - 1);
        CHECK("a finger that is cut is refused",
              door_finger_get(&c, &back) == -1 && c.left == f.len - 1);
}

int main(void)
{
        record();
        custody();
        layers();
        return check_end();
}
