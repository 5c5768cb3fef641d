/* main.c - the second program: the roles that guard the door, one process each. Started by the
 * supervisor as `ostiary-door ROLE` with its control socket as descriptor 3, or by ostiary for an
 * errand; never by hand. */
#include "base/title.h"
#include "dial/dial.h"
#include "egress/egress.h"
#include "keeper/keeper.h"
#include "keeper/vault_main.h"

#include <stdio.h>
#include <string.h>

static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
} roles[] = {
        {"egress", egress_main},
        {"dial", dial_main},
        {"keeper", keeper_main},
        {"make-ca", keeper_make_ca_main},
        {"index-roots", egress_index_main},
        {"vault", vault_main},
};

int main(int argc, char **argv)
{
        title_init(argc, argv);
        for (size_t i = 0; argc > 1 && i < sizeof roles / sizeof *roles; i++)
                if (strcmp(argv[1], roles[i].name) == 0)
                        return roles[i].run(argc - 1, argv + 1);
        fprintf(stderr, "ostiary-door is started by ostiary itself; there is nothing to run by "
                        "hand. See ostiary(1).\n");
        return 64;
}
