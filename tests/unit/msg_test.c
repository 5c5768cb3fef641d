/* msg_test.c - each message body comes back as it was put, and every cut or changed one is refused
 * or harmless. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/exitcode.h"
#include "base/str.h"
#include "wire/frame.h"
#include "wire/msg.h"

#include <stdlib.h>
#include <string.h>

static void spawn(void)
{
        _cleanup_buf_ struct buf b = {0};
        struct msg_spawn in = {.is_tty = true, .cols = 80, .rows = 24, .cwd = str_dup("/w")}, out;
        strs_add(&in.argv, "sh");
        strs_add(&in.argv, "");
        strs_add(&in.env, "A=b");
        msg_spawn_put(&b, &in);
        struct cur c = cur_of(b.data, b.len);
        CHECK("spawn", msg_spawn_get(&c, &out) == 0 && out.is_tty && !out.has_stdin &&
                               out.cols == 80 && out.rows == 24 && !strcmp(out.cwd, "/w") &&
                               out.argv.n == 2 && !strcmp(out.argv.v[1], "") && out.env.n == 1);
        msg_spawn_free(&out);
        bool is_refused = true;
        for (size_t n = 0; n < b.len; n++) {
                c = cur_of(b.data, n);
                is_refused &= msg_spawn_get(&c, &out) == -1;
        }
        CHECK("spawn cut anywhere is refused", is_refused);
        buf_put_u8(&b, 0);
        c = cur_of(b.data, b.len);
        CHECK("spawn with something behind it is refused", msg_spawn_get(&c, &out) == -1);

        _cleanup_buf_ struct buf none = {0};
        strs_free(&in.argv);
        msg_spawn_put(&none, &in);
        c = cur_of(none.data, none.len);
        CHECK("a command without a word is refused", msg_spawn_get(&c, &out) == -1);
        msg_spawn_free(&in);
}

static void started(void)
{
        _cleanup_buf_ struct buf b = {0}, most = {0};
        struct msg_started in = {.pid = 7,
                                 .workspace = str_dup("/w"),
                                 .tier = str_dup("ns"),
                                 .grants = str_dup("no network"),
                                 .is_live = true},
                           out;
        strs_add(&in.masked, "masked 1 value in .env");
        msg_started_put(&b, &in);
        struct cur c = cur_of(b.data, b.len);
        CHECK("started", msg_started_get(&c, &out) == 0 && out.pid == 7 && out.is_live &&
                                 !strcmp(out.workspace, "/w") && !strcmp(out.tier, "ns") &&
                                 !strcmp(out.grants, "no network") && out.masked.n == 1 &&
                                 !strcmp(out.masked.v[0], in.masked.v[0]));
        msg_started_free(&out);
        bool is_refused = true;
        for (size_t n = 0; n < b.len; n++) {
                c = cur_of(b.data, n);
                is_refused &= msg_started_get(&c, &out) == -1 && !out.tier;
        }
        CHECK("started cut anywhere is refused", is_refused);

        free(in.grants);
        in.grants = malloc(100001);
        memset(in.grants, 'g', 100000);
        in.grants[100000] = 0;
        for (int i = 0; i < 1000; i++)
                strs_add(&in.masked, in.grants);
        msg_started_put(&most, &in);
        c = cur_of(most.data, most.len);
        CHECK("whatever is said of a start fits a frame",
              most.len <= FRAME_INLINE_MAX && msg_started_get(&c, &out) == 0 &&
                      out.masked.n == MSG_STARTED_MASKED_MAX);
        msg_started_free(&out);
        msg_started_free(&in);
}

static void ended(void)
{
        _cleanup_buf_ struct buf b = {0};
        struct msg_ended in = {.how = MSG_END_EXIT, .value = 3, .is_kept = true, .cpu_us = 5}, out;
        msg_ended_put(&b, &in);
        struct cur c = cur_of(b.data, b.len);
        CHECK("ended", msg_ended_get(&c, &out) == 0 && out.value == 3 && out.is_kept &&
                               out.cpu_us == 5 && !strcmp(out.words, ""));
        CHECK("its exit code", msg_ended_exit_code(&out) == 3);
        msg_ended_free(&out);
        bool is_refused = true;
        for (size_t n = 0; n < b.len; n++) {
                c = cur_of(b.data, n);
                is_refused &= msg_ended_get(&c, &out) == -1;
        }
        CHECK("ended cut anywhere is refused", is_refused);
        b.data[3] = MSG_END_COUNT;
        c = cur_of(b.data, b.len);
        CHECK("an unknown end is refused", msg_ended_get(&c, &out) == -1);

        static const struct {
                uint32_t how, value;
                int code;
        } codes[] = {{MSG_END_EXIT, 256 + 7, 7},
                     {MSG_END_SIGNAL, 9, 137},
                     {MSG_END_SIGNAL, 0xffffffff, 255},
                     {MSG_END_TIME, 0, EXIT_BY_TIME},
                     {MSG_END_MEMORY, 0, EXIT_BY_LIMIT},
                     {MSG_END_DISK, 0, EXIT_BY_LIMIT},
                     {MSG_END_STOPPED, 0, 143},
                     {MSG_END_FAULT, 0, EXIT_OURS},
                     {99, 0, EXIT_OURS}};
        bool is_right = true;
        for (size_t i = 0; i < sizeof codes / sizeof *codes; i++) {
                struct msg_ended e = {.how = codes[i].how, .value = codes[i].value};
                is_right &= msg_ended_exit_code(&e) == codes[i].code;
        }
        CHECK("each end has its exit code", is_right);
}

static void info(void)
{
        _cleanup_buf_ struct buf b = {0};
        struct msg_info in = {.supervisor_pid = 1, .disk = 7, .limits_words = str_dup("rlimits")},
                        out;
        msg_info_put(&b, &in);
        struct cur c = cur_of(b.data, b.len);
        CHECK("info", msg_info_get(&c, &out) == 0 && out.supervisor_pid == 1 && out.disk == 7 &&
                              !strcmp(out.limits_words, "rlimits"));
        msg_info_free(&out);
        msg_info_free(&in);
        bool is_refused = true;
        for (size_t n = 0; n < b.len; n++) {
                c = cur_of(b.data, n);
                is_refused &= msg_info_get(&c, &out) == -1;
        }
        buf_put_u8(&b, 0);
        c = cur_of(b.data, b.len);
        CHECK("info cut or lengthened is refused", is_refused && msg_info_get(&c, &out) == -1);
}

static void lists(void)
{
        _cleanup_buf_ struct buf b = {0};
        _cleanup_strs_ struct strs l = {0}, back = {0};
        for (int i = 0; i < 10000; i++)
                strs_addf(&l, "argument %d", i);
        msg_list_put(&b, &l);
        struct cur c = cur_of(b.data, b.len);
        CHECK("10,000 arguments", msg_list_get(&c, &back, 20000, 100) == 0 && back.n == 10000 &&
                                          !strcmp(back.v[9999], "argument 9999"));
        c = cur_of(b.data, b.len);
        strs_free(&back);
        CHECK("more than the ceiling is refused", msg_list_get(&c, &back, 9999, 100) == -1);
        static const uint8_t lie[] = {0xff, 0xff, 0xff, 0xff};
        c = cur_of(lie, 4);
        strs_free(&back);
        CHECK("a count that lies costs nothing",
              msg_list_get(&c, &back, SIZE_MAX, 100) == -1 && back.n == 0);
}

int main(void)
{
        spawn();
        started();
        ended();
        info();
        lists();
        return check_end();
}
