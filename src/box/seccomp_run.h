/* seccomp_run.h - run a filter as the kernel would: for the witness, which answers for the kernel,
 * and for the generator, which tries each program against the table before it is built in. */
#ifndef BOX_SECCOMP_RUN_H
#define BOX_SECCOMP_RUN_H

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* seccomp_run(code, n, data, &action): false when the program has an instruction that we do not
 * use, or does not end. */
static inline bool seccomp_run(const struct sock_filter *code, size_t n,
                               const struct seccomp_data *data, uint32_t *action)
{
        uint32_t a = 0;
        for (size_t i = 0; i < n; i++) {
                const struct sock_filter *f = &code[i];
                switch (f->code) {
                case BPF_LD | BPF_W | BPF_ABS:
                        memcpy(&a, (const char *)data + f->k, sizeof a);
                        break;
                case BPF_ALU | BPF_AND | BPF_K:
                        a &= f->k;
                        break;
                case BPF_JMP | BPF_JA:
                        i += f->k;
                        break;
                case BPF_JMP | BPF_JEQ | BPF_K:
                        i += a == f->k ? f->jt : f->jf;
                        break;
                case BPF_JMP | BPF_JGE | BPF_K:
                        i += a >= f->k ? f->jt : f->jf;
                        break;
                case BPF_JMP | BPF_JSET | BPF_K:
                        i += a & f->k ? f->jt : f->jf;
                        break;
                case BPF_RET | BPF_K:
                        *action = f->k;
                        return true;
                default:
                        return false;
                }
        }
        return false;
}

#endif
