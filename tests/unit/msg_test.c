/* msg_test.c - each message body comes back as it was put, and every cut or changed one is refused
 * or harmless. */
#include "unit/check.h"

#include "base/buf.h"
#include "base/exitcode.h"
#include "base/str.h"
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
        ended();
        info();
        lists();
        return check_end();
}
