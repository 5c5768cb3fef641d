/* keeper.h - the role that holds the box's CA key and its secrets: makes leaf certificates, places
 * values, signs. No network, no files. docs/rooms/keeper.md describes it. */
#ifndef KEEPER_KEEPER_H
#define KEEPER_KEEPER_H

int keeper_main(int argc, char **argv);

/* keeper_make_ca_main: `ostiary-door make-ca DIR KEY COUNT BUNDLE FOR CERTUTIL [only]`: put CAs
 * into the pool in DIR (make_ca.c). */
int keeper_make_ca_main(int argc, char **argv);

#endif
