/* exitcode.c - see exitcode.h. The same mistake has the same status everywhere, because it is given
 * here. */
#include "base/exitcode.h"

#include "base/err.h"

int exitcode_of(int err_code)
{
        switch ((enum err_code)err_code) {
        case E_USAGE:
                return EXIT_BAD_USAGE;
        case E_INPUT:
                return EXIT_INPUT;
        case E_ABSENT:
                return EXIT_ABSENT;
        case E_REFUSED:
                return EXIT_REFUSED;
        case E_MACHINE:
                return EXIT_MACHINE;
        case E_NOEXEC:
                return EXIT_NOEXEC;
        case E_NOCMD:
                return EXIT_NOCMD;
        case E_NONE:
        case E_SYSTEM:
        case E_PROTO:
                break;
        }
        return EXIT_OURS;
}
